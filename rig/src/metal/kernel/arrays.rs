//! Arrays of one thread in memory of its own, and the loop over them as the harness runs it.
//!
//! Knows how arrays lie to each other. Must not know which loop was asked for, nor what its figure
//! means.

use super::door::{ALIGNMENT, Arrays};
use super::reference::{fill, scalar};
use super::row::{Operation, Row};
use crate::metal::{DIGEST, Hot, Memory, digest};
use std::ops::Range;
use std::slice;

/// A page, within which arrays begin at different places.
const PAGE: usize = 4096;
/// By so much the next array begins later in its page, bytes: a load whose lowest twelve bits are
/// those of a store before it waits for that store.
const STEP: usize = 1024;
/// From this length on arrays also lie this much further apart, so that they are not in the same
/// bank of memory.
const APART: usize = 64 << 10;
/// Longer arrays are gone over in parts of this length, so that a sample need not hold a whole
/// pass, bytes; a multiple of every granule, and far more than a first or second cache.
const PART: usize = 16 << 20;
/// Words looked at after a window, at most.
const LOOKS: usize = 1 << 14;
/// Bytes of each array that a digest is made of, at most: a whole period of what it is filled with.
const DIGESTED: usize = 64 << 10;

/// Where the arrays of one thread begin and end, bytes from the begin of its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Length of an array.
    pub bytes: usize,
    /// By how much neighbours differ in where in a page they begin; 0 for a single array.
    pub offset: usize,
    to: Range<usize>,
    one: Range<usize>,
    two: Range<usize>,
}

impl Layout {
    /// Arrays for a loop that are at most `size` bytes together.
    ///
    /// # Errors
    /// When `size` has no room for the granule of the loop.
    pub fn of(row: &Row, size: u64) -> Result<Self, String> {
        Self::by(row.granule, row, size)
    }

    /// As [`Layout::of`], by a granule that is a multiple of the loop's: by the same one, loops
    /// that do the same have arrays of the same length.
    pub(super) fn by(granule: usize, row: &Row, size: u64) -> Result<Self, String> {
        let arrays = row.operation.arrays();
        let each = usize::try_from(size / arrays.max(1)).map_err(|e| format!("{size} B: {e}"))?;
        let bytes = each - each % granule;
        if bytes == 0 {
            let least = granule as u64 * arrays;
            return Err(format!("{size} B are too few for {}: take {least} B or more", row.name));
        }
        let reads = row.operation == Operation::Read;
        let one_bytes = if row.operation == Operation::Write { 0 } else { bytes };
        let apart = if bytes >= APART { APART } else { 0 };
        let after = |end: usize, nth: usize| end.next_multiple_of(PAGE) + apart + nth * STEP;
        let to = 0..if reads { row.kept() } else { bytes };
        let one_at = after(to.end, 1);
        let one = one_at..one_at + one_bytes;
        let two_at = after(one.end, 2);
        let two = two_at..two_at + row.second(bytes);
        let offset = if arrays > 1 { STEP } else { 0 };
        Ok(Self { bytes, offset, to, one, two })
    }

    /// Bytes of memory that hold it all.
    #[must_use]
    pub fn end(&self) -> usize {
        self.two.end.max(self.one.end)
    }
}

/// A loop and its arrays.
#[derive(Debug)]
pub struct Loop {
    row: &'static Row,
    layout: Layout,
    memory: Memory,
    seeds: [u64; 2],
    /// The part that was gone over last.
    last: Range<usize>,
    /// So many bytes of each array were gone over since it was filled.
    done: usize,
}

impl Loop {
    /// Fills the arrays that are read and tries the loop on its first bytes; `place` is the memory,
    /// and the seed of what it is filled with. The result stays 0, as it was mapped, which is wrong
    /// until the loop has gone over it.
    ///
    /// # Errors
    /// Memory that is too short, or a loop that refuses its arrays.
    pub fn new(row: &'static Row, layout: Layout, place: (Memory, u64)) -> Result<Self, String> {
        let (memory, seed) = place;
        let mut made = Self::bare(row, layout, memory)?;
        made.seeds = [seed, !seed];
        made.fill();
        let (mut arrays, scalar) = (made.arrays(0..row.granule), scalar(row.operation));
        row.run(&mut arrays, 1, scalar).map_err(|e| e.to_string())?;
        let to = made.layout.to.clone();
        made.slice(to.start..to.start + to.len().min(row.granule)).fill(0);
        Ok(made)
    }

    /// A loop over memory as it is: for its time, not for its results.
    ///
    /// # Errors
    /// Memory that is too short.
    pub(super) fn bare(row: &'static Row, layout: Layout, memory: Memory) -> Result<Self, String> {
        let (wanted, got) = (layout.end(), memory.len());
        if got < wanted || !memory.as_mut_ptr().addr().is_multiple_of(ALIGNMENT) {
            return Err(format!("{got} B of memory where the arrays take {wanted} B"));
        }
        let last = 0..layout.bytes;
        Ok(Self { row, layout, memory, seeds: [0, 0], last, done: 0 })
    }

