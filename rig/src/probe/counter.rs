//! Knows how much a counter gained between two readings, whatever its width.
//!
//! Many counters of the kernel have 32 bits, and some drivers pass those of their device on. Where
//! such a counter went back it wrapped, unless the device was reset: as with serial numbers (RFC
//! 1982) a gain of half the range or more is none. Must not know what is counted.

/// Values of a counter of 32 bits.
const RANGE: u64 = 1 << 32;

/// What a counter gained, in its own unit; none of one that was reset.
pub(super) fn gained(then: u64, now: u64) -> Option<u64> {
    if now >= then {
        return Some(now - then);
    }
    let wrapped = (now + RANGE).checked_sub(then)?;
    (then < RANGE && wrapped < RANGE / 2).then_some(wrapped)
}

/// What a counter gained that is 0 again after `range`; it must not wrap twice in a window.
pub(super) fn gained_within(then: u64, now: u64, range: u64) -> Option<u64> {
    if now >= then { Some(now - then) } else { Some(range.checked_sub(then)? + now) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_of_32_bits_wraps_and_any_other_was_reset() {
        assert_eq!(gained(5, 5), Some(0));
        assert_eq!(gained(RANGE - 10, 20), Some(30));
        assert_eq!(gained(RANGE - 10, RANGE + 20), Some(30), "64 bits go on");
        assert_eq!(gained(5_000, 10), None, "a reset, not a gain of 4 billion");
        assert_eq!(gained(RANGE + 5, 3), None);
        assert_eq!(gained(u64::MAX, 3), None);
    }

    #[test]
    fn a_counter_of_any_range_goes_on_from_0() {
        assert_eq!(gained_within(262_143_328_000, 150, 262_143_328_850), Some(1000));
        assert_eq!(gained_within(7, 9, 262_143_328_850), Some(2));
        assert_eq!(gained_within(900, 10, 800), None, "more than its range: no such counter");
    }
}
