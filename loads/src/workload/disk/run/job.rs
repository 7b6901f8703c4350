//! Knows one thread's loop: what is counted of its operations, and how its work is looked at when
//! the window is over.
//!
//! Must not know by which system calls an operation is done.

use super::blocks::{Blocks, Kind, Op};
use super::content::{Content, SECTOR};
use super::ring::Ring;
use super::slots::Slots;
use super::turns::Turns;
use super::versions::{TRIMMED, Versions};
use crate::engine::net::content::Paged;
use crate::engine::pace::Pace;
use crate::engine::times::{Moments, Timing, stored};
use desk::record::{DIGEST, Distribution, digest};
use hdrhistogram::Histogram;
use rig::lab::clock;
use rig::metal::{Hot, Paced, Span};
use rustix::fs::ftruncate;
use std::fs::File;
use std::iter::repeat_n;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Shortest sample, nanoseconds, below the patience of a pass: what ends between two, some 50 us,
/// is in none, and a deep queue runs empty there.
const SAMPLE_NS: u64 = 50_000_000;
/// The same of an open loop: an operation that is due between two samples begins after that.
const PACED_SAMPLE_NS: u64 = 100_000_000;
/// A loop that failed goes on so slowly, instead of at once again and again.
const BROKEN: Duration = Duration::from_millis(25);
/// Most blocks, most bytes, and longest time that blocks are read again when the window is over.
const AGAIN: usize = 256;
const AGAIN_BYTES: usize = 16 << 20;
const AGAIN_NS: u64 = 2_000_000_000;
/// A pass is over after this time, however few operations were complete: a disk that stalls would
/// hold it for minutes.
const PATIENCE_NS: u64 = 100_000_000;

/// When a pass that begins now has lasted long enough, nanoseconds.
pub fn patience() -> u64 {
    clock::now_ns() + PATIENCE_NS
}

/// The same of an open loop, in which a pass may be over before any operation is complete.
pub fn paced_patience() -> u64 {
    patience() + PACED_SAMPLE_NS
}

/// What every slot of a thread's queue shares.
#[derive(Debug)]
pub struct Book {
    /// Which block is next.
    pub blocks: Blocks,
    times: Timing,
    /// Those of each kind, where there are several.
    kinds: Vec<(Kind, Histogram<u64>)>,
    /// Times count of operations that are due from its begin on and before its end; in a closed
    /// loop that begin then.
    window: Span,
    done: u64,
    /// Operations since the window opened, and blocks that they were of.
    counted: (u64, u64),
    checked: u64,
    fault: Option<String>,
}

impl Book {
    /// Nothing is done yet, in a closed loop or in an open one. None where the memory for it cannot
    /// be had.
    #[must_use]
    pub fn new(blocks: Blocks, pace: Option<Pace>) -> Option<Self> {
        let times = Timing::new(pace.map(|pace| 1.0 / pace.rate))?;
        let all = blocks.kinds();
        let some = if all.len() > 1 { all.as_slice() } else { &[] };
        let timed = some.iter().map(|kind| Some((*kind, Distribution::empty()?)));
        let kinds = timed.collect::<Option<Vec<_>>>()?;
        let (window, counted) = (Span { opens_ns: 0, closes_ns: 0 }, (0, 0));
        Some(Self { blocks, times, kinds, window, done: 0, counted, checked: 0, fault: None })
    }

    /// Operations that are complete.
    #[must_use]
    pub const fn done(&self) -> u64 {
        self.done
    }

    /// Whether nothing more is to be begun.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    /// Notes why nothing more is to be begun; the first reason stays.
    pub fn breaks(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    /// Notes that an operation is complete, whose blocks are not under way any more: its moments
    /// and its result. An end of [`u64::MAX`] is unknown.
    pub fn end(&mut self, op: Op, at: Moments, gave: Result<(), String>) {
        if let Err(why) = gave {
            return self.breaks(why);
        }
        self.done += 1;
        self.counted = (self.counted.0 + 1, self.counted.1 + op.blocks as u64);
        self.checked += u64::from(op.kind == Kind::Read);
        let Span { opens_ns, closes_ns } = self.window;
        if (opens_ns..closes_ns).contains(&at.intended) && at.done != u64::MAX {
            self.times.add(at);
            if let Some((_, own)) = self.kinds.iter_mut().find(|(kind, _)| *kind == op.kind) {
                own.saturating_record(at.done.saturating_sub(at.intended));
            }
        }
    }

    /// The window begins: from now on times count.
    fn opens(&mut self, window: Span) {
        self.times.reset();
        self.kinds.iter_mut().for_each(|(_, own)| own.reset());
        (self.window, self.counted) = (window, (0, 0));
    }

    pub(super) fn distributions(&self) -> Vec<Distribution> {
        let own = self.kinds.iter().filter_map(|(kind, times)| stored(kind.word(), times));
        self.times.distributions().into_iter().chain(own).collect()
    }
}

/// The file, or the part of a disk, as all threads have it.
#[derive(Clone, Debug)]
pub struct Target {
    /// It has no name.
    pub file: Arc<File>,
    /// Bytes before its first block.
    pub begin: u64,
    /// Bytes of a block.
    pub block: usize,
    /// Most blocks of an operation.
    pub most: usize,
    /// What stands in it.
    pub content: Content,
    /// And in which version.
    pub versions: Arc<Versions>,
}

impl Target {
    /// Where a block begins, bytes.
    #[must_use]
    pub const fn offset(&self, block: u64) -> u64 {
        self.begin + block * self.block as u64
    }

