//! Knows which share of the bytes of a load block devices served, and how long it waited. Pure.
//!
//! Must not know files, nor what the bytes were for.

use super::recipe::Storing;
use desk::record::Reading;
use desk::unit::{Quantity, Unit};
use rig::metal::{Series, Together};

/// Two readings of a load of storage. `direct`, or `buffered` where it did not ask to go past the
/// page cache: the share of its bytes in the window that block devices served, by the counts of
/// the kernel; above 1 where a file system or its read-ahead moves more than was asked for.
/// `waited`: the share of the time for which its threads had no CPU, with all their operations
/// under way; none where CPU time does not tell. Nothing where the kernel does not count bytes.
pub(super) fn served(storing: Storing, together: &Together, window_s: f64) -> Vec<Reading> {
    let asked: f64 = together.series.iter().map(|series| bytes(series, window_s)).sum();
    let Some(stored) = together.stored.filter(|_| asked > 0.0) else { return Vec::new() };
    let moved = stored.read + if storing.writes { stored.written } else { 0 };
    #[expect(clippy::cast_precision_loss, reason = "bytes, threads and times are below 2^53")]
    let (share, cpus) = (moved as f64 / asked, together.series.len() as f64);
    #[expect(clippy::cast_precision_loss, reason = "times of a window are below 2^53")]
    let waited = 1.0 - together.cpu_ns as f64 * 1e-9 / (cpus * window_s);
    let key = if storing.direct { "direct" } else { "buffered" };
    let waited = Some(("waited", waited.clamp(0.0, 1.0))).filter(|_| !storing.spins);
    let reading = |(key, share): (&str, f64)| Reading {
        probe: "storage".into(),
        host: "sut".into(),
        key: key.into(),
        quantity: Quantity::new(share, Unit::Share),
    };
    [(key, share)].into_iter().chain(waited).map(reading).collect()
}

/// Bytes of a thread in the window: its mean rate, and the bytes of an operation on average. 0 of
/// one whose work has no bytes.
#[expect(clippy::cast_precision_loss, reason = "work and time of a window are below 2^53")]
fn bytes(series: &Series, window_s: f64) -> f64 {
    let (mut work, mut ns) = (0, 0);
    for sample in &series.samples {
        (work, ns) = (work + sample.work, ns + sample.ns);
    }
    let rate = work as f64 * 1e9 / ns.max(1) as f64;
    rate * window_s * series.unit_bytes.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use rig::metal::Stored;

    const DIRECT: Storing = Storing { direct: true, writes: true, spins: false };
    const BUFFERED: Storing = Storing { direct: false, writes: false, spins: false };

    #[test]
    fn the_share_is_of_the_bytes_of_all_threads() {
        // Ten operations of 4 KiB in each 10 ms: 4,096,000 B a second each.
        let thread = |bytes| Series { unit_bytes: bytes, ..fixture::series(&[10, 10], 10_000_000) };
        let together = |bytes, read| Together {
            series: vec![thread(bytes), thread(bytes)],
            cpu_ns: 500_000_000,
            stored: Some(Stored { read, written: 96_000 }),
        };
        let told = |storing, together: &Together| -> Vec<(String, f64)> {
            let all = served(storing, together, 1.0);
            all.into_iter().map(|r| (r.key, r.quantity.value)).collect()
        };
        let direct = told(DIRECT, &together(Some(4096.0), 8_096_000));
        assert_eq!(direct, [("direct".into(), 1.0), ("waited".into(), 0.75)]);
        let cached = told(BUFFERED, &together(Some(4096.0), 0));
        assert_eq!(cached[0], ("buffered".into(), 0.0), "writes that nothing made safe");
        let synced = Storing { writes: true, ..BUFFERED };
        assert!(told(synced, &together(Some(4096.0), 0))[0].1 > 0.01);
        assert_eq!(told(DIRECT, &together(None, 5)), []);
        let uncounted = Together { stored: None, ..together(Some(4096.0), 5) };
        assert_eq!(told(DIRECT, &uncounted), []);
        let polled = Storing { spins: true, ..DIRECT };
        assert_eq!(told(polled, &together(Some(4096.0), 5)).len(), 1);
    }
}
