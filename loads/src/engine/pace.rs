//! Knows the moments at which work is due when a load is offered at a set rate: an open loop.
//!
//! Must not know what the work is, nor whether it was begun in time.

use desk::record::{ParamKind, ParamRole, ParamSpec, Settings, Value};
use desk::unit::Kind;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rig::lab::clock;
use rig::metal::Span;
use serde::{Deserialize, Serialize};
use std::hint;

/// Steps of [`Arrivals::Steps`].
const STEPS: f64 = 5.0;
/// Share of the rate at which [`Arrivals::Ramp`] begins.
const FIRST: f64 = 0.1;

/// A sleep ends so long before the moment that is due, nanoseconds, or this share of the mean
/// interval: a thread that is woken by its timer begins some 20 us late.
const EARLY_NS: f64 = 30_000.0;
const EARLY: f64 = 1.0 / 32.0;

/// How arrivals of an open loop follow one another.
pub const ARRIVALS: ParamSpec = ParamSpec {
    name: "arrivals",
    about: "of an open loop: equal intervals, a Poisson process, five rising steps, an even rise",
    role: None,
    kind: ParamKind::choice(&Arrivals::WORDS),
    default: "constant",
};

/// The offered rate, or a closed loop.
pub const OFFERED: ParamSpec = ParamSpec {
    name: "offered_load",
    about: "op/s of all clients or threads, an open loop; or full: each begins when one ends",
    role: Some(ParamRole::Offered),
    kind: ParamKind::within(Kind::Operations, 1.0, 1e7).or(&["full"]),
    default: "full",
};

/// The class of operations that were due in the window and were never begun.
pub const UNSENT: &str = "unsent";

/// Of operations that were due, the share that threads themselves began too late, at most 1; by how
/// many of each thread were late, and were due. None where nothing was due.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "operations of a window are below 2^53")]
pub fn late(threads: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let (late, due) = threads.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (due > 0).then(|| (late as f64 / due as f64).min(1.0))
}

/// What a record says of whether the loop was closed or open.
#[must_use]
pub fn told(is_open: bool) -> (String, Value) {
    ("loop".into(), Value::Word(if is_open { "open" } else { "closed" }.into()))
}

/// The rate of an open loop, operations a second; none in a closed one.
#[must_use]
pub fn offered(params: &Settings) -> Option<f64> {
    params.get(OFFERED.name).and_then(Value::quantity).map(|rate| rate.value)
}

/// How arrivals follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrivals {
    /// At equal intervals.
    Constant,
    /// Independently of one another: exponential intervals, a Poisson process.
    Poisson,
    /// At equal intervals; the rate rises over the window in five equal steps.
    Steps,
    /// At intervals that shrink over the window: the rate rises evenly from a tenth.
    Ramp,
}

impl Arrivals {
    /// The words of a plan, in the order of the variants.
    pub const WORDS: [&'static str; 4] = ["constant", "poisson", "steps", "ramp"];

    /// That of a word; [`Self::Constant`] of any other.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word {
            "poisson" => Self::Poisson,
            "steps" => Self::Steps,
            "ramp" => Self::Ramp,
            _ => Self::Constant,
        }
    }
}

/// The schedule of one thread among several that make a load together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// How arrivals follow one another.
    pub arrivals: Arrivals,
    /// Arrivals a second of this thread, above 0; at the end of the window for a rate that rises.
    pub rate: f64,
    /// From go to the first arrival at equal intervals, seconds: the threads take turns.
    pub offset: f64,
    /// Seed of exponential intervals.
    pub seed: u64,
}

impl Pace {
    /// That of a thread with so much of the rate, whose turn is this one of so many.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "threads are few")]
    pub fn of(params: &Settings, rate: f64, (turn, count): (usize, usize), seed: u64) -> Self {
        let word = params.get(ARRIVALS.name).and_then(Value::word).unwrap_or_default();
        Self {
            arrivals: Arrivals::of(word),
            rate,
            offset: turn as f64 / count as f64 / rate,
            seed: seed ^ ((turn as u64 + 1) << 32),
        }
    }
}

/// Moments, each later than the one before. They are absolute: what begins late does not shift
/// what follows.
#[derive(Clone, Debug)]
pub struct Pacer {
    pace: Pace,
    at_ns: f64,
    chance: ChaCha8Rng,
}

impl Pacer {
    /// The moments of a schedule whose go came at this moment, nanoseconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a clock below 2^53 ns: 104 days")]
    pub fn new(pace: Pace, go_ns: u64) -> Self {
        let chance = ChaCha8Rng::seed_from_u64(pace.seed);
        let mut pacer = Self { pace, at_ns: go_ns as f64, chance };
        pacer.at_ns += match pace.arrivals {
            Arrivals::Poisson => pacer.exponential() / pace.rate * 1e9,
            _ => pace.offset * 1e9,
        };
        pacer
    }

    /// When the next work is due, nanoseconds.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a clock")]
    pub const fn due_ns(&self) -> u64 {
        self.at_ns as u64
    }

    /// Until when to sleep for it, nanoseconds; from then on [`Self::spin`] waits.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a clock")]
    pub const fn wake_ns(&self) -> u64 {
        (self.at_ns - EARLY_NS.min(1e9 / self.pace.rate * EARLY)) as u64
    }

