//! Knows by what a record tells the content of a file from which a load was made.
//!
//! Must not know what the file is.

use desk::record::Value;
use rig::metal::{DIGEST, digest};

/// The entry of what a load was made with: a file may have been replaced under its name.
#[must_use]
pub fn content(parts: impl Iterator<Item = impl AsRef<[u8]>>) -> (String, Value) {
    let sum = parts.fold(DIGEST, |sum, part| digest(sum, part.as_ref()));
    ("file_digest".into(), Value::Word(format!("{sum:016x}")))
}