    /// The first sector of a block.
    #[must_use]
    pub const fn sector(&self, block: u64) -> u64 {
        self.offset(block) / SECTOR as u64
    }

    /// Memory for any operation.
    #[must_use]
    pub fn buffer(&self) -> Paged {
        Paged::zeros(self.block * self.most)
    }

    /// Bytes of an operation.
    #[must_use]
    pub const fn bytes(&self, op: Op) -> usize {
        self.block * op.blocks
    }

    /// Puts into memory what an operation is to write.
    pub fn fill(&self, op: Op, bytes: &mut [u8]) {
        if op.kind == Kind::Write {
            let bytes = &mut bytes[..self.bytes(op)];
            self.content.fill(bytes, self.sector(op.block), op.version);
        }
    }

    /// Compares what an operation read.
    ///
    /// # Errors
    /// The damage, and of which block.
    pub fn verify(&self, op: Op, bytes: &[u8]) -> Result<(), String> {
        if op.kind != Kind::Read {
            return Ok(());
        }
        let bytes = &bytes[..self.bytes(op)];
        let is_right = |(block, bytes): &(u64, &[u8])| match self.versions.of(*block) {
            TRIMMED => bytes.iter().all(|byte| *byte == 0),
            version => self.content.holds(bytes, self.sector(*block), version),
        };
        let mut all = op.all().zip(bytes.chunks_exact(self.block));
        match all.find(|block| !is_right(block)) {
            None => Ok(()),
            Some((wrong, _)) => Err(self.damage(op, bytes, wrong)),
        }
    }

    /// What is wrong with what an operation read, of which this block is the first wrong one.
    #[cold]
    fn damage(&self, op: Op, bytes: &[u8], wrong: u64) -> String {
        let is_trimmed = |block: &u64| self.versions.of(*block) == TRIMMED;
        if is_trimmed(&wrong) {
            return format!("block {wrong}: stale: it was trimmed, and holds other than zeros");
        }
        // Blocks side by side of which none was trimmed.
        let first = (op.block..wrong).rev().take_while(|block| !is_trimmed(block)).last();
        let first = first.unwrap_or(wrong);
        let whole = first..op.all().end;
        let blocks: Vec<u64> = whole.take_while(|block| !is_trimmed(block)).collect();
        let (sectors, at) = (self.block / SECTOR, self.offset(first) - self.offset(op.block));
        let of = |block: &u64| repeat_n(self.versions.of(*block), sectors);
        let wanted: Vec<u32> = blocks.iter().flat_map(of).collect();
        #[expect(clippy::cast_possible_truncation, reason = "a place in the bytes of an operation")]
        let bytes = &bytes[at as usize..];
        let damage = self.content.judge(bytes, self.sector(first), &wanted);
        format!("block {first}: {damage}")
    }

    /// Makes the file empty, where an operation asks for it before it begins.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn empty(&self, op: Op) -> Result<(), String> {
        match op.empties {
            false => Ok(()),
            true => {
                ftruncate(&self.file, 0).map_err(|e| format!("the file cannot be emptied: {e}"))
            }
        }
    }
}

/// What the kernel says of an operation, in words for the person.
#[must_use]
pub fn failed(op: Op, why: &dyn std::fmt::Display) -> String {
    format!("a {} of block {} failed: {why}", op.kind.word(), op.block)
}

/// What threads share. One that panics while it holds the lock ends the trial.
pub fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// By which system calls it works.
#[derive(Debug)]
pub enum Engine {
    /// `io_uring`.
    Ring(Box<Ring>),
    /// `pread` and `pwrite`.
    Slots(Slots),
}