    /// Goes on as another loop where this one ended.
    ///
    /// # Errors
    /// Arrays of another length, or that this memory has no room for.
    pub(super) fn change(&mut self, row: &'static Row, layout: &Layout) -> Result<(), String> {
        if layout.bytes != self.layout.bytes || layout.end() > self.memory.len() {
            let (got, wanted) = (layout.bytes, self.layout.bytes);
            return Err(format!("{} has arrays of {got} B, not {wanted} B", row.name));
        }
        (self.row, self.layout) = (row, layout.clone());
        Ok(())
    }

    /// Where results go.
    #[cfg(test)]
    pub(super) fn results(&mut self) -> &[u8] {
        self.slice(self.layout.to.clone())
    }

    /// The memory, its results 0 as they were mapped.
    pub(super) fn into_memory(mut self) -> Memory {
        // What a read keeps is less than a page, in which nothing else lies.
        let results = self.done.min(self.layout.to.end).max(PAGE);
        self.slice(0..results).fill(0);
        self.memory
    }

    fn fill(&mut self) {
        let reads_two = self.row.operation.loads() == 2;
        let seeds = self.seeds;
        for (range, seed) in
            [(self.layout.one.clone(), seeds[0]), (self.layout.two.clone(), seeds[1])]
        {
            let two = range == self.layout.two;
            if !two || reads_two {
                fill(self.slice(range), seed);
            }
        }
    }

    fn slice(&mut self, range: Range<usize>) -> &mut [u8] {
        // SAFETY: the range ends within the memory, as was looked at when this was made, and
        // nobody else has it while it is borrowed here.
        unsafe { slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(range.start), range.len()) }
    }

    /// A part of all arrays.
    fn arrays(&mut self, part: Range<usize>) -> Arrays<'_> {
        let Layout { to, one, two, .. } = self.layout.clone();
        let of = |array: Range<usize>| array.start + part.start..array.start + part.end;
        let reads = self.row.operation == Operation::Read;
        let to = if reads { to } else { of(to) };
        let one = if one.is_empty() { one } else { of(one) };
        let two = if self.row.operation.loads() == 2 { of(two) } else { two };
        let begin = self.memory.as_mut_ptr();
        // SAFETY: the three ranges end within the memory and follow each other, so they do not
        // overlap; all of the memory is borrowed as long as they are.
        unsafe {
            Arrays {
                to: slice::from_raw_parts_mut(begin.add(to.start), to.len()),
                one: slice::from_raw_parts(begin.add(one.start), one.len()),
                two: slice::from_raw_parts_mut(begin.add(two.start), two.len()),
            }
        }
    }

    /// The part behind the last one; the first again behind the end. A short rest goes with the
    /// part before it.
    fn next(&self) -> Range<usize> {
        let bytes = self.layout.bytes;
        let from = if self.last.end < bytes { self.last.end } else { 0 };
        if bytes - from < 2 * PART { from..bytes } else { from..from + PART }
    }

    /// Goes over a part so many times; the bytes as STREAM counts them.
    fn go_over(&mut self, part: Range<usize>, times: u64) -> u64 {
        let (row, bytes) = (self.row, part.len() as u64);
        // Parts follow each other from the first on.
        self.done = self.done.max(part.end);
        self.last = part.clone();
        let mut arrays = self.arrays(part);
        match row.run(&mut arrays, times, scalar(row.operation)) {
            Ok(()) => row.counted(bytes).saturating_mul(times),
            Err(_) => 0,
        }
    }
}

impl Hot for Loop {
    /// Bytes as STREAM counts them; a pass over long arrays is one over their next part.
    fn pass(&mut self, passes: u64) -> u64 {
        if self.layout.bytes < 2 * PART {
            return self.go_over(0..self.layout.bytes, passes);
        }
        let one = |_| {
            let part = self.next();
            self.go_over(part, 1)
        };
        (0..passes).map(one).sum()
    }

    fn verify(&mut self) -> Result<u64, String> {
        let (row, done, seeds) = (self.row, 0..self.done, self.seeds);
        if done.is_empty() {
            return Ok(0);
        }
        // What a read keeps is of the last part; results stand in all that was gone over.
        let (to, part) = match row.operation {
            Operation::Read => (self.layout.to.clone(), self.last.clone()),
            _ => (self.layout.to.start..self.layout.to.start + self.done, done),
        };
        let to = self.slice(to);
        // An odd step, so that all places of a line are met.
        let step = (to.len() / size_of::<u64>() / LOOKS) | 1;
        row.verify(to, part, seeds, step)
    }

