//! Knows `stend compare`: two stored runs against each other, or why that would mean nothing.

use super::error::CliError;
use super::terminal::{self, COLUMNS};
use super::{NOT_COMPARABLE, OK, files, outputs, page, store};
use desk::record::Run;
use desk::report::{self, Asked, Bundle, Document};
use desk::verdict::{Unpaired, Wanted, compare_runs};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What a run's records are called in its directory.
const RECORDS: &str = "records.json";

/// What the command line says besides the two runs.
#[derive(Clone, Debug)]
pub struct How<'h> {
    /// Figures although the runs are not comparable.
    pub force: bool,
    /// Another metric than the primary one of the first run.
    pub metric: Option<&'h str>,
    /// File in which runs are kept.
    pub store: Option<&'h Path>,
    /// Directory for the report.
    pub out: Option<&'h Path>,
    /// JSON in place of text.
    pub json: bool,
}

/// Compares two runs and writes the report; the first is the baseline.
///
/// # Errors
/// A run that is not there or cannot be read, a metric that it lacks, nothing that both measured, a
/// file that cannot be written.
pub fn compare(a: &str, b: &str, how: &How<'_>) -> Result<u8, CliError> {
    let (a, b) = (load(a, how.store)?, load(b, how.store)?);
    let found = compare_runs(&a, &b, Wanted { metric: how.metric, force: how.force })?;
    let document = report::compose_comparison(&a, &b, &found)?;
    let refused = !found.comparability.comparable() && !found.forced;
    if !refused && found.comparisons.is_empty() {
        return Err(CliError::NothingShared { a: a.id, b: b.id });
    }
    show(&found, &document, how.json)?;
    if refused {
        return Ok(NOT_COMPARABLE);
    }
    let directory = files::directory(how.out, &format!("compare-{}-{}", a.id, b.id))?;
    let asked = Asked { metric: how.metric.map(str::to_owned), force: how.force };
    let path = page::write(&directory, &document, &Bundle::of_comparison(&a, &b, asked))?;
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

/// A run by the file or the directory of its records, or by its id in the store.
fn load(name: &str, kept: Option<&Path>) -> Result<Run, CliError> {
    let given = PathBuf::from(name);
    let path = if given.is_dir() { given.join(RECORDS) } else { given };
    if !path.exists() {
        return Ok(store::read(kept)?.load(name)?);
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|source| CliError::NoRun { name: name.into(), source })?;
    serde_json::from_str(&text).map_err(|source| CliError::BadRun { path, source })
}
