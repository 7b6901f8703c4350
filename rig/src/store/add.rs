//! Knows how a finished run from elsewhere is taken into the store: whole, or not at all.

use super::{Sealed, Store, StoreError, insert_run, keep};
use desk::record::{Completeness, Run, Sitting, TrialRecord};
use rusqlite::{Connection, TransactionBehavior, params};

/// What became of a run that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The store has it now.
    New,
    /// The store had it, the same to the last bit.
    AlreadyThere,
}

/// A run as it goes into the tables.
struct Packed<'r> {
    run: &'r Run,
    head: Sealed,
    records: Vec<(&'r TrialRecord, Sealed)>,
}

impl Store {
    /// Adds runs that were measured elsewhere or earlier, all of them or none.
    ///
    /// # Errors
    /// When the store has another run of such an id, or the file cannot be written.
    pub fn add(&mut self, runs: &[&Run]) -> Result<Vec<Added>, StoreError> {
        let mut packed = Vec::new();
        let mut added = Vec::new();
        for run in runs {
            added.push(match self.number(&run.id) {
                Err(StoreError::NoRun { .. }) => {
                    packed.push(self.pack_whole(run)?);
                    Added::New
                }
                Err(e) => return Err(e),
                Ok(_) if self.load(&run.id)? == **run => Added::AlreadyThere,
                Ok(_) => {
                    return Err(StoreError::Other { id: run.id.clone(), path: self.path.clone() });
                }
            });
        }
        let all = |link: &mut Connection| -> rusqlite::Result<()> {
            let change = link.transaction_with_behavior(TransactionBehavior::Immediate)?;
            packed.iter().try_for_each(|run| insert(&change, run))?;
            change.commit()
        };
        all(&mut self.link).map_err(|e| self.error(e))?;
        Ok(added)
    }

    fn pack_whole<'r>(&self, run: &'r Run) -> Result<Packed<'r>, StoreError> {
        let bare = Run { records: Vec::new(), sittings: Vec::new(), ..run.clone() };
        let record = |record| Ok((record, self.pack(record)?));
        let records = run.records.iter().map(record).collect::<Result<_, StoreError>>()?;
        Ok(Packed { run, head: self.pack(&bare)?, records })
    }
}

fn insert(link: &Connection, packed: &Packed<'_>) -> rusqlite::Result<()> {
    let Packed { run, head, records } = packed;
    let planned = super::desk_trials(run);
    let number = insert_run(link, run, (planned, head))?;
    // No process of this machine ever wrote it: 0 is the number of none.
    let mut last = 0_i64;
    // A run that names none had one.
    let only = [Sitting {
        started: run.started.clone(),
        boot: String::new(),
        records_before: 0,
        added: None,
    }];
    let sittings = if run.sittings.is_empty() { &only[..] } else { &run.sittings };
    for (at, sitting) in (1_i64..).zip(sittings) {
        last = at;
        link.execute(
            "INSERT INTO sitting (run, number, started, boot, records_before, pid, ticks)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)",
            params![number, at, sitting.started, sitting.boot, sitting.records_before],
        )?;
        if let Some(added) = sitting.added {
            super::extend(link, (number, at), (added, planned))?;
        }
    }
    for (record, packed) in records {
        keep(link, number, record, packed)?;
    }
    let why = match &run.completeness {
        Completeness::Complete => None,
        Completeness::Partial { why } => Some(why),
    };
    link.execute(
        "INSERT INTO ending (run, sitting, why) VALUES (?1, ?2, ?3)",
        params![number, last, why],
    )?;
    Ok(())
}
