//! Knows where Linux says what network adapters there are; asks no driver (that is `complete`).

use super::fact::fact;
use super::pcie;
use super::tree::{Tree, last_name};
use desk::record::{Adapter, Fact};
use desk::unit::{Quantity, Unit};

const LINKS: &str = "sys/class/net";

/// The adapters by name, without the loopback and the helpers of the kernel.
///
/// Kept: what sits on a bus, and what is stacked on another link and carries its traffic (bond,
/// VLAN). Left out: `ifb`, `dummy`, `veth`, tunnels, which have neither, and bridges.
pub(super) fn observe(tree: &Tree) -> Vec<Adapter> {
    let kept = |name: &String| {
        let link = format!("{LINKS}/{name}");
        let stacked = || tree.names(&link).iter().any(|entry| entry.starts_with("lower_"));
        tree.exists(&format!("{link}/device"))
            || (stacked() && !tree.exists(&format!("{link}/bridge")))
    };
    let names = tree.names(LINKS).into_iter().filter(|name| name != "lo").filter(kept);
    names.map(|name| adapter(tree, name)).collect()
}

pub(super) fn adapter(tree: &Tree, name: String) -> Adapter {
    let link = format!("{LINKS}/{name}");
    let file = |file: &str| format!("{link}/{file}");
    let device = tree.resolve(&file("device"));
    let functions = device.as_deref().map(pcie::functions).unwrap_or_default();
    let physical = device.is_some();
    let queues = tree.names(&file("queues"));
    let queues_of = |kind: &str| queues.iter().filter(|q| q.starts_with(kind)).count();
    Adapter {
        driver: tree.resolve(&file("device/driver")).map(|path| last_name(&path).to_owned()),
        bus: functions.first().copied().or(device.as_deref()).map(|p| last_name(p).to_owned()),
        device_id: functions.first().and_then(|function| device_id(tree, function)),
        pcie_now: pcie::now(tree, &functions),
        pcie_best: pcie::best(tree, &functions),
        speed_now: speed(tree, &link).filter(|_| physical),
        carrier: carrier(tree, &link),
        mtu: mtu(tree, &link),
        tx_queues: u32::try_from(queues_of("tx-")).unwrap_or(u32::MAX),
        rx_queues: u32::try_from(queues_of("rx-")).unwrap_or(u32::MAX),
        // -1 is "no node"; a virtio device leaves the answer to the function that carries it.
        numa_node: device
            .as_deref()
            .into_iter()
            .chain(functions.first().copied())
            .find_map(|path| tree.number(&format!("{path}/numa_node"))),
        physical,
        name,
        ..Adapter::default()
    }
}

/// Vendor and device, `8086:100e`.
fn device_id(tree: &Tree, function: &str) -> Option<String> {
    let vendor = tree.text(&format!("{function}/vendor"))?;
    let device = tree.text(&format!("{function}/device"))?;
    Some(format!("{}:{}", vendor.trim_start_matches("0x"), device.trim_start_matches("0x")))
}

/// None of a link that is off: the kernel refuses to read it.
fn carrier(tree: &Tree, link: &str) -> Option<bool> {
    tree.number::<u8>(&format!("{link}/carrier")).map(|has| has == 1)
}

/// Largest packet, bytes; 0 where it is unknown.
pub(super) fn mtu(tree: &Tree, link: &str) -> u32 {
    tree.number(&format!("{link}/mtu")).unwrap_or(0)
}

/// What the driver claims with a carrier, bit/s; -1 and 0 are "unknown". A veth claims 10 Gbit/s
/// whatever it carries, so only a physical adapter is believed.
pub(super) fn speed(tree: &Tree, link: &str) -> Option<Quantity> {
    let megabits: u32 = tree.number(&format!("{link}/speed"))?;
    carrier(tree, link).filter(|has| *has)?;
    // SPEED_UNKNOWN read through an unsigned number is the largest there is.
    let known = megabits > 0 && megabits < u32::MAX;
    known.then(|| Quantity::new(f64::from(megabits) * 1e6, Unit::BitPerSecond))
}

/// Half or full duplex, believed under the same conditions as the speed.
pub(super) fn duplex(tree: &Tree, adapter: &Adapter) -> Option<Fact> {
    adapter.speed_now?;
    let path = format!("{LINKS}/{}/duplex", adapter.name);
    let value = tree.text(&path).filter(|value| value == "half" || value == "full")?;
    Some(fact(&format!("adapter.{}.duplex", adapter.name), &path, &value))
}
