//! Knows the answer that stands before everything else: the headline and a line a comparison.

use super::effect::{effect, metric_title};
use super::figures::row_name;
use super::ruling::count;
use super::say::{sentence, tally, tone, within};
use super::{Part, Writer, brief, dependence, doubts, measured, tune};
use crate::claim::{Claim, Judged, Kind, answers, asked, decisive, primary, same, together};
use crate::claim::{answering, grouped};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::LEVEL;
use desk::unit::{Quantity, Unit};
use desk::verdict::{Verdict, certain_alone};

/// How many doubts the verdict box repeats.
const BOX_DOUBTS: usize = 3;

/// The answer, first of all: who, where, at what cost, by what cause, and what is in doubt.
pub(super) fn verdict_box(writer: &Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let asked = decisive(parts);
    let (tone, headline) = headline(writer, parts, &asked)?;
    let mut rulings = match parts {
        [only] => brief::lines(writer, only, &asked)?,
        _ => of_parts(writer, &tune::besides(parts, &asked), &headline)?,
    };
    match tune::is_asked(parts) {
        true => drop(rulings.splice(..0, tune::rulings(writer, parts)?)),
        false => rulings.extend(measured::rulings(writer, parts)?),
    }
    let mut limits = limits(writer, parts)?;
    let rest = primary(parts, &asked).map(|(_, rest)| rest);
    if let Some(rest) = rest.as_deref().filter(|rest| !rest.is_empty()) {
        rulings.insert(0, besides(writer, rest)?);
    }
    let (open, of, key) = unsure(parts, &asked, rest.as_deref());
    if open > 0 {
        let args = Args::new().count("count", open).count("of", of);
        limits.insert(0, writer.say(key, args)?);
    }
    limits.extend(barred(writer, parts)?);
    let caution = match limits.is_empty() {
        true => Prose::default(),
        false => writer.label("box-not-decided")?,
    };
    Ok(Node::VerdictBox { tone, headline, rulings, caution, limits })
}

/// What answers the question, in a sentence, and its look.
fn headline(
    writer: &Writer,
    parts: &[Part<'_>],
    asked: &[Judged<'_>],
) -> Result<(Tone, Prose), ReportError> {
    if let Some(answer) = tune::headline(writer, parts)? {
        return Ok(answer);
    }
    if let Some(answer) = dependence::headline(writer, parts)? {
        return Ok(answer);
    }
    let all = answers(parts);
    let Some(claim) = all.first() else { return of_nothing(writer, parts) };
    let said = sentence(writer, claim)?;
    let under = |load| Prose::verbatim(&claim.subjects.condition(load));
    let said = match (primary(parts, asked), all.len()) {
        (Some(_), _) => {
            let bare = under(true).text().is_empty();
            let args = Args::new().prose("sentence", &said).prose("condition", &under(true));
            writer.say(if bare { "headline-primary" } else { "headline-primary-under" }, args)?
        }
        (None, 1) => said,
        // One of several pairs of levels, which its own sentence does not tell from the others.
        (None, _) => within(writer, "headline-under", &under(true), said)?,
    };
    Ok((tone(claim), said))
}

/// How many differences are certain by themselves but not among all that the headline rests on,
/// how many these are, and the message that says so.
fn unsure(
    parts: &[Part<'_>],
    asked: &[Judged<'_>],
    rest: Option<&[Judged<'_>]>,
) -> (u32, u32, &'static str) {
    if let Some(rest) = rest {
        return (certain_alone(rest), count(rest.len()), "besides-not-among");
    }
    let order = parts.first().filter(|_| parts.len() == 1).and_then(|p| answering(p, asked));
    let (open, of) = match order {
        Some(order) => {
            let under = |(_, c): &&Judged<'_>| order.load.is_some() && order.over.contains(&c.id);
            let under: Vec<Judged<'_>> = asked.iter().filter(under).copied().collect();
            (certain_alone(&under), count(order.pairs.len()))
        }
        None if tune::is_asked(parts) => (0, 0),
        None => (certain_alone(asked), count(asked.len())),
    };
    (open, of, "headline-not-among")
}

/// How the comparisons besides the primary one came out among themselves.
fn besides(writer: &Writer, rest: &[Judged<'_>]) -> Result<Ruling, ReportError> {
    let mut told = Vec::new();
    for (run, c) in rest {
        told.push((Kind::of_whole(c).coarse(), row_name(writer, run, c)?));
    }
    let args = Args::new()
        .count("count", count(rest.len()))
        .quantity("alpha", Quantity::new(1.0 - LEVEL, Unit::Share))
        .prose("tally", &tally(writer, &told)?);
    let sentence = writer.say("box-besides-said", args)?;
    Ok(Ruling { tone: Tone::Plain, label: writer.label("box-besides")?, sentence })
}

/// How many comparisons have no verdict, because their sides were not made by the same or the load
/// generator has no headroom, where others have one; nothing where none or all are such.
fn barred(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let all = asked(parts);
    let mut said = Vec::new();
    for (verdict, key) in
        [(Verdict::NotComparable, "headline-unlike"), (Verdict::NoHeadroom, "headline-no-headroom")]
    {
        let some = all.iter().filter(|(_, c)| c.verdict == verdict).count();
        if some > 0 && some < all.len() {
            let args = Args::new().count("count", count(some)).count("of", count(all.len()));
            said.push(writer.say(key, args)?);
        }
    }
    Ok(said)
}

/// The heaviest doubts in short, then the noise floor; their chapter has evidence and remedy.
fn limits(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut limits = Vec::from_iter(measured::inside(writer, parts)?);
    limits.extend(doubts::heaviest_in_short(writer, parts, BOX_DOUBTS)?);
    for (run, same) in same(parts) {
        let args = Args::new().name("metric", metric_title(run, same));
        let args = args.prose("effect", &effect(writer, &same.overall)?);
        limits.push(writer.say("survey-noise", args)?);
    }
    Ok(limits)
}

/// A line a part of a survey; what the headline says is not said twice.
fn of_parts(
    writer: &Writer,
    asked: &[Judged<'_>],
    headline: &Prose,
) -> Result<Vec<Ruling>, ReportError> {
    let claims: Vec<Claim> = grouped(asked).iter().filter_map(|group| together(group)).collect();
    let mut rulings = Vec::new();
    for claim in &claims {
        let sentence = sentence(writer, claim)?;
        let label = Prose::verbatim(&claim.subjects.plan);
        if sentence != *headline {
            rulings.push(Ruling { tone: tone(claim), label, sentence });
        }
    }
    Ok(rulings)
}

/// The answer where no two levels were compared: the noise floor, or what was measured.
fn of_nothing(writer: &Writer, parts: &[Part<'_>]) -> Result<(Tone, Prose), ReportError> {
    let noise = same(parts);
    if (parts.len() > 1 || noise.is_empty())
        && let Some(answer) = measured::headline(writer, parts)?
    {
        return Ok(answer);
    }
    let said = match noise.first() {
        Some((run, c)) => {
            let args = Args::new().name("metric", metric_title(run, c));
            writer.say("headline-noise", args.prose("effect", &effect(writer, &c.overall)?))?
        }
        None => writer.label("headline-none")?,
    };
    Ok((Tone::Open, said))
}
