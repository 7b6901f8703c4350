//! Knows how the page of an article gets into its directory, and that a page too large is not
//! written in silence.

use super::error::CliError;
use super::files::Directory;
use super::{files, progress};
use press::report::{self, Bundle, Document};
use std::path::PathBuf;

/// Writes `report.html`.
///
/// # Errors
/// When it cannot be made or written.
pub fn write(
    directory: &Directory,
    document: &Document,
    bundle: &Bundle<'_>,
) -> Result<PathBuf, CliError> {
    let page = report::page(document, bundle)?;
    let path = files::write(directory, "report.html", &page)?;
    if let Some(words) = report::over(&page) {
        progress::say(&words);
    }
    Ok(path)
}
