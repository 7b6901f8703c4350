//! Knows how a process moves into namespaces of its own and how such a namespace gets a name.
//!
//! Must not know what lives in it. All calls act on the calling process, which has one thread then.

use super::error::LabError;
use desk::record::LabKind;
use rustix::fs::{Mode, OFlags};
use rustix::mount::UnmountFlags;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where `ip netns` looks for named namespaces.
const NAMES: &str = "/run/netns";
/// Every name we give begins with this.
pub const PREFIX: &str = "stend-";

/// Enters the place where a host lives.
///
/// As root: a new network namespace. As an ordinary user: the user namespace of `join`, or a new
/// one in which we are root, and a new network namespace inside. On loopback: nothing.
///
/// # Errors
/// When the kernel refuses; the text says which call.
pub fn enter(kind: LabKind, join: Option<u32>) -> Result<(), LabError> {
    match (kind, join) {
        (LabKind::Loopback, _) => Ok(()),
        (LabKind::RootNamespaces, _) => unshare(libc::CLONE_NEWNET, "unshare(CLONE_NEWNET)"),
        (LabKind::UserNamespaces, None) => {
            let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
            unshare(
                libc::CLONE_NEWUSER | libc::CLONE_NEWNET,
                "unshare(CLONE_NEWUSER | CLONE_NEWNET)",
            )?;
            write("/proc/self/setgroups", "deny")?;
            write("/proc/self/uid_map", &format!("0 {} 1", user.as_raw()))?;
            write("/proc/self/gid_map", &format!("0 {} 1", group.as_raw()))
        }
        (LabKind::UserNamespaces, Some(pid)) => {
            join_user_namespace(pid)?;
            unshare(libc::CLONE_NEWNET, "unshare(CLONE_NEWNET)")
        }
    }
}

fn write(path: &str, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(|source| LabError::File { path: path.into(), source })
}

fn unshare(flags: libc::c_int, what: &'static str) -> Result<(), LabError> {
    // SAFETY: unshare takes no pointers; it only changes what this process sees.
    let failed = unsafe { libc::unshare(flags) } != 0;
    if failed {
        return Err(LabError::Namespace { what, source: io::Error::last_os_error() });
    }
    Ok(())
}

fn join_user_namespace(pid: u32) -> Result<(), LabError> {
    let path = format!("/proc/{pid}/ns/user");
    let file = fs::File::open(&path).map_err(|source| LabError::File { path, source })?;
    rustix::thread::move_into_link_name_space(
        std::os::fd::AsFd::as_fd(&file),
        Some(rustix::thread::LinkNameSpaceType::User),
    )
    .map_err(|e| LabError::Namespace { what: "setns(user)", source: e.into() })
}

/// Binds this process's network namespace to `/run/netns/stend-…`, where `ip netns exec` finds it.
///
/// The name carries the conductor's pid; [`remove_stale`] removes names whose conductor is gone.
///
/// # Errors
/// When the directory or the mount is refused; the namespace itself is not affected.
pub fn name_it(conductor: u32, host: &str) -> Result<(), LabError> {
    let fail = |path: &Path| {
        let path = path.display().to_string();
        move |source| LabError::File { path, source }
    };
    let directory = Path::new(NAMES);
    fs::create_dir_all(directory).map_err(fail(directory))?;
    let path = path_of(conductor, host);
    rustix::fs::open(&path, OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty())
        .map_err(|e| fail(&path)(e.into()))?;
    rustix::mount::mount_bind("/proc/self/ns/net", &path).map_err(|e| fail(&path)(e.into()))
}

fn path_of(conductor: u32, host: &str) -> PathBuf {
    Path::new(NAMES).join(format!("{PREFIX}{conductor}-{host}"))
}

/// Removes the name of one of our namespaces.
pub fn remove_name(conductor: u32, host: &str) {
    remove(&path_of(conductor, host));
}

fn remove(path: &Path) {
    // Either may already be done; what counts is that both are done afterwards.
    let _ = rustix::mount::unmount(path, UnmountFlags::DETACH);
    let _ = fs::remove_file(path);
}

/// Finds namespaces that an earlier, killed stend left named, removes them and returns their names.
#[must_use]
pub fn remove_stale() -> Vec<String> {
    let Ok(entries) = fs::read_dir(NAMES) else { return Vec::new() };
    let mut removed = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(pid) = owner_of(&name)
            && !is_stend(pid)
        {
            remove(&entry.path());
            removed.push(name);
        }
    }
    removed.sort();
    removed
}

/// The conductor's pid in a name of ours.
fn owner_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Whether a process is alive and runs the binary that this process runs.
fn is_stend(pid: u32) -> bool {
    let exe = |pid: &str| fs::read_link(format!("/proc/{pid}/exe")).ok();
    exe(&pid.to_string()).is_some_and(|theirs| Some(theirs) == exe("self"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_have_an_owner() {
        assert_eq!(owner_of("stend-123-sut"), Some(123));
        assert_eq!(owner_of("stend-sut"), None);
        assert_eq!(owner_of("blue"), None);
    }
}
