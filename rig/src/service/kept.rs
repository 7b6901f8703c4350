//! Knows an instance that may serve several trials, and whether it can serve the next one.
//!
//! Must not know how long a plan wants it to live.

use super::told::{FileSum, Wanted};
use super::{Instance, Why};
use crate::lab::logs;
use desk::record::Settings;
use std::collections::BTreeMap;

/// Files of a service: paths below its run directory, with their content.
pub type Files<'f> = [(String, &'f [u8])];

/// An instance, and what it was put up for.
#[derive(Debug)]
pub struct Kept {
    wanted: Wanted,
    under: Settings,
    files: Vec<FileSum>,
    instance: Instance,
    /// Requests that it had served for others before this trial.
    before: u64,
}

impl Kept {
    /// Puts an instance up, or keeps the spare one: where it was asked for alike and put up under
    /// the same settings, and its files are what they were.
    ///
    /// # Errors
    /// As [`Instance::start`].
    pub fn put_up(
        spare: Option<Self>,
        (wanted, under): (Wanted, Settings),
        files: &Files<'_>,
    ) -> Result<Self, Why> {
        let sums: Vec<FileSum> = files.iter().map(FileSum::of).collect();
        let alike = |one: &Self| one.wanted == wanted && one.under == under && one.files == sums;
        if let Some(mut one) = spare.filter(alike) {
            // One that has ended meanwhile, or has other files, is restarted.
            let checked = one.instance.is_whole(&sums).and_then(|whole| {
                one.before = one.instance.served()?;
                Ok(whole)
            });
            if checked == Ok(true) {
                return Ok(one);
            }
            // One that ended between trials is no fault of this one.
            logs::take();
        }
        let instance = Instance::start(&wanted, files)?;
        Ok(Self { wanted, under, files: sums, instance, before: 0 })
    }

    /// Where it listens.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.instance.port
    }

    /// What it says of its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.instance.version
    }

    /// Requests of others that it has served in this trial.
    ///
    /// # Errors
    /// As [`Instance::served`].
    pub fn served(&mut self) -> Result<u64, Why> {
        Ok(self.instance.served()?.saturating_sub(self.before))
    }

    /// As [`Instance::waiting`].
    #[must_use]
    pub fn waiting(&mut self) -> Option<u64> {
        self.instance.waiting()
    }

    /// As [`Instance::cpu_ns`].
    #[must_use]
    pub fn cpu_ns(&self) -> BTreeMap<String, u64> {
        self.instance.cpu_ns()
    }
}
