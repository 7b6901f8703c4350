//! Knows how a person writes a quantity or a sweep; refuses a number without its unit.

use super::quantity::{Quantity, Unit};
use thiserror::Error;

/// Which family of units a text must be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes: `64 B`, `256 KiB`, `256K` (K, M and G are binary in sizes).
    Size,
    /// Seconds: `300 ms`, `0.8 s`, `2 min`, down to `0.1 ns`.
    Duration,
    /// Hertz: `2.4 GHz`.
    Frequency,
    /// Bits per second: `100 Mbit/s`, `1 Gbit/s`.
    Rate,
    /// Operations per second: `500 op/s`, `20 kop/s`.
    Operations,
    /// Bytes per second: `24.3 GB/s`, decimal.
    Throughput,
    /// A share of a whole: `2 %`.
    Share,
    /// A number of things, without a unit: `8`.
    Count,
    /// CPUs, with or without the unit: `0.5`, `2 CPU`.
    Cpus,
    /// Money: `1200 EUR`.
    Price,
    /// Noise: `41 dB(A)`.
    Noise,
    /// Mass: `2.3 kg`, `310 g`.
    Mass,
    /// Temperature: `22 °C`, `-5 °C`.
    Temperature,
    /// Energy: `3.6 MJ`, `250 Wh`.
    Energy,
    /// Power: `187 W`, `1.2 kW`.
    Power,
}

/// Why a text is not a quantity; each says the value and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// There is no number at the start.
    #[error("'{0}' does not begin with a number; write for instance {1}")]
    NoNumber(String, &'static str),
    /// A number without a unit.
    #[error("'{0}' has no unit; write for instance {1}")]
    NoUnit(String, &'static str),
    /// A unit of another family or none at all.
    #[error("'{unit}' in '{text}' is not a unit of {family}; write {known}")]
    WrongUnit {
        /// The whole text.
        text: String,
        /// The part that was taken for a unit.
        unit: String,
        /// What was expected.
        family: &'static str,
        /// The units that fit.
        known: &'static str,
    },
    /// A sweep whose step or bounds give no value.
    #[error("the sweep '{0}' is empty: {1}")]
    EmptySweep(String, &'static str),
    /// A sweep that would give too many values.
    #[error("the sweep '{0}' has more than 64 values; take a larger step")]
    LongSweep(String),
}

/// How the quantities of a family are written.
struct Family {
    /// As a refusal calls it.
    name: &'static str,
    /// What a person could write.
    example: &'static str,
    /// Its units, as a refusal lists them.
    known: &'static str,
    /// The unit that a value is held in; money keeps that of the text.
    base: Unit,
    /// Every unit, and how many of the base unit it is.
    units: &'static [(&'static str, f64)],
}

impl Kind {
    const fn family(self) -> Family {
        let (base, units): (_, &[_]) = match self {
            Self::Size => (Unit::Byte, &SIZES),
            Self::Duration => (Unit::Second, &TIMES),
            Self::Frequency => (Unit::Hertz, &FREQUENCIES),
            Self::Rate => (Unit::BitPerSecond, &RATES),
            Self::Operations => (Unit::OperationPerSecond, &OPERATIONS),
            Self::Throughput => (Unit::BytePerSecond, &THROUGHPUTS),
            Self::Share => (Unit::Share, &[("%", 0.01)]),
            Self::Count => (Unit::Count, &[("", 1.0)]),
            Self::Cpus => (Unit::Cpu, &[("CPU", 1.0), ("CPUs", 1.0), ("", 1.0)]),
            Self::Price => (Unit::Euro, &MONEY),
            Self::Noise => (Unit::DecibelA, &[("dB(A)", 1.0)]),
            Self::Mass => (Unit::Kilogram, &[("g", 1e-3), ("kg", 1.0)]),
            Self::Temperature => (Unit::Celsius, &[("°C", 1.0)]),
            Self::Energy => (Unit::Joule, &ENERGIES),
            Self::Power => (Unit::Watt, &POWERS),
        };
        let (name, example, known) = match self {
            Self::Size => ("size", "64 B or 256 KiB", "one of B, KiB, MiB, GiB, K, M, G"),
            Self::Duration => ("time", "300 ms or 2 s", "one of ns, us, ms, s, min, h"),
            Self::Frequency => ("frequency", "2.4 GHz", "one of Hz, kHz, MHz, GHz"),
            Self::Rate => {
                ("rate", "100 Mbit/s or 1 Gbit/s", "one of bit/s, kbit/s, Mbit/s, Gbit/s")
            }
            Self::Operations => {
                ("rate of operations", "500 op/s or 20 kop/s", "one of op/s, kop/s, Mop/s")
            }
            Self::Throughput => ("rate of bytes", "24.3 GB/s", "one of B/s, kB/s, MB/s, GB/s"),
            Self::Share => ("share", "2 %", "%"),
            Self::Count => ("count", "8", "nothing, as in 8"),
            Self::Cpus => ("CPU time", "0.5", "CPU or nothing, as in 0.5"),
            Self::Price => ("price", "1200 EUR", "one of EUR, USD, GBP, CHF, JPY"),
            Self::Noise => ("noise", "41 dB(A)", "dB(A)"),
            Self::Mass => ("mass", "2.3 kg", "one of g, kg"),
            Self::Temperature => ("temperature", "22 °C", "°C"),
            Self::Energy => ("energy", "3.6 MJ or 250 Wh", "one of mJ, J, kJ, MJ, GJ, Wh, kWh"),
            Self::Power => ("power", "187 W or 1.2 kW", "one of mW, W, kW, MW, GW"),
        };
        Family { name, example, known, base, units }
    }

