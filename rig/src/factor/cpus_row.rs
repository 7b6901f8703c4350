//! Knows the factor `cpus`: how many CPUs, or which, the system under test may use.
//!
//! Must not know how a process is held to some: the lab does. Nothing of it outlives the host, so
//! its undo needs no journal.

use super::FactorError;
use crate::lab::Lab;
use crate::lab::cpus::{allowed, list, parse};
use desk::record::{FactorSpec, ParamKind, Scope, Value};
use std::path::Path;

pub(super) const CPUS: FactorSpec = FactorSpec {
    name: "cpus",
    about: "CPUs that the system under test may use: how many (one of each core first), or which",
    scope: Scope::Side,
    kind: ParamKind::CPUS,
};

/// The factor that holds the system under test to some of the machine's CPUs.
#[derive(Debug)]
pub struct CpusRow {
    /// As data.
    pub spec: &'static FactorSpec,
}

static ROW: CpusRow = CpusRow { spec: &CPUS };

/// The row of a name; none for other factors.
pub(super) fn row_of(name: &str) -> Option<&'static CpusRow> {
    (name == CPUS.name).then_some(&ROW)
}

impl CpusRow {
    /// Says before anything is measured why a level cannot be had on the machine below `root`.
    ///
    /// # Errors
    /// With the reason and the remedy.
    pub fn refuse(&self, root: &Path, level: &Value) -> Result<(), FactorError> {
        self.cpus(&allowed(root), level).map(|_| ())
    }

    /// What may be used here, and how much of it a plan may ask for, in words.
    #[must_use]
    pub fn here(&self, root: &Path) -> String {
        let cpus = allowed(root);
        format!("here: 1 to {} of {}", cpus.len(), list(&cpus))
    }

    /// Holds the system under test to a level and reads it back.
    ///
    /// # Errors
    /// When the kernel refuses or does not take it.
    pub fn apply(&self, lab: &mut Lab, level: &Value) -> Result<(), FactorError> {
        let cpus = self.cpus(&lab.all_cpus()?, level)?;
        lab.hold_cpus(&cpus)?;
        let found = lab.cpus()?;
        if list(&found) == list(&cpus) {
            return Ok(());
        }
        Err(FactorError::NotTaken {
            factor: self.spec.name,
            place: "the system under test".into(),
            asked: list(&cpus),
            found: list(&found),
        })
    }

    /// The level that is in force: `wanted` where the system under test has the CPUs that it means.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn observe(&self, lab: &mut Lab, wanted: &Value) -> Result<Value, FactorError> {
        let found = list(&lab.cpus()?);
        let same = found == list(&self.cpus(&lab.all_cpus()?, wanted)?);
        Ok(if same { wanted.clone() } else { Value::Word(found) })
    }

    /// The CPUs that a level means of all that hosts may use.
    fn cpus(&self, all: &[u32], level: &Value) -> Result<Vec<u32>, FactorError> {
        let not_here = |what| FactorError::NotHere { factor: self.spec.name, what };
        match level {
            Value::Count(count) => {
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                let taken = all.get(..count).map(<[u32]>::to_vec);
                let here = || {
                    not_here(format!("{level} CPUs are asked for, and we may use {}", all.len()))
                };
                taken.filter(|cpus| !cpus.is_empty()).ok_or_else(here)
            }
            Value::Word(word) => {
                let asked = parse(word);
                match asked.iter().find(|cpu| !all.contains(cpu)) {
                    Some(cpu) => Err(not_here(format!(
                        "CPU {cpu} is none of those that we may use, {}",
                        list(all)
                    ))),
                    None if asked.is_empty() => Err(self.bad(level)),
                    None => Ok(asked),
                }
            }
            Value::Quantity(_) => Err(self.bad(level)),
        }
    }

    fn bad(&self, level: &Value) -> FactorError {
        let (factor, level) = (self.spec.name, level.to_string());
        FactorError::BadLevel { factor, level, remedy: "write a number of CPUs, or a list as 0-1" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_so_many_cpus_or_these_and_what_is_not_there_is_refused() {
        let root = std::env::temp_dir().join(format!("stend-cpus-row-{}", std::process::id()));
        std::fs::create_dir_all(root.join("proc/self")).unwrap();
        std::fs::write(root.join("proc/self/status"), "Cpus_allowed_list:\t0-1,3\n").unwrap();
        let of = |level: Value| ROW.cpus(&allowed(&root), &level).map_err(|e| e.to_string());
        let found = [
            of(Value::Count(2)),
            of(Value::Count(4)),
            of(Value::Word("1,3".into())),
            of(Value::Word("1-2".into())),
            of(Value::Word("none".into())),
        ];
        let here = ROW.here(&root);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!((&found[0], &found[2]), (&Ok(vec![0, 1]), &Ok(vec![1, 3])));
        let said = |at: usize| found[at].clone().unwrap_err();
        assert!(said(1).contains("4 CPUs are asked for, and we may use 3"), "{}", said(1));
        assert!(said(3).contains("CPU 2 is none of those that we may use, 0-1,3"), "{}", said(3));
        assert!(said(4).contains("write a number of CPUs"), "{}", said(4));
        assert_eq!(here, "here: 1 to 3 of 0-1,3");
    }
}
