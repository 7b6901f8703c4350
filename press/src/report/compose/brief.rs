//! Knows the lines of the verdict box below its headline: where, at what cost, by what cause.
//!
//! Never: an interval or a list of points; the chapters have those.

use super::curve::{disagreement, level_sentences};
use super::effect::{effects, metric_name, short_effect};
use super::names::{level_name, pair};
use super::ruling::{count, short_condition, shown};
use super::say::{places, plain_region};
use super::{Part, Said, Writer, basis, cause, crossed, levels, most, ranks, readers, withheld};
use crate::claim::{Judged, Kind, of_region, regions};
use crate::report::document::{Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::is_tuning;
use desk::record::{Run, Value};
use desk::verdict::{
    Agreement, Comparison, Cost, Verdict, busy_by_level, curve_verdict, objection,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;

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
        several if one_pair(several) => of_groups(writer, part.run, several)?,
        _ => Vec::new(),
    };
    let cause = match cause::in_short(writer, std::slice::from_ref(part))? {
        Some(causes) => {
            vec![writer.say("box-cause-said", Args::new().prose("causes", &causes.capitalised()))?]
        }
        None => Vec::new(),
    };
    let compared = !asked.is_empty();
    // What to do about a setting of the machine is said by its own command.
    let advised = compared && !is_tuning(&part.run.plan);
    let next = if advised { basis::next(writer, part)? } else { None };
    let holds = if compared { Some(basis::holds(writer, part)?) } else { None };
    let lines = [
        ("box-next", Vec::from_iter(next)),
        ("box-levels", Vec::from_iter(levels::line(writer, &part.run.plan)?)),
        ("box-ranks", Vec::from_iter(ranks::line(writer, part, asked)?)),
        ("box-most", most::sentences(writer, part.run, asked)?),
        ("box-where", place),
        ("box-cost", cost(writer, part)?),
        ("box-cause", cause),
        ("box-sure", Vec::from_iter(basis::sure(writer, part, asked)?)),
        ("box-holds", Vec::from_iter(holds)),
        ("box-others", crossed::sentences(writer, part)?),
    ];
    let mut rulings = Vec::new();
    for (key, said) in lines {
        if !said.is_empty() {
            let sentence = Prose::join(&said);
            rulings.push(Ruling { tone: Tone::Plain, label: writer.label(key)?, sentence });
        }
    }
    Ok(rulings)
}

