//! Knows how any load between two hosts of the lab is watched from outside: bytes on the receiving
//! interface, CPU time of every thread that lives in the two namespaces.
//!
//! Must not know which tool makes the load; all of them are watched by this one method.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Ethernet 14 + IPv4 20 + TCP 20 + timestamps 12 bytes stand before the payload of each packet
/// that the interface counts, segmented or not.
const HEADER: u64 = 66;
/// So much has to arrive before the load counts as running; openings and control talk are less.
const BEGUN: u64 = 256 << 10;
/// Pause between the first bytes and the window.
const SETTLE: Duration = Duration::from_millis(400);
/// Length of the window.
pub const WINDOW: Duration = Duration::from_millis(1100);

/// The two hosts of a load, by their processes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Process in the receiver's namespace.
    pub receiver: u32,
    /// Process in the sender's namespace.
    pub sender: u32,
}

/// What was seen of a load in one window.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Payload, bit/s.
    pub bit_per_s: f64,
    /// CPU of both sides, seconds for each 10^9 bytes of payload.
    pub s_per_gb: f64,
    /// Payload bytes a packet as the interface counts them.
    pub packet: f64,
}

struct Moment {
    at: Instant,
    bytes: u64,
    packets: u64,
    threads: BTreeMap<u32, u64>,
}

impl Place {
    /// Waits for a load to begin, lets it settle and watches it.
    ///
    /// # Errors
    /// When no load begins within 5 s, or the window had no payload.
    pub fn watch(self) -> io::Result<Seen> {
        let (start, _) = self.counters()?;
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.counters()?.0 < start + BEGUN {
            if Instant::now() > deadline {
                return Err(io::Error::other("no load within 5 s"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(SETTLE);
        let opened = self.moment()?;
        std::thread::sleep(WINDOW);
        seen(&opened, &self.moment()?)
    }

    fn moment(self) -> io::Result<Moment> {
        let threads = self.threads()?;
        let (bytes, packets) = self.counters()?;
        Ok(Moment { at: Instant::now(), bytes, packets, threads })
    }

    /// Bytes and packets that the receiver's interface has taken in.
    fn counters(self) -> io::Result<(u64, u64)> {
        let text = fs::read_to_string(format!("/proc/{}/net/dev", self.receiver))?;
        let line = text.lines().find_map(|l| l.trim().strip_prefix("lan:"));
        let numbers: Vec<u64> = line
            .unwrap_or_default()
            .split_ascii_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        match numbers.as_slice() {
            [bytes, packets, ..] => Ok((*bytes, *packets)),
            _ => Err(io::Error::other("the receiver has no interface 'lan'")),
        }
    }

    /// CPU time of every thread of both namespaces, nanoseconds.
    fn threads(self) -> io::Result<BTreeMap<u32, u64>> {
        let home = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net"));
        let homes = [home(self.receiver)?, home(self.sender)?];
        let mut all = BTreeMap::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let process = entry.path();
            // A process that ends while it is looked at is no loss: its load ended with it.
            if fs::read_link(process.join("ns/net")).is_ok_and(|net| homes.contains(&net)) {
                all.extend(tasks(&process.join("task")));
            }
        }
        Ok(all)
    }
}

fn tasks(folder: &PathBuf) -> Vec<(u32, u64)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let one = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("schedstat")).ok()?;
        Some((id, text.split_ascii_whitespace().next()?.parse().ok()?))
    };
    entries.flatten().filter_map(one).collect()
}

#[expect(clippy::cast_precision_loss, reason = "bytes and nanoseconds of a second")]
fn seen(opened: &Moment, closed: &Moment) -> io::Result<Seen> {
    let seconds = closed.at.duration_since(opened.at).as_secs_f64();
    let packets = closed.packets - opened.packets;
    let payload = (closed.bytes - opened.bytes).saturating_sub(packets * HEADER);
    if payload == 0 || packets == 0 {
        return Err(io::Error::other("the load moved nothing in the window"));
    }
    let used = closed.threads.iter().map(|(id, ns)| {
        // A number that was given to a new thread meanwhile counts from nothing.
        ns.saturating_sub(*opened.threads.get(id).unwrap_or(&0))
    });
    Ok(Seen {
        bit_per_s: payload as f64 * 8.0 / seconds,
        s_per_gb: used.sum::<u64>() as f64 / payload as f64,
        packet: payload as f64 / packets as f64,
    })
}
