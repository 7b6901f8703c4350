//! Knows which trials of a run were measured outside a steady state, by what their records hold of
//! rounds.
//!
//! Never: what the load was, or how the steady state was found.

use super::finding::Caveat;
use crate::record::TrialRecord;
use crate::stats::{Leaving, STEADY_FROM};
use crate::unit::Quantity;

/// Share of the trials that may be outside a steady state without a word. A plain load is outside
/// it by chance in one of a hundred, or less.
const OUTSIDE: f64 = 0.1;
/// Share of the rounds of a trial from which its steady state began late.
const LATE: f64 = 0.1;

/// What a record holds of the rounds of its window.
struct Rounds {
    count: f64,
    /// When the steady state began, as a share of the whole rounds; none where there was none.
    began: Option<f64>,
    /// How it ended, and when, seconds since the window opened.
    left: Option<(Leaving, f64)>,
}

impl Rounds {
    /// None of a load without rounds.
    fn of(record: &TrialRecord) -> Option<Self> {
        let read = |key: &str| record.reading("rounds", "sut", key).map(|found| found.value);
        let left = |(how, word): (Leaving, &str)| Some((how, read(&format!("left.{word}"))?));
        Some(Self {
            count: read("count")?,
            began: read("steady").map(|at_s| at_s / record.outcome.window.seconds()),
            left: Leaving::ALL.into_iter().find_map(left),
        })
    }

    fn is_tested(&self) -> bool {
        self.count >= least()
    }
}

/// The reasons to doubt the figures of valid trials, told of more than a tenth of them: no steady
/// state, or a late one; one that ended within the window.
pub(super) fn outside<'r>(valid: impl Iterator<Item = &'r TrialRecord>) -> Vec<Caveat> {
    let all: Vec<Rounds> = valid.filter_map(Rounds::of).filter(Rounds::is_tested).collect();
    let of = count(all.iter());
    let never = count(all.iter().filter(|rounds| rounds.began.is_none()));
    let late = count(all.iter().filter(|rounds| rounds.began.is_some_and(|at| at > LATE)));
    let ends: Vec<(Leaving, f64)> = all.iter().filter_map(|rounds| rounds.left).collect();
    let by = |how: Leaving| count(ends.iter().filter(|end| end.0 == how));
    let is_told = |some: f64| some > OUTSIDE * of.value;
    let unsettled = Caveat::Unsettled { never, late, of };
    let left = Caveat::LeftSteadyState {
        trials: count(ends.iter()),
        of,
        lower: by(Leaving::Lower),
        repeated: by(Leaving::Repeated),
        recovered: by(Leaving::Recovered),
        higher: by(Leaving::Higher),
        earliest: Quantity::seconds(ends.iter().map(|end| end.1).fold(f64::INFINITY, f64::min)),
    };
    let unsettled = is_told(never.value + late.value).then_some(unsettled);
    unsettled.into_iter().chain(is_told(count(ends.iter()).value).then_some(left)).collect()
}

/// Trials whose windows hold too few rounds to tell.
pub(super) fn few_rounds<'r>(valid: impl Iterator<Item = &'r TrialRecord>) -> Option<Caveat> {
    let all: Vec<Rounds> = valid.filter_map(Rounds::of).collect();
    let few: Vec<&Rounds> = all.iter().filter(|rounds| !rounds.is_tested()).collect();
    let rounds = few.iter().map(|rounds| rounds.count).min_by(f64::total_cmp)?;
    Some(Caveat::FewRounds {
        trials: count(few.iter()),
        of: count(all.iter()),
        rounds: Quantity::new(rounds, crate::unit::Unit::Count),
        needs: Quantity::count(STEADY_FROM as u64),
    })
}

fn count<T>(all: impl Iterator<Item = T>) -> Quantity {
    Quantity::count(all.count() as u64)
}

#[expect(clippy::cast_precision_loss, reason = "a few rounds")]
const fn least() -> f64 {
    STEADY_FROM as f64
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::{Reading, Run, TrialKind, Window};

    /// A run whose counted trials have windows of 40 s and these readings of rounds.
    fn run(readings: &dyn Fn(usize) -> Vec<(&'static str, f64)>) -> Run {
        let mut run = Simulated::default().run();
        let counted = run.records.iter_mut().filter(|r| r.trial.kind == TrialKind::Counted);
        for (at, record) in counted.enumerate() {
            record.outcome.window = Window { opened_ns: 0, closed_ns: 40_000_000_000 };
            let reading = |(key, value): (&str, f64)| Reading {
                probe: "rounds".into(),
                host: "sut".into(),
                key: key.into(),
                quantity: Quantity::seconds(value),
            };
            record.readings.extend(readings(at).into_iter().map(reading));
        }
        run
    }

    fn told(run: &Run) -> Vec<Caveat> {
        let of_rounds = |caveat: &Caveat| {
            matches!(
                caveat,
                Caveat::Unsettled { .. }
                    | Caveat::LeftSteadyState { .. }
                    | Caveat::FewRounds { .. }
            )
        };
        analyse(run).caveats.into_iter().filter(of_rounds).collect()
    }

    #[test]
    fn a_steady_load_and_one_without_rounds_raise_no_doubt() {
        assert_eq!(told(&run(&|_| Vec::new())), []);
        assert_eq!(told(&run(&|_| vec![("count", 40.0), ("steady", 3.0)])), []);
        // One trial of many may be otherwise.
        let one = |at| {
            if at == 5 { vec![("count", 40.0)] } else { vec![("count", 40.0), ("steady", 0.0)] }
        };
        assert_eq!(told(&run(&one)), []);
    }

    #[test]
    fn trials_outside_a_steady_state_are_counted_by_what_was_wrong() {
        let rows = |at: usize| match at {
            0 | 1 => vec![("count", 40.0)],
            2 => vec![("count", 40.0), ("steady", 12.0)],
            3 => vec![("count", 40.0), ("steady", 0.0), ("left.lower", 25.0)],
            4 => vec![("count", 40.0), ("steady", 0.0), ("left.recovered", 20.0)],
            5 => vec![("count", 2.0)],
            _ => vec![("count", 40.0), ("steady", 0.0)],
        };
        let found = told(&run(&rows));
        let [
            Caveat::Unsettled { never, late, of },
            Caveat::LeftSteadyState {
                trials, lower, repeated, recovered, higher, earliest, ..
            },
            Caveat::FewRounds { trials: few, of: all, rounds, needs },
        ] = &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!((never.value, late.value, of.value), (2.0, 1.0, all.value - 1.0));
        assert_eq!((trials.value, lower.value, recovered.value), (2.0, 1.0, 1.0));
        assert_eq!((repeated.value, higher.value, earliest.value), (0.0, 0.0, 20.0));
        assert_eq!((few.value, rounds.value, needs.value), (1.0, 2.0, 15.0));
    }
}
