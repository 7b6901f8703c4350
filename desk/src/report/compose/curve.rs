//! Knows how a curve is explained: who is ahead where, where nobody is, from where on it is flat.

use super::effect::effect;
use super::ruling::shown;
use super::{Said, Writer};
use crate::record::{Better, Value};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::unit::{Quantity, Unit};
use crate::verdict::{Comparison, PointResult, Region, Verdict};

/// A curve is called flat from the first point within this share of its maximum.
const KNEE: Quantity = Quantity::new(0.05, Unit::Share);

/// The explanation, a sentence a stretch and one a level.
pub(super) fn sentences(
    writer: &Writer,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for region in &comparison.regions {
        said.push(ahead(writer, comparison, region)?);
    }
    for (even, from, to) in level_stretches(comparison) {
        said.push(not_apart(writer, even, (from, to))?);
    }
    if comparison.better == Better::Higher {
        let pick: [(&str, fn(&PointResult) -> &Estimate); 2] =
            [(&comparison.base, |p| &p.base), (&comparison.other, |p| &p.other)];
        for (level, estimate) in pick {
            let course: Vec<(&Value, &Estimate)> = comparison
                .points
                .iter()
                .filter_map(|p| Some((p.at.as_ref()?, estimate(p))))
                .collect();
            said.extend(knee(writer, level, &course)?);
        }
    }
    Ok(said)
}

fn ahead(writer: &Writer, comparison: &Comparison, region: &Region) -> Said {
    let leader = if region.other_ahead { &comparison.other } else { &comparison.base };
    let args = Args::new()
        .name("leader", leader)
        .name("from", &shown(&region.from))
        .prose("least", &effect(writer, &region.least)?);
    if region.from == region.to {
        return writer.say("region-ahead-point", args);
    }
    let args = args.name("to", &shown(&region.to)).prose("most", &effect(writer, &region.most)?);
    writer.say("region-ahead", args)
}

/// Stretches outside every region: equal within the margin (true), or merely not told apart.
fn level_stretches(comparison: &Comparison) -> Vec<(bool, &Value, &Value)> {
    let mut stretches: Vec<(bool, &Value, &Value)> = Vec::new();
    let mut joined = false;
    for point in &comparison.points {
        let even = match point.verdict {
            Verdict::Equivalent => true,
            Verdict::Undecided { .. } => false,
            Verdict::Better | Verdict::Worse => {
                joined = false;
                continue;
            }
        };
        let Some(at) = point.at.as_ref() else { continue };
        match stretches.last_mut() {
            Some(last) if joined && last.0 == even => last.2 = at,
            _ => stretches.push((even, at, at)),
        }
        joined = true;
    }
    stretches
}

fn not_apart(writer: &Writer, even: bool, (from, to): (&Value, &Value)) -> Said {
    let args = Args::new().name("from", &shown(from)).name("to", &shown(to));
    writer.say(
        match (even, from == to) {
            (true, false) => "region-even",
            (true, true) => "region-even-point",
            (false, false) => "region-open",
            (false, true) => "region-open-point",
        },
        args,
    )
}

/// Where a level comes within the knee's share of its own maximum.
fn knee(
    writer: &Writer,
    level: &str,
    course: &[(&Value, &Estimate)],
) -> Result<Option<Prose>, ReportError> {
    let top = course.iter().max_by(|a, b| a.1.centre.value.total_cmp(&b.1.centre.value));
    let Some((_, top)) = top else { return Ok(None) };
    let enough = top.centre.value * (1.0 - KNEE.value);
    let Some(at) = course.iter().position(|(_, e)| e.centre.value >= enough) else {
        return Ok(None);
    };
    let args = Args::new()
        .name("level", level)
        .quantity("share", KNEE)
        .quantity("highest", top.centre)
        .name("at", &shown(course[at].0));
    let key = if at + 1 == course.len() { "knee-rising" } else { "knee-reached" };
    writer.say(key, args).map(Some)
}
