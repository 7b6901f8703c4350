//! Knows the questions that exist only as an ioctl: who drives this adapter, and what its driver
//! counts by names of its own.
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
/// `ETHTOOL_GSTRINGS` of the set `ETH_SS_STATS`, and `ETHTOOL_GSTATS`.
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const STATISTICS: u32 = 1;
const ETHTOOL_GSTATS: u32 = 0x1d;
/// Bytes of a name.
const NAME: usize = 32;
/// Place of the number of statistics among the counts of the driver's answer.
const COUNT_AT: usize = 1;
/// More counts no driver has; and so many the set may grow by while it is asked for.
const MOST: usize = 1 << 16;
const ROOM: usize = 1 << 13;

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
    let raw = raw(socket, name)?;
    Ok(DriverInfo {
        driver: text(&raw.driver),
        version: known(&raw.version),
        firmware: known(&raw.firmware),
        bus: known(&raw.bus),
    })
}

fn raw(socket: RawFd, name: &str) -> Result<RawDriverInfo, Refusal> {
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
    call(socket, name, (&raw mut raw).cast())?;
    Ok(raw)
}

/// A field that says something; drivers write `N/A` where they know nothing.
fn known(field: &[u8]) -> Option<String> {
    Some(text(field)).filter(|t| !t.is_empty() && t != "N/A")
}

/// What the driver counts, by its own names, in its order; nothing where it counts nothing.
pub(super) fn counts(socket: RawFd, name: &str) -> Result<Vec<(String, u64)>, Refusal> {
    let count = raw(socket, name)?.counts[COUNT_AT] as usize;
    if count == 0 || count > MOST {
        return Ok(Vec::new());
    }
    let length = u32::try_from(count).unwrap_or(0);
    let mut names = vec![0_u32; 3 + (count + ROOM) * NAME / 4];
    names[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, STATISTICS, length]);
    call(socket, name, names.as_mut_ptr().cast())?;
    let mut values = vec![0_u64; 1 + count + ROOM];
    let mut header = [0; 8];
    header[..4].copy_from_slice(&ETHTOOL_GSTATS.to_ne_bytes());
    header[4..].copy_from_slice(&length.to_ne_bytes());
    values[0] = u64::from_ne_bytes(header);
    call(socket, name, values.as_mut_ptr().cast())?;
    let names = &names[3..3 + count * NAME / 4];
    let bytes: Vec<u8> = names.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let named = bytes.chunks_exact(NAME).map(text);
    Ok(named.zip(values[1..].iter().copied()).filter(|(name, _)| !name.is_empty()).collect())
}

/// Asks with what `data` points to, which begins with the number of the question; the answer is
/// written over it.
fn call(socket: RawFd, name: &str, data: *mut libc::c_char) -> Result<(), Refusal> {
    let mut link = [0; libc::IFNAMSIZ];
    // The last byte stays zero, so the kernel finds the end of the name.
    for (to, from) in link.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        // A `char` of C is signed on some processors.
        *to = libc::c_char::from_ne_bytes([from]);
    }
    let mut request =
        libc::ifreq { ifr_name: link, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: data } };
    // SAFETY: `request` outlives the call and has the layout of `struct ifreq`. `data` points to
    // memory that the caller has for the whole answer: a `struct ethtool_drvinfo`, which has one
    // size, or as many names or counts as the driver has by that answer, and ROOM more.
    let status = unsafe { libc::ioctl(socket, SIOCETHTOOL as _, &raw mut request) };
    if status < 0 {
        let error = io::Error::last_os_error();
        return Err(match error.raw_os_error() {
            Some(errno) => Refusal::Kernel { errno, words: String::new() },
            None => Refusal::Socket(error),
        });
    }
    Ok(())
}
