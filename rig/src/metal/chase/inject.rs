//! Knows how a thread keeps the memory busy while another is timed: bursts with pauses between.
//!
//! Must not know who is timed, nor what the memory answers.

use crate::lab::clock;
use crate::metal::kernel::{Arrays, Isa, Operation, Row, Store, Walk, find, reference};
use crate::metal::{DIGEST, Hot, Memory, digest};
use std::slice;
use std::time::Duration;

/// Bytes of one burst, between two of which a pause may lie.
pub const BURST: usize = 4096;

/// What an injector does with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inject {
    /// Reads all of it, over and over.
    Read,
    /// Copies the first half to the second.
    Copy,
}

impl Inject {
    /// The loop for it: the widest that this CPU has.
    #[must_use]
    pub fn row(self) -> Option<&'static Row> {
        let operation = match self {
            Self::Read => Operation::Read,
            Self::Copy => Operation::Copy,
        };
        let find = |isa| find(operation, isa, Store::Temporal, Walk::Straight);
        Isa::WIDEST.into_iter().filter_map(find).find(|row| row.missing().is_none())
    }
}

/// A thread's own stretch of memory, and how far it has come in it.
///
/// The first burst of the memory is where a read leaves what it read last.
pub struct Injector {
    memory: Memory,
    inject: Inject,
    row: &'static Row,
    pause_ns: u64,
    /// Bytes of the source, whole bursts; it begins behind the first burst.
    source: usize,
    /// Where in the source the last burst was.
    last: usize,
    bursts: u64,
    refused: Option<String>,
}

impl Injector {
    /// Fills the memory; `pause` is what lies between the end of a burst and the next.
    ///
    /// # Errors
    /// When the memory is smaller than three bursts, or there is no loop for it.
    pub fn new(memory: Memory, inject: Inject, pause: Duration) -> Result<Self, String> {
        let free = memory.len().saturating_sub(BURST);
        let whole = if inject == Inject::Read { free } else { free / 2 };
        let source = whole - whole % BURST;
        if source == 0 {
            return Err(format!("{} bytes for an injector; take {BURST} x 3", memory.len()));
        }
        let row = inject.row().ok_or("no loop of this build runs on this CPU")?;
        let pause_ns = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        let (last, bursts, refused) = (source - BURST, 0, None);
        let mut injector = Self { memory, inject, row, pause_ns, source, last, bursts, refused };
        reference::fill(injector.slice(BURST, source), 1);
        Ok(injector)
    }

    /// Bytes of the memory, which is this injector's alone.
    fn slice(&mut self, from: usize, bytes: usize) -> &mut [u8] {
        debug_assert!(from + bytes <= self.memory.len());
        // SAFETY: the stretch lies inside the memory, which is initialised (mapped pages are zero)
        // and owned by `self`, borrowed for as long as the slice lives.
        unsafe { slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(from), bytes) }
    }

    /// One burst; bytes moved, read and written ones each counted.
    fn burst(&mut self) -> u64 {
        let next = self.last + BURST;
        self.last = if next == self.source { 0 } else { next };
        self.bursts += 1;
        let (from, row) = (BURST + self.last, self.row);
        let (to, length) = match self.inject {
            Inject::Read => (0, row.kept()),
            Inject::Copy => (from + self.source, BURST),
        };
        let begin = self.memory.as_mut_ptr();
        // SAFETY: both lie inside the memory, which is borrowed here, and do not overlap: the first
        // burst, the source and the copy follow each other.
        let mut arrays = unsafe {
            Arrays {
                to: slice::from_raw_parts_mut(begin.add(to), length),
                one: slice::from_raw_parts(begin.add(from), BURST),
                two: &mut [],
            }
        };
        match row.run(&mut arrays, 1, reference::scalar(row.operation)) {
            Ok(()) => row.counted(BURST as u64),
            Err(why) => {
                self.refused = Some(why.to_string());
                0
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

    /// What a read must have left is the end of its last burst; what was copied is the source's.
    fn verify(&mut self) -> Result<u64, String> {
        if let Some(why) = &self.refused {
            return Err(why.clone());
        }
        let (source, bursts) = (self.source, self.bursts);
        let (at, found, bytes) = match self.inject {
            Inject::Read => {
                let kept = self.row.kept();
                (self.last + 2 * BURST - kept, 0, kept)
            }
            Inject::Copy => {
                let copied = usize::try_from(bursts).unwrap_or(usize::MAX);
                (BURST, BURST + source, copied.saturating_mul(BURST).min(source))
            }
        };
        for from in (0..bytes).step_by(BURST) {
            let length = BURST.min(bytes - from);
            let due = self.slice(at + from, length).to_vec();
            let found = self.slice(found + from, length);
            if let Some(nth) = due.iter().zip(found.iter()).position(|(due, found)| due != found) {
                let (place, found, due) = (from + nth, found[nth], due[nth]);
                return Err(format!(
                    "byte {place} of {bytes} is {found}, not {due}, after {bursts} bursts"
                ));
            }
        }
        Ok(bytes as u64 / 8)
    }

    /// What it reads is the same in every trial.
    fn digest(&self) -> u64 {
        digest(DIGEST, &(self.source as u64).to_le_bytes())
    }

    /// The first byte of what it left.
    fn spoil(&mut self) {
        let at = if self.inject == Inject::Read { 0 } else { BURST + self.source };
        self.slice(at, 1)[0] ^= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metal::PageSize;

    fn memory() -> Memory {
        Memory::map(2 << 20, PageSize::Base).unwrap()
    }

    #[test]
    fn a_reader_counts_what_it_read_and_has_its_end() {
        let mut reader = Injector::new(memory(), Inject::Read, Duration::ZERO).unwrap();
        let kept = reader.row.kept();
        for bursts in [1, 600] {
            assert_eq!(reader.pass(bursts), bursts * BURST as u64);
            assert_eq!(reader.verify(), Ok(kept as u64 / 8));
        }
        assert_eq!(reader.last, (601 - 1) % 511 * BURST, "511 bursts are once round");
        reader.last -= 2 * BURST;
        assert!(reader.verify().unwrap_err().contains("after 601 bursts"));
    }

    #[test]
    fn a_copier_counts_both_ways_and_what_is_missing_is_found() {
        let mut copier = Injector::new(memory(), Inject::Copy, Duration::from_nanos(100)).unwrap();
        assert_eq!(copier.pass(3), 6 * BURST as u64);
        assert_eq!(copier.verify(), Ok(3 * 512));
        copier.bursts += 1;
        assert!(copier.verify().unwrap_err().contains("after 4 bursts"));
        copier.bursts -= 1;
        copier.pass(300);
        assert_eq!(copier.verify(), Ok(255 * 512), "all of the half");
    }

    #[test]
    fn memory_without_room_is_refused() {
        assert!(Inject::Read.row().is_some() && Inject::Copy.row().is_some());
        let mut small = Injector::new(memory(), Inject::Read, Duration::ZERO).unwrap();
        small.refused = Some("no such loop".into());
        assert_eq!(small.verify(), Err("no such loop".into()));
    }
}
