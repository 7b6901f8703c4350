//! Knows `stend explain`: a workload in its own words.

use super::OK;
use super::error::CliError;
use rig::workload;
use std::io::Write as _;

/// Prints the README of a workload.
///
/// # Errors
/// When there is no workload of this name.
pub fn explain(name: &str) -> Result<u8, CliError> {
    let Some(entry) = workload::find(name) else {
        let known: Vec<&str> = workload::ALL.iter().map(|entry| entry.spec.name).collect();
        return Err(CliError::NoWorkload { name: name.into(), known: known.join(", ") });
    };
    std::io::stdout().lock().write_all(entry.readme.as_bytes())?;
    Ok(OK)
}
