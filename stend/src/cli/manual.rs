//! Knows how a person tells at which level a factor is that the machine cannot switch, and what he
//! is told who has not.
//!
//! Must not know what comes of such a run.

use super::aa::held;
use super::error::CliError;
use super::{invoked, quoted};
use desk::plan;
use desk::record::Plan;
use std::fmt::Write as _;

/// The plan at the levels that `--level FACTOR=LEVEL` told; `words` are the verb, its options and
/// the plan as they have to be written again.
///
/// # Errors
/// A level that the plan has not, a factor that nobody has to tell, and one that nobody told.
pub fn told(plan: &Plan, levels: &[String], words: &Words<'_>) -> Result<Plan, CliError> {
    let told = plan::told(plan, &held(plan, levels)?)?;
    let options = format!("{}{}", again(levels), words.options);
    refuse_untold(&told, &Words { options: &options, ..*words })?;
    Ok(told)
}

/// The levels as they have to be written again, each with a blank after it.
pub fn again(levels: &[String]) -> String {
    levels.iter().map(|level| format!("--level {} ", quoted(level))).collect()
}

/// How a command is written again: `stend VERB LEVELS OPTIONS PLAN`.
#[derive(Clone, Copy, Debug)]
pub struct Words<'w> {
    /// The verb.
    pub verb: &'w str,
    /// Its options but levels, each with a blank after it.
    pub options: &'w str,
    /// The plan.
    pub plan: &'w str,
}

/// Refuses a plan with a factor whose level nobody told.
///
/// # Errors
/// That factor, the command for each of its levels, and how two runs are set side by side.
pub fn refuse_untold(plan: &Plan, words: &Words<'_>) -> Result<(), CliError> {
    let Some(factor) = plan.untold() else { return Ok(()) };
    let (program, name) = (invoked(), quoted(words.plan));
    let Words { verb, options, .. } = words;
    let mut commands = String::new();
    for level in &factor.levels {
        let level = quoted(&format!("{}={}", factor.name, level.name));
        // Writing to a string cannot fail.
        let _ = write!(commands, "\n  {program} {verb} --level {level} {options}{name}");
    }
    let factor = factor.name.clone();
    Err(CliError::Untold { factor, commands, compare: format!("{program} compare RUN_A RUN_B") })
}
