//! Knows when a load was faster with more work to do for each unit of it, which no machine can be:
//! such a figure is not of what its name says.
//!
//! Never: what the work is, nor which level is better.

use super::finding::Caveat;
use crate::record::{Better, LoadPlan, Metric, ParamRole, Run, TrialKind, TrialRecord, Value};
use crate::stats::{Estimate, LEVEL, log_mean_t};
use crate::unit::Unit;
use std::collections::{BTreeMap, BTreeSet};

/// Figures of one place of a load, by amount of work and block.
type Figures = BTreeMap<u64, BTreeMap<u32, f64>>;

/// An amount of work, and figures by block.
type At<'f> = (&'f u64, &'f BTreeMap<u32, f64>);

/// The load and amounts of work between which this is surest, if there are any.
///
/// Of neighbouring amounts the ratios within blocks are taken, with the interval of their geometric
/// mean; all pairs of a run are one family (Bonferroni at 5 %).
pub(super) fn faster_with_more_work(run: &Run) -> Option<Caveat> {
    let swept = run.plan.loads.iter().filter_map(|load| Some((load, amounts(run, load)?)));
    let all: Vec<_> = swept.flat_map(|(load, of)| pairs(load, of)).collect();
    #[expect(clippy::cast_precision_loss, reason = "pairs are few")]
    let level = 1.0 - (1.0 - LEVEL) / all.len().max(1) as f64;
    let judged = all.into_iter().filter_map(|pair| {
        let gain = log_mean_t(&pair.gains, Unit::Ratio, level)?;
        (gain.low.value > 1.0).then_some((pair, gain))
    });
    let by_low =
        |a: &(Pair, Estimate), b: &(Pair, Estimate)| a.1.low.value.total_cmp(&b.1.low.value);
    let (pair, gain) = judged.max_by(by_low)?;
    let Pair { load, work, amounts: [less, more], .. } = pair;
    Some(Caveat::FasterWithMore { load, work, less, more, gain })
}

/// Two neighbouring amounts of work.
struct Pair {
    load: String,
    work: String,
    amounts: [String; 2],
    /// By how much the larger amount was faster, of each block.
    gains: Vec<f64>,
}

/// Whether the levels of a factor are amounts of work, and set nothing besides.
fn is_of_amounts(run: &Run, factor: &str, work: &String) -> bool {
    let mut known = run.plan.factors.iter().filter(|known| known.name == factor);
    known.any(|known| known.levels.iter().all(|level| level.settings.keys().eq([work])))
}

/// Figures of a load at each of its places, where the amount of work is swept or is a factor.
fn amounts(run: &Run, load: &LoadPlan) -> Option<(String, Better, Vec<Figures>)> {
    let work = load.roles.get(&ParamRole::Work)?;
    let metric: &Metric = run.deciding(&load.name)?;
    let mut places: BTreeMap<String, Figures> = BTreeMap::new();
    let counted = |r: &&TrialRecord| {
        r.trial.kind == TrialKind::Counted
            && r.trial.point.load == load.name
            && r.outcome.fault.is_none()
    };
    for record in run.records.iter().filter(counted) {
        let trial = &record.trial;
        let mut params = trial.point.params.clone();
        let swept = params.remove(work);
        let amount = trial.settings.get(work).or(swept.as_ref()).and_then(Value::count);
        let figure = record.outcome.metric(&metric.name);
        let (Some(amount), Some(figure)) = (amount, figure) else { continue };
        let levels = trial.treatment.levels.iter();
        let others: Vec<_> = levels.filter(|(name, _)| !is_of_amounts(run, name, work)).collect();
        let place = format!("{others:?} {params:?}");
        let of = places.entry(place).or_default().entry(amount).or_default();
        of.insert(record.trial.block, figure.value);
    }
    let places: Vec<Figures> = places.into_values().collect();
    let amounts: BTreeSet<u64> = places.iter().flat_map(|place| place.keys().copied()).collect();
    (amounts.len() > 1).then(|| (work.clone(), metric.better, places))
}

