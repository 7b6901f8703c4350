//! Capability: what can be done and seen on this machine, each thing tried or read, none guessed.
//!
//! Knows: files of the kernel, calls that it may refuse, and the command that would change that.
//! Gives: [`look`], [`look_at_store`], [`listen`], [`fix_of_write`], [`Capability`].
//! Never: what a measurement needs, which factor or workload there is, whether a figure is to be
//! trusted. It carries out no command, and whatever it makes for a trial is gone on return.
//! Start reading at [`look`].

mod calls;
mod disk;
mod machine;
mod noise;
mod privilege;
#[cfg(test)]
mod tests;

pub use disk::look_at_store;
pub use noise::{Noise, listen};
pub use privilege::holds_sys_admin;

use super::{cgroup, undo};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// How much of a capability there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// All of it.
    Ok,
    /// Less than all; the evidence says what.
    Degraded,
    /// Nothing.
    Absent,
}

impl State {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::Absent => "absent",
        }
    }
}

/// One thing that this machine lets us do or see, or does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// What.
    pub name: String,
    /// How much.
    pub state: State,
    /// File and value, or call and errno.
    pub evidence: String,
    /// A command for the person that would bring it; none where there is none.
    pub fix: Option<String>,
}

impl Capability {
    /// One without a fix.
    #[must_use]
    pub fn new(name: &str, state: State, evidence: impl Into<String>) -> Self {
        Self { name: name.into(), state, evidence: evidence.into(), fix: None }
    }

    /// The same with the command that would bring it.
    #[must_use]
    pub fn with_fix(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }

    /// Present or absent.
    fn either(name: &str, there: bool, evidence: impl Into<String>) -> Self {
        Self::new(name, if there { State::Ok } else { State::Absent }, evidence)
    }
}

/// Everything that needs no lab and no store: `root` is where `proc` and `sys` stand.
#[must_use]
pub fn look(root: &Path) -> Vec<Capability> {
    let mut found = privilege::look(root);
    found.push(groups(root));
    found.push(journal());
    found.extend(machine::look(root));
    found.extend(calls::look(root));
    found.push(disk::drives());
    found
}

/// Control groups of the kind that a lab would make.
fn groups(root: &Path) -> Capability {
    let name = "control groups";
    let controllers = std::fs::read_to_string(root.join("proc/self/mounts"))
        .map(|mounts| hierarchies(&mounts))
        .unwrap_or_default();
    match cgroup::try_out() {
        Ok((kind, directory)) => {
            let at = directory.display();
            let tried = format!("{kind}: one made and removed in {at}; {controllers}");
            Capability::new(name, State::Ok, tried)
        }
        Err(why) => {
            let read_only = why.contains("not ours to write") && mounted_read_only(root, &why);
            let found = Capability::new(name, State::Absent, format!("{why}; {controllers}"));
            match why.split_whitespace().next() {
                Some(path) if read_only => {
                    found.with_fix(format!("sudo mount -o remount,rw {path}"))
                }
                _ if rustix::process::geteuid().is_root() => found,
                _ => found.with_fix("sudo stend"),
            }
        }
    }
}

/// The command that would let a file be opened for writing which the kernel refused so.
#[must_use]
pub fn fix_of_write(path: &str, refused: &io::Error) -> String {
    if refused.kind() != io::ErrorKind::ReadOnlyFilesystem {
        return "sudo stend".into();
    }
    let mount = mount_of(Path::new("/"), Path::new(path)).map(|(place, _)| place);
    format!("sudo mount -o remount,rw {}", mount.as_deref().unwrap_or(path))
}

/// Whether the directory that a refusal begins with stands on a mount that is read-only.
fn mounted_read_only(root: &Path, why: &str) -> bool {
    let Some(path) = why.split_whitespace().next() else { return false };
    mount_of(root, Path::new(path)).is_some_and(|(_, options)| options.starts_with("ro"))
}

/// Where the file system of a path is mounted, and its options: the longest place that holds it.
pub(super) fn mount_of(root: &Path, path: &Path) -> Option<(String, String)> {
    let mounts = std::fs::read_to_string(root.join("proc/self/mounts")).ok()?;
    let rows = mounts.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, place, _, options, ..] = words[..] else { return None };
        path.starts_with(place).then(|| (place.to_owned(), options.to_owned()))
    });
    // Of two at one place the later covers the earlier.
    rows.max_by_key(|(place, _)| place.len())
}

/// Which hierarchies are mounted, in the words of their options.
fn hierarchies(mounts: &str) -> String {
    let mut all = Vec::new();
    for line in mounts.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, place, kind, options, ..] = words[..] else { continue };
        let named = place.rsplit('/').next().unwrap_or(place);
        let way = if options.starts_with("ro") { " (ro)" } else { "" };
        match kind {
            "cgroup2" => all.push(format!("v2{way}")),
            "cgroup" => all.push(format!("{named}{way}")),
            _ => {}
        }
    }
    if all.is_empty() { "none mounted".into() } else { format!("mounted: {}", all.join(" ")) }
}

fn journal() -> Capability {
    let name = "journal of undos";
    let tried = undo::directory().and_then(|at| undo::refuse(&at).map(|()| at));
    match tried {
        Ok(at) => Capability::new(name, State::Ok, format!("{} can be written", at.display())),
        Err(e) => Capability::new(name, State::Absent, e.to_string())
            .with_fix("export STEND_JOURNAL=$(mktemp -d)"),
    }
}

/// A small file of the kernel, trimmed; the error in words.
fn text(root: &Path, path: &str) -> Result<String, String> {
    let full = root.join(path);
    let read = std::fs::read_to_string(&full).map(|text| text.trim().to_owned());
    read.map_err(|e: io::Error| format!("{}: {e}", full.display()))
}

/// The same with its path before it, whichever it is.
fn said(root: &Path, path: &str) -> String {
    match text(root, path) {
        Ok(value) if value.is_empty() => format!("{} is empty", root.join(path).display()),
        Ok(value) => format!("{} {value}", root.join(path).display()),
        Err(why) => why,
    }
}
