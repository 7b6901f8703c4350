//! Knows `stend config`: which settings hold here, and who said so.

use super::error::CliError;
use super::settings::{SETTINGS, Setting, Settings};
use super::{OK, store, terminal};
use clap::ArgMatches;
use clap::parser::ValueSource;
use rig::lab::undo;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;

/// What to do with the settings.
#[derive(Debug, clap::Subcommand)]
pub enum What {
    /// Show every setting as it holds here
    Show(Show),
}

/// Options of `show`; besides them every setting, as on the verbs.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Also say where each comes from: a flag, a variable, a file with its line, or the default
    #[arg(long)]
    origin: bool,
    /// As JSON, always with origins
    #[arg(long)]
    json: bool,
    /// Where the test hosts live
    #[arg(long, value_enum, default_value_t = super::Place::Best)]
    lab: super::Place,
    /// File in which runs are kept
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Directory for the report and the records
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Short windows and at most five blocks
    #[arg(long)]
    quick: bool,
    /// Also measure how much application work the load displaces
    #[arg(long)]
    displaced_work: bool,
}

/// What has a variable and is no setting.
const JOURNAL: &str = "journal";

/// One row: name, value, origin.
type Row = (&'static str, String, String);

/// Prints the settings.
///
/// # Errors
/// When standard output cannot be written.
pub fn config(what: &What, settings: &Settings, matches: &ArgMatches) -> Result<u8, CliError> {
    let What::Show(show) = what;
    let typed = matches.subcommand().map(|(_, m)| m);
    let mut rows: Vec<Row> = SETTINGS.iter().map(|s| row(s, settings, typed)).collect();
    let after = rows.iter().position(|(name, ..)| *name > JOURNAL).unwrap_or(rows.len());
    rows.insert(after, journal());
    let mut out = terminal::out();
    if show.json {
        let rows = rows
            .iter()
            .map(|(name, value, origin)| json!({ "name": name, "value": value, "origin": origin }));
        let whole = json!({
            "settings": rows.collect::<Vec<_>>(), "passed_over": settings.passed_over,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&whole)?)?;
        return Ok(OK);
    }
    let wide = rows.iter().map(|(_, value, _)| value.chars().count()).max().unwrap_or(0);
    for (name, value, origin) in &rows {
        if show.origin {
            writeln!(out, "{name:<16}{value:<wide$}  {origin}")?;
        } else {
            writeln!(out, "{name:<16}{value}")?;
        }
    }
    for file in &settings.passed_over {
        writeln!(out, "passed over: {file}")?;
    }
    Ok(OK)
}

fn row(setting: &Setting, settings: &Settings, typed: Option<&ArgMatches>) -> Row {
    let name = setting.name;
    let flag = typed.filter(|m| m.value_source(name) == Some(ValueSource::CommandLine));
    let raw = flag.and_then(|m| m.get_raw(name)).and_then(|mut words| words.next());
    if flag.is_some() {
        let value = raw.map_or("true".into(), |word| word.to_string_lossy().into_owned());
        return (name, value, "flag".into());
    }
    match settings.of(name) {
        Some(said) if name == "out" => (name, format!("{}/RUN", said.value), said.origin.clone()),
        Some(said) => (name, said.value.clone(), said.origin.clone()),
        None => (name, default(setting), "default".into()),
    }
}

/// Where undos stand. No file of a plan's directory may choose that, and no option does.
fn journal() -> Row {
    const VARIABLE: &str = "STEND_JOURNAL";
    let set = std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty());
    let value = undo::directory().map_or_else(|e| e.to_string(), |path| path.display().to_string());
    (JOURNAL, value, if set { VARIABLE } else { "default" }.into())
}

/// The default, of the store as the path that it is here.
fn default(setting: &Setting) -> String {
    let place = (setting.name == "store").then(|| store::path(None).ok()).flatten();
    place.map_or_else(|| setting.default.into(), |path| path.display().to_string())
}
