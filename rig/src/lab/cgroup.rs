//! Knows how a host gets a control group of its own, whose clock is a second opinion on its CPU.
//!
//! The group has no controller, so nothing is scheduled otherwise because of it: in the unified
//! hierarchy every group keeps `cpu.stat`, in the old one `cpuacct` only counts, if it is mounted
//! apart from `cpu`.
//!
//! Must not know what a host does, nor what its clock is compared with.

use super::namespace::conductor_of;
use desk::record::{Fact, KeyClass};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// Every name we give begins with this; then the conductor's pid and the host.
pub(super) const PREFIX: &str = "stend-";
/// How often it is tried to remove a group whose last process is on its way out, and the pause.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(2);

/// Which kind of hierarchy a group stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The unified one, version 2.
    Unified,
    /// Version 1, the controller `cpuacct` on its own.
    Accounting,
}

/// Where groups can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parent {
    kind: Kind,
    directory: PathBuf,
}

/// The group of one host; only a view, it removes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostGroup {
    /// The host.
    pub host: String,
    kind: Kind,
    directory: PathBuf,
    /// Where the process is instead, while a quota holds it.
    moved_to: Option<PathBuf>,
}

impl HostGroup {
    /// CPU time of all that ever ran in the group, nanoseconds (of whole microseconds in the
    /// unified hierarchy); none when it cannot be read.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        let directory = self.moved_to.as_ref().unwrap_or(&self.directory);
        match self.kind {
            Kind::Accounting => {
                let text = fs::read_to_string(directory.join("cpuacct.usage")).ok()?;
                text.trim().parse().ok()
            }
            Kind::Unified => {
                let text = fs::read_to_string(directory.join("cpu.stat")).ok()?;
                let usage = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
                usage.trim().parse::<u64>().ok().map(|us| us * 1000)
            }
        }
    }
}

/// The groups of a lab; they are removed when this is dropped, so drop the hosts before.
#[derive(Debug)]
pub struct ControlGroups {
    parent: Option<Parent>,
    /// Why there are none, empty if there are.
    why_none: String,
    groups: Vec<HostGroup>,
}

impl Default for ControlGroups {
    fn default() -> Self {
        Self { parent: None, why_none: "no lab stands".into(), groups: Vec::new() }
    }
}

impl ControlGroups {
    /// Looks for a place for groups and removes what conductors that are gone left there.
    #[must_use]
    pub fn find() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        match parent(&text("/proc/self/mounts"), &text("/proc/self/cgroup")) {
            Ok(parent) => {
                remove_stale(&parent.directory, Path::new("/proc"));
                Self { parent: Some(parent), why_none: String::new(), groups: Vec::new() }
            }
            Err(why_none) => Self { parent: None, why_none, groups: Vec::new() },
        }
    }

    /// Where the group of a host would be; none where no groups can be made.
    #[must_use]
    pub fn path_of(&self, host: &str) -> Option<PathBuf> {
        let name = format!("{PREFIX}{}-{host}", std::process::id());
        Some(self.parent.as_ref()?.directory.join(name))
    }

    /// Makes no groups, and says why.
    pub fn give_up(&mut self, why: String) {
        (self.parent, self.why_none) = (None, why);
    }

    /// Gives a host a group and moves its process in. If that is refused, no host has one: half a
    /// second opinion is none.
    pub fn add(&mut self, host: &str, process: u32) {
        let (Some(parent), Some(directory)) = (&self.parent, self.path_of(host)) else { return };
        let (host, kind) = (host.into(), parent.kind);
        let group = HostGroup { host, kind, directory, moved_to: None };
        let made = fs::create_dir(&group.directory);
        self.groups.push(group.clone());
        let moved = made
            .and_then(|()| fs::write(group.directory.join("cgroup.procs"), process.to_string()));
        if let Err(e) = moved {
            self.why_none = format!("{}: {e}", group.directory.display());
            self.parent = None;
            // What is already moved stays until its process ends; nobody reads it.
        }
    }

    /// The process of a host has moved to another group of the unified hierarchy, or back.
    pub fn read_in(&mut self, host: &str, directory: Option<&Path>) {
        let unified = |g: &&mut HostGroup| g.host == host && g.kind == Kind::Unified;
        for group in self.groups.iter_mut().filter(unified) {
            group.moved_to = directory.map(Path::to_path_buf);
        }
    }

    /// The groups whose clocks tell; none unless every host has one.
    #[must_use]
    pub fn readable(&self) -> Vec<HostGroup> {
        if self.parent.is_some() { self.groups.clone() } else { Vec::new() }
    }

    /// Removes all groups; their processes must have ended.
    pub fn remove(&mut self) {
        for group in self.groups.drain(..) {
            // One that stays is in the journal, and the guardian tries again.
            let _ = remove(&group.directory);
        }
    }

    /// Says where the groups are, or why there are none.
    #[must_use]
    pub fn fact(&self) -> Fact {
        let (value, source) = match &self.parent {
            Some(Parent { kind, directory }) => (kind_name(*kind).into(), directory),
            None => (format!("none: {}", self.why_none), &PathBuf::from("/proc/self/cgroup")),
        };
        let source = source.display().to_string();
        Fact { key: "lab.control_groups".into(), value, class: KeyClass::Info, source }
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Tries what [`ControlGroups`] would do, for no host: makes a group and removes it at once.
///
/// Gives what the fact of a lab says of its groups, and the directory they would be in.
///
/// # Errors
/// Why no host would have one, in the words of that fact.
pub(super) fn try_out() -> Result<(String, PathBuf), String> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let parent = parent(&text("/proc/self/mounts"), &text("/proc/self/cgroup"))?;
    let kind = kind_name(parent.kind);
    let group = parent.directory.join(passing());
    let fail = |e: io::Error| format!("{}: {e}", group.display());
    fs::create_dir(&group).map_err(fail)?;
    let opened = fs::OpenOptions::new().write(true).open(group.join("cgroup.procs"));
    let removed = fs::remove_dir(&group);
    opened.map_err(fail)?;
    removed.map_err(fail)?;
    Ok((kind.into(), parent.directory))
}

