//! Knows the content that goes through a connection, and how what arrives is compared with it.
//!
//! Must not know sockets.

use multiversion::multiversion;
use std::io;
use std::ops::{Deref, DerefMut};

/// The content repeats after this many bytes; it divides every common request size above it.
pub const PERIOD: usize = 4096;
/// Bytes compared at either end of a received chunk.
const PROBE: usize = 8;

/// Bytes that begin on a page: the kernel copies those 2 to 3 % cheaper than others.
#[derive(Debug)]
pub struct Paged {
    bytes: Vec<u8>,
    from: usize,
}

impl Paged {
    /// Size of a page; larger ones begin on a multiple of it, too.
    const PAGE: usize = 4096;

    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        let bytes = vec![0; length + Self::PAGE];
        let from = bytes.as_ptr().align_offset(Self::PAGE).min(Self::PAGE);
        let mut paged = Self { bytes, from };
        paged.bytes.truncate(from + length);
        paged
    }
}

impl Deref for Paged {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

impl DerefMut for Paged {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..]
    }
}

/// What the state of a splitmix64 sequence grows by: the golden ratio in 64 bits.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
#[inline]
#[must_use]
pub const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The content of a stream from any offset below [`PERIOD`], `length` bytes beyond it, and enough
/// for a comparison.
///
/// Words of a splitmix64 sequence, so that a wrong stream, a wrong trial
/// or a shifted byte shows at once.
#[must_use]
pub fn content(seed: u64, stream: u32, length: usize) -> Paged {
    repeated((seed, stream), PERIOD, length.max(PROBE))
}

/// Content that repeats after `period` bytes, a multiple of 8, and `length` bytes beyond it.
#[must_use]
pub fn repeated((seed, stream): (u64, u32), period: usize, length: usize) -> Paged {
    let mut state = seed ^ (u64::from(stream) << 32);
    let mut bytes = Paged::zeros(period + length);
    let (words, rest) = bytes.split_at_mut(period);
    for place in words.chunks_exact_mut(8) {
        state = state.wrapping_add(GOLDEN);
        place.copy_from_slice(&mix(state).to_le_bytes());
    }
    for again in rest.chunks_mut(period) {
        again.copy_from_slice(&words[..again.len()]);
    }
    bytes
}

/// Whether two slices hold the same bytes, by the widest instructions of the CPU: the comparison
/// of a C library may go byte by byte (musl's does).
#[inline]
#[must_use]
pub fn equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if one.len() >= WIDE { equal_wide(one, other) } else { equal_words(one, other) }
}

/// From so many bytes on a call for the widest instructions pays.
const WIDE: usize = 128;

#[multiversion(targets("x86_64+avx2"))]
fn equal_wide(one: &[u8], other: &[u8]) -> bool {
    let (ones, rest) = one.as_chunks::<WIDE>();
    let (others, other_rest) = other.as_chunks::<WIDE>();
    let same = |(one, other): (&[u8; WIDE], &[u8; WIDE])| {
        let differs =
            one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other));
        differs == 0
    };
    ones.iter().zip(others).all(same) && equal_words(rest, other_rest)
}

#[expect(clippy::inline_always, reason = "it takes the instructions of its caller")]
#[inline(always)]
fn equal_words(one: &[u8], other: &[u8]) -> bool {
    let (ones, rest) = one.as_chunks::<8>();
    let (others, other_rest) = other.as_chunks::<8>();
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    let differs = ones.iter().zip(others).fold(0, |all, (a, b)| all | (word(a) ^ word(b)));
    let last = rest.iter().zip(other_rest).fold(0, |all, (a, b)| all | (a ^ b));
    differs == 0 && last == 0
}

/// Where in the content a stream stands that has moved this many bytes.
#[expect(clippy::cast_possible_truncation, reason = "below PERIOD")]
#[inline]
pub const fn place(moved: u64) -> usize {
    (moved % PERIOD as u64) as usize
}

/// Compares a chunk that begins at byte `from` of the stream: all of it up to [`PERIOD`], of a
/// longer one both ends; gives the comparisons.
///
/// # Errors
/// Content that is not what was sent.
#[inline]
pub fn probe(content: &[u8], from: u64, chunk: &[u8]) -> io::Result<u64> {
    let at = place(from);
    match content.get(at..at + chunk.len()) {
        Some(right) if chunk.len() <= PERIOD => same(chunk, right, from)?,
        _ => {
            let last = chunk.len().saturating_sub(PROBE);
            for start in [0, last] {
                let found = &chunk[start..chunk.len().min(start + PROBE)];
                let begins = from + start as u64;
                let at = place(begins);
                same(found, &content[at..at + found.len()], begins)?;
            }
        }
    }
    Ok(2)
}

#[inline]
fn same(found: &[u8], right: &[u8], from: u64) -> io::Result<()> {
    if equal(found, right) { Ok(()) } else { Err(unlike(from)) }
}

#[cold]
fn unlike(from: u64) -> io::Error {
    let what = format!("content at byte {from} is not what was sent");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn a_changed_bit_at_either_end_of_a_chunk_is_refused_and_right_content_is_not(
            (seed, stream) in (any::<u64>(), any::<u32>()),
            (from, length) in (any::<u32>(), PROBE..PERIOD),
            (bit, at_end) in (0..PROBE * 8, any::<bool>()),
        ) {
            let content = content(seed, stream, PERIOD);
            let from = u64::from(from);
            let mut chunk = content[place(from)..][..length].to_vec();
            prop_assert_eq!(probe(&content, from, &chunk).unwrap(), 2);
            let first = if at_end { length - PROBE } else { 0 };
            chunk[first + bit / 8] ^= 1 << (bit % 8);
            prop_assert!(probe(&content, from, &chunk).is_err());
        }

        #[test]
        fn slices_are_equal_where_every_bit_is(
            bytes in prop::collection::vec(any::<u8>(), 1..400),
            bit in any::<prop::sample::Index>(),
        ) {
            let (mut other, bit) = (bytes.clone(), bit.index(bytes.len() * 8));
            prop_assert!(equal(&bytes, &other));
            other[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!equal(&bytes, &other));
            prop_assert!(!equal(&bytes, &bytes[1..]));
        }
    }
}
