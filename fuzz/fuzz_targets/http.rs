//! Any bytes of a web server: a head is refused, waited for or found, the same from memory and
//! anew; chunks give the same data however they come.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loads::engine::http::{Chunks, Heads, Wrong};

fuzz_target!(|bytes: &[u8]| {
    let mut heads = Heads::default();
    for piece in bytes.split(|byte| *byte == 0) {
        assert_eq!(heads.find(piece), Heads::default().find(piece));
    }
    let whole = taken(bytes, bytes.len().max(1));
    for size in [1, 2, 3, 7] {
        assert_eq!(taken(bytes, size), whole);
    }
});

/// Data of a body that comes in pieces of this size, whether it is whole, and its length.
fn taken(bytes: &[u8], size: usize) -> Result<(Vec<u8>, bool, usize), Wrong> {
    let (mut chunks, mut data, mut used) = (Chunks::default(), Vec::new(), 0);
    for piece in bytes.chunks(size) {
        used += chunks.take(piece, |piece| {
            data.extend_from_slice(piece);
            Ok::<(), Wrong>(())
        })?;
    }
    Ok((data, chunks.is_whole(), used))
}
