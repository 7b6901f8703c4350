//! Knows how a thread keeps the memory busy while another is timed: bursts with pauses between.
//!
//! Must not know who is timed, nor what the memory answers.

use crate::lab::clock;
use crate::metal::{Hot, Memory};
use std::hint::black_box;

/// Bytes of one burst, between two of which a pause may lie.
pub const BURST: usize = 4096;
/// What the source is filled with: a word whose sums tell how many were read.
const WORD: u64 = 0x0001_0000_0001_0001;

/// What an injector does with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inject {
    /// Reads all of it, over and over.
    Read,
    /// Copies the first half to the second.
    Copy,
}

/// A thread's own stretch of memory, and how far it has come in it.
pub struct Injector {
    memory: Memory,
    inject: Inject,
    pause_ns: u64,
    /// Bytes of the source, whole bursts.
    source: usize,
    at: usize,
    bursts: u64,
    sum: u64,
}

impl Injector {
    /// Fills the memory; `pause_ns` is what lies between the end of a burst and the next.
    ///
    /// # Errors
    /// When the memory is smaller than two bursts.
    pub fn new(memory: Memory, inject: Inject, pause_ns: u64) -> Result<Self, String> {
        let whole = match inject {
            Inject::Read => memory.len(),
            Inject::Copy => memory.len() / 2,
        };
        let source = whole - whole % BURST;
        if memory.len() < 2 * BURST {
            return Err(format!("{} bytes for an injector; take {BURST} x 2", memory.len()));
        }
        let mut injector = Self { memory, inject, pause_ns, source, at: 0, bursts: 0, sum: 0 };
        injector.words(0, source).fill(WORD);
        Ok(injector)
    }

    /// Words of the memory, which is this injector's alone.
    fn words(&mut self, from: usize, bytes: usize) -> &mut [u64] {
        debug_assert!(from.is_multiple_of(8) && from + bytes <= self.memory.len());
        let start = self.memory.as_mut_ptr();
        // SAFETY: the stretch lies inside the memory, which is page aligned, initialised (mapped
        // pages are zero) and owned by `self`, borrowed for as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(start.add(from).cast::<u64>(), bytes / 8) }
    }

    /// One burst; bytes moved, read and written ones each counted.
    fn burst(&mut self) -> u64 {
        let (at, source) = (self.at, self.source);
        self.at = if at + 2 * BURST > source { 0 } else { at + BURST };
        self.bursts += 1;
        match self.inject {
            Inject::Read => {
                let words: &[u64] = self.words(at, BURST);
                let sum = black_box(words).iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
                self.sum = self.sum.wrapping_add(sum);
                BURST as u64
            }
            Inject::Copy => {
                let all = self.words(0, 2 * source);
                let (from, to) = all.split_at_mut(source / 8);
                let span = at / 8..(at + BURST) / 8;
                to[span.clone()].copy_from_slice(&from[span]);
                black_box(to);
                2 * BURST as u64
            }
        }
    }
}

impl Hot for Injector {
    fn pass(&mut self, passes: u64) -> u64 {
        let mut bytes = 0;
        for _ in 0..passes {
            bytes += self.burst();
            if self.pause_ns > 0 {
                let until = clock::now_ns() + self.pause_ns;
                while clock::now_ns() < until {}
            }
        }
        bytes
    }

    fn verify(&mut self) -> Result<u64, String> {
        let (bursts, source) = (self.bursts, self.source);
        let words = BURST as u64 / 8;
        if self.inject == Inject::Read {
            let due = WORD.wrapping_mul(bursts.wrapping_mul(words));
            let sum = self.sum;
            return if sum == due {
                Ok(bursts * words)
            } else {
                Err(format!("{bursts} bursts were read to the sum {sum:#x}, not {due:#x}"))
            };
        }
        let done = usize::try_from(bursts).unwrap_or(usize::MAX).saturating_mul(BURST).min(source);
        let copied = self.words(source, done);
        match copied.iter().position(|word| *word != WORD) {
            Some(place) => Err(format!("word {place} of {} was not copied", done / 8)),
            None => Ok(done as u64 / 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metal::PageSize;

    #[test]
    fn an_injector_counts_what_it_moves_and_finds_what_it_did_not() {
        let memory = || Memory::map(2 << 20, PageSize::Base).unwrap();
        let mut reader = Injector::new(memory(), Inject::Read, 0).unwrap();
        assert_eq!(reader.pass(600), 600 * BURST as u64, "once round and further");
        assert_eq!(reader.verify(), Ok(600 * 512));
        reader.words(0, 8)[0] = 1;
        reader.pass(512);
        assert!(reader.verify().is_err(), "a word that changed");
        let mut copier = Injector::new(memory(), Inject::Copy, 100).unwrap();
        assert_eq!(copier.pass(3), 6 * BURST as u64);
        assert_eq!(copier.verify(), Ok(3 * 512));
        copier.bursts += 1;
        assert!(copier.verify().unwrap_err().contains("was not copied"));
        copier.bursts -= 1;
        copier.pass(300);
        assert_eq!(copier.verify(), Ok(256 * 512), "all of the half");
    }
}
