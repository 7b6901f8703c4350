//! Knows how much memory an end sends from or receives into, so that caches hold it or do not.
//!
//! Must not know what is in it.

use crate::engine::alone::memory_of;
use rig::metal::{Cpus, available};
use std::path::Path;

/// Calls that the memory of an end has room for, at the least.
const CALLS: usize = 4;

/// Bytes that each of so many ends of a host works in, with calls of so many bytes, so that all of
/// them together are more than the last caches hold.
///
/// # Errors
/// Less memory than that, in words for the person.
pub fn cold(ends: usize, call: usize) -> Result<usize, String> {
    let cpus = Cpus::read(Path::new("/"));
    let each = memory_of(&cpus, ends, available()).map_err(|_| {
        "buffers = \"cold\" needs twice the memory that the last caches hold; free memory, or take \
         buffers = \"warm\""
    })?;
    Ok(usize::try_from(each).unwrap_or(usize::MAX).max(call.saturating_mul(CALLS)))
}
