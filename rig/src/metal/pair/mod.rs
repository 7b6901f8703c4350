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

use crate::metal::{self, Hot};
use shared::Shared;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

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

/// Two threads with memory between them; the caller's is ping.
pub struct Pair {
    shared: Arc<Shared>,
    method: Method,
    pong: Option<JoinHandle<()>>,
    tid: i32,
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
        let mut pair = Self { shared, method, pong: None, tid: 0, rounds: 0 };
        pair.tid = told.recv().map_err(|_| format!("the thread of cpu {pong} ended"))??;
        // Only a thread that took its place is waited for at the end; one that failed has ended.
        pair.pong = Some(thread);
        Ok(pair)
    }

    /// The NUMA node on which the memory between the two is; none if the kernel cannot tell.
    #[must_use]
    pub fn node(&self) -> Option<u32> {
        metal::chase::node::of(self.shared.start()).ok()
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
    match method {
        Method::Cas => bounce::answer_cas(shared),
        Method::Store => bounce::answer_store(shared),
        Method::TwoLines => bounce::answer_two_lines(shared),
        Method::Handover(block) => handover::take(shared, block),
    }
}

impl Hot for Pair {
    /// A pass is [`HANDOVERS_OF_PASS`] one-way hand-overs, or [`blocks_of_pass`] blocks.
    fn pass(&mut self, passes: u64) -> u64 {
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
        match self.method {
            Method::Handover(_) => handover::verify(&self.shared, self.rounds),
            method => bounce::verify(&self.shared, method, self.rounds),
        }
    }

    fn watched(&self) -> Vec<i32> {
        vec![self.tid]
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let Some(pong) = self.pong.take() else { return };
        match self.method {
            Method::Handover(_) => handover::end(&self.shared),
            method => bounce::end(&self.shared, method, self.rounds),
        }
        // A panic of pong has nothing to tell that the figures do not.
        let _ = pong.join();
    }
}
