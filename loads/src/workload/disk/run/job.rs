//! Knows one thread's loop: what is counted of its operations, and how its work is looked at when
//! the window is over.
//!
//! Must not know by which system calls an operation is done.

use super::blocks::{Blocks, Kind, Op};
use super::content::{Content, SECTOR};
use super::ring::Ring;
use super::slots::Slots;
use super::versions::Versions;
use crate::engine::net::content::Paged;
use crate::engine::times::{RESPONSE, TIME};
use desk::record::{DIGEST, Distribution, digest};
use hdrhistogram::Histogram;
use rig::lab::clock;
use rig::metal::{Hot, Span};
use std::fs::File;
use std::iter::repeat_n;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Shortest sample, nanoseconds, below the patience of a pass: what ends between two, some 50 us,
/// is in none, and a deep queue runs empty there.
const SAMPLE_NS: u64 = 50_000_000;
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

/// What every slot of a thread's queue shares.
#[derive(Debug)]
pub struct Book {
    /// Which block is next.
    pub blocks: Blocks,
    response: Histogram<u64>,
    /// Times count of operations that begin from the first on and before the second, nanoseconds.
    window_ns: (u64, u64),
    done: u64,
    /// Operations since the window opened, and blocks that they were of.
    counted: (u64, u64),
    checked: u64,
    fault: Option<String>,
}

impl Book {
    /// Nothing is done yet. None where the memory for it cannot be had.
    #[must_use]
    pub fn new(blocks: Blocks) -> Option<Self> {
        let response = Distribution::empty()?;
        let (window_ns, counted) = ((0, 0), (0, 0));
        Some(Self { blocks, response, window_ns, done: 0, counted, checked: 0, fault: None })
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

    /// Notes that an operation is complete: when it began and ended, and its result. An end of
    /// [`u64::MAX`] is unknown.
    pub fn end(&mut self, op: Op, (begun_ns, done_ns): (u64, u64), gave: Result<(), String>) {
        self.blocks.end(op);
        if let Err(why) = gave {
            return self.breaks(why);
        }
        self.done += 1;
        self.counted = (self.counted.0 + 1, self.counted.1 + op.blocks as u64);
        self.checked += u64::from(op.kind == Kind::Read);
        let (opens_ns, closes_ns) = self.window_ns;
        if (opens_ns..closes_ns).contains(&begun_ns) && done_ns != u64::MAX {
            self.response.saturating_record(done_ns.saturating_sub(begun_ns));
        }
    }
}

/// The file as all threads have it.
#[derive(Clone, Debug)]
pub struct Target {
    /// It has no name.
    pub file: Arc<File>,
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
        block * self.block as u64
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
        let bytes = &bytes[..self.bytes(op)];
        let is_right = |(block, bytes): (u64, &[u8])| {
            self.content.holds(bytes, self.sector(block), self.versions.of(block))
        };
        if op.kind == Kind::Write || op.all().zip(bytes.chunks_exact(self.block)).all(is_right) {
            return Ok(());
        }
        let sectors = self.block / SECTOR;
        let of = |block: u64| repeat_n(self.versions.of(block), sectors);
        let wanted: Vec<u32> = op.all().flat_map(of).collect();
        let damage = self.content.judge(bytes, self.sector(op.block), &wanted);
        Err(format!("block {}: {damage}", op.block))
    }
}

/// What the kernel says of an operation, in words for the person.
#[must_use]
pub fn failed(op: Op, why: &dyn std::fmt::Display) -> String {
    let what = if op.kind == Kind::Read { "read" } else { "write" };
    format!("a {what} of block {} failed: {why}", op.block)
}

/// The book. A thread that panics while it holds the lock ends the trial.
pub fn locked(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
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
}

impl Job {
    fn book(&self) -> MutexGuard<'_, Book> {
        locked(&self.book)
    }

    /// Waits until nothing is under way.
    fn drain(&mut self) {
        match &mut self.engine {
            Engine::Ring(ring) => ring.drain(),
            Engine::Slots(slots) => slots.drain(),
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
            let (kind, version, sync) = (Kind::Read, 0, false);
            let op = Op { block: *block, blocks: 1, kind, version, sync };
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
        SAMPLE_NS
    }

    fn sleeps(&self) -> bool {
        true
    }

    fn opens(&mut self, window: Span) {
        let now_ns = clock::now_ns();
        let mut book = self.book();
        book.response.reset();
        book.counted = (0, 0);
        let opens_ns = now_ns.max(window.opens_ns);
        // A thread that starts after the window takes one sample all the same.
        book.window_ns = (opens_ns, window.closes_ns.max(opens_ns + SAMPLE_NS));
    }

    #[expect(clippy::cast_precision_loss, reason = "blocks of a window are below 2^53")]
    fn unit_bytes(&self) -> Option<f64> {
        let (operations, blocks) = self.book().counted;
        let mean = blocks as f64 * self.target.block as f64 / operations as f64;
        (operations > 0).then_some(mean)
    }

    fn distributions(&mut self) -> Vec<Distribution> {
        let book = self.book();
        let some = Some(&book.response).filter(|response| !response.is_empty());
        let stored = some.and_then(|times| Distribution::new(RESPONSE, TIME, times));
        stored.into_iter().collect()
    }
}
