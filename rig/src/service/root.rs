//! Knows how a program is started that refuses to run as root, of the machine or of a user
//! namespace.
//!
//! Must not know which program it is.

use super::Site;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// User and group `nobody` of the machine.
const NOBODY: u32 = 65_534;

/// The word by which a keeper's process becomes a program of a user who is not root.
pub(super) const BECOME: &str = "nobody";

/// Whether a program serves as root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// It does; some change to another user where they can.
    Serves,
    /// Only as the root of the machine, who can change to another user.
    OfMachine,
    /// Never.
    Refuses,
}

impl Root {
    /// The program as a command of a user as whom it serves.
    pub fn command(self, path: &Path, site: &Site) -> Command {
        match (self, site.is_root) {
            (Self::Serves, _) | (Self::OfMachine, true) => Command::new(path),
            (Self::Refuses, true) => {
                let mut command = Command::new(path);
                command.uid(NOBODY).gid(NOBODY);
                command
            }
            (_, false) => {
                // Its own path may be hidden by the mounts.
                let mut command = Command::new("/proc/self/exe");
                command.args(["service", BECOME]).arg(path);
                command
            }
        }
    }
}

/// Makes a directory below the run directory that a user who is not root may write.
///
/// # Errors
/// When it cannot be made.
pub fn directory(site: &Site, name: &str) -> io::Result<()> {
    let path = site.path(name);
    std::fs::create_dir_all(&path)?;
    if site.is_root { chown(path, Some(NOBODY), Some(NOBODY)) } else { Ok(()) }
}
