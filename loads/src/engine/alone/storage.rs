//! Knows which share of the bytes of a load block devices served. Pure.
//!
//! Must not know files, nor what the bytes were for.

use super::recipe::Order;
use desk::record::Reading;
use desk::unit::{Quantity, Unit};
use rig::metal::{Series, Together};

/// The reading of a load whose operations have bytes: of `storage`, `direct` where it asked to go
/// past the page cache (`cache = "direct"`), else `buffered`. A share of the bytes of the window,
/// as block devices served them by the counts of the kernel: above 1 where a file system or its
/// read-ahead moves more than was asked for; of buffered writes, what will be written. None where
/// the kernel does not count them.
pub(super) fn served(order: &Order, together: &Together, window_s: f64) -> Option<Reading> {
    let asked: f64 = together.series.iter().map(|series| bytes(series, window_s)).sum();
    let key = if order.word("cache") == "direct" { "direct" } else { "buffered" };
    #[expect(clippy::cast_precision_loss, reason = "bytes of a window are below 2^53")]
    let share = together.stored?.all() as f64 / asked;
    (asked > 0.0).then(|| Reading {
        probe: "storage".into(),
        host: "sut".into(),
        key: key.into(),
        quantity: Quantity::new(share, Unit::Share),
    })
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
    use desk::record::Settings;
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
            cpu_ns: 0,
            stored: Some(Stored { read, written: 96_000 }),
        };
        let found = served(&order("direct"), &together(Some(4096.0), 8_096_000), 1.0).unwrap();
        assert_eq!(
            (found.key.as_str(), found.quantity),
            ("direct", Quantity::new(1.0, Unit::Share))
        );
        let cached = served(&order("buffered"), &together(Some(4096.0), 0), 1.0).unwrap();
        assert!(cached.key == "buffered" && cached.quantity.value < 0.02);
        assert_eq!(served(&order("direct"), &together(None, 5), 1.0), None);
        let uncounted = Together { stored: None, ..together(Some(4096.0), 5) };
        assert_eq!(served(&order("direct"), &uncounted, 1.0), None);
    }
}
