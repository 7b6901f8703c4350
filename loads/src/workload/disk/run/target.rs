//! Knows how the file of a trial is filled, and whether its blocks can be trimmed.
//!
//! Must not know how it is made.

use super::content::{Content, SECTOR};
use crate::engine::file::{Wanted, Words, trim};
use crate::engine::net::content::Paged;
use rig::metal::Unready;
use rustix::fs::fsync;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Bytes that are written at once when the file is filled.
const CHUNK: usize = 1 << 20;

/// What a plan calls what is asked of the file.
pub const WORDS: Words = Words {
    directory: "directory",
    size: "file_size",
    block: "block_size",
    direct: "cache = \"direct\"",
    cached: "cache = \"buffered\"",
};

/// Whether a block of these bytes and of this place can be trimmed, before anything is written.
///
/// # Errors
/// What the kernel says, with the remedy.
pub fn trims(file: &File, block: (u64, u64)) -> Result<(), Unready> {
    trim(file, block).map_err(|e| {
        Unready::NotAvailable(format!(
            "operation = \"trim\": the file system or the disk refuses it: {e}; take another \
             directory, or operation = \"write\""
        ))
    })
}

/// Writes version 0 of every block, and waits until the disk has it.
///
/// # Errors
/// What the kernel says, with the remedy.
pub fn fill(file: &File, wanted: &Wanted, content: Content) -> Result<(), Unready> {
    let refused = |e: std::io::Error| {
        let bytes = wanted.bytes;
        Unready::Failed(format!(
            "the file of {bytes} B cannot be filled: {e}; take a smaller file_size, or another \
             directory"
        ))
    };
    let chunk = wanted.block * (CHUNK / wanted.block).max(1);
    let mut buffer = Paged::zeros(chunk);
    let (mut at, end) = (wanted.begin, wanted.begin + wanted.bytes);
    while at < end {
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        let part = &mut buffer[..chunk.min(left)];
        content.fill(part, at / SECTOR as u64, 0);
        file.write_all_at(part, at).map_err(refused)?;
        at += part.len() as u64;
    }
    fsync(file).map_err(|e| refused(e.into()))
}
