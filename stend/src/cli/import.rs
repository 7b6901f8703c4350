//! Knows `stend import`: the runs that a report, a bundle or records carry, back into the store.
//!
//! The file is a stranger's: nothing in it is executed, no name in it becomes a path.

use super::error::CliError;
use super::{OK, invoked, plans, quoted, store, terminal};
use press::report::{Bundle, FILE_MAX};
use rig::store::{Added, Store};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// A report.html, a bundle that was downloaded from one, or the records.json of a run
    file: PathBuf,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Takes the runs of a file into the store and says how their report is made again.
///
/// # Errors
/// A file that carries no runs or that cannot be read, a plan outside the bounds of a plan file, a
/// run whose id the store has for another one, a store that cannot be written. Of a file with
/// several runs all are taken or none.
pub fn import(wanted: &Wanted) -> Result<u8, CliError> {
    let bundle = Bundle::read(&read(&wanted.file)?)
        .map_err(|source| CliError::Import { path: wanted.file.clone(), source })?;
    let runs: Vec<_> = bundle.parts.iter().map(|part| part.run.as_ref()).collect();
    for run in &runs {
        plans::recheck_foreign(run)?;
    }
    let path = store::path(wanted.store.as_deref())?;
    let mut store = Store::open(&path)?;
    let added = store.add(&runs)?;
    let mut out = terminal::out();
    for (run, added) in runs.iter().zip(added) {
        let what = match added {
            Added::New => "imported",
            Added::AlreadyThere => "already there",
        };
        writeln!(out, "{what}: {}, {} records", run.id, run.records.len())?;
    }
    let kept =
        wanted.store.as_ref().map(|path| format!(" --store {}", quoted(&path.to_string_lossy())));
    let again = bundle.command();
    writeln!(out, "make its report again: {} {again}{}", invoked(), kept.unwrap_or_default())?;
    Ok(OK)
}

/// The file, as much of it as a report may be.
fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let fail = |source| CliError::ImportFile { path: path.into(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(fail)?;
    file.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes)
}
