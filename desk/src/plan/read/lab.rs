//! Knows the table `[lab]`: clients and the links of the system under test.

use super::boxes;
use super::error::PlanError;
use super::factor::stands;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::topology;
use super::value::{WORD, outside, quantity, value, whole};
use crate::plan::Catalogue;
use crate::record::{FactorSpec, LabPlan, LinkKind, LinkPlan, Scope, Settings, Words};
use crate::unit::Kind;

/// Clients of a plan that does not say: a magazine's test has 20, a machine of two CPUs hosts 4.
const CLIENTS: u64 = 4;
/// Most links: a client, devices in a row or side by side, and the system under test.
const LINKS_MOST: usize = 8;
/// Fewest and most client hosts.
pub const CLIENTS_BOUNDS: (u64, u64) = (1, 64);

/// Keys of a lab that has clients and links.
const OVER_LINKS: [&str; 6] = ["boxes", "clients", "client_rate", "hosts", "links", "machine"];

/// `alone` says that every load is one of the machine: then there are neither clients nor links.
pub(super) fn read(
    lab: &Section,
    catalogue: &Catalogue,
    alone: bool,
) -> Result<LabPlan, PlanError> {
    if alone {
        return machine(lab, catalogue);
    }
    let on_hosts: Vec<&str> = whole_run(catalogue).map(|f| f.name).collect();
    lab.only(&[OVER_LINKS.as_slice(), on_hosts.as_slice()].concat())?;
    let clients = lab
        .get("clients")
        .map_or(Ok(CLIENTS), |node| whole(node, CLIENTS_BOUNDS.0, CLIENTS_BOUNDS.1))?;
    let client_rate = lab.get("client_rate").map(client_rate).transpose()?;
    let clients = u32::try_from(clients).unwrap_or(u32::MAX);
    let (settings, hosts) = (settings(lab, catalogue)?, topology::hosts(lab)?);
    let links = links(lab, catalogue)?;
    let machine = lab.get("machine").map(Node::string).transpose()?.map(str::to_owned);
    let machines = Vec::new();
    let boxes = boxes::read(lab)?;
    let read = LabPlan { clients, client_rate, settings, links, hosts, boxes, machine, machines };
    topology::check(lab, &read)?;
    boxes::check(lab, &read)?;
    all_stand(lab, catalogue, &read)?;
    Ok(read)
}

/// What is set for the whole run needs what it is set on.
fn all_stand(lab: &Section, catalogue: &Catalogue, read: &LabPlan) -> Result<(), PlanError> {
    for spec in whole_run(catalogue) {
        lab.get(spec.name).map_or(Ok(()), |node| stands((node.line, spec), read))?;
    }
    Ok(())
}

/// What may be set for the whole run: on hosts, on the machine itself, and what programs are told.
pub(in crate::plan) const WHOLE_RUN: [Scope; 6] =
    [Scope::Host, Scope::Machine, Scope::Side, Scope::Network, Scope::Relay, Scope::Program];

/// The system under test by itself.
fn machine(lab: &Section, catalogue: &Catalogue) -> Result<LabPlan, PlanError> {
    for key in OVER_LINKS {
        if let Some(node) = lab.get(key) {
            let (line, key) = (node.line, key.to_owned());
            return Err(PlanError::NoClients { line, key });
        }
    }
    let on_hosts: Vec<&str> = whole_run(catalogue).map(|f| f.name).collect();
    lab.only(&on_hosts)?;
    let read = LabPlan { settings: settings(lab, catalogue)?, ..LabPlan::default() };
    all_stand(lab, catalogue, &read)?;
    Ok(read)
}

/// Factors that a plan may set for the whole run.
fn whole_run<'a>(catalogue: &Catalogue<'a>) -> impl Iterator<Item = &'a FactorSpec> {
    catalogue.factors.iter().filter(|f| WHOLE_RUN.contains(&f.scope))
}

fn settings(lab: &Section, catalogue: &Catalogue) -> Result<Settings, PlanError> {
    let mut settings = Settings::new();
    for spec in whole_run(catalogue) {
        if let Some(node) = lab.get(spec.name) {
            settings.insert(spec.name.into(), value(node, spec.kind)?);
        }
    }
    Ok(settings)
}

fn client_rate(node: &Node) -> Result<crate::unit::Quantity, PlanError> {
    let rate = quantity(node, Kind::Rate)?;
    if rate.value > 0.0 {
        return Ok(rate);
    }
    Err(outside(node, &rate.to_string(), "a rate above 0 bit/s"))
}

fn links(lab: &Section, catalogue: &Catalogue) -> Result<Vec<LinkPlan>, PlanError> {
    let Some(node) = lab.get("links") else {
        return Ok(vec![LinkPlan::of_all("lan")]);
    };
    let links = node.section()?;
    if !(1..=LINKS_MOST).contains(&links.entries.len()) {
        let count = format!("{} links", links.entries.len());
        let allowed = format!("1 to {LINKS_MOST} tables [lab.links.NAME]");
        return Err(outside(node, &count, &allowed));
    }
    links.entries.iter().map(|node| link(node, catalogue)).collect()
}

fn link(node: &Node, catalogue: &Catalogue) -> Result<LinkPlan, PlanError> {
    if !Words::Any.has(&node.key) || node.key == "lo" {
        let allowed = format!("a link name of {WORD} other than lo");
        return Err(outside(node, &node.key, &allowed));
    }
    let mut link = LinkPlan::of_all(&node.key);
    for entry in node.section()?.entries {
        match entry.key.as_str() {
            "kind" => link.kind = Some(topology::word(&entry, LinkKind::ALL, LinkKind::word)?),
            "members" => link.members = topology::members(&entry)?,
            "adapters" => link.adapters = topology::adapters(&entry)?,
            "cables" => link.cables = Some(topology::cables(&entry)?),
            _ => {
                let spec = settable(&entry, catalogue, &[Scope::Link])?;
                link.settings.insert(entry.key.clone(), value(&entry, spec.kind)?);
            }
        }
    }
    Ok(link)
}

/// The factor of this key, if it acts on one of the scopes.
pub(super) fn settable<'a>(
    entry: &Node,
    catalogue: &Catalogue<'a>,
    scopes: &[Scope],
) -> Result<&'a FactorSpec, PlanError> {
    let all = catalogue.factors;
    let fitting: Vec<&str> =
        all.iter().filter(|f| scopes.contains(&f.scope)).map(|f| f.name).collect();
    match all.iter().find(|f| f.name == entry.key) {
        Some(spec) if scopes.contains(&spec.scope) => Ok(spec),
        Some(_) => Err(PlanError::WrongPlace {
            line: entry.line,
            key: entry.key.clone(),
            remedy: format!("what can be set here is {}", fitting.join(", ")),
        }),
        None => Err(read_only(entry.line, &entry.key).unwrap_or_else(|| PlanError::UnknownKey {
            line: entry.line,
            key: entry.key.clone(),
            remedy: remedy(&entry.key, &fitting),
        })),
    }
}

/// What a reader may take for a factor, and what is a parameter of the boot.
pub(super) fn read_only(line: u32, name: &str) -> Option<PlanError> {
    (name == "mitigations").then(|| PlanError::ReadOnly { line, name: name.into() })
}
