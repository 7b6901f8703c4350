//! Knows how a plan is narrowed to some of its loads, levels and values of its sweeps.
//!
//! Must not know how a person asks for it, nor what a parameter means.

use super::manual::compare_another;
use super::remedy;
use crate::record::{LabPlan, LoadPlan, Plan, SUT, Value};
use crate::unit::{Kind, parse};
use std::mem::take;
use thiserror::Error;

/// The key that names loads.
const LOAD: &str = "load";
/// What a swept parameter may be measured in.
const KINDS: [Kind; 7] = [
    Kind::Cpus,
    Kind::Duration,
    Kind::Frequency,
    Kind::Operations,
    Kind::Rate,
    Kind::Share,
    Kind::Size,
];

/// Why a plan cannot be narrowed so.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NarrowError {
    /// Neither a factor nor a sweep.
    #[error("the plan neither sweeps '{key}' nor has a factor of this name; {remedy}")]
    Key {
        /// As given.
        key: String,
        /// The nearest, or all.
        remedy: String,
    },
    /// Nothing of the key has this value.
    #[error("'{key}' has no value '{word}' in this plan; {remedy}")]
    Value {
        /// As given.
        key: String,
        /// As given.
        word: String,
        /// The nearest, or all.
        remedy: String,
    },
    /// The machines of the run are chosen already.
    #[error(
        "factor '{key}' chooses the machine under test; name one machine as sut in the roles of \
         the lab file, and leave the factor out of the plan"
    )]
    Machines {
        /// As given.
        key: String,
    },
}

/// Keeps of a key only these values: loads of `load`, levels of a factor, values of a sweep. A load
/// that sweeps the key and keeps none of its values goes; one that does not sweep it stays. What
/// the plan says of things that are gone goes with them.
///
/// # Errors
/// A key or a value that the plan has not, with the nearest that it has.
pub fn narrow(plan: &mut Plan, key: &str, words: &[String]) -> Result<(), NarrowError> {
    let before = judged_by(plan);
    if key == LOAD {
        let names: Vec<String> = plan.loads.iter().map(|load| load.name.clone()).collect();
        check(key, words, &names, |name, word| name == word)?;
        plan.loads.retain(|load| words.contains(&load.name));
    } else if let Some(factor) = plan.factors.iter_mut().find(|factor| factor.name == key) {
        if factor.levels.iter().any(|level| level.settings.contains_key(SUT)) {
            return Err(NarrowError::Machines { key: key.into() });
        }
        let names: Vec<String> = factor.levels.iter().map(|level| level.name.clone()).collect();
        let words = with_units(words, &names);
        check(key, &words, &names, |name, word| squeezed(name) == squeezed(word))?;
        factor.levels.retain(|level| words.iter().any(|w| squeezed(w) == squeezed(&level.name)));
        compare_what_is_left(plan);
    } else {
        narrow_sweeps(plan, key, words)?;
    }
    forget_what_is_gone(plan);
    if judged_by(plan) != before {
        plan.method.primary_comparison = None;
    }
    Ok(())
}

/// What a primary comparison is told by: the compared factor, its baseline, the curve.
fn judged_by(plan: &Plan) -> (String, Option<String>, Option<String>) {
    let method = &plan.method;
    let compared = plan.factors.iter().find(|factor| factor.name == method.compare);
    let baseline = compared.and_then(|factor| factor.levels.first());
    (method.compare.clone(), baseline.map(|level| level.name.clone()), method.curve.clone())
}

fn narrow_sweeps(plan: &mut Plan, key: &str, words: &[String]) -> Result<(), NarrowError> {
    let swept = |load: &LoadPlan| load.over.iter().any(|(name, _)| name == key);
    if !plan.loads.iter().any(swept) {
        let sweeps = plan.loads.iter().flat_map(|load| &load.over).map(|(name, _)| name.as_str());
        let factors = plan.factors.iter().map(|factor| factor.name.as_str());
        let mut known: Vec<&str> = sweeps.chain(factors).chain([LOAD]).collect();
        known.sort_unstable();
        known.dedup();
        return Err(NarrowError::Key { key: key.into(), remedy: remedy(key, &known) });
    }
    let of_key = |load: &LoadPlan| load.over.iter().find(|(name, _)| name == key).cloned();
    let mut values: Vec<Value> = plan.loads.iter().filter_map(of_key).flat_map(|o| o.1).collect();
    values.dedup();
    let words = with_units(words, &values);
    check(key, &words, &values, is_written)?;
    for load in &mut plan.loads {
        for (_, values) in load.over.iter_mut().filter(|(name, _)| name == key) {
            values.retain(|value| words.iter().any(|word| is_written(value, word)));
        }
    }
    plan.loads.retain(|load| load.over.iter().all(|(_, values)| !values.is_empty()));
    Ok(())
}

