//! Knows what an adapter is set to, and how all of it is put back.
//!
//! Must not know why it was changed.

use super::Why;
use crate::lab::ethtool::{Ethtool, Number};
use crate::lab::link::Routes;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};

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
    /// Whether its egress is shaped.
    shaped: bool,
    /// Addresses of the benchmarking range.
    addresses: Vec<(Ipv4Addr, u8)>,
}

/// Whether an address is one of the range for benchmarks (RFC 2544, 198.18.0.0/15).
pub const fn is_benchmark(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 198 && second & 0xfe == 18
}

impl State {
    /// Reads it in the namespace of the calling thread. A number that the driver refuses to tell is
    /// none that can be set either.
    pub(super) fn read(name: &str) -> Result<Self, Why> {
        let words = |e: &dyn std::fmt::Display| e.to_string();
        let mut routes = Routes::open().map_err(|e| words(&e))?;
        let mut ethtool = Ethtool::open().map_err(|e| words(&e))?;
        let link = routes.link(name).map_err(|e| words(&e))?;
        let all = ethtool.features(name).map_err(|e| words(&e))?;
        let changeable = all.into_iter().filter(|feature| feature.changeable);
        let numbers = Number::ALL.into_iter();
        let told = |number| Some((number, ethtool.number(name, number).ok().flatten()?));
        let benchmark = |(address, prefix)| match address {
            IpAddr::V4(address) if is_benchmark(address) => Some((address, prefix)),
            _ => None,
        };
        Ok(Self {
            name: name.into(),
            hardware: link.address,
            mtu: link.mtu,
            up: link.up,
            features: changeable.map(|feature| (feature.name, feature.wanted)).collect(),
            numbers: numbers.filter_map(told).collect(),
            shaped: routes.tbf(name).map_err(|e| words(&e))?.is_some(),
            addresses: routes
                .addresses(name)
                .map_err(|e| words(&e))?
                .into_iter()
                .filter_map(benchmark)
                .collect(),
        })
    }

    /// Makes the adapter what it was, wherever it differs.
    ///
    /// # Errors
    /// When the kernel refuses, or something stays different.
    pub(super) fn put_back(&self) -> Result<(), Why> {
        let now = Self::read(&self.name)?;
        if now != *self {
            self.change_from(&now).map_err(|e| format!("{}: {e}", self.name))?;
        }
        let now = Self::read(&self.name)?;
        if now == *self { Ok(()) } else { Err(format!("{} is {now:?}, was {self:?}", self.name)) }
    }

    fn change_from(&self, now: &Self) -> Result<(), super::super::LabError> {
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
