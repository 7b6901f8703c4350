//! Knows how it is said why a cost has no verdict, and what decides in its place.

use super::effect::plain_effect;
use super::places::places;
use super::{Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Value;
use desk::verdict::{Comparison, Cost, Withheld};

/// Why, as a clause without its end.
pub(super) fn reason(writer: &Writer, withheld: &Withheld) -> Said {
    let args = Args::new();
    match withheld {
        Withheld::MethodsDisagree { by } => writer.say("withheld-methods", args.estimate("by", by)),
        Withheld::LowCpu { busy } => writer.say("withheld-low-cpu", args.estimate("busy", busy)),
        Withheld::SmtDiffers => writer.label("withheld-smt"),
        Withheld::UnequalAtSaturation { throughput } => {
            let effect = plain_effect(writer, throughput)?;
            writer.say("withheld-unequal", args.prose("effect", &effect))
        }
        Withheld::TwoStates => writer.label("withheld-two-states"),
        Withheld::NoHeadroom => writer.label("withheld-no-headroom"),
        Withheld::NotRead => writer.label("withheld-not-read"),
    }
}

/// The same in a few words, for a line of advice.
pub(super) fn short_reason(writer: &Writer, withheld: &Withheld) -> Said {
    writer.pick("why-*", withheld, Args::new())
}

/// How bad it is among those of its kind: the sentence names the worst.
fn weight(withheld: &Withheld) -> f64 {
    match withheld {
        Withheld::MethodsDisagree { by } => by.centre.value,
        Withheld::LowCpu { busy } => -busy.centre.value,
        Withheld::UnequalAtSaturation { throughput } => throughput.distance(),
        Withheld::SmtDiffers | Withheld::TwoStates | Withheld::NoHeadroom | Withheld::NotRead => {
            0.0
        }
    }
}

/// Every point with its reason; each kind of reason once, its worst case in front.
fn kinds(cost: &Cost) -> Vec<(&Withheld, Vec<Option<Value>>)> {
    let mut kinds: Vec<(&Withheld, Vec<Option<Value>>)> = Vec::new();
    for (point, why) in cost.index.points.iter().zip(&cost.withheld) {
        let Some(why) = why else { continue };
        let same = |k: &&mut (&Withheld, _)| is_same_kind(k.0, why);
        match kinds.iter_mut().find(same) {
            Some((worst, places)) => {
                places.push(point.at.clone());
                if weight(why) > weight(worst) {
                    *worst = why;
                }
            }
            None => kinds.push((why, vec![point.at.clone()])),
        }
    }
    kinds
}

fn is_same_kind(a: &Withheld, b: &Withheld) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Whether the reason for the whole holds at every point too, so that it needs to be said once.
fn is_everywhere(cost: &Cost) -> bool {
    let Some(whole) = &cost.withheld_overall else { return false };
    let all = cost.withheld.len() == cost.index.points.len();
    all && cost.withheld.iter().all(|w| w.as_ref().is_some_and(|w| is_same_kind(w, whole)))
}

/// Why there is no verdict over all points; nothing where there is one.
pub(super) fn overall(writer: &Writer, cost: &Cost) -> Result<Option<Prose>, ReportError> {
    let Some(why) = &cost.withheld_overall else { return Ok(None) };
    let key = match () {
        () if cost.index.curve.is_none() => "withheld-single",
        () if is_everywhere(cost) => "withheld-everywhere",
        () => "withheld-overall",
    };
    let args = Args::new().prose("reason", &reason(writer, why)?);
    writer.say(key, args).map(Some)
}

/// A sentence a kind of reason, with the points that have a dash for it.
pub(super) fn notes(writer: &Writer, cost: &Cost) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    if cost.index.curve.is_none() {
        return Ok(said);
    }
    if is_everywhere(cost) {
        return Ok(vec![writer.label("withheld-note-above")?]);
    }
    for (why, points) in kinds(cost) {
        let why = match why {
            Withheld::UnequalAtSaturation { throughput } if points.len() > 1 => {
                let effect = plain_effect(writer, throughput)?;
                writer.say("withheld-unequal-most", Args::new().prose("effect", &effect))?
            }
            _ => reason(writer, why)?,
        };
        let args = Args::new()
            .prose("places", &places(writer, &cost.index, &points)?)
            .prose("reason", &why);
        said.push(writer.say("withheld-note", args)?);
    }
    Ok(said)
}

/// Whether the index has no verdict at a point of the curve.
pub(super) fn at<'a>(cost: &'a Cost, place: Option<&Value>) -> Option<&'a Withheld> {
    let points = cost.index.points.iter().zip(&cost.withheld);
    points.filter(|(p, _)| p.at.as_ref() == place).find_map(|(_, why)| why.as_ref())
}

/// Whether the figures of a point mean little by themselves, not only against each other.
pub(super) const fn is_hollow(withheld: &Withheld) -> bool {
    match withheld {
        Withheld::MethodsDisagree { .. } | Withheld::LowCpu { .. } | Withheld::NotRead => true,
        // Two states and no headroom are those of one level, which is hollow by itself.
        Withheld::TwoStates
        | Withheld::NoHeadroom
        | Withheld::SmtDiffers
        | Withheld::UnequalAtSaturation { .. } => false,
    }
}

/// Whether a region of the index holds no point whose verdict was withheld.
pub(super) fn is_clear(cost: &Cost, index: &Comparison, (from, to): (&Value, &Value)) -> bool {
    let place = |value: &Value| index.points.iter().position(|p| p.at.as_ref() == Some(value));
    let (Some(first), Some(last)) = (place(from), place(to)) else { return false };
    (first..=last).all(|i| cost.withheld.get(i).is_none_or(Option::is_none))
}
