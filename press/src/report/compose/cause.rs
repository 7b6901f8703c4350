//! Knows how the limits of a run are said in a line: one for all cases, one under each condition
//! where a condition tells them apart, else how often each was seen.
//!
//! Never: which limit it was; the desk has that.

use super::limits::{kinds_of, named};
use super::names::level_name;
use super::ruling::count;
use super::{Part, Said, Writer};
use crate::claim::{setting_name, shown, subjects};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::unit::Quantity;
use desk::verdict::{Limit, LimitKind};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Conditions that a line names of a kind of limit; one kind may have more and stands elsewhere.
const NAMED: usize = 2;
/// Keys of conditions that are none of the plan's own.
const LEVEL: &str = "the level";
const LOAD: &str = "the load";
/// Kinds of limit that a line names; the others are counted together.
const OFTEN: usize = 2;
/// Points of a kind of limit that a line names.
const POINTS: usize = 3;

/// A limit with what it was found under: the level, then every other condition, by name.
struct Case<'a> {
    limit: &'a Limit,
    under: Vec<(String, String)>,
}

impl Case<'_> {
    /// The values of some of its conditions; nothing where it lacks one.
    fn name(&self, keys: &[&str]) -> Option<String> {
        let value = |key: &&str| self.under.iter().find(|(known, _)| known == key);
        let values: Option<Vec<&str>> =
            keys.iter().map(|key| value(key).map(|(_, name)| name.as_str())).collect();
        values.map(|values| values.join(" and "))
    }
}

/// A kind of limit with the names of what it was found under.
type Side = (Vec<LimitKind>, Vec<String>);

/// `all CPUs busy in every case`, or what was full under which condition; nothing if no limit was
/// looked for.
pub fn in_short(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Prose>, ReportError> {
    let all: Vec<Case<'_>> = parts.iter().flat_map(cases).collect();
    // A load that was set and carried had no limit to speak of.
    let is_set = |case: &Case<'_>| case.limit.kind == LimitKind::OfferedLoad;
    let met = all.iter().any(|case| !is_set(case));
    let scope = if met && all.iter().any(is_set) { "free" } else { "all" };
    let counted: Vec<Case<'_>> = all.into_iter().filter(|case| !met || !is_set(case)).collect();
    let Some(first) = counted.first() else { return Ok(None) };
    let kinds = kinds_of(first.limit);
    if counted.iter().all(|case| kinds_of(case.limit) == kinds) {
        let busy = counted.iter().map(|case| case.limit.evidence.centre);
        let most = busy.max_by(|a, b| a.value.total_cmp(&b.value));
        let args = Args::new().prose("limit", &told(writer, &kinds, most)?);
        return writer.say("limit-everywhere", args.name("scope", scope)).map(Some);
    }
    let keys: Vec<&str> = first.under.iter().map(|(key, _)| key.as_str()).collect();
    let alone = keys.iter().map(|key| vec![*key]);
    let pairs = (0..keys.len()).flat_map(|a| (a + 1..keys.len()).map(move |b| (a, b)));
    let pairs = pairs.map(|(a, b)| vec![keys[a], keys[b]]);
    let long = |(_, names): &&Side| names.len() > NAMED;
    let short = |sides: &Vec<Side>| sides.iter().filter(long).count() < 2;
    match alone.chain(pairs).filter_map(|keys| apart(&counted, &keys)).find(short) {
        Some(sides) => under(writer, &sides),
        None => often(writer, counted.iter().map(|case| (kinds_of(case.limit), None))),
    }
    .map(Some)
}

/// The limits of a part, each with the level and the conditions of its comparison.
fn cases<'a>(part: &Part<'a>) -> impl Iterator<Item = Case<'a>> + use<'a> {
    let (run, analysis) = (part.run, part.analysis);
    analysis.limits.iter().map(move |limit| {
        let Some(c) = analysis.comparisons.iter().find(|c| c.id == limit.comparison) else {
            return Case { limit, under: Vec::new() };
        };
        let level = level_name(&run.plan, &c.factor, &limit.level);
        let stratum = c.stratum.iter().map(|(key, level)| (key, level_name(&run.plan, key, level)));
        let fixed = c.fixed.iter().map(|(key, value)| (key, setting_name(key, &shown(value))));
        let load = (LOAD.to_owned(), subjects(run, c).load);
        let others = stratum.chain(fixed).map(|(key, name)| (key.clone(), name));
        let under = [(LEVEL.to_owned(), level)].into_iter().chain(others).chain([load]);
        Case { limit, under: under.collect() }
    })
}

