//! Knows how the samples of all threads become the rate of each round of the window, and what a
//! record holds of its steady state. Pure.
//!
//! Must not know what the work was, nor why a rate changed.

use super::recipe::Order;
use desk::record::{self, ParamRole, Reading, WorkloadSpec};
use desk::stats::{Leaving, steady_state};
use desk::unit::Quantity;
use rig::metal::Series;

/// A last round that lacks less than this share is a whole one.
const ROUNDING: f64 = 1e-6;

/// The rates of the window in rounds, and the readings of its steady state.
pub(super) type Rounds = (Vec<record::Series>, Vec<Reading>);

/// Of a load with a parameter of the role `round`, whose first metric is its work a second; nothing
/// of any other.
///
/// The rates are those of all samples, disturbed ones too. Readings of `rounds`: `count`, whole
/// rounds in the window; `steady`, when the steady state began, and `left.HOW`, when it ended,
/// seconds since the window opened.
pub(super) fn rounds(
    spec: &WorkloadSpec,
    order: &Order,
    (threads, window_s): (&[Series], f64),
) -> Rounds {
    let round = spec.params.iter().find(|param| param.role == Some(ParamRole::Round));
    let round_s = round.and_then(|param| order.quantity(param.name)).filter(|s| *s > 0.0);
    let (Some(round_s), Some(metric)) = (round_s, spec.metrics.first()) else {
        return Rounds::default();
    };
    let (whole, all) = counts(window_s, round_s);
    let mut values = vec![0.0; all];
    for thread in threads {
        let rates = rates(thread, (window_s, round_s), all);
        values.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate);
    }
    let readings = readings(values.get(..whole).unwrap_or_default(), round_s);
    let step = Quantity::seconds(round_s);
    let series = record::Series { metric: metric.name.into(), unit: metric.unit, step, values };
    (vec![series], readings)
}

/// Whole rounds of a window, and all with the last one, which may be shorter.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a window has far fewer than 2^53 rounds"
)]
fn counts(window_s: f64, round_s: f64) -> (usize, usize) {
    let rounds = (window_s / round_s).max(0.0);
    ((rounds + ROUNDING).floor() as usize, (rounds - ROUNDING).ceil().max(0.0) as usize)
}

/// Work a second of one thread in each round.
///
/// Samples follow each other, but for some 50 us: they are spread over the whole window. Samples
/// that end after it keep their length, and what is after it is in no round. The work of a sample
/// is spread evenly over its time.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "work, times and rounds of a window are below 2^53"
)]
fn rates(thread: &Series, (window_s, round_s): (f64, f64), all: usize) -> Vec<f64> {
    let measured_s = thread.samples.iter().map(|sample| sample.ns as f64 / 1e9).sum::<f64>();
    let stretch = (window_s / measured_s.max(1e-9)).max(1.0);
    let mut rounds = vec![(0.0, 0.0); all];
    let mut from_s = 0.0;
    for sample in &thread.samples {
        let length_s = sample.ns as f64 / 1e9;
        let to_s = from_s + length_s * stretch;
        let first = (from_s / round_s) as usize;
        for (at, (work, time_s)) in rounds.iter_mut().enumerate().skip(first) {
            let (begins_s, ends_s) = (at as f64 * round_s, (at + 1) as f64 * round_s);
            if begins_s >= to_s {
                break;
            }
            let share = (to_s.min(ends_s) - from_s.max(begins_s)) / (to_s - from_s).max(1e-9);
            *work += sample.work as f64 * share.max(0.0);
            *time_s += length_s * share.max(0.0);
        }
        from_s = to_s;
    }
    rounds.into_iter().map(|(work, time_s)| work / f64::max(time_s, 1e-9)).collect()
}

