//! Knows how a plan tells the shape of its lab: hosts between links, members of links, kinds.
//!
//! Must not know what is set on a link.

use super::error::PlanError;
use super::lab_file::is_adapter;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::{WORD, outside, whole};
use crate::record::{CLIENTS, HostPlan, LabPlan, LinkPlan, Role, SUT, Way, Words, is_client};
use std::collections::BTreeMap;

/// Most hosts between links.
const HOSTS_MOST: usize = 8;
/// What an adapter may be called.
pub(super) const ADAPTER: &str =
    "an adapter of the machine by its name or bus address, as eth1 or 0000:03:00.0";

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

/// Whether a name means something in every lab, so that a plan cannot give it.
pub(super) fn is_taken(name: &str) -> bool {
    is_client(name) || ["switch", "machine", "conductor", SUT, CLIENTS, "lo"].contains(&name)
}

fn host(node: &Node) -> Result<HostPlan, PlanError> {
    let name = &node.key;
    // The port of a switch is named after link and host, in the 15 bytes of an interface.
    if !Words::Any.has(name) || name.len() > 8 || is_taken(name) {
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

/// Member to adapter, each a name or the address on its bus.
pub(super) fn adapters(node: &Node) -> Result<BTreeMap<String, String>, PlanError> {
    let adapter = |node: &Node| {
        let written = node.string()?;
        match is_adapter(written) {
            true => Ok((node.key.clone(), written.to_owned())),
            false => Err(outside(node, written, ADAPTER)),
        }
    };
    node.section()?.entries.iter().map(adapter).collect()
}

/// Cables of a member of a link.
pub const CABLES_BOUNDS: (u64, u64) = (1, 2);
/// Longest name of a link with two cables: the second adapter is called after it.
const DOUBLE_MOST: usize = 13;

/// How many cables each member has.
pub(super) fn cables(node: &Node) -> Result<u32, PlanError> {
    whole(node, CABLES_BOUNDS.0, CABLES_BOUNDS.1).map(|count| u32::try_from(count).unwrap_or(1))
}

/// Two cables need a switch of the lab between, which bonds the other ends.
fn check_cables(node: &Node, link: &LinkPlan) -> Result<(), PlanError> {
    if !link.is_double() {
        return Ok(());
    }
    if !link.is_bridge() {
        let at = format!("two cables on link {}, which is no bridge", link.name);
        return Err(outside(node, &at, "one: only a bridge of the lab bonds its ends, too"));
    }
    if link.name.len() > DOUBLE_MOST {
        let at = format!("two cables on link {}", link.name);
        return Err(outside(node, &at, &format!("a name of at most {DOUBLE_MOST} letters")));
    }
    Ok(())
}

/// Every member is a host, a cable has two ends, every host is on a link, every client reaches the
/// system under test, and every adapter has a place.
pub(super) fn check(lab: &Section, read: &LabPlan) -> Result<(), PlanError> {
    let all = ["links", "hosts", "machine"];
    let Some(node) = all.into_iter().find_map(|key| lab.get(key)) else { return Ok(()) };
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
        check_cables(node, link)?;
        check_adapters(node, read, link)?;
    }
    check_machine(node, read)?;
    let alone = |at: &usize| read.links.iter().all(|link| !read.members(link).contains(at));
    if let Some(at) = (0..names.len()).find(alone) {
        return Err(outside(node, &format!("{} on no link", names[at]), "a member of a link"));
    }
    if let Some(first) = read.links.first().filter(|link| !read.carries(link)) {
        let at = format!("{}, which {SUT} is not on, as the first link", first.name);
        return Err(outside(node, &at, "a first link with the system under test: it is the path"));
    }
    check_relay(node, read)?;
    check_ways(node, read, &names)
}

/// One relay at the most, between two virtual links.
fn check_relay(node: &Node, read: &LabPlan) -> Result<(), PlanError> {
    let Some(relay) = read.relay() else { return Ok(()) };
    let relays = read.hosts.iter().filter(|host| host.role == Role::Relay).count();
    if relays > 1 {
        return Err(outside(node, &format!("{relays} relays"), "one relay at the most"));
    }
    let its = || read.links.iter().filter(|link| read.members(link).contains(&relay));
    if let Some(link) = its().find(|link| link.is_real()) {
        let at = format!("a relay on link {}, which is of adapters", link.name);
        return Err(outside(node, &at, "virtual links: a relay carries between these"));
    }
    match its().count() {
        2 => Ok(()),
        count => Err(outside(node, &format!("a relay on {count} links"), "two links")),
    }
}

/// Every client has a way to the system under test, and no host two adapters in one network.
fn check_ways(node: &Node, read: &LabPlan, names: &[String]) -> Result<(), PlanError> {
    let networks = read.networks();
    for (at, name) in names.iter().enumerate() {
        let joins = read.hosts.iter().any(|h| h.name == *name && h.role.joins());
        let on: Vec<usize> = (0..read.links.len())
            .filter(|link| read.members(&read.links[*link]).contains(&at))
            .map(|link| networks[link])
            .collect();
        let twice = on.iter().enumerate().any(|(turn, net)| on[..turn].contains(net));
        if twice && !joins {
            let at = format!("{name} on two links that a switch or relay joins");
            return Err(outside(node, &at, "one of them: they are one network"));
        }
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

/// Every member of a link of adapters has one, an adapter is on one link, no other link has any.
fn check_adapters(node: &Node, read: &LabPlan, link: &LinkPlan) -> Result<(), PlanError> {
    let names = read.host_names();
    let name = &link.name;
    if !link.is_real() {
        return match link.adapters.is_empty() {
            true => Ok(()),
            false => Err(outside(
                node,
                &format!("adapters of link {name}, which is virtual"),
                &format!("kind = \"adapter\" in [lab.links.{name}], or no adapters"),
            )),
        };
    }
    let members: Vec<&String> = read.members(link).into_iter().map(|at| &names[at]).collect();
    if let Some(member) = members.iter().find(|member| link.adapter(member).is_none()) {
        let wanted = format!("its adapter in [lab.links.{name}]: adapters.{member} = \"eth1\"");
        return Err(outside(node, &format!("{member} on link {name} without adapter"), &wanted));
    }
    let known = |key: &&String| *key == CLIENTS || members.contains(key);
    if let Some(key) = link.adapters.keys().find(|key| !known(key)) {
        let wanted = format!("a member of the link, or {CLIENTS} for all of them");
        return Err(outside(node, &format!("adapters.{key} of link {name}"), &wanted));
    }
    let others = read.links.iter().filter(|other| other.name != *name);
    let mut taken = others.flat_map(|other| other.adapters.values());
    match taken.find(|adapter| link.adapters.values().any(|own| own == *adapter)) {
        Some(adapter) => {
            let at = format!("adapter {adapter} on two links");
            Err(outside(node, &at, "each adapter on one link"))
        }
        None => Ok(()),
    }
}

/// The host that is the machine itself takes part by adapters of its own alone.
fn check_machine(node: &Node, read: &LabPlan) -> Result<(), PlanError> {
    let Some(name) = &read.machine else { return Ok(()) };
    if name != SUT && !is_client(name) || !read.host_names().contains(name) {
        return Err(outside(node, name, "sut or a client: the host that is the machine itself"));
    }
    for link in &read.links {
        let members = read.members(link);
        let names = read.host_names();
        if !members.iter().any(|at| names[*at] == *name) {
            continue;
        }
        let own = link.adapter(name);
        let sharing = members.iter().filter(|at| link.adapter(&names[**at]) == own).count();
        if !link.is_real() || sharing != 1 {
            let at = format!("{name}, which is the machine itself, on link {}", link.name);
            return Err(outside(
                node,
                &at,
                "a link of kind \"adapter\", with an adapter for it alone",
            ));
        }
    }
    Ok(())
}
