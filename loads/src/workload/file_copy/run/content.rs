//! Knows what a file holds, and how what arrives is compared with it: every byte.
//!
//! Each page begins with a number that follows from its place, so that a page that is missing,
//! doubled or elsewhere shows. Must not know files or sockets.

use crate::engine::net::content::{self, GOLDEN, PERIOD, mix};
use rig::metal::{DIGEST, digest};
use std::io;

/// Bytes of a page.
pub const PAGE: usize = PERIOD;
/// Bytes of the number that a page begins with.
const NUMBER: usize = 8;

/// The content of the file of a connection.
#[derive(Clone, Debug)]
pub struct Content {
    page: Vec<u8>,
    key: u64,
}

impl Content {
    /// That of connection `id` of a trial with this seed.
    #[must_use]
    pub fn new(seed: u64, id: u32) -> Self {
        let page = content::content(seed, id, 0)[..PAGE].to_vec();
        Self { page, key: mix(seed ^ (u64::from(id) << 32) ^ GOLDEN) }
    }

    /// The same with a bit that is wrong in each page.
    #[must_use]
    pub fn spoilt(mut self) -> Self {
        self.page[PAGE / 2] ^= 1;
        self
    }

    /// What all of it follows from.
    #[must_use]
    pub fn digest(&self) -> u64 {
        digest(digest(DIGEST, &self.page), &self.key.to_le_bytes())
    }

    fn number(&self, page: u64) -> [u8; NUMBER] {
        mix(self.key.wrapping_add(page.wrapping_mul(GOLDEN))).to_le_bytes()
    }

    /// Writes what stands from byte `from` on, the begin of a page.
    pub fn fill(&self, bytes: &mut [u8], from: u64) {
        for piece in bytes.chunks_mut(PAGE) {
            piece.copy_from_slice(&self.page[..piece.len()]);
        }
        self.renumber(bytes, from);
    }

    /// Makes pages of another place those that stand from byte `from` on.
    pub fn renumber(&self, bytes: &mut [u8], from: u64) {
        for (page, piece) in (from / PAGE as u64..).zip(bytes.chunks_mut(PAGE)) {
            let number = self.number(page);
            let length = piece.len().min(NUMBER);
            piece[..length].copy_from_slice(&number[..length]);
        }
    }

    /// Compares bytes with what stands from byte `from` on, the begin of a page.
    ///
    /// # Errors
    /// The first byte that is wrong.
    pub fn verify(&self, bytes: &[u8], from: u64) -> io::Result<()> {
        for (page, piece) in (from / PAGE as u64..).zip(bytes.chunks(PAGE)) {
            let (number, length) = (self.number(page), piece.len().min(NUMBER));
            let is_right = piece[..length] == number[..length]
                && piece[length..] == self.page[length..piece.len()];
            if !is_right {
                return Err(self.wrong(piece, page));
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong(&self, piece: &[u8], page: u64) -> io::Error {
        let mut right = self.page.clone();
        right[..NUMBER].copy_from_slice(&self.number(page));
        let at = piece.iter().zip(&right).position(|(found, right)| found != right);
        let at = page * PAGE as u64 + at.unwrap_or(0) as u64;
        let what = format!("byte {at} is not that of the source");
        io::Error::new(io::ErrorKind::InvalidData, what)
    }
}
