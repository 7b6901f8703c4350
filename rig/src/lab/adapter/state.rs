//! Knows what an adapter is set to, and how all of it is put back.
//!
//! Must not know why it was changed.

use super::Why;
use crate::lab::adapter_file::{AdapterFile, AdapterFiles};
use crate::lab::error::LabError;
use crate::lab::ethtool::{Ethtool, Line, Number};
use crate::lab::link::Routes;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What the lab may change of an adapter, as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// Its name in the namespace of the machine.
    pub(super) name: String,
    /// Its hardware address, by which it is known under another name.
    pub(super) hardware: String,
    mtu: u32,
    up: bool,
    /// Offloads that can be switched, and whether they are asked for.
    features: Vec<(String, bool)>,
    /// Numbers that its driver has.
    numbers: Vec<(Number, u32)>,
    /// At which speed its line runs, where it can be chosen.
    line: Option<Line>,
    /// The queue of every entry of its table of RSS.
    rss: Option<Vec<u32>>,
    /// Texts of its files.
    files: Vec<(AdapterFile, Vec<String>)>,
    /// Whether its egress is shaped.
    shaped: bool,
    /// Addresses of the benchmarking ranges.
    addresses: Vec<(IpAddr, u8)>,
}

/// Whether an address is one of the ranges for benchmarks: 198.18.0.0/15 (RFC 2544), 2001:2::/48
/// (RFC 5180).
pub const fn is_benchmark(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            first == 198 && second & 0xfe == 18
        }
        IpAddr::V6(address) => matches!(address.segments(), [0x2001, 2, 0, ..]),
    }
}

impl State {
    /// Reads it in the namespace of the calling thread. A number that the driver refuses to tell is
    /// none that can be set either.
    pub(super) fn read(name: &str) -> Result<Self, Why> {
        Self::ask(name).map_err(|e| e.to_string())
    }

    fn ask(name: &str) -> Result<Self, LabError> {
        let (mut routes, mut ethtool) = (Routes::open()?, Ethtool::open()?);
        let (link, files) = (routes.link(name)?, AdapterFiles::open()?);
        let all = ethtool.features(name)?;
        let changeable = all.into_iter().filter(|feature| feature.changeable);
        let addresses = routes.addresses(name)?.into_iter();
        let told = |number| Some((number, ethtool.number(name, number).ok().flatten()?));
        let numbers = Number::ALL.into_iter().filter_map(told).collect();
        let text = |file| Some((file, files.read(name, file).ok().flatten()?));
        Ok(Self {
            name: name.into(),
            hardware: link.address,
            mtu: link.mtu,
            up: link.up,
            features: changeable.map(|feature| (feature.name, feature.wanted)).collect(),
            numbers,
            line: ethtool.line(name).ok().flatten().filter(|line| !line.modes.is_empty()),
            rss: ethtool.rss_table(name).ok().flatten(),
            files: AdapterFile::ALL.into_iter().filter_map(text).collect(),
            shaped: routes.tbf(name)?.is_some(),
            addresses: addresses.filter(|(address, _)| is_benchmark(*address)).collect(),
        })
    }

    /// Without what follows from the other end of the line.
    fn chosen(mut self) -> Self {
        if let Some(line) = &mut self.line {
            line.mbit_per_s = None;
        }
        self
    }

    /// Makes the adapter what it was, wherever it differs.
    ///
    /// # Errors
    /// When the kernel refuses, or something stays different.
    pub(super) fn put_back(&self) -> Result<(), Why> {
        let (now, before) = (Self::read(&self.name)?.chosen(), self.clone().chosen());
        if now != before {
            self.change_from(&now).map_err(|e| format!("{}: {e}", self.name))?;
        }
        self.forget_stacked().map_err(|e| format!("{}: {e}", self.name))?;
        let now = Self::read(&self.name)?.chosen();
        if now == before {
            Ok(())
        } else {
            Err(format!("{} is {now:?}, was {before:?}", self.name))
        }
    }

    /// What stood on it, as a macvlan does, may have made it take all frames, and the kernel does
    /// not undo that of an adapter that has moved until it is up again.
    fn forget_stacked(&self) -> Result<(), LabError> {
        let mut routes = Routes::open()?;
        if !self.up && routes.link(&self.name)?.promiscuity > 0 {
            routes.set_up(&self.name, true)?;
            routes.set_up(&self.name, false)?;
        }
        Ok(())
    }

    fn change_from(&self, now: &Self) -> Result<(), LabError> {
        let (name, mut routes, mut ethtool) = (&self.name, Routes::open()?, Ethtool::open()?);
        if now.shaped && !self.shaped {
            routes.clear_qdisc(name)?;
        }
        for (address, prefix) in now.addresses.iter().filter(|a| !self.addresses.contains(a)) {
            routes.remove_address(name, *address, *prefix)?;
        }
        for (number, value) in self.numbers.iter().filter(|n| !now.numbers.contains(n)) {
            ethtool.set_number(name, *number, *value)?;
        }
        if let (Some(table), true) = (&self.rss, now.rss != self.rss) {
            ethtool.set_rss_table(name, table)?;
        }
        if let (Some(line), true) = (&self.line, now.line != self.clone().chosen().line) {
            ethtool.set_line(name, line)?;
        }
        for (file, texts) in self.files.iter().filter(|f| !now.files.contains(f)) {
            AdapterFiles::open()?.write(name, *file, texts)?;
        }
        if now.features != self.features {
            ethtool.set_features(name, &self.features)?;
        }
        if now.mtu != self.mtu {
            routes.set_mtu(name, self.mtu)?;
        }
        if now.up != self.up {
            routes.set_up(name, self.up)?;
        }
        Ok(())
    }
}
