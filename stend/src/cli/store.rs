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
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").filter(|p| p.is_absolute());
    let state = state.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("stend/lab.stend")).ok_or(CliError::NoStatePlace)
}

/// Opens the store that is meant, to read it.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn read(named: Option<&Path>) -> Result<Store, CliError> {
    Ok(Store::read(&path(named)?)?)
}