fn one_pair(curves: &[Judged<'_>]) -> bool {
    let key = |c: &Comparison| {
        (c.curve.clone(), [&c.factor, &c.base, &c.other, &c.metric].map(String::clone))
    };
    curves.iter().all(|(_, c)| key(c) == key(curves[0].1))
}

/// Who is ahead where along the only curve.
fn of_one_curve(writer: &Writer, (run, c): Judged<'_>) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::from_iter(disagreement(writer, (run, c))?);
    for region in &c.regions {
        said.push(plain_region(writer, &of_region((run, c), region))?);
    }
    if said.is_empty() {
        said.extend(level_sentences(writer, c)?);
    }
    Ok(said)
}

/// Where each group of curves that another factor makes has a side ahead.
fn of_groups(writer: &Writer, run: &Run, curves: &[Judged<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for (level, group) in most::by_level(run, curves) {
        let own = of_curves(writer, &group)?;
        match most::said_under(run, level) {
            Some(level) => {
                let args = Args::new().name("level", &level).prose("said", &Prose::join(&own));
                said.push(writer.say("where-under", args)?);
            }
            None => said.extend(own),
        }
    }
    Ok(said)
}

/// Where most of several curves have the same side ahead, the curves that differ from that, and
/// where no curve has anybody ahead.
fn of_curves(writer: &Writer, curves: &[Judged<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    let apart = |c: &Comparison| curve_verdict(c).agreement != Agreement::Alike;
    let disagree = count(curves.iter().filter(|(_, c)| apart(c)).count());
    for ahead in [true, false] {
        let most = most_ahead(curves, ahead);
        for stretch in &most {
            said.push(shared(writer, curves, (ahead, stretch))?);
        }
        said.extend(besides(writer, curves, (ahead, &most))?);
    }
    if said.is_empty() {
        said.push(writer.say("where-nowhere", Args::new().count("count", count(curves.len())))?);
        return Ok(said);
    }
    let nobody = |c: &Comparison, at: &Value| {
        let led = |v: Verdict| matches!(v, Verdict::Better | Verdict::Worse) || v.is_barred();
        !c.points.iter().any(|p| p.at.as_ref() == Some(at) && led(p.verdict))
    };
    let mut open = Vec::new();
    for (from, to, _) in stretches(curves, &nobody, curves.len()) {
        let args = Args::new().name("from", &shown(&from)).name("to", &shown(&to));
        open.push(writer.say(if from == to { "where-open-at" } else { "where-open-from" }, args)?);
    }
    if !open.is_empty() {
        let args = Args::new().prose("places", &Prose::join_with(&open, "; ").capitalised());
        said.push(writer.say("where-open", args)?);
    }
    if disagree > 0 {
        let args = Args::new().count("some", disagree).count("count", count(curves.len()));
        said.push(writer.say("where-disagree", args)?);
    }
    Ok(said)
}

/// A stretch that most curves have in common, and from where on some of them have more of it.
fn shared(writer: &Writer, curves: &[Judged<'_>], (ahead, stretch): (bool, &Stretch)) -> Said {
    let (from, to, least) = stretch;
    let earlier: Vec<&Value> = curves
        .iter()
        .flat_map(|(_, c)| &c.regions)
        .filter(|r| r.other_ahead == ahead && r.from < *from && r.to >= *from)
        .map(|r| &r.from)
        .collect();
    let all = if *least == curves.len() { "all" } else { "some" };
    let args = Args::new()
        .name("leader", &leader(curves, ahead))
        .name("from", &shown(from))
        .name("to", &shown(to))
        .name("scope", all)
        .count("least", count(*least))
        .count("count", count(curves.len()));
    let said = writer.say(if from == to { "where-at" } else { "where-from" }, args)?;
    let by_place = |a: &&&Value, b: &&&Value| a.partial_cmp(b).unwrap_or(Ordering::Equal);
    let Some(first) = earlier.iter().min_by(by_place) else {
        return writer.say("where-end", Args::new().prose("said", &said));
    };
    let some = count(earlier.iter().filter(|from| from == &first).count());
    let args = Args::new().prose("said", &said).name("first", &shown(first));
    writer.say("where-earlier", args.count("some", some))
}

/// The curves on which the side is ahead elsewhere: named where they are few.
fn besides(
    writer: &Writer,
    curves: &[Judged<'_>],
    (ahead, most): (bool, &[Stretch]),
) -> Result<Option<Prose>, ReportError> {
    let inside = |value: &Value| most.iter().any(|(from, to, _)| from <= value && value <= to);
    let loads = curves.iter().any(|(_, c)| c.load != curves[0].1.load);
    let mut others = Vec::new();
    for (run, c) in curves {
        let rest = regions((run, c), ahead, |r| !inside(&r.from) && !inside(&r.to));
        if !rest.is_empty() {
            others.push(places(writer, &rest, Some(loads))?);
        }
    }
    if others.is_empty() {
        return Ok(None);
    }
    let args =
        Args::new().name("leader", &leader(curves, ahead)).count("count", count(others.len()));
    let places = Prose::join_with(&others, "; ");
    let key = match (others.len() <= NAMED, most.is_empty()) {
        (true, true) => "where-alone",
        (true, false) => "where-besides",
        (false, true) => return writer.say("where-some", args).map(Some),
        (false, false) => return Ok(None),
    };
    writer.say(key, args.prose("places", &places)).map(Some)
}

fn leader(curves: &[Judged<'_>], ahead: bool) -> String {
    let (run, first) = curves[0];
    level_name(&run.plan, &first.factor, if ahead { &first.other } else { &first.base })
}

/// First and last value of the curve parameter, and how many curves at the least.
type Stretch = (Value, Value, usize);

/// Stretches over which more than half of the curves have a side ahead.
fn most_ahead(curves: &[Judged<'_>], ahead: bool) -> Vec<Stretch> {
    let wanted = if ahead { Verdict::Better } else { Verdict::Worse };
    let leads = |c: &Comparison, at: &Value| {
        c.points.iter().any(|p| p.at.as_ref() == Some(at) && p.verdict == wanted)
    };
    stretches(curves, &leads, curves.len() / 2 + 1)
}

/// Stretches of the curve parameter over which at least so many curves have it.
fn stretches(
    curves: &[Judged<'_>],
    has: &dyn Fn(&Comparison, &Value) -> bool,
    least: usize,
) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut joined = false;
    for place in curves[0].1.points.iter().filter_map(|p| p.at.as_ref()) {
        let seen = curves.iter().filter(|(_, c)| has(c, place)).count();
        let enough = seen >= least;
        match stretches.last_mut().filter(|_| joined && enough) {
            Some(last) => {
                last.1 = place.clone();
                last.2 = last.2.min(seen);
            }
            None if enough => stretches.push((place.clone(), place.clone(), seen)),
            None => {}
        }
        joined = enough;
    }
    stretches
}

/// What decides on the cost of a comparison: the CPU time of a gigabyte where both levels carried
/// an equal load, else the index.
fn decider(cost: &Cost) -> &Comparison {
    if cost.equal_load { &cost.per_work } else { &cost.index }
}

/// Which level takes less CPU; where a load was equal for both, from those only.
fn cost(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let plan = &part.run.plan;
    let costs: Vec<&Cost> = part.analysis.costs.iter().filter(|cost| !cost.cpu.aa).collect();
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
            None => {
                let busy = busy(writer, part.run, &costs)?;
                busy.into_iter().chain(withheld::overall(writer, first)?).collect()
            }
        });
    }
    let mut said = Vec::new();
    let mut levels: Vec<&str> = judged.iter().map(|c| c.other.as_str()).collect();
    let mut seen = BTreeSet::new();
    levels.retain(|level| seen.insert(*level));
    for level in &levels {
        let of: Vec<&Comparison> = judged.iter().filter(|c| c.other == *level).copied().collect();
        said.extend(clauses(writer, part.run, &of)?);
    }
    if said.is_empty() {
        let first = |level: &&str| judged.iter().find(|c| c.other == **level);
        let open = |c: &&Comparison| {
            let args = pair(part.run, c)
                .prose("metric", &metric_name(writer, part.run, &c.metric)?)
                .prose("effect", &short_effect(writer, &c.overall)?);
            writer.say("box-cost-open", args)
        };
        return levels.iter().filter_map(first).map(open).collect();
    }
    let said = Prose::join_with(&said, "; ");
    let load = plan.loads.iter().find(|load| equal && load.name == judged[0].load);
    if let Some(load) = load.and_then(|load| readers::offered(load, judged[0])) {
        let args = Args::new().prose("said", &said).name("load", &shown(&load));
        return Ok(vec![writer.say("box-cost-offered", args)?]);
    }
    let key = if equal { "box-cost-equal-load" } else { "box-cost-any-load" };
    Ok(vec![writer.say(key, Args::new().prose("said", &said))?])
}

/// How busy the CPUs were under each level; nothing where it was not read.
fn busy(writer: &Writer, run: &Run, costs: &[&Cost]) -> Result<Option<Prose>, ReportError> {
    let Some(first) = costs.first() else { return Ok(None) };
    let mut said = Vec::new();
    for (level, busy) in busy_by_level(costs) {
        let args = Args::new().name("level", &level_name(&run.plan, &first.cpu.factor, &level));
        said.push(writer.say("box-cost-level", args.quantity("busy", busy))?);
    }
    let many = costs.iter().any(|cost| cost.cpu.points.len() > 1);
    let args = Args::new()
        .choose("many", if many { "yes" } else { "no" })
        .prose("levels", &Prose::join_with(&said, ", "));
    Ok(if said.is_empty() { None } else { Some(writer.say("box-cost-busy", args)?) })
}

/// A clause an outcome of the comparisons of two levels.
fn clauses(writer: &Writer, run: &Run, of: &[&Comparison]) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for kind in [Kind::Better, Kind::Worse, Kind::Equivalent] {
        let is = |c: &&&Comparison| Kind::of_whole(c).coarse() == kind;
        let alike: Vec<&Comparison> = of.iter().filter(is).copied().collect();
        if !alike.is_empty() {
            said.push(clause(writer, run, kind, (&alike, of.len()))?);
        }
    }
    Ok(said)
}

/// `offload takes less CPU for its work than plain in 3 of 4 comparisons, CPU time per gigabyte
/// -19 % ...`.
fn clause(writer: &Writer, run: &Run, kind: Kind, (alike, of): (&[&Comparison], usize)) -> Said {
    let mut ordered = alike.to_vec();
    ordered.sort_by(|a, b| a.overall.distance().total_cmp(&b.overall.distance()));
    let ends = [&ordered[0].overall, &ordered[ordered.len() - 1].overall];
    let mut names = Vec::new();
    for one in alike {
        names.push(short_condition(run, one));
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
    writer.pick("box-cost-*", &kind, args)
}
