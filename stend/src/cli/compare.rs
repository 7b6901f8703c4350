//! Knows `stend compare`: stored sessions of two sides against each other, or why that would mean
//! nothing.

use super::error::CliError;
use super::sides::{self, take};
use super::terminal::{self, COLUMNS};
use super::{NOT_COMPARABLE, OK, files, outputs, page};
use desk::verdict::{Unpaired, Wanted, compare_sessions};
use press::report::{self, Asked, Bundle, Document};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The baseline: its id, or the path of its records.json; several sessions with commas between
    a: String,
    /// The run that is judged, or its sessions
    b: String,
    /// Compare the runs named and no further sessions of the store
    #[arg(long, conflicts_with = "spread")]
    alone: bool,
    /// Take these runs for the spread between sessions alone, as sessions of neither side
    #[arg(long, value_name = "RUNS")]
    spread: Option<String>,
    /// Show figures although the runs are not comparable: without a verdict, and marked
    #[arg(long)]
    force: bool,
    /// Compare this metric and not the primary one of A
    #[arg(long, value_name = "M")]
    metric: Option<String>,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Directory for the report [default: stend-out/compare-A-B]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the comparison as JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Compares the sessions of two sides and writes the report; the first is the baseline.
///
/// # Errors
/// A run that is not there, cannot be read or was named twice, sessions of one side that do not
/// belong together, a metric that a run lacks, nothing that both measured, a file that cannot be
/// written.
pub fn compare(options: &Options) -> Result<u8, CliError> {
    let taken = take(&sides::Asked {
        names: [&options.a, &options.b],
        spread: options.spread.as_deref(),
        alone: options.alone,
        store: options.store.as_deref(),
    })?;
    let groups = taken.groups();
    let [a, b] = taken.firsts()?;
    let (metric, force) = (options.metric.as_deref(), options.force);
    let found = compare_sessions(groups.sides(), Wanted { metric, force })?;
    let document = report::compose_comparison(a, b, &found)?;
    let refused = !found.comparability.comparable() && !found.forced;
    if !refused && found.comparisons.is_empty() {
        return Err(CliError::NothingShared { a: a.id.clone(), b: b.id.clone() });
    }
    show(&found, &document, options.json)?;
    if refused {
        return Ok(NOT_COMPARABLE);
    }
    let out: Option<&Path> = options.out.as_deref();
    let directory = files::directory(out, &format!("compare-{}-{}", a.id, b.id))?;
    let asked = Asked { metric: metric.map(str::to_owned), force, sessions: None };
    let bundle = Bundle::of_comparison(groups.sides(), asked);
    let path = page::write(&directory, &document, &bundle)?;
    files::write(&directory, "report.txt", &report::text(&document, COLUMNS, true))?;
    files::write_beside(&directory, &document)?;
    files::write(&directory, "comparison.json", &as_json(&found, &document)?)?;
    super::progress::say(&format!("report: {}", path.display()));
    Ok(OK)
}

fn show(found: &Unpaired, document: &Document, json: bool) -> Result<(), CliError> {
    let mut out = terminal::out();
    if json {
        out.write_all(as_json(found, document)?.as_bytes())?;
        out.write_all(b"\n")?;
    } else {
        out.write_all(report::text(document, terminal::columns(), terminal::unicode()).as_bytes())?;
    }
    Ok(())
}

fn as_json(found: &Unpaired, document: &Document) -> Result<String, CliError> {
    let watermark = Some(document.watermark.text()).filter(|text| !text.is_empty());
    let comparable = found.comparability.comparable();
    let article = report::article(document);
    let whole = outputs::Compare { comparable, watermark, comparison: found, article };
    Ok(serde_json::to_string_pretty(&whole)?)
}
