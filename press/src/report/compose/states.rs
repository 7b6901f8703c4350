//! Knows how it is said that a level has two states, or that the clients were at their limit.

use super::figures::{Hollow, row_name};
use super::names::{key_words, level_name, pair};
use super::places::{at, places};
use super::ruling::{count, shown};
use super::{Part, Said, Writer};
use crate::report::document::{Column, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Run, Value};
use desk::stats::Estimate;
use desk::verdict::{
    Comparison, GeneratorBound, IdentityKey, State, TwoStates, UnlikeIdentity, Verdict,
};

/// Up to this many places with two states are told in sentences; a table has all.
const TOLD: usize = 2;

/// The places of a comparison where a level has two states.
pub(super) fn two_states<'a>(part: &Part<'a>, comparison: &Comparison) -> Vec<&'a TwoStates> {
    part.analysis.two_states.iter().filter(|s| s.comparison == comparison.id).collect()
}

/// The places of a comparison where the clients were the limit.
pub(super) fn bound<'a>(part: &Part<'a>, comparison: &Comparison) -> Vec<&'a GeneratorBound> {
    part.analysis.generator_bound.iter().filter(|b| b.comparison == comparison.id).collect()
}

/// Whether the clients were the limit of a level at a point.
pub(super) fn is_bound(
    part: &Part<'_>,
    comparison: &Comparison,
    (level, place): (&str, Option<&Value>),
) -> bool {
    bound(part, comparison).iter().any(|b| b.level == level && b.at.as_ref() == place)
}

/// Why a figure of a level at a point is not one figure of the system under test, if it is not.
pub(super) fn hollow(
    part: &Part<'_>,
    comparison: &Comparison,
    (level, place): (&str, Option<&Value>),
) -> Option<Hollow> {
    if comparison.verdict == Verdict::Emulated {
        return Some(Hollow::Emulated);
    }
    let states = two_states(part, comparison);
    if states.iter().any(|s| s.level == level && s.at.as_ref() == place) {
        return Some(Hollow::States);
    }
    let mut points = comparison.points.iter();
    if points.any(|p| p.at.as_ref() == place && p.verdict == Verdict::NoHeadroom) {
        return Some(Hollow::Headroom);
    }
    if is_bound(part, comparison, (level, place)) {
        return Some(Hollow::Clients);
    }
    let unlike = part.analysis.unlike.iter().filter(|u| u.comparison == comparison.id);
    unlike.map(|u| u.at.as_ref()).any(|at| at == place).then_some(Hollow::Unlike)
}

/// In what the sides of a comparison were not made by the same: a sentence a key and its two
/// values, with the places where it is so.
pub(super) fn unlike(
    writer: &Writer,
    run: &Run,
    (comparison, all): (&Comparison, &[UnlikeIdentity]),
) -> Result<Vec<Prose>, ReportError> {
    let mut keys: Vec<(&IdentityKey, Vec<Option<Value>>)> = Vec::new();
    for point in all.iter().filter(|u| u.comparison == comparison.id) {
        for key in &point.keys {
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(point.at.clone()),
                None => keys.push((key, vec![point.at.clone()])),
            }
        }
    }
    let mut said = Vec::new();
    for (key, chosen) in keys {
        let everywhere = chosen.len() == comparison.points.len();
        let place = match chosen.first() {
            Some(Some(_)) if !everywhere => {
                let places = places(writer, comparison, &chosen)?;
                writer.say("place-at-several", Args::new().prose("places", &places))?
            }
            _ => Prose::default(),
        };
        let args = pair(run, comparison)
            .prose("at", &place)
            .name("key", &key_words(&key.key))
            .name("first", &key.base)
            .name("second", &key.other);
        said.push(writer.say("unlike-key", args)?);
    }
    Ok(said)
}

/// Sentences on two states, and on sides that were not made by the same.
pub(super) fn sentences(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    let mut states = two_states(part, comparison);
    states.sort_by(|a, b| spread(b).total_cmp(&spread(a)));
    for told in states.iter().take(TOLD) {
        let level = level_name(&part.run.plan, &comparison.factor, &told.level);
        let args = Args::new()
            .name("level", &level)
            .prose("at", &at(writer, told.at.as_ref())?)
            .prose("slow", &state(writer, &told.slow)?)
            .prose("fast", &state(writer, &told.fast)?);
        said.push(writer.say("states-sentence", args)?);
    }
    if states.len() > TOLD {
        let more = Args::new().count("count", count(states.len() - TOLD));
        said.push(writer.say("states-more", more)?);
    }
    said.extend(unlike(writer, part.run, (comparison, &part.analysis.unlike))?);
    Ok(said)
}

