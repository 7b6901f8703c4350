//! Knows the options that say how long a plan is measured and in which order: `--blocks`, `--time`
//! and `--seed`.
//!
//! Must not know what a verb does with the plan.

use super::error::CliError;
use desk::plan::{Asked, BLOCKS_BOUNDS, fit_blocks, set_blocks, smallest_effect};
use desk::record::Plan;
use desk::unit::Quantity;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// Noise of a trial for which the smallest effect is told, a share.
const NOISE: f64 = 0.02;

/// The fewest blocks that a time has to hold: the fewest of a plan.
const FEWEST: u32 = 3;

/// How much is measured, and in which order.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Extent {
    /// Number of blocks, in place of the plan's
    #[arg(long, value_name = "N", value_parser = blocks, conflicts_with = "time")]
    pub blocks: Option<u32>,
    /// Measure as many blocks as fit this time, by the plan's estimate: 10m, 90s, "1h 30m"
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time: Option<Duration>,
    /// Seed of the order and of all random choices, to repeat those of an earlier run [default:
    /// drawn anew]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
}

fn blocks(word: &str) -> Result<u32, String> {
    let (low, high) = BLOCKS_BOUNDS;
    let number = word.parse().ok().filter(|n| (low..=high).contains(&u64::from(*n)));
    number.ok_or_else(|| format!("'{word}' is no number of blocks; write one from {low} to {high}"))
}

fn time(word: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(word).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("'{word}' is no time; write it as 10m, 90s or 1h30m"))
}

/// What is asked of a run that has ended: `20` blocks in all, or `+5` more.
///
/// # Errors
/// A word that is neither.
pub fn further(word: &str) -> Result<Asked, String> {
    let wrong = || format!("'{word}' is no number of blocks; write +5 for five more, or 20 in all");
    let (make, digits): (fn(u32) -> Asked, &str) = match word.strip_prefix('+') {
        Some(digits) => (Asked::More, digits),
        None => (Asked::All, word),
    };
    let is_digits = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    digits.parse().ok().filter(|n| is_digits && *n > 0).map(make).ok_or_else(wrong)
}

/// A seed that the operating system gave, below 2^32 so that it is short to write.
#[must_use]
pub fn draw() -> u64 {
    // The keys of the hash come from the kernel's random numbers.
    RandomState::new().build_hasher().finish() >> 32
}

impl Extent {
    /// Changes the plan; gives what repeats it (the blocks that fitted, the seed that was drawn),
    /// and a note for the reader.
    ///
    /// # Errors
    /// When the plan cannot have so many blocks, or the time holds too few.
    pub fn apply(self, plan: &mut Plan) -> Result<(Self, String), CliError> {
        let mut told = String::new();
        let mut blocks = self.blocks;
        if let Some(blocks) = self.blocks {
            set_blocks(plan, blocks)?;
        }
        if let Some(time) = self.time {
            let seconds = Quantity::seconds(time.as_secs_f64());
            let fit = fit_blocks(std::slice::from_mut(plan), seconds, FEWEST)?;
            blocks = Some(fit);
            let smallest = smallest_effect(plan, NOISE);
            let (time, noise) = (humantime::format_duration(time), smallest.noise);
            // Writing to a string cannot fail.
            let _ = write!(
                told,
                "{fit} blocks fit in {time}; with {noise} noise they detect a ratio of {} or more \
                 in four of five runs",
                smallest.single
            );
        }
        if let Some(seed) = self.seed {
            plan.method.seed = seed;
        }
        Ok((Self { blocks, time: None, seed: Some(plan.method.seed) }, told))
    }

    /// The options as they have to be written again, each with a blank after it.
    #[must_use]
    pub fn words(self) -> String {
        let mut words = String::new();
        let mut option = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = write!(words, "--{name} {value} ");
            }
        };
        option("blocks", self.blocks.map(|n| n.to_string()));
        let compact =
            |time: Duration| humantime::format_duration(time).to_string().replace(' ', "");
        option("time", self.time.map(compact));
        option("seed", self.seed.map(|n| n.to_string()));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_sign_is_added_and_one_without_is_all() {
        assert_eq!(further("+5"), Ok(Asked::More(5)));
        assert_eq!(further("20"), Ok(Asked::All(20)));
        for wrong in ["", "+", "++5", "-5", "5.5", "+0", "many", "99999999999"] {
            assert!(further(wrong).is_err_and(|said| said.contains(wrong)), "{wrong}");
        }
    }

    #[test]
    fn seeds_that_are_drawn_differ() {
        let drawn: std::collections::BTreeSet<u64> = (0..20).map(|_| draw()).collect();
        assert!(drawn.len() > 18, "{drawn:?}");
        assert!(drawn.iter().all(|seed| *seed < 1 << 32));
    }

    #[test]
    fn what_was_asked_is_written_again() {
        let time = Some(Duration::from_secs(5400));
        let extent = Extent { blocks: None, time, seed: Some(7) };
        assert_eq!(extent.words(), "--time 1h30m --seed 7 ");
        assert_eq!(super::time("1h30m"), Ok(Duration::from_secs(5400)));
        assert!(super::time("0s").is_err() && super::time("ten").is_err());
    }
}
