//! Knows the pair of value and unit that every number in a record is.
//!
//! Never: prefixes, layout of text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a [`Quantity`] is measured in. Values are held in this base unit, never with a prefix.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Unit {
    /// Bits per second of payload or of line, as the metric says.
    #[serde(rename = "bit/s")]
    BitPerSecond,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytePerSecond,
    /// Completed requests per second.
    #[serde(rename = "op/s")]
    OperationPerSecond,
    /// Packets (segments on the wire) per second.
    #[serde(rename = "packet/s")]
    PacketPerSecond,
    /// Bytes.
    #[serde(rename = "B")]
    Byte,
    /// Seconds.
    #[serde(rename = "s")]
    Second,
    /// Hertz.
    #[serde(rename = "Hz")]
    Hertz,
    /// A share of a whole, held as 0.0-1.0 and written in per cent.
    #[serde(rename = "share")]
    Share,
    /// A ratio of two like quantities, written with a multiplication sign.
    #[serde(rename = "ratio")]
    Ratio,
    /// CPUs kept busy: 1.0 is one CPU busy for the whole window.
    #[serde(rename = "CPU")]
    Cpu,
    /// The P/E index: Mbit/s for each per cent of all CPUs.
    #[serde(rename = "Mbit/s/%")]
    MegabitPerCpuPercent,
    /// The same of operations.
    #[serde(rename = "op/s/%")]
    OperationPerCpuPercent,
    /// The same of packets.
    #[serde(rename = "packet/s/%")]
    PacketPerCpuPercent,
    /// CPU seconds for each gigabyte (10^9 bytes) of payload.
    #[serde(rename = "s/GB")]
    SecondPerGigabyte,
    /// Service demand: CPU microseconds for each kilobyte (1,024 bytes) of payload.
    #[serde(rename = "us/KB")]
    MicrosecondPerKilobyte,
    /// Interrupts per second.
    #[serde(rename = "interrupt/s")]
    InterruptPerSecond,
    /// Joules.
    #[serde(rename = "J")]
    Joule,
    /// Watts.
    #[serde(rename = "W")]
    Watt,
    /// Euro, as a person entered it.
    #[serde(rename = "EUR")]
    Euro,
    /// US dollars.
    #[serde(rename = "USD")]
    Dollar,
    /// Pounds sterling.
    #[serde(rename = "GBP")]
    Pound,
    /// Swiss francs.
    #[serde(rename = "CHF")]
    Franc,
    /// Yen.
    #[serde(rename = "JPY")]
    Yen,
    /// Sound pressure level, A-weighted.
    #[serde(rename = "dB(A)")]
    DecibelA,
    /// Kilograms.
    #[serde(rename = "kg")]
    Kilogram,
    /// Degrees Celsius.
    #[serde(rename = "°C")]
    Celsius,
    /// A number of things.
    #[serde(rename = "count")]
    Count,
}

impl Unit {
    /// Whether its values are above 0 by nature and differ by factors: rates, times, sizes, ratios,
    /// energies. Their means and intervals are made of logarithms.
    #[must_use]
    pub const fn is_scaled(self) -> bool {
        matches!(
            self,
            Self::BitPerSecond
                | Self::BytePerSecond
                | Self::OperationPerSecond
                | Self::PacketPerSecond
                | Self::InterruptPerSecond
                | Self::Byte
                | Self::Second
                | Self::Hertz
                | Self::Ratio
                | Self::MegabitPerCpuPercent
                | Self::OperationPerCpuPercent
                | Self::PacketPerCpuPercent
                | Self::SecondPerGigabyte
                | Self::MicrosecondPerKilobyte
                | Self::Joule
                | Self::Watt
        )
    }

    /// Whether it is money.
    #[must_use]
    pub const fn is_money(self) -> bool {
        matches!(self, Self::Euro | Self::Dollar | Self::Pound | Self::Franc | Self::Yen)
    }
}

/// A number that never travels without its unit.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
pub struct Quantity {
    /// The value in the base unit, no prefix.
    pub value: f64,
    /// The base unit.
    pub unit: Unit,
}

impl Quantity {
    /// Pairs a value in the base unit with that unit.
    #[must_use]
    pub const fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit }
    }

    /// A size in bytes.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^53 bytes")]
    pub const fn bytes(bytes: u64) -> Self {
        Self::new(bytes as f64, Unit::Byte)
    }

    /// A duration in seconds.
    #[must_use]
    pub const fn seconds(seconds: f64) -> Self {
        Self::new(seconds, Unit::Second)
    }

    /// A number of things.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    pub const fn count(count: u64) -> Self {
        Self::new(count as f64, Unit::Count)
    }
}
