//! Knows how a race ends between good trials and bad ones: which are enough first, and after how
//! many trials.
//!
//! Never: where the probability of a bad trial comes from.

/// How finely probabilities are looked up.
pub(super) const BINS: usize = 32;

/// More trials than this are counted in larger parts.
const MOST: u32 = 24;

/// What the outermost bins stand for.
const CERTAIN: f64 = 0.002;

/// The end of a race at one probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct End {
    /// Probability that enough trials are good first.
    pub lower: f64,
    /// Trials until then, times that probability.
    pub lower_trials: f64,
    /// The same where enough are bad first.
    pub upper_trials: f64,
}

/// The bin of a probability.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1")]
pub(super) fn bin(bad: f64) -> usize {
    ((bad * BINS as f64) as usize).min(BINS - 1)
}

/// Of each bin how the race ends to so many good trials or so many bad ones, each at least 1.
pub(super) fn ends([good, bad]: [u32; 2]) -> Vec<End> {
    let part = good.max(bad).div_ceil(MOST).max(1);
    let [good, bad] = [good, bad].map(|count| count.div_ceil(part) as usize);
    let times = f64::from(part);
    let end = |bin: usize| {
        let end = race(good, bad, middle(bin));
        let (lower_trials, upper_trials) = (end.lower_trials * times, end.upper_trials * times);
        End { lower_trials, upper_trials, ..end }
    };
    (0..BINS).map(end).collect()
}

/// The probability that a bin stands for; the outermost are as good as certain.
fn middle(bin: usize) -> f64 {
    match bin {
        0 => CERTAIN,
        bin if bin == BINS - 1 => 1.0 - CERTAIN,
        bin => (bin as f64 + 0.5) / BINS as f64,
    }
}

fn race(good: usize, bad: usize, p: f64) -> End {
    // Of each number of bad trials missing, with as many good ones missing as the round says.
    let mut ends = vec![End { lower: 1.0, ..End::default() }; bad + 1];
    for _ in 0..good {
        let mut next = End::default();
        for (missing, end) in ends.iter_mut().enumerate() {
            if missing > 0 {
                let mix = |good: f64, bad: f64| (1.0 - p) * good + p * bad;
                let lower = mix(end.lower, next.lower);
                next = End {
                    lower,
                    lower_trials: lower + mix(end.lower_trials, next.lower_trials),
                    upper_trials: 1.0 - lower + mix(end.upper_trials, next.upper_trials),
                };
            }
            *end = next;
        }
    }
    ends[bad]
}
