//! Knows how datagrams between two hosts of the lab are watched from outside: payload on the
//! receiving interface, and what the receiver's kernel dropped for want of room.
//!
//! Must not know which tool sends them; all of them are watched by this one method.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Ethernet 14 + IPv4 20 + UDP 8 bytes stand before the payload of each packet that the interface
/// counts, segmented or not.
const HEADER: u64 = 42;
/// So much has to arrive before the load counts as running; openings and control talk are less.
const BEGUN: u64 = 256 << 10;
const SETTLE: Duration = Duration::from_millis(400);
const WINDOW: Duration = Duration::from_millis(1100);

/// What was seen of a load in one window.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Payload that the receiver's sockets took, bit/s.
    pub bit_per_s: f64,
    /// Share of the packets that they had no room for.
    pub lost: f64,
}

struct Moment {
    at: Instant,
    bytes: u64,
    packets: u64,
    dropped: u64,
}

/// Waits for a load to begin, lets it settle and watches it, by a process of the receiver.
///
/// # Errors
/// When no load begins within 5 s, or nothing was delivered.
pub fn watch(receiver: u32) -> io::Result<Seen> {
    let from = moment(receiver)?.bytes;
    let deadline = Instant::now() + Duration::from_secs(5);
    while moment(receiver)?.bytes < from + BEGUN {
        if Instant::now() > deadline {
            return Err(io::Error::other("no load within 5 s"));
        }
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(SETTLE);
    let opened = moment(receiver)?;
    thread::sleep(WINDOW);
    seen(&opened, &moment(receiver)?)
}

fn moment(receiver: u32) -> io::Result<Moment> {
    let text = fs::read_to_string(format!("/proc/{receiver}/net/dev"))?;
    let line = text.lines().find_map(|l| l.trim().strip_prefix("lan:"));
    let words = line.unwrap_or_default().split_ascii_whitespace();
    let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    let [bytes, packets, ..] = numbers[..] else {
        return Err(io::Error::other("the receiver has no interface 'lan'"));
    };
    let text = fs::read_to_string(format!("/proc/{receiver}/net/snmp"))?;
    let lines: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("Udp:")?.split_ascii_whitespace().collect()))
        .collect();
    let [names, counts] = &lines[..] else {
        return Err(io::Error::other("the kernel tells no counts of UDP"));
    };
    let place = names.iter().position(|name| *name == "RcvbufErrors");
    let dropped = place.and_then(|at| counts.get(at)?.parse().ok());
    let dropped = dropped.ok_or_else(|| io::Error::other("RcvbufErrors is not told"))?;
    Ok(Moment { at: Instant::now(), bytes, packets, dropped })
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a second")]
fn seen(opened: &Moment, closed: &Moment) -> io::Result<Seen> {
    let packets = closed.packets - opened.packets;
    let payload = (closed.bytes - opened.bytes).saturating_sub(packets * HEADER);
    let dropped = closed.dropped - opened.dropped;
    if payload == 0 || dropped >= packets {
        return Err(io::Error::other("the load delivered nothing in the window"));
    }
    let lost = dropped as f64 / packets as f64;
    let seconds = closed.at.duration_since(opened.at).as_secs_f64();
    Ok(Seen { bit_per_s: payload as f64 * 8.0 * (1.0 - lost) / seconds, lost })
}
