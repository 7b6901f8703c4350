//! Knows where two levels lie furthest apart, in the unit of the metric and as a ratio.
//!
//! Never: a place where the difference is not sure.

use super::effect::{metric_title, plain_effect, short_effect};
use super::names::{level_name, pair};
use super::ruling::{condition_among, count, news, shown};
use super::{Said, Writer};
use crate::claim::Judged;
use crate::report::document::{Prose, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Better, FactorPlan, Run};
use desk::stats::Estimate;
use desk::verdict::{Comparison, PointResult, Verdict};
use std::collections::BTreeSet;

/// Up to this many levels of another factor get a sentence each.
const LEVELS: usize = 3;

/// The point at which a comparison is furthest from no difference, of those where it is sure.
fn widest<'c>(
    comparison: &'c Comparison,
    wanted: &impl Fn(&PointResult) -> bool,
) -> Option<&'c PointResult> {
    let sure =
        |p: &&PointResult| matches!(p.verdict, Verdict::Better | Verdict::Worse) && wanted(p);
    let sure = comparison.points.iter().filter(sure);
    sure.max_by(|a, b| a.ratio.distance().total_cmp(&b.ratio.distance()))
}

/// Of several comparisons the one with the widest such point.
fn widest_of<'a>(
    asked: &[Judged<'a>],
    wanted: impl Fn(&PointResult) -> bool,
) -> Option<(Judged<'a>, &'a PointResult)> {
    let found = asked.iter().filter_map(|judged| Some((*judged, widest(judged.1, &wanted)?)));
    found.max_by(|a, b| a.1.ratio.distance().total_cmp(&b.1.ratio.distance()))
}