/// Name of a group that is removed as soon as it is made: another each time, for version 1 can have
/// both of the things that are tried in one directory.
pub(super) fn passing() -> String {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let (process, nth) = (std::process::id(), TRIED.fetch_add(1, Relaxed));
    format!("{PREFIX}{process}-doctor{nth}")
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Unified => "version 2",
        Kind::Accounting => "version 1, cpuacct",
    }
}

/// The group of this process in a hierarchy where a child group changes no scheduling.
fn parent(mounts: &str, own: &str) -> Result<Parent, String> {
    let unified = unified(mounts, own);
    match (unified, accounting(mounts, own)) {
        (Ok(parent), _) | (Err(_), Some(parent)) => Ok(parent),
        (Err(why), None) => Err(why),
    }
}

fn unified(mounts: &str, own: &str) -> Result<Parent, String> {
    let mount = mounted(mounts, "cgroup2", |_| true);
    let mount = mount.ok_or("no control groups of version 2 are mounted")?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let directory = below(&mount, own);
    let enabled = directory.join("cgroup.subtree_control");
    let controllers = fs::read_to_string(&enabled);
    let controllers = controllers.map_err(|e| format!("{}: {e}", enabled.display()))?;
    if !controllers.trim().is_empty() {
        let (list, at) = (controllers.trim(), directory.display());
        return Err(format!("{at} gives its groups the controllers {list}, which would interfere"));
    }
    if !writable(&directory) {
        return Err(format!("{} is not ours to write", directory.display()));
    }
    Ok(Parent { kind: Kind::Unified, directory })
}

/// `cpuacct` by itself; together with `cpu` a group of its own would get a share of its own.
fn accounting(mounts: &str, own: &str) -> Option<Parent> {
    let alone = |options: &str| {
        let has = |name| options.split(',').any(|option| option == name);
        has("cpuacct") && !has("cpu")
    };
    let mount = mounted(mounts, "cgroup", alone)?;
    let own = own.lines().find_map(|line| line.split_once(":cpuacct:")).map_or("/", |(_, p)| p);
    let directory = below(&mount, own);
    writable(&directory).then_some(Parent { kind: Kind::Accounting, directory })
}

/// Where the first file system of a type is mounted whose options pass (proc(5), `mounts`).
pub(super) fn mounted(mounts: &str, kind: &str, options: impl Fn(&str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, place, its_kind, its_options, ..] = words[..] else { return None };
        (its_kind == kind && options(its_options)).then(|| PathBuf::from(place))
    })
}

pub(super) fn below(mount: &Path, own: &str) -> PathBuf {
    mount.join(own.trim_start_matches('/'))
}

