//! Knows how a process moves into namespaces of its own and how such a namespace gets a name.
//!
//! Must not know what lives in it. [`own_descriptors`], [`own_mounts`] and [`own_network`] act on
//! the calling thread, all other calls on the process, which has one thread then.

use super::error::LabError;
use desk::record::LabKind;
use rustix::fs::{Mode, OFlags};
use rustix::mount::UnmountFlags;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where `ip netns` looks for named namespaces.
const NAMES: &str = "/run/netns";
/// Every name we give begins with this.
const PREFIX: &str = "stend-";

/// Enters the place where a host lives.
///
/// As root: a new network namespace. As an ordinary user: the user namespace of `join`, or a new
/// one in which we are root, and a new network namespace inside. On loopback: nothing.
///
/// # Errors
/// When the kernel refuses; the text says which call.
pub fn enter(kind: LabKind, join: Option<u32>) -> Result<(), LabError> {
    match (kind, join) {
        (LabKind::Loopback | LabKind::Simulated, _) => Ok(()),
        (LabKind::RootNamespaces, _) => unshare(libc::CLONE_NEWNET, "unshare(CLONE_NEWNET)"),
        (LabKind::UserNamespaces, None) => {
            let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
            unshare(
                libc::CLONE_NEWUSER | libc::CLONE_NEWNET,
                "unshare(CLONE_NEWUSER | CLONE_NEWNET)",
            )?;
            map(ROOT, user, group)
        }
        (LabKind::UserNamespaces, Some(pid)) => {
            join_user_namespace(pid)?;
            unshare(libc::CLONE_NEWNET, "unshare(CLONE_NEWNET)")
        }
    }
}

/// Gives the calling thread a copy of the table of descriptors.
///
/// # Errors
/// When the kernel has no memory for it.
pub fn own_descriptors() -> Result<(), LabError> {
    unshare(libc::CLONE_FILES, "unshare(CLONE_FILES)")
}

/// Gives the calling thread a network namespace without links, which goes with it.
///
/// # Errors
/// When the kernel refuses.
pub fn own_network() -> Result<(), LabError> {
    unshare(libc::CLONE_NEWNET, "unshare(CLONE_NEWNET)")
}

/// Gives the calling thread mounts of its own.
///
/// # Errors
/// When the kernel refuses.
pub fn own_mounts() -> Result<(), LabError> {
    unshare(libc::CLONE_NEWNS, "unshare(CLONE_NEWNS)")
}

/// What [`own_processes`] asks the kernel for.
const OWN: libc::c_int = libc::CLONE_NEWPID | libc::CLONE_NEWNS;
const WHAT: &str = "unshare(CLONE_NEWPID | CLONE_NEWNS)";

/// Whether [`own_processes`] would do, by a process that tries it and ends.
///
/// # Errors
/// As that.
pub fn try_own_processes() -> Result<(), LabError> {
    let attempt = || {
        // SAFETY: no memory is involved; only the namespaces of the new process change.
        let unshare = |flags| match unsafe { libc::unshare(flags) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        unshare(OWN).or_else(|e| match e.kind() {
            io::ErrorKind::PermissionDenied => unshare(OWN | libc::CLONE_NEWUSER),
            _ => Err(e),
        })
    };
    let mut tries = Command::new("true");
    // SAFETY: between fork and exec only system calls are made, which allocate nothing.
    match unsafe { tries.pre_exec(attempt) }.status() {
        // The program comes after what was to be tried.
        Ok(_) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(LabError::Namespace { what: WHAT, source }),
    }
}

/// Gives the processes that this one starts from now on a namespace of their own, and this one
/// mounts of its own. Who may not has a user namespace made, in which it is root.
///
/// # Errors
/// When the kernel refuses.
pub fn own_processes() -> Result<(), LabError> {
    match unshare(OWN, WHAT) {
        Err(LabError::Namespace { source, .. })
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
            unshare(OWN | libc::CLONE_NEWUSER, WHAT)?;
            map(ROOT, user, group)
        }
        done => done,
    }
}

/// Gives this process a user namespace of its own, in which it is nobody: what refuses to serve as
/// root serves there.
///
/// # Errors
/// When the kernel refuses.
pub fn own_nobody() -> Result<(), LabError> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(libc::CLONE_NEWUSER, "unshare(CLONE_NEWUSER)")?;
    map(NOBODY, user, group)
}

/// Whether this process is root, and not of a user namespace alone.
#[must_use]
pub fn is_root_of_machine() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    whole && rustix::process::geteuid().is_root()
}

/// User and group of this number in a user namespace.
const ROOT: u32 = 0;
const NOBODY: u32 = 65_534;

/// Gives a user and a group this number in the user namespace of this process.
fn map(
    number: u32,
    user: rustix::process::Uid,
    group: rustix::process::Gid,
) -> Result<(), LabError> {
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{number} {} 1", user.as_raw()))?;
    write("/proc/self/gid_map", &format!("{number} {} 1", group.as_raw()))
}

fn write(path: &str, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(|source| LabError::File { path: path.into(), source })
}

