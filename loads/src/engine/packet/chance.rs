//! Knows draws from a seed: numbers, parts of a whole, choices by weight.
//!
//! Must not know what is drawn.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// Draws that are the same for the same seed.
#[derive(Debug)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// Draws of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Any 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A whole number from 0 to below `end`; 0 where `end` is 0.
    ///
    /// Source: the high half of a product, Lemire, "Fast Random Integer Generation in an Interval",
    /// without its rejection: the bias is below `end` / 2^32.
    pub fn below(&mut self, end: u32) -> u32 {
        let product = u64::from(self.0.next_u32()) * u64::from(end);
        (product >> 32) as u32
    }

    /// A whole number from `first` to `last`; `first` where the two are the wrong way round.
    pub fn within(&mut self, first: u32, last: u32) -> u32 {
        let steps = u64::from(last.saturating_sub(first)) + 1;
        let product = u64::from(self.0.next_u32()) * steps;
        first + (product >> 32) as u32
    }

    /// An index below `len`, of a slice; 0 where it is empty.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// Whether something of this share, 0 to 1, happens.
    pub fn happens(&mut self, share: f64) -> bool {
        f64::from(self.0.next_u32()) < share * 4_294_967_296.0
    }

    /// One of the choices, each as often as its weight says; none where no weight is above 0.
    pub fn pick<T: Copy>(&mut self, choices: &[(T, u32)]) -> Option<T> {
        let all = choices.iter().map(|(_, weight)| weight).sum();
        let mut at = self.below(all);
        for (choice, weight) in choices {
            if at < *weight {
                return Some(*choice);
            }
            at -= weight;
        }
        None
    }
}
