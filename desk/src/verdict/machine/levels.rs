//! Knows where a curve over sizes leaves a plateau by a step: there a cache ends.
//!
//! Never: what the machine says of its caches.

use crate::unit::{Quantity, Unit};

/// A plateau holds figures up to this ratio to the best of it: pages and neighbours move a level by
/// less. A step leaves all of the plateau behind by this ratio at the least.
pub const WITHIN: Quantity = Quantity::new(1.35, Unit::Ratio);
/// Fewest sizes that make a plateau.
const FEWEST: usize = 2;
/// Doublings of the size within which a step rises by [`WITHIN`]: where a cache was left, half of
/// the loads still find their line in it at twice its size, a quarter at four times. Over more
/// doublings it rises by as much for every so many of them.
const RAMP: f64 = 2.0;
/// Ratio of sizes within which a step is looked for: [`RAMP`] doublings, and a little more, for
/// sizes are rounded to whole turns of a loop. The next size always counts.
const REACH: f64 = 4.5;
/// A step rises this many times as steeply, in logs by doubling of the size, as the plateau that it
/// ends; less is the slope of one rise.
const STEEPER: f64 = 2.0;

/// Places of the last point of every plateau that a step ends, in the order of the sizes.
///
/// `curve` has bytes, rising, and the time of one access (or what falls with it), in any unit. A
/// step is a rise by [`WITHIN`] within [`RAMP`] doublings, twice as steep as the plateau, after
/// which no time comes back to it. A slow rise is none, and neither is a curve of one level.
pub(super) fn ends(curve: &[(f64, f64)]) -> Vec<usize> {
    let (mut found, mut start) = (Vec::new(), 0);
    while start < curve.len() {
        let mut least = curve[start].1;
        let mut end = start;
        while let Some((_, next)) = curve.get(end + 1).filter(|(_, t)| *t <= least * WITHIN.value) {
            least = least.min(*next);
            end += 1;
        }
        let (plateau, beyond) = (&curve[start..=end], &curve[end + 1..]);
        if plateau.len() >= FEWEST && is_step(plateau, beyond) {
            found.push(end);
        }
        start = end + 1;
    }
    found
}

/// Whether the curve leaves a plateau by a step; `beyond` is all that follows it.
fn is_step(plateau: &[(f64, f64)], beyond: &[(f64, f64)]) -> bool {
    let (Some(first), Some(last)) = (plateau.first(), plateau.last()) else { return false };
    let top = plateau.iter().map(|(_, time)| *time).fold(0.0, f64::max);
    let slope = (last.1 / first.1).ln().max(0.0) / (last.0 / first.0).log2();
    let near = beyond.iter().enumerate();
    let mut near = near.take_while(|(at, (bytes, _))| *at == 0 || *bytes <= last.0 * REACH);
    let rises = near.any(|(_, (bytes, time))| {
        let (doublings, rise) = ((bytes / last.0).log2(), (time / top).ln());
        let least = WITHIN.value.ln() * (doublings / RAMP).max(1.0);
        rise >= least && rise >= STEEPER * slope * doublings
    });
    rises && beyond.iter().all(|(_, time)| *time > top)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    /// A curve of sizes from 16 KiB up, each twice the one before.
    fn doubling(times: &[f64]) -> Vec<(f64, f64)> {
        let sizes = std::iter::successors(Some(16_384.0_f64), |size| Some(size * 2.0));
        sizes.zip(times.iter().copied()).collect()
    }

    fn of(times: &[f64]) -> Vec<usize> {
        ends(&doubling(times))
    }

    // 1.5 ns in the first cache, 6.4 in the second, 30 on the way up, 100 beyond.
    #[test]
    fn a_cache_ends_where_the_time_leaves_its_plateau() {
        assert_eq!(of(&[1.5, 1.5, 1.6, 6.2, 6.4, 6.9, 30.0, 100.0, 110.0]), [2, 5]);
        assert_eq!(of(&[1.5, 1.5, 1.5]), NONE, "it never left");
        assert_eq!(of(&[1.5, 6.0, 100.0, 101.0]), NONE, "one point is no level");
        assert_eq!(of(&[]), NONE);
    }

    #[test]
    fn a_small_step_is_one() {
        assert_eq!(of(&[100.0, 101.0, 102.0, 141.0, 140.0]), [2]);
        // The last cache is left by little at first.
        assert_eq!(of(&[12.0, 13.0, 13.5, 14.0, 17.0, 60.0, 90.0, 100.0, 105.0]), [3]);
        // Sizes that lie further apart, as `*8` makes them.
        let far: [f64; 7] = [1.3, 1.4, 4.1, 13.0, 14.0, 80.0, 85.0];
        let sizes = std::iter::successors(Some(4_096.0_f64), |size| Some(size * 8.0));
        assert_eq!(ends(&sizes.zip(far).collect::<Vec<_>>()), [1, 4]);
    }

    #[test]
    fn a_slow_rise_is_no_cache() {
        assert_eq!(ends(&[(32.0, 100.0), (64.0, 130.0), (128.0, 150.0), (1024.0, 191.0)]), NONE);
        // A guest whose neighbours share the last cache.
        assert_eq!(ends(&[(8.0, 130.0), (16.0, 150.0), (32.0, 162.0), (1024.0, 229.0)]), NONE);
        assert_eq!(of(&[130.0, 150.0, 162.0, 185.0, 205.0, 218.0, 225.0, 229.0]), NONE);
        assert_eq!(of(&[100.0, 130.0, 169.0, 220.0, 286.0]), NONE, "one slope");
        assert_eq!(of(&[30.0, 40.0, 60.0, 80.0, 95.0, 100.0]), NONE, "the way up to memory");
    }

    #[test]
    fn a_cache_that_ended_does_not_begin_again() {
        assert_eq!(of(&[100.0, 100.0, 150.0, 100.0, 101.0]), NONE, "one that was disturbed");
        assert_eq!(of(&[100.0, 100.0, 60.0, 100.0, 101.0]), NONE, "one that was lucky");
    }
}
