//! Knows parameters of loads that a factor switches: every load of the plan has to have them.

use super::error::PlanError;
use super::factor::Known;
use super::node::Node;
use crate::record::{LoadPlan, ParamSpec, Value, WorkloadSpec};

fn param(spec: &WorkloadSpec, key: &str) -> Option<&'static ParamSpec> {
    spec.params.iter().find(|param| param.name == key)
}

/// Whether any load of the plan has a parameter of this name.
pub(super) fn anywhere(key: &str, known: &Known) -> bool {
    known.specs.iter().any(|spec| param(spec, key).is_some())
}

/// Names of the parameters that all loads of the plan have.
pub(super) fn common(known: &Known) -> impl Iterator<Item = &'static str> {
    let first: &'static [ParamSpec] = known.specs.first().map_or(&[], |spec| spec.params);
    first
        .iter()
        .map(|param| param.name)
        .filter(|name| known.specs.iter().all(|spec| param(spec, name).is_some()))
        .collect::<Vec<_>>()
        .into_iter()
}

/// The parameter of this name of every load.
///
/// # Errors
/// The first load that has none.
pub(super) fn of_all(
    node: &Node,
    key: &str,
    known: &Known,
) -> Result<Vec<&'static ParamSpec>, PlanError> {
    let of = |(load, spec): (&LoadPlan, &&WorkloadSpec)| {
        param(spec, key).ok_or_else(|| PlanError::NoParameter {
            line: node.line,
            key: key.into(),
            load: load.name.clone(),
            workload: spec.name.into(),
            remedy: all(known),
        })
    };
    known.loads.iter().zip(known.specs).map(of).collect()
}

fn all(known: &Known) -> String {
    let common: Vec<&str> = common(known).collect();
    match common.as_slice() {
        [] => "no parameter is in all of them; measure them in two plans".into(),
        common => format!("in all loads are {}; else measure them in two plans", common.join(", ")),
    }
}

/// A level of such a factor, which all loads must read alike.
///
/// # Errors
/// A load without the parameter, a value that it cannot have, two loads that differ in what it is.
pub(super) fn value(node: &Node, key: &str, known: &Known) -> Result<Value, PlanError> {
    let mut first: Option<(&str, Value)> = None;
    for (load, param) in known.loads.iter().zip(of_all(node, key, known)?) {
        let value = super::value::value(node, param.kind)?;
        match &first {
            None => first = Some((&load.name, value)),
            Some((_, known)) if *known == value => {}
            Some((other, known)) => {
                return Err(PlanError::UnlikeParameter {
                    line: node.line,
                    key: key.into(),
                    value: known.to_string(),
                    first: (*other).into(),
                    second: load.name.clone(),
                });
            }
        }
    }
    first.map(|(_, value)| value).ok_or(PlanError::Missing {
        line: node.line,
        what: "load",
        remedy: "add a table [load.NAME] with workload = \"...\"",
    })
}