fn unshare(flags: libc::c_int, what: &'static str) -> Result<(), LabError> {
    // SAFETY: unshare takes no pointers; it only changes what this process or thread sees.
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

/// Moves the calling thread into a network namespace.
///
/// # Errors
/// When the kernel refuses.
pub fn join(network: std::os::fd::BorrowedFd<'_>) -> Result<(), LabError> {
    let kind = Some(rustix::thread::LinkNameSpaceType::Network);
    rustix::thread::move_into_link_name_space(network, kind)
        .map_err(|e| LabError::Namespace { what: "setns(net)", source: e.into() })
}

/// Does this in a network namespace, in a thread that joins it and ends.
///
/// # Errors
/// When the namespace cannot be joined.
pub fn within<T: Send + 'static>(
    network: &Path,
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LabError> {
    let path = network.display().to_string();
    let file = fs::File::open(network).map_err(|source| LabError::File { path, source })?;
    let go = move || join(std::os::fd::AsFd::as_fd(&file)).map(|()| act());
    let ended = |_| LabError::Namespace {
        what: "a thread that joins it",
        source: io::Error::other("it ended"),
    };
    std::thread::spawn(go).join().map_err(ended)?
}

/// Binds this process's network namespace to `/run/netns/stend-…`, where `ip netns exec` finds it.
///
/// The name carries the conductor's pid; [`remove_stale`] removes names in which nobody lives.
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

/// Where the name of a host's namespace stands.
pub fn path_of(conductor: u32, host: &str) -> PathBuf {
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

/// Removes a name in whose namespace no process lives.
///
/// # Errors
/// When one does, or the name stays.
pub fn remove_empty(path: &Path) -> io::Result<()> {
    let there = |m: &fs::Metadata| inhabited().contains(&identity(m));
    if fs::metadata(path).is_ok_and(|m| there(&m)) {
        return Err(io::Error::other(format!("a process lives in {}", path.display())));
    }
    remove(path);
    if path.exists() {
        return Err(io::Error::other(format!("{} cannot be removed", path.display())));
    }
    Ok(())
}

/// Finds namespaces that an earlier, killed stend left named, and removes them.
///
/// One in which any process lives is somebody's and stays.
pub fn remove_stale() {
    stale().iter().for_each(|path| remove(path));
}

/// Our names in whose namespaces no process lives, sorted.
#[must_use]
pub fn stale() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(NAMES) else { return Vec::new() };
    let ours = |e: &fs::DirEntry| conductor_of(&e.file_name().to_string_lossy()).is_some();
    let mut found: Vec<PathBuf> = entries.flatten().filter(ours).map(|e| e.path()).collect();
    if found.is_empty() {
        return found;
    }
    let (lived_in, sees_all) = (inhabited(), rustix::process::geteuid().is_root());
    let lives = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Where processes of others live is hidden from an ordinary user; that they run is not.
        let runs = |pid| Path::new("/proc").join(u32::to_string(&pid)).exists();
        !sees_all && conductor_of(&name).is_some_and(runs)
            || fs::metadata(path).is_ok_and(|m| lived_in.contains(&identity(&m)))
    };
    found.retain(|path| !lives(path));
    found.sort();
    found
}

/// The conductor's pid in a name of our form: prefix, pid, host. Control groups have the same.
#[must_use]
pub fn conductor_of(name: &str) -> Option<u32> {
    let (pid, host) = name.strip_prefix(PREFIX)?.split_once('-')?;
    pid.parse().ok().filter(|_| !host.is_empty())
}

/// What tells one namespace from another.
fn identity(file: &fs::Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// The network namespaces of all processes.
fn inhabited() -> BTreeSet<(u64, u64)> {
    of_processes().filter_map(|path| Some(identity(&fs::metadata(path).ok()?))).collect()
}

fn of_processes() -> impl Iterator<Item = PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.map(|process| process.path().join("ns/net"))
}

/// A file of each network namespace that has a name or a process, but for that of the calling
/// thread.
#[must_use]
pub fn others() -> Vec<PathBuf> {
    let names = fs::read_dir(NAMES).into_iter().flatten().flatten().map(|name| name.path());
    let here = fs::metadata("/proc/thread-self/ns/net").map(|m| identity(&m));
    let mut seen: BTreeSet<(u64, u64)> = here.into_iter().collect();
    let new = |path: &PathBuf| fs::metadata(path).is_ok_and(|m| seen.insert(identity(&m)));
    names.chain(of_processes()).filter(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_form_are_ours() {
        assert_eq!(conductor_of("stend-123-sut"), Some(123));
        for other in ["stend-sut", "stend-blue-sut", "blue", "stend-123-"] {
            assert_eq!(conductor_of(other), None, "{other}");
        }
    }

    #[test]
    fn our_own_namespace_is_lived_in() {
        let here = fs::metadata("/proc/self/ns/net").unwrap();
        assert!(inhabited().contains(&identity(&here)));
        let refused = remove_empty(Path::new("/proc/self/ns/net")).unwrap_err().to_string();
        assert!(refused.contains("a process lives in"), "{refused}");
    }
}
