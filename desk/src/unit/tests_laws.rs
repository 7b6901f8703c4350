//! What holds of every quantity: what is written is read, in the same order; no text is a panic.

use super::{Kind, Quantity, Unit, parse, parse_sweep};
use proptest::prelude::*;

/// Kinds with the unit that they are held in, and the bounds within which what is written has a
/// prefix that can be read.
const KINDS: [(Kind, Unit, f64, f64); 15] = [
    (Kind::Size, Unit::Byte, 1.0, 1e12),
    (Kind::Duration, Unit::Second, 1e-9, 3e5),
    (Kind::Frequency, Unit::Hertz, 1.0, 9e11),
    (Kind::Rate, Unit::BitPerSecond, 1.0, 9e11),
    (Kind::Operations, Unit::OperationPerSecond, 1.0, 9e8),
    (Kind::Throughput, Unit::BytePerSecond, 1.0, 9e11),
    (Kind::Share, Unit::Share, 1e-5, 1.0),
    (Kind::Count, Unit::Count, 1.0, 1e12),
    (Kind::Cpus, Unit::Cpu, 0.01, 4096.0),
    (Kind::Price, Unit::Yen, 0.01, 1e9),
    (Kind::Noise, Unit::DecibelA, 1.0, 150.0),
    (Kind::Mass, Unit::Kilogram, 0.01, 1e4),
    (Kind::Temperature, Unit::Celsius, -80.0, 120.0),
    (Kind::Energy, Unit::Joule, 1e-3, 9e11),
    (Kind::Power, Unit::Watt, 1e-3, 9e11),
];

/// Three digits are written: half a unit of the third, of a number that begins with 1.
const ROUNDED: f64 = 0.005;

fn quantity() -> impl Strategy<Value = (Kind, Quantity)> {
    (0..KINDS.len(), 0.0..1.0).prop_map(|(at, share)| {
        let (kind, unit, least, most) = KINDS[at];
        let value = if least > 0.0 {
            least * (most / least).powf(share)
        } else {
            least + (most - least) * share
        };
        (kind, Quantity::new(value, unit))
    })
}

/// Texts that nearly are quantities or sweeps.
fn nearly() -> impl Strategy<Value = String> {
    let pieces =
        ["1", "64", ".5", "0", "9e9", "-", " ", "..", "*2", "+", "K", "KiB", "Gbit/s", "%"];
    let more = ["ms", "µs", "°C", "EUR", "\u{0}", "٣", "…", "1e400", "999999999999999999999", "*0"];
    let piece = proptest::sample::select([pieces.as_slice(), &more].concat());
    let piece = prop_oneof![
        20 => piece.prop_map(str::to_owned),
        1 => Just("9".repeat(308)),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|parts| parts.concat())
}

fn kind() -> impl Strategy<Value = Kind> {
    (0..KINDS.len()).prop_map(|at| KINDS[at].0)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(512)
    })]

    #[test]
    fn what_is_written_is_read_within_its_rounding((kind, quantity) in quantity()) {
        let text = quantity.to_string();
        let back = parse(&text, kind).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(back.unit, quantity.unit, "{}", text);
        let off = (back.value - quantity.value).abs();
        prop_assert!(off <= quantity.value.abs() * ROUNDED + 1e-12, "{text}: {off}");
        // What was rounded once stays.
        let again = parse(&back.to_string(), kind).map(|q| q.value);
        prop_assert!(again.is_ok_and(|again| (again / back.value - 1.0).abs() < 1e-9), "{text}");
    }

    #[test]
    fn written_quantities_keep_their_order((kind, one) in quantity(), factor in 1.02..1e3_f64) {
        let value = one.value.abs().max(1e-9);
        let (low, high) = (Quantity::new(value, one.unit), Quantity::new(value * factor, one.unit));
        let read = |q: Quantity| parse(&q.to_string(), kind).ok().map(|q| q.value);
        if let (Some(low), Some(high)) = (read(low), read(high)) {
            prop_assert!(low < high, "{low} and {high}, {factor} times apart");
        }
    }

    #[test]
    fn no_text_is_a_panic_and_what_is_read_is_a_number(
        text in prop_oneof![any::<String>(), nearly()],
        kind in kind(),
    ) {
        if let Ok(quantity) = parse(&text, kind) {
            prop_assert!(quantity.value.is_finite(), "{text} is {quantity}");
        }
        if let Ok(sweep) = parse_sweep(&text, kind) {
            prop_assert!((1..=64).contains(&sweep.len()), "{text} has {} values", sweep.len());
            prop_assert!(sweep.iter().all(|q| q.value.is_finite()), "{text}");
            prop_assert!(sweep.is_sorted_by(|a, b| a.value < b.value), "{text}: {sweep:?}");
        }
    }
}
