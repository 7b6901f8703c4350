//! Knows the settings that can be switched on a lab, how each is read back, and how it is undone.
//!
//! Gives: [`ALL`] as data; [`mechanism`], which sets and reads a factor; [`Undo`];
//! [`MachineSettings`]; [`levels`] of a plan, and [`refuse`]; [`here`] and [`lacking`].
//! Never: why a level is wanted, or what was measured under it.
//! Start reading at `mechanism.rs`, then `rows.rs`.

mod cpus_row;
mod device_row;
mod held_row;
mod here;
mod link_row;
mod machine_form;
mod machine_row;
mod machine_rows;
mod mechanism;
mod path_row;
mod quota_row;
mod rows;
mod settings;
mod sysctl;
mod version_row;

#[cfg(test)]
mod tests;

pub use cpus_row::CpusRow;
pub use device_row::DeviceRow;
pub use held_row::HeldRow;
pub use here::{FACTOR, here, lacking};
pub use link_row::{LinkRow, OnLink};
pub use machine_form::Form;
pub use machine_row::MachineRow;
pub use mechanism::{Mechanism, Undo};
pub use path_row::PathRow;
pub use quota_row::QuotaRow;
pub use rows::{ALL, mechanism, spec};
pub use settings::MachineSettings;
pub use version_row::VersionRow;

use crate::lab::undo::UndoError;
use crate::lab::{IpVersion, LabError, wanted_adapters};
use desk::record::{Fact, KeyClass, LinkPlan, Plan, Role, Settings, Value};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use thiserror::Error;

