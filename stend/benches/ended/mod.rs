//! Knows how a bench ends: its last line and its exit status.
//!
//! Must not know what a cell is.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Prints how many of the cells that count are at the bar. Exit status 0: all are; 1: one is short;
/// 2: it could not be measured.
pub fn ended<E: Display>(bench: &str, cells: Result<(usize, usize), E>) -> ExitCode {
    let (line, status) = match cells {
        Ok((good, counted)) => {
            (format!("{good} of {counted} cells at the bar"), u8::from(good < counted))
        }
        Err(e) => (format!("benches/{bench}: {e}"), 2),
    };
    // The output may be closed; the status says the same.
    let _ = writeln!(io::stdout(), "{line}");
    ExitCode::from(status)
}
