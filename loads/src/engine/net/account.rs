//! Knows the scheduler's account of a thread, and what follows from two readings of it.
//!
//! Must not know what the threads do.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// What the scheduler says of a thread (`/proc/PID/task/TID/schedstat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadMark {
    /// Time on a CPU, nanoseconds.
    pub cpu_ns: u64,
    /// Time ready to run but without a CPU, nanoseconds.
    pub waited_ns: u64,
}

impl ThreadMark {
    /// What was added since an earlier reading.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace().map(str::parse);
        let (cpu_ns, waited_ns) = (words.next()?.ok()?, words.next()?.ok()?);
        Some(Self { cpu_ns, waited_ns })
    }
}

/// The account of one thread of this process; opened when the thread is first seen running.
#[derive(Debug, Default)]
pub struct Account(Option<File>);

impl Account {
    /// What it says of the thread of this number in the kernel, 0 for one that does not run yet.
    /// None where the kernel keeps no accounts, and before and after the thread.
    pub fn read(&mut self, number: u32) -> Option<ThreadMark> {
        if self.0.is_none() && number != 0 {
            self.0 = File::open(format!("/proc/self/task/{number}/schedstat")).ok();
        }
        let mut text = [0; 96];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        ThreadMark::parse(std::str::from_utf8(&text[..length]).ok()?)
    }
}

/// Number of the calling thread in the kernel.
#[must_use]
pub fn own_number() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Of the thread that wanted a CPU for most of `wall` seconds: the share of the time in which it
/// ran or waited for a CPU, and the share in which it ran, 0-1. The scheduler adds to its accounts
/// when a thread comes off a CPU or at a tick, so a window of 0.1 s is good to some per cent.
pub fn busiest(spent: impl Iterator<Item = ThreadMark>, wall: f64) -> Option<(f64, f64)> {
    let shares = spent.map(|spent| {
        let share = |ns| super::seconds(ns) / wall;
        let (ran, waited) = (share(spent.cpu_ns), share(spent.waited_ns));
        ((ran + waited).clamp(0.0, 1.0), ran.clamp(0.0, 1.0))
    });
    shares.max_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedulers_account_is_read_of_a_thread_that_runs() {
        let mark = ThreadMark { cpu_ns: 12, waited_ns: 34 };
        assert_eq!(ThreadMark::parse("12 34 5\n"), Some(mark));
        assert_eq!(ThreadMark::parse("12"), None);
        let mut account = Account::default();
        assert_eq!(account.read(0), None, "it does not run yet");
        if !std::path::Path::new("/proc/self/schedstat").exists() {
            println!("skipped: this kernel keeps no account of threads");
            return;
        }
        let before = account.read(own_number()).unwrap();
        while account.read(own_number()).unwrap().cpu_ns == before.cpu_ns {
            std::hint::spin_loop();
        }
    }
}
