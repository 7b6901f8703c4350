//! Knows the monotonic clock that all hosts of one machine share; knows no dates.

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds on `CLOCK_MONOTONIC`; the same clock in every namespace made here.
#[must_use]
pub fn now_ns() -> u64 {
    to_ns(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds of CPU that all threads of this process have used.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    to_ns(clock_gettime(ClockId::ProcessCPUTime))
}

/// Sleeps until `at_ns` on the monotonic clock; returns at once when that is past.
pub fn sleep_until(at_ns: u64) {
    let at = Timespec {
        tv_sec: i64::try_from(at_ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(at_ns % 1_000_000_000).unwrap_or(0),
    };
    while clock_nanosleep_absolute(SleepClock::Monotonic, &at).is_err() {
        // A signal woke us; the deadline is absolute, so sleeping on is exact.
    }
}

fn to_ns(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}
