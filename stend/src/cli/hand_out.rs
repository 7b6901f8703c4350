//! Knows what `stend` says of itself to a shell and to `man`.

use super::error::CliError;
use super::{Cli, OK};
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::io::Write as _;
use std::path::Path;

/// Prints the completions for a shell.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(shell: Shell) -> Result<u8, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stend", &mut text);
    std::io::stdout().lock().write_all(&text)?;
    Ok(OK)
}

/// Prints the page of `stend`, or writes it and that of every verb into a directory.
///
/// # Errors
/// When the directory or a page cannot be written.
pub fn man(directory: Option<&Path>) -> Result<u8, CliError> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        std::io::stdout().lock().write_all(&page)?;
        return Ok(OK);
    };
    let fail = |source| CliError::Write { path: directory.into(), source };
    std::fs::create_dir_all(directory).map_err(fail)?;
    clap_mangen::generate_to(Cli::command(), directory).map_err(fail)?;
    Ok(OK)
}