/// Both figures where the two levels lie furthest apart, under each level of another factor where
/// these are few.
pub(super) fn sentences(
    writer: &Writer,
    run: &Run,
    asked: &[Judged<'_>],
) -> Result<Vec<Prose>, ReportError> {
    if let [judged] = asked
        && let ([point], None) = (judged.1.points.as_slice(), &judged.1.curve)
    {
        let args = figures(writer, *judged, point)?;
        let key = if point.has_two_answers() { "most-typical" } else { "most-plain" };
        return Ok(vec![writer.say(key, args)?]);
    }
    let levels: BTreeSet<&str> =
        asked.iter().flat_map(|(_, c)| [c.base.as_str(), &c.other]).collect();
    if levels.len() > 2 {
        return peaks(writer, run, asked).map(Vec::from_iter);
    }
    let mut said = Vec::new();
    for (level, group) in by_level(run, asked) {
        let Some((judged, point)) = widest_of(&group, |_| true) else { continue };
        said.push(sentence(writer, judged, (point, level))?);
        // Where the lead changes, the other side has its furthest point too.
        if let Some((judged, point)) = widest_of(&group, |p| p.verdict != point.verdict) {
            said.push(sentence(writer, judged, (point, level))?);
        }
    }
    Ok(said)
}

/// The best figure of each level at any point, where all comparisons are of one metric.
fn peaks(writer: &Writer, run: &Run, asked: &[Judged<'_>]) -> Result<Option<Prose>, ReportError> {
    let Some((_, first)) = asked.first() else { return Ok(None) };
    if asked.iter().any(|(_, c)| c.metric != first.metric) {
        return Ok(None);
    }
    let worth = |of: &Estimate| match first.better {
        Better::Higher => of.centre.value,
        Better::Lower => -of.centre.value,
    };
    let mut best: Vec<(&str, &Estimate)> = Vec::new();
    for (_, c) in asked {
        let sides = c.points.iter().flat_map(|p| [(&c.base, &p.base), (&c.other, &p.other)]);
        for (level, of) in sides {
            match best.iter_mut().find(|(known, _)| known == level) {
                Some((_, known)) if worth(known) >= worth(of) => {}
                Some((_, known)) => *known = of,
                None => best.push((level, of)),
            }
        }
    }
    let mut said = Vec::new();
    for (level, of) in best {
        let args = Args::new().name("level", &level_name(&run.plan, &first.factor, level));
        said.push(writer.say("most-peak", args.estimate("value", of))?);
    }
    let args = Args::new()
        .name("metric", metric_title(run, first))
        .prose("levels", &Prose::join_with(&said, ", "));
    writer.say("most-peaks", args).map(Some)
}

/// A level of another factor, with its factor; none where no other factor has few.
type Under<'f> = Option<(&'f str, &'f str)>;

/// The comparisons by the levels of the first other factor that has few.
pub(super) fn by_level<'r, 'a>(
    run: &'r Run,
    asked: &[Judged<'a>],
) -> Vec<(Under<'r>, Vec<Judged<'a>>)> {
    let compared = &run.plan.method.compare;
    let mut others = run.plan.factors.iter().filter(|factor| factor.name != *compared);
    let few = others.find(|f| (2..=LEVELS).contains(&f.levels.len()));
    let groups: Vec<_> = few.map_or_else(Vec::new, |f| {
        let named = |(level, group)| (Some((f.name.as_str(), level)), group);
        under(f, asked).into_iter().map(named).collect()
    });
    if groups.len() < 2 { vec![(None, asked.to_vec())] } else { groups }
}

/// `with mtu 1500 B`, where the comparisons were taken apart by a factor.
pub(super) fn said_under(run: &Run, level: Under<'_>) -> Option<String> {
    level.map(|(factor, level)| level_name(&run.plan, factor, level))
}

/// The comparisons under each level of a factor, in the order of the plan; a level without any is
/// left out.
pub(super) fn under<'f, 'a>(
    factor: &'f FactorPlan,
    asked: &[Judged<'a>],
) -> Vec<(&'f str, Vec<Judged<'a>>)> {
    let of = |level: &str| -> Vec<Judged<'a>> {
        let is = |c: &Comparison| c.stratum.get(&factor.name).is_some_and(|l| l == level);
        asked.iter().filter(|(_, c)| is(c)).copied().collect()
    };
    let all = factor.levels.iter().map(|level| (level.name.as_str(), of(&level.name)));
    all.filter(|(_, group)| !group.is_empty()).collect()
}

fn sentence(
    writer: &Writer,
    judged: Judged<'_>,
    (point, level): (&PointResult, Under<'_>),
) -> Said {
    let place = place(judged, point, (level.map(|(factor, _)| factor), &[judged]));
    let args = figures(writer, judged, point)?.prose("place", &place);
    match said_under(judged.0, level) {
        Some(level) => writer.say("most-said-under", args.name("level", &level)),
        None => writer.say("most-said", args),
    }
}

/// A point and the conditions of its comparison, without a factor that was named before; the load
/// where those beside it are of others.
fn place(
    (run, c): Judged<'_>,
    point: &PointResult,
    (named, among): (Option<&str>, &[Judged<'_>]),
) -> Prose {
    let mut stratum = c.stratum.clone();
    stratum.retain(|key, _| named != Some(key));
    let bare = Comparison { stratum, ..c.clone() };
    let at = point.at.as_ref().map(shown).unwrap_or_default();
    Prose::join_with(&[Prose::verbatim(&at), condition_among((run, &bare), among)], ", ")
}

/// Both figures of a point, and the ratio.
fn figures(
    writer: &Writer,
    (run, c): Judged<'_>,
    point: &PointResult,
) -> Result<Args, ReportError> {
    Ok(pair(run, c)
        .name("metric", metric_title(run, c))
        .off_centre("plain", point.other.centre, point.base.centre)
        .estimate("before", &point.base)
        .estimate("after", &point.other)
        .prose("effect", &short_effect(writer, &point.ratio)?))
}

/// `with plain ahead over all points in 3 of 3 comparisons, at most 3.94× (256 KiB, direction
/// transmit)`, without the interval.
pub(super) fn in_short(
    writer: &Writer,
    group: &[Judged<'_>],
    (factor, level): (&str, &str),
) -> Said {
    let (run, _) = group[0];
    let with = |tone: Tone| count(group.iter().filter(|(_, c)| news(c) == tone).count());
    let args = Args::new()
        .name("level", &level_name(&run.plan, factor, level))
        .name("worse", if with(Tone::Bad) == 0 { "never" } else { "some" })
        .count("ahead", with(Tone::Good))
        .count("behind", with(Tone::Bad))
        .count("count", count(group.len()));
    let tally = writer.say("others-tally", args)?;
    let Some((judged, point)) = widest_of(group, |_| true) else { return Ok(tally) };
    let place = place(judged, point, (Some(factor), group));
    let args = Args::new()
        .prose("tally", &tally)
        .prose("effect", &plain_effect(writer, &point.ratio)?)
        .prose("place", &place);
    let key = if place.text().is_empty() { "others-most" } else { "others-most-at" };
    let said = writer.say(key, args)?;
    let turned = |(_, c): &&Judged<'_>| widest(c, &|p| p.verdict != point.verdict).is_some();
    let turned = count(group.iter().filter(turned).count());
    if turned == 0 {
        return Ok(said);
    }
    writer.say("others-turned", Args::new().prose("said", &said).count("turned", turned))
}
