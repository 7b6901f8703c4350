//! Knows what a load cost in CPU, level against level, and when that has no verdict.
//!
//! Never: which level is to be taken.

use super::compared::Asked;
use super::finding::{Basis, Comparison, Cost, PointResult, Verdict, Withheld};
use super::measure::{CPU, DISPLACED, Derived, Work, busy, reached_offer};
use super::pairing::{Contest, Measured, PairedPoint};
use super::parts::{CpuParts, all_clients_apart, counted_twice, disagreement, parts};
use super::winner::{Rule, judge};
use crate::record::{Metric, Plan, Run, TrialRecord};
use crate::stats::{Estimate, mean, mean_or_single};
use crate::unit::{Quantity, Unit};

/// Busy share of all CPUs below which an index divides by next to nothing.
const LOW_CPU: f64 = 0.05;

/// What the load of a contest cost. None where no pair has a rate of work and CPU readings, nor of
/// a load of the system under test alone: there the CPU is what is measured.
///
/// Every figure is derived per trial and then judged like any metric: paired in blocks, together
/// over the curve, points with two states left out of the curve.
pub(super) fn cost(run: &Run, asked: &Asked<'_>) -> Option<Cost> {
    let Asked { id, contest, barred, .. } = asked;
    if contest.load.alone {
        return None;
    }
    let judged = |metric: &Metric, paired: &Contest<'_>| {
        let rule = Rule { metric, method: &run.plan.method };
        judge(paired, rule, barred).map(|judged| judged.comparison)
    };
    let work = Work::of(run, &contest.load.name)?;
    let derived = |figure: &Derived| {
        let paired = contest.by(&|record| (figure.of)(work.rate(record), record));
        judged(&figure.metric(), &paired).map(|comparison| (comparison, paired))
    };
    let [index, per_work] = work.costs();
    let (index, paired) = derived(&index)?;
    let moved = judged(work.0, &contest.by(&|record| work.rate(record)))?;
    let live: Vec<&PairedPoint<'_>> =
        paired.points.iter().filter(|p| !p.pairs.is_empty()).collect();
    let smt = smt_differs(&run.plan, contest);
    let rules = Rules { plan: &run.plan, smt, moved: &moved };
    let withheld: Vec<Option<Withheld>> =
        live.iter().zip(&index.points).map(|(point, result)| rules.at(point, result)).collect();
    let equal_load = live.iter().all(|point| equal_load(&run.plan, point));
    Some(Cost {
        comparison: id.clone(),
        basis: basis(run, &live),
        equal_load,
        cpu: derived(&CPU)?.0,
        per_work: derived(&per_work)?.0,
        displaced: derived(&DISPLACED).map(|(comparison, _)| comparison),
        withheld_overall: rules.overall(&index, &withheld, equal_load),
        withheld,
        parts: live.iter().flat_map(|point| both_parts(contest, point)).collect(),
        index,
    })
}