/// One thread's loop.
#[derive(Debug)]
pub struct Job {
    /// The file.
    pub target: Target,
    /// What is counted.
    pub book: Arc<Mutex<Book>>,
    /// Who does it.
    pub engine: Engine,
    /// When operations are due, in an open loop.
    pub turns: Option<Arc<Mutex<Turns>>>,
    /// Operations of the window that were never begun.
    pub unsent: u64,
}

impl Job {
    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        locked(&self.book)
    }

    /// Waits until nothing is under way; in an open loop first for the end of the window, up to
    /// which operations are due.
    fn drain(&mut self) {
        match &mut self.engine {
            Engine::Ring(ring) => ring.drain(),
            Engine::Slots(slots) => slots.drain(),
        }
        if let Some(turns) = &self.turns {
            self.unsent += locked(turns).left();
        }
    }

    /// The blocks that are read again.
    fn again(&self) -> Vec<u64> {
        let most = (AGAIN_BYTES / self.target.block).clamp(1, AGAIN);
        self.book().blocks.sample(most)
    }

    /// Reads these blocks again.
    fn reread(&self, all: &[u64]) -> Result<u64, String> {
        let mut bytes = Paged::zeros(self.target.block);
        let (mut read_again, until_ns) = (0, clock::now_ns() + AGAIN_NS);
        for block in all {
            if clock::now_ns() > until_ns {
                break;
            }
            let (kind, version, sync, empties) = (Kind::Read, 0, false, false);
            let op = Op { block: *block, blocks: 1, kind, version, sync, empties };
            let read = self.target.file.read_exact_at(&mut bytes, self.target.offset(*block));
            read.map_err(|e| failed(op, &e))?;
            self.target.verify(op, &bytes)?;
            read_again += 1;
        }
        Ok(read_again)
    }
}

impl Hot for Job {
    fn pass(&mut self, passes: u64) -> u64 {
        if let Engine::Ring(ring) = &mut self.engine {
            ring.collect();
        }
        let before = self.book().done;
        match &mut self.engine {
            Engine::Ring(ring) => ring.run(passes),
            Engine::Slots(slots) => slots.run(before + passes),
        }
        if self.book().is_broken() {
            thread::sleep(BROKEN);
        }
        self.book().done - before
    }

    fn verify(&mut self) -> Result<u64, String> {
        self.drain();
        if let Some(why) = self.book().fault.clone() {
            return Err(why);
        }
        let again = self.reread(&self.again())?;
        Ok(self.book().checked + again)
    }

    fn digest(&self) -> u64 {
        let first = self.book().blocks.first();
        let mut bytes = vec![0; self.target.block];
        self.target.content.fill(&mut bytes, self.target.sector(first), 0);
        digest(DIGEST, &bytes)
    }

    fn spoil(&mut self) {
        self.drain();
        let Some(block) = self.again().first().copied() else { return };
        let (mut bytes, offset) = (Paged::zeros(self.target.block), self.target.offset(block));
        let file = &self.target.file;
        if file.read_exact_at(&mut bytes, offset).is_ok() {
            bytes[SECTOR / 2] ^= 1;
            // What cannot be spoilt is found right, and the test that asked for it fails.
            let _ = file.write_all_at(&bytes, offset);
        }
    }

    fn sample_ns(&self) -> u64 {
        if self.turns.is_some() { PACED_SAMPLE_NS } else { SAMPLE_NS }
    }

    fn sleeps(&self) -> bool {
        true
    }

    fn opens(&mut self, window: Span) {
        let opens_ns = clock::now_ns().max(window.opens_ns);
        // A thread that starts after the window takes one sample all the same.
        let closes_ns = window.closes_ns.max(opens_ns + self.sample_ns());
        let window = Span { opens_ns, closes_ns };
        self.book().opens(window);
        if let Some(turns) = &self.turns {
            locked(turns).opens(window);
            self.unsent = 0;
        }
        if let Engine::Slots(slots) = &self.engine {
            slots.wake();
        }
    }

    fn paced(&self) -> Option<Paced> {
        let due = locked(self.turns.as_ref()?).due();
        let late = self.book().times.late().unwrap_or(0);
        Some(Paced { due, late, unsent: self.unsent })
    }

    #[expect(clippy::cast_precision_loss, reason = "blocks of a window are below 2^53")]
    fn unit_bytes(&self) -> Option<f64> {
        let (operations, blocks) = self.book().counted;
        let mean = blocks as f64 * self.target.block as f64 / operations as f64;
        (operations > 0).then_some(mean)
    }

    fn distributions(&mut self) -> Vec<Distribution> {
        self.book().distributions()
    }
}
