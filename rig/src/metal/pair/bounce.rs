//! Knows the three ways in which a word goes back and forth between two threads.
//!
//! The word is a count: even values are pong's turn, odd ones ping's, and each writes the next one
//! only over the one before. Where it stands in the end tells how often it went over. No waiting
//! loop has a `pause`: on CPUs of their own it only delays the look at the line (10 of them
//! doubled a peer's figure); threads that share a core pay for that with each other's slots.
//! Must not know time.
#![expect(clippy::missing_spin_loop, reason = "a pause delays what is measured")]

use super::Method;
use super::shared::Shared;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// One-way hand-overs of a pass: 10 us or more.
pub const HANDOVERS_OF_PASS: u64 = 200;
/// Ends pong; above every count.
const END: u64 = 1 << 63;
/// The word of one line, or of ping's.
const WORD: usize = 0;
/// The word of pong's line.
const BACK: usize = 1;

/// Ping's side: so many rounds after the first `from`.
#[inline(never)]
pub fn ask_cas(shared: &Shared, from: u64, rounds: u64) {
    let word = shared.word(WORD);
    let mut mine = 2 * from + 1;
    for _ in 0..rounds {
        while word.compare_exchange(mine, mine + 1, Relaxed, Relaxed).is_err() {}
        mine += 2;
    }
}

/// Pong's side.
pub fn answer_cas(shared: &Shared) {
    let word = shared.word(WORD);
    let mut mine = 0;
    loop {
        match word.compare_exchange(mine, mine + 1, Relaxed, Relaxed) {
            Ok(_) => mine += 2,
            Err(END) => return,
            Err(_) => {}
        }
    }
}

/// Ping's side.
#[inline(never)]
pub fn ask_store(shared: &Shared, from: u64, rounds: u64) {
    let word = shared.word(WORD);
    let mut mine = 2 * from + 1;
    for _ in 0..rounds {
        while word.load(Acquire) != mine {}
        word.store(mine + 1, Release);
        mine += 2;
    }
}

/// Pong's side.
pub fn answer_store(shared: &Shared) {
    let word = shared.word(WORD);
    let mut mine = 0;
    loop {
        let stands = word.load(Acquire);
        if stands == mine {
            word.store(mine + 1, Release);
            mine += 2;
        } else if stands == END {
            return;
        }
    }
}

/// Ping's side: its line says how many rounds it has asked for, pong's how many were answered.
#[inline(never)]
pub fn ask_two_lines(shared: &Shared, from: u64, rounds: u64) {
    let (ping, pong) = (shared.word(WORD), shared.word(BACK));
    for round in from + 1..=from + rounds {
        ping.store(round, Release);
        while pong.load(Acquire) != round {}
    }
}

/// Pong's side.
pub fn answer_two_lines(shared: &Shared) {
    let (ping, pong) = (shared.word(WORD), shared.word(BACK));
    let mut round = 1;
    loop {
        let asked = ping.load(Acquire);
        if asked == round {
            pong.store(round, Release);
            round += 1;
        } else if asked == END {
            return;
        }
    }
}

/// Whether the word went over as often as was asked; the hand-overs looked at.
///
/// # Errors
/// Where the word stands, and where it should.
pub fn verify(shared: &Shared, method: Method, rounds: u64) -> Result<u64, String> {
    let (word, back) = (shared.word(WORD).load(Acquire), shared.word(BACK).load(Acquire));
    let right = match method {
        Method::TwoLines => word == rounds && back == rounds,
        // Pong may have made the next step already, and no further one before ping does.
        _ => word == 2 * rounds || word == 2 * rounds + 1,
    };
    if right {
        return Ok(2 * rounds);
    }
    Err(format!("after {rounds} rounds the words stand at {word} and {back}"))
}

/// Ends pong, when it is ping's turn: a store of pong's could otherwise overwrite the end.
pub fn end(shared: &Shared, method: Method, rounds: u64) {
    let word = shared.word(WORD);
    if method != Method::TwoLines {
        while word.load(Acquire) != 2 * rounds + 1 {
            std::thread::yield_now();
        }
    }
    word.store(END, Release);
}
