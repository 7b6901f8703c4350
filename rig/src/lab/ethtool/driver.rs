//! Knows the one question that exists only as an ioctl: who drives this adapter.
//! Never: any other request. Holds the room's only `unsafe`.

use super::attribute::text;
use super::netlink::Refusal;
use std::io;
use std::os::fd::RawFd;

/// Who drives an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// Driver name, for instance `virtio_net`.
    pub driver: String,
    /// Driver version; kernels since 5.10 put their own release where the driver has none.
    pub version: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
    /// Bus address, for instance `0000:03:00.0`.
    pub bus: Option<String>,
}

/// `SIOCETHTOOL` of `linux/sockios.h` and `ETHTOOL_GDRVINFO` of `linux/ethtool.h`.
const SIOCETHTOOL: u32 = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 3;

/// `struct ethtool_drvinfo` of `linux/ethtool.h`.
#[repr(C)]
struct RawDriverInfo {
    command: u32,
    driver: [u8; 32],
    version: [u8; 32],
    firmware: [u8; 32],
    bus: [u8; 32],
    expansion_rom: [u8; 32],
    reserved: [u8; 12],
    counts: [u32; 5],
}

/// Asks through `socket`, in whose network namespace the link is looked for.
pub(super) fn ask(socket: RawFd, name: &str) -> Result<DriverInfo, Refusal> {
    let mut raw = RawDriverInfo {
        command: ETHTOOL_GDRVINFO,
        driver: [0; 32],
        version: [0; 32],
        firmware: [0; 32],
        bus: [0; 32],
        expansion_rom: [0; 32],
        reserved: [0; 12],
        counts: [0; 5],
    };
    let mut link = [0; libc::IFNAMSIZ];
    // The last byte stays zero, so the kernel finds the end of the name.
    for (to, from) in link.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        // A `char` of C is signed on some processors.
        *to = libc::c_char::from_ne_bytes([from]);
    }
    let mut request = libc::ifreq {
        ifr_name: link,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: (&raw mut raw).cast() },
    };
    // SAFETY: `request` and the `raw` it points to outlive the call and have the layout of
    // `struct ifreq` and `struct ethtool_drvinfo`; the kernel writes only inside the latter.
    let status = unsafe { libc::ioctl(socket, SIOCETHTOOL as _, &raw mut request) };
    if status < 0 {
        let error = io::Error::last_os_error();
        return Err(match error.raw_os_error() {
            Some(errno) => Refusal::Kernel { errno, words: String::new() },
            None => Refusal::Socket(error),
        });
    }
    Ok(DriverInfo {
        driver: text(&raw.driver),
        version: known(&raw.version),
        firmware: known(&raw.firmware),
        bus: known(&raw.bus),
    })
}

/// A field that says something; drivers write `N/A` where they know nothing.
fn known(field: &[u8]) -> Option<String> {
    Some(text(field)).filter(|t| !t.is_empty() && t != "N/A")
}
