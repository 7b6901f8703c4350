//! Knows how an adapter of the machine is lent to a host of the lab and brought back as it was.
//!
//! Gives: [`find`], [`refuse`], [`carriers`], [`Loan`], [`Lent`], `bring_back`.
//! Never: which link it is for, or what is measured over it.
//! Start reading at `lend.rs`.

mod away;
mod lend;
mod state;
#[cfg(test)]
mod tests;

pub use away::Away;
pub(super) use lend::bring_back;
pub use lend::{Lent, Loan};
pub use state::is_benchmark;

use super::link::Routes;
use super::undo::{self, Entry, Kind, Story};
use std::fs;
use std::net::IpAddr;
use std::path::Path;

/// Where the kernel lists adapters.
pub(super) const LINKS: &str = "sys/class/net";

/// Why an adapter cannot be had, in words for the person.
pub(super) type Why = String;

/// The name of an adapter that a plan writes by name or by its address on the bus.
///
/// # Errors
/// When there is none, or the device at this address has several.
pub fn find(root: &Path, written: &str) -> Result<String, Why> {
    let links = root.join(LINKS);
    // What comes over a network is no path.
    let is_name = !written.is_empty() && !written.starts_with('.') && !written.contains('/');
    if is_name && links.join(written).exists() {
        return Ok(written.to_owned());
    }
    let mut names: Vec<String> = fs::read_dir(&links)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| is_at(&entry.path(), written))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    match names.as_slice() {
        [name] => Ok(name.clone()),
        [] => Err(lent_to(root, written).unwrap_or_else(|| {
            "this machine has none of this name or bus address; 'ip link' lists them".into()
        })),
        several => Err(format!("the device has several: {}; write one", several.join(", "))),
    }
}

/// Which run has an adapter now, as its journal says; none where no run that lives has it.
fn lent_to(root: &Path, written: &str) -> Option<Why> {
    let journals = undo::directory().and_then(|directory| undo::journals(&directory)).ok()?;
    let is_it = |entry: &Entry| {
        let own = entry.path.file_name().is_some_and(|own| own == written);
        entry.kind == Kind::Adapter && (own || entry.key == written)
    };
    let has = |story: &Story| {
        story.owner.is_alive(root) && story.open().iter().any(|(entry, _)| is_it(entry))
    };
    let story = journals.iter().filter_map(|path| Story::read(path).ok()).find(has)?;
    Some(format!("a run has it now: that of process {}", story.owner.pid))
}

/// Whether the device of an adapter is, or hangs on, the one at this address.
fn is_at(adapter: &Path, address: &str) -> bool {
    let Ok(device) = fs::canonicalize(adapter.join("device")) else { return false };
    let long = format!("0000:{address}");
    let mut parts = device.iter().filter_map(|part| part.to_str());
    parts.any(|part| part == address || part == long)
}

/// Says why an adapter cannot be lent. One that `stays` where it is may have addresses.
///
/// # Errors
/// When the machine itself uses it.
pub fn refuse(root: &Path, name: &str, stays: bool) -> Result<(), Why> {
    let mut routes = Routes::open().map_err(|e| e.to_string())?;
    let addresses = routes.addresses(name).map_err(|e| e.to_string())?;
    in_use(root, name, stays, &addresses).map_or(Ok(()), Err)
}

/// The link that has an address, and those that it stands on, as a VLAN on its adapter; none where
/// no link of this machine has it.
///
/// # Errors
/// When the kernel does not tell.
pub fn carriers(root: &Path, address: IpAddr) -> Result<Vec<String>, Why> {
    let mut routes = Routes::open().map_err(|e| e.to_string())?;
    let links = routes.links().map_err(|e| e.to_string())?;
    for link in links {
        let own = routes.addresses(&link.name).map_err(|e| e.to_string())?;
        if own.iter().any(|(has, _)| *has == address) {
            return Ok(with_those_below(root, link.name));
        }
    }
    Ok(Vec::new())
}

/// A link and all on which it stands.
fn with_those_below(root: &Path, link: String) -> Vec<String> {
    let mut found = vec![link];
    let mut at = 0;
    while let Some(name) = found.get(at) {
        let entries = fs::read_dir(root.join(LINKS).join(name)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let below = names.filter_map(|name| name.strip_prefix("lower_").map(str::to_owned));
        found.extend(below.collect::<Vec<_>>());
        at += 1;
    }
    found
}

/// What of the machine's own traffic goes over an adapter; none where nothing does.
fn in_use(root: &Path, name: &str, stays: bool, addresses: &[(IpAddr, u8)]) -> Option<Why> {
    let at = root.join(LINKS).join(name);
    if is_default(root, name) {
        return Some("the default route of this machine leads over it; use another".into());
    }
    if let Ok(master) = fs::read_link(at.join("master")) {
        let master = master.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Some(format!("it is a port of {master}; take it out first"));
    }
    let entries = fs::read_dir(&at).into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    if let Some(upper) = names.find_map(|name| name.strip_prefix("upper_").map(str::to_owned)) {
        return Some(format!("{upper} stands on it; remove that first"));
    }
    let link_local = |address: &IpAddr| match address {
        IpAddr::V6(address) => address.is_unicast_link_local(),
        IpAddr::V4(_) => false,
    };
    let own = addresses.iter().find(|(address, _)| !link_local(address));
    own.filter(|_| !stays).map(|(address, prefix)| {
        format!(
            "it has the address {address}/{prefix}; remove that, or make its host the machine \
             itself (machine = ...)"
        )
    })
}

/// Whether a default route leads over it, as procfs lists them.
fn is_default(root: &Path, name: &str) -> bool {
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap_or_default();
    let first = |line: &str| {
        let mut words = line.split_whitespace();
        // Interface, destination, gateway, flags, ..., mask: `fib_route_seq_show` of the kernel.
        words.next() == Some(name)
            && words.next() == Some("00000000")
            && words.nth(5) == Some("00000000")
    };
    let sixth = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let everything = words.first().is_some_and(|to| to.bytes().all(|b| b == b'0'));
        everything && words.get(1) == Some(&"00") && words.last() == Some(&name)
    };
    read("proc/net/route").lines().any(first) || read("proc/net/ipv6_route").lines().any(sixth)
}
