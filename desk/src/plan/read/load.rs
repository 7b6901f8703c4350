//! Knows the tables `[load.NAME]`: a workload, its fixed parameters and its sweeps.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::{default, value, values};
use crate::plan::Catalogue;
use crate::record::{LoadPlan, ParamSpec, Settings, Value, WorkloadSpec};

/// The loads, and the workload of each.
pub(super) fn read<'a>(
    loads: &Section,
    catalogue: &Catalogue<'a>,
) -> Result<(Vec<LoadPlan>, Vec<&'a WorkloadSpec>), PlanError> {
    if loads.entries.is_empty() {
        return Err(PlanError::Missing {
            line: loads.line,
            what: "load",
            remedy: "add a table [load.NAME] with workload = \"...\"",
        });
    }
    let loads: Result<Vec<_>, _> = loads.entries.iter().map(|n| load(n, catalogue)).collect();
    Ok(loads?.into_iter().unzip())
}

fn load<'a>(
    node: &Node,
    catalogue: &Catalogue<'a>,
) -> Result<(LoadPlan, &'a WorkloadSpec), PlanError> {
    let section = node.section()?;
    let spec = spec(node, &section, catalogue)?;
    let mut known: Vec<&str> = spec.params.iter().map(|param| param.name).collect();
    let over = over(&section, spec, &known)?;
    known.extend(["workload", "over", "primary"]);
    section.only(&known)?;
    let mut fixed = Settings::new();
    for param in spec.params.iter().filter(|p| over.iter().all(|(name, _)| name != p.name)) {
        fixed.insert(param.name.into(), fixed_value(node.line, section.get(param.name), param)?);
    }
    let (name, workload) = (node.key.clone(), spec.name.into());
    let primary = section.get("primary").map(|node| metric(node, spec)).transpose()?;
    Ok((LoadPlan { name, workload, fixed, over, primary, alone: false }, spec))
}

/// The metric that decides here, one of the workload's own.
fn metric(node: &Node, spec: &WorkloadSpec) -> Result<String, PlanError> {
    let name = node.string()?;
    let known: Vec<&str> = spec.metrics.iter().map(|metric| metric.name).collect();
    if known.contains(&name) {
        return Ok(name.into());
    }
    let remedy = remedy(name, &known);
    Err(PlanError::UnknownName { line: node.line, what: "metric", name: name.into(), remedy })
}

/// Writes out which metric decides on every load: its own word, else the metric of the method where
/// its workload has that, else the first that its workload has.
pub(super) fn decide(loads: &mut [LoadPlan], specs: &[&WorkloadSpec], usual: &str) {
    for (load, spec) in loads.iter_mut().zip(specs) {
        let has = |name: &str| spec.metrics.iter().any(|metric| metric.name == name);
        let first = spec.metrics.first().map(|metric| metric.name.to_owned());
        let chosen = load.primary.take().or_else(|| first.filter(|_| !has(usual)));
        load.primary = chosen.filter(|name| name != usual);
    }
}

fn spec<'a>(
    load: &Node,
    section: &Section,
    catalogue: &Catalogue<'a>,
) -> Result<&'a WorkloadSpec, PlanError> {
    let node = section.get("workload").ok_or(PlanError::Missing {
        line: load.line,
        what: "workload",
        remedy: "name one, as in workload = \"tcp_stream\"",
    })?;
    let name = node.string()?;
    catalogue.workloads.iter().find(|spec| spec.name == name).copied().ok_or_else(|| {
        let known: Vec<&str> = catalogue.workloads.iter().map(|spec| spec.name).collect();
        PlanError::UnknownName {
            line: node.line,
            what: "workload",
            name: name.into(),
            remedy: remedy(name, &known),
        }
    })
}

fn over(
    section: &Section,
    spec: &WorkloadSpec,
    known: &[&str],
) -> Result<Vec<(String, Vec<Value>)>, PlanError> {
    let over = section.section("over")?;
    over.only(known)?;
    let mut swept = Vec::new();
    for node in &over.entries {
        if let Some(fixed) = section.get(&node.key) {
            return Err(PlanError::SetTwice {
                line: fixed.line.max(node.line),
                key: node.key.clone(),
                first: "the load".into(),
                second: "its over".into(),
            });
        }
        for param in spec.params.iter().filter(|param| param.name == node.key) {
            swept.push((node.key.clone(), values(node, param.kind)?));
        }
    }
    Ok(swept)
}

fn fixed_value(line: u32, written: Option<&Node>, param: &ParamSpec) -> Result<Value, PlanError> {
    written.map_or_else(
        || {
            default(param.default, param.kind).map_err(|why| PlanError::Unit {
                line,
                key: param.name.into(),
                why,
            })
        },
        |node| value(node, param.kind),
    )
}