pub(super) fn writable(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Removes groups of conductors that are gone. One in which a process lives refuses to go.
fn remove_stale(parent: &Path, processes: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(conductor) = conductor_of(&name.to_string_lossy()) else { continue };
        if !processes.join(conductor.to_string()).exists() {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Groups of our form, anywhere on the machine, whose conductor's number no process has; sorted.
#[must_use]
pub fn stale() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let of = |name: &'static str| {
        mounted(&mounts, "cgroup", move |options| options.split(',').any(|option| option == name))
    };
    let all = [mounted(&mounts, "cgroup2", |_| true), of("cpu"), of("cpuacct")];
    let mut folders: Vec<PathBuf> = all.into_iter().flatten().collect();
    // Where `cpu` and `cpuacct` share a hierarchy, it is one place.
    folders.dedup();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let conductor = conductor_of(&entry.file_name().to_string_lossy());
                let gone = |pid: u32| !Path::new("/proc").join(pid.to_string()).exists();
                if conductor.is_some_and(gone) {
                    found.push(entry.path());
                }
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Removes a group; a process that was just waited for may still stand in it for a moment.
///
/// # Errors
/// When it stays.
pub fn remove(group: &Path) -> io::Result<()> {
    for _ in 0..TRIES {
        match fs::remove_dir(group) {
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            done => return done,
        }
    }
    fs::remove_dir(group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::clock;
    use std::process::Command;

    const OWN: &str = "9:name=systemd:/\n2:cpuacct:/a/b\n1:cpu:/\n0::/user.slice/x.scope\n";

    /// A directory that looks like a hierarchy; the paths of mounts are made to point into it.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, directories: &[&str]) -> Self {
            let root = std::env::temp_dir().join(format!("stend-cg-{}-{name}", std::process::id()));
            for directory in directories {
                fs::create_dir_all(root.join(directory)).unwrap();
            }
            Self(root)
        }

        fn mounts(&self, rows: &[(&str, &str, &str)]) -> String {
            let row = |(place, kind, options): &(&str, &str, &str)| {
                format!("{kind} {}/{place} {kind} {options} 0 0\n", self.0.display())
            };
            rows.iter().map(row).collect()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn the_own_group_of_the_unified_hierarchy_is_taken_if_it_gives_no_controllers() {
        let tree = Tree::new("unified", &["two/user.slice/x.scope", "acct/a/b"]);
        let mounts =
            tree.mounts(&[("two", "cgroup2", "rw,nosuid"), ("acct", "cgroup", "rw,cpuacct")]);
        let control = tree.0.join("two/user.slice/x.scope/cgroup.subtree_control");
        fs::write(&control, "\n").unwrap();
        let found = parent(&mounts, OWN).unwrap();
        assert_eq!(found.kind, Kind::Unified);
        assert_eq!(found.directory, tree.0.join("two/user.slice/x.scope"));
        fs::write(&control, "cpu memory\n").unwrap();
        let found = parent(&mounts, OWN).unwrap();
        assert_eq!((found.kind, found.directory), (Kind::Accounting, tree.0.join("acct/a/b")));
    }

    #[test]
    fn accounting_that_shares_its_hierarchy_with_cpu_is_left_alone() {
        let tree = Tree::new("shared", &["both"]);
        let mounts = tree.mounts(&[("both", "cgroup", "rw,cpu,cpuacct")]);
        let why = parent(&mounts, OWN).unwrap_err();
        assert!(why.contains("version 2"), "{why}");
    }

    #[test]
    fn only_groups_of_conductors_that_are_gone_are_removed() {
        let tree = Tree::new(
            "stale",
            &["g/stend-7-sut", "g/stend-8-sut", "g/stend-9-c01/busy", "g/blue", "proc/8"],
        );
        remove_stale(&tree.0.join("g"), &tree.0.join("proc"));
        let there = |name: &str| tree.0.join("g").join(name).exists();
        assert!(!there("stend-7-sut"));
        assert!(there("stend-8-sut") && there("stend-9-c01") && there("blue"));
    }

    #[test]
    fn a_group_counts_what_its_process_used_and_goes_with_it() {
        let mut groups = ControlGroups::find();
        let child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        groups.add("test", child.id());
        let readable = groups.readable();
        let end = |mut child: std::process::Child| {
            child.kill().unwrap();
            child.wait().unwrap();
        };
        let Some(group) = readable.first() else {
            println!("skipped: {}", groups.fact().value);
            return end(child);
        };
        let clock_ns = || clock::cpu_ns_of(child.id()).unwrap();
        let (began, group_began) = (clock_ns(), group.cpu_ns().unwrap());
        while clock_ns() < began + 100_000_000 {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Either clock may be a tick behind the child, which runs meanwhile.
        let least = clock_ns() - began - 10_000_000;
        let gained = group.cpu_ns().unwrap() - group_began;
        let most = clock_ns() - began + 10_000_000;
        assert!((least..=most).contains(&gained), "{gained} not in {least}..{most} ns");
        assert!(group.directory.exists());
        end(child);
        drop(groups);
        assert!(!group.directory.exists());
    }
}
