//! Knows the programs under test that stend starts and owns: which there are, how one is put up,
//! counted and taken down.
//!
//! A service lives in namespaces of processes and mounts of its own, inside the network namespace
//! and the control group of its host. Its run directory is a file system in memory that nobody else
//! sees. When its keeper ends, for whatever reason, the kernel ends its processes and frees its
//! files.
//!
//! Gives: [`Service`], [`ALL`], [`find`], [`Wanted`], [`Instance`], [`keep`].
//! Never: which load needs a service, or what a figure means.
//! Start reading at `instance.rs`, then `keep.rs`.

mod instance;
mod keep;
mod nginx;
mod site;
mod told;

pub use instance::Instance;
pub use keep::keep;
pub use site::Site;
pub use told::Wanted;

use rustix::process::Signal;
use std::path::PathBuf;

/// Why something cannot be had, for the person.
pub type Why = String;

/// A program under test: what makes it differ from another one.
#[derive(Clone, Copy)]
pub struct Service {
    /// What a plan calls it.
    pub name: &'static str,
    /// The program, as it is called on PATH.
    pub program: &'static str,
    /// The package of Debian that has it.
    pub package: &'static str,
    /// Options by which it tells its version.
    pub version: &'static [&'static str],
    /// Writes its configuration into the run directory.
    pub prepare: fn(&Site) -> Result<(), Why>,
    /// Options by which it starts in the foreground.
    pub start: fn(&Site) -> Vec<String>,
    /// Requests that it has served, by its own count and with this one; an error until it is
    /// ready.
    pub requests: fn(&Site) -> Result<u64, Why>,
    /// The signal by which it ends.
    pub stop: Signal,
}

impl Service {
    /// Where its program is: on PATH, or where Debian has what only root calls.
    ///
    /// # Errors
    /// When it is nowhere, with the command that installs it.
    pub fn path(&self) -> Result<PathBuf, Why> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let usual = ["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from);
        let mut places = std::env::split_paths(&path).chain(usual).map(|at| at.join(self.program));
        let missing = || {
            let (program, fix) = (self.program, self.fix());
            format!("{program} is not on this machine; install it: {fix}")
        };
        places.find(|at| at.is_file()).ok_or_else(missing)
    }

    /// The command that installs it.
    #[must_use]
    pub fn fix(&self) -> String {
        format!("sudo apt-get install {}", self.package)
    }
}

/// All of them, sorted by name.
pub const ALL: &[Service] = &[nginx::SERVICE];

/// The service of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Service> {
    ALL.iter().find(|service| service.name == name)
}
