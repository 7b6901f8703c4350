//! Knows how the answer is said where the plan names a primary comparison: that one by itself, the
//! others together.

use super::answer::{Judged, tally};
use super::figures::row_name;
use super::ruling::{condition, count, news};
use super::{Part, Said, Writer, lead};
use crate::report::document::{Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::LEVEL;
use desk::unit::{Quantity, Unit};
use desk::verdict::certain_alone;

/// Up to this many of the others are named.
const NAMED: usize = 6;

/// The primary comparison and the others, if the plan of the only part names one that was judged.
pub(super) fn parted<'a>(
    parts: &[Part<'a>],
    asked: &[Judged<'a>],
) -> Option<(Judged<'a>, Vec<Judged<'a>>)> {
    let [part] = parts else { return None };
    part.run.plan.method.primary_comparison.as_ref()?;
    let name = part.analysis.primary.as_ref()?;
    let (one, rest): (Vec<_>, Vec<_>) = asked.iter().partition(|(_, c)| c.id == *name);
    Some((*one.first()?, rest))
}

/// Its verdict as the headline.
pub(super) fn headline(
    writer: &Writer,
    (run, c): Judged<'_>,
) -> Result<(Tone, Prose), ReportError> {
    let (tone, sentence) = lead::of_one(writer, (run, c))?;
    let condition = condition(writer, run, c)?;
    let args = Args::new().prose("sentence", &sentence);
    let said = match condition.text().is_empty() {
        true => writer.say("headline-primary", args)?,
        false => writer.say("headline-primary-under", args.prose("condition", &condition))?,
    };
    Ok((tone, said))
}

/// How the others came out among themselves, and how many differences are certain by themselves
/// only.
pub(super) fn besides(
    writer: &Writer,
    rest: &[Judged<'_>],
) -> Result<Option<(Ruling, u32)>, ReportError> {
    if rest.is_empty() {
        return Ok(None);
    }
    let mut said = vec![tally(writer, rest, false)?];
    if rest.len() <= NAMED {
        said = vec![Prose::join_with(&named(writer, rest)?, ", ")];
    }
    let args = Args::new()
        .count("count", count(rest.len()))
        .quantity("alpha", Quantity::new(1.0 - LEVEL, Unit::Share))
        .prose("tally", &Prose::join(&said));
    let sentence = writer.say("box-besides-said", args)?;
    let label = writer.label("box-besides")?;
    Ok(Some((Ruling { tone: Tone::Plain, label, sentence }, certain_alone(rest))))
}

/// Each outcome with the comparisons that have it.
fn named(writer: &Writer, told: &[Judged<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for (tone, key) in [
        (Tone::Good, "tally-better"),
        (Tone::Bad, "tally-worse"),
        (Tone::Even, "tally-even"),
        (Tone::Open, "tally-open"),
    ] {
        let of = told.iter().filter(|(_, c)| news(c) == tone);
        let names = of.map(|(run, c)| row_name(writer, run, c)).collect::<Result<Vec<_>, _>>()?;
        if !names.is_empty() {
            said.push(one(writer, key, &names)?);
        }
    }
    Ok(said)
}

fn one(writer: &Writer, key: &str, names: &[Prose]) -> Said {
    let tally = writer.say(key, Args::new().count("count", count(names.len())))?;
    let args = Args::new().prose("tally", &tally).prose("names", &Prose::join_with(names, "; "));
    writer.say("tally-named", args)
}
