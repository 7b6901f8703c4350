//! Knows how long the frames of a load are: all alike, or as a list says that begins again at its
//! end, such as a mix or what a capture holds.
//!
//! Must not know what stands in a frame, nor when it is sent.

use super::wire::LEAST;
use serde::{Deserialize, Serialize};

/// Lengths of the simple IMIX, bytes with the check sequence.
const IMIX: [u16; 3] = [64, 594, 1518];
/// The order in which they come, again and again: seven of the first, four of the second and one of
/// the third, spread as evenly as they can be.
const ORDER: [u8; 12] = [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 2];

/// A frame of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its length, bytes with the check sequence.
    pub bytes: u16,
    /// Its flow, where the order of the flows is that of the list.
    pub flow: u32,
}

/// Lengths of the frames of a stream, bytes with the check sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sizes {
    /// All frames are as long as this.
    Alike(usize),
    /// The frames of a list one after the other, again and again; it has at least one.
    List(Vec<Listed>),
}

impl Default for Sizes {
    fn default() -> Self {
        Self::Alike(LEAST)
    }
}

impl Sizes {
    /// The simple IMIX.
    #[must_use]
    pub fn imix() -> Self {
        Self::List(ORDER.map(|at| Listed { bytes: IMIX[usize::from(at)], flow: 0 }).into())
    }

    /// The list, where frames are not alike.
    #[must_use]
    pub fn list(&self) -> Option<&[Listed]> {
        match self {
            Self::Alike(_) => None,
            Self::List(list) => Some(list),
        }
    }

    /// The frame of a number in a list; none where all are alike.
    #[must_use]
    pub fn listed(&self, number: u32) -> Option<Listed> {
        let list = self.list()?;
        list.get(number as usize % list.len().max(1)).copied()
    }

    /// The length of the frame of a number of its stream.
    #[must_use]
    pub fn of(&self, number: u32) -> usize {
        match self {
            Self::Alike(bytes) => *bytes,
            Self::List(_) => self.listed(number).map_or(LEAST, |frame| frame.bytes.into()),
        }
    }

    /// The shortest length.
    #[must_use]
    pub fn least(&self) -> usize {
        self.lengths().min().unwrap_or(LEAST)
    }

    /// The longest length.
    #[must_use]
    pub fn most(&self) -> usize {
        self.lengths().max().unwrap_or(LEAST)
    }

    /// Lengths of the frames up to where they begin again.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        let alike = if let Self::Alike(bytes) = self { Some(*bytes) } else { None };
        let list = self.list().into_iter().flatten();
        alike.into_iter().chain(list.map(|frame| usize::from(frame.bytes)))
    }

    /// Bytes of the first so many frames of a stream together.
    #[must_use]
    pub fn sum(&self, frames: u64) -> u64 {
        let round = self.lengths().count().max(1) as u64;
        let all: u64 = self.lengths().map(|bytes| bytes as u64).sum();
        let rest = usize::try_from(frames % round).unwrap_or(0);
        let rest: u64 = self.lengths().take(rest).map(|bytes| bytes as u64).sum();
        frames / round * all + rest
    }

    /// Bytes of a frame in the mean.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    pub fn mean(&self) -> f64 {
        let round = self.lengths().count().max(1) as u64;
        self.sum(round) as f64 / round as f64
    }

    /// Each length with so many bytes more.
    #[must_use]
    pub fn longer(self, more: usize) -> Self {
        let long = |frame: Listed| {
            let bytes = usize::from(frame.bytes) + more;
            Listed { bytes: u16::try_from(bytes).unwrap_or(u16::MAX), ..frame }
        };
        match self {
            Self::Alike(bytes) => Self::Alike(bytes + more),
            Self::List(list) => Self::List(list.into_iter().map(long).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imix_has_seven_four_and_one_in_each_round() {
        for begins in [0, 5, 12_000] {
            let all: Vec<usize> = (begins..begins + 12).map(|at| Sizes::imix().of(at)).collect();
            let count = |bytes| all.iter().filter(|one| **one == bytes).count();
            assert_eq!([64, 594, 1518].map(count), [7, 4, 1], "from {begins}");
        }
        assert!((Sizes::imix().mean() - 4342.0 / 12.0).abs() < 1e-9);
        assert_eq!((Sizes::imix().least(), Sizes::imix().most()), (64, 1518));
    }

    #[test]
    fn a_sum_is_that_of_its_frames() {
        for sizes in [Sizes::imix(), Sizes::imix().longer(4), Sizes::Alike(65)] {
            for count in [0, 1, 11, 12, 13, 1000] {
                let longer = sizes.clone().longer(4).sum(u64::from(count));
                assert_eq!(longer, sizes.sum(u64::from(count)) + 4 * u64::from(count));
                let all: usize = (0..count).map(|at| sizes.of(at)).sum();
                assert_eq!(sizes.sum(u64::from(count)), all as u64, "{sizes:?}, {count}");
            }
        }
    }
}
