//! Knows how much room there is at the place where runs are kept, and whether the page cache can be
//! passed by.
//!
//! Must not know what a store looks like inside. It leaves no file.

use super::{Capability, State, mount_of};
use crate::lab::environment;
use desk::unit::Quantity;
use rustix::fs::{Mode, OFlags};
use std::path::Path;

/// Less room than this may not do for the first run and its report (research: at most 256 MB).
const LITTLE: u64 = 256 << 20;

/// Both, for the file in which runs are kept.
#[must_use]
pub fn look_at_store(store: &Path) -> Vec<Capability> {
    let above = store.ancestors().skip(1);
    let there = above.into_iter().find(|path| path.is_dir()).unwrap_or(Path::new("."));
    vec![room(there), direct(there)]
}

/// Whether drives can be asked what they are and how worn, by a program that takes root.
pub(super) fn drives() -> Capability {
    let name = "facts of drives";
    let (program, version) = environment::drive_program();
    match version {
        Ok(_) if !rustix::process::geteuid().is_root() => {
            let evidence = format!("{program} asks drives only for root");
            Capability::new(name, State::Degraded, evidence).with_fix("sudo stend")
        }
        Ok(version) => Capability::new(name, State::Ok, version),
        Err(why) => Capability::new(name, State::Absent, format!("{program}: {why}"))
            .with_fix("sudo apt-get install smartmontools"),
    }
}

fn room(there: &Path) -> Capability {
    let name = "disk for the store";
    match rustix::fs::statvfs(there) {
        Ok(disk) => {
            let bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
            let evidence = format!("{} free at {}", Quantity::bytes(bytes), there.display());
            let state = if bytes < LITTLE { State::Degraded } else { State::Ok };
            Capability::new(name, state, evidence)
        }
        Err(e) => {
            let why = std::io::Error::from(e);
            Capability::new(name, State::Degraded, format!("statvfs {}: {why}", there.display()))
        }
    }
}

/// Opens a file without a name, past the page cache.
fn direct(there: &Path) -> Capability {
    let name = "O_DIRECT";
    let flags = OFlags::TMPFILE | OFlags::DIRECT | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(there, flags, Mode::RUSR | Mode::WUSR) {
        Ok(_) => Capability::new(name, State::Ok, format!("opened in {}", there.display())),
        Err(e) => {
            let why = std::io::Error::from(e);
            let mount = mount_of(Path::new("/"), there).map(|(place, _)| place);
            let on = mount.map(|place| format!(" (mount {place})")).unwrap_or_default();
            Capability::new(name, State::Absent, format!("{}: {why}{on}", there.display()))
        }
    }
}
