//! Knows on which CPUs the two ends of a connection run.
//!
//! Must not know what they do there.

use rig::lab::{Lab, LabError};

/// CPUs on which the ends of connections may run.
#[derive(Clone, Copy, Debug)]
pub struct Cpus<'c> {
    /// Those of the system under test, some of all.
    pub server: &'c [u32],
    /// Those that hosts may use.
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

/// CPUs that the ends of connections in a lab may use: those of the system under test, and all,
/// each by number.
///
/// # Errors
/// When the system under test is gone.
pub fn of(lab: &mut Lab) -> Result<[Vec<u32>; 2], LabError> {
    let (server, mut all) = (lab.cpus()?, lab.all_cpus()?);
    all.sort_unstable();
    Ok([server, all])
}
