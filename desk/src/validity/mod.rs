//! Knows by which events a finished trial is invalid: never by its value.
//!
//! Gives: [`grade`]. Knows: readings of probes and what the load said of itself.
//! Never: other trials, statistics, or what the figure was.
//! Start reading at [`grade`].

use crate::record::{Fault, Plan, SteadyRule, TrialKind, TrialRecord};

/// The event that makes a trial invalid, the gravest first; none for a valid one.
///
/// A trial that has a fault already keeps it, and a dry visit is not graded: both give none.
#[must_use]
pub fn grade(plan: &Plan, record: &TrialRecord) -> Option<Fault> {
    if record.outcome.fault.is_some() || record.trial.kind == TrialKind::Dry {
        return None;
    }
    not_steady(plan, record)
}

fn not_steady(plan: &Plan, record: &TrialRecord) -> Option<Fault> {
    let required = plan.method.steady == SteadyRule::Required;
    (required && !record.outcome.steady).then(|| Fault::NotSteady {
        what: format!("its slope did not end within {}", plan.method.settle_max),
    })
}
