//! Knows which process a journal belongs to, and whether that process still runs.
//!
//! Must not know what stands in a journal.

use std::fs;
use std::io;
use std::path::Path;

/// A conductor: a process that cannot be mistaken for another that was given its number later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// When it started, clock ticks since the boot: field 22 of `/proc/PID/stat`, proc(5).
    pub start_ticks: u64,
    /// The boot in which it ran.
    pub boot: String,
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// When `/proc` does not tell.
    pub fn this() -> io::Result<Self> {
        let (root, pid) = (Path::new("/"), std::process::id());
        let unknown = || io::Error::other("its line of /proc/self/stat cannot be read");
        let start_ticks = stat(root, pid).ok_or_else(unknown)?.start_ticks;
        Ok(Self { pid, start_ticks, boot: boot(root)? })
    }

    /// Whether it still runs, as the process tables below `root` tell. One that has ended and that
    /// nobody has waited for does not run.
    #[must_use]
    pub fn is_alive(&self, root: &Path) -> bool {
        let same_boot = boot(root).is_ok_and(|boot| boot == self.boot);
        same_boot && self.is(root, self.pid)
    }

    /// Whether it still is the parent of a process. Seen from outside a container its number is
    /// another, its start is not.
    pub(super) fn is_parent_of(&self, root: &Path, pid: u32) -> bool {
        stat(root, pid).is_some_and(|stat| self.is(root, stat.parent))
    }

    fn is(&self, root: &Path, pid: u32) -> bool {
        let runs = |s: Stat| !matches!(s.state, 'Z' | 'X') && s.start_ticks == self.start_ticks;
        stat(root, pid).is_some_and(runs)
    }

    /// PID and start, as in the names of agents: `1234-567890`.
    #[must_use]
    pub fn tag(&self) -> String {
        format!("{}-{}", self.pid, self.start_ticks)
    }

    /// Name of its journal.
    pub(super) fn file_name(&self) -> String {
        format!("{}-{}.journal", self.tag(), self.boot.replace('-', "_"))
    }

    /// The owner that a journal's name tells.
    pub(super) fn of_file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".journal")?;
        let mut parts = name.splitn(3, '-');
        let (pid, start) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Self { pid, start_ticks: start, boot: parts.next()?.replace('_', "-") })
    }
}

/// The number of this boot.
pub(super) fn boot(root: &Path) -> io::Result<String> {
    let text = fs::read_to_string(root.join("proc/sys/kernel/random/boot_id"))?;
    Ok(text.trim().into())
}

/// What `/proc/PID/stat` says of a process.
struct Stat {
    state: char,
    parent: u32,
    start_ticks: u64,
}

/// Fields 3, 4 and 22, proc(5). The name before them, in brackets, may hold blanks and brackets.
fn stat(root: &Path, pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(root.join(format!("proc/{pid}/stat"))).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    Some(Stat { state, parent, start_ticks: fields.nth(17)?.parse().ok()? })
}