/// Every word has to name one of what is known.
fn check<T: ToString>(
    key: &str,
    words: &[String],
    known: &[T],
    is: impl Fn(&T, &str) -> bool,
) -> Result<(), NarrowError> {
    let Some(word) = words.iter().find(|word| !known.iter().any(|one| is(one, word))) else {
        return Ok(());
    };
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let remedy = remedy(word, &known);
    Err(NarrowError::Value { key: key.into(), word: word.clone(), remedy })
}

/// Words with the unit that was left out, where only one of what is known has that number.
fn with_units<T: ToString>(words: &[String], known: &[T]) -> Vec<String> {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    let whole = |word: &String| {
        let is_number = |name: &&String| {
            let unit = squeezed(name).strip_prefix(&squeezed(word)).map(str::to_owned);
            let number = word.parse::<f64>().is_ok();
            number && unit.is_some_and(|unit| unit.chars().all(|c| c.is_alphabetic() || c == '/'))
        };
        let mut same = known.iter().filter(is_number);
        match (same.next(), same.next()) {
            (Some(only), None) => only.clone(),
            _ => word.clone(),
        }
    };
    words.iter().map(whole).collect()
}

/// Without blanks, in small letters: `64KiB` is `64 KiB`.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Whether a text is a value, as the plan may write it or as it is shown.
fn is_written(value: &Value, text: &str) -> bool {
    let Some(quantity) = value.quantity() else { return value.to_string() == text };
    let is = |kind: &Kind| parse(text, *kind).is_ok_and(|read| read == quantity);
    squeezed(&value.to_string()) == squeezed(text) || KINDS.iter().any(is)
}

/// Loads of the machine alone have neither clients nor links.
fn keep_system_under_test(lab: &mut LabPlan) {
    let (settings, mut machines) = (take(&mut lab.settings), take(&mut lab.machines));
    for placed in &mut machines {
        placed.hosts.retain(|host| host == SUT);
    }
    machines.retain(|placed| !placed.hosts.is_empty());
    *lab = LabPlan { settings, machines, ..LabPlan::default() };
}

/// Where the compared factor has one level left, another one is compared.
fn compare_what_is_left(plan: &mut Plan) {
    let compared = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    if compared.is_some_and(|factor| factor.levels.len() == 1) {
        compare_another(plan);
    }
}

/// Whether a plan has this level of this factor.
fn has(plan: &Plan, factor: &str, level: &str) -> bool {
    let of = plan.factors.iter().filter(|one| one.name == factor);
    of.flat_map(|one| &one.levels).any(|one| one.name == level)
}

