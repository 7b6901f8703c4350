//! Knows which part of a window the readers at its edges leave alone.
//!
//! Must not know what is read there.

use rig::metal::Span;

/// Behind the opening: this share of the window, and at most so long, nanoseconds. On a machine of
/// two CPUs readers of all hosts and of the machine took 6 ms.
const BEHIND: (u64, u64) = (10, 20_000_000);
/// Before the closing, where readers only wake, as above.
const AHEAD: (u64, u64) = (50, 2_000_000);

/// The window of the frames that are sent on a schedule. A thread that reads counters at an edge
/// takes the CPU of a sender or of what forwards, and frames that are late or lost then say nothing
/// of either.
#[must_use]
pub fn undisturbed(window: Span) -> Span {
    let length = window.closes_ns.saturating_sub(window.opens_ns);
    let [behind, ahead] = [BEHIND, AHEAD].map(|(part, most)| (length / part).min(most));
    Span { opens_ns: window.opens_ns + behind, closes_ns: window.closes_ns - ahead }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_left_out_and_long_windows_lose_little() {
        let of = |length: u64| {
            let Span { opens_ns, closes_ns } =
                undisturbed(Span { opens_ns: 7, closes_ns: 7 + length });
            (opens_ns - 7, 7 + length - closes_ns)
        };
        assert_eq!(of(100_000_000), (10_000_000, 2_000_000));
        assert_eq!(of(10_000_000_000), (20_000_000, 2_000_000));
        assert_eq!(of(0), (0, 0));
    }
}
