//! Knows how fast all CPUs together copy memory: measured once, while the lab is idle.
//!
//! Each CPU copies between two buffers of its own, that together are larger than the last cache,
//! as far as 128 MiB go; where that cache is larger still (guests are told of that of their whole
//! host) the figure is the cache's. It is the most that copies can reach, either way: a load is
//! never said to be nearer to it than it is. Must not know what a load copies.

use crate::lab::clock;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

/// Bounds of all buffers together, bytes.
const LEAST: u64 = 32 << 20;
const MOST: u64 = 128 << 20;
/// All buffers are so many times the last cache.
const BEYOND_CACHE: u64 = 4;
/// Time that is spent on copies, nanoseconds.
const TIME_NS: u64 = 50_000_000;

/// What was measured, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copied {
    /// Bytes copied a second by all CPUs together, each in its quickest pass.
    pub rate: f64,
    /// CPUs that copied.
    pub cpus: u32,
    /// Size of all buffers, bytes.
    pub buffers: u64,
    /// How long it took, buffers included, nanoseconds.
    pub took_ns: u64,
}

impl Copied {
    /// Measures; `last_cache` in bytes. None if a copy was not what was copied.
    #[must_use]
    pub fn measure(last_cache: Option<u64>) -> Option<Self> {
        let began_ns = clock::now_ns();
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let all = (last_cache.unwrap_or(0).saturating_mul(BEYOND_CACHE)).clamp(LEAST, MOST);
        let each = usize::try_from(all).ok()? / (2 * cpus);
        let barrier = Barrier::new(cpus);
        let rates: Option<Vec<f64>> = thread::scope(|scope| {
            let copy = |seed| passes(each, seed, &barrier);
            let started: Vec<_> = (0..cpus).map(|seed| scope.spawn(move || copy(seed))).collect();
            started.into_iter().map(|thread| thread.join().ok().flatten()).collect()
        });
        Some(Self {
            rate: rates?.iter().sum(),
            cpus: u32::try_from(cpus).ok()?,
            buffers: (2 * cpus * each) as u64,
            took_ns: clock::now_ns() - began_ns,
        })
    }
}

/// Bytes a second of the quickest pass of one CPU; none if the copy is wrong.
#[expect(clippy::cast_precision_loss, reason = "buffers and times are far below 2^53")]
fn passes(bytes: usize, seed: usize, barrier: &Barrier) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "the pattern is one of bytes")]
    let source: Vec<u8> = (0..bytes).map(|at| (at.wrapping_mul(31) + seed) as u8).collect();
    // Written once, so that every page is there.
    let mut copy = vec![0xff_u8; bytes];
    barrier.wait();
    let (began_ns, mut quickest_ns) = (clock::now_ns(), u64::MAX);
    loop {
        let at_ns = clock::now_ns();
        black_box(&mut copy).copy_from_slice(black_box(&source));
        let now_ns = clock::now_ns();
        quickest_ns = quickest_ns.min(now_ns - at_ns);
        if now_ns - began_ns >= TIME_NS {
            break;
        }
    }
    (copy == source).then(|| bytes as f64 * 1e9 / quickest_ns.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffers_are_bounded_and_the_rate_is_one() {
        let small = Copied::measure(None).unwrap();
        assert!((LEAST - 64..=LEAST).contains(&small.buffers), "{small:?}");
        let large = Copied::measure(Some(1 << 40)).unwrap();
        assert!((MOST - 64..=MOST).contains(&large.buffers), "{large:?}");
        assert!(large.took_ns >= TIME_NS && large.cpus >= 1, "{large:?}");
        // No memory of this century copies less than 10 MB/s or more than 100 TB/s.
        assert!((1e7..1e14).contains(&large.rate), "{large:?}");
    }
}
