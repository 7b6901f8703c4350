//! Knows how long a line of cache takes from one CPU to another, and how fast blocks follow.
//!
//! Ping is the thread that is timed; pong, on the other CPU, answers it, and ends with it. Both and
//! the memory between them are made anew for every [`Pair`].
//! Gives: [`Pair`], [`choose()`]. Never: what a latency means.
//! Start reading at [`Pair::make`], then `bounce.rs`.

mod bounce;
mod choose;
mod handover;
mod shared;
#[cfg(test)]
mod tests;

pub use bounce::HANDOVERS_OF_PASS;
pub use choose::choose;
pub use handover::{IN_FLIGHT, blocks_of_pass};

use crate::metal::{self, DIGEST, Hot};
use shared::Shared;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// What pong is told instead of a count, above every count: to sleep, to end.
const REST: u64 = 1 << 62;
const END: u64 = 1 << 63;
/// The word that goes over first.
const WORD: usize = 0;
/// The word by which pong is woken.
const AWAKE: usize = 8;

/// How the two threads hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Both compare and swap the same word: a lock that changes hands.
    Cas,
    /// Both load the same word until it is their turn, then store to it.
    Store,
    /// Each stores to a line of its own and loads the other's: a message and its answer.
    TwoLines,
    /// Ping fills blocks of so many bytes, pong sums them up.
    Handover(usize),
}

/// Who touches the memory between the two first, which decides the node that it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The timed thread's CPU.
    Ping,
    /// The other thread's CPU.
    Pong,
    /// This node, wherever the two run.
    Node(u32),
}

/// What a pair is made like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// CPU of the answering thread.
    pub pong: u32,
    /// How they hand over.
    pub method: Method,
    /// Where the memory between them is.
    pub home: Home,
}

/// Two threads with memory between them; the caller's is ping. Until the first pass, and after each
/// [`Hot::verify`], pong sleeps, so that pairs that take turns do not disturb each other.
pub struct Pair {
    shared: Arc<Shared>,
    method: Method,
    pong: Option<JoinHandle<()>>,
    /// CPU and number of pong.
    cpu: u32,
    tid: i32,
    awake: bool,
    /// Hand-overs there and back, or blocks.
    rounds: u64,
}

impl Pair {
    /// Makes memory, thread and pair; the calling thread is already pinned to ping's CPU.
    ///
    /// # Errors
    /// When memory or thread cannot be had, or pong cannot be pinned.
    pub fn make(setup: Setup) -> Result<Self, String> {
        let Setup { pong, method, home } = setup;
        let shared = Arc::new(Shared::map(handover::bytes(method))?);
        match home {
            Home::Ping => shared.touch(),
            Home::Node(node) => metal::chase::node::with(Some(node), || {
                shared.touch();
                Ok(())
            })?,
            Home::Pong => {}
        }
        let (tell, told) = channel();
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(format!("pong {pong}"))
            .stack_size(64 << 10)
            .spawn(move || {
                if took_place(&theirs, setup, &tell) {
                    answer(&theirs, method);
                }
            })
            .map_err(|e| format!("the thread of cpu {pong}: {e}"))?;
        let mut pair =
            Self { shared, method, pong: None, cpu: pong, tid: 0, awake: false, rounds: 0 };
        pair.tid = told.recv().map_err(|_| format!("the thread of cpu {pong} ended"))??;
        // Only a thread that took its place is waited for at the end; one that failed has ended.
        pair.pong = Some(thread);
        Ok(pair)
    }

    /// The NUMA node on which the memory between the two is; none if the kernel cannot tell.
    #[must_use]
    pub fn node(&self) -> Option<u32> {
        metal::chase::node::of(self.shared.start() as usize).ok()
    }
}

/// Pong's first steps; whether it may begin.
fn took_place(shared: &Shared, setup: Setup, tell: &Sender<Result<i32, String>>) -> bool {
    let placed = metal::pin(setup.pong);
    let pinned = placed.is_ok();
    if pinned && setup.home == Home::Pong {
        shared.touch();
    }
    let number = rustix::thread::gettid().as_raw_nonzero().get();
    tell.send(placed.map(|()| number)).is_ok() && pinned
}

