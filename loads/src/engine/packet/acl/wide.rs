//! Knows how packets go through a tree with the vectors of AVX-512: eight packets a step, eight
//! rules a comparison.
//!
//! Must not know how a tree is made.

use super::BATCH;
use super::block::Block;
use super::entry::{Entry, LENGTH, LENGTH_MASK, SHIFT, WINDOWS};
use super::keys::Keys;
use super::tree::{Tree, first};
use std::arch::x86_64::{
    __m512i, __mmask8, _MM_HINT_T0, _mm_prefetch, _mm512_add_epi64, _mm512_and_si512,
    _mm512_i64gather_epi64, _mm512_load_si512, _mm512_mask_blend_epi64, _mm512_or_si512,
    _mm512_rorv_epi64, _mm512_set1_epi64, _mm512_sllv_epi64, _mm512_srli_epi64, _mm512_sub_epi16,
    _mm512_sub_epi64, _mm512_subs_epu16, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask,
    _mm512_testn_epi64_mask,
};

/// Packets of a step.
const LANES: usize = 8;
/// Bytes of a line of the caches.
const LINE: usize = 64;
/// `(a ^ b) & c`, as the instruction has its truth table.
const DIFFERS: i32 = 0b0010_1000;

/// Leaves of a batch.
#[repr(C, align(64))]
struct Leaves([u64; BATCH]);

/// Larger trees are not all in the first cache, bytes: blocks are asked for before they are needed.
const NEAR: usize = 32 << 10;

/// Lowers each index to that of the first rule of a tree that the packet matches.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi1,bmi2")]
pub fn classify(tree: &Tree, keys: &Keys, matched: &mut [u32]) {
    let is_near = tree.bytes() <= NEAR;
    if tree.depth == 0 {
        let blocks = tree.blocks(tree.root);
        for (at, index) in matched.iter_mut().enumerate().take(BATCH) {
            *index = (*index).min(within(blocks, keys, at));
        }
        return;
    }
    let mut leaves = Leaves([0; BATCH]);
    let step = Step::of(tree.root);
    for from in (0..matched.len().min(BATCH)).step_by(LANES) {
        descend(tree, &step, keys, (from, &mut leaves));
        if !is_near {
            ask(tree, &leaves.0[from..from + LANES]);
        }
    }
    for (at, index) in matched.iter_mut().enumerate().take(BATCH) {
        *index = (*index).min(within(tree.blocks(Entry(leaves.0[at])), keys, at));
    }
}

/// Leaves of eight packets.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
#[inline]
fn descend(tree: &Tree, root: &Step, keys: &Keys, (from, leaves): (usize, &mut Leaves)) {
    let words = [load(&keys.addresses, from), load(&keys.rest, from)];
    let mut entries = gather(tree, root.next(words));
    for _ in 1..tree.depth {
        entries = gather(tree, Step::of_all(entries).next(words));
    }
    leaves.0[from..from + LANES].copy_from_slice(&lanes(entries));
}

/// Asks for the first block of each leaf.
#[target_feature(enable = "avx512f")]
#[inline]
fn ask(tree: &Tree, leaves: &[u64]) {
    for leaf in leaves {
        let first = tree.blocks.as_ptr().wrapping_add(Entry(*leaf).first()).cast::<i8>();
        for line in 0..size_of::<Block>() / LINE {
            _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(LINE * line));
        }
    }
}

/// Words of a tree.
#[target_feature(enable = "avx512f")]
#[inline]
fn gather(tree: &Tree, at: __m512i) -> __m512i {
    // SAFETY: `Tree::build` makes entries whose next words all lie within the tree, whatever the
    // bits of a packet are.
    unsafe { _mm512_i64gather_epi64::<8>(at, tree.entries.as_ptr().cast()) }
}

/// Where the next words of eight packets stand, by an entry of each.
struct Step {
    first: __m512i,
    windows: [Taken; 2],
}

