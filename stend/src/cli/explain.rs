//! Knows `stend explain`: the workloads, and each in its own words.

use super::error::CliError;
use super::{OK, invoked, terminal};
use std::io::Write as _;

/// Prints the README of a workload; without a name the list of all of them.
///
/// # Errors
/// When there is no workload of this name.
pub fn explain(name: Option<&str>) -> Result<u8, CliError> {
    let mut out = terminal::out();
    let Some(name) = name else {
        for entry in loads::ALL {
            writeln!(out, "{:<16}{}", entry.spec.name, entry.spec.question)?;
        }
        writeln!(out, "more of one: {} explain NAME", invoked())?;
        return Ok(OK);
    };
    let Some(entry) = loads::find(name) else {
        let known: Vec<&str> = loads::ALL.iter().map(|entry| entry.spec.name).collect();
        return Err(CliError::NoWorkload { name: name.into(), known: known.join(", ") });
    };
    out.write_all(entry.readme.as_bytes())?;
    Ok(OK)
}
