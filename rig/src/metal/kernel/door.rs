//! The safe door to a loop: what it is given is looked at first, and refused rather than trusted.
//!
//! Knows what a loop may be given. Must not know where memory comes from, nor the time.

use super::code::Args;
use super::row::{Feature, Operation, Row};
use std::ptr;

/// A cache line, and the widest register: all arrays begin at a multiple of it.
pub const ALIGNMENT: usize = 64;

/// What a loop works on.
#[derive(Debug)]
pub struct Arrays<'a> {
    /// Where results go; for a read the place of what it keeps.
    pub to: &'a mut [u8],
    /// What is read first; empty for a write.
    pub one: &'a [u8],
    /// What is read second, the block of a copy by blocks, or empty.
    pub two: &'a mut [u8],
}

/// Why a loop was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The CPU lacks something.
    #[error("this CPU has no {}; take a narrower instruction set", .0.word())]
    Missing(Feature),
    /// A length does not fit.
    #[error("an array of {got} bytes where {row} takes {wanted}")]
    Length {
        /// The loop.
        row: &'static str,
        /// Bytes that it was given.
        got: usize,
        /// Bytes that it takes, to go with the other arrays.
        wanted: usize,
    },
    /// A length is no multiple of the granule.
    #[error("an array of {got} bytes where {row} takes a multiple of {granule}, more than none")]
    Granule {
        /// The loop.
        row: &'static str,
        /// Bytes that it was given.
        got: usize,
        /// What the length is a multiple of.
        granule: usize,
    },
    /// An array begins within a line.
    #[error("an array that begins at {0} bytes behind a multiple of {ALIGNMENT}; align it")]
    Alignment(usize),
}

impl Row {
    /// Goes over the arrays so many times.
    ///
    /// # Errors
    /// A feature that the CPU lacks, or arrays that do not fit the loop; nothing was touched then.
    pub fn run(&self, arrays: &mut Arrays<'_>, passes: u64, scalar: f64) -> Result<(), Refused> {
        if let Some(feature) = self.missing() {
            return Err(Refused::Missing(feature));
        }
        let bytes = self.length(arrays)?;
        let begins = [arrays.to.as_ptr(), arrays.one.as_ptr(), arrays.two.as_ptr()];
        let lengths = [arrays.to.len(), arrays.one.len(), arrays.two.len()];
        for (begin, length) in begins.into_iter().zip(lengths) {
            match begin.addr() % ALIGNMENT {
                off if off > 0 && length > 0 => return Err(Refused::Alignment(off)),
                _ => {}
            }
        }
        if passes == 0 {
            return Ok(());
        }
        let [to, two] = [&mut arrays.to, &mut arrays.two]
            .map(|slice| if slice.is_empty() { ptr::null_mut() } else { slice.as_mut_ptr() });
        let args = Args { to, one: arrays.one.as_ptr(), two, bytes, passes, scalar };
        // SAFETY: the CPU has what the row needs; lengths and alignment were looked at just now;
        // slices of one call do not overlap where one of them is written to.
        unsafe { (self.code.call)(&args) };
        Ok(())
    }

    /// Length of an array, bytes.
    fn length(&self, arrays: &Arrays<'_>) -> Result<usize, Refused> {
        let reads = self.operation == Operation::Read;
        let bytes = if reads { arrays.one.len() } else { arrays.to.len() };
        if bytes == 0 || !bytes.is_multiple_of(self.granule) {
            return Err(Refused::Granule { row: self.name, got: bytes, granule: self.granule });
        }
        let to = if reads { self.kept() } else { bytes };
        let one = if self.operation == Operation::Write { 0 } else { bytes };
        let pairs = [
            (arrays.to.len(), to),
            (arrays.one.len(), one),
            (arrays.two.len(), self.second(bytes)),
        ];
        match pairs.into_iter().find(|(got, wanted)| got != wanted) {
            Some((got, wanted)) => Err(Refused::Length { row: self.name, got, wanted }),
            None => Ok(bytes),
        }
    }
}
