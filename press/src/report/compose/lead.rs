//! Knows the headline of one question: the answer as a whole, and where along a curve it is not so.

use super::answer::{Judged, tally};
use super::effect::{metric_title, short_effect};
use super::names::pair;
use super::ruling::{condition_among, count, news, shown, verdict_sentence};
use super::{Said, Writer};
use crate::report::document::{Prose, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::{Comparison, Region, Verdict, is_beyond, is_inside};

/// One comparison: its verdict, and where along the curve the other side is ahead.
pub(super) fn of_one(
    writer: &Writer,
    (run, comparison): Judged<'_>,
) -> Result<(Tone, Prose), ReportError> {
    let tone = news(comparison);
    let sentence = verdict_sentence(writer, run, comparison)?;
    let Some(but) = exceptions(writer, &[(run, comparison)])? else { return Ok((tone, sentence)) };
    let args = pair(run, comparison)
        .name("metric", metric_title(run, comparison))
        .prose("effect", &super::effect::effect(writer, &comparison.overall)?)
        .prose("but", &but);
    let said = match comparison.verdict {
        _ if is_inside(comparison) => writer.say("headline-equivalent-but", args)?,
        Verdict::Better => writer.say("headline-better-but", args)?,
        Verdict::Worse => writer.say("headline-worse-but", args)?,
        Verdict::Equivalent => writer.say("headline-equivalent-but", args)?,
        Verdict::Undecided { .. } => {
            let blocks = comparison.overall.n;
            writer.say("headline-undecided-but", args.count("blocks", blocks))?
        }
        Verdict::TwoStates | Verdict::NotComparable => sentence,
    };
    Ok((tone, said))
}

/// The same two levels under several conditions, all with one outcome; nothing if they differ.
pub(super) fn of_one_question(
    writer: &Writer,
    asked: &[Judged<'_>],
) -> Result<Option<(Tone, Prose)>, ReportError> {
    let (run, first) = asked[0];
    let outcome = news(first);
    if asked.iter().any(|(_, c)| news(c) != outcome) {
        return Ok(None);
    }
    let but = exceptions(writer, asked)?;
    let key = match (outcome, but.is_some()) {
        (Tone::Good, false) => "headline-all-better",
        (Tone::Good, true) => "headline-all-better-but",
        (Tone::Bad, false) => "headline-all-worse",
        (Tone::Bad, true) => "headline-all-worse-but",
        (Tone::Even, false) => "headline-all-equivalent",
        (Tone::Even, true) => "headline-all-equivalent-but",
        (Tone::Open | Tone::Plain, _) => return Ok(None),
    };
    let [closest, widest] = extremes(asked);
    let mut args = pair(run, first)
        .prose("scope", &scope(writer, asked.len())?)
        .name("metric", metric_title(run, first))
        .prose("least", &short_effect(writer, &closest.overall)?)
        .prose("most", &short_effect(writer, &widest.overall)?);
    if let Some(but) = &but {
        args = args.prose("but", but);
    }
    Ok(Some((outcome, writer.say(key, args)?)))
}

/// The same two levels, one of them ahead under some conditions and behind under none.
pub(super) fn of_most(
    writer: &Writer,
    asked: &[Judged<'_>],
) -> Result<Option<(Tone, Prose)>, ReportError> {
    let with = |tones: &[Tone]| -> Vec<Judged<'_>> {
        asked.iter().filter(|(_, c)| tones.contains(&news(c))).copied().collect()
    };
    let (good, bad) = (with(&[Tone::Good]), with(&[Tone::Bad]));
    let (outcome, key, ahead) = match (good.len(), bad.len()) {
        (1.., 0) => (Tone::Good, "headline-most-better", good),
        (0, 1..) => (Tone::Bad, "headline-most-worse", bad),
        _ => return Ok(None),
    };
    let [closest, widest] = extremes(&ahead);
    let rest = tally(writer, &with(&[Tone::Even, Tone::Open]), false)?;
    let (run, first) = asked[0];
    let args = pair(run, first)
        .count("won", count(ahead.len()))
        .count("count", count(asked.len()))
        .name("metric", metric_title(run, first))
        .prose("effects", &super::effect::effects(writer, [&closest.overall, &widest.overall])?)
        .prose("rest", &rest);
    let outcome = if 2 * ahead.len() > asked.len() { outcome } else { Tone::Plain };
    Ok(Some((outcome, writer.say(key, args)?)))
}

/// The comparisons with the smallest and with the largest effect.
fn extremes<'a>(asked: &[Judged<'a>]) -> [&'a Comparison; 2] {
    let mut ordered: Vec<&Comparison> = asked.iter().map(|(_, c)| *c).collect();
    ordered.sort_by(|a, b| a.overall.distance().total_cmp(&b.overall.distance()));
    [ordered[0], ordered[ordered.len() - 1]]
}

/// `both comparisons`, `all 3 comparisons`.
fn scope(writer: &Writer, comparisons: usize) -> Said {
    match comparisons {
        2 => writer.label("scope-both"),
        several => writer.say("scope-all", Args::new().count("count", count(several))),
    }
}

/// Where the outcome as a whole does not hold: `behind at 16 KiB with direction both`; nothing
/// where it holds along every curve.
fn exceptions(writer: &Writer, asked: &[Judged<'_>]) -> Result<Option<Prose>, ReportError> {
    let mut said = Vec::new();
    for (ahead, key) in [(true, "but-ahead"), (false, "but-behind")] {
        let mut places = Vec::new();
        for judged in asked {
            let usual = match judged.1.verdict {
                _ if is_inside(judged.1) => None,
                Verdict::Better => Some(true),
                Verdict::Worse => Some(false),
                _ => None,
            };
            if usual != Some(ahead) {
                places.extend(stretches(writer, *judged, ahead, asked)?);
            }
        }
        if !places.is_empty() {
            let places = Prose::join_with(&places, "; ");
            said.push(writer.say(key, Args::new().prose("places", &places))?);
        }
    }
    Ok((!said.is_empty()).then(|| Prose::join_with(&said, ", ")))
}

/// The regions of a comparison where the other level is ahead, or where it is behind; its condition
/// is named where it is one of several.
pub(super) fn stretches(
    writer: &Writer,
    (run, comparison): Judged<'_>,
    ahead: bool,
    among: &[Judged<'_>],
) -> Result<Option<Prose>, ReportError> {
    let mut said = Vec::new();
    let matters = |r: &&Region| r.other_ahead == ahead && is_beyond(r, comparison.margin.value);
    for region in comparison.regions.iter().filter(matters) {
        let args = Args::new().name("from", &shown(&region.from)).name("to", &shown(&region.to));
        said.push(match region.from == region.to {
            true => writer.say("but-at", args)?,
            false => writer.say("but-from", args)?,
        });
    }
    if said.is_empty() {
        return Ok(None);
    }
    let places = Prose::join_with(&said, ", ");
    let condition = condition_among(writer, (run, comparison), among)?;
    if among.len() < 2 || condition.text().is_empty() {
        return Ok(Some(places));
    }
    let args = Args::new().prose("places", &places).prose("condition", &condition);
    writer.say("but-under", args).map(Some)
}
