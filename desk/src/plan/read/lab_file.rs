//! Knows the text of a lab file: machines, roles, and which adapters are on which link.
//!
//! Must not know any plan, nor how a machine is reached.

use super::error::PlanError;
use super::fact::{self, Things};
use super::nearest::remedy;
use super::node::{self, Node, Section};
use super::topology::ADAPTER;
use super::value::{WORD, outside};
use crate::record::{CLIENTS, LabPlan, LinkPlan, ManualFact, SUT, Words};
use std::collections::BTreeMap;

/// Most machines of a lab.
const MACHINES_MOST: usize = 64;
/// The address of the machine on which the command runs.
pub const HERE: &str = "here";

/// What a lab file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabFile {
    /// Machine to address and port of its agent, or [`HERE`], in the order of the file.
    pub machines: Vec<(String, String)>,
    /// Machines that can be the system under test, the baseline first.
    pub sut: Vec<String>,
    /// Machines with the clients; these are spread over them in turn.
    pub clients: Vec<String>,
    /// Machine of each host between links, where the file names one.
    pub hosts: BTreeMap<String, String>,
    /// Links in the order of the file: name, and machine to adapter.
    pub links: Vec<(String, BTreeMap<String, String>)>,
    /// What a person says of machines and links, such as the cable; `of` names one of them.
    pub facts: Vec<ManualFact>,
}

impl LabFile {
    /// Reads the text of a lab file.
    ///
    /// # Errors
    /// The first thing in the text that cannot be, with its line, the value and the remedy.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let table = node::parse(text)?;
        let root = Section::new(text, table.get_ref(), 1);
        root.only(&["machines", "roles", "links", "fact"])?;
        let machines = machines(&root)?;
        let names: Vec<&str> = machines.iter().map(|(name, _)| name.as_str()).collect();
        let roles = root.section("roles")?;
        let (mut sut, mut clients, mut hosts) = (Vec::new(), Vec::new(), BTreeMap::new());
        for role in &roles.entries {
            let of = some_of(role, &names)?;
            match (role.key.as_str(), of.as_slice()) {
                (SUT, _) => sut = of,
                (CLIENTS, _) => clients = of,
                (host, [one]) => {
                    hosts.insert(host.to_owned(), one.clone());
                }
                _ => return Err(role.wrong("one machine in quotes")),
            }
        }
        if sut.is_empty() {
            let remedy = "name the machine under test: [roles] sut = \"server\"";
            return Err(PlanError::Missing { line: roles.line, what: "sut", remedy });
        }
        if clients.is_empty() {
            clients.extend(sut.first().cloned());
        }
        let links = root.section("links")?;
        let links: Vec<(String, BTreeMap<String, String>)> =
            links.entries.iter().map(|node| link(node, &names)).collect::<Result<_, _>>()?;
        let of_all = links.iter().map(|(name, _)| LinkPlan::of_all(name)).collect();
        let lab = LabPlan { links: of_all, ..LabPlan::default() };
        let things = Things { factors: &[], lab: &lab, loads: &[], machines: &names };
        let facts = fact::read(&root, &things)?;
        Ok(Self { machines, sut, clients, hosts, links, facts })
    }

    /// The address of a machine; none where the file does not have it.
    #[must_use]
    pub fn address(&self, machine: &str) -> Option<&str> {
        let found = self.machines.iter().find(|(name, _)| name == machine);
        found.map(|(_, address)| address.as_str())
    }
}

/// The tables `[machines.NAME]`.
fn machines(root: &Section) -> Result<Vec<(String, String)>, PlanError> {
    let missing = PlanError::Missing {
        line: 1,
        what: "machines",
        remedy: "write a table [machines.NAME] with address = \"IP:PORT\" for each machine",
    };
    let node = root.get("machines").ok_or(missing)?;
    let entries = node.section()?.entries;
    if !(1..=MACHINES_MOST).contains(&entries.len()) {
        let count = format!("{} machines", entries.len());
        return Err(outside(node, &count, &format!("1 to {MACHINES_MOST}")));
    }
    entries.iter().map(machine).collect()
}

fn machine(node: &Node) -> Result<(String, String), PlanError> {
    if !Words::Any.has(&node.key) || node.key == "local" {
        let allowed = format!("a name of {WORD} other than local");
        return Err(outside(node, &node.key, &allowed));
    }
    let section = node.section()?;
    section.only(&["address"])?;
    let remedy = "write address = \"IP:PORT\" of its agent, or \"here\" for this machine";
    let missing = PlanError::Missing { line: node.line, what: "address", remedy };
    let address = section.get("address").ok_or(missing)?;
    let written = address.string()?;
    if written != HERE && written.parse::<std::net::SocketAddr>().is_err() {
        return Err(outside(address, written, "IP:PORT as 192.0.2.7:7000, or here"));
    }
    Ok((node.key.clone(), written.to_owned()))
}

/// One machine of the file, or a list of them.
fn some_of(node: &Node, names: &[&str]) -> Result<Vec<String>, PlanError> {
    let nodes = node.list().unwrap_or_else(|| vec![node.clone()]);
    let mut of: Vec<String> = Vec::new();
    for one in &nodes {
        let name = known(one.text_like("a machine in quotes, or a list of them")?, one, names)?;
        if of.contains(&name) {
            return Err(PlanError::EqualValues {
                line: one.line,
                key: node.key.clone(),
                value: name,
            });
        }
        of.push(name);
    }
    if of.is_empty() {
        return Err(PlanError::NoValues { line: node.line, key: node.key.clone() });
    }
    Ok(of)
}

fn known(name: &str, node: &Node, names: &[&str]) -> Result<String, PlanError> {
    if names.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(PlanError::UnknownName {
        line: node.line,
        what: "machine",
        name: name.into(),
        remedy: remedy(name, names),
    })
}

/// A table `[links.NAME]`: machine to adapter.
fn link(node: &Node, names: &[&str]) -> Result<(String, BTreeMap<String, String>), PlanError> {
    if !Words::Any.has(&node.key) || node.key == "lo" {
        let allowed = format!("a link name of {WORD} other than lo");
        return Err(outside(node, &node.key, &allowed));
    }
    let mut ends = BTreeMap::new();
    for end in &node.section()?.entries {
        let (machine, adapter) = (known(&end.key, end, names)?, end.string()?);
        if !is_adapter(adapter) {
            return Err(outside(end, adapter, ADAPTER));
        }
        ends.insert(machine, adapter.to_owned());
    }
    Ok((node.key.clone(), ends))
}

/// Whether a text can be the name of an adapter or its address on the bus.
pub(super) fn is_adapter(written: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    (1..=32).contains(&written.len()) && written.chars().all(fits) && written != "lo"
}
