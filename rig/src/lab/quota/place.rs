//! Knows where groups with CPU bandwidth control can be made, in either version of control groups.
//!
//! Must not know for which hosts.

use super::group::QuotaGroup;
use crate::lab::cgroup::{self, below, mounted, writable};
use std::fs;
use std::path::{Path, PathBuf};

/// Which version of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The old hierarchy of the controller `cpu`.
    One,
    /// The unified one.
    Two,
}

/// Where groups can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which version stands there.
    pub version: Version,
    /// The directory in which they are made.
    pub directory: PathBuf,
    /// The file that has to name `cpu` first; none where groups have the controller already.
    pub enable: Option<PathBuf>,
}

/// Looks for the place on the machine below `root`; changes nothing.
///
/// # Errors
/// Why there is none.
pub fn find(root: &Path) -> Result<Place, String> {
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    place(&text("proc/self/mounts"), &text("proc/self/cgroup"))
}

/// Makes a group with a limit, reads it back and removes both: what a plan would do, for nobody.
/// Where a group around it would have to be changed first, only that is said.
///
/// # Errors
/// Why no plan could.
pub fn try_out(root: &Path) -> Result<String, String> {
    let place = find(root)?;
    if let Some(file) = place.enable {
        return Ok(format!("{} can be written, to add cpu to it for a run", file.display()));
    }
    let directory = place.directory.join(cgroup::passing());
    let fail = |e: std::io::Error| format!("{}: {e}", directory.display());
    fs::create_dir(&directory).map_err(fail)?;
    let group = QuotaGroup::new("doctor", std::process::id(), (place.version, directory.clone()));
    let set = group.set(Some(TRIED)).and_then(|()| group.limit());
    let removed = cgroup::remove(&directory);
    let found = set.map_err(fail)?;
    removed.map_err(fail)?;
    if found.is_none_or(|found| (found - TRIED).abs() > 1e-3) {
        return Err(format!("{}: a limit does not take", directory.display()));
    }
    Ok(format!("one set, read back and removed in {}", place.directory.display()))
}

/// Limit that is tried, CPUs: so small that hardly a group around it is held to less.
const TRIED: f64 = 0.01;

/// The place that these files tell of.
pub(super) fn place(mounts: &str, own: &str) -> Result<Place, String> {
    let Some(mount) = mounted(mounts, "cgroup", |options| has(options, "cpu", ',')) else {
        return unified(mounts, own);
    };
    let directory = below(&mount, path_of(own, Version::One).unwrap_or("/"));
    if !writable(&directory) {
        return Err(format!("{} is not ours to write", directory.display()));
    }
    Ok(Place { version: Version::One, directory, enable: None })
}

/// The nearest group around this process that gives its groups the controller `cpu`, else the root
/// of the hierarchy, which alone may have processes beside such groups.
fn unified(mounts: &str, own: &str) -> Result<Place, String> {
    let mount = mounted(mounts, "cgroup2", |_| true);
    let mount = mount.ok_or("no control groups with the controller cpu are mounted")?;
    let start = below(&mount, path_of(own, Version::Two).unwrap_or("/"));
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let mut refused = None;
    for directory in start.ancestors().take_while(|at| at.starts_with(&mount)) {
        if !has(&read(directory.join("cgroup.subtree_control")), "cpu", ' ') {
            continue;
        }
        if writable(directory) {
            let directory = directory.to_path_buf();
            return Ok(Place { version: Version::Two, directory, enable: None });
        }
        refused.get_or_insert_with(|| format!("{} is not ours to write", directory.display()));
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    let at = mount.display();
    if !has(&read(mount.join("cgroup.controllers")), "cpu", ' ') {
        return Err(format!("{at} has no controller cpu"));
    }
    // Every group but the root of the whole hierarchy has a type.
    if mount.join("cgroup.type").exists() {
        return Err(format!("no group at or below {at} gives its groups the controller cpu"));
    }
    let file = mount.join("cgroup.subtree_control");
    if !writable(&file) || !writable(&mount) {
        return Err(format!("{} is not ours to write", file.display()));
    }
    Ok(Place { version: Version::Two, directory: mount, enable: Some(file) })
}

/// Where the hierarchy is mounted, and the group in it that a process is in, by its line of
/// `/proc/PID/cgroup`.
pub(super) fn of_process(mounts: &str, own: &str, version: Version) -> Option<(PathBuf, PathBuf)> {
    let mount = match version {
        Version::One => mounted(mounts, "cgroup", |options| has(options, "cpu", ',')),
        Version::Two => mounted(mounts, "cgroup2", |_| true),
    };
    let mount = mount?;
    let group = below(&mount, path_of(own, version)?);
    Some((mount, group))
}

fn path_of(own: &str, version: Version) -> Option<&str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let fits = match version {
            Version::One => has(controllers, "cpu", ','),
            Version::Two => number == "0" && controllers.is_empty(),
        };
        fits.then_some(path)
    })
}

fn has(list: &str, name: &str, between: char) -> bool {
    list.trim().split(between).any(|word| word == name)
}