    /// Of what is read: a period of each array that a seed fills.
    fn digest(&self) -> u64 {
        let reads_two = self.row.operation.loads() == 2;
        let two = if reads_two { self.layout.two.clone() } else { 0..0 };
        [self.layout.one.clone(), two].into_iter().fold(DIGEST, |so_far, range| {
            let bytes = range.len().min(DIGESTED);
            // SAFETY: the range ends within the memory, as was looked at when this was made; it is
            // borrowed, and only `&mut self` writes to it.
            let array =
                unsafe { slice::from_raw_parts(self.memory.as_mut_ptr().add(range.start), bytes) };
            digest(so_far, array)
        })
    }

    /// One bit of the last result.
    fn spoil(&mut self) {
        let to = match self.row.operation {
            Operation::Read => self.layout.to.clone(),
            _ => self.layout.to.start..self.layout.to.start + self.done,
        };
        if let Some(last) = self.slice(to).last_mut() {
            *last ^= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metal::PageSize;
    use crate::metal::kernel::{Isa, Store, Walk, find, rows};

    fn triad() -> &'static Row {
        find(Operation::Triad, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap()
    }

    #[test]
    fn arrays_lie_apart_and_begin_at_different_places_of_a_page() {
        for row in rows() {
            assert!(row.granule.is_power_of_two(), "{}", row.name);
            for size in [64 << 10, 1 << 20, (100 << 20) + 4711] {
                let layout = Layout::of(row, size).unwrap();
                assert!(layout.bytes.is_multiple_of(row.granule) && layout.bytes > 0);
                assert!(layout.bytes as u64 * row.operation.arrays() <= size, "{}", row.name);
                assert!(layout.to.end <= layout.one.start && layout.one.end <= layout.two.start);
                let places = [&layout.to, &layout.one, &layout.two].map(|r| r.start % PAGE);
                assert_eq!(places, [0, STEP, 2 * STEP], "{}", row.name);
            }
        }
        let few = Layout::of(triad(), 191).unwrap_err();
        assert_eq!(few, "191 B are too few for triad_scalar: take 192 B or more");
    }

    #[test]
    fn a_loop_works_counts_and_verifies() {
        for row in rows().filter(|row| row.missing().is_none()) {
            let layout = Layout::of(row, 100 << 10).unwrap();
            let memory = Memory::map(layout.end(), PageSize::Base).unwrap();
            let bytes = layout.bytes as u64;
            let mut made = Loop::new(row, layout, (memory, 5)).unwrap();
            assert_eq!(made.pass(3), 3 * bytes * row.operation.arrays(), "{}", row.name);
            assert!(made.verify().unwrap() > 0);
        }
    }

    #[test]
    fn long_arrays_are_gone_over_in_parts_without_a_gap() {
        for (operation, store) in
            [(Operation::Read, Store::Temporal), (Operation::Add, Store::Temporal)]
        {
            let row = find(operation, Isa::Scalar, store, Walk::Straight).unwrap();
            let layout = Layout::of(row, row.operation.arrays() * ((40 << 20) + 4096)).unwrap();
            let (memory, bytes) =
                (Memory::map(layout.end(), PageSize::Base).unwrap(), layout.bytes);
            let mut made = Loop::new(row, layout, (memory, 5)).unwrap();
            let mut parts = Vec::new();
            for _ in 0..4 {
                assert_eq!(made.pass(1), row.counted(made.last.len() as u64));
                parts.push(made.last.clone());
                assert!(made.verify().unwrap() > 0, "{}", row.name);
            }
            assert_eq!(parts, [0..PART, PART..bytes, 0..PART, PART..bytes]);
        }
    }

    #[test]
    fn a_pass_that_was_counted_and_not_done_is_found() {
        for row in rows().filter(|row| row.missing().is_none()) {
            let layout = Layout::of(row, 100 << 10).unwrap();
            let memory = Memory::map(layout.end(), PageSize::Base).unwrap();
            let mut made = Loop::new(row, layout.clone(), (memory, 5)).unwrap();
            assert_eq!(made.verify(), Ok(0), "{}: nothing was done yet", row.name);
            made.done = layout.bytes;
            made.last = 0..layout.bytes;
            assert!(made.verify().is_err(), "{}", row.name);
        }
    }

    #[test]
    fn a_wrong_result_in_memory_is_found() {
        let layout = Layout::of(triad(), 96 << 10).unwrap();
        let memory = Memory::map(layout.end(), PageSize::Base).unwrap();
        let mut made = Loop::new(triad(), layout.clone(), (memory, 5)).unwrap();
        made.go_over(0..layout.bytes, 1);
        made.slice(layout.to)[8] ^= 0xff;
        assert!(made.verify().unwrap_err().contains("word 1 of"));
        let layout = Layout::of(triad(), 8 << 20).unwrap();
        let short = Memory::map(2 << 20, PageSize::Base).unwrap();
        assert!(Loop::new(triad(), layout, (short, 5)).unwrap_err().contains("B of memory"));
    }
}
