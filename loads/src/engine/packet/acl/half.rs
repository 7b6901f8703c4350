//! Knows how packets go through a tree with the vectors of AVX2: four rules a comparison.
//!
//! Must not know how a tree is made.

use super::block::{Block, RULES};
use super::key::Key;
use super::keys::{BATCH, Keys};
use super::tree::{Tree, first};
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_load_si256,
    _mm256_movemask_pd, _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_sub_epi16, _mm256_subs_epu16, _mm256_xor_si256,
};

/// Rules of a comparison.
const LANES: usize = 4;

/// Lowers each index to that of the first rule of a tree that the packet matches.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub fn classify(tree: &Tree, keys: &Keys, matched: &mut [u32]) {
    let key = |at: usize| Key { addresses: keys.addresses[at], rest: keys.rest[at] };
    let mut leaves = [tree.root; BATCH];
    for (at, leaf) in leaves.iter_mut().enumerate().take(matched.len()) {
        *leaf = tree.leaf(&key(at));
    }
    for ((at, index), leaf) in matched.iter_mut().enumerate().zip(leaves) {
        let Key { addresses, rest } = key(at);
        let addresses = _mm256_set1_epi64x(addresses.cast_signed());
        let rest = _mm256_set1_epi64x(rest.cast_signed());
        let found = first(tree.blocks(leaf), |block| {
            (0..RULES)
                .step_by(LANES)
                .fold(0, |all, from| all | four(block, from, (addresses, rest)) << from)
        });
        *index = (*index).min(found);
    }
}

/// A bit for each of four rules that the packet matches.
#[target_feature(enable = "avx2")]
#[inline]
fn four(block: &Block, from: usize, (addresses, rest): (__m256i, __m256i)) -> u32 {
    let differs = _mm256_xor_si256(addresses, words(&block.address[from..from + LANES]));
    let differs = _mm256_and_si256(differs, words(&block.mask[from..from + LANES]));
    let above = _mm256_sub_epi16(rest, parts(&block.low[from..from + LANES]));
    let beyond = _mm256_subs_epu16(above, parts(&block.span[from..from + LANES]));
    let wrong = _mm256_or_si256(differs, beyond);
    let right = _mm256_cmpeq_epi64(wrong, _mm256_setzero_si256());
    _mm256_movemask_pd(_mm256_castsi256_pd(right)).cast_unsigned()
}

/// Four words of a block.
#[target_feature(enable = "avx2")]
#[inline]
fn words(words: &[u64]) -> __m256i {
    assert!(words.len() >= LANES);
    // SAFETY: so many words are there, and halves of a block's lines begin at 32 bytes.
    unsafe { _mm256_load_si256(words.as_ptr().cast()) }
}

/// The parts of four rules.
#[target_feature(enable = "avx2")]
#[inline]
fn parts(parts: &[[u16; 4]]) -> __m256i {
    assert!(parts.len() >= LANES);
    // SAFETY: so many parts are there, and halves of a block's lines begin at 32 bytes.
    unsafe { _mm256_load_si256(parts.as_ptr().cast()) }
}