fn forget_what_is_gone(plan: &mut Plan) {
    let kept = plan.clone();
    plan.facts.retain(|fact| match (&fact.factor, &fact.of) {
        (Some(factor), Some(level)) => has(&kept, factor, level),
        _ => true,
    });
    for part in &mut plan.parts {
        part.levels.retain(|name| has(&kept, &name.factor, &name.level));
    }
    plan.parts.retain(|part| !part.levels.is_empty());
    let stays = |of: &crate::record::PrimaryComparison| {
        let swept = |load: &LoadPlan, key: &str, value: &Value| {
            load.over.iter().any(|(name, values)| name == key && values.contains(value))
        };
        let load = kept.load(&of.load);
        has(&kept, &kept.method.compare, &of.level)
            && of.stratum.iter().all(|(factor, level)| has(&kept, factor, level))
            && load.is_some_and(|load| of.fixed.iter().all(|(key, v)| swept(load, key, v)))
    };
    plan.method.primary_comparison = plan.method.primary_comparison.take().filter(stays);
    let is_swept = |name: &String| {
        let numbers = |values: &[Value]| values.iter().all(|value| value.word().is_none());
        let mut swept = kept.loads.iter().flat_map(|load| &load.over);
        swept.any(|(swept, values)| swept == name && values.len() > 1 && numbers(values))
    };
    plan.method.curve = plan.method.curve.take().filter(is_swept);
    if plan.is_alone() {
        keep_system_under_test(&mut plan.lab);
    }
    // The metric of the method may have been that of a load that is gone.
    if plan.loads.iter().all(|load| load.primary.is_some()) {
        let own = plan.loads.iter().filter(|load| load.search.is_none());
        let own = own.filter_map(|load| load.primary.clone()).next();
        // What a search finds is no metric of its workload; what it looks at is one.
        let looked_at =
            || plan.loads.iter().find_map(|load| Some(load.search.as_ref()?.metric.clone()));
        let own = own.or_else(looked_at);
        plan.method.primary = own.unwrap_or_else(|| kept.method.primary.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::{catalogue, small};
    use crate::plan::{expand, recheck};

    fn narrowed(key: &str, words: &[&str]) -> Result<Plan, NarrowError> {
        let mut plan = small();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        narrow(&mut plan, key, &words)?;
        recheck(&plan, &catalogue()).unwrap();
        Ok(plan)
    }

    #[test]
    fn a_sweep_keeps_the_values_that_are_named_in_any_notation() {
        for word in ["64 B", "64B", "64"] {
            let plan = narrowed("request_size", &[word]).unwrap();
            let (points, treatments) = expand(&plan);
            assert_eq!((points.len(), treatments.len(), plan.method.curve), (2, 4, None));
        }
        let plan = narrowed("direction", &["receive", "transmit"]).unwrap();
        assert_eq!(plan.loads, small().loads);
    }

    #[test]
    fn a_factor_of_one_level_is_compared_no_more() {
        let plan = narrowed("path", &["two"]).unwrap();
        assert_eq!((plan.method.compare.as_str(), expand(&plan).1.len()), ("tso", 2));
        let plan = narrowed("tso", &["on"]).unwrap();
        assert_eq!((plan.method.compare.as_str(), expand(&plan).1.len()), ("path", 2));
    }

    #[test]
    fn what_is_said_of_a_level_goes_with_it() {
        let text = r#"title = "t"
            lab.links = { one = {}, two = {} }
            factors.path.levels = ["one", "two"]
            factors.tso.levels = ["on", "off"]
            load.stream = { workload = "tcp_stream", over.request_size = ["64 B", "128 B"] }
            method.looks = [5, 10]
            method.primary_comparison = { level = "two", tso = "on" }
            [[fact]]
            of = "two"
            what = "power"
            value = "3 W"
            source = "meter"
            date = "2026-11-26"
            [[part]]
            name = "card"
            price = "9 EUR"
            levels = ["path=two"]
            source = "list"
            date = "2026-11-26""#;
        let whole = crate::plan::read(text, &catalogue()).unwrap();
        let of = |key: &str, word: &str| {
            let mut plan = whole.clone();
            narrow(&mut plan, key, &[word.to_owned()]).unwrap();
            recheck(&plan, &catalogue()).unwrap();
            let primary = plan.method.primary_comparison.is_some();
            (plan.facts.len(), plan.parts.len(), primary, plan.method.looks.len())
        };
        assert_eq!(of("path", "one"), (0, 0, false, 0));
        assert_eq!(of("path", "two"), (1, 1, false, 0), "the baseline is gone");
        assert_eq!(of("tso", "off"), (1, 1, false, 2), "its stratum is gone");
        assert_eq!(of("tso", "on"), (1, 1, true, 2));
    }

    #[test]
    fn a_plan_that_keeps_loads_of_the_machine_alone_loses_clients_and_links() {
        let text = r#"title = "t"
            lab = { clients = 1, links = { one = {}, two = {} }, thp = "never" }
            load.net = { workload = "tcp_stream" }
            load.reach = { workload = "mem_latency" }"#;
        let whole = crate::plan::read(text, &catalogue()).unwrap();
        let of = |load: &str| {
            let mut plan = whole.clone();
            let placed = |machine: &str, hosts: &[&str]| crate::record::Placement {
                machine: machine.into(),
                hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            };
            plan.lab.machines = vec![placed("a", &[SUT]), placed("b", &["c01"])];
            narrow(&mut plan, LOAD, &[load.to_owned()]).unwrap();
            recheck(&plan, &catalogue()).unwrap();
            let LabPlan { clients, links, settings, machines, .. } = plan.lab;
            (clients, links.len(), settings.len(), machines.len())
        };
        assert_eq!(of("reach"), (0, 0, 1, 1));
        assert_eq!(of("net"), (1, 2, 1, 2));
    }

    #[test]
    fn what_the_plan_has_not_is_named_with_what_it_has() {
        let said = |key: &str, word: &str| narrowed(key, &[word]).unwrap_err().to_string();
        assert!(said("request_sise", "64 B").contains("did you mean 'request_size'"));
        let words = said("request_size", "65 B");
        assert!(words.contains("'65 B'") && words.contains("64 B"), "{words}");
        assert!(said("path", "three").contains("'three'"));
        assert!(said("load", "full").contains("stream"));
    }
}
