//! Knows the clocks that all hosts of one machine share: monotonic, and CPU of process and thread.
//!
//! Must not know dates, nor whose time it reads.

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Length of one tick of `/proc/stat` on every Linux (`USER_HZ`), nanoseconds.
pub const TICK_NS: u64 = 10_000_000;

/// Nanoseconds on `CLOCK_MONOTONIC`; the same clock in every namespace made here.
#[must_use]
#[inline]
pub fn now_ns() -> u64 {
    planted::shown(to_ns(clock_gettime(ClockId::Monotonic)))
}

/// Nanoseconds since 1970 on `CLOCK_REALTIME`, which may be set and steps then.
#[must_use]
#[inline]
pub fn real_ns() -> u64 {
    to_ns(clock_gettime(ClockId::Realtime))
}

/// Nanoseconds of CPU that all threads of this process have used.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    to_ns(clock_gettime(ClockId::ProcessCPUTime))
}

/// Nanoseconds of CPU that the calling thread has used, to this moment.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    to_ns(clock_gettime(ClockId::ThreadCPUTime))
}

/// Nanoseconds of CPU that all threads of a process have used, those that have ended too; none when
/// there is no such process.
///
/// The kernel's own run time clock: no tick samples, and no permission is needed. A thread that
/// runs at this moment is counted up to its last tick or switch, at most 10 ms ago.
#[must_use]
pub fn cpu_ns_of(process: u32) -> Option<u64> {
    cpu_clock(process, 2)
}

/// Nanoseconds of CPU that a thread of this process has used, to this moment even while it runs;
/// none when there is no such thread.
#[must_use]
pub fn cpu_ns_of_thread(thread: u32) -> Option<u64> {
    cpu_clock(thread, 2 | 4)
}

/// The clock that `clock_getcpuclockid(3)` names: the number's complement above three bits, which
/// are `CPUCLOCK_SCHED` (2) and, for a thread, `CPUCLOCK_PERTHREAD_MASK` (4).
fn cpu_clock(number: u32, kind: i32) -> Option<u64> {
    let number = i32::try_from(number).ok().filter(|n| (1..1 << 28).contains(n))?;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec to a pointer that is valid for it, or refuses.
    let refused = unsafe { libc::clock_gettime((!number << 3) | kind, &raw mut time) } != 0;
    let seconds = u64::try_from(time.tv_sec).ok()?;
    (!refused).then(|| seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Sleeps until `at_ns` on the monotonic clock; returns at once when that is past.
pub fn sleep_until(at_ns: u64) {
    let at_ns = planted::meant(at_ns);
    let at = Timespec {
        tv_sec: i64::try_from(at_ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(at_ns % 1_000_000_000).unwrap_or(0),
    };
    while clock_nanosleep_absolute(SleepClock::Monotonic, &at).is_err() {
        // A signal woke us; the deadline is absolute, so sleeping on is exact.
    }
}

#[inline]
fn to_ns(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// A clock that a test of a debug build plants in an agent and its hosts: `STEND_TEST_CLOCK=A,B`
/// shows the kernel's time, B ppm too fast since the boot, and A seconds ahead; `A,B,S,T` steps by
/// S more when the kernel's clock is at T seconds. A release build has none.
#[cfg(debug_assertions)]
mod planted {
    use std::sync::OnceLock;

    static CLOCK: OnceLock<Option<Clock>> = OnceLock::new();

    /// All but the pace in nanoseconds.
    #[derive(Clone, Copy)]
    pub struct Clock {
        ahead: f64,
        pace: f64,
        step: f64,
        at: f64,
    }

    impl Clock {
        pub fn read(text: &str) -> Option<Self> {
            let numbers: Result<Vec<f64>, _> = text.split(',').map(str::parse).collect();
            let (ahead, ppm, step, at) = match numbers.ok()?[..] {
                [ahead, ppm] => (ahead, ppm, 0.0, f64::INFINITY),
                [ahead, ppm, step, at] => (ahead, ppm, step, at),
                _ => return None,
            };
            let pace = 1.0 + ppm / 1e6;
            Some(Self { ahead: ahead * 1e9, pace, step: step * 1e9, at: at * 1e9 })
        }

        pub fn shown(&self, ns: f64) -> f64 {
            let step = if ns < self.at { 0.0 } else { self.step };
            ns.mul_add(self.pace, self.ahead + step)
        }

        pub fn meant(&self, ns: f64) -> f64 {
            let before = (ns - self.ahead) / self.pace;
            if before < self.at {
                return before;
            }
            ((ns - self.ahead - self.step) / self.pace).max(self.at)
        }
    }

    fn clock() -> Option<Clock> {
        *CLOCK.get_or_init(|| Clock::read(&std::env::var("STEND_TEST_CLOCK").ok()?))
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a test")]
    #[expect(clippy::cast_sign_loss, reason = "a clock of a test is never below 0")]
    pub fn shown(ns: u64) -> u64 {
        clock().map_or(ns, |clock| clock.shown(ns as f64) as u64)
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a test")]
    #[expect(clippy::cast_sign_loss, reason = "a clock of a test is never below 0")]
    pub fn meant(ns: u64) -> u64 {
        clock().map_or(ns, |clock| clock.meant(ns as f64).ceil() as u64)
    }
}

#[cfg(not(debug_assertions))]
mod planted {
    #[inline]
    pub const fn shown(ns: u64) -> u64 {
        ns
    }

    #[inline]
    pub const fn meant(ns: u64) -> u64 {
        ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_process_is_that_of_all_its_threads() {
        let spin_until = cpu_ns_of(std::process::id()).unwrap() + 20_000_000;
        let spinner = std::thread::spawn(move || {
            while cpu_ns_of(std::process::id()).unwrap() < spin_until {}
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            cpu_ns_of_thread(u32::try_from(thread).unwrap()).unwrap()
        });
        let of_thread = spinner.join().unwrap();
        let (ours, all) = (process_cpu_ns(), cpu_ns_of(std::process::id()).unwrap());
        assert!(of_thread > 0 && ours >= spin_until, "{of_thread} {ours} {spin_until}");
        assert!(all >= ours, "an ended thread still counts: {all} {ours}");
    }

    #[test]
    fn who_is_not_there_has_no_clock() {
        assert_eq!(cpu_ns_of(0), None);
        assert_eq!(cpu_ns_of(u32::MAX), None);
        assert_eq!(cpu_ns_of_thread(1), None, "not a thread of this process");
    }

    #[cfg(debug_assertions)]
    #[test]
    fn a_planted_clock_is_ahead_and_steps() {
        let clock = planted::Clock::read("3,100,0.5,10").unwrap();
        let (before, after) = (9e9, 11e9);
        assert!((clock.shown(before) - 12.0009e9).abs() < 1.0);
        assert!((clock.shown(after) - 14.5011e9).abs() < 1.0);
        for at in [before, 10e9, after] {
            assert!((clock.meant(clock.shown(at)) - at).abs() < 1.0, "{at}");
        }
        assert!((clock.meant(13.2e9) - 10e9).abs() < 1.0, "a moment that the step leaps over");
        let steady = planted::Clock::read("-1,0").unwrap();
        assert!((steady.shown(after) - 10e9).abs() < 1.0);
        assert!(planted::Clock::read("1").is_none() && planted::Clock::read("1,x").is_none());
    }
}