/// A lab has clients and server on one machine, unless every trial says otherwise of each client.
fn basis(run: &Run, live: &[&PairedPoint<'_>]) -> Basis {
    let mut trials = live.iter().flat_map(|point| point.sides()).flatten();
    let shared = run.environment().lab.is_some() && !trials.all(|t| all_clients_apart(t.record));
    if shared { Basis::Pair } else { Basis::Server }
}

/// Whether the levels of a contest come to different settings of simultaneous multithreading.
fn smt_differs(plan: &Plan, contest: &Contest<'_>) -> bool {
    let smt = |level: &crate::record::Level| plan.effective(&level.settings).remove("smt");
    smt(contest.base) != smt(contest.other)
}

/// Whether the load offered was set and every paired trial of both levels reached it.
fn equal_load(plan: &Plan, point: &PairedPoint<'_>) -> bool {
    point.sides().iter().flatten().all(|trial| reached_offer(plan, trial.record))
}

fn both_parts(contest: &Contest<'_>, point: &PairedPoint<'_>) -> Vec<CpuParts> {
    let [base, other] = point.sides();
    let of = |level: &str, trials: &[Measured<'_>]| parts(level, point.at.as_ref(), trials);
    of(&contest.base.name, &base).into_iter().chain(of(&contest.other.name, &other)).collect()
}

/// When an index has no verdict.
struct Rules<'r> {
    plan: &'r Plan,
    smt: bool,
    /// The rates of work, level against level.
    moved: &'r Comparison,
}

impl Rules<'_> {
    /// Why the index has no verdict at a point: the first that holds of two states, no headroom,
    /// nothing to count a second time with, unlike CPUs, methods that disagree, idle CPUs, and
    /// unequal throughput at saturation. An offer that was not reached is saturation too.
    fn at(&self, point: &PairedPoint<'_>, result: &PointResult) -> Option<Withheld> {
        let sides = point.sides();
        if let Some(why) = Withheld::left_out(result.verdict) {
            return Some(why);
        }
        if !sides.iter().all(|side| counted_twice(side)) {
            return Some(Withheld::NotRead);
        }
        if self.smt {
            return Some(Withheld::SmtDiffers);
        }
        let largest = |a: &Estimate, b: &Estimate| a.centre.value.total_cmp(&b.centre.value);
        if let Some(by) = sides.iter().filter_map(|side| disagreement(side)).max_by(largest) {
            return Some(Withheld::MethodsDisagree { by });
        }
        let busiest = sides.iter().filter_map(|side| mean_busy(side)).min_by(largest);
        if let Some(busy) = busiest.filter(|busy| busy.centre.value < LOW_CPU) {
            return Some(Withheld::LowCpu { busy });
        }
        if equal_load(self.plan, point) {
            return None;
        }
        let moved = self.moved.points.iter().find(|p| p.at == point.at)?;
        self.unequal(moved.verdict, &moved.ratio)
    }

    /// Why the index has no verdict over all points. A ratio that means nothing at one of the
    /// points means nothing in their mean, so the first point with a reason gives it; a point with
    /// two states or without headroom is not in that mean.
    fn overall(
        &self,
        index: &Comparison,
        points: &[Option<Withheld>],
        equal_load: bool,
    ) -> Option<Withheld> {
        if let Some(why) = Withheld::left_out(index.verdict) {
            return Some(why);
        }
        let unequal = |w: &&Withheld| matches!(w, Withheld::UnequalAtSaturation { .. });
        let reasons = || points.iter().flatten().filter(|w| !w.leaves_out());
        let plain = reasons().find(|w| !unequal(w)).cloned();
        let whole = || self.unequal(self.moved.verdict, &self.moved.overall);
        plain.or_else(|| whole().filter(|_| !equal_load)).or_else(|| reasons().next().cloned())
    }

    /// Throughputs that differ with certainty, and by more than the margin. Where a difference is
    /// not shown the index has a verdict of its own, with an interval as wide as theirs.
    fn unequal(&self, verdict: Verdict, ratio: &Estimate) -> Option<Withheld> {
        let shown = !matches!(
            verdict,
            Verdict::Equivalent | Verdict::Undecided { .. } | Verdict::NoHeadroom
        );
        let differs = shown && ratio.distance() > self.plan.method.margin.value.ln_1p();
        differs.then(|| Withheld::UnequalAtSaturation { throughput: ratio.clone() })
    }
}

fn mean_busy(trials: &[Measured<'_>]) -> Option<Estimate> {
    let shares: Vec<f64> = trials.iter().filter_map(|t| busy(t.record)).collect();
    mean_or_single(&shares, Unit::Share)
}

/// The largest disagreement of methods among all costs, in CPUs.
pub(super) fn worst_disagreement(costs: &[Cost]) -> Option<Estimate> {
    let all = costs.iter().flat_map(|cost| cost.withheld.iter().flatten());
    let by = all.filter_map(|withheld| match withheld {
        Withheld::MethodsDisagree { by } => Some(by),
        _ => None,
    });
    by.max_by(|a, b| a.centre.value.total_cmp(&b.centre.value)).cloned()
}

/// CPUs that processes not ours took, mean over trials.
pub(super) fn foreign<'r>(records: impl Iterator<Item = &'r TrialRecord>) -> Option<Estimate> {
    let read = records.filter_map(|r| r.reading("foreign", "machine", "cpu"));
    let values: Vec<f64> = read.map(|quantity: Quantity| quantity.value).collect();
    mean_or_single(&values, Unit::Cpu)
}

/// How busy all CPUs were under each level, a share, on average of the points of these costs; in
/// the order in which the levels are met.
#[must_use]
pub fn busy_by_level(costs: &[&Cost]) -> Vec<(String, Quantity)> {
    let mut levels: Vec<(String, Vec<f64>)> = Vec::new();
    for Cost { cpu, .. } in costs {
        let sides = cpu.points.iter().flat_map(|p| [(&cpu.base, &p.base), (&cpu.other, &p.other)]);
        for (level, busy) in sides {
            match levels.iter_mut().find(|(known, _)| known == level) {
                Some((_, all)) => all.push(busy.centre.value),
                None => levels.push((level.clone(), vec![busy.centre.value])),
            }
        }
    }
    let mean = |(level, all): (String, Vec<f64>)| (level, Quantity::new(mean(&all), Unit::Share));
    levels.into_iter().map(mean).collect()
}
