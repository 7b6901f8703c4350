//! Knows how advice is said: a line a kind of reader, comparisons that agree taken together.

use super::effect::{plain_effect, short_effect};
use super::ruling::count;
use super::say::{args, within};
use super::{Part, Said, Writer};
use crate::claim::{Claim, Kind, of_advice};
use crate::report::document::{Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::Reader;

/// The kinds of reader, in the order in which they are addressed.
const READERS: [Reader; 3] = [Reader::PeakThroughput, Reader::Latency, Reader::OtherWork];

/// Advice that says the same for a kind of reader.
type Group = Vec<Claim>;

/// How a group of advice is put into words.
type Say = fn(&Writer, &Group) -> Said;

/// More conditions than these are not listed.
const LISTED: usize = 2;

/// What every group of advice for a reader says, in the words of `say`, in the frame of the key;
/// nothing without advice.
fn told(
    writer: &Writer,
    part: &Part<'_>,
    (reader, say, key): (Reader, Say, &str),
) -> Result<Option<Prose>, ReportError> {
    let mut groups = grouped(part, reader);
    // The exceptions come first, then what holds wherever they do not.
    let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
    groups.sort_by_key(|g| g.len() == largest && largest > LISTED);
    let mut said = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let rest = at + 1 == groups.len() && group.len() > LISTED;
        let condition = match groups.len() {
            1 => Prose::default(),
            _ => conditions(writer, group, rest)?,
        };
        let sentence = within(writer, key, &condition, say(writer, group)?)?;
        // Why there is no advice may be the same for several pairs of levels.
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    Ok((!said.is_empty()).then(|| Prose::join_with(&said, "; ")))
}

/// A ruling a kind of reader; nothing where no advice was given.
pub(super) fn rulings(writer: &Writer, part: &Part<'_>) -> Result<Vec<Ruling>, ReportError> {
    let mut rulings = Vec::new();
    for reader in READERS {
        let Some(said) = told(writer, part, (reader, whole, "advice-under"))? else { continue };
        let sentence = writer.say("advice-whole", Args::new().prose("said", &said))?;
        let label = writer.pick("reader-*", &reader, Args::new())?;
        rulings.push(Ruling { tone: Tone::Plain, label, sentence });
    }
    Ok(rulings)
}

/// The same in a line each, for a card of one run.
pub fn short(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut lines = Vec::new();
    let [part] = parts else { return Ok(lines) };
    for reader in READERS {
        let said = told(writer, part, (reader, in_short, "advice-short-under"))?;
        let Some(said) = said else { continue };
        let label = writer.pick("reader-*", &reader, Args::new())?;
        let args = Args::new().prose("reader", &label).prose("choice", &said);
        lines.push(writer.say("card-advice", args)?);
    }
    Ok(lines)
}

/// The advice of a part for a reader; what says the same about the same two levels is together.
fn grouped(part: &Part<'_>, reader: Reader) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for advice in part.analysis.advice.iter().filter(|a| a.reader == reader) {
        let mut comparisons = part.analysis.comparisons.iter();
        let of = comparisons.find(|c| c.id == advice.comparison && !c.aa);
        let Some(claim) = of.map(|c| of_advice((part.run, c), advice)) else { continue };
        match groups.iter_mut().find(|g| agree(&g[0], &claim)) {
            Some(group) => group.push(claim),
            None => groups.push(vec![claim]),
        }
    }
    groups
}

fn agree(a: &Claim, b: &Claim) -> bool {
    let why = |claim: &Claim| claim.evidence.withheld.as_ref().map(std::mem::discriminant);
    (a.kind, why(a), &a.subjects.metric, &a.subjects.levels)
        == (b.kind, why(b), &b.subjects.metric, &b.subjects.levels)
}

/// Under what the advice of a group holds, wherever the others do not if it is the rest; empty
/// where there is nothing to tell apart.
fn conditions(writer: &Writer, group: &Group, rest: bool) -> Said {
    let said: Vec<Prose> =
        group.iter().map(|claim| Prose::verbatim(&claim.subjects.short_condition())).collect();
    if said.iter().all(|condition| condition.text().is_empty()) {
        return Ok(Prose::default());
    }
    match said.as_slice() {
        all if rest => writer.say("advice-rest", Args::new().count("count", count(all.len()))),
        [first, second] => {
            writer.say("advice-both", Args::new().prose("first", first).prose("second", second))
        }
        [first, others @ ..] if others.len() >= LISTED => {
            let args = Args::new().prose("first", first).count("more", count(others.len()));
            writer.say("advice-first", args)
        }
        all => Ok(Prose::join_with(all, ", ")),
    }
}

/// With the effect, or from the closest to the widest where there are several.
fn whole(writer: &Writer, group: &Group) -> Said {
    let mut all: Vec<_> = group.iter().filter_map(|claim| claim.estimates.first()).collect();
    all.sort_by(|a, b| a.distance().total_cmp(&b.distance()));
    let effects = match all.as_slice() {
        [only] => short_effect(writer, only)?,
        [closest, .., widest] => {
            let args = Args::new()
                .prose("closest", &plain_effect(writer, closest)?)
                .prose("widest", &plain_effect(writer, widest)?);
            writer.say("advice-effects", args)?
        }
        [] => Prose::default(),
    };
    let args = args(writer, &group[0])?.prose("effect", &effects);
    writer.pick("advice-take-*", &group[0].kind, args)
}

fn in_short(writer: &Writer, group: &Group) -> Said {
    let claim = &group[0];
    match claim.kind {
        Kind::Better => Ok(Prose::verbatim(claim.pair()[1])),
        Kind::Worse => Ok(Prose::verbatim(claim.pair()[0])),
        kind => writer.pick("advice-short-*", &kind, args(writer, claim)?),
    }
}
