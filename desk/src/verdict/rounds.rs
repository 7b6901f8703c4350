//! Knows how the rate of a load went over its window: each round over the trials of a point.
//!
//! Never: what is steady; the readings of the records hold that.

use crate::record::{ParamRole, Run, Series, TrialRecord};
use crate::stats::{Estimate, STEADY_FROM, mean_or_single};
use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A last round that lacks less than this share of one is whole.
const ROUNDING: f64 = 1e-6;

/// A metric in the rounds of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rounds {
    /// Name of the metric.
    pub metric: String,
    /// Time of a round.
    pub round: Quantity,
    /// Each whole round over the valid trials, in order.
    pub rates: Vec<Estimate>,
}

/// Of these trials of a load that has rounds; none where they have fewer than a steady state takes.
/// Trials with another time of a round than the first are left out.
pub(super) fn rounds(run: &Run, load: &str, trials: &[&TrialRecord]) -> Option<Rounds> {
    let load = run.plan.loads.iter().find(|one| one.name == load)?;
    load.roles.get(&ParamRole::Round)?;
    let all = trials.iter().filter_map(|record| Some((*record, record.outcome.series.first()?)));
    let all: Vec<(&TrialRecord, &Series)> = all.collect();
    let (_, first) = all.first()?;
    let alike = all.iter().filter(|(_, one)| one.metric == first.metric && one.step == first.step);
    let alike: Vec<&[f64]> = alike.map(|(record, one)| whole(record, one)).collect();
    let count = alike.iter().map(|values| values.len()).min().filter(|n| *n >= STEADY_FROM)?;
    let round = |at: usize| {
        let values: Vec<f64> = alike.iter().map(|values| values[at]).collect();
        mean_or_single(&values, first.unit)
    };
    let rates = (0..count).map(round).collect::<Option<Vec<_>>>()?;
    Some(Rounds { metric: first.metric.clone(), round: first.step, rates })
}

/// The whole rounds of a trial: its last may be shorter.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounds are few")]
fn whole<'r>(record: &TrialRecord, one: &'r Series) -> &'r [f64] {
    let rounds = record.outcome.window.seconds() / one.step.value.max(f64::MIN_POSITIVE);
    let whole = (rounds + ROUNDING).floor() as usize;
    &one.values[..whole.min(one.values.len())]
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Simulated;
    use super::*;
    use crate::unit::Unit;

    /// A run of which each trial has so many rounds of 0.1 s, the i-th of this rate, and its
    /// window ends half a round later.
    fn run(rounds: u32, rate: impl Fn(u32) -> f64) -> Run {
        let mut run = Simulated::default().run();
        run.plan.loads[0].roles.insert(ParamRole::Round, "lap".into());
        for (trial, record) in run.records.iter_mut().enumerate() {
            let outcome = &mut record.outcome;
            let tenths = u64::from(rounds) * 100_000_000 + 50_000_000;
            outcome.window.closed_ns = outcome.window.opened_ns + tenths;
            let of = |at| rate(at) * if trial == 0 { 1.25 } else { 0.8 };
            outcome.series = vec![Series {
                metric: "throughput".into(),
                unit: Unit::BitPerSecond,
                step: Quantity::seconds(0.1),
                values: (0..=rounds).map(of).collect(),
            }];
        }
        run
    }

    fn of(run: &Run) -> Option<Rounds> {
        let trials: Vec<&TrialRecord> = run.records.iter().take(2).collect();
        rounds(run, &run.plan.loads[0].name, &trials)
    }

    #[test]
    fn whole_rounds_are_means_over_the_trials() {
        let found = of(&run(20, |at| if at < 12 { 100.0 } else { 50.0 })).unwrap();
        assert_eq!((found.round, found.rates.len()), (Quantity::seconds(0.1), 20));
        let centres: Vec<f64> = found.rates.iter().map(|rate| rate.centre.value.round()).collect();
        assert_eq!((centres[0], centres[11], centres[12]), (100.0, 100.0, 50.0));
        assert!(found.rates[0].low.value < 80.0 && found.rates[0].high.value > 125.0);
    }

    #[test]
    fn too_few_rounds_and_loads_without_them_have_none() {
        assert_eq!(of(&run(14, |_| 1.0)), None);
        assert!(of(&run(15, |_| 1.0)).is_some());
        let mut none = run(20, |_| 1.0);
        none.plan.loads[0].roles.clear();
        assert_eq!(of(&none), None);
    }

    #[test]
    fn trials_with_another_round_are_left_out() {
        let mut run = run(20, |_| 100.0);
        run.records[1].outcome.series[0].step = Quantity::seconds(0.05);
        let found = of(&run).unwrap();
        assert_eq!(found.rates[0].n, 1);
    }
}
