//! Knows `primary_comparison` of `[method]`: the one comparison that a plan is made for.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::value;
use crate::record::{
    FactorPlan, LoadPlan, Method, PrimaryComparison, Settings, Value, WorkloadSpec,
};
use std::collections::BTreeMap;

/// What is compared under, as the plan has it.
struct Axes<'a> {
    compared: &'a FactorPlan,
    rest: Vec<&'a FactorPlan>,
    load: &'a LoadPlan,
    spec: &'a WorkloadSpec,
    swept: Vec<(&'a String, &'a Vec<Value>)>,
}

/// Every key that the plan leaves one choice for may be left out.
pub(super) fn read(
    node: &Node,
    method: &Method,
    factors: &[FactorPlan],
    loads: &[LoadPlan],
    specs: &[&WorkloadSpec],
) -> Result<PrimaryComparison, PlanError> {
    let table = node.section()?;
    let Some(compared) = factors.iter().find(|f| f.name == method.compare) else {
        return Err(PlanError::WrongPlace {
            line: node.line,
            key: node.key.clone(),
            remedy: "the plan compares nothing; add a table [factors.NAME]".into(),
        });
    };
    let names: Vec<&str> = loads.iter().map(|load| load.name.as_str()).collect();
    let load = chosen(&table, ("load", "load"), &names)?;
    let at = names.iter().position(|name| *name == load).unwrap_or(0);
    let (load, spec) = (&loads[at], specs[at]);
    let curve = load.curve(method.curve.as_deref());
    let swept = load.over.iter().filter(|(name, _)| Some(name.as_str()) != curve);
    let axes = Axes {
        compared,
        rest: factors.iter().filter(|f| f.name != method.compare).collect(),
        load,
        spec,
        swept: swept.map(|(name, values)| (name, values)).collect(),
    };
    of(&table, &axes)
}

fn of(table: &Section, axes: &Axes<'_>) -> Result<PrimaryComparison, PlanError> {
    let mut known = vec!["level", "load"];
    known.extend(axes.rest.iter().map(|factor| factor.name.as_str()));
    known.extend(axes.swept.iter().map(|(name, _)| name.as_str()));
    table.only(&known)?;
    let levels = |factor: &'_ FactorPlan, from: usize| -> Vec<String> {
        factor.levels.iter().skip(from).map(|level| level.name.clone()).collect()
    };
    let mut stratum = BTreeMap::new();
    for factor in &axes.rest {
        let names = levels(factor, 0);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let level = chosen(table, (&factor.name, "level"), &names)?;
        stratum.insert(factor.name.clone(), level);
    }
    // The baseline is what the level is set against.
    let names = levels(axes.compared, 1);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(PrimaryComparison {
        level: chosen(table, ("level", "level besides the baseline"), &names)?,
        load: axes.load.name.clone(),
        stratum,
        fixed: fixed(table, axes)?,
    })
}

/// The one of these names that a key has, or the only one.
fn chosen(
    table: &Section,
    (key, what): (&str, &'static str),
    names: &[&str],
) -> Result<String, PlanError> {
    let Some(node) = table.get(key) else {
        return match names {
            [only] => Ok((*only).to_owned()),
            _ => Err(open(table, key, names)),
        };
    };
    let name = node.written("a name in quotes")?;
    if names.contains(&name) {
        return Ok(name.into());
    }
    let remedy = remedy(name, names);
    Err(PlanError::UnknownName { line: node.line, what, name: name.into(), remedy })
}

/// The value of every swept parameter.
fn fixed(table: &Section, axes: &Axes<'_>) -> Result<Settings, PlanError> {
    let mut fixed = Settings::new();
    for (key, values) in &axes.swept {
        let names: Vec<String> = values.iter().map(ToString::to_string).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let kind = axes.spec.params.iter().find(|param| param.name == key.as_str());
        let written = match (table.get(key), kind) {
            (Some(node), Some(param)) => Some((node, value(node, param.kind)?)),
            _ => None,
        };
        let one = match (written, values.as_slice()) {
            (Some((_, value)), all) if all.contains(&value) => value,
            (Some((node, value)), _) => {
                let name = value.to_string();
                let remedy = remedy(&name, &names);
                let what = "value of the sweep";
                return Err(PlanError::UnknownName { line: node.line, what, name, remedy });
            }
            (None, [only]) => only.clone(),
            (None, _) => return Err(open(table, key, &names)),
        };
        fixed.insert((*key).clone(), one);
    }
    Ok(fixed)
}

fn open(table: &Section, key: &str, names: &[&str]) -> PlanError {
    let values = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    PlanError::PrimaryOpen { line: table.line, key: key.into(), values }
}
