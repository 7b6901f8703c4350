//! Knows how a client finds the way of its frames: the next hop by the kernel's routes, its
//! hardware address by the kernel's neighbours.
//!
//! Must not know what the frames are.

use rig::lab::link::Routes;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

/// Port of the service that discards (RFC 863); a host without it says that it is there.
const DISCARD: u16 = 9;
/// Bytes up to which adapters fill frames, without check sequence.
const FILLED: usize = 60;
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
    pub source: IpAddr,
}

/// Has the kernels of the way find their neighbours, by a datagram to the target, and tells the
/// way.
///
/// # Errors
/// No route; a next hop that does not answer.
pub fn find(adapter: &str, target: IpAddr) -> Result<Way, String> {
    let fail = |e: io::Error| format!("way to {target}: {e}");
    let socket = discard(target).map_err(fail)?;
    socket.set_nonblocking(true).map_err(fail)?;
    let source = socket.local_addr().map_err(fail)?.ip();
    let mut routes = Routes::open().map_err(|e| e.to_string())?;
    let hop = routes.next_hop(adapter, target).map_err(|e| e.to_string())?;
    let hop =
        hop.ok_or_else(|| format!("no route to {target} over {adapter}; look at [lab.links]"))?;
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
            let found = routes.neighbour(adapter, hop).map_err(|e| e.to_string())?;
            known = found.map(|hardware| (hardware, Instant::now()));
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
    let asked = if target.is_ipv6() { "neighbour solicitations" } else { "ARP" };
    Err(format!("{hop} on {adapter}, the next hop to {target}, does not answer to {asked}"))
}

/// Sends a datagram to the target's kernel, which counts packets by version of IP: frames that a
/// sink ends reach no such count. It is not as long as frames of so many bytes, also where an
/// adapter fills it up.
///
/// # Errors
/// What the kernel says.
pub fn word(target: IpAddr, frame: usize) -> io::Result<()> {
    let bytes = if frame == FILLED { FILLED / 2 } else { 1 };
    discard(target)?.send(&vec![0; bytes]).map(drop)
}

fn discard(target: IpAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = match target {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((target, DISCARD))?;
    Ok(socket)
}

/// A hardware address as it is written.
#[must_use]
pub fn hardware_of(text: &str) -> Option<[u8; 6]> {
    let bytes: Vec<u8> = text.split(':').map_while(|b| u8::from_str_radix(b, 16).ok()).collect();
    bytes.try_into().ok()
}
