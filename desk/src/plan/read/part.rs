//! Knows the tables `[[part]]`: what the levels of a plan are made of, and what that costs.
//!
//! Must not know what a level gives for it.

use super::error::PlanError;
use super::fact::{KINDS, entered, level, origin, said, unknown};
use super::node::{Node, Section};
use super::value::whole;
use crate::record::{FactorPlan, LevelName, ManualFact, PartPlan};
use crate::unit::{Kind, Quantity};

/// What a part may tell.
const FIGURES: [&str; 4] = ["mass", "noise", "power", "price"];
/// Fewest and most of a part in one level.
pub(in crate::plan) const COUNT_BOUNDS: (u64, u64) = (1, 10_000);

pub(super) fn read(
    root: &Section,
    factors: &[FactorPlan],
    facts: &[ManualFact],
) -> Result<Vec<PartPlan>, PlanError> {
    let Some(node) = root.get("part") else { return Ok(Vec::new()) };
    let items = node.list().ok_or_else(|| node.wrong("tables [[part]], in double brackets"))?;
    let mut parts: Vec<PartPlan> = Vec::new();
    for item in &items {
        let part = part(item, factors)?;
        told_once(item, &part, (&parts, facts))?;
        parts.push(part);
    }
    Ok(parts)
}

fn part(node: &Node, factors: &[FactorPlan]) -> Result<PartPlan, PlanError> {
    let section = node.section()?;
    section.only(&[&["name", "levels", "count", "source", "date"], &FIGURES[..]].concat())?;
    let name = said(node, &section, ("name", "write name = \"PRO/1000\", what a shop calls it"))?;
    let levels = levels(node, &section, factors)?;
    let figure = |what: &str| -> Result<Option<Quantity>, PlanError> {
        let kind = KINDS.iter().find(|(name, _)| *name == what).map(|(_, kind)| *kind);
        let both = section.get(what).zip(kind);
        both.map(|(node, kind): (&Node, Kind)| entered(node, kind)).transpose()
    };
    let [mass, noise, power, price] = FIGURES.map(figure);
    let (mass, noise, power, price) = (mass?, noise?, power?, price?);
    if [mass, noise, power, price].iter().all(Option::is_none) {
        let remedy = "write price = \"185 EUR\", or power, mass or noise";
        return Err(PlanError::Missing { line: node.line, what: "price", remedy });
    }
    let count = section.get("count");
    let count = count.map_or(Ok(1), |node| whole(node, COUNT_BOUNDS.0, COUNT_BOUNDS.1))?;
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let (source, date) = origin(node, &section)?;
    Ok(PartPlan { name, levels, count, price, power, mass, noise, source, date })
}

/// The levels that have it, one or more.
fn levels(
    node: &Node,
    section: &Section,
    factors: &[FactorPlan],
) -> Result<Vec<LevelName>, PlanError> {
    let remedy = "name those that have it, as in levels = [\"path=one\"]";
    let missing = PlanError::Missing { line: node.line, what: "levels", remedy };
    let list = section.get("levels").ok_or(missing)?;
    let items = list.list().ok_or_else(|| list.wrong("a list of levels, [\"path=one\"]"))?;
    let mut found = Vec::new();
    for item in &items {
        let text = item.text_like("a level in quotes, as in \"path=one\"")?;
        let names = || factors.iter().flat_map(|f| &f.levels).map(|level| level.name.as_str());
        let one =
            level(item, text, factors)?.ok_or_else(|| unknown(item, ("level", text), names()))?;
        if found.contains(&one) {
            let (line, key) = (item.line, item.key.clone());
            return Err(PlanError::EqualValues { line, key, value: text.into() });
        }
        found.push(one);
    }
    if found.is_empty() {
        return Err(PlanError::NoValues { line: list.line, key: list.key.clone() });
    }
    Ok(found)
}

/// Refuses a name that another part has, a second currency, and what a fact tells of a whole level
/// of the same factor: the sum of parts is nothing to be held against it.
fn told_once(
    node: &Node,
    part: &PartPlan,
    (before, facts): (&[PartPlan], &[ManualFact]),
) -> Result<(), PlanError> {
    let line_of = |key: &str| {
        let section = node.section().ok();
        section.and_then(|s| s.get(key).map(|node| node.line)).unwrap_or(node.line)
    };
    if before.iter().any(|other| other.name == part.name) {
        let (line, key, value) = (line_of("name"), "name".to_owned(), part.name.clone());
        return Err(PlanError::EqualValues { line, key, value });
    }
    let priced = before.iter().find_map(|other| Some((other, other.price?)));
    if let (Some(price), Some((other, first))) = (part.price, priced)
        && price.unit != first.unit
    {
        return Err(PlanError::Currencies {
            line: line_of("price"),
            value: price,
            other: other.name.clone(),
            first,
        });
    }
    for what in FIGURES.into_iter().filter(|what| part.figure(what).is_some()) {
        let doubled = |fact: &&ManualFact| {
            let of_factor = part.levels.iter().any(|of| fact.factor.as_ref() == Some(&of.factor));
            fact.what == what && fact.state.is_none() && of_factor
        };
        if let Some(fact) = facts.iter().find(doubled) {
            return Err(PlanError::SetTwice {
                line: line_of(what),
                key: what.into(),
                first: format!("a [[fact]] of '{}'", fact.of.as_deref().unwrap_or_default()),
                second: format!("part '{}'", part.name),
            });
        }
    }
    Ok(())
}
