//! Knows the three ways in which a word goes back and forth between two threads.
//!
//! The word is a count: even values are pong's turn, odd ones ping's, and each writes the next one
//! only over the one before. Where it stands in the end tells how often it went over. No waiting
//! loop has a `pause`: on CPUs of their own it only delays the look at the line (10 of them
//! doubled a peer's figure); threads that share a core pay for that with each other's slots.
//! Must not know time.

use super::shared::Shared;
use super::{Method, REST, WORD};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// One-way hand-overs of a pass: 10 us or more.
pub const HANDOVERS_OF_PASS: u64 = 200;
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

/// Pong's side, from where it stood; what it was told in the end.
pub fn answer_cas(shared: &Shared, mine: &mut u64) -> u64 {
    let word = shared.word(WORD);
    loop {
        match word.compare_exchange(*mine, *mine + 1, Relaxed, Relaxed) {
            Ok(_) => *mine += 2,
            Err(told) if told >= REST => return told,
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
pub fn answer_store(shared: &Shared, mine: &mut u64) -> u64 {
    let word = shared.word(WORD);
    loop {
        let stands = word.load(Acquire);
        if stands == *mine {
            word.store(*mine + 1, Release);
            *mine += 2;
        } else if stands >= REST {
            return stands;
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
pub fn answer_two_lines(shared: &Shared, answered: &mut u64) -> u64 {
    let (ping, pong) = (shared.word(WORD), shared.word(BACK));
    loop {
        let asked = ping.load(Acquire);
        if asked == *answered + 1 {
            pong.store(asked, Release);
            *answered = asked;
        } else if asked >= REST {
            return asked;
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
