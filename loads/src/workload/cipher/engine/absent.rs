//! Knows that AWS-LC is no part of this build.

use super::{Identity, Mask, Worker};
use crate::workload::cipher::task::{Input, Task};
use rig::metal::Unready;

/// Why it is not here.
fn absent() -> Unready {
    Unready::NotAvailable("this stend was built without the feature aws_lc".into())
}

/// As that of an engine that is here.
///
/// # Errors
/// Always.
pub fn identity(_: Task, _: Mask) -> Result<Identity, Unready> {
    Err(absent())
}

/// As that of an engine that is here.
///
/// # Errors
/// Always.
pub fn worker(_: Task, _: &Input) -> Result<Box<dyn Worker>, Unready> {
    Err(absent())
}
