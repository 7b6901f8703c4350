//! Knows the version that both ends of a connection must have.

/// What both ends of a connection must agree on.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Refuses another version than this one.
///
/// # Errors
/// With both versions and the remedy.
pub fn same_version(theirs: &str) -> Result<(), String> {
    if theirs == VERSION {
        return Ok(());
    }
    Err(format!("this is stend {VERSION}, the other end is stend {theirs}; both must be the same"))
}