fn readings(whole: &[f64], round_s: f64) -> Vec<Reading> {
    let row = |key: &str, quantity| Reading {
        probe: "rounds".into(),
        host: "sut".into(),
        key: key.into(),
        quantity,
    };
    let begin = |round: usize| {
        let rounds = u32::try_from(round).unwrap_or(u32::MAX);
        Quantity::seconds(f64::from(rounds) * round_s)
    };
    let mut all = vec![row("count", Quantity::count(whole.len() as u64))];
    let Some(state) = steady_state(whole) else { return all };
    all.push(row("steady", begin(state.from)));
    if let Some(left) = state.left {
        let word = Leaving::ALL.iter().find(|(how, _)| *how == left.how).map(|(_, word)| word);
        all.extend(word.map(|word| row(&format!("left.{word}"), begin(left.at))));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{order, series};
    use super::*;
    use desk::record::{Better, MetricRole, MetricSpec, ParamKind, ParamSpec, Place, Value};
    use desk::unit::Unit;

    const SPEC: WorkloadSpec = WorkloadSpec {
        name: "toy",
        question: "how fast it counts",
        place: Place::Machine,
        revision: 1,
        params: &[ParamSpec {
            name: "lap",
            about: "time of a round",
            role: Some(ParamRole::Round),
            kind: ParamKind::count(1, 2),
            default: "1",
        }],
        metrics: &[MetricSpec {
            name: "counts",
            title: "counts",
            role: MetricRole::Rate,
            unit: Unit::OperationPerSecond,
            better: Better::Higher,
            limit: "the clock",
        }],
        quantiles: &[],
        derives: &[],
    };

    fn of(threads: &[Series], window_s: f64) -> (Vec<f64>, Vec<(String, f64)>) {
        let round = Value::Quantity(Quantity::seconds(1.0));
        let (all, readings) =
            rounds(&SPEC, &order(&SPEC, &[("lap", round)], &[]), (threads, window_s));
        let told = readings.into_iter().map(|r| (r.key, r.quantity.value)).collect();
        (all.into_iter().flat_map(|one| one.values).collect(), told)
    }

    /// A thread with samples of 0.1 s and so much work each.
    fn thread(samples: usize, work: impl Fn(usize) -> u64) -> Series {
        series(&(0..samples).map(work).collect::<Vec<u64>>(), 100_000_000)
    }

    #[test]
    fn a_fallen_rate_is_told_with_its_moment() {
        let fallen = thread(400, |at| if at < 250 { 100 } else { 30 });
        let (rates, told) = of(&[fallen.clone(), fallen.clone()], 40.0);
        assert!(rates.len() == 40 && (rates[0] - 2000.0).abs() < 1e-6, "{rates:?}");
        assert!((rates[39] - 600.0).abs() < 1e-6, "{rates:?}");
        let names = |all: &[(&str, f64)]| -> Vec<(String, f64)> {
            all.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect()
        };
        assert_eq!(told, names(&[("count", 40.0), ("steady", 0.0), ("left.lower", 25.0)]));
        // Without its last fifteen seconds nothing is left.
        assert_eq!(of(&[thread(250, |_| 100)], 25.0).1, names(&[("count", 25.0), ("steady", 0.0)]));
        assert_eq!(of(&[thread(20, |_| 100)], 2.0).1, names(&[("count", 2.0)]));
    }

    #[test]
    fn a_sample_is_in_all_rounds_that_it_lasts_in() {
        // One of 0.5 s, one that stalls for 2 s, and one of 0.5 s.
        let mut stalls = series(&[50, 20, 50], 500_000_000);
        stalls.samples[1].ns = 2_000_000_000;
        let (rates, _) = of(&[stalls.clone()], 3.0);
        let near = |rates: &[f64], all: &[f64]| {
            rates.len() == all.len() && rates.iter().zip(all).all(|(a, b)| (a - b).abs() < 1e-6)
        };
        assert!(near(&rates, &[55.0, 10.0, 55.0]), "{rates:?}");
        // Beyond the window it is in no round, and a last round may be shorter.
        let (rates, told) = of(&[stalls], 1.75);
        assert!(near(&rates, &[55.0, 10.0]) && told[0].1 == 1.0, "{rates:?} {told:?}");
        // What lies between samples lengthens none.
        let (rates, _) = of(&[thread(19, |_| 100)], 2.0);
        assert!(near(&rates, &[1000.0, 1000.0]), "{rates:?}");
    }

    #[test]
    fn a_load_without_such_a_parameter_has_none() {
        let plain = WorkloadSpec { params: &[], ..SPEC };
        let threads = [thread(20, |_| 100)];
        assert_eq!(rounds(&plain, &order(&plain, &[], &[]), (&threads, 2.0)), Rounds::default());
    }
}
