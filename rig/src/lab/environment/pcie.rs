//! Knows the way from a device up to the root of its PCI bus, and how wide each link of it is.
//! Never: what the device does.

use super::tree::{Tree, last_name};

/// One PCIe link as one end of it says it.
struct Link {
    /// Lanes.
    width: u32,
    /// Transfers a second and lane, `8.0 GT/s`, as the kernel writes them.
    speed: String,
    /// Payload bits a second after line coding, in 10^9; only to find the narrowest.
    rate: f64,
}

impl Link {
    /// `which` is `current` or `max`; absent where there is no such link or it is down.
    fn read(tree: &Tree, function: &str, which: &str) -> Option<Self> {
        let width: u32 = tree.number(&format!("{function}/{which}_link_width"))?;
        let text = tree.text(&format!("{function}/{which}_link_speed"))?;
        let transfers: f64 = text.split(' ').next()?.parse().ok()?;
        // An emulated or powered-down port says 0 or 255 lanes; PCIe has at most 32.
        if !(1..=32).contains(&width) {
            return None;
        }
        // PCI Express Base Specification: 8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on.
        let coding = if transfers <= 5.0 { 0.8 } else { 128.0 / 130.0 };
        let speed = text.trim_end_matches(" PCIe").to_owned();
        Some(Self { width, speed, rate: f64::from(width) * transfers * coding })
    }

    fn show(&self) -> String {
        format!("x{} at {}", self.width, self.speed)
    }
}

/// The PCI functions from a device up to the root port, the device's own first.
///
/// `device` is the resolved directory, whose parents are the bridges; a device that sits on
/// another bus (virtio) begins with the PCI function that carries that bus.
pub(super) fn functions(device: &str) -> Vec<&str> {
    let mut at = Some(device);
    let parents = std::iter::from_fn(|| {
        let path = at?;
        at = path.rsplit_once('/').map(|(parent, _)| parent);
        Some(path)
    });
    parents.filter(|path| is_address(last_name(path))).collect()
}

/// Width and speed now, of the narrowest link between the device and the root.
///
/// Where that is a link of a bridge above the device the text says so and names the bridge, so
/// equality with [`best`] means that nothing holds the device back.
pub(super) fn now(tree: &Tree, functions: &[&str]) -> Option<String> {
    let (device, bridges) = functions.split_first()?;
    // A paravirtual function has no link of its own; that of the port above it says nothing.
    let (mut narrowest, mut at) = (Link::read(tree, device, "current")?, None);
    for bridge in bridges {
        match Link::read(tree, bridge, "current") {
            Some(link) if link.rate < narrowest.rate => (narrowest, at) = (link, Some(bridge)),
            _ => {}
        }
    }
    Some(match at {
        Some(bridge) => {
            format!("{} (narrowest link, of bridge {})", narrowest.show(), last_name(bridge))
        }
        None => narrowest.show(),
    })
}

/// What the narrowest link on the way carries each way after line coding, bytes a second; absent
/// where [`now`] is.
pub(super) fn bytes_per_s(tree: &Tree, functions: &[&str]) -> Option<f64> {
    let (device, bridges) = functions.split_first()?;
    let own = Link::read(tree, device, "current")?;
    let above = bridges.iter().filter_map(|bridge| Link::read(tree, bridge, "current"));
    let least = above.map(|link| link.rate).fold(own.rate, f64::min);
    Some(least * 1e9 / 8.0)
}

/// Width and speed that the device itself could do.
pub(super) fn best(tree: &Tree, functions: &[&str]) -> Option<String> {
    Some(Link::read(tree, functions.first()?, "max")?.show())
}

/// Whether a name is a PCI address, `0000:03:00.0`.
fn is_address(name: &str) -> bool {
    let parts: Vec<&str> = name.split([':', '.']).collect();
    let hex = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
    parts.len() == 4 && name.contains('.') && parts.iter().all(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_up_leaves_out_what_is_not_a_pci_function() {
        let device = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/virtio2";
        let on_the_way = functions(device);
        assert_eq!(
            on_the_way,
            [
                "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0",
                "sys/devices/pci0000:00/0000:00:01.0"
            ]
        );
        assert!(functions("sys/devices/platform/soc/fd580000.ethernet").is_empty());
    }
}
