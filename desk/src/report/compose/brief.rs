//! Knows the lines of the verdict box below its headline: where, at what cost, by what cause.
//!
//! Never: an interval or a list of points; the chapters have those.

use super::answer::Judged;
use super::curve::{level_sentences, nearest_first, said_region};
use super::effect::{effects, metric_name, plain_effect};
use super::names::{level_name, pair};
use super::ruling::{count, short_condition, shown};
use super::{Part, Said, Writer, lead, limits, withheld};
use crate::record::{Run, Value};
use crate::report::document::{Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::verdict::{Comparison, Cost, Verdict, is_aa, objection};

/// Up to this many curves are named where one of them differs from the others.
const NAMED: usize = 2;

/// The lines of one run.
pub(super) fn lines(
    writer: &Writer,
    part: &Part<'_>,
    asked: &[Judged<'_>],
) -> Result<Vec<Ruling>, ReportError> {
    let curves: Vec<Judged<'_>> =
        asked.iter().filter(|(_, c)| c.curve.is_some() && c.points.len() > 1).copied().collect();
    let place = match curves.as_slice() {
        [] => Vec::new(),
        [one] => of_one_curve(writer, *one)?,
        several if one_pair(several) => of_curves(writer, several)?,
        _ => Vec::new(),
    };
    let cost = cost(writer, part)?;
    let cause = limits::in_short(writer, std::slice::from_ref(part))?;
    let cause = match cause {
        Some(causes) => vec![writer.say("box-cause-said", Args::new().prose("causes", &causes))?],
        None => Vec::new(),
    };
    let mut rulings = Vec::new();
    for (key, said) in [("box-where", place), ("box-cost", cost), ("box-cause", cause)] {
        if !said.is_empty() {
            let sentence = Prose::join(&said);
            rulings.push(Ruling { tone: Tone::Plain, label: writer.label(key)?, sentence });
        }
    }
    Ok(rulings)
}

fn one_pair(curves: &[Judged<'_>]) -> bool {
    let key = |c: &Comparison| [&c.factor, &c.base, &c.other, &c.metric].map(String::clone);
    curves.iter().all(|(_, c)| key(c) == key(curves[0].1))
}

/// Who is ahead where along the only curve.
fn of_one_curve(writer: &Writer, (run, c): Judged<'_>) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for region in &c.regions {
        let (near, far) = nearest_first(region);
        let ends = [plain_effect(writer, near)?, plain_effect(writer, far)?];
        said.push(said_region(writer, (run, c), region, ends)?);
    }
    if said.is_empty() {
        said.extend(level_sentences(writer, c)?);
    }
    Ok(said)
}

/// Where most of several curves have the same side ahead, and the curves that differ from that.
fn of_curves(writer: &Writer, curves: &[Judged<'_>]) -> Result<Vec<Prose>, ReportError> {
    let (run, first) = curves[0];
    let mut said = Vec::new();
    for ahead in [true, false] {
        let leader = if ahead { &first.other } else { &first.base };
        let leader = level_name(&run.plan, &first.factor, leader);
        let most = most(curves, ahead);
        for (from, to, least) in &most {
            let args = Args::new()
                .name("leader", &leader)
                .name("from", &shown(from))
                .name("to", &shown(to))
                .count("least", count(*least))
                .count("count", count(curves.len()));
            said.push(writer.say(if from == to { "where-at" } else { "where-from" }, args)?);
        }
        let mut others = Vec::new();
        for judged in curves {
            // A stretch that begins inside one that most curves have in common was told with it.
            let inside =
                |value: &Value| most.iter().any(|(from, to, _)| from <= value && value <= to);
            let told = judged.1.regions.iter().filter(|r| r.other_ahead == ahead);
            if told.into_iter().any(|r| !inside(&r.from) && !inside(&r.to)) {
                others.extend(lead::stretches(writer, *judged, ahead, true)?);
            }
        }
        if others.is_empty() {
            continue;
        }
        let args = Args::new().name("leader", &leader).count("count", count(others.len()));
        let places = Prose::join_with(&others, "; ");
        said.push(match (others.len() <= NAMED, most.is_empty()) {
            (true, true) => writer.say("where-alone", args.prose("places", &places))?,
            (true, false) => writer.say("where-besides", args.prose("places", &places))?,
            (false, true) => writer.say("where-some", args)?,
            (false, false) => continue,
        });
    }
    if said.is_empty() {
        said.push(writer.say("where-nowhere", Args::new().count("count", count(curves.len())))?);
    }
    Ok(said)
}

/// Stretches of the curve parameter over which more than half of the curves have a side ahead, with
/// the fewest of them at any point.
fn most(curves: &[Judged<'_>], ahead: bool) -> Vec<(Value, Value, usize)> {
    let wanted = if ahead { Verdict::Better } else { Verdict::Worse };
    let mut stretches: Vec<(Value, Value, usize)> = Vec::new();
    let mut joined = false;
    for place in curves[0].1.points.iter().filter_map(|p| p.at.as_ref()) {
        let leads = |c: &Comparison| {
            c.points.iter().any(|p| p.at.as_ref() == Some(place) && p.verdict == wanted)
        };
        let seen = curves.iter().filter(|(_, c)| leads(c)).count();
        let most = 2 * seen > curves.len();
        match stretches.last_mut().filter(|_| joined && most) {
            Some(last) => {
                last.1 = place.clone();
                last.2 = last.2.min(seen);
            }
            None if most => stretches.push((place.clone(), place.clone(), seen)),
            None => {}
        }
        joined = most;
    }
    stretches
}

/// What decides on the cost of a comparison: the CPU time of a gigabyte where both levels carried
/// an equal load, else the index.
fn decider(cost: &Cost) -> &Comparison {
    if cost.equal_load { &cost.per_gigabyte } else { &cost.index }
}

/// Which level takes less CPU; where a load was equal for both, from those only.
fn cost(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let plan = &part.run.plan;
    let costs: Vec<&Cost> =
        part.analysis.costs.iter().filter(|cost| !is_aa(plan, &cost.cpu)).collect();
    let equal = costs.iter().any(|cost| cost.equal_load);
    let costs: Vec<&Cost> = costs.into_iter().filter(|c| c.equal_load == equal).collect();
    let Some(first) = costs.first() else { return Ok(Vec::new()) };
    let of = |cost: &&Cost| objection(cost, &decider(cost).metric);
    let judged: Vec<&Comparison> =
        costs.iter().filter(|cost| of(cost).is_none()).map(|cost| decider(cost)).collect();
    if judged.is_empty() {
        return Ok(match of(first).filter(|_| equal) {
            Some(why) => {
                let args = Args::new().prose("reason", &withheld::reason(writer, &why)?);
                vec![writer.say("box-cost-withheld", args)?]
            }
            None => withheld::overall(writer, first)?.into_iter().collect(),
        });
    }
    let mut said = Vec::new();
    for (verdict, key) in [
        (Verdict::Better, "box-cost-better"),
        (Verdict::Worse, "box-cost-worse"),
        (Verdict::Equivalent, "box-cost-even"),
    ] {
        let alike: Vec<&Comparison> =
            judged.iter().filter(|c| c.verdict == verdict).copied().collect();
        if !alike.is_empty() {
            said.push(clause(writer, part.run, key, (&alike, judged.len()))?);
        }
    }
    if said.is_empty() {
        return Ok(vec![writer.say("box-cost-open", pair(part.run, judged[0]))?]);
    }
    let said = Prose::join_with(&said, "; ");
    let key = if equal { "box-cost-equal-load" } else { "box-cost-any-load" };
    Ok(vec![writer.say(key, Args::new().prose("said", &said))?])
}

/// `offload takes less CPU than plain in 3 of 4 comparisons, CPU time per gigabyte -19 % ...`.
fn clause(writer: &Writer, run: &Run, key: &str, (alike, of): (&[&Comparison], usize)) -> Said {
    let distance = |c: &&Comparison| c.overall.centre.value.ln().abs();
    let mut ordered = alike.to_vec();
    ordered.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let ends = [&ordered[0].overall, &ordered[ordered.len() - 1].overall];
    let mut names = Vec::new();
    for one in alike {
        names.push(short_condition(writer, run, one)?);
    }
    let named = names.len() <= NAMED && of > 1 && names.iter().all(|n| !n.text().is_empty());
    let names = Prose::join_with(&names, "; ");
    let scope = match (named, of) {
        (true, _) => writer.say("box-cost-named", Args::new().prose("names", &names))?,
        (false, 1) => Prose::default(),
        (false, _) => {
            let args = Args::new().count("some", count(alike.len())).count("count", count(of));
            writer.say("box-cost-some", args)?
        }
    };
    let args = pair(run, alike[0])
        .prose("metric", &metric_name(writer, run, &alike[0].metric)?)
        .prose("scope", &scope)
        .prose("effects", &effects(writer, ends)?);
    writer.say(key, args)
}
