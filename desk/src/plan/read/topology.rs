//! Knows how a plan tells the shape of its lab: hosts between links, members of links, kinds.
//!
//! Must not know what is set on a link.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::{WORD, outside};
use crate::record::{HostPlan, LabPlan, Role, SUT, Way, Words};

/// Most hosts between links.
const HOSTS_MOST: usize = 8;

/// The tables `[lab.hosts.NAME]`.
pub(super) fn hosts(lab: &Section) -> Result<Vec<HostPlan>, PlanError> {
    let Some(node) = lab.get("hosts") else { return Ok(Vec::new()) };
    let hosts = node.section()?;
    if hosts.entries.len() > HOSTS_MOST {
        let count = format!("{} hosts between links", hosts.entries.len());
        return Err(outside(node, &count, &format!("at most {HOSTS_MOST}")));
    }
    hosts.entries.iter().map(host).collect()
}

fn host(node: &Node) -> Result<HostPlan, PlanError> {
    let name = &node.key;
    let client = name.strip_prefix('c').is_some_and(|n| n.parse::<u32>().is_ok());
    let taken = ["switch", "machine", "conductor", SUT, "lo"].contains(&name.as_str());
    // The port of a switch is named after link and host, in the 15 bytes of an interface.
    if !Words::Any.has(name) || name.len() > 8 || client || taken {
        let allowed = format!("a name of {WORD}, at most 8, that no other host has");
        return Err(outside(node, name, &allowed));
    }
    let keys = node.section()?;
    keys.only(&["role"])?;
    let role =
        keys.get("role").map_or(Ok(Role::Device), |role| word(role, Role::ALL, Role::word))?;
    Ok(HostPlan { name: name.clone(), role })
}

/// One of some words.
pub(super) fn word<T: Copy, const N: usize>(
    node: &Node,
    all: [T; N],
    word: fn(T) -> &'static str,
) -> Result<T, PlanError> {
    let written = node.string()?;
    let found = all.into_iter().find(|one| word(*one) == written);
    found.ok_or_else(|| outside(node, written, &all.map(word).join(" or ")))
}

/// Names of hosts.
pub(super) fn members(node: &Node) -> Result<Vec<String>, PlanError> {
    let wanted = "a list of two hosts or more, as [\"sut\", \"c01\"]";
    let list = node.list().ok_or_else(|| node.wrong(wanted))?;
    let names: Vec<String> =
        list.iter().map(|name| name.string().map(str::to_owned)).collect::<Result<_, _>>()?;
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    match twice {
        Some((_, name)) => Err(outside(node, &format!("{name} twice"), wanted)),
        None if names.len() < 2 => Err(outside(node, &format!("{} hosts", names.len()), wanted)),
        None => Ok(names),
    }
}

/// Every member is a host, a cable has two ends, every host is on a link, and every client reaches
/// the system under test.
pub(super) fn check(lab: &Section, read: &LabPlan) -> Result<(), PlanError> {
    let Some(node) = lab.get("links").or_else(|| lab.get("hosts")) else { return Ok(()) };
    let names = read.host_names();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    for link in &read.links {
        if let Some(member) = link.members.iter().find(|member| !names.contains(member)) {
            let at = format!("{member} on link {}", link.name);
            return Err(outside(node, &at, &format!("a host; {}", remedy(member, &known))));
        }
        let count = read.members(link).len();
        if link.is_direct() && count != 2 {
            let at = format!("{count} members of link {}", link.name);
            return Err(outside(node, &at, "two: a direct link is one cable"));
        }
    }
    let alone = |at: &usize| read.links.iter().all(|link| !read.members(link).contains(at));
    if let Some(at) = (0..names.len()).find(alone) {
        return Err(outside(node, &format!("{} on no link", names[at]), "a member of a link"));
    }
    if let Some(first) = read.links.first().filter(|link| !read.carries(link)) {
        let at = format!("{}, which {SUT} is not on, as the first link", first.name);
        return Err(outside(node, &at, "a first link with the system under test: it is the path"));
    }
    for (client, name) in names.iter().enumerate().skip(1).take(read.clients as usize) {
        let ways = read.ways(client);
        let lost = |at: &usize| ways[*at] == Way::None && read.carries(&read.links[*at]);
        if let Some(link) = (0..read.links.len()).find(lost) {
            let at = format!("no way from {name} to link {}", read.links[link].name);
            let allowed = "membership, or hosts that forward between links: clients connect to \
                           every link of the system under test";
            return Err(outside(node, &at, allowed));
        }
    }
    Ok(())
}
