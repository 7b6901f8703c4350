//! Knows how the text of a plan becomes its first counted trial.
//!
//! Must not know what the plan measures.

use desk::plan::{Catalogue, order, read};
use desk::record::{Plan, Trial, TrialKind, WorkloadSpec};
use rig::factor;
use std::error::Error;

/// The plan, and its first counted trial alone.
///
/// # Errors
/// When the plan is refused.
pub fn trial(text: &str) -> Result<(Plan, Vec<Trial>), Box<dyn Error>> {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|w| w.spec).collect();
    let plan = read(text, &Catalogue { workloads: &workloads, factors: factor::ALL })?;
    let mut trials = order(&plan);
    trials.retain(|t| t.kind == TrialKind::Counted);
    trials.truncate(1);
    Ok((plan, trials))
}
