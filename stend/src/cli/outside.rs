//! Knows what cannot be had of servers that stend did not start, and says so before a run begins.
//!
//! Must not know whose they are; that is refused with the services.

use super::error::CliError;
use super::{Options, Place};
use desk::record::Plan;
use rig::factor;

/// Refuses a place from which such a server is not reached, and factors that would be set here and
/// not on its machine.
///
/// # Errors
/// The first of them, with the remedy.
pub fn refuse(plan: &Plan, options: &Options) -> Result<(), CliError> {
    if plan.externals().next().is_none() {
        return Ok(());
    }
    if matches!(options.lab, Place::Root | Place::User) {
        let lab = options.lab.name();
        return Err(CliError::Outside(format!("--lab {lab} makes another; leave it out")));
    }
    if options.machines.is_some() {
        return Err(CliError::Outside("a lab of machines has others; leave out --machines".into()));
    }
    let levels = plan.factors.iter().flat_map(|factor| &factor.levels).map(|level| &level.settings);
    let links = plan.lab.links.iter().map(|link| &link.settings);
    let mut keys = levels.chain(links).chain([&plan.lab.settings]).flat_map(|all| all.keys());
    match keys.find(|key| factor::spec(key).is_some()) {
        None => Ok(()),
        Some(key) => Err(CliError::Outside(format!(
            "'{key}' would be set on this machine, and not on the server's; leave it out"
        ))),
    }
}

/// Refuses to take resources down that are not the server's.
///
/// # Errors
/// When a server of the plan is not one of stend's.
pub fn refuse_elasticity(plan: &Plan) -> Result<(), CliError> {
    match plan.externals().next() {
        None => Ok(()),
        Some(_) => Err(CliError::Outside(
            "elasticity takes down what this machine has; measure a server that stend starts"
                .into(),
        )),
    }
}
