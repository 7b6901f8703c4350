//! Knows the hidden verb `stend guardian`: a process that outlives its conductor.

use super::OK;
use super::error::CliError;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Waits for the end of the conductor and undoes what its journal holds.
///
/// # Errors
/// When it was not started by the conductor.
pub fn guardian(journal: &Path) -> Result<u8, CliError> {
    // Who ends a run does not mean the process that tidies up after it; nobody reads the flag.
    let unread = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&unread)).map_err(CliError::Guardian)?;
    }
    rig::lab::undo::guard(journal).map_err(CliError::Guardian)?;
    Ok(OK)
}