/// The limits by the values of some conditions, if these have one kind of limit each.
fn apart(cases: &[Case<'_>], keys: &[&str]) -> Option<Vec<Side>> {
    let mut sides: Vec<Side> = Vec::new();
    for case in cases {
        let (name, kinds) = (case.name(keys)?, kinds_of(case.limit));
        if sides.iter().any(|(known, names)| *known != kinds && names.contains(&name)) {
            return None;
        }
        match sides.iter_mut().find(|(known, _)| *known == kinds) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => sides.push((kinds, vec![name])),
        }
    }
    Some(sides)
}

/// Every kind of limit with the conditions it was found under; the one that has many last.
fn under(writer: &Writer, sides: &[Side]) -> Said {
    let mut said = Vec::new();
    let mut elsewhere = None;
    for (kinds, names) in sides {
        let args = Args::new().prose("limit", &told(writer, kinds, None)?);
        match names.len() > NAMED {
            true => elsewhere = Some(writer.say("limit-elsewhere", args)?),
            false => said.push(writer.say("limit-under", args.name("names", &names.join(", ")))?),
        }
    }
    said.extend(elsewhere);
    Ok(Prose::join_with(&said, "; "))
}

/// The kinds that were seen most, with how often and at which points, where these are told, and the
/// others as a number.
pub(super) fn often(
    writer: &Writer,
    cases: impl Iterator<Item = (Vec<LimitKind>, Option<Prose>)>,
) -> Said {
    let mut seen: BTreeMap<Vec<LimitKind>, Vec<Option<Prose>>> = BTreeMap::new();
    for (kinds, at) in cases {
        seen.entry(kinds).or_default().push(at);
    }
    let of = count(seen.values().map(Vec::len).sum());
    let mut kinds: Vec<(Vec<LimitKind>, Vec<Option<Prose>>)> = seen.into_iter().collect();
    kinds.sort_by_key(|(_, at)| Reverse(at.len()));
    // Leaving out a single kind would save nothing.
    let most = if kinds.len() > OFTEN + 1 { OFTEN } else { kinds.len() };
    let counted = |times: usize| Args::new().count("seen", count(times)).count("of", of);
    let mut said = Vec::new();
    for (kinds, at) in &kinds[..most] {
        let args = counted(at.len()).prose("limit", &told(writer, kinds, None)?);
        let mut named: Vec<Prose> = at.iter().flatten().cloned().collect();
        // Leaving out a single point would save nothing.
        let more = if named.len() > POINTS + 1 { named.split_off(POINTS).len() } else { 0 };
        let args = args.prose("places", &Prose::join_with(&named, "; ")).count("more", count(more));
        said.push(match (named.is_empty(), more) {
            (true, _) => writer.say("limit-often", args)?,
            (false, 0) => writer.say("limit-often-at", args)?,
            (false, _) => writer.say("limit-often-more", args)?,
        });
    }
    let others: usize = kinds[most..].iter().map(|(_, at)| at.len()).sum();
    if others > 0 {
        said.push(writer.say("limit-others", counted(others))?);
    }
    Ok(Prose::join_with(&said, "; "))
}

/// The limit by name; where none was seen how busy the CPUs were, if that is to be said.
fn told(writer: &Writer, kinds: &[LimitKind], busy: Option<Quantity>) -> Said {
    let name = named(writer, kinds)?;
    let args = Args::new().prose("limit", &name);
    match (kinds, busy) {
        ([LimitKind::NoneSeen], Some(busy)) => {
            writer.say("limit-none-busy", args.quantity("most", busy))
        }
        ([LimitKind::NoneSeen], None) => writer.say("limit-none", args),
        _ => Ok(name),
    }
}
