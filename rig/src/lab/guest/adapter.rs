//! Knows the network adapters that QEMU emulates: their names here, there, and their drivers.

use super::GuestError;
use std::str::FromStr;

/// A model of a network adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name on the command line and in the lab file.
    pub name: &'static str,
    /// Its name in QEMU.
    pub device: &'static str,
    /// The module of its driver.
    pub driver: &'static str,
}

impl Model {
    /// All that there are.
    pub const ALL: [Self; 4] = [
        Self { name: "e1000-82540em", device: "e1000-82540em", driver: "e1000" },
        Self { name: "e1000-82545em", device: "e1000-82545em", driver: "e1000" },
        Self { name: "e1000e-82574l", device: "e1000e", driver: "e1000e" },
        Self { name: "virtio", device: "virtio-net-pci", driver: "virtio_net" },
    ];
}

impl FromStr for Model {
    type Err = GuestError;

    fn from_str(name: &str) -> Result<Self, GuestError> {
        Self::ALL.into_iter().find(|model| model.name == name).ok_or_else(|| {
            let known = Self::ALL.map(|model| model.name).join(", ");
            GuestError::NoModel { name: name.into(), known }
        })
    }
}
