//! Knows how a plan tells of external boxes, which stand on cables of the lab.
//!
//! Must not know how their counters are read.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::topology::is_taken;
use super::value::{WORD, outside};
use crate::record::{BoxPlan, LabPlan, Words};

/// Most boxes of a lab.
pub const BOXES_MOST: usize = 8;
/// Most ports of a box by which frames pass.
pub const PORTS_MOST: usize = 64;

/// The tables `[lab.boxes.NAME]`.
pub(super) fn read(lab: &Section) -> Result<Vec<BoxPlan>, PlanError> {
    let Some(node) = lab.get("boxes") else { return Ok(Vec::new()) };
    let boxes = node.section()?;
    if boxes.entries.len() > BOXES_MOST {
        let count = format!("{} boxes", boxes.entries.len());
        return Err(outside(node, &count, &format!("at most {BOXES_MOST}")));
    }
    boxes.entries.iter().map(one).collect()
}

fn one(node: &Node) -> Result<BoxPlan, PlanError> {
    let keys = node.section()?;
    keys.only(&["link", "snmp", "ports"])?;
    let missing = |what, remedy| PlanError::Missing { line: node.line, what, remedy };
    let link = keys.get("link").ok_or_else(|| missing("link", "name the link of its cable"))?;
    let snmp = keys.get("snmp").map(agent).transpose()?;
    let ports = keys.get("ports").map(ports).transpose()?;
    let both = "write snmp, the address of its agent, and ports by which frames pass it";
    match (&snmp, &ports) {
        (Some(_), None) => return Err(missing("ports", both)),
        (None, Some(_)) => return Err(missing("snmp", both)),
        _ => {}
    }
    let (name, link) = (node.key.clone(), link.string()?.to_owned());
    Ok(BoxPlan { name, link, snmp, ports: ports.unwrap_or_default() })
}

fn agent(node: &Node) -> Result<String, PlanError> {
    let written = node.string()?;
    match BoxPlan::address(written) {
        Some(_) => Ok(written.to_owned()),
        None => Err(outside(node, written, "IP or IP:PORT, as 192.0.2.9 or 192.0.2.9:1161")),
    }
}

fn ports(node: &Node) -> Result<Vec<String>, PlanError> {
    let wanted = "a list of names of ports, as [\"lan1\", \"lan2\"]";
    let list = node.list().ok_or_else(|| node.wrong(wanted))?;
    if !(1..=PORTS_MOST).contains(&list.len()) {
        let allowed = format!("1 to {PORTS_MOST}");
        return Err(outside(node, &format!("{} ports", list.len()), &allowed));
    }
    let mut names: Vec<String> = Vec::new();
    for port in &list {
        let name = port.string()?;
        if name.is_empty() || names.iter().any(|known| known == name) {
            return Err(outside(port, &format!("'{name}'"), "each name of a port once"));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Each has a name of its own, and stands on a cable of the system under test: of a link of
/// adapters, or of one that gets its adapters from a lab file.
pub(super) fn check(lab: &Section, read: &LabPlan) -> Result<(), PlanError> {
    let Some(node) = lab.get("boxes") else { return Ok(()) };
    let hosts = read.host_names();
    let known: Vec<&str> = read.links.iter().map(|link| link.name.as_str()).collect();
    for of in &read.boxes {
        if !Words::Any.has(&of.name) || is_taken(&of.name) || hosts.contains(&of.name) {
            let allowed = format!("a name of {WORD} that no host has");
            return Err(outside(node, &of.name, &allowed));
        }
        let Some(link) = read.links.iter().find(|link| link.name == of.link) else {
            let (at, near) = (format!("{} on link {}", of.name, of.link), remedy(&of.link, &known));
            return Err(outside(node, &at, &format!("a link of the plan; {near}")));
        };
        if link.kind.is_some() && !link.is_real() {
            let at = format!("{} on link {}, which is virtual", of.name, of.link);
            let allowed = "a link of adapters, or [lab.hosts.NAME] for a host of the lab";
            return Err(outside(node, &at, allowed));
        }
        if !read.carries(link) {
            let at = format!("{} on link {}, which sut is not on", of.name, of.link);
            return Err(outside(
                node,
                &at,
                "a link of the system under test, which all frames pass",
            ));
        }
        let others = read.boxes.iter().filter(|other| other.link == of.link).count();
        if others > 1 {
            let at = format!("{others} boxes on link {}", of.link);
            return Err(outside(node, &at, "one: a loss cannot be assigned to one of two"));
        }
    }
    Ok(())
}
