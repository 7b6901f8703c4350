//! Knows how the value of a parameter or a factor is read by its kind, one or several.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::Node;
use crate::record::{MOST_CPUS, ParamKind, Value, Words};
use crate::unit::{Kind, Quantity, UnitError, parse, parse_sweep};

/// One value.
pub(super) fn value(node: &Node, kind: ParamKind) -> Result<Value, PlanError> {
    let several = |value: &str| PlanError::Several {
        line: node.line,
        key: node.key.clone(),
        value: value.into(),
        remedy: "sweeps and lists of a load stand in over = { ... }",
    };
    if node.list().is_some() {
        return Err(several("a list"));
    }
    let Some(range) = kind.range else { return word(node, kind.words) };
    let text = node.written("one value in quotes")?;
    if kind.words.has(text) {
        return Ok(Value::Word(text.into()));
    }
    if text.contains("..") {
        return Err(several(text));
    }
    let quantity = parse(text, range.family).map_err(|why| unread(node, (text, kind), why))?;
    bounded(node, quantity, kind)
}

/// One value, a sweep, or a list of both; no value twice.
pub(super) fn values(node: &Node, kind: ParamKind) -> Result<Vec<Value>, PlanError> {
    let items = node.list().unwrap_or_else(|| vec![node.clone()]);
    let mut all = Vec::new();
    for item in &items {
        for value in sweep(item, kind)? {
            if all.contains(&value) {
                return Err(PlanError::EqualValues {
                    line: item.line,
                    key: item.key.clone(),
                    value: value.to_string(),
                });
            }
            all.push(value);
        }
    }
    if all.is_empty() {
        return Err(PlanError::NoValues { line: node.line, key: node.key.clone() });
    }
    Ok(all)
}

/// A duration, rate or share of the plan itself, which has bounds of its own.
pub(super) fn quantity(node: &Node, kind: Kind) -> Result<Quantity, PlanError> {
    let text = node.written("one value with its unit, in quotes")?;
    parse(text, kind).map_err(|why| unit(node, why))
}

/// A whole number within bounds, bare or in quotes.
pub(super) fn whole(node: &Node, low: u64, high: u64) -> Result<u64, PlanError> {
    let text = node.written("a whole number")?;
    match text.parse::<u64>() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => Err(outside(node, text, &format!("a whole number from {low} to {high}"))),
    }
}

/// The complaint that a value is not allowed.
pub(super) fn outside(node: &Node, value: &str, allowed: &str) -> PlanError {
    PlanError::OutOfBounds {
        line: node.line,
        key: node.key.clone(),
        value: value.into(),
        allowed: allowed.into(),
    }
}

/// Reads a value as the catalogue writes a default.
pub(super) fn default(text: &str, kind: ParamKind) -> Result<Value, UnitError> {
    match kind.range {
        Some(range) if !kind.words.has(text) => Ok(range.nearest(parse(text, range.family)?.value)),
        _ => Ok(Value::Word(text.into())),
    }
}

fn unit(node: &Node, why: UnitError) -> PlanError {
    PlanError::Unit { line: node.line, key: node.key.clone(), why }
}

/// The complaint about a text that is no quantity; it might have been a word.
fn unread(node: &Node, (text, kind): (&str, ParamKind), why: UnitError) -> PlanError {
    match (kind.words, &why) {
        (Words::Cpus, _) | (Words::Of([_, ..]) | Words::PathOr(_), UnitError::NoNumber(..)) => {
            outside(node, text, &allowed(text, kind))
        }
        _ => unit(node, why),
    }
}

fn sweep(node: &Node, kind: ParamKind) -> Result<Vec<Value>, PlanError> {
    let Some(range) = kind.range else { return Ok(vec![word(node, kind.words)?]) };
    let text = node.written("a value in quotes, a sweep or a list of them")?;
    if kind.words.has(text) {
        return Ok(vec![Value::Word(text.into())]);
    }
    let quantities = parse_sweep(text, range.family);
    let quantities = quantities.map_err(|why| unread(node, (text, kind), why))?;
    quantities.into_iter().map(|quantity| bounded(node, quantity, kind)).collect()
}

fn bounded(node: &Node, quantity: Quantity, kind: ParamKind) -> Result<Value, PlanError> {
    let value = kind.range.and_then(|range| range.value(quantity.value));
    let text = quantity.to_string();
    value.ok_or_else(|| outside(node, &text, &allowed(&text, kind)))
}

fn word(node: &Node, words: Words) -> Result<Value, PlanError> {
    let text = match words {
        Words::Of(known) | Words::UrlOr(known) | Words::PathOr(known) => {
            node.text_like(&format!("one of {} in quotes", known.join(", ")))
        }
        _ => node.string(),
    }?;
    if words.has(text) {
        return Ok(Value::Word(text.into()));
    }
    Err(outside(node, text, &allowed(text, ParamKind { words, range: None })))
}

/// What may stand in place of a text that a kind does not take, and which word was meant.
fn allowed(text: &str, kind: ParamKind) -> String {
    let number = kind.range.map(|range| match range.step {
        _ if range.is_pair() => range.to_string(),
        0.0 => format!("a value from {range}"),
        1.0 => format!("a whole number from {range}"),
        step => {
            let step = Quantity::new(step, range.family.base());
            format!("a value from {range} in steps of {step}")
        }
    });
    match (kind.words, number) {
        (Words::Cpus, _) => format!(
            "a number of CPUs from 1 to {MOST_CPUS}, or a list of CPUs such as \"0-1,4\" (CPU 3 \
             alone is \"3-3\")"
        ),
        (Words::CpusOr(words), _) => {
            format!("{}, or a list of CPUs such as \"0\" or \"0-1,4\"", words.join(", "))
        }
        (Words::UrlOr(words), _) => {
            format!("one of {}, or the address of a page: http://192.0.2.7/page", words.join(", "))
        }
        (Words::PathOr(words), number) => {
            let all: Vec<_> = words.iter().map(|word| (*word).to_owned()).chain(number).collect();
            format!("{}, or the path of a file from / on", all.join(", "))
        }
        (Words::Any, _) => WORD.into(),
        (Words::Of([]), number) => number.unwrap_or_default(),
        (Words::Of([word]), Some(number)) => format!("{word}, or {number}"),
        (Words::Of(words), number) => {
            let number = number.map(|number| format!(", or {number}")).unwrap_or_default();
            let meant = remedy(text, words);
            let meant = if meant.starts_with("did") { format!("; {meant}") } else { String::new() };
            format!("one of {}{number}{meant}", words.join(", "))
        }
    }
}

/// What a word is made of; also the rule for link names, which become interface names.
pub(super) const WORD: &str = "1 to 15 letters, digits, '-' or '_'";
