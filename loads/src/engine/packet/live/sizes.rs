//! Knows how long the frames of a load are: all alike, or a mix in an order that comes again.
//!
//! Must not know what stands in a frame, nor when it is sent.

use super::wire::LEAST;
use serde::{Deserialize, Serialize};

/// Lengths of the simple IMIX, bytes with the check sequence.
pub const IMIX: [usize; 3] = [LEAST, 594, 1518];
/// The order in which they come, again and again: seven of the first, four of the second and one of
/// the third, spread as evenly as they can be.
pub const ORDER: [u8; 12] = [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 2];

/// Lengths of the frames of a stream, bytes with the check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sizes {
    /// All frames are as long as this.
    Alike(usize),
    /// The simple IMIX, each frame longer by so many bytes.
    Imix(usize),
}

impl Default for Sizes {
    fn default() -> Self {
        Self::Alike(LEAST)
    }
}

impl Sizes {
    /// Each length once, the shortest first.
    #[must_use]
    pub fn each(self) -> Vec<usize> {
        match self {
            Self::Alike(bytes) => vec![bytes],
            Self::Imix(more) => IMIX.map(|bytes| bytes + more).to_vec(),
        }
    }

    /// The length of the frame of a number of its stream.
    #[must_use]
    pub const fn of(self, number: u32) -> usize {
        match self {
            Self::Alike(bytes) => bytes,
            Self::Imix(more) => IMIX[ORDER[number as usize % ORDER.len()] as usize] + more,
        }
    }

    /// The shortest length.
    #[must_use]
    pub const fn least(self) -> usize {
        match self {
            Self::Alike(bytes) => bytes,
            Self::Imix(more) => IMIX[0] + more,
        }
    }

    /// The longest length.
    #[must_use]
    pub const fn most(self) -> usize {
        match self {
            Self::Alike(bytes) => bytes,
            Self::Imix(more) => IMIX[IMIX.len() - 1] + more,
        }
    }

    /// Bytes of the first so many frames of a stream together.
    #[must_use]
    pub fn sum(self, frames: u64) -> u64 {
        let round = ORDER.len() as u64;
        let first = |count: u64| -> u64 {
            (0..).take_while(|at| u64::from(*at) < count).map(|at| self.of(at) as u64).sum()
        };
        frames / round * first(round) + first(frames % round)
    }

    /// Bytes of a frame in the mean.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "some thousand bytes")]
    pub fn mean(self) -> f64 {
        let round = ORDER.len() as u64;
        self.sum(round) as f64 / round as f64
    }

    /// Each length with so many bytes more.
    #[must_use]
    pub const fn longer(self, more: usize) -> Self {
        match self {
            Self::Alike(bytes) => Self::Alike(bytes + more),
            Self::Imix(before) => Self::Imix(before + more),
        }
    }

    /// Which of [`Self::each`] a frame is, as programs look it up: two bits for each place of the
    /// order, the first in the lowest; none where all are alike.
    pub(super) fn places(self) -> Option<u64> {
        let word = || ORDER.iter().rev().fold(0, |word, place| word << 2 | u64::from(*place));
        matches!(self, Self::Imix(_)).then(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imix_has_seven_four_and_one_in_each_round() {
        for begins in [0, 5, 12_000] {
            let all: Vec<usize> = (begins..begins + 12).map(|at| Sizes::Imix(0).of(at)).collect();
            let count = |bytes| all.iter().filter(|one| **one == bytes).count();
            assert_eq!([64, 594, 1518].map(count), [7, 4, 1], "from {begins}");
        }
        assert!((Sizes::Imix(0).mean() - 4342.0 / 12.0).abs() < 1e-9);
        assert_eq!((Sizes::Imix(0).least(), Sizes::Imix(0).most()), (64, 1518));
    }

    #[test]
    fn a_sum_is_that_of_its_frames() {
        for sizes in [Sizes::Imix(0), Sizes::Imix(4), Sizes::Alike(65)] {
            for count in [0, 1, 11, 12, 13, 1000] {
                let longer = sizes.longer(4).sum(u64::from(count));
                assert_eq!(longer, sizes.sum(u64::from(count)) + 4 * u64::from(count));
                let all: usize = (0..count).map(|at| sizes.of(at)).sum();
                assert_eq!(sizes.sum(u64::from(count)), all as u64, "{sizes:?}, {count}");
            }
        }
    }

    #[test]
    fn a_word_has_the_place_of_every_frame() {
        let word = Sizes::Imix(0).places().unwrap();
        for at in 0..12_u32 {
            let place = (word >> (2 * at) & 3) as usize;
            assert_eq!(Sizes::Imix(0).each()[place], Sizes::Imix(0).of(at));
        }
        assert_eq!(Sizes::Alike(64).places(), None);
    }
}
