//! Knows `stend report`: the report of a run that was kept, made again.

use super::error::CliError;
use super::run::{publish, refuse_empty};
use super::{OK, files, store};
use desk::verdict::analyse;
use std::path::{Path, PathBuf};

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// Id of the run, a beginning of it that is unique, or last
    #[arg(default_value = "last")]
    pub run: String,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Directory for the report and the records [default: stend-out/RUN]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the records and the analysis as JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Makes the report again and prints it.
///
/// # Errors
/// When there is no such run, it holds no valid trial, or a file cannot be written.
pub fn report(wanted: &Wanted) -> Result<u8, CliError> {
    let run = store::read(wanted.store.as_deref())?.load(&wanted.run)?;
    refuse_empty(&run)?;
    let directory = files::directory(wanted.out.as_deref(), &run.id)?;
    let analysis = analyse(&run);
    publish(&run, &analysis, &directory, wanted.json)?;
    super::progress::say(&format!("report: {}", report_in(&directory).display()));
    Ok(OK)
}

/// The report among the files of a run.
pub fn report_in(directory: &Path) -> PathBuf {
    directory.join("report.html")
}
