//! Knows how blocks go from one thread to another through a ring between them.
//!
//! The giver writes every word of a block, publishes it, and goes on to the next; the taker reads
//! every word and gives the block back. At most [`IN_FLIGHT`] blocks are between the two. Each
//! block has words of its own, whose sum the taker holds against what it must be.
//! Must not know time.

use super::shared::Shared;
use super::{Method, REST, WORD};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Blocks of the ring.
pub const IN_FLIGHT: usize = 4;
/// Bytes that a pass moves at least, so that starting and draining the ring are no part of it.
const PASS: u64 = 64 << 10;
/// Blocks given, blocks taken, blocks whose sum was wrong, and the first of them.
const GIVEN: usize = WORD;
const TAKEN: usize = 1;
const WRONG: usize = 2;
const FIRST_WRONG: usize = 3;

/// Bytes of the ring.
pub fn bytes(method: Method) -> usize {
    if let Method::Handover(block) = method { IN_FLIGHT * block } else { 0 }
}

/// Blocks of a pass: 64 KiB of them, at least the ring.
#[must_use]
pub fn blocks_of_pass(block: usize) -> u64 {
    (PASS / block.max(1) as u64).max(IN_FLIGHT as u64)
}

/// What the first word of a block is: no two of a run alike (a Weyl sequence); the rest follow it.
fn first(number: u64) -> u64 {
    number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Sum of a block of so many words: their first, each next one greater.
fn sum(number: u64, words: u64) -> u64 {
    let rises = words.wrapping_mul(words.wrapping_sub(1)) / 2;
    first(number).wrapping_mul(words).wrapping_add(rises)
}

/// Where in the ring a block lies.
#[expect(clippy::cast_possible_truncation, reason = "a remainder below 4")]
fn place(number: u64) -> usize {
    (number % IN_FLIGHT as u64) as usize
}

/// Gives the blocks after the first `from`, and returns when the last is taken.
#[inline(never)]
pub fn give(shared: &Shared, block: usize, from: u64, blocks: u64) {
    let (given, taken) = (shared.word(GIVEN), shared.word(TAKEN));
    let mut back = from;
    for number in from..from + blocks {
        while number - back >= IN_FLIGHT as u64 {
            back = taken.load(Acquire);
        }
        // SAFETY: the taker has given this block back, or never had it, and takes it only after the
        // release below.
        let words = unsafe { shared.block(place(number), block) };
        fill(words, first(number));
        given.store(number + 1, Release);
    }
    while taken.load(Acquire) != from + blocks {}
}

/// The taker's side, from the block at which it stood; what it was told in the end.
pub fn take(shared: &Shared, block: usize, number: &mut u64) -> u64 {
    let (given, taken) = (shared.word(GIVEN), shared.word(TAKEN));
    let mut there = 0;
    loop {
        while there <= *number {
            there = given.load(Acquire);
        }
        if there >= REST {
            return there;
        }
        // SAFETY: the giver has published this block and writes to it only after the release below.
        let words: &[u64] = unsafe { shared.block(place(*number), block) };
        let wrong = add(words) != sum(*number, words.len() as u64);
        if wrong && shared.word(WRONG).fetch_add(1, Relaxed) == 0 {
            shared.word(FIRST_WRONG).store(*number, Relaxed);
        }
        *number += 1;
        taken.store(*number, Release);
    }
}

fn fill(words: &mut [u64], first: u64) {
    let mut word = first;
    for place in words {
        *place = word;
        word = word.wrapping_add(1);
    }
}

fn add(words: &[u64]) -> u64 {
    words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word))
}

/// Whether every block arrived as it was given; the blocks looked at.
///
/// # Errors
/// How many did not, or how many are missing.
pub fn verify(shared: &Shared, blocks: u64) -> Result<u64, String> {
    let (taken, wrong) = (shared.word(TAKEN).load(Acquire), shared.word(WRONG).load(Relaxed));
    if wrong > 0 {
        let number = shared.word(FIRST_WRONG).load(Relaxed);
        return Err(format!("{wrong} of {taken} blocks arrived wrong, first block {number}"));
    }
    if taken != blocks {
        return Err(format!("{taken} of {blocks} blocks were taken"));
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_a_block_is_foretold() {
        for (number, words) in [(0, 8), (1, 8), (5, 1), (1 << 40, 131_072)] {
            let mut block = vec![0; words];
            fill(&mut block, first(number));
            assert_eq!(add(&block), sum(number, words as u64));
            block[words / 2] ^= 4;
            assert_ne!(add(&block), sum(number, words as u64));
        }
        assert_ne!(sum(0, 8), sum(IN_FLIGHT as u64, 8), "the block before in the same place");
    }
}
