//! Knows how each kind of factor is set, read back and undone.
//!
//! Must not know the list of factors, nor which level is wanted when.

use super::cpus_row::CpusRow;
use super::device_row::DeviceRow;
use super::held_row::HeldRow;
use super::link_row::LinkRow;
use super::machine_row::MachineRow;
use super::path_row::PathRow;
use super::quota_row::QuotaRow;
use super::version_row::VersionRow;
use super::{FactorError, link_row};
use crate::lab::machine::{Order, Reply};
use crate::lab::quota::Side;
use crate::lab::relay::Distance;
use crate::lab::undo::UndoError;
use crate::lab::wire::LinkRequest;
use crate::lab::{IpVersion, Lab};
use desk::record::Value;
use std::path::Path;

/// How a factor is set. Its row says where.
#[derive(Clone, Copy, Debug)]
pub enum Mechanism {
    /// On all ends of a link, or on the hosts at its ends.
    Link(&'static LinkRow),
    /// In files or registers of the machine, by way of the journal.
    Machine(&'static MachineRow),
    /// By a file that the agent of the machine holds open.
    Held(&'static HeldRow),
    /// By the control groups of a side.
    Quota(&'static QuotaRow),
    /// By the CPUs that the system under test may use.
    Cpus(&'static CpusRow),
    /// On the hosts that route or bridge.
    Device(&'static DeviceRow),
    /// By the relay on the path.
    Path(&'static PathRow),
    /// By the addresses that loads go to.
    Version(&'static VersionRow),
}

/// How to bring back what a level changed.
#[derive(Debug)]
pub enum Undo {
    /// Link operations a host, in order.
    Links(Vec<(usize, Vec<LinkRequest>)>),
    /// Entries of the machine's journal.
    Journal(Vec<u64>),
    /// The agent of the machine closes the file that holds this factor.
    Held(&'static str),
    /// The side is held no more.
    Quota(Side),
    /// The system under test has these CPUs.
    Cpus(Vec<u32>),
    /// The relay keeps this part of this distance.
    Path(&'static PathRow, Distance),
    /// Loads go over this version of IP.
    Version(&'static VersionRow, IpVersion),
}

impl Undo {
    /// Whether it ends with the lab, so that a lab that is gone needs none.
    #[must_use]
    pub const fn ends_with_lab(&self) -> bool {
        !matches!(self, Self::Journal(_) | Self::Held(_))
    }

    /// Carries it out.
    ///
    /// # Errors
    /// When a host is gone; then its links are gone with it. Of the machine what could not be
    /// brought back ([`UndoError::Left`]).
    pub fn carry_out(&self, lab: &mut Lab) -> Result<(), FactorError> {
        match self {
            Self::Links(steps) => Ok(link_row::carry_out(lab, steps)?),
            Self::Journal(entries) => match lab.machine().order(&Order::Undo(entries.clone()))? {
                Reply::Undone(left) if left.is_empty() => Ok(()),
                Reply::Undone(left) => Err(UndoError::Left(left.join("; ")).into()),
                other => Err(lab.machine().out_of_turn(&format!("{other:?}")).into()),
            },
            Self::Held(factor) => Ok(lab.machine().must(&Order::LetGo((*factor).into()))?),
            Self::Quota(side) => Ok(lab.set_quota(*side, None)?),
            Self::Cpus(before) => Ok(lab.hold_cpus(before)?),
            Self::Path(row, before) => row.bring_back(lab, before),
            Self::Version(row, before) => row.bring_back(lab, *before),
        }
    }
}

impl Mechanism {
    /// Says before anything is measured why a level cannot be set on the machine below `root`, in a
    /// lab of so many clients. What only a lab can tell is not asked.
    ///
    /// # Errors
    /// With the reason and the remedy.
    pub fn refuse(self, root: &Path, level: &Value, clients: u32) -> Result<(), FactorError> {
        match self {
            Self::Machine(row) => row.refuse(root, level),
            Self::Held(row) => row.refuse(root, level),
            Self::Quota(row) => row.refuse(root, level, clients),
            Self::Cpus(row) => row.refuse(root, level),
            Self::Version(row) => row.refuse(root, level),
            Self::Link(row) => row.refuse_here(level),
            Self::Device(row) => row.refuse(root),
            Self::Path(_) => Ok(()),
        }
    }

    /// Sets a level, reads it back, and returns how to undo it. Only factors of links look at
    /// `link`.
    ///
    /// # Errors
    /// When the machine refuses or does not take it; what was changed until then is undone.
    pub fn apply(self, lab: &mut Lab, link: &str, level: &Value) -> Result<Undo, FactorError> {
        let (undo, done) = match self {
            Self::Link(row) => return row.apply(lab, link, level),
            Self::Device(row) => return row.apply(lab, level),
            Self::Machine(row) => {
                return Ok(Undo::Journal(set(lab, row.spec.name, level)?));
            }
            Self::Held(row) => {
                set(lab, row.spec.name, level)?;
                return Ok(Undo::Held(row.spec.name));
            }
            Self::Quota(row) => (Undo::Quota(row.side), row.apply(lab, level)),
            // Hosts are born with all; CPUs that are offline now are among them.
            Self::Cpus(row) => (Undo::Cpus(lab.all_cpus()?), row.apply(lab, level)),
            Self::Path(row) => (Undo::Path(row, row.before(lab)?), row.apply(lab, level)),
            Self::Version(row) => (Undo::Version(row, lab.ip_version()), row.apply(lab, level)),
        };
        if let Err(e) = done {
            // The first of two errors says more.
            let _ = undo.carry_out(lab);
            return Err(e);
        }
        Ok(undo)
    }

    /// Reads the level that is in force, as the plan writes it: `asked` where it is that to the
    /// resolution of the kernel.
    ///
    /// # Errors
    /// When it cannot be read, or the ends of the link, or the CPUs, disagree.
    pub fn observe(self, lab: &mut Lab, link: &str, asked: &Value) -> Result<Value, FactorError> {
        match self {
            Self::Link(row) => row.observe(lab, link, asked),
            Self::Machine(row) => level_of(lab, row.spec.name),
            Self::Held(row) => level_of(lab, row.spec.name),
            Self::Quota(row) => row.observe(lab, asked),
            Self::Cpus(row) => row.observe(lab, asked),
            Self::Device(row) => row.observe(lab),
            Self::Path(row) => row.observe(lab, asked),
            Self::Version(row) => row.observe(lab),
        }
    }

    /// Whether what was read is what was asked. Of the machine it may be another's since: that is
    /// in the record, and told at the end.
    ///
    /// # Errors
    /// [`FactorError::NotTaken`]: another level has changed it, or the kernel has.
    pub fn must_be(self, key: &str, asked: &Value, found: &Value) -> Result<(), FactorError> {
        let same = match self {
            Self::Link(_) => link_row::same(asked, found),
            Self::Quota(_) | Self::Cpus(_) | Self::Device(_) | Self::Path(_) | Self::Version(_) => {
                asked == found
            }
            Self::Machine(_) | Self::Held(_) => true,
        };
        let spec = super::spec(key).filter(|_| !same);
        spec.map_or(Ok(()), |spec| {
            let (asked, found) = (asked.to_string(), found.to_string());
            let place = "the lab, after all levels were set".into();
            Err(FactorError::NotTaken { factor: spec.name, place, asked, found })
        })
    }
}

/// Has the agent of the machine set a level; gives the entries of its journal.
fn set(lab: &mut Lab, factor: &str, level: &Value) -> Result<Vec<u64>, FactorError> {
    match lab.machine().order(&Order::Set(factor.into(), level.clone()))? {
        Reply::Set(entries) => Ok(entries),
        other => Err(lab.machine().out_of_turn(&format!("{other:?}")).into()),
    }
}

/// The level of a factor that is in force on the machine.
pub(super) fn level_of(lab: &mut Lab, factor: &str) -> Result<Value, FactorError> {
    match lab.machine().order(&Order::Level(factor.into()))? {
        Reply::Level(level) => Ok(level),
        other => Err(lab.machine().out_of_turn(&format!("{other:?}")).into()),
    }
}
