//! Knows the fewest blocks that a gate and an A/A run need: with fewer nothing has a verdict.

use super::error::CliError;
use desk::record::{Plan, Replicate, Run};
use desk::stats::JUDGED_FROM;

/// The fewest blocks, or boots a level.
pub const LEAST: u32 = 5;
const _: () = assert!(LEAST as usize == JUDGED_FROM);

/// Refuses a plan whose verdict could rest on fewer than [`LEAST`] blocks, or on as few boots.
///
/// # Errors
/// What it has, and the remedy.
pub fn refuse_few(plan: &Plan, verb: &'static str) -> Result<(), CliError> {
    let first = plan.method.looks.first().copied();
    let remedy = match first {
        Some(_) => format!("write {LEAST} or more as the first of its looks"),
        None => format!("give --blocks {LEAST}, or write blocks = {LEAST} in the plan"),
    };
    refuse(plan, verb, ("the plan".into(), first.unwrap_or(plan.method.blocks), remedy))
}

/// The same of a kept run: what counts is the block after which it ended.
///
/// # Errors
/// What it has, and the remedy.
pub fn refuse_few_of(run: &Run, verb: &'static str) -> Result<(), CliError> {
    let id = run.id.clone();
    let remedy = format!("add some with stend resume {id} --blocks {LEAST}");
    let ended = run.last_block().unwrap_or_default();
    refuse(&run.plan, verb, (format!("run {id}"), ended, remedy))
}

fn refuse(
    plan: &Plan,
    verb: &'static str,
    (whose, blocks, remedy): (String, u32, String),
) -> Result<(), CliError> {
    let (what, found, remedy) = match plan.replicate() {
        Replicate::Boot => {
            let remedy = format!("write boots = {LEAST} in the plan");
            ("boots a level", plan.method.boots, remedy)
        }
        Replicate::Block => ("blocks", blocks.saturating_mul(plan.method.boots.max(1)), remedy),
    };
    if found >= LEAST || plan.factors.is_empty() {
        return Ok(());
    }
    Err(CliError::TooFew { verb, least: LEAST, what, whose, found, remedy })
}
