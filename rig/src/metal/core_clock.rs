//! Knows how fast a core really runs.
//!
//! Must not know what is timed. Samples of loads take milliseconds and are timed by the monotonic
//! clock; a core's clock only turns a time into clocks.

use crate::lab::clock;
#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// Additions of one measurement of the core's clock: about half a millisecond.
const ADDS: u64 = 1_600_000;
/// A core whose clock has not risen for so long is at its clock, nanoseconds.
const LEVEL_NS: u64 = 10_000_000;
/// And so long that is waited for, nanoseconds.
const LONGEST_NS: u64 = 100_000_000;

/// Clocks a second of the core that this thread runs on, by the time of additions of which each
/// needs the one before: one clock each on every core of the last twenty years. The fastest, for a
/// disturbance only ever adds time, once none was faster by 1 % for 10 ms: a core that was idle
/// needs some time to come to its clock. None on a machine that this has no such loop for.
///
/// Source: the `mhz` program of lmbench (`McVoy`, Staelin 1996) measures in this way.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "1.6 million, and times below 2^53 ns")]
pub fn core_hertz() -> Option<f64> {
    let one = || {
        let began_ns = clock::now_ns();
        additions(ADDS).then(|| clock::now_ns().saturating_sub(began_ns).max(1))
    };
    let began_ns = clock::now_ns();
    let (mut quickest_ns, mut faster_ns) = (one()?, began_ns);
    loop {
        let ns = one()?;
        let now_ns = clock::now_ns();
        if ns * 100 < quickest_ns * 99 {
            faster_ns = now_ns;
        }
        quickest_ns = quickest_ns.min(ns);
        if now_ns - faster_ns >= LEVEL_NS || now_ns - began_ns >= LONGEST_NS {
            return Some(ADDS as f64 * 1e9 / quickest_ns as f64);
        }
    }
}

/// Does so many dependent additions, rounded down to 16; false where there is no loop for it.
#[cfg(target_arch = "x86_64")]
fn additions(count: u64) -> bool {
    // SAFETY: adds in registers of its own; touches no memory.
    unsafe {
        asm!(
            "2:",
            "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}",
            "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}",
            "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}",
            "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}", "add {sum}, {one}",
            "dec {left}",
            "jnz 2b",
            sum = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64,
            left = inout(reg) count / 16 => _,
            options(nostack, nomem),
        );
    }
    true
}

#[cfg(not(target_arch = "x86_64"))]
fn additions(_: u64) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    // No core that runs Linux is slower than 100 MHz or faster than 20 GHz.
    #[test]
    fn a_core_has_a_clock() {
        let hertz = core_hertz();
        assert!(hertz.is_none_or(|hertz| (1e8..2e10).contains(&hertz)), "{hertz:?}");
        assert_eq!(hertz.is_some(), cfg!(target_arch = "x86_64"));
    }
}
