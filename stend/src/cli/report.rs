//! Knows `stend report`: the report of a run that was kept, made again.

use super::error::CliError;
use super::run::{publish, refuse_empty};
use super::survey::{Measured, publish as publish_survey};
use super::{OK, files, store};
use desk::record::Run;
use desk::verdict::{analyse, analyse_part, judged_together};
use press::report::Role;
use rig::store::Store;
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

/// Options of `stend report`, which also makes the report of a survey again.
#[derive(Clone, Debug, clap::Args)]
pub struct Again {
    #[command(flatten)]
    wanted: Wanted,
    /// Further runs, for the report of a survey over all of them
    #[arg(value_name = "RUN")]
    more: Vec<String>,
    /// As a survey, even of one run
    #[arg(long)]
    survey: bool,
}

/// Makes the report again and prints it. Of several runs, or of the name that the parts of a survey
/// share, it is that of the survey.
///
/// # Errors
/// When there is no such run, it holds no valid trial, or a file cannot be written.
pub fn report(again: &Again) -> Result<u8, CliError> {
    let Again { wanted, more, survey } = again;
    let store = store::read(wanted.store.as_deref())?;
    let mut names = vec![wanted.run.clone()];
    names.extend(more.iter().cloned());
    if let [name] = names.as_slice()
        && let Some(parts) = parts_of(&store, name)?
    {
        names = parts;
    }
    let runs = names.iter().map(|name| store.load(name)).collect::<Result<Vec<_>, _>>()?;
    match runs.as_slice() {
        [run] if !survey => one(run, wanted),
        _ => survey_again(runs, wanted),
    }
}

/// The runs of the sitting of this name, in their order, if it has several.
pub(super) fn parts_of(store: &Store, name: &str) -> Result<Option<Vec<String>>, CliError> {
    let number = |id: &str| id.strip_prefix(name)?.strip_prefix('-')?.parse::<u32>().ok();
    let lines = store.list()?;
    let mut parts: Vec<(u32, String)> =
        lines.into_iter().filter_map(|line| Some((number(&line.id)?, line.id))).collect();
    parts.sort_unstable();
    let ids = parts.into_iter().map(|(_, id)| id).collect::<Vec<_>>();
    Ok((ids.len() > 1).then_some(ids))
}

fn survey_again(runs: Vec<Run>, wanted: &Wanted) -> Result<u8, CliError> {
    let first = runs.first().map(|run| run.id.clone()).unwrap_or_default();
    if let Some(run) = runs.iter().find(|_| runs.iter().all(|run| refuse_empty(run).is_err())) {
        refuse_empty(run)?;
    }
    let sitting = first.rsplit_once('-').map_or(first.as_str(), |(sitting, _)| sitting);
    let directory = files::directory(wanted.out.as_deref(), sitting)?;
    let parts = judged_together(runs.iter().map(|run| &run.plan));
    let measured: Vec<Measured> = runs
        .into_iter()
        .map(|run| Measured { role: Role::of(&run), analysis: analyse_part(&run, parts), run })
        .collect();
    publish_survey((&measured, &[]), &directory, wanted.json)?;
    super::progress::say(&format!("report: {}", report_in(&directory).display()));
    Ok(OK)
}

fn one(run: &Run, wanted: &Wanted) -> Result<u8, CliError> {
    refuse_empty(run)?;
    let directory = files::directory(wanted.out.as_deref(), &run.id)?;
    let analysis = analyse(run);
    publish(run, &analysis, &directory, wanted.json)?;
    super::progress::say(&format!("report: {}", report_in(&directory).display()));
    Ok(OK)
}

/// The report among the files of a run.
pub fn report_in(directory: &Path) -> PathBuf {
    directory.join("report.html")
}
