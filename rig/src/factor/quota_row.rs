//! Knows how a side of the lab is held to a quota of CPU time, and the factors that do it.
//!
//! Must not know how a control group is made: the lab does.

use super::FactorError;
use crate::lab::quota::{self, Side};
use crate::lab::{Lab, LabError};
use desk::record::{FactorSpec, ParamKind, Scope, Value};
use desk::unit::{Kind, Quantity, Unit};
use std::path::Path;

/// Resolution of a limit that is read back, CPUs a host.
const FINE: f64 = 2e-4;

const KIND: ParamKind = ParamKind::within(Kind::Cpus, 0.01, 1024.0).or(&["off"]);

pub(super) const CLIENT_QUOTA: FactorSpec = FactorSpec {
    name: "client_quota",
    about: "CPUs that all clients may use together, each an equal part; a quota every 10 ms",
    scope: Scope::Side,
    kind: KIND,
};
pub(super) const RELAY_QUOTA: FactorSpec = FactorSpec {
    name: "relay_quota",
    about: "CPUs that the relay may use; a quota every 10 ms, and no thread goes before others",
    scope: Scope::Relay,
    kind: KIND,
};
pub(super) const SERVER_QUOTA: FactorSpec = FactorSpec {
    name: "server_quota",
    about: "CPUs that the processes of the server may use together; a quota every 10 ms",
    scope: Scope::Side,
    kind: KIND,
};

/// A factor that holds a side.
#[derive(Debug)]
pub struct QuotaRow {
    /// As data.
    pub spec: &'static FactorSpec,
    /// Whom it holds.
    pub side: Side,
}

static ROWS: [QuotaRow; 3] = [
    QuotaRow { spec: &CLIENT_QUOTA, side: Side::Clients },
    QuotaRow { spec: &RELAY_QUOTA, side: Side::Relay },
    QuotaRow { spec: &SERVER_QUOTA, side: Side::Server },
];

/// The row of a name; none for other factors.
pub(super) fn row_of(name: &str) -> Option<&'static QuotaRow> {
    ROWS.iter().find(|row| row.spec.name == name)
}

impl QuotaRow {
    /// Says before anything is measured why a level cannot be set on the machine below `root`, in a
    /// lab of so many clients.
    ///
    /// # Errors
    /// With the reason and the remedy.
    pub fn refuse(&self, root: &Path, level: &Value, clients: u32) -> Result<(), FactorError> {
        self.here(root)?;
        let least = quota::LEAST * self.hosts(clients);
        if self.cpus(level)?.is_some_and(|cpus| cpus < least) {
            return Err(FactorError::BadLevel {
                factor: self.spec.name,
                level: level.to_string(),
                remedy: "the kernel holds no host to less than 0.001 CPU; take more or less hosts",
            });
        }
        Ok(())
    }

    /// Whether groups with a quota can be made on the machine below `root`, as far as its files
    /// tell.
    ///
    /// # Errors
    /// Why not.
    pub fn here(&self, root: &Path) -> Result<(), FactorError> {
        quota::find(root).map(|_| ()).map_err(|what| self.not_here(what))
    }

    /// Sets one, reads it back and removes it, for nobody; says where.
    ///
    /// # Errors
    /// Why no plan could.
    pub fn try_out(&self, root: &Path) -> Result<String, FactorError> {
        quota::try_out(root).map_err(|what| self.not_here(what))
    }

    /// Sets a level and reads it back; the groups have been made before.
    ///
    /// # Errors
    /// When the kernel refuses or does not take it.
    pub fn apply(&self, lab: &mut Lab, level: &Value) -> Result<(), FactorError> {
        lab.set_quota(self.side, self.cpus(level)?).map_err(|e| self.refused(e))?;
        let found = self.observe(lab, level)?;
        if found == *level {
            return Ok(());
        }
        Err(FactorError::NotTaken {
            factor: self.spec.name,
            place: "the control groups of its hosts".into(),
            asked: level.to_string(),
            found: found.to_string(),
        })
    }

    /// The level that is in force, as the kernel tells it: `wanted` where it is that to the
    /// resolution of the kernel.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn observe(&self, lab: &mut Lab, wanted: &Value) -> Result<Value, FactorError> {
        let found = lab.quota(self.side).map_err(|e| self.refused(e))?;
        let fine = FINE * self.hosts(lab.clients());
        match (found, self.cpus(wanted)?) {
            (Some(found), Some(asked)) if (found - asked).abs() <= fine => Ok(wanted.clone()),
            (Some(found), _) => Ok(Value::Quantity(Quantity::new(found, Unit::Cpu))),
            (None, _) => Ok(Value::Word("off".into())),
        }
    }

    /// Hosts of the side, in a lab of so many clients.
    fn hosts(&self, clients: u32) -> f64 {
        f64::from(if self.side == Side::Clients { clients } else { 1 })
    }

    /// The limit of a level, CPUs; none for `off`.
    fn cpus(&self, level: &Value) -> Result<Option<f64>, FactorError> {
        match level {
            Value::Quantity(q) if q.unit == Unit::Cpu && q.value > 0.0 => Ok(Some(q.value)),
            Value::Word(word) if word == "off" => Ok(None),
            _ => Err(FactorError::BadLevel {
                factor: self.spec.name,
                level: level.to_string(),
                remedy: "write a number of CPUs such as 0.5, or off",
            }),
        }
    }

    /// Why its groups could not be made, in the words of a factor.
    #[must_use]
    pub fn refused(&self, e: LabError) -> FactorError {
        match e {
            LabError::NoQuota(what) => self.not_here(what),
            LabError::File { path, source } => self.not_here(format!("{path}: {source}")),
            other => FactorError::Lab(other),
        }
    }

    fn not_here(&self, what: String) -> FactorError {
        FactorError::NotHere { factor: self.spec.name, what }
    }
}
