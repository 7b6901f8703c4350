//! Knows how much of a CPU's time others took while we asked for all of it, for a moment.
//!
//! A thread on every CPU that we may use reads the clock again and again. Two readings that lie far
//! apart have something between them: an interrupt, another process, a hypervisor that gave the CPU
//! away. Must not know how much of that is too much.

use crate::lab::clock::{self, TICK_NS};
use crate::lab::cpus;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Two readings lie some 30 ns apart; what the kernel does of its own takes a few microseconds.
const GAP_NS: u64 = 20_000;

/// What was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// How long it was listened, seconds.
    pub seconds: f64,
    /// CPU, share of the time that was lost to others (0-1), longest single loss in nanoseconds.
    pub cpus: Vec<(u32, f64, u64)>,
    /// Share of the CPUs' time that a hypervisor says it took, 0-1; none if it does not say.
    pub steal: Option<f64>,
}

impl Noise {
    /// The CPU that lost most: number, share of the time (0-1), longest loss in nanoseconds.
    #[must_use]
    pub fn worst(&self) -> Option<(u32, f64, u64)> {
        self.cpus.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Listens for so long on every CPU that this process may use. It keeps them busy meanwhile.
///
/// # Errors
/// When a thread cannot be started or put on its CPU.
pub fn listen(root: &Path, span: Duration) -> io::Result<Noise> {
    let (before, began_ns) = (stolen(root), clock::now_ns());
    let mut threads = Vec::new();
    for cpu in cpus::mine()? {
        threads.push(thread::Builder::new().spawn(move || on(cpu, span))?);
    }
    let mut heard = Vec::new();
    for thread in threads {
        heard.push(thread.join().map_err(|_| io::Error::other("a listening thread ended"))??);
    }
    let seconds = since_s(began_ns);
    let steal = stolen(root).zip(before).map(|(now, then)| {
        #[expect(clippy::cast_precision_loss, reason = "CPUs and ticks of a second are few")]
        let share =
            (now.saturating_sub(then) * TICK_NS) as f64 / 1e9 / (seconds * heard.len() as f64);
        share.min(1.0)
    });
    Ok(Noise { seconds, cpus: heard, steal })
}

/// One CPU: its number, the share that was lost, the longest loss.
fn on(cpu: u32, span: Duration) -> io::Result<(u32, f64, u64)> {
    cpus::pin(cpu)?;
    let began_ns = clock::now_ns();
    let until_ns = began_ns + u64::try_from(span.as_nanos()).unwrap_or(u64::MAX / 2);
    let (lost_ns, longest_ns, ended_ns) = gaps(began_ns, until_ns, clock::now_ns);
    #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^53 ns")]
    let share = lost_ns as f64 / ended_ns.saturating_sub(began_ns).max(1) as f64;
    Ok((cpu, share, longest_ns))
}

/// Reads a clock until a moment; gives the sum of the gaps, the longest, and the last reading.
pub(super) fn gaps(began_ns: u64, until_ns: u64, read: impl Fn() -> u64) -> (u64, u64, u64) {
    let (mut last_ns, mut lost_ns, mut longest_ns) = (began_ns, 0, 0);
    while last_ns < until_ns {
        let now_ns = read();
        let gap_ns = now_ns.saturating_sub(last_ns);
        if gap_ns > GAP_NS {
            lost_ns += gap_ns;
            longest_ns = longest_ns.max(gap_ns);
        }
        last_ns = now_ns;
    }
    (lost_ns, longest_ns, last_ns)
}

/// Ticks that a hypervisor took from all CPUs since boot (proc(5)).
fn stolen(root: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(root.join("proc/stat")).ok()?;
    text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(7)?.parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^53 ns")]
fn since_s(began_ns: u64) -> f64 {
    (clock::now_ns() - began_ns) as f64 / 1e9
}