/// Why a factor could not be set.
#[derive(Debug, Error)]
pub enum FactorError {
    /// The place has no links to set it on.
    #[error("factor '{0}' needs links of our own; on the loopback interface there are none")]
    NoLinks(&'static str),
    /// The level is not of the factor's kind.
    #[error("'{level}' is not a level of factor '{factor}'; {remedy}")]
    BadLevel {
        /// Which factor.
        factor: &'static str,
        /// What was asked.
        level: String,
        /// What would fit.
        remedy: &'static str,
    },
    /// The machine did not take it.
    #[error("factor '{factor}' did not take on {place}: asked {asked}, read back {found}")]
    NotTaken {
        /// Which factor.
        factor: &'static str,
        /// Host and interface.
        place: String,
        /// What was asked.
        asked: String,
        /// What it is.
        found: String,
    },
    /// The machine has no such setting.
    #[error("factor '{factor}' cannot be set here: {what}; leave it out of the plan")]
    NotHere {
        /// Which factor.
        factor: &'static str,
        /// What is missing.
        what: String,
    },
    /// This user may not, or nobody may.
    #[error("factor '{factor}' cannot be set: {path} is not ours to write ({source}); {remedy}")]
    NotAllowed {
        /// Which factor.
        factor: &'static str,
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// Its files say different things.
    #[error(
        "factor '{factor}' has no one level now: {what}; a level of the plan is set on all, and \
         each comes back as it was"
    )]
    NoOneLevel {
        /// Which factor.
        factor: &'static str,
        /// What they say.
        what: String,
    },
    /// The machine does not know the level.
    #[error("factor '{factor}' has no level '{level}' on this machine; {place} takes {menu}")]
    NotOnMenu {
        /// Which factor.
        factor: &'static str,
        /// What was asked.
        level: String,
        /// Where.
        place: String,
        /// What the machine lists.
        menu: String,
    },
    /// A setting cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The machine is asked for what it does not set.
    #[error("'{0}' is no factor of the machine; both ends must be the same stend version")]
    Unknown(String),
    /// The journal of undos, or a write that it made.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The lab failed underneath.
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// Every level that a plan sets for the whole run or in one of its treatments, with its factor and
/// how it is set; what links alone are given is not among them.
pub fn levels(plan: &Plan) -> impl Iterator<Item = (&String, &Value, Mechanism)> {
    let levels = plan.factors.iter().flat_map(|factor| &factor.levels);
    let all = levels.map(|level| &level.settings).chain([&plan.lab.settings]);
    all.flat_map(Settings::iter).filter_map(|(key, level)| Some((key, level, mechanism(key)?)))
}

/// Says before anything is measured why a plan's settings of the machine, its CPUs and its quotas
/// cannot be made on the one below `root`.
///
/// # Errors
/// The first that cannot, with the reason and the remedy.
pub fn refuse(plan: &Plan, root: &Path) -> Result<(), FactorError> {
    refuse_together(plan)?;
    let mut all = levels(plan).chain(of_links(plan));
    all.try_for_each(|(_, level, mechanism)| mechanism.refuse(root, level, plan.lab.clients))
}

/// What single links of a plan are given.
fn of_links(plan: &Plan) -> impl Iterator<Item = (&String, &Value, Mechanism)> {
    let all = plan.lab.links.iter().flat_map(|link| &link.settings);
    all.filter_map(|(key, level)| Some((key, level, mechanism(key)?)))
}

/// Refuses what no host of the lab has a place for; tags and bonds beside a relay, which carries
/// neither, a bond beside tags or on one cable, and what wraps or moves IPv4 beside IPv6.
fn refuse_together(plan: &Plan) -> Result<(), FactorError> {
    let all = || levels(plan).chain(of_links(plan));
    for (_, _, mechanism) in all() {
        let Mechanism::Device(row) = mechanism else { continue };
        row.refuse_lab(&plan.lab)?;
    }
    let link = |is: fn(&LinkRow, &Value) -> bool| {
        all().find_map(|(_, level, mechanism)| match mechanism {
            Mechanism::Link(row) if is(row, level) => Some(row.spec.name),
            _ => None,
        })
    };
    let relay = plan.lab.hosts.iter().find(|host| host.role == Role::Relay);
    if let (Some(relay), Some(factor)) = (relay, link(LinkRow::tags)) {
        let what = format!("relay '{}' carries frames without the tags of VLANs", relay.name);
        return Err(FactorError::NotHere { factor, what });
    }
    if let Some(bonding) = link(LinkRow::bonds) {
        refuse_bonds(plan, bonding, relay.is_some(), link(LinkRow::tags).is_some())?;
    }
    let sixth = all().any(|(key, level, _)| {
        key == IpVersion::SETTING && IpVersion::of(level) == Some(IpVersion::Six)
    });
    if let (true, Some(factor)) = (sixth, link(LinkRow::wraps)) {
        let what = "it carries IPv4 only; take ip_version = 4 in this plan".into();
        return Err(FactorError::NotHere { factor, what });
    }
    Ok(())
}

/// Refuses bonds where a link has one cable, and beside what does not know them.
fn refuse_bonds(
    plan: &Plan,
    factor: &'static str,
    relays: bool,
    tags: bool,
) -> Result<(), FactorError> {
    let refused = |what: String| Err(FactorError::NotHere { factor, what });
    if relays {
        return refused("a relay reads one cable of a link".into());
    }
    if tags {
        return refused("a VLAN link of this lab stands on one cable; take one of both".into());
    }
    let everywhere = levels(plan).any(|(key, ..)| key == factor);
    let wants = |link: &&LinkPlan| everywhere || link.settings.contains_key(factor);
    match plan.lab.links.iter().filter(wants).find(|link| !link.is_double()) {
        Some(link) => refused(format!(
            "link '{0}' has one cable; write cables = 2 in [lab.links.{0}]",
            link.name
        )),
        None => Ok(()),
    }
}

/// Says before anything is measured why a plan's settings of links cannot be made on the adapters
/// of the machine below `root`, which has this place among those of the lab and has lent none yet.
///
/// # Errors
/// The first that a driver refuses, in the kernel's words.
pub fn refuse_on_adapters(plan: &Plan, machine: usize, root: &Path) -> Result<(), FactorError> {
    let wanted = wanted_adapters(&plan.lab, machine, root)?;
    let of_links = |mechanism| match mechanism {
        Some(Mechanism::Link(row)) => Some(row),
        _ => None,
    };
    for (link, adapter) in wanted {
        let everywhere = levels(plan).map(|(key, ..)| key);
        let here = plan.lab.links.get(link).into_iter().flat_map(|link| link.settings.keys());
        let keys: BTreeSet<&String> = everywhere.chain(here).collect();
        let rows = keys.into_iter().filter_map(|key| of_links(mechanism(key)));
        let of = plan.lab.machines.get(machine).map(|at| format!("{}/", at.machine));
        let place = format!("{}{adapter}", of.unwrap_or_default());
        for row in rows {
            row.refuse(&adapter, &place)?;
        }
    }
    Ok(())
}

/// The rows by which a plan holds a side to a quota, at any level.
#[must_use]
pub fn quotas(plan: &Plan) -> Vec<&'static QuotaRow> {
    let mut found: Vec<&'static QuotaRow> = Vec::new();
    for (_, _, mechanism) in levels(plan) {
        let Mechanism::Quota(row) = mechanism else { continue };
        if found.iter().all(|known| known.side != row.side) {
            found.push(row);
        }
    }
    found
}

/// What the settings of the machine that a plan changes are before it, for the record.
#[must_use]
pub fn facts(plan: &Plan, root: &Path) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for (name, _, mechanism) in levels(plan) {
        let (before, source) = match mechanism {
            Mechanism::Machine(row) => (row.observe(root), row.source(root)),
            Mechanism::Held(row) => (row.observe(root), row.source(root)),
            _ => continue,
        };
        let key = format!("machine.{name}");
        let known = facts.iter().any(|fact| fact.key == key);
        if let (false, Ok(before)) = (known, before) {
            let value = before.to_string();
            facts.push(Fact { key, value, class: KeyClass::Factor, source });
        }
    }
    facts
}
