//! Knows how the machines of a lab of several are described: hosts, make, adapters on links.

use super::{Nodes, Part, Writer};
use crate::report::document::{Node, Prose};
use desk::record::{Adapter, Environment, LinkPlan, Placement, Run};

/// A table of the machines; nothing where the lab has one.
pub(super) fn table(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let run = part.run;
    if run.plan.lab.machines.len() < 2 {
        return Ok(Vec::new());
    }
    let unsaid = writer.label("fact-not-said")?;
    let row = |at: &Placement| {
        let env = run.environment_of(&at.machine);
        let said = |of: fn(&Environment) -> Option<Prose>| {
            env.and_then(of).unwrap_or_else(|| unsaid.clone())
        };
        vec![
            Prose::verbatim(&at.machine),
            Prose::verbatim(&at.hosts.join(", ")),
            said(|env| Some(Prose::verbatim(&env.cpu.model))),
            said(|env| env.memory.map(Prose::quantity)),
            said(|env| env.fact("kernel.release").map(Prose::verbatim)),
            on_links(run, at),
        ]
    };
    let rows = run.plan.lab.machines.iter().map(row).collect();
    let columns = writer.headed(&[
        "machines-name",
        "machines-hosts",
        "fact-processor",
        "fact-memory",
        "fact-kernel",
        "machines-adapters",
    ])?;
    let caption = writer.label("machines-caption")?;
    Ok(vec![Node::Table(writer.table(&caption, columns, rows)?)])
}

/// `lan: eth1 (e1000e)`, for each link of a machine.
fn on_links(run: &Run, at: &Placement) -> Prose {
    let on = |link: &LinkPlan| {
        let own = link.adapter_of(at)?;
        let known = adapter(run.environment_of(&at.machine)?, own);
        let driver = known.and_then(|adapter| adapter.driver.as_deref());
        let driver = driver.map(|driver| format!(" ({driver})")).unwrap_or_default();
        Some(format!("{}: {own}{driver}", link.name))
    };
    let all: Vec<String> = run.plan.lab.links.iter().filter_map(on).collect();
    if all.is_empty() { Prose::none() } else { Prose::verbatim(&all.join("; ")) }
}

/// The adapters that an article describes, each with its title: those of the machine, or in a lab
/// of several those on its links.
pub(super) fn adapters(run: &Run) -> Vec<(String, &Adapter)> {
    let lab = &run.plan.lab;
    if lab.machines.len() < 2 {
        let own = &run.environment().adapters;
        return own.iter().map(|adapter| (adapter.name.clone(), adapter)).collect();
    }
    let links = lab.machines.iter().flat_map(|at| lab.links.iter().map(move |link| (at, link)));
    let found = links.filter_map(|(at, link)| {
        let known = adapter(run.environment_of(&at.machine)?, link.adapter_of(at)?)?;
        Some((format!("{}: {}", at.machine, known.name), known))
    });
    found.collect()
}

/// An adapter by its name or its address on the bus.
fn adapter<'e>(env: &'e Environment, own: &str) -> Option<&'e Adapter> {
    env.adapters.iter().find(|a| a.name == own || a.bus.as_deref() == Some(own))
}
