//! Knows the digest of content and of stored records.
//!
//! Never: a protection against forgery; it finds damage and slips.

/// FNV-1a of bytes, 64 bits, continued from `so_far`; [`DIGEST`] begins one.
///
/// Any value may come out. Source: Fowler, Noll and Vo, RFC 9923.
#[must_use]
pub fn digest(so_far: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(so_far, step)
}

/// The digest of nothing.
pub const DIGEST: u64 = 0xcbf2_9ce4_8422_2325;
