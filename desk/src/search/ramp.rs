//! Knows when a ramp over concurrency has gone far enough, where its peak is, and where its largest
//! power is.
//!
//! Never: what the work is.

use super::Next;

/// What a concurrency gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// How many at once.
    pub concurrency: f64,
    /// Work a second, 0 or more.
    pub rate: f64,
    /// Time of one piece of work, seconds, above 0.
    pub time_s: f64,
}

/// A rate must rise by this share to be a new highest one.
const RISE: f64 = 0.02;
/// Rungs in a row without a new highest rate that end the ramp.
const PATIENCE: usize = 2;

/// The next concurrency of a rising list, or enough: the list has ended, or [`PATIENCE`] rungs gave
/// no rate 2 % above the highest before them. What is found is the concurrency of the peak.
#[must_use]
pub fn ramp(rungs: &[Rung], list: &[f64]) -> Next {
    let Some(peak) = highest(rungs) else {
        return list.first().map_or(Next::Enough(None), |first| Next::Try(*first));
    };
    let after = rungs.len() - 1 - peak;
    match list.get(rungs.len()) {
        Some(next) if after < PATIENCE => Next::Try(*next),
        _ => Next::Enough(Some(rungs[peak].concurrency)),
    }
}

/// The first rung that no later one exceeds by [`RISE`]; none of none.
fn highest(rungs: &[Rung]) -> Option<usize> {
    let mut best = None;
    for (at, rung) in rungs.iter().enumerate() {
        if best.is_none_or(|best: usize| rung.rate > rungs[best].rate * (1.0 + RISE)) {
            best = Some(at);
        }
    }
    best
}

/// The concurrency of the largest power, rate over time of one piece of work
/// (Kleinrock 1979, "Power and deterministic rules of thumb"). Below it the rate rises for little
/// time, above it the time rises for little rate. None of fewer than three rungs.
#[must_use]
pub fn power_peak(rungs: &[Rung]) -> Option<f64> {
    let power = |rung: &Rung| rung.rate / rung.time_s.max(f64::MIN_POSITIVE);
    let largest = rungs.iter().max_by(|a, b| power(a).total_cmp(&power(b)))?;
    (rungs.len() >= 3).then_some(largest.concurrency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    fn doubling() -> Vec<f64> {
        (0..12).map(|step| f64::from(1 << step)).collect()
    }

    fn climb(list: &[f64], mut rung: impl FnMut(f64) -> Rung) -> (Vec<Rung>, Option<f64>) {
        let mut rungs = Vec::new();
        loop {
            match ramp(&rungs, list) {
                Next::Try(concurrency) => rungs.push(rung(concurrency)),
                Next::TryFor(..) | Next::TryAt(..) => panic!("it sets no window"),
                Next::Enough(found) => return (rungs, found),
            }
        }
    }

    fn steps_apart(a: f64, b: f64) -> f64 {
        (a / b).log2().abs()
    }

    /// Servers that obey the universal scalability law (Gunther): rate = n / (1 + s (n - 1) +
    /// k n (n - 1)), with its peak at the square root of (1 - s) / k; rates scatter by 1 %.
    #[test]
    fn a_ramp_stops_after_the_peak_in_20_of_20_servers() {
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (s, peak) = (rng.random_range(0.0..0.1), 2_f64.powf(rng.random_range(2.0..8.0)));
            let k = (1.0 - s) / (peak * peak);
            let (rungs, found) = climb(&doubling(), |n| {
                let rate = 1e4 * n / (1.0 + s * (n - 1.0) + k * n * (n - 1.0));
                let rate = rate * (1.0 + rng.random_range(-0.01..0.01));
                Rung { concurrency: n, rate, time_s: n / rate }
            });
            let last = rungs.last().map_or(0.0, |rung| rung.concurrency);
            assert!(last > peak && last <= 8.0 * peak, "{seed}: ended at {last}, peak {peak}");
            let found = found.unwrap_or(f64::NAN);
            assert!(steps_apart(found, peak) <= 1.0, "{seed}: {found} and {peak}");
        }
    }

    /// Closed systems: mean value analysis of one queue with a delay before it.
    #[test]
    fn the_planted_knee_is_found_within_one_step_in_18_of_20_servers() {
        let mut near = 0;
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(100 + seed);
            let (service, delay) = (1e-4, 1e-4 * 2_f64.powf(rng.random_range(1.0..7.0)));
            // Asymptotic bounds (Lazowska et al. 1984): the load at which queueing must begin.
            let truth = (service + delay) / service;
            let (mut queue, mut done) = (0.0, 0.0);
            let mut rungs = Vec::new();
            for n in doubling() {
                while done < n {
                    done += 1.0;
                    let time = service * (1.0 + queue);
                    queue = done / (time + delay) * time;
                }
                let time = service * (1.0 + queue) + delay;
                let scatter = 1.0 + rng.random_range(-0.03..0.03);
                rungs.push(Rung {
                    concurrency: n,
                    rate: n / time * scatter,
                    time_s: time / scatter,
                });
            }
            near +=
                u32::from(power_peak(&rungs).is_some_and(|found| steps_apart(found, truth) <= 1.0));
        }
        println!("{near} of 20 knees within one step");
        assert!(near >= 18, "{near} of 20");
    }

    #[test]
    fn a_list_that_ends_is_enough_and_few_rungs_have_no_power_peak() {
        let rising = |n: f64| Rung { concurrency: n, rate: n, time_s: 1.0 };
        let (rungs, found) = climb(&[1.0, 2.0, 4.0], rising);
        assert_eq!((rungs.len(), found), (3, Some(4.0)));
        assert_eq!(ramp(&[], &[]), Next::Enough(None));
        assert_eq!(power_peak(&rungs[..2]), None);
    }
}
