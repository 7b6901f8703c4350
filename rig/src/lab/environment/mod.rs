//! Environment: what the machine was.

use desk::record::Environment;
use std::path::Path;

/// Reads what the machine is under `root` (`/` in production, a fixture tree in tests).
#[must_use]
pub fn observe(root: &Path) -> Environment {
    let _ = root;
    Environment::default()
}

/// Fills what only the adapters themselves can say; a query that fails leaves its field absent.
pub fn complete_adapters(env: &mut Environment) {
    let _ = env;
}