/// How far apart the states are, as a ratio.
fn spread(states: &TwoStates) -> f64 {
    states.fast.rate.centre.value / states.slow.rate.centre.value
}

fn state(writer: &Writer, state: &State) -> Said {
    let args = Args::new().estimate("rate", &state.rate).count("trials", state.trials);
    match &state.segment {
        Some(segment) => writer.say("state-segment", args.estimate("segment", segment)),
        None => writer.say("state-plain", args),
    }
}

/// A sentence a level and sign of the clients' limit, with its points together; they explain the
/// sign that a table has there.
fn bound_notes(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let mut groups: Vec<Vec<&GeneratorBound>> = Vec::new();
    for one in bound(part, comparison) {
        let alike =
            |g: &&mut Vec<&GeneratorBound>| (&g[0].level, g[0].sign) == (&one.level, one.sign);
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let mut said = Vec::new();
    for group in &groups {
        let first = group[0];
        let chosen: Vec<Option<Value>> = group.iter().map(|b| b.at.clone()).collect();
        let places = match first.at {
            Some(_) => {
                let places = places(writer, comparison, &chosen)?;
                writer.say("place-at-several", Args::new().prose("places", &places))?
            }
            None => Prose::default(),
        };
        let level = level_name(&part.run.plan, &comparison.factor, &first.level);
        let args =
            Args::new().name("level", &level).prose("at", &places).prose("share", &shares(group));
        said.push(writer.pick("generator-*", &first.sign, args)?);
    }
    Ok(said)
}

/// The notes of several comparisons, each with its name where there is more than one.
pub(super) fn all_bound_notes(
    writer: &Writer,
    part: &Part<'_>,
    comparisons: &[&Comparison],
) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for comparison in comparisons {
        let mut notes = bound_notes(writer, part, comparison)?;
        if comparisons.len() > 1 && !notes.is_empty() {
            let name = row_name(writer, part.run, comparison)?;
            notes.insert(0, writer.say("cost-named", Args::new().prose("name", &name))?);
            notes = vec![Prose::join(&notes)];
        }
        said.extend(notes);
    }
    Ok(said)
}

/// The share that shows the limit, or from the least to the largest of them.
fn shares(group: &[&GeneratorBound]) -> Prose {
    let by = |a: &&Estimate, b: &&Estimate| a.centre.value.total_cmp(&b.centre.value);
    let low = group.iter().map(|b| &b.evidence).min_by(by);
    let high = group.iter().map(|b| &b.evidence).max_by(by);
    match (low, high) {
        (Some(low), Some(high)) if low.centre.to_string() != high.centre.to_string() => {
            Prose::range(low, high)
        }
        (Some(only), _) => Prose::estimate(only),
        _ => Prose::default(),
    }
}

/// A row a level and point that has two states; nothing where there is none.
pub(super) fn table(
    writer: &mut Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Option<Table>, ReportError> {
    let states = two_states(part, comparison);
    if states.is_empty() {
        return Ok(None);
    }
    let first = comparison.curve.as_deref().map(key_words).unwrap_or_default();
    let mut columns = vec![
        Column { title: Prose::verbatim(&first), numeric: false },
        Column { title: writer.label("limits-level")?, numeric: false },
    ];
    for key in ["states-slow", "states-fast"] {
        let titles = [(key, true), ("states-segment", true), ("states-trials", true)];
        columns.extend(writer.columns(&titles)?);
    }
    if comparison.curve.is_none() {
        columns.remove(0);
    }
    let mut rows = Vec::new();
    for one in states {
        let level = level_name(&part.run.plan, &comparison.factor, &one.level);
        let place = one.at.as_ref().map(|at| Prose::verbatim(&shown(at)));
        let mut row: Vec<Prose> = place.into_iter().collect();
        row.push(Prose::verbatim(&level));
        for state in [&one.slow, &one.fast] {
            let segment = state.segment.as_ref().map(Prose::estimate);
            row.push(Prose::estimate(&state.rate));
            row.push(segment.unwrap_or_else(Prose::none));
            row.push(Prose::count(state.trials as usize));
        }
        row.resize(columns.len(), Prose::none());
        rows.push(row);
    }
    let caption = writer.label("states-caption")?;
    writer.table(&caption, columns, rows).map(Some)
}
