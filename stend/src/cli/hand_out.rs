//! Knows what `stend` says of itself to a shell and to `man`.

use super::error::CliError;
use super::files::Directory;
use super::settings::{self, Settings};
use super::{Cli, OK, terminal};
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use std::io::{self, Write as _};
use std::path::Path;

/// By which a directory is known to be one of pages.
const PAGE: &str = "stend.1";

/// The command line as it is read, whatever was set here.
fn command() -> Command {
    settings::apply(Cli::command(), &Settings::default())
}

/// Prints the completions for a shell.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(shell: Shell) -> Result<u8, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "stend", &mut text);
    terminal::out().write_all(&text)?;
    Ok(OK)
}

/// Prints the page of `stend`, or writes it and that of every verb into a directory.
///
/// # Errors
/// When the directory or a page cannot be written.
pub fn man(directory: Option<&Path>) -> Result<u8, CliError> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command()).render(&mut page)?;
        terminal::out().write_all(&page)?;
        return Ok(OK);
    };
    let fail = |source| CliError::Directory { path: directory.into(), source };
    let own = Directory::own(directory, &[PAGE]).map_err(fail)?;
    let mut whole = command().disable_help_subcommand(true);
    whole.build();
    pages(&whole, &own).map_err(fail)?;
    Ok(OK)
}

/// Writes the page of a command and those of its verbs.
fn pages(command: &Command, to: &Directory) -> io::Result<()> {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        pages(verb, to)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    to.write(page.get_filename().as_ref(), &text)
}
