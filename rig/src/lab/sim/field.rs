//! Knows how one value of a physics is written: a number with its unit, a word in its place.
//!
//! Must not know what it is of.

use desk::unit::{Kind, parse};
use serde::de::{Deserialize, Deserializer, Error as _};

/// A length of time, or all of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// The whole run.
    Run,
    /// Seconds.
    Seconds(f64),
}

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// This share of the run.
    Share(f64),
    /// Seconds from its beginning.
    Seconds(f64),
}

fn number<'d, D: Deserializer<'d>>(from: D, kind: Kind) -> Result<f64, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text, kind).map(|quantity| quantity.value).map_err(D::Error::custom)
}

pub(super) fn rate<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    number(from, Kind::Rate)
}

pub(super) fn bytes<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    number(from, Kind::Size)
}

pub(super) fn seconds<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    number(from, Kind::Duration)
}

pub(super) fn watts<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    number(from, Kind::Power)
}

/// A share from 0 to 1.
pub(super) fn of_share(text: &str) -> Result<f64, String> {
    let share = of_kind(text, Kind::Share)?;
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(format!("{} % is not a share; write 0 % to 100 %", share * 100.0))
}

pub(super) fn share<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    of_share(&String::deserialize(from)?).map_err(D::Error::custom)
}

pub(super) fn rate_or<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    rate(from).map(Some)
}

pub(super) fn bytes_or<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    bytes(from).map(Some)
}

pub(super) fn seconds_or<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    seconds(from).map(Some)
}

pub(super) fn share_or<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    share(from).map(Some)
}

/// A time, below 0 with a minus before it.
pub(super) fn signed_seconds<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    let text = String::deserialize(from)?;
    let (sign, rest) = text.strip_prefix('-').map_or((1.0, text.as_str()), |rest| (-1.0, rest));
    of_kind(rest, Kind::Duration).map(|value| sign * value).map_err(D::Error::custom)
}

/// What `none` is not.
fn unless<'d, D: Deserializer<'d>, T>(
    from: D,
    word: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(from)?;
    if text == word { Ok(None) } else { read(&text).map(Some).map_err(D::Error::custom) }
}

fn of_kind(text: &str, kind: Kind) -> Result<f64, String> {
    parse(text, kind).map(|quantity| quantity.value).map_err(|e| e.to_string())
}

/// Bytes per second: a size and `/s`.
fn byte_rate(text: &str) -> Result<f64, String> {
    let size = text.trim_end().strip_suffix("/s").and_then(|size| of_kind(size, Kind::Size).ok());
    size.filter(|rate| *rate > 0.0).ok_or_else(|| {
        format!("'{text}' is not a rate of bytes; write for instance 2 GiB/s, or none")
    })
}

pub(super) fn byte_rate_or_none<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    unless(from, "none", byte_rate)
}

/// Bytes per second, infinite for `none`.
pub(super) fn bus<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    byte_rate_or_none(from).map(|rate| rate.unwrap_or(f64::INFINITY))
}

pub(super) fn bus_or<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    bus(from).map(Some)
}

pub(super) fn rate_or_none<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    unless(from, "none", |text| of_kind(text, Kind::Rate))
}

pub(super) fn watts_or_none<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    unless(from, "none", |text| of_kind(text, Kind::Power))
}

pub(super) fn bytes_or_none<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    unless(from, "none", |text| of_kind(text, Kind::Size))
}

/// A time, or `never`.
pub(super) fn length_or_never<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    unless(from, "never", |text| of_kind(text, Kind::Duration))
}

/// A time, or `run`.
pub(super) fn length<'d, D: Deserializer<'d>>(from: D) -> Result<Span, D::Error> {
    let text = String::deserialize(from)?;
    if text == "run" {
        return Ok(Span::Run);
    }
    parse(&text, Kind::Duration).map(|q| Span::Seconds(q.value)).map_err(D::Error::custom)
}

/// A time, or a share of the run.
pub(super) fn moment<'d, D: Deserializer<'d>>(from: D) -> Result<At, D::Error> {
    let text = String::deserialize(from)?;
    let at = if text.contains('%') {
        parse(&text, Kind::Share).map(|q| At::Share(q.value))
    } else {
        parse(&text, Kind::Duration).map(|q| At::Seconds(q.value))
    };
    at.map_err(D::Error::custom)
}
