//! Knows how a quantity is written: prefix, significant digits, unit. Knows nothing of sentences.

use super::quantity::{Quantity, Unit};
use std::fmt;

/// Decimal prefixes, largest first.
const DECIMAL: [(f64, &str); 6] =
    [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m")];
/// Binary prefixes, largest first.
const BINARY: [(f64, &str); 5] = [
    (1_099_511_627_776.0, "Ti"),
    (1_073_741_824.0, "Gi"),
    (1_048_576.0, "Mi"),
    (1024.0, "Ki"),
    (1.0, ""),
];
/// Prefixes of seconds, largest first.
const TIME: [(f64, &str); 4] = [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];

/// A bare number with three significant digits, no exponent between 1e-4 and 1e15.
///
/// Whole numbers up to 9999 keep all their digits.
#[must_use]
pub fn plain(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { format!("{value}") };
    }
    // 0.07 / 0.01 is a hair above 7: that hair must not become digits.
    if (value - value.round()).abs() <= value.abs() * 1e-12 && value.abs() < 1e4 {
        return format!("{value:.0}");
    }
    // 9.996 is written 10.0, not 10.00: the magnitude is that of the rounded value.
    let magnitude = (value.abs() * 1.0005).log10().floor();
    let decimals = (2.0 - magnitude).clamp(0.0, 6.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let text = format!("{value:.*}", decimals as usize);
    text
}

/// A ratio as text: `2.93×`.
#[must_use]
pub fn ratio(value: f64) -> String {
    if value >= 9.995 { format!("{}×", plain(value)) } else { format!("{value:.2}×") }
}

/// A ratio as the change it means: 1.031 is `+3.1 %`, 0.97 is `−3.0 %`.
///
/// Whole per cents from 10 %, a tenth from 0.1 %, a hundredth below.
#[must_use]
pub fn percent_change(ratio: f64) -> String {
    let change = (ratio - 1.0) * 100.0;
    let decimals = match change.abs() {
        size if size >= 9.95 => 0,
        size if (0.005..0.095).contains(&size) => 2,
        _ => 1,
    };
    let size = format!("{:.decimals$}", change.abs());
    let sign = match size.as_str() {
        "0.0" => "±",
        _ if change < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{size} %")
}

/// A range of two like quantities in one unit: `2.71–3.17×`, `9.1–9.4 Gbit/s`.
///
/// The prefix is the one that fits the upper end, so that both ends read on one scale. What is
/// below the third digit of the upper end is 0 there.
#[must_use]
pub fn show_range(low: Quantity, high: Quantity) -> String {
    let scale = scale_of(high);
    let number = |q: Quantity| {
        if q.value.abs() < 5e-4 * high.value.abs() {
            "0".to_owned()
        } else if q.unit == Unit::Ratio && q.value < 9.995 {
            format!("{:.*}", ratio_decimals(low.value, high.value), q.value)
        } else {
            plain(q.value / scale.divisor)
        }
    };
    format!("{}–{}{}", number(low), number(high), scale.suffix)
}

/// The middle of a range of ratios, with as many decimals as [`show_range`] gives the ends; any
/// other quantity as it is shown alone.
#[must_use]
pub fn show_centre(centre: Quantity, (low, high): (f64, f64)) -> String {
    let decimals = ratio_decimals(low, high);
    if centre.unit != Unit::Ratio || decimals == 2 || centre.value >= 9.995 {
        return centre.to_string();
    }
    format!("{:.decimals$}×", centre.value)
}

/// Two decimals; up to four where fewer would make the ends of a range look alike.
fn ratio_decimals(low: f64, high: f64) -> usize {
    let apart = |d: &usize| format!("{low:.d$}") != format!("{high:.d$}");
    if low < high { (2..4).find(apart).unwrap_or(4) } else { 2 }
}

/// The one prefix of an axis: what to divide its values by, and the unit to name once beside it.
///
/// Chosen for the largest value of the axis; `("Gbit/s", "%", "×")`, empty for a count.
#[must_use]
pub fn axis_scale(largest: Quantity) -> (f64, String) {
    let scale = scale_of(largest);
    (scale.divisor, scale.suffix.trim_start().to_owned())
}

impl Unit {
    /// The base unit as a column of raw values names it: `bit/s`, `s`, `share`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::BitPerSecond => "bit/s",
            Self::BytePerSecond => "B/s",
            Self::OperationPerSecond => "op/s",
            Self::PacketPerSecond => "packet/s",
            Self::Byte => "B",
            Self::Second => "s",
            Self::Hertz => "Hz",
            Self::Share => "share",
            Self::Ratio => "ratio",
            Self::Cpu => "CPU",
            Self::MegabitPerCpuPercent => "Mbit/s/%",
            Self::OperationPerCpuPercent => "op/s/%",
            Self::PacketPerCpuPercent => "packet/s/%",
            Self::SecondPerGigabyte => "s/GB",
            Self::MicrosecondPerKilobyte => "us/KB",
            Self::InterruptPerSecond => "interrupt/s",
            Self::Joule => "J",
            Self::Watt => "W",
            Self::Euro => "EUR",
            Self::Dollar => "USD",
            Self::Pound => "GBP",
            Self::Franc => "CHF",
            Self::Yen => "JPY",
            Self::DecibelA => "dB(A)",
            Self::Kilogram => "kg",
            Self::Celsius => "°C",
            Self::Count => "count",
        }
    }
}

