//! Knows whether the rates of successive rounds reach a steady state, from which round on, and
//! until which.
//!
//! Never: what the rates are of, or how long a round is.

use super::change::{Fit, drift, real};
use super::index::mean;
use super::interval::t_quantile;

/// Rounds of the measurement window of SNIA.
const ROUNDS: usize = 5;
/// Largest range of the rates in that window, of their mean.
const RANGE_MOST: f64 = 0.2;
/// Largest change of the best-fit line, of the mean: over that window, and over the whole stretch.
const LINE_MOST: f64 = 0.1;
/// Fewest rounds of a steady state, and of a series that can have one.
pub const STEADY_FROM: usize = 15;
/// A change of the line that is surely there and larger than this, of the mean, is a drift.
const DRIFT: f64 = 0.04;
/// At most so many rounds are tried as the first one: each try looks at all that follow.
const BEGINS: usize = 1000;
/// One-sided error of each test of the line.
const ONE_SIDED: f64 = 0.05;
/// A round leaves the level beyond this share of the mean,
const BAND: f64 = 0.1;
/// and beyond so many standard deviations of the rounds before it.
const DEVIATIONS: f64 = 3.5;
/// A round off the level ends the steady state if another follows within so many rounds.
const NEAR: usize = 15;

/// A stretch of rounds with a steady rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteadyState {
    /// Its first round, from 0.
    pub from: usize,
    /// How it ended; none if it lasted to the last round.
    pub left: Option<Left>,
}

/// The end of a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The first round off its level, from 0.
    pub at: usize,
    /// What the rounds from then on did.
    pub how: Leaving,
}

/// What the rate did after a steady state. Rates alone name no cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaving {
    /// It fell and did not return: an exhausted cache, a lasting throttle.
    Lower,
    /// It fell, returned to the level, and fell again: a periodic throttle.
    Repeated,
    /// It fell once and returned to the level: the rebuild of an array, other work of the drive.
    Recovered,
    /// It rose.
    Higher,
}

impl Leaving {
    /// All of them, with the word of each in a record.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Lower, "lower"),
        (Self::Repeated, "repeated"),
        (Self::Recovered, "recovered"),
        (Self::Higher, "higher"),
    ];
}

/// The first steady state of these rates, one a round; none where there is none, or where there
/// are fewer rounds than [`STEADY_FROM`].
///
/// It begins with five rounds that meet SNIA, "Solid State Storage Performance Test
/// Specification" 2.0.2 (2020), definition of steady state: their range is at most 20 % of their
/// mean, and the best-fit line changes by at most 10 % of the mean over them. That alone calls a
/// slow drift steady. So it also has at least 15 rounds and at least as many as lie between the
/// first five that meet SNIA and its begin, and the line through all its rounds changes surely by
/// less than 10 % of the mean (t, one-sided 5 %) and not surely by more than 4 %.
///
/// It ends before the first of two rounds, at most 15 apart, that are off the mean so far by more
/// than 10 % and 3.5 standard deviations, if five rounds after that moment differ from five before
/// it by more than 10 %: a drift has no such moment. A round alone off the mean is left out. Of
/// more than 1,000 rounds not every one is tried as the first.
#[must_use]
pub fn steady_state(rates: &[f64]) -> Option<SteadyState> {
    let last = rates.len().checked_sub(STEADY_FROM)?;
    let begins = (0..=last).step_by(1 + last / BEGINS);
    let mut begins = begins.filter(|at| is_within_limits(&rates[*at..*at + ROUNDS])).peekable();
    let first = *begins.peek()?;
    begins.find_map(|from| {
        let stretch = Stretch::begin(rates, from);
        let length = stretch.end - from;
        let lasts = length >= STEADY_FROM.max(from - first);
        let is_steady = lasts && is_level(&stretch.kept) && stretch.ends_at_once(rates);
        is_steady.then(|| SteadyState { from, left: stretch.left(rates) })
    })
}

/// The limits of SNIA for five rounds.
fn is_within_limits(rounds: &[f64]) -> bool {
    let (least, most) = rounds
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let centre = mean(rounds);
    let points: Vec<(f64, f64)> = (0..rounds.len()).map(|at| (real(at), rounds[at])).collect();
    centre > 0.0
        && most - least <= RANGE_MOST * centre
        && drift(&points).size.abs() <= LINE_MOST * centre
}

/// Whether the line through these rounds is surely level.
fn is_level(kept: &[(f64, f64)]) -> bool {
    let Fit { size, error } = drift(kept);
    let centre = kept.iter().map(|(_, rate)| rate).sum::<f64>() / real(kept.len());
    let freedom = real(kept.len()) - 2.0;
    let most = size.abs() + t_quantile(ONE_SIDED, freedom) * error;
    let is_drift =
        size.abs() > DRIFT * centre && size.abs() > t_quantile(0.5 * ONE_SIDED, freedom) * error;
    most <= LINE_MOST * centre && !is_drift
}

