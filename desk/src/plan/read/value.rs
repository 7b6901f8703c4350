//! Knows how the value of a parameter or a factor is read by its kind, one or several.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::Node;
use crate::record::{ParamKind, Value};
use crate::unit::{Kind, Quantity, Unit, UnitError, parse, parse_sweep};

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
    match numeric(kind) {
        None => word(node, kind),
        Some(family) => {
            let text = node.written("one value in quotes")?;
            if let Some(word) = either(text, kind) {
                return Ok(word);
            }
            if text.contains("..") {
                return Err(several(text));
            }
            let quantity = parse(text, family).map_err(|why| unit(node, why))?;
            bounded(node, quantity, kind)
        }
    }
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
    if let Some(word) = either(text, kind) {
        return Ok(word);
    }
    numeric(kind)
        .map_or_else(|| Ok(Value::Word(text.into())), |family| Ok(typed(parse(text, family)?)))
}

/// The word that may stand in place of a quantity, if it is that word.
fn either(text: &str, kind: ParamKind) -> Option<Value> {
    match kind {
        ParamKind::RateOr(word, ..)
        | ParamKind::CpusOr(word, ..)
        | ParamKind::CountOr(word, ..)
            if word == text =>
        {
            Some(Value::Word(word.into()))
        }
        ParamKind::SizeOr(words, ..) if words.contains(&text) => Some(Value::Word(text.into())),
        _ => None,
    }
}

fn numeric(kind: ParamKind) -> Option<Kind> {
    match kind {
        ParamKind::Size(..) | ParamKind::SizeOr(..) => Some(Kind::Size),
        ParamKind::Count(..) | ParamKind::CountOr(..) => Some(Kind::Count),
        ParamKind::Rate(..) | ParamKind::RateOr(..) => Some(Kind::Rate),
        ParamKind::CpusOr(..) => Some(Kind::Cpus),
        ParamKind::Choice(_) | ParamKind::Cpus | ParamKind::Word => None,
    }
}

fn unit(node: &Node, why: UnitError) -> PlanError {
    PlanError::Unit { line: node.line, key: node.key.clone(), why }
}

fn sweep(node: &Node, kind: ParamKind) -> Result<Vec<Value>, PlanError> {
    let Some(family) = numeric(kind) else { return Ok(vec![word(node, kind)?]) };
    let text = node.written("a value in quotes, a sweep or a list of them")?;
    if let Some(word) = either(text, kind) {
        return Ok(vec![word]);
    }
    let quantities = parse_sweep(text, family).map_err(|why| unit(node, why))?;
    quantities.into_iter().map(|quantity| bounded(node, quantity, kind)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "bounds stay far below 2^53")]
fn bounded(node: &Node, quantity: Quantity, kind: ParamKind) -> Result<Value, PlanError> {
    let (low, high, whole) = match kind {
        ParamKind::Size(low, high)
        | ParamKind::SizeOr(_, low, high)
        | ParamKind::Count(low, high)
        | ParamKind::CountOr(_, low, high) => (low as f64, high as f64, true),
        ParamKind::Rate(low, high)
        | ParamKind::RateOr(_, low, high)
        | ParamKind::CpusOr(_, low, high) => (low, high, false),
        ParamKind::Choice(_) | ParamKind::Cpus | ParamKind::Word => (0.0, 0.0, true),
    };
    let number = quantity.value;
    if (low..=high).contains(&number) && (!whole || number.fract() == 0.0) {
        return Ok(typed(quantity));
    }
    let [low, high] = [low, high].map(|bound| Quantity::new(bound, quantity.unit));
    let kind = if whole { "a whole number from" } else { "a value from" };
    Err(outside(node, &quantity.to_string(), &format!("{kind} {low} to {high}")))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded before")]
fn typed(quantity: Quantity) -> Value {
    match quantity.unit {
        Unit::Count => Value::Count(quantity.value as u64),
        _ => Value::Quantity(quantity),
    }
}

fn word(node: &Node, kind: ParamKind) -> Result<Value, PlanError> {
    let text = match kind {
        ParamKind::Choice(known) => {
            node.text_like(&format!("one of {} in quotes", known.join(", ")))
        }
        ParamKind::Cpus => node.written("a number of CPUs, or a list such as \"0-1\""),
        _ => node.string(),
    }?;
    match kind {
        ParamKind::Cpus => cpus(text).ok_or_else(|| outside(node, text, CPUS)),
        ParamKind::Choice(known) if !known.contains(&text) => {
            Err(outside(node, text, &choice(text, known)))
        }
        ParamKind::Word if !is_word(text) => Err(outside(node, text, WORD)),
        _ => Ok(Value::Word(text.into())),
    }
}

/// How many CPUs, or which.
fn cpus(text: &str) -> Option<Value> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        text.parse::<u64>().ok().filter(|n| digits && *n < MOST_CPUS)
    };
    if let Ok(count) = text.parse::<u64>() {
        return (1..=MOST_CPUS).contains(&count).then_some(Value::Count(count));
    }
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(number(first)? <= number(last)?)
    };
    let fits = text.split(',').all(|part| range(part) == Some(true));
    fits.then(|| Value::Word(text.into()))
}

/// Most CPUs of a machine that a set of the kernel's system calls holds here.
pub(in crate::plan) const MOST_CPUS: u64 = 1024;
const CPUS: &str = "a number of CPUs from 1 to 1024, or a list of CPUs such as \"0-1,4\" \
                    (CPU 3 alone is \"3-3\")";

fn choice(text: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    let remedy = remedy(text, known);
    if remedy.starts_with("did") {
        format!("one of {all}; {remedy}")
    } else {
        format!("one of {all}")
    }
}

/// What a word is made of; also the rule for link names, which become interface names.
pub(super) const WORD: &str = "1 to 15 letters, digits, '-' or '_'";

/// Whether a text is a [`ParamKind::Word`].
pub(super) fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=15).contains(&text.len()) && text.chars().all(fits)
}
