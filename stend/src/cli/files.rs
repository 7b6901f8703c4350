//! Knows where results are written, whole or not at all.

use super::error::CliError;
use super::outputs;
use desk::report::{self, Document};
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of a run's results, made if it is not there.
///
/// # Errors
/// When it cannot be made or written to.
pub fn directory(wanted: Option<&Path>, run: &str) -> Result<PathBuf, CliError> {
    let path = wanted.map_or_else(|| Path::new("stend-out").join(run), Path::to_path_buf);
    let probe = path.join(".stend.part");
    fs::create_dir_all(&path)
        .and_then(|()| fs::write(&probe, ""))
        .and_then(|()| fs::remove_file(&probe))
        .map_err(|source| CliError::Write { path: path.clone(), source })?;
    Ok(path)
}

/// Writes one file that a person named, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let fail = |source| CliError::Export { path: path.into(), source };
    let mut half = path.as_os_str().to_owned();
    half.push(".part");
    fs::write(&half, bytes).map_err(fail)?;
    fs::rename(&half, path).map_err(fail)
}

/// Writes a file under another name first, so that a kill leaves the old one or the new one.
///
/// # Errors
/// When it cannot be written.
pub fn write(directory: &Path, name: &str, text: &str) -> Result<PathBuf, CliError> {
    let path = directory.join(name);
    let fail = |source| CliError::Write { path: path.clone(), source };
    let half = directory.join(format!(".{name}.part"));
    fs::write(&half, text).map_err(fail)?;
    fs::rename(&half, &path).map_err(fail)?;
    Ok(path)
}

/// Writes an article for programs and for GitHub, beside the report that a person reads.
///
/// # Errors
/// When a file cannot be written.
pub fn write_beside(directory: &Path, document: &Document) -> Result<(), CliError> {
    write(directory, "report.md", &report::markdown(document))?;
    let article = outputs::Report::of(document);
    write(directory, "report.json", &serde_json::to_string_pretty(&article)?)?;
    Ok(())
}