/// A window of eight entries: whether it is of the second word, by how much that is turned, which
/// bits are left, and how many.
struct Taken {
    is_rest: __mmask8,
    turn: __m512i,
    mask: __m512i,
    bits: __m512i,
}

impl Step {
    /// The same entry for all.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[inline]
    fn of(entry: Entry) -> Self {
        Self::of_all(_mm512_set1_epi64(entry.0.cast_signed()))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[inline]
    fn of_all(entries: __m512i) -> Self {
        Self {
            first: _mm512_and_si512(entries, _mm512_set1_epi64(0xFFFF_FFFF)),
            windows: [
                Taken::of(_mm512_srli_epi64::<{ WINDOWS[0] }>(entries)),
                Taken::of(_mm512_srli_epi64::<{ WINDOWS[1] }>(entries)),
            ],
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[inline]
    fn next(&self, words: [__m512i; 2]) -> __m512i {
        let [low, high] = &self.windows;
        let upper = _mm512_sllv_epi64(high.of_words(words), low.bits);
        let taken = _mm512_or_si512(low.of_words(words), upper);
        _mm512_add_epi64(self.first, taken)
    }
}

impl Taken {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[inline]
    fn of(window: __m512i) -> Self {
        let one = _mm512_set1_epi64(1);
        let length = _mm512_srli_epi64::<LENGTH>(window);
        let bits = _mm512_and_si512(length, _mm512_set1_epi64(LENGTH_MASK.cast_signed()));
        Self {
            is_rest: _mm512_test_epi64_mask(window, one),
            // Of a turn, the six lowest bits count.
            turn: _mm512_srli_epi64::<SHIFT>(window),
            mask: _mm512_sub_epi64(_mm512_sllv_epi64(one, bits), one),
            bits,
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[inline]
    fn of_words(&self, [addresses, rest]: [__m512i; 2]) -> __m512i {
        let word = _mm512_mask_blend_epi64(self.is_rest, addresses, rest);
        _mm512_and_si512(_mm512_rorv_epi64(word, self.turn), self.mask)
    }
}

/// Index of the first rule of blocks that a packet matches.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi1")]
#[inline]
fn within(blocks: &[Block], keys: &Keys, at: usize) -> u32 {
    let addresses = _mm512_set1_epi64(keys.addresses[at].cast_signed());
    let rest = _mm512_set1_epi64(keys.rest[at].cast_signed());
    first(blocks, |block| {
        let (address, mask) = (load(&block.address, 0), load(&block.mask, 0));
        let differs = _mm512_ternarylogic_epi64::<DIFFERS>(addresses, address, mask);
        let above = _mm512_sub_epi16(rest, parts(&block.low));
        let beyond = _mm512_subs_epu16(above, parts(&block.span));
        let wrong = _mm512_or_si512(differs, beyond);
        _mm512_testn_epi64_mask(wrong, wrong).into()
    })
}

/// Eight words from a place on that is a multiple of eight.
#[target_feature(enable = "avx512f")]
#[inline]
fn load(words: &[u64], from: usize) -> __m512i {
    let words = &words[from..from + LANES];
    // SAFETY: so many words are there; all arrays begin at a multiple of 64 bytes.
    unsafe { _mm512_load_si512(words.as_ptr().cast()) }
}

/// The parts of eight rules.
#[target_feature(enable = "avx512f")]
#[inline]
fn parts(parts: &[[u16; 4]; LANES]) -> __m512i {
    // SAFETY: they are 64 bytes, and a block begins at a multiple of 64.
    unsafe { _mm512_load_si512(parts.as_ptr().cast()) }
}

/// The words of a vector.
#[target_feature(enable = "avx512f")]
#[inline]
fn lanes(vector: __m512i) -> [u64; LANES] {
    // SAFETY: both are 64 bytes, and any bits are eight words.
    unsafe { std::mem::transmute(vector) }
}
