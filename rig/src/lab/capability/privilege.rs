//! Knows what this process may do, by what the kernel says of it.
//!
//! Must not know what it is needed for.

use super::{Capability, State, said, text};
use rustix::process::{Resource, getrlimit};
use std::path::Path;

/// Name and bit (capability.h) of each that is asked for.
const BITS: [(&str, u32); 4] =
    [("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21), ("CAP_SYS_NICE", 23), ("CAP_BPF", 39)];
/// Before Linux 5.8, and ever since, this bit contains `CAP_BPF`.
const SYS_ADMIN: u32 = 21;
/// Descriptors for as many connections as a plan may have, and what a host needs besides.
const FILES: u64 = 1024 + 64;

pub(super) fn look(root: &Path) -> Vec<Capability> {
    let mut found = vec![user()];
    let effective = effective(root);
    let granted = |bit: u32| effective.as_ref().is_ok_and(|all| all >> bit & 1 == 1);
    for (name, bit) in BITS {
        let there = granted(bit) || (name == "CAP_BPF" && granted(SYS_ADMIN));
        let evidence = match &effective {
            Ok(all) => format!("/proc/self/status CapEff {all:016x}, bit {bit}"),
            Err(why) => why.clone(),
        };
        let item = Capability::either(name, there, evidence);
        found.push(if there { item } else { item.with_fix("sudo stend") });
    }
    found.push(files());
    found.push(namespaces(root));
    found
}

fn user() -> Capability {
    let uid = rustix::process::geteuid();
    let item = Capability::either("root", uid.is_root(), format!("effective uid {}", uid.as_raw()));
    if uid.is_root() { item } else { item.with_fix("sudo stend") }
}

/// Whether this process holds `CAP_SYS_ADMIN`, in whatever user namespace it is.
#[must_use]
pub fn holds_sys_admin(root: &Path) -> bool {
    effective(root).is_ok_and(|all| all >> SYS_ADMIN & 1 == 1)
}

/// The effective set of this process.
fn effective(root: &Path) -> Result<u64, String> {
    let status = text(root, "proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    set.ok_or_else(|| "/proc/self/status has no CapEff".into())
}

fn files() -> Capability {
    let limit = getrlimit(Resource::Nofile);
    let number = |bound: Option<u64>| bound.map_or_else(|| "unlimited".into(), |n| n.to_string());
    let (soft, hard) = (number(limit.current), number(limit.maximum));
    let evidence = format!("RLIMIT_NOFILE soft {soft}, hard {hard}; at most {FILES} are needed");
    if limit.maximum.is_none_or(|most| most >= FILES) {
        return Capability::new("open files", State::Ok, evidence);
    }
    Capability::new("open files", State::Degraded, evidence)
        .with_fix(format!("sudo prlimit --pid $$ --nofile={FILES}:{FILES}"))
}

/// What the settings say of user namespaces; whether one is had, only a lab can tell.
fn namespaces(root: &Path) -> Capability {
    /// File, the value that forbids, the command that allows. Two of them are distributions' own.
    const ROWS: [(&str, &str, &str); 3] = [
        ("proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=1000"),
        (
            "proc/sys/kernel/unprivileged_userns_clone",
            "0",
            "sudo sysctl kernel.unprivileged_userns_clone=1",
        ),
        (
            "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ];
    let name = "settings of namespaces";
    for (path, forbids, command) in ROWS {
        if text(root, path).is_ok_and(|value| value == forbids) {
            return Capability::new(name, State::Absent, said(root, path)).with_fix(command);
        }
    }
    let there = ROWS.iter().filter(|(path, ..)| root.join(path).exists());
    let all: Vec<String> = there.map(|(path, ..)| said(root, path)).collect();
    if all.is_empty() {
        return Capability::new(name, State::Absent, said(root, ROWS[0].0));
    }
    Capability::new(name, State::Ok, all.join("; "))
}
