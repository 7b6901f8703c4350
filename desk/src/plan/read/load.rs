//! Knows the tables `[load.NAME]`: a workload, its fixed parameters and its sweeps.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::search;
use super::value::{default, value, values};
use crate::plan::Catalogue;
use crate::record::{
    DeriveSpec, LoadPlan, Metric, ParamSpec, Place, SearchKind, Settings, Value, WorkloadSpec,
};
use crate::search::{names, shared};

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
    known.extend(["workload", "over", "primary", "search"]);
    section.only(&known)?;
    let search =
        section.get("search").map(|node| search::read(node, &section, spec)).transpose()?;
    let sought = search.as_ref().map(|search| search.over.as_str());
    let mut fixed = Settings::new();
    let is_set = |param: &&ParamSpec| {
        Some(param.name) == sought || over.iter().any(|(name, _)| name == param.name)
    };
    for param in spec.params.iter().filter(|param| !is_set(param)) {
        fixed.insert(param.name.into(), fixed_value(node.line, section.get(param.name), param)?);
    }
    let (name, workload) = (node.key.clone(), spec.name.into());
    let alone = spec.place == Place::Machine;
    let role = |param: &ParamSpec| Some((param.role?, param.name.to_owned()));
    let roles = spec.params.iter().filter_map(role).collect();
    let derives = spec.derives.iter().map(DeriveSpec::stored).collect();
    let primary = None;
    let mut load = LoadPlan { name, workload, fixed, over, search, primary, roles, derives, alone };
    let found = names(&load);
    let described: Vec<Metric> = spec.described().collect();
    let at_shares = shared(&load, described.iter());
    // Trials in states give the figures of the workload as any others do.
    let has_states = load.search.as_ref().is_some_and(|one| one.kind == SearchKind::States);
    let decides = found.first().filter(|_| !has_states);
    let mut own: Vec<&str> = found.iter().map(String::as_str).collect();
    if decides.is_none() {
        own.extend(spec.metrics.iter().map(|metric| metric.name));
    }
    own.extend(at_shares.iter().map(|metric| metric.name.as_str()));
    let primary = section.get("primary").map(|node| metric(node, &own)).transpose()?;
    load.primary = primary.or_else(|| decides.cloned());
    Ok((load, spec))
}

/// The metric that decides here, one of these: the workload's own, or what a search gives.
fn metric(node: &Node, known: &[&str]) -> Result<String, PlanError> {
    let name = node.string()?;
    if known.contains(&name) {
        return Ok(name.into());
    }
    let remedy = remedy(name, known);
    Err(PlanError::UnknownName { line: node.line, what: "metric", name: name.into(), remedy })
}

/// Writes out which metric decides on every load: its own word, else the metric that the method
/// writes where its workload has that, else the first that its workload has.
pub(super) fn decide(
    loads: &mut [LoadPlan],
    specs: &[&WorkloadSpec],
    (usual, written): (&str, bool),
) {
    for (load, spec) in loads.iter_mut().zip(specs) {
        let has = |name: &str| spec.metrics.iter().any(|metric| metric.name == name);
        let first = spec.metrics.first().map(|metric| metric.name.to_owned());
        let chosen = load.primary.take().or_else(|| first.filter(|_| !written || !has(usual)));
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
        remedy: "write workload = \"NAME\"; 'stend explain' shows the names",
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

#[cfg(test)]
mod tests {
    use crate::plan::example::catalogue;
    use crate::plan::read;
    use crate::record::{Plan, Value};
    use crate::unit::Quantity;

    fn plan(loads: &str, method: &str) -> Result<Plan, String> {
        let text = format!("title = \"t\"\n{loads}\n[method]\nblocks = 3\n{method}\n");
        read(&text, &catalogue()).map_err(|e| e.to_string())
    }

    const PATH: &str = "[load.net]\nworkload = \"tcp_stream\"\n";
    const MACHINE: &str = "[load.reach]\nworkload = \"mem_latency\"\n";

    #[test]
    fn each_load_goes_by_its_word_or_the_plans_or_the_first_of_its_workload() {
        let both = |own: &str, method: &str| {
            let plan = plan(&format!("{PATH}{MACHINE}{own}"), method).unwrap();
            (plan.primary("net").to_owned(), plan.primary("reach").to_owned())
        };
        let told = |net: &str, reach: &str| (net.to_owned(), reach.to_owned());
        assert_eq!(both("", ""), told("throughput", "latency"));
        assert_eq!(both("primary = \"bandwidth\"", ""), told("throughput", "bandwidth"));
        assert_eq!(both("", "primary = \"bandwidth\""), told("throughput", "bandwidth"));
        assert_eq!(both("", "primary = \"operations\""), told("operations", "latency"));
        let refused = plan(&format!("{MACHINE}primary = \"latence\""), "").unwrap_err();
        assert_eq!(refused, "line 4: there is no metric 'latence'; did you mean 'latency'?");
        let refused = plan(MACHINE, "primary = \"throughput\"").unwrap_err();
        assert!(refused.contains("no metric 'throughput'"), "{refused}");
    }

    #[test]
    fn a_load_of_the_machine_says_so_and_has_a_curve_of_its_own() {
        let swept = "over = { stride = \"16..256 B *2\", size = [\"L1\", \"memory\"] }\n";
        let net = "over = { request_size = \"64..1024 B *2\" }\n";
        let plan = plan(&format!("{PATH}{net}{MACHINE}{swept}"), "").unwrap();
        assert_eq!([plan.loads[0].alone, plan.loads[1].alone], [false, true]);
        assert!(!plan.is_alone() && plan.runs_alone("reach"));
        let curves: Vec<_> = plan.loads.iter().map(|load| plan.curve(load)).collect();
        assert_eq!(curves, [Some("request_size"), Some("stride")]);
        assert_eq!(plan.loads[1].over[0].1[0], Value::Quantity(Quantity::bytes(16)));
    }

    #[test]
    fn sizes_that_may_be_words_make_no_curve_and_a_machine_has_no_clients() {
        let plan = plan(&format!("{MACHINE}over.size = [\"L1\", \"memory\"]"), "").unwrap();
        assert_eq!(plan.curve(&plan.loads[0]), None);
        assert_eq!((plan.lab.clients, plan.lab.links.len(), plan.is_alone()), (0, 0, true));
    }
}
