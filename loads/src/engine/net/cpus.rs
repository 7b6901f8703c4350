//! Knows on which CPUs the two ends of a connection run.
//!
//! Must not know what they do there.

use rig::lab::cpus;

/// CPUs on which the ends of connections may run.
#[derive(Clone, Copy, Debug)]
pub struct Cpus<'c> {
    /// Those of the system under test, some of all.
    pub server: &'c [u32],
    /// Those that this process may use.
    pub all: &'c [u32],
}

impl Cpus<'_> {
    /// The CPU of the server's end of a connection, dealt in turn.
    #[must_use]
    pub fn server(&self, at: usize) -> u32 {
        self.server.get(at % self.server.len().max(1)).copied().unwrap_or(0)
    }

    /// The CPU behind that of the server's end.
    #[must_use]
    pub fn neighbour(&self, at: usize) -> u32 {
        let server = self.server(at);
        let place = self.all.iter().position(|cpu| *cpu == server).unwrap_or(at);
        self.all.get((place + 1) % self.all.len().max(1)).copied().unwrap_or(server)
    }
}

/// CPUs that this process may use.
#[must_use]
pub fn allowed() -> Vec<u32> {
    cpus::mine().ok().filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| vec![0])
}
