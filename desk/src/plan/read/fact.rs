//! Knows the tables `[[fact]]` of a plan or a lab file: what a person says of the things under
//! test.
//!
//! What hangs on parts of a level stands in `part.rs`.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::outside;
use crate::record::{FactorPlan, LabPlan, LevelName, LoadPlan, ManualFact, SearchKind, Value};
use crate::search::STATES;
use crate::unit::{Kind, Quantity, Unit, parse};

/// What has a unit of its own.
pub(super) const KINDS: [(&str, Kind); 5] = [
    ("ambient", Kind::Temperature),
    ("mass", Kind::Mass),
    ("noise", Kind::Noise),
    ("power", Kind::Power),
    ("price", Kind::Price),
];

/// Longest text of a fact, characters: it must fit into a cell.
const LONGEST: usize = 80;

/// What a fact may be of.
pub(super) struct Things<'p> {
    /// Factors of the plan.
    pub factors: &'p [FactorPlan],
    /// Its lab.
    pub lab: &'p LabPlan,
    /// Its loads.
    pub loads: &'p [LoadPlan],
    /// Machines of a lab file; none of a plan.
    pub machines: &'p [&'p str],
}

pub(super) fn read(root: &Section, things: &Things) -> Result<Vec<ManualFact>, PlanError> {
    let Some(node) = root.get("fact") else { return Ok(Vec::new()) };
    let items = node.list().ok_or_else(|| node.wrong("tables [[fact]], in double brackets"))?;
    items.iter().map(|item| fact(item, things)).collect()
}

fn fact(node: &Node, things: &Things) -> Result<ManualFact, PlanError> {
    let section = node.section()?;
    section.only(&["of", "what", "state", "value", "source", "date"])?;
    let named = section.get("of").map(|of| level_or_link(of, things)).transpose()?;
    let (factor, of) = named.unzip();
    let factor = factor.flatten();
    let what =
        said(node, &section, ("what", "write what = \"price\", power, noise, mass or ambient"))?;
    let of_machine = of.as_deref().is_some_and(|of| things.machines.contains(&of));
    if let (true, "price") = (of_machine, what.as_str()) {
        let remedy =
            "the price of a machine is that of its parts; write [[part]] in the plan".into();
        return Err(PlanError::WrongPlace { line: node.line, key: what, remedy });
    }
    if let (Some(factor), Some(of), "price") = (&factor, &of, what.as_str()) {
        return Err(PlanError::WrongPlace {
            line: node.line,
            key: what,
            remedy: format!(
                "the price of a level is that of its parts; write [[part]] with name, price and \
                 levels = [\"{factor}={of}\"]"
            ),
        });
    }
    let state = section.get("state").map(|at| state(at, &what, things.loads)).transpose()?;
    let missing = "write value = \"1200 EUR\" and the like, with its unit";
    let value = value(
        section.get("value").ok_or(PlanError::Missing {
            line: node.line,
            what: "value",
            remedy: missing,
        })?,
        &what,
    )?;
    let (source, date) = origin(node, &section)?;
    Ok(ManualFact { of, factor, what, state, value, source, date })
}

/// Where something entered is from, and when it was so.
pub(super) fn origin(node: &Node, section: &Section) -> Result<(String, String), PlanError> {
    let source = said(node, section, ("source", "say where it is from: a price list, a meter"))?;
    let written = section.get("date");
    let date = said(node, section, ("date", "say when it was so, date = \"2026-11-21\""))?;
    match written.filter(|_| !is_day(&date)) {
        Some(node) => Err(outside(node, &date, "a day, as in \"2026-11-21\"")),
        None => Ok((source, date)),
    }
}

