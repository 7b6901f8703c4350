//! Knows `stend watch`: a run on the screen while another process measures it.
//!
//! Never: writes to the store, or decides anything about a run. Start reading at [`watch`].

mod follow;
mod live;
mod sheet;
#[cfg(test)]
mod tests;

use super::error::CliError;
use super::{OK, store, terminal};
use follow::Follower;
use press::report::watch::{Screen, Shown, empty, screen};
use sheet::{Sheet, View};
use std::io::Write as _;
use std::path::PathBuf;

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// Id of the run, a beginning of it that is unique, or the id of a survey [default: the run
    /// that is open, else the last]
    run: Option<String>,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Print one snapshot and exit, as where standard output is no terminal
    #[arg(long)]
    once: bool,
}

/// Shows a run until the person leaves, or once.
///
/// # Errors
/// When there is no store or no such run, it cannot be read, or the terminal cannot be set up.
pub fn watch(wanted: &Wanted) -> Result<u8, CliError> {
    let path = store::path(wanted.store.as_deref())?;
    let mut follower = Follower::new(path, wanted.run.clone());
    if !wanted.once && terminal::is_screen() {
        live::show(follower)?;
        return Ok(OK);
    }
    follower.look()?;
    let columns = terminal::columns();
    let screen = told(&follower, 0, columns)?;
    let view = View { unicode: terminal::unicode(), ..View::default() };
    let sheet = Sheet::of(&screen, view, (columns, None));
    terminal::out().write_all(sheet.text(terminal::out_colours()).as_bytes())?;
    Ok(OK)
}

/// What is said of the run that is shown: `ahead` parts behind the one that is open.
fn told(follower: &Follower, ahead: usize, columns: u16) -> Result<Screen, CliError> {
    let unicode = terminal::unicode();
    let stages = follower.stages();
    if stages.is_empty() {
        return Ok(empty(&follower.path().display().to_string(), unicode)?);
    }
    let at = (follower.open() + ahead) % stages.len();
    let named = follower.is_named();
    Ok(screen(&Shown { stages: &stages, at, named, columns, unicode })?)
}
