//! What a loop must have left behind, word by word, by the plainest arithmetic.
//!
//! Knows what arrays are filled with. Must not know how a loop is written.
//!
//! Every value is a whole number below 2^20, so that sums and products are exact, whether or not
//! they are fused: all loops of an operation must agree to the bit.

use super::row::{Operation, Row, Walk};
use std::ops::Range;

/// What a write writes: eight equal bytes, so that `rep stosb` can write it too.
pub const WRITTEN: f64 = f64::from_bits(0x4040_4040_4040_4040);

/// By what scale and triad multiply, as STREAM does.
pub const FACTOR: f64 = 3.0;

/// Bytes of a word.
const WORD: usize = size_of::<f64>();

/// Words after which what an array is filled with comes again: a prime, so that a word from a wrong
/// line, page or block is a wrong word.
const PERIOD: u64 = 8191;

/// The word at a place of an array that was filled with a seed, a whole number from 0 to 2^20 - 1.
#[must_use]
pub fn word(seed: u64, at: u64) -> f64 {
    let mixed = ((at % PERIOD) ^ seed.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    f64::from(u32::try_from((mixed ^ (mixed >> 29)) >> 44).unwrap_or(0))
}

/// Fills an array; what is no whole word at its end is left.
pub fn fill(array: &mut [u8], seed: u64) {
    let whole = array.len() - array.len() % WORD;
    let period = whole.min(usize::try_from(PERIOD).unwrap_or(whole) * WORD);
    for (at, place) in (0..).zip(array[..period].chunks_exact_mut(WORD)) {
        place.copy_from_slice(&word(seed, at).to_ne_bytes());
    }
    let mut filled = period;
    while filled < whole {
        let next = filled.min(whole - filled);
        array.copy_within(..next, filled);
        filled += next;
    }
}

/// By what an operation multiplies, or what it writes.
#[must_use]
pub fn scalar(operation: Operation) -> f64 {
    if operation == Operation::Write { WRITTEN } else { FACTOR }
}

/// The word that must stand at a place of `a`; `b` and `c` were filled with seeds.
#[must_use]
pub fn result(operation: Operation, seeds: [u64; 2], at: u64) -> f64 {
    let [one, two] = seeds.map(|seed| word(seed, at));
    match operation {
        Operation::Read | Operation::Copy => one,
        Operation::Write => WRITTEN,
        Operation::Scale => FACTOR * one,
        Operation::Add => one + two,
        Operation::Triad => one + FACTOR * two,
    }
}

impl Row {
    /// Bytes of `a` that a read leaves behind; 0 for what is no read.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.keeps * self.streams()
    }

    fn streams(&self) -> usize {
        if self.walk == Walk::Streams { 4 } else { 1 }
    }

    /// Looks at every so-manieth word of the results in `to`, and at the last; `part` is what
    /// was gone over of the arrays, bytes; `b` and `c` were filled with `seeds`. Gives how many
    /// were looked at.
    ///
    /// # Errors
    /// The first word that is not what it must be.
    pub fn verify(
        &self,
        to: &[u8],
        part: Range<usize>,
        seeds: [u64; 2],
        step: usize,
    ) -> Result<u64, String> {
        let words = to.len() / WORD;
        let places = (0..words).step_by(step.max(1)).chain(words.checked_sub(1));
        let mut looked = 0;
        for place in places {
            let at = part.start / WORD + self.origin(place, part.len());
            let wanted = result(self.operation, seeds, at as u64);
            let got = to[place * WORD..][..WORD].try_into().map_or(f64::NAN, f64::from_ne_bytes);
            if got.to_bits() != wanted.to_bits() {
                return Err(format!(
                    "{} left {got} at word {place} of {words}, where {wanted} is right",
                    self.name
                ));
            }
            looked += 1;
        }
        Ok(looked)
    }

    /// The place in `b` of what stands at a place of `a`.
    fn origin(&self, place: usize, bytes: usize) -> usize {
        if self.operation != Operation::Read {
            return place;
        }
        let (kept, part) = (self.keeps / WORD, bytes / self.streams() / WORD);
        let (stream, within) = (place / kept, place % kept);
        (stream + 1) * part - kept + within
    }
}
