//! Knows the tables `[[fact]]`: what a person says of the things under test.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::outside;
use crate::record::{FactorPlan, LabPlan, ManualFact, Value};
use crate::unit::{Kind, parse};

/// What has a unit of its own.
const KINDS: [(&str, Kind); 5] = [
    ("ambient", Kind::Temperature),
    ("mass", Kind::Mass),
    ("noise", Kind::Noise),
    ("power", Kind::Power),
    ("price", Kind::Price),
];

/// Longest text of a fact, characters: it must fit into a cell.
const LONGEST: usize = 80;

pub(super) fn read(
    root: &Section,
    factors: &[FactorPlan],
    lab: &LabPlan,
) -> Result<Vec<ManualFact>, PlanError> {
    let Some(node) = root.get("fact") else { return Ok(Vec::new()) };
    let items = node.list().ok_or_else(|| node.wrong("tables [[fact]], in double brackets"))?;
    items.iter().map(|item| fact(item, factors, lab)).collect()
}

fn fact(node: &Node, factors: &[FactorPlan], lab: &LabPlan) -> Result<ManualFact, PlanError> {
    let section = node.section()?;
    section.only(&["of", "what", "value", "source", "date"])?;
    let of = section.get("of").map(|of| level(of, factors, lab)).transpose()?;
    let what =
        said(node, &section, ("what", "write what = \"price\", power, noise, mass or ambient"))?;
    let missing = "write value = \"1200 EUR\" and the like, with its unit";
    let value = value(
        section.get("value").ok_or(PlanError::Missing {
            line: node.line,
            what: "value",
            remedy: missing,
        })?,
        &what,
    )?;
    let source = said(node, &section, ("source", "say where it is from: a price list, a meter"))?;
    let written = section.get("date");
    let date = said(node, &section, ("date", "say when it was so, date = \"2026-11-21\""))?;
    match written.filter(|_| !is_day(&date)) {
        Some(node) => Err(outside(node, &date, "a day, as in \"2026-11-21\"")),
        None => Ok(ManualFact { of, what, value, source, date }),
    }
}

/// The name of a level of any factor, or of a link.
fn level(node: &Node, factors: &[FactorPlan], lab: &LabPlan) -> Result<String, PlanError> {
    let text = node.text_like("a level or a link in quotes")?;
    let levels = factors.iter().flat_map(|f| &f.levels).map(|l| l.name.as_str());
    let known: std::collections::BTreeSet<&str> =
        levels.chain(lab.links.iter().map(|l| l.name.as_str())).collect();
    let known: Vec<&str> = known.into_iter().collect();
    if known.contains(&text) {
        return Ok(text.into());
    }
    Err(PlanError::UnknownName {
        line: node.line,
        what: "level or link",
        name: text.into(),
        remedy: remedy(text, &known),
    })
}

/// A text that must be there.
fn said(
    fact: &Node,
    section: &Section,
    (key, remedy): (&'static str, &'static str),
) -> Result<String, PlanError> {
    let node = section.get(key).ok_or(PlanError::Missing { line: fact.line, what: key, remedy })?;
    let text = node.string()?.trim();
    match text.chars().count() {
        1..=LONGEST => Ok(text.into()),
        _ => Err(outside(node, text, &format!("1 to {LONGEST} characters"))),
    }
}

/// A quantity of the kind that is meant, or words of the person for a thing that he named.
fn value(node: &Node, what: &str) -> Result<Value, PlanError> {
    let text = node.text_like("a value with its unit, in quotes")?.trim();
    let unit = |why| PlanError::Unit { line: node.line, key: node.key.clone(), why };
    if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == what) {
        let quantity = parse(text, *kind).map_err(unit)?;
        let above = quantity.value > 0.0 || *kind == Kind::Temperature;
        return match above {
            true => Ok(Value::Quantity(quantity)),
            false => Err(outside(node, text, "a value above 0")),
        };
    }
    match text.chars().count() {
        1..=LONGEST => Ok(Value::Word(text.into())),
        _ => Err(outside(node, text, &format!("1 to {LONGEST} characters"))),
    }
}

/// Whether a text is a day as `2026-11-21`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |text: &str, digits: usize, low: u32, high: u32| {
        text.len() == digits
            && text.chars().all(|c| c.is_ascii_digit())
            && text.parse().is_ok_and(|n: u32| (low..=high).contains(&n))
    };
    number(year, 4, 1900, 2999) && number(month, 2, 1, 12) && number(day, 2, 1, 31)
}
