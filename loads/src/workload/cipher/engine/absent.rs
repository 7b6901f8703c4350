//! Knows that AWS-LC is no part of this build.

use super::{Identity, Mask, Worker};
use crate::workload::cipher::task::{Input, Task};
use rig::metal::Unready;

/// The error of every call.
fn absent() -> Unready {
    Unready::NotAvailable("this stend was built without the feature aws_lc".into())
}

/// Nothing.
///
/// # Errors
/// Always [`Unready::NotAvailable`].
pub fn identity(_: Task, _: Mask) -> Result<Identity, Unready> {
    Err(absent())
}

/// Nothing.
///
/// # Errors
/// Always [`Unready::NotAvailable`].
pub fn worker(_: Task, _: &Input) -> Result<Box<dyn Worker>, Unready> {
    Err(absent())
}
