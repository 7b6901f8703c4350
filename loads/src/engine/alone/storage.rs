//! Knows which share of the bytes of a load block devices served, and how long it waited. Pure.
//!
//! Must not know files, nor what the bytes were for.

use super::recipe::Order;
use desk::record::Reading;
use desk::unit::{Quantity, Unit};
use rig::metal::{Series, Together};

/// The readings of a load whose operations have bytes. Of `storage`, `direct` where it asked to go
/// past the page cache (`cache = "direct"`), else `buffered`: a share of the bytes of the window,
/// as block devices served them by the counts of the kernel; above 1 where a file system or its
/// read-ahead moves more than was asked for. Buffered writes without an fsync are memory's: the
/// kernel counts them when they make a page dirty. And `waited`, the share of the time for which
/// its threads had no CPU, with all their operations under way. Nothing where the kernel does not
/// count bytes; no `waited` where a thread of the kernel spins for the load.
pub(super) fn served(order: &Order, together: &Together, window_s: f64) -> Vec<Reading> {
    let asked: f64 = together.series.iter().map(|series| bytes(series, window_s)).sum();
    let key = if order.word("cache") == "direct" { "direct" } else { "buffered" };
    let Some(stored) = together.stored.filter(|_| asked > 0.0) else { return Vec::new() };
    let is_memory = key == "buffered" && order.count("sync_every") == 0;
    let moved = if is_memory { stored.read } else { stored.read + stored.written };
    let reading = |key: &str, share: f64| Reading {
        probe: "storage".into(),
        host: "sut".into(),
        key: key.into(),
        quantity: Quantity::new(share, Unit::Share),
    };
    #[expect(clippy::cast_precision_loss, reason = "bytes and times of a window are below 2^53")]
    let (share, cpu_s) = (moved as f64 / asked, together.cpu_ns as f64 * 1e-9);
    #[expect(clippy::cast_precision_loss, reason = "threads are few")]
    let waited = 1.0 - cpu_s / (together.series.len() as f64 * window_s);
    let spins = order.word("polled_submission") == "on";
    let waited = (!spins).then(|| reading("waited", waited.clamp(0.0, 1.0)));
    [reading(key, share)].into_iter().chain(waited).collect()
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
    use super::super::fixture::{self, word};
    use super::*;
    use desk::record::{Settings, Value};
    use rig::metal::Stored;

    #[test]
    fn the_share_is_of_the_bytes_of_all_threads() {
        let order = |cache: &str| {
            let params = Settings::from([("cache".into(), word(cache))]);
            Order { params, settings: Settings::new(), seed: 1 }
        };
        // Ten operations of 4 KiB in each 10 ms: 4,096,000 B a second each.
        let thread = |bytes| Series { unit_bytes: bytes, ..fixture::series(&[10, 10], 10_000_000) };
        let together = |bytes, read| Together {
            series: vec![thread(bytes), thread(bytes)],
            cpu_ns: 500_000_000,
            stored: Some(Stored { read, written: 96_000 }),
        };
        let told = |order: &Order, together: &Together| -> Vec<(String, f64)> {
            let all = served(order, together, 1.0);
            all.into_iter().map(|r| (r.key, r.quantity.value)).collect()
        };
        let direct = told(&order("direct"), &together(Some(4096.0), 8_096_000));
        assert_eq!(direct, [("direct".into(), 1.0), ("waited".into(), 0.75)]);
        let cached = told(&order("buffered"), &together(Some(4096.0), 0));
        assert_eq!(cached[0], ("buffered".into(), 0.0), "writes that nothing made safe");
        let mut synced = order("buffered");
        synced.params.insert("sync_every".into(), Value::Count(1));
        assert!(told(&synced, &together(Some(4096.0), 0))[0].1 > 0.01);
        assert_eq!(told(&order("direct"), &together(None, 5)), []);
        let uncounted = Together { stored: None, ..together(Some(4096.0), 5) };
        assert_eq!(told(&order("direct"), &uncounted), []);
        let mut polled = order("direct");
        polled.params.insert("polled_submission".into(), word("on"));
        assert_eq!(told(&polled, &together(Some(4096.0), 5)).len(), 1);
    }
}