/// Rounds at one level.
struct Stretch {
    /// Place and rate of those that are not off it.
    kept: Vec<(f64, f64)>,
    /// The first round that is no longer of it.
    end: usize,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

impl Stretch {
    fn begin(rates: &[f64], from: usize) -> Self {
        let mut stretch = Self { kept: Vec::new(), end: rates.len(), mean: 0.0, squares: 0.0 };
        let mut off: Option<usize> = None;
        for (at, rate) in rates.iter().enumerate().skip(from) {
            if stretch.has(*rate) {
                stretch.keep(at, *rate);
                continue;
            }
            if let Some(before) = off.filter(|before| at - before <= NEAR) {
                stretch.kept.retain(|(place, _)| *place < real(before));
                stretch.end = before;
                return stretch;
            }
            off = Some(at);
        }
        stretch
    }

    /// One more round; the running mean and squares of B. P. Welford, Technometrics 4 (1962),
    /// 419-420.
    fn keep(&mut self, at: usize, rate: f64) {
        self.kept.push((real(at), rate));
        let off = rate - self.mean;
        self.mean += off / real(self.kept.len());
        self.squares += off * (rate - self.mean);
    }

    /// Whether a rate is at its level; the first five are.
    fn has(&self, rate: f64) -> bool {
        let n = self.kept.len();
        n < ROUNDS || (rate - self.mean).abs() <= self.band()
    }

    fn band(&self) -> f64 {
        let deviation = (self.squares / (real(self.kept.len()) - 1.0)).sqrt();
        (BAND * self.mean).max(DEVIATIONS * deviation)
    }

    /// Whether the rate leaves its level within a round, if it leaves it.
    fn ends_at_once(&self, rates: &[f64]) -> bool {
        let after: Vec<f64> = rates.iter().skip(self.end).take(ROUNDS).copied().collect();
        let before: Vec<f64> = self.kept.iter().rev().take(ROUNDS).map(|(_, rate)| *rate).collect();
        after.is_empty() || (mean(&after) - mean(&before)).abs() > BAND * self.mean
    }

