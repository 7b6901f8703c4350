//! Knows where runs are kept when the person does not say.

use super::error::CliError;
use rig::store::Store;
use std::path::{Path, PathBuf};

/// The store that is meant: as named, or `stend/lab.stend` below the state directory of the user.
///
/// # Errors
/// When none is named and the user has no home.
pub fn path(named: Option<&Path>) -> Result<PathBuf, CliError> {
    if let Some(path) = named {
        return Ok(path.into());
    }
    state("lab.stend", "a file with --store")
}

/// A file or directory of stend in the state directory of the user; `instead` is what to name where
/// the user has none.
///
/// # Errors
/// When the user has none.
pub fn state(name: &str, instead: &'static str) -> Result<PathBuf, CliError> {
    let state = of_user("XDG_STATE_HOME", ".local/state");
    Ok(state.ok_or(CliError::NoStatePlace(instead))?.join("stend").join(name))
}

/// A directory of the user: as the variable names it, else below his home; none without a home.
pub fn of_user(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let named = set(variable).filter(|p| p.is_absolute());
    named.or_else(|| set("HOME").map(|home| home.join(below_home)))
}

/// Opens the store that is meant, to read it.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn read(named: Option<&Path>) -> Result<Store, CliError> {
    Ok(Store::read(&path(named)?)?)
}
