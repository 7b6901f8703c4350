//! Knows the options that allow a disk to be overwritten, and tells before a run how much of it
//! will be.
//!
//! Must not know the reasons against it; `rig::block` judges that.

use super::error::CliError;
use super::{Place, progress, quoted};
use clap::ArgMatches;
use desk::plan::order;
use desk::record::Plan;
use desk::unit::Quantity;
use rig::block::{Consent, Device, free};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Bytes of a terabyte, as makers count.
const TERABYTE: f64 = 1e12;

/// Disks that may be overwritten.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Destroy {
    /// Disk that the plan may overwrite: all of its content is lost
    #[arg(long, value_name = "DEVICE", requires = "serial")]
    destroy: Vec<PathBuf>,
    /// Serial number of the disk; one for each --destroy
    #[arg(long, value_name = "SERIAL", requires = "destroy")]
    serial: Vec<String>,
    /// Terabytes written for which the maker rates the disk of --destroy (TBW)
    #[arg(long, value_name = "TB", requires = "destroy", value_parser = endurance)]
    endurance: Option<f64>,
}

fn endurance(word: &str) -> Result<f64, String> {
    let number = word.parse::<f64>().ok().filter(|tb| tb.is_finite() && *tb > 0.0);
    number.ok_or_else(|| format!("'{word}' is no number of terabytes; write it as 600"))
}

impl Destroy {
    /// The options as they have to be written again, each with a blank after it.
    pub fn words(&self) -> String {
        let pair = |(device, serial): (&PathBuf, &String)| {
            let device = quoted(&device.to_string_lossy());
            format!("--destroy {device} --serial {} ", quoted(serial))
        };
        self.destroy.iter().zip(&self.serial).map(pair).collect()
    }
}

/// What the person allows, whatever the verb.
///
/// # Errors
/// Another number of serials than of disks.
pub fn allowed(matches: &ArgMatches) -> Result<Vec<Consent>, CliError> {
    let of_verb = matches.subcommand().map(|(_, of_verb)| of_verb);
    let disks = of_verb.and_then(|of| of.try_get_many::<PathBuf>("destroy").ok().flatten());
    let serials = of_verb.and_then(|of| of.try_get_many::<String>("serial").ok().flatten());
    let disks: Vec<&PathBuf> = disks.into_iter().flatten().collect();
    let serials: Vec<&String> = serials.into_iter().flatten().collect();
    if disks.len() != serials.len() {
        let (disks, serials) = (disks.len(), serials.len());
        return Err(CliError::Destroy(format!(
            "{disks} --destroy and {serials} --serial; write one --serial behind each --destroy"
        )));
    }
    let consent = |(device, serial): (&PathBuf, &String)| Consent {
        device: device.clone(),
        serial: serial.clone(),
    };
    Ok(disks.into_iter().zip(serials).map(consent).collect())
}

/// Looks at every disk that the plan overwrites, and tells how much is written to each.
///
/// # Errors
/// The first reason against overwriting one, with the remedy.
pub fn judge(plan: &Plan, place: Place, wanted: &Destroy) -> Result<(), CliError> {
    if place == Place::Sim {
        return Ok(());
    }
    let mut written: BTreeMap<PathBuf, (usize, f64)> = BTreeMap::new();
    for trial in order(plan) {
        let Some((device, bytes)) = loads::overwrites(&trial.point) else { continue };
        let row = written.entry(device).or_default();
        *row = (row.0 + 1, row.1 + bytes);
    }
    if let (Some(device), false) = (written.keys().next(), plan.lab.machines.is_empty()) {
        let device = device.display();
        return Err(CliError::Destroy(format!(
            "whole_disk = \"{device}\": the machines of a lab take no --destroy; run the plan on \
             the machine of the disk, without --machines"
        )));
    }
    for (path, (trials, bytes)) in written {
        let free = free(&path, &loads::is_block_of_ours);
        let device = free.map_err(|why| CliError::Destroy(why.to_string()))?.device;
        let shown = quoted(&path.to_string_lossy());
        progress::say(&format!("{shown} {}", told(&device, (trials, bytes), wanted.endurance)));
    }
    Ok(())
}

/// What is overwritten, in words.
#[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^53")]
fn told(device: &Device, (trials, bytes): (usize, f64), endurance: Option<f64>) -> String {
    let size = |bytes: f64| Quantity::bytes(bytes as u64).to_string();
    let model = [device.model.as_str(), device.serial.as_deref().unwrap_or_default()];
    let model: Vec<&str> = model.into_iter().filter(|word| !word.is_empty()).collect();
    let share = endurance.map(|rated| {
        let percent = bytes / (rated * TERABYTE) * 100.0;
        format!("; the fills are {percent:.3} % of its rated endurance")
    });
    format!(
        "({}, {}) is overwritten: {trials} trials fill it before they measure, {} in all, and \
         the writes of their windows are in addition{}",
        model.join(", "),
        size(device.bytes as f64),
        size(bytes),
        share.unwrap_or_default()
    )
}