    /// The unit that a value is held in; of money, euro.
    #[must_use]
    pub const fn base(self) -> Unit {
        self.family().base
    }

    /// Every unit that a value may be written with; an empty one where it may have none.
    pub fn units(self) -> impl Iterator<Item = &'static str> {
        self.family().units.iter().map(|(name, _)| *name)
    }
}

const SIZES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("K", 1024.0),
    ("KiB", 1024.0),
    ("M", 1_048_576.0),
    ("MiB", 1_048_576.0),
    ("G", 1_073_741_824.0),
    ("GiB", 1_073_741_824.0),
];
const TIMES: [(&str, f64); 7] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];
const FREQUENCIES: [(&str, f64); 4] = [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];
const RATES: [(&str, f64); 4] = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
const OPERATIONS: [(&str, f64); 3] = [("op/s", 1.0), ("kop/s", 1e3), ("Mop/s", 1e6)];
const THROUGHPUTS: [(&str, f64); 4] = [("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)];
const ENERGIES: [(&str, f64); 7] = [
    ("mJ", 1e-3),
    ("J", 1.0),
    ("kJ", 1e3),
    ("MJ", 1e6),
    ("GJ", 1e9),
    ("Wh", 3600.0),
    ("kWh", 3.6e6),
];
const POWERS: [(&str, f64); 5] = [("mW", 1e-3), ("W", 1.0), ("kW", 1e3), ("MW", 1e6), ("GW", 1e9)];
const MONEY: [(&str, f64); 5] =
    [("EUR", 1.0), ("USD", 1.0), ("GBP", 1.0), ("CHF", 1.0), ("JPY", 1.0)];

/// The currency of a text.
fn money(text: &str) -> Unit {
    match text {
        "USD" => Unit::Dollar,
        "GBP" => Unit::Pound,
        "CHF" => Unit::Franc,
        "JPY" => Unit::Yen,
        _ => Unit::Euro,
    }
}

/// Reads one quantity, for instance `256 KiB`.
///
/// # Errors
/// A text without a number, without a unit, or with a unit of another family.
pub fn parse(text: &str, kind: Kind) -> Result<Quantity, UnitError> {
    let (number, unit) = split(text, kind)?;
    let family = kind.family();
    let found = family.units.iter().find(|(name, _)| *name == unit);
    let Some((_, factor)) = found else {
        let text = text.trim().to_owned();
        return Err(if unit.is_empty() {
            UnitError::NoUnit(text, family.example)
        } else {
            let (family, known) = (family.name, family.known);
            UnitError::WrongUnit { text, unit: unit.into(), family, known }
        });
    };
    let value = number * factor;
    if !value.is_finite() {
        return Err(UnitError::NoNumber(text.trim().into(), family.example));
    }
    Ok(Quantity::new(value, if kind == Kind::Price { money(unit) } else { family.base }))
}

fn split(text: &str, kind: Kind) -> Result<(f64, &str), UnitError> {
    let text = text.trim();
    let sign = usize::from(kind == Kind::Temperature && text.starts_with('-'));
    let after = &text[sign..];
    let end = after.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(after.len()) + sign;
    let (digits, unit) = text.split_at(end);
    let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.ok_or_else(|| UnitError::NoNumber(text.into(), kind.family().example))?;
    Ok((number, unit.trim()))
}

/// Reads a sweep: `64..256K *2` (geometric), `1500 B..9000 B +2500 B` (arithmetic), or one
/// quantity.
///
/// The lower bound may leave out a unit only when the upper bound has one; it then counts in the
/// unprefixed unit of the family (`64..256K` starts at 64 B). The upper bound is a value of the
/// sweep when a step lands on it.
///
/// # Errors
/// A bad quantity, a sweep with no value in it, or one with more than 64 values.
pub fn parse_sweep(text: &str, kind: Kind) -> Result<Vec<Quantity>, UnitError> {
    let text = text.trim();
    let Some((low, rest)) = text.split_once("..") else {
        return Ok(vec![parse(text, kind)?]);
    };
    let at = rest.find(['*', '+']).ok_or(UnitError::EmptySweep(
        text.into(),
        "it has no step; end it with *2 or with +step",
    ))?;
    let (high, step) = rest.split_at(at);
    let high = parse(high, kind)?;
    let low = match split(low, kind)? {
        (number, "") => Quantity::new(number, kind.base()),
        _ => parse(low, kind)?,
    };
    if low.value > high.value {
        return Err(UnitError::EmptySweep(text.into(), "its lower bound is above its upper bound"));
    }
    let next: Box<dyn Fn(f64) -> f64> = if let Some(factor) = step.strip_prefix('*') {
        let factor = factor.trim().parse::<f64>().unwrap_or(0.0);
        if factor <= 1.0 || low.value <= 0.0 {
            return Err(UnitError::EmptySweep(text.into(), "its factor must be above 1, as in *2"));
        }
        Box::new(move |x| x * factor)
    } else {
        let step = parse(step.trim_start_matches('+'), kind)?.value;
        if step <= 0.0 {
            return Err(UnitError::EmptySweep(text.into(), "its step must be above 0"));
        }
        Box::new(move |x| x + step)
    };
    walk(text, low, high, next.as_ref())
}

fn walk(
    text: &str,
    low: Quantity,
    high: Quantity,
    next: &dyn Fn(f64) -> f64,
) -> Result<Vec<Quantity>, UnitError> {
    let mut values = Vec::new();
    let mut at = low.value;
    while at <= high.value * (1.0 + 1e-9) {
        if values.len() == 64 {
            return Err(UnitError::LongSweep(text.into()));
        }
        values.push(Quantity::new(at, low.unit));
        at = next(at);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sweep_has_thirteen_sizes() {
        let sizes = parse_sweep("64..256K *2", Kind::Size).unwrap();
        assert_eq!(sizes.len(), 13);
        assert_eq!(sizes[0], Quantity::bytes(64));
        assert_eq!(sizes[12], Quantity::bytes(262_144));
        assert_eq!(parse_sweep("1500 B..9000 B +2500 B", Kind::Size).unwrap().len(), 4);
    }

    #[test]
    fn a_count_has_no_unit() {
        let counts = parse_sweep("1..64 *2", Kind::Count).unwrap();
        assert_eq!(counts.len(), 7);
        assert_eq!(counts[6], Quantity::count(64));
        assert_eq!(
            parse("8 B", Kind::Count).unwrap_err().to_string(),
            "'B' in '8 B' is not a unit of count; write nothing, as in 8"
        );
    }

    #[test]
    fn what_a_person_enters_keeps_its_unit() {
        let cases = [
            ("1200 EUR", Kind::Price, "1200 EUR"),
            ("89.95 USD", Kind::Price, "90.0 USD"),
            ("41 dB(A)", Kind::Noise, "41 dB(A)"),
            ("310 g", Kind::Mass, "0.310 kg"),
            ("-5 °C", Kind::Temperature, "-5 °C"),
            ("250 Wh", Kind::Energy, "900 kJ"),
            ("1.2 kW", Kind::Power, "1.20 kW"),
        ];
        for (text, kind, shown) in cases {
            assert_eq!(parse(text, kind).unwrap().to_string(), shown);
        }
        for (text, kind, words) in [
            ("1200 DM", Kind::Price, "'DM' in '1200 DM' is not a unit of price; write one of EUR"),
            ("41", Kind::Noise, "'41' has no unit; write for instance 41 dB(A)"),
            ("187", Kind::Power, "'187' has no unit; write for instance 187 W or 1.2 kW"),
            ("3 W", Kind::Energy, "'W' in '3 W' is not a unit of energy; write one of mJ"),
            ("-3 kg", Kind::Mass, "'-3 kg' does not begin with a number; write for instance 2.3"),
        ] {
            let said = parse(text, kind).unwrap_err().to_string();
            assert!(said.starts_with(words), "{said}");
        }
    }

    #[test]
    fn a_refusal_names_the_value_and_the_remedy() {
        let cases = [
            (parse("64", Kind::Size), "'64' has no unit; write for instance 64 B or 256 KiB"),
            (
                parse("10 s", Kind::Size),
                "'s' in '10 s' is not a unit of size; write one of B, KiB, MiB, GiB, K, M, G",
            ),
            (
                parse("fast", Kind::Rate),
                "'fast' does not begin with a number; write for instance 100 Mbit/s or 1 Gbit/s",
            ),
        ];
        for (result, text) in cases {
            assert_eq!(result.unwrap_err().to_string(), text);
        }
        for text in ["256K..64 *2", "64..256K", "64..256K *1", "64..256K *x", "64..256 *2"] {
            assert!(parse_sweep(text, Kind::Size).is_err(), "{text}");
        }
        assert!(matches!(parse_sweep("1..1G +1 B", Kind::Size), Err(UnitError::LongSweep(_))));
    }
}