impl Quantity {
    /// All its digits, as a plan may have it: `0.00002 s`, `1500 B`, `2 %`. No prefix keeps them.
    #[must_use]
    pub fn exact(self) -> String {
        match self.unit {
            Unit::Share => format!("{} %", self.value * 100.0),
            Unit::Count => self.value.to_string(),
            unit => format!("{} {}", self.value, unit.symbol()),
        }
    }
}

/// The divisor and the text that follows the number.
struct Scale {
    divisor: f64,
    suffix: String,
}

/// An MTU or an MSS: whole, small and no multiple of 1 KiB. Nobody knows 9000 B as 8.79 KiB.
fn is_packet_size(quantity: Quantity) -> bool {
    let size = quantity.value;
    quantity.unit == Unit::Byte && size.fract() == 0.0 && size < 10_000.0 && size % 1024.0 != 0.0
}

fn bare(suffix: &str) -> Scale {
    Scale { divisor: 1.0, suffix: suffix.into() }
}

fn scale_of(quantity: Quantity) -> Scale {
    let (table, unit): (&[(f64, &str)], &str) = match quantity.unit {
        Unit::BitPerSecond => (&DECIMAL[..5], "bit/s"),
        Unit::BytePerSecond => (&DECIMAL[..5], "B/s"),
        Unit::OperationPerSecond => (&DECIMAL[..5], "op/s"),
        Unit::PacketPerSecond => (&DECIMAL[..5], "packet/s"),
        Unit::Hertz => (&DECIMAL[..5], "Hz"),
        Unit::Byte => (&BINARY, "B"),
        Unit::Second => (&TIME, "s"),
        Unit::Joule => (&DECIMAL, "J"),
        Unit::Watt => (&DECIMAL, "W"),
        Unit::Share => return Scale { divisor: 0.01, suffix: " %".into() },
        Unit::Ratio => return bare("×"),
        // Units that hold a prefix themselves take no second one.
        Unit::Cpu => return bare(" CPU"),
        Unit::InterruptPerSecond => return bare(" interrupts/s"),
        Unit::MegabitPerCpuPercent => return bare(" Mbit/s per CPU %"),
        Unit::OperationPerCpuPercent => (&DECIMAL[..5], "op/s per CPU %"),
        Unit::PacketPerCpuPercent => (&DECIMAL[..5], "packet/s per CPU %"),
        Unit::SecondPerGigabyte => return bare(" s/GB"),
        Unit::MicrosecondPerKilobyte => return bare(" µs/KB"),
        Unit::Count => return bare(""),
        // What a person enters is written with the unit that he wrote.
        Unit::Euro
        | Unit::Dollar
        | Unit::Pound
        | Unit::Franc
        | Unit::Yen
        | Unit::DecibelA
        | Unit::Kilogram
        | Unit::Celsius => return bare(&format!(" {}", quantity.unit.symbol())),
    };
    let size = quantity.value.abs();
    if is_packet_size(quantity) {
        return Scale { divisor: 1.0, suffix: " B".into() };
    }
    // 999.6 M would round up to 1000 M: choose the next prefix already from 999.5 on.
    let found = table.iter().find(|(d, _)| size >= *d * 0.9995).or_else(|| table.last());
    let (divisor, prefix) = match found {
        Some(entry) if size > 0.0 => *entry,
        _ => (1.0, ""),
    };
    Scale { divisor, suffix: format!(" {prefix}{unit}") }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unit == Unit::Ratio {
            return f.write_str(&ratio(self.value));
        }
        let scale = scale_of(*self);
        write!(f, "{}{}", plain(self.value / scale.divisor), scale.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_an_engineer_writes_them() {
        let cases = [
            (Quantity::new(1.2345e10, Unit::BitPerSecond), "12.3 Gbit/s"),
            (Quantity::new(9.996e8, Unit::BitPerSecond), "1.00 Gbit/s"),
            (Quantity::bytes(64), "64 B"),
            (Quantity::bytes(262_144), "256 KiB"),
            (Quantity::bytes(9000), "9000 B"),
            (Quantity::bytes(4096), "4 KiB"),
            (Quantity::seconds(0.8), "800 ms"),
            (Quantity::new(0.982, Unit::Share), "98.2 %"),
            (Quantity::new(0.07, Unit::Share), "7 %"),
            (Quantity::new(1.0 - 0.95, Unit::Share), "5 %"),
            (Quantity::new(2.934, Unit::Ratio), "2.93×"),
            (Quantity::new(0.0, Unit::BitPerSecond), "0 bit/s"),
            (Quantity::count(468), "468"),
            (Quantity::new(1.93, Unit::Cpu), "1.93 CPU"),
            (Quantity::new(591.2, Unit::MegabitPerCpuPercent), "591 Mbit/s per CPU %"),
            (Quantity::new(0.2304, Unit::SecondPerGigabyte), "0.230 s/GB"),
            (Quantity::new(0.236, Unit::MicrosecondPerKilobyte), "0.236 µs/KB"),
            (Quantity::new(12_400.0, Unit::InterruptPerSecond), "12400 interrupts/s"),
            (Quantity::new(262_143.0, Unit::Joule), "262 kJ"),
            (Quantity::new(0.0153, Unit::Joule), "15.3 mJ"),
            (Quantity::new(187.0, Unit::Watt), "187 W"),
            (Quantity::new(1_250.0, Unit::Watt), "1.25 kW"),
        ];
        for (quantity, text) in cases {
            assert_eq!(quantity.to_string(), text);
        }
    }

    #[test]
    fn a_small_ratio_reads_as_a_signed_change() {
        let cases = [
            (1.031, "+3.1 %"),
            (0.97, "−3.0 %"),
            (1.4449, "+44 %"),
            (1.0996, "+10 %"),
            (0.9997, "−0.03 %"),
            (1.0, "±0.0 %"),
        ];
        for (ratio, text) in cases {
            assert_eq!(percent_change(ratio), text);
        }
    }

    #[test]
    fn an_axis_has_one_prefix() {
        let scale = |v, u| axis_scale(Quantity::new(v, u));
        assert_eq!(scale(9.4e8, Unit::BitPerSecond), (1e6, "Mbit/s".into()));
        assert_eq!(scale(3e-5, Unit::Second), (1e-6, "µs".into()));
        assert_eq!(scale(0.8, Unit::Share), (0.01, "%".into()));
        assert_eq!(scale(12.0, Unit::Count), (1.0, String::new()));
    }

    #[test]
    fn a_range_has_one_scale() {
        let r = |l, h, u| show_range(Quantity::new(l, u), Quantity::new(h, u));
        assert_eq!(r(242.0, 1.81e7, Unit::OperationPerSecond), "0–18.1 Mop/s");
        assert_eq!(r(1e5, 1.81e7, Unit::OperationPerSecond), "0.100–18.1 Mop/s");
        assert_eq!(r(2.711, 3.169, Unit::Ratio), "2.71–3.17×");
        assert_eq!(r(0.9999, 1.0001, Unit::Ratio), "0.9999–1.0001×");
        assert_eq!(r(1.0, 1.0, Unit::Ratio), "1.00–1.00×");
        let centre = |low, high| show_centre(Quantity::new(1.0, Unit::Ratio), (low, high));
        assert_eq!([centre(0.9999, 1.0001), centre(0.98, 1.02)], ["1.0000×", "1.00×"]);
        assert_eq!(r(9.1e8, 1.04e9, Unit::BitPerSecond), "0.910–1.04 Gbit/s");
    }
}