    /// What the rounds from its end on do.
    fn left(&self, rates: &[f64]) -> Option<Left> {
        let (at, rest) = (self.end, rates.get(self.end..)?);
        let is_low = |rate: &f64| *rate < self.mean - self.band();
        let how = if *rest.first()? > self.mean {
            Leaving::Higher
        } else {
            // Two rounds, or the very last one, are a return.
            let mut pairs = (1..rest.len()).map(|next| (next, rest.iter().skip(next).take(2)));
            let returned = pairs.find(|(_, two)| !two.clone().any(is_low)).map(|(next, _)| next);
            let again = |from: usize| {
                let low = rest.iter().enumerate().skip(from).filter(|(_, rate)| is_low(rate));
                let low: Vec<usize> = low.map(|(next, _)| next).collect();
                low.windows(2).any(|two| two[1] - two[0] <= NEAR)
            };
            match returned {
                None => Leaving::Lower,
                Some(from) if again(from) => Leaving::Repeated,
                Some(_) => Leaving::Recovered,
            }
        };
        Some(Left { at, how })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::distribution::{ContinuousCDF, Normal};
    use std::ops::Range;

    /// Rounds of a simulated drive.
    const N: usize = 60;
    /// Standard deviation of a round, of its rate, and correlation of neighbours.
    const NOISES: [(f64, f64); 2] = [(0.01, 0.0), (0.02, 0.3)];

    /// Rates of a drive with this level, and noise of first order.
    fn drive(
        level: &dyn Fn(usize) -> f64,
        (deviation, follows): (f64, f64),
        seed: u64,
    ) -> Vec<f64> {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || Normal::standard().inverse_cdf(chance.random_range(1e-9..1.0));
        let mut off = normal() * deviation;
        let rate = |at: usize| {
            let rate = 50_000.0 * level(at) * (1.0 + off);
            off = follows * off + normal() * deviation * (1.0 - follows * follows).sqrt();
            rate
        };
        (0..N).map(rate).collect()
    }

    /// A kind of drive: its level by round, and whether it was judged rightly.
    type Kind = (&'static str, fn(usize) -> f64, fn(Option<SteadyState>) -> bool);

    const KINDS: [Kind; 15] = [
        ("plain", |_| 1.0, |found| lasts(found, 0..10)),
        // Within 20 % of its last level from round 9 on.
        ("settles", |at| 1.0 + 2.0 * (-real(at) / 4.0).exp(), |found| lasts(found, 9..26)),
        ("falls by 20 %", |at| drifted(at, 0.2), |found| found.is_none()),
        ("falls by 30 %", |at| drifted(at, 0.3), |found| found.is_none()),
        ("falls by 50 %", |at| drifted(at, 0.5), |found| found.is_none()),
        ("rises by 30 %", |at| drifted(at, -0.3), |found| found.is_none()),
        ("settles slowly", |at| 1.0 + 2.0 * (-real(at) / 36.0).exp(), |found| found.is_none()),
        ("small cache", |at| if at < 20 { 1.0 } else { 0.4 }, |f| leaves(f, 20, Leaving::Lower)),
        ("large cache", |at| if at < 40 { 1.0 } else { 0.4 }, |f| leaves(f, 40, Leaving::Lower)),
        ("fast medium", |at| if at < 40 { 1.0 } else { 0.7 }, |f| leaves(f, 40, Leaving::Lower)),
        // The cache is too small for a steady state; the level after it is one.
        ("tiny cache", |at| if at < 8 { 1.0 } else { 0.4 }, |found| lasts(found, 8..18)),
        ("heat", |at| if at < 30 { 1.0 } else { 0.75 }, |f| leaves(f, 30, Leaving::Lower)),
        (
            "throttles",
            |at| if at >= 30 && at % 6 < 3 { 0.7 } else { 1.0 },
            |found| leaves(found, 30, Leaving::Repeated),
        ),
        (
            "rebuild",
            |at| if (30..42).contains(&at) { 0.6 } else { 1.0 },
            |found| leaves(found, 30, Leaving::Recovered),
        ),
        (
            "rebuild ends",
            |at| if at < 30 { 0.6 } else { 1.0 },
            |found| leaves(found, 30, Leaving::Higher),
        ),
    ];

    fn drifted(at: usize, moved: f64) -> f64 {
        1.0 - moved * real(at) / real(N)
    }

    fn lasts(found: Option<SteadyState>, from: Range<usize>) -> bool {
        found.is_some_and(|state| from.contains(&state.from) && state.left.is_none())
    }

    fn leaves(found: Option<SteadyState>, at: usize, how: Leaving) -> bool {
        found.is_some_and(|state| state.from < 10 && state.left == Some(Left { at, how }))
    }

    /// Judges so many drives of each kind; of each at least this share has to be right.
    fn must_be_right(seeds: u64, noise: (f64, f64), least: f64) {
        for (kind, level, right) in KINDS {
            let judged = |seed| steady_state(&drive(&level, noise, seed));
            let hits = (0..seeds).filter(|seed| right(judged(*seed))).count();
            let share = real(hits) / real(usize::try_from(seeds).unwrap());
            println!("{kind}, {noise:?}: {share}");
            assert!(share >= least, "{kind}, {noise:?}: {share}");
        }
    }

    #[test]
    fn simulated_drives_are_judged_rightly() {
        NOISES.into_iter().for_each(|noise| must_be_right(20, noise, 0.95));
        // The limits of five rounds alone call each drift steady.
        let alone = |level: fn(usize) -> f64| {
            drive(&level, NOISES[0], 1).windows(ROUNDS).any(is_within_limits)
        };
        assert!(KINDS[2..7].iter().all(|(_, level, _)| alone(*level)));
    }

    /// The standard deviation of a share of 0.95 is 0.007.
    #[test]
    #[ignore = "30,000 series: ./test full"]
    fn many_drives_with_more_noise_are_judged_rightly() {
        must_be_right(1000, (0.02, 0.3), 0.97);
        must_be_right(1000, (0.03, 0.3), 0.93);
    }

    #[test]
    fn noise_beyond_the_limits_is_not_steady() {
        let wild = |seed| steady_state(&drive(&|_| 1.0, (0.2, 0.0), seed)).is_none();
        assert!((0..20).filter(|seed| wild(*seed)).count() >= 19);
    }

    #[test]
    fn the_limits_are_those_of_snia() {
        // A range of 20 % of the mean, and one of a little more, on a level line.
        assert!(is_within_limits(&[100.0, 90.0, 100.0, 110.0, 100.0]));
        assert!(is_within_limits(&[110.0, 90.0, 100.0, 90.0, 110.0]));
        assert!(!is_within_limits(&[110.1, 89.9, 100.0, 89.9, 110.1]));
        // The line changes by 10 % of the mean, and by a little more.
        assert!(is_within_limits(&[95.0, 97.5, 100.0, 102.5, 105.0]));
        assert!(!is_within_limits(&[94.9, 97.45, 100.0, 102.55, 105.1]));
        assert!(!is_within_limits(&[0.0; 5]));
    }

    #[test]
    fn too_few_rounds_and_stalls_have_no_steady_state() {
        assert_eq!(steady_state(&[100.0; STEADY_FROM - 1]), None);
        assert_eq!(steady_state(&[0.0; 40]), None);
        let always = Some(SteadyState { from: 0, left: None });
        assert_eq!(steady_state(&[100.0; STEADY_FROM]), always);
        // One round that stalls is no end; two are.
        let mut rates = [100.0; 40];
        rates[25] = 10.0;
        assert_eq!(steady_state(&rates), always);
        rates[30] = 10.0;
        let how = Leaving::Recovered;
        assert_eq!(steady_state(&rates).unwrap().left, Some(Left { at: 25, how }));
    }
}
