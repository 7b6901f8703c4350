//! Knows the logs of programs of this host that have failed, until the conductor asks for them.
//!
//! Must not know which programs there are.

use std::sync::{Mutex, PoisonError};

/// Name of the program, and its log.
pub type Log = (String, String);

static KEPT: Mutex<Vec<Log>> = Mutex::new(Vec::new());

/// Keeps the log of a program that has failed.
pub fn keep(program: &str, text: String) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push((program.to_owned(), text));
}

/// Gives all that were kept, and forgets them.
pub(crate) fn take() -> Vec<Log> {
    std::mem::take(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}
