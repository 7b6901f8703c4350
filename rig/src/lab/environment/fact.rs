//! Knows how one value becomes a fact. Never: which values there are.

use desk::record::{Fact, class_of};
use sha2::{Digest, Sha256};

/// White space inside becomes single blanks: the kernel separates some values by tabs.
pub(super) fn fact(key: &str, path: &str, value: &str) -> Fact {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    Fact { key: key.to_owned(), value, class: class_of(key), source: format!("/{path}") }
}

/// The first 12 hexadecimal digits of SHA-256: enough to tell two pieces apart, and not the number
/// itself. Who can guess the number can check it.
pub(super) fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
