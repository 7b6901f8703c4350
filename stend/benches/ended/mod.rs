//! Knows how a bench ends: its last line and its exit status.
//!
//! Must not know what a cell is.

use std::fmt::Display;
use std::process::ExitCode;

/// Prints how many of the cells that count are at the bar. Exit status 0: all are; 1: one is short;
/// 2: it could not be measured.
pub fn ended<E: Display>(bench: &str, cells: Result<(usize, usize), E>) -> ExitCode {
    match cells {
        Ok((good, counted)) => {
            println!("{good} of {counted} cells at the bar");
            ExitCode::from(u8::from(good < counted))
        }
        Err(e) => {
            println!("benches/{bench}: {e}");
            ExitCode::from(2)
        }
    }
}