/// Pong's life, until ping ends it.
fn answer(shared: &Shared, method: Method) {
    let awake = shared.word(AWAKE);
    let mut at = 0;
    loop {
        while awake.load(Acquire) == 0 {
            thread::park();
        }
        let said = match method {
            Method::Cas => bounce::answer_cas(shared, &mut at),
            Method::Store => bounce::answer_store(shared, &mut at),
            Method::TwoLines => bounce::answer_two_lines(shared, &mut at),
            Method::Handover(block) => handover::take(shared, block, &mut at),
        };
        if said == END {
            return;
        }
    }
}

impl Pair {
    /// Where the first word stands while pong is at rest: ping's turn.
    fn stand(&self) -> u64 {
        match self.method {
            Method::Cas | Method::Store => 2 * self.rounds + 1,
            Method::TwoLines | Method::Handover(_) => self.rounds,
        }
    }

    fn wake(&mut self) {
        // Before the first round it is pong's turn, and the word says so already.
        if self.rounds > 0 {
            self.shared.word(WORD).store(self.stand(), Release);
        }
        self.rouse();
        self.awake = true;
    }

    fn rouse(&self) {
        self.shared.word(AWAKE).store(1, Release);
        if let Some(pong) = &self.pong {
            pong.thread().unpark();
        }
    }

    /// Sends pong to sleep. The words were looked at, so that pong takes its last turn soon; before
    /// that, a store of its could overwrite what it is told.
    fn rest(&mut self) {
        let word = self.shared.word(WORD);
        while word.load(Acquire) != self.stand() {
            thread::yield_now();
        }
        self.shared.word(AWAKE).store(0, Release);
        word.store(REST, Release);
        self.awake = false;
    }
}

impl Hot for Pair {
    /// A pass is [`HANDOVERS_OF_PASS`] one-way hand-overs, or [`blocks_of_pass`] blocks.
    fn pass(&mut self, passes: u64) -> u64 {
        if !self.awake {
            self.wake();
        }
        let from = self.rounds;
        let rounds = match self.method {
            Method::Handover(block) => passes * blocks_of_pass(block),
            _ => passes * HANDOVERS_OF_PASS / 2,
        };
        self.rounds += rounds;
        match self.method {
            Method::Cas => bounce::ask_cas(&self.shared, from, rounds),
            Method::Store => bounce::ask_store(&self.shared, from, rounds),
            Method::TwoLines => bounce::ask_two_lines(&self.shared, from, rounds),
            Method::Handover(block) => {
                handover::give(&self.shared, block, from, rounds);
                return rounds;
            }
        }
        2 * rounds
    }

    fn verify(&mut self) -> Result<u64, String> {
        if !self.awake {
            return Err("nothing was handed over since the last look".into());
        }
        let looked = match self.method {
            Method::Handover(_) => handover::verify(&self.shared, self.rounds),
            method => bounce::verify(&self.shared, method, self.rounds),
        };
        if looked.is_ok() {
            self.rest();
        }
        looked
    }

    /// Of the other CPU and the length of a block: pairs and blocks are the same in every trial.
    fn digest(&self) -> u64 {
        let block = if let Method::Handover(block) = self.method { block } else { 0 };
        let so_far = metal::digest(DIGEST, &self.cpu.to_le_bytes());
        metal::digest(so_far, &(block as u64).to_le_bytes())
    }

    /// A round of which the words know nothing.
    fn spoil(&mut self) {
        self.rounds += 1;
    }

    fn watched(&self) -> Vec<i32> {
        vec![self.tid]
    }

    fn watched_cpus(&self) -> Vec<u32> {
        vec![self.cpu]
    }

    fn in_turn(&self) -> bool {
        true
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // Told until it ends, wherever the words stand: a store of its could overwrite it.
        while self.pong.as_ref().is_some_and(|pong| !pong.is_finished()) {
            self.shared.word(WORD).store(END, Release);
            self.rouse();
            thread::yield_now();
        }
        let Some(pong) = self.pong.take() else { return };
        // A panic of pong has nothing to tell that the figures do not.
        let _ = pong.join();
    }
}
