//! Knows which factors of the machine can be set on this one, and which settings the driver of an
//! adapter has; each is tried or read, and nothing is changed.
//!
//! Must not know who asks, nor which plan sets what.

use super::link_row::{LinkRow, OnLink};
use super::{ALL, FactorError, Mechanism, QuotaRow, mechanism};
use crate::lab::LabError;
use crate::lab::adapter_file::AdapterFiles;
use crate::lab::capability::{Capability, State, fix_of_write};
use crate::lab::ethtool::Ethtool;
use desk::record::{FactorSpec, Value};
use std::path::Path;

/// What begins the name of a factor's capability.
pub const FACTOR: &str = "factor ";

/// Whether a factor of the machine, or a quota, can be set on the one below `root`; none for
/// factors of another scope, which a lab alone can try.
#[must_use]
pub fn here(spec: &FactorSpec, root: &Path) -> Option<Capability> {
    match mechanism(spec.name)? {
        Mechanism::Machine(row) => {
            let refuse = |level: &Value| row.refuse(root, level);
            Some(of_machine(spec, (row.now(root), row.source(root)), refuse))
        }
        Mechanism::Held(row) => {
            let now = row.observe(root).map(|now| (now.clone(), now.to_string()));
            let refuse = |level: &Value| row.refuse(root, level);
            Some(of_machine(spec, (now, row.source(root)), refuse))
        }
        Mechanism::Quota(row) => Some(of_side(row, root)),
        Mechanism::Link(_)
        | Mechanism::Cpus(_)
        | Mechanism::Device(_)
        | Mechanism::Path(_)
        | Mechanism::Version(_) => None,
    }
}

/// Names of the factors that the driver of an adapter of this machine does not have.
///
/// # Errors
/// When the kernel does not tell.
pub fn lacking(adapter: &str) -> Result<Vec<String>, LabError> {
    let (mut ethtool, files) = (Ethtool::open()?, AdapterFiles::open()?);
    let mut lacking = Vec::new();
    for spec in ALL {
        let Some(Mechanism::Link(row)) = mechanism(spec.name) else { continue };
        if !has(row, adapter, (&mut ethtool, &files))? {
            lacking.push(spec.name.to_owned());
        }
    }
    Ok(lacking)
}

/// Whether an adapter has what a factor sets on it.
fn has(
    row: &LinkRow,
    adapter: &str,
    (ethtool, files): (&mut Ethtool, &AdapterFiles),
) -> Result<bool, LabError> {
    Ok(match row.on {
        OnLink::Mtu
        | OnLink::TokenBucket
        | OnLink::Bonding
        | OnLink::Vlan
        | OnLink::Ipsec
        | OnLink::Field(..) => true,
        OnLink::Feature(bits) => {
            let all = ethtool.features(adapter)?;
            all.iter().any(|f| bits.first() == Some(&f.name.as_str()) && f.changeable)
        }
        OnLink::Number(number) => ethtool.number(adapter, number)?.is_some(),
        OnLink::File(file) => files.read(adapter, file)?.is_some(),
        OnLink::Line => ethtool.line(adapter)?.is_some(),
        OnLink::Rss => ethtool.rss_table(adapter)?.is_some(),
    })
}

/// A setting of the machine: the level in force with its words, where it stands, and whether that
/// level could be set.
fn of_machine(
    spec: &FactorSpec,
    (now, file): (Result<(Value, String), FactorError>, String),
    refuse: impl Fn(&Value) -> Result<(), FactorError>,
) -> Capability {
    let name = format!("{FACTOR}{}", spec.name);
    // A file that cannot even be read is held back from us, as one that cannot be written.
    let (now, refused) = match now {
        Ok((level, now)) => (now, refuse(&level)),
        Err(e @ FactorError::NotAllowed { .. }) => ("unknown".into(), Err(e)),
        Err(e) => return Capability::new(&name, State::Absent, e.to_string()),
    };
    match refused {
        Ok(()) => {
            let opened = format!("{file} is {now}, opened for writing");
            Capability::new(&name, State::Ok, opened)
        }
        Err(e) => {
            let fix = match &e {
                FactorError::NotAllowed { path, source, .. } => Some(fix_of_write(path, source)),
                _ => None,
            };
            let state = if fix.is_some() { State::Degraded } else { State::Absent };
            let evidence = format!("is {now}; {e}");
            Capability { fix, ..Capability::new(&name, state, evidence) }
        }
    }
}

/// A quota: tried for nobody.
fn of_side(row: &QuotaRow, root: &Path) -> Capability {
    let name = format!("{FACTOR}{}", row.spec.name);
    match row.try_out(root) {
        Ok(tried) => Capability::new(&name, State::Ok, tried),
        Err(e) => {
            let (state, why) = (State::Absent, e.to_string());
            let theirs = why.contains("not ours to write");
            let item = Capability::new(&name, state, why);
            if theirs { item.with_fix("sudo stend") } else { item }
        }
    }
}
