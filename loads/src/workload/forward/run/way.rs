//! Knows how a client finds the way of its frames: the next hop by the kernel's routes, its
//! hardware address by the kernel's neighbours.
//!
//! Must not know what the frames are.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

/// Port of the service that discards (RFC 863); a host without it says that it is there.
const DISCARD: u16 = 9;
/// Longest wait for a neighbour.
const LONGEST: Duration = Duration::from_secs(2);
/// Longest wait for a word of the target, after its neighbour is known.
const ANSWER: Duration = Duration::from_millis(300);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);
/// Looks between two datagrams.
const AGAIN: u32 = 50;

/// The way to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Hardware address of the next hop.
    pub hardware: [u8; 6],
    /// Address of this host on that way.
    pub source: Ipv4Addr,
}

/// Has the kernels of the way find their neighbours, by a datagram to the target, and tells the
/// way.
///
/// # Errors
/// No route; a next hop that does not answer.
pub fn find(adapter: &str, target: Ipv4Addr) -> Result<Way, String> {
    let fail = |e: io::Error| format!("way to {target}: {e}");
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(fail)?;
    socket.connect((target, DISCARD)).map_err(fail)?;
    socket.set_nonblocking(true).map_err(fail)?;
    let std::net::IpAddr::V4(source) = socket.local_addr().map_err(fail)?.ip() else {
        return Err(format!("way to {target}: no address of IPv4"));
    };
    let routes = std::fs::read_to_string("/proc/self/net/route").map_err(fail)?;
    let hop = next_hop(&routes, adapter, target)
        .ok_or_else(|| format!("no route to {target} over {adapter}; look at [lab.links]"))?;
    let begun = Instant::now();
    let mut known: Option<([u8; 6], Instant)> = None;
    for look in 0.. {
        if look % AGAIN == 0 {
            let _ = socket.send(&[0]);
        }
        let answered = matches!(
            socket.recv(&mut [0]),
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused
        );
        if known.is_none() {
            let text = std::fs::read_to_string("/proc/self/net/arp").map_err(fail)?;
            known = Arp(&text).of(hop, adapter).map(|hardware| (hardware, Instant::now()));
        }
        match known {
            // A box may pass no word back; its frames are counted all the same.
            Some((hardware, since)) if answered || since.elapsed() > ANSWER => {
                return Ok(Way { hardware, source });
            }
            None if begun.elapsed() > LONGEST => break,
            _ => thread::sleep(LOOK),
        }
    }
    Err(format!("{hop} on {adapter}, the next hop to {target}, does not answer to ARP"))
}

/// The next hop to a target by an adapter: the gateway of the narrowest route (`/proc/net/route`,
/// in hexadecimal, the bytes in the order of this machine), or the target where there is none.
#[must_use]
pub fn next_hop(routes: &str, adapter: &str, target: Ipv4Addr) -> Option<Ipv4Addr> {
    let address = |text: &str| {
        let word = u32::from_str_radix(text, 16).ok()?;
        Some(Ipv4Addr::from(word.to_ne_bytes()))
    };
    let row = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, network, gateway, _, _, _, _, mask] = words.get(..8)? else { return None };
        let (network, mask) = (address(network)?, address(mask)?);
        let fits = *name == adapter && (target & mask) == network;
        fits.then_some((mask, address(gateway)?))
    };
    let (_, gateway) = routes.lines().skip(1).filter_map(row).max_by_key(|(mask, _)| *mask)?;
    Some(if gateway.is_unspecified() { target } else { gateway })
}

/// The kernel's neighbours (`/proc/net/arp`).
pub struct Arp<'t>(pub &'t str);

impl Arp<'_> {
    /// The hardware address of a neighbour on an adapter, once it is known.
    #[must_use]
    pub fn of(&self, neighbour: Ipv4Addr, adapter: &str) -> Option<[u8; 6]> {
        let row = |line: &str| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [address, _, flags, hardware, _, name] = words.get(..6)? else { return None };
            let complete = u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()? & 2 != 0;
            let ours = complete && *name == adapter && address.parse() == Ok(neighbour);
            ours.then(|| hardware_of(hardware)).flatten()
        };
        self.0.lines().skip(1).find_map(row)
    }
}

/// A hardware address as it is written.
#[must_use]
pub fn hardware_of(text: &str) -> Option<[u8; 6]> {
    let bytes: Vec<u8> = text.split(':').map_while(|b| u8::from_str_radix(b, 16).ok()).collect();
    bytes.try_into().ok()
}
