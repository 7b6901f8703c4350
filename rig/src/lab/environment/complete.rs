//! Knows how the answers of a driver fill up an adapter's record; reads no file.

use crate::lab::ethtool::{DriverInfo, Ethtool, Feature, LinkModes, Number};
use crate::lab::link::{Routes, Tbf};
use desk::record::{Adapter, Environment, Fact, class_of};
use desk::unit::{Quantity, Unit};

/// The offloads that decide how many segments a CPU touches, as `ethtool -k` names them.
const OFFLOADS: [&str; 12] = [
    "rx-checksum",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
    "tx-scatter-gather",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
    "tx-generic-segmentation",
    "rx-gro",
    "rx-gro-hw",
    "rx-lro",
];

/// Asks the drivers of the real machine for driver, firmware, rings, offloads and line rates.
///
/// Call it in the network namespace whose `/sys` was observed: links are found by name. A query
/// that fails leaves its field as it was; without an ethtool in the kernel nothing changes.
pub fn complete_adapters(env: &mut Environment) {
    complete_shapers(env);
    let Ok(mut ethtool) = Ethtool::open() else { return };
    for adapter in &mut env.adapters {
        if let Ok(Some(info)) = ethtool.driver_info(&adapter.name) {
            take_driver(adapter, info);
        }
        if let Ok(modes) = ethtool.link_modes(&adapter.name) {
            take_speeds(adapter, modes);
        }
        let mut ring = |number| ethtool.number(&adapter.name, number).ok().flatten();
        (adapter.tx_ring, adapter.rx_ring) = (ring(Number::TxRing), ring(Number::RxRing));
        if let Ok(features) = ethtool.features(&adapter.name) {
            adapter.offloads = offloads(&features);
        }
    }
}

/// A token bucket at the root of an adapter holds down all that it sends: a fact, `tbf 1 bit/s`.
fn complete_shapers(env: &mut Environment) {
    let Ok(mut routes) = Routes::open() else { return };
    for adapter in &env.adapters {
        let Ok(Some(tbf)) = routes.tbf(&adapter.name) else { continue };
        env.facts.push(shaper_fact(&adapter.name, tbf));
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53 bit/s")]
fn shaper_fact(adapter: &str, tbf: Tbf) -> Fact {
    let rate = Quantity::new(tbf.rate_bits_per_s as f64, Unit::BitPerSecond);
    let key = format!("adapter.{adapter}.shaper");
    let (value, source) = (format!("tbf {}", rate.exact()), format!("RTM_GETQDISC {adapter}"));
    Fact { class: class_of(&key), key, value, source }
}

fn take_driver(adapter: &mut Adapter, info: DriverInfo) {
    adapter.driver = Some(info.driver);
    adapter.driver_version = info.version;
    adapter.firmware = info.firmware;
    adapter.bus = adapter.bus.take().or(info.bus);
}

/// Speeds count only where there is a line: a virtual device may claim any.
fn take_speeds(adapter: &mut Adapter, modes: LinkModes) {
    if adapter.physical {
        adapter.speed_best = modes.speed_best;
        adapter.speed_now = adapter.speed_now.or(modes.speed_now.filter(|_| adapter.has_carrier()));
    }
}

/// Name and state of the listed offloads that the kernel knows.
fn offloads(features: &[Feature]) -> Vec<(String, String)> {
    let listed = OFFLOADS.iter().filter_map(|name| features.iter().find(|f| f.name == *name));
    listed.map(|feature| (feature.name.clone(), state(feature).to_owned())).collect()
}

fn state(feature: &Feature) -> &'static str {
    match (feature.active, feature.changeable) {
        (true, true) => "on",
        (false, true) => "off",
        (true, false) => "on [fixed]",
        (false, false) => "off [fixed]",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(name: &str, active: bool, changeable: bool) -> Feature {
        Feature { name: name.to_owned(), active, wanted: active, changeable }
    }

    #[test]
    fn offloads_are_those_listed_with_their_state() {
        let features = [
            feature("rx-gro", true, true),
            feature("highdma", true, false),
            feature("tx-udp-segmentation", false, false),
        ];
        let said = offloads(&features);
        let said: Vec<(&str, &str)> = said.iter().map(|(n, s)| (n.as_str(), s.as_str())).collect();
        assert_eq!(said, [("tx-udp-segmentation", "off [fixed]"), ("rx-gro", "on")]);
    }

    #[test]
    fn a_speed_is_not_believed_of_a_device_without_a_line() {
        let ten = Quantity::new(1e10, Unit::BitPerSecond);
        let modes = LinkModes { speed_now: Some(ten), speed_best: Some(ten), duplex: None };
        let mut bond = Adapter { carrier: Some(true), ..Adapter::default() };
        take_speeds(&mut bond, modes);
        assert_eq!((bond.speed_now, bond.speed_best), (None, None));
        let mut unplugged = Adapter { physical: true, ..Adapter::default() };
        take_speeds(&mut unplugged, modes);
        assert_eq!((unplugged.speed_now, unplugged.speed_best), (None, Some(ten)));
    }
}