/// At which state of the load a power was so.
fn state(node: &Node, what: &str, loads: &[LoadPlan]) -> Result<Quantity, PlanError> {
    let refused = |remedy: &str| PlanError::WrongPlace {
        line: node.line,
        key: node.key.clone(),
        remedy: remedy.into(),
    };
    if what != "power" {
        return Err(refused("only what = \"power\" has states of the load"));
    }
    let has_states = |load: &LoadPlan| {
        load.search.as_ref().is_some_and(|search| search.kind == SearchKind::States)
    };
    if !loads.iter().any(has_states) {
        return Err(refused(
            "no load has search = { kind = \"states\" }; write that, or leave it out",
        ));
    }
    let text = node.written("a state of the load in quotes")?;
    let share = match text {
        "idle" => 0.0,
        text => parse(text, Kind::Share).map_or(f64::NAN, |share| share.value),
    };
    let known = STATES.into_iter().find(|state| (state - share).abs() < 1e-9);
    let state = known.ok_or_else(|| outside(node, text, "idle, 25 %, 50 %, 75 % or 100 %"))?;
    Ok(Quantity::new(state, Unit::Share))
}

/// The name of a level, with its factor, or of a link.
fn level_or_link(node: &Node, things: &Things) -> Result<(Option<String>, String), PlanError> {
    let text = node.text_like("a level or a link in quotes")?;
    if let Some(found) = level(node, text, things.factors)? {
        return Ok((Some(found.factor), found.level));
    }
    let links = || things.lab.links.iter().map(|link| link.name.as_str());
    let machines = || things.machines.iter().copied();
    if links().chain(machines()).any(|known| known == text) {
        return Ok((None, text.into()));
    }
    let levels = things.factors.iter().flat_map(|f| &f.levels).map(|l| l.name.as_str());
    let what = if things.machines.is_empty() { "level or link" } else { "machine or link" };
    Err(unknown(node, (what, text), levels.chain(links()).chain(machines())))
}

/// The complaint that nothing has this name.
pub(super) fn unknown<'n>(
    node: &Node,
    (what, name): (&'static str, &str),
    known: impl Iterator<Item = &'n str>,
) -> PlanError {
    let known: std::collections::BTreeSet<&str> = known.collect();
    let known: Vec<&str> = known.into_iter().collect();
    let remedy = remedy(name, &known);
    PlanError::UnknownName { line: node.line, what, name: name.into(), remedy }
}

/// The level that a text names: by its name alone where one factor has it, else as `factor=level`.
/// None where there is none.
pub(super) fn level(
    node: &Node,
    text: &str,
    factors: &[FactorPlan],
) -> Result<Option<LevelName>, PlanError> {
    let all = || factors.iter().flat_map(|f| f.levels.iter().map(move |level| (f, level)));
    let written = |factor: &str, level: &str| format!("{factor}={level}");
    let bare: Vec<_> = all().filter(|(_, level)| level.name == text).collect();
    if bare.len() > 1 {
        let each = bare.iter().map(|(f, level)| format!("\"{}\"", written(&f.name, &level.name)));
        let candidates = each.collect::<Vec<_>>().join(" or ");
        return Err(PlanError::AmbiguousLevel { line: node.line, level: text.into(), candidates });
    }
    let full = || all().find(|(f, level)| written(&f.name, &level.name) == text);
    let found = bare.first().copied().or_else(full);
    Ok(found.map(|(f, level)| LevelName { factor: f.name.clone(), level: level.name.clone() }))
}

/// A text that must be there.
pub(super) fn said(
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
    if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == what) {
        return entered(node, *kind).map(Value::Quantity);
    }
    match text.chars().count() {
        1..=LONGEST => Ok(Value::Word(text.into())),
        _ => Err(outside(node, text, &format!("1 to {LONGEST} characters"))),
    }
}

/// A quantity of a kind; above 0, but for a temperature.
pub(super) fn entered(node: &Node, kind: Kind) -> Result<Quantity, PlanError> {
    let text = node.text_like("a value with its unit, in quotes")?.trim();
    let unit = |why| PlanError::Unit { line: node.line, key: node.key.clone(), why };
    let quantity = parse(text, kind).map_err(unit)?;
    match quantity.value > 0.0 || kind == Kind::Temperature {
        true => Ok(quantity),
        false => Err(outside(node, text, "a value above 0")),
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