    /// Waits without a sleep until the next work is due, where it is time to wake for it; gives the
    /// present moment, nanoseconds.
    #[must_use]
    pub fn spin(&self) -> u64 {
        let mut now_ns = clock::now_ns();
        if now_ns >= self.wake_ns() {
            while now_ns < self.due_ns() {
                hint::spin_loop();
                now_ns = clock::now_ns();
            }
        }
        now_ns
    }

    /// Goes on to the moment after that; the window decides the rate where it rises.
    pub fn advance(&mut self, window: Span) {
        let rate = self.pace.rate * self.share(window);
        let times = match self.pace.arrivals {
            Arrivals::Poisson => self.exponential(),
            _ => 1.0,
        };
        self.at_ns += times / rate * 1e9;
    }

    /// Operations that are due in the window from the next on.
    #[must_use]
    pub fn left(&mut self, window: Span) -> u64 {
        let mut count = 0;
        while window.closes_ns != u64::MAX && self.due_ns() < window.closes_ns {
            count += u64::from(self.due_ns() >= window.opens_ns);
            self.advance(window);
        }
        count
    }

    /// Share of the set rate at the present moment.
    #[expect(clippy::cast_precision_loss, reason = "clocks are below 2^53 ns")]
    fn share(&self, window: Span) -> f64 {
        let Span { opens_ns, closes_ns } = window;
        // Until the close is known the window has not begun, or only just.
        let passed = match closes_ns {
            u64::MAX => 0.0,
            _ => (self.at_ns - opens_ns as f64) / closes_ns.saturating_sub(opens_ns) as f64,
        };
        let passed = passed.clamp(0.0, 1.0);
        match self.pace.arrivals {
            Arrivals::Constant | Arrivals::Poisson => 1.0,
            Arrivals::Steps => ((passed * STEPS).floor() + 1.0).min(STEPS) / STEPS,
            Arrivals::Ramp => FIRST + (1.0 - FIRST) * passed,
        }
    }

    /// A draw of the exponential distribution of mean 1, by its inverse.
    #[expect(clippy::cast_precision_loss, reason = "53 bits of chance")]
    fn exponential(&mut self) -> f64 {
        let unit = ((self.chance.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        -unit.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span { opens_ns: 1_000_000_000, closes_ns: 2_000_000_000 };

    fn moments(arrivals: Arrivals, rate: f64) -> Vec<u64> {
        let pace = Pace { arrivals, rate, offset: 0.25 / rate, seed: 7 };
        let mut pacer = Pacer::new(pace, 0);
        let next = std::iter::repeat_with(|| {
            let due = pacer.due_ns();
            pacer.advance(SECOND);
            due
        });
        next.take_while(|due| *due < SECOND.closes_ns).collect()
    }

    fn within(all: &[u64], from: f64, to: f64) -> usize {
        let span = |share: f64| 1e9 + share * 1e9;
        #[expect(clippy::cast_precision_loss, reason = "two seconds")]
        all.iter().filter(|at| (span(from)..span(to)).contains(&(**at as f64))).count()
    }

    #[test]
    fn equal_intervals_begin_at_the_turn_of_the_thread_and_do_not_wander() {
        let all = moments(Arrivals::Constant, 1000.0);
        assert_eq!((all[0], all[1], all[1999]), (250_000, 1_250_000, 1_999_250_000));
        assert_eq!(all.len(), 2000);
    }

    /// Of a Poisson process mean and standard deviation of the intervals are equal, and counts of
    /// equal spans have the variance of their mean.
    #[test]
    fn poisson_intervals_are_exponential() {
        let all = moments(Arrivals::Poisson, 50_000.0);
        #[expect(clippy::cast_precision_loss, reason = "two seconds")]
        let gaps: Vec<f64> = all.windows(2).map(|two| (two[1] - two[0]) as f64).collect();
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let spread = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert!((mean / 20_000.0 - 1.0).abs() < 0.02, "{mean}");
        assert!((spread / mean - 1.0).abs() < 0.02, "{spread} {mean}");
        let beyond = gaps.iter().filter(|gap| **gap > 3.0 * mean).count() as f64 / count;
        assert!((beyond / (-3.0_f64).exp() - 1.0).abs() < 0.1, "{beyond}");
    }

    #[test]
    fn the_rate_rises_in_five_steps_or_evenly() {
        let steps = moments(Arrivals::Steps, 10_000.0);
        let counts: Vec<usize> =
            (0..5).map(|k| within(&steps, 0.2 * f64::from(k), 0.2 * f64::from(k + 1))).collect();
        for (k, count) in (1..).zip(counts) {
            assert!(count.abs_diff(k * 400) <= 2, "step {k}: {count}");
        }
        let ramp = moments(Arrivals::Ramp, 10_000.0);
        assert!(within(&ramp, 0.0, 0.1).abs_diff(145) <= 3, "{}", within(&ramp, 0.0, 0.1));
        assert!(within(&ramp, 0.9, 1.0).abs_diff(955) <= 3, "{}", within(&ramp, 0.9, 1.0));
        assert!(within(&ramp, 0.0, 1.0).abs_diff(5500) <= 5, "{}", within(&ramp, 0.0, 1.0));
    }
}