fn pairs(load: &LoadPlan, (work, better, places): (String, Better, Vec<Figures>)) -> Vec<Pair> {
    let pair = |(less, more): (At<'_>, At<'_>)| {
        let both = less.1.iter().filter_map(|(block, a)| Some((*a, *more.1.get(block)?)));
        let gain = |(a, b): (f64, f64)| match better {
            Better::Higher => b / a,
            Better::Lower => a / b,
        };
        Pair {
            load: load.name.clone(),
            work: work.clone(),
            amounts: [less.0.to_string(), more.0.to_string()],
            gains: both.map(gain).collect(),
        }
    };
    let of = |place: &Figures| -> Vec<Pair> {
        place.iter().zip(place.iter().skip(1)).map(pair).collect()
    };
    places.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::simulated::Simulated;

    /// A run in which more work is faster by this factor, in each of its blocks or not quite.
    fn run(gain: f64, scatter: f64) -> Run {
        let mut run = Simulated { blocks: 7, noise: 0.0, ..Simulated::default() }.run();
        let load = &mut run.plan.loads[0];
        load.roles.insert(ParamRole::Work, "rules".into());
        let metric = run.plan.primary(&run.plan.loads[0].name).to_owned();
        let mut twice = Vec::new();
        for record in &run.records {
            for (amount, by) in [(100, 1.0), (1000, gain)] {
                let mut record = record.clone();
                record.trial.point.params.insert("rules".into(), Value::Count(amount));
                let is_odd = record.trial.block % 2 == 1;
                let by = by * if is_odd && amount == 1000 { scatter } else { 1.0 };
                let figure = record.outcome.samples.iter_mut().find(|s| s.metric == metric);
                figure.unwrap().quantity.value *= by;
                twice.push(record);
            }
        }
        run.records = twice;
        run
    }

    #[test]
    fn what_is_faster_with_more_rules_is_doubted() {
        let Some(Caveat::FasterWithMore { less, more, gain, .. }) =
            faster_with_more_work(&run(1.3, 1.01))
        else {
            panic!("41 ns with 1,000 rules and 31 ns with 10,000 were published once");
        };
        assert_eq!((less.as_str(), more.as_str()), ("100", "1000"));
        assert!((gain.centre.value - 1.3).abs() < 0.02, "{gain:?}");
    }

    #[test]
    fn amounts_that_are_levels_of_a_factor_are_amounts_too() {
        let mut run = run(1.3, 1.01);
        let mut factor = run.plan.factors[0].clone();
        factor.name = "filter".into();
        for (level, amount) in factor.levels.iter_mut().zip([100, 1000]) {
            level.name = amount.to_string();
            level.settings = [("rules".into(), Value::Count(amount))].into();
        }
        run.plan.factors.push(factor);
        for record in &mut run.records {
            let trial = &mut record.trial;
            let amount = trial.point.params.insert("rules".into(), Value::Count(7)).unwrap();
            trial.treatment.levels.insert("filter".into(), amount.to_string());
            trial.settings.insert("rules".into(), amount);
        }
        let found = faster_with_more_work(&run);
        let Some(Caveat::FasterWithMore { more, .. }) = found else { panic!("{found:?}") };
        assert_eq!(more, "1000");
    }

    #[test]
    fn what_is_slower_or_the_same_is_not() {
        assert_eq!(faster_with_more_work(&run(0.9, 1.01)), None);
        assert_eq!(faster_with_more_work(&run(1.0, 1.0)), None);
        assert_eq!(faster_with_more_work(&run(1.01, 0.8)), None, "within its scatter");
    }

    #[test]
    fn a_load_that_sweeps_no_work_has_none() {
        let run = Simulated { sizes: vec![64, 256], ..Simulated::default() }.run();
        assert_eq!(faster_with_more_work(&run), None);
    }
}
