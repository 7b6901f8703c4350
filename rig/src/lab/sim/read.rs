//! Knows how a physics is written: strict TOML over the built-in one, every number with its unit.
//!
//! Must not know what the numbers do.

use super::check::check;
use super::keys;
use super::physics::{At, Physics, Span};
use super::resource::Resource;
use desk::unit::{Kind, parse};
use serde::de::{Deserialize, Deserializer, Error as _};
use std::collections::BTreeMap;
use thiserror::Error;
use toml::Table;

/// The built-in physics.
pub(super) const DEFAULT: &str = include_str!("default.toml");

/// Why a physics cannot be used.
#[derive(Debug, Error)]
pub enum SimError {
    /// It is no TOML, has an unknown key, or a value that is none.
    #[error("{0}; the built-in physics in rig/src/lab/sim/default.toml has every key")]
    Toml(#[from] Box<toml::de::Error>),
    /// A key that no physics has.
    #[error("line {line}: unknown key '{key}'; {remedy}")]
    UnknownKey {
        /// Where, from 1.
        line: u32,
        /// As written, with the tables around it.
        key: String,
        /// The nearest that is known, or all.
        remedy: String,
    },
    /// A value that cannot be.
    #[error("{key} is {value}; it must be {remedy}")]
    Value {
        /// Where.
        key: String,
        /// As written.
        value: f64,
        /// What may be.
        remedy: &'static str,
    },
    /// Shares without the rule that uses them, or the rule without shares.
    #[error("{0}")]
    Shares(String),
    /// A planted fault that hits nothing, or two things at once.
    #[error("planted fault {0} needs either trial or share; give one of them")]
    Where(usize),
}

impl Physics {
    /// The built-in physics.
    ///
    /// # Errors
    /// None that a test of stend would not have found.
    pub fn built_in() -> Result<Self, SimError> {
        Self::read("")
    }

    /// The built-in physics with what this text writes over it.
    ///
    /// # Errors
    /// An unknown key, a number without its unit, a value that cannot be.
    pub fn read(text: &str) -> Result<Self, SimError> {
        let mut all: Table = toml::from_str(DEFAULT).map_err(Box::new)?;
        let own: Table = toml::from_str(text).map_err(Box::new)?;
        keys::check(text)?;
        lay(&mut all, own);
        let physics: Self = all.try_into().map_err(Box::new)?;
        check(&physics)?;
        Ok(physics)
    }
}

/// Lays one table over another, table by table.
fn lay(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(there)), toml::Value::Table(here)) => lay(there, here),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
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

/// A share from 0 to 1.
pub(super) fn share<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    let share = number(from, Kind::Share)?;
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(D::Error::custom(format!("{} % is not a share; write 0 % to 100 %", share * 100.0)))
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

pub(super) fn bytes_or_none<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    unless(from, "none", |text| of_kind(text, Kind::Size))
}

/// A time, or `never`.
pub(super) fn length_or_never<'d, D: Deserializer<'d>>(from: D) -> Result<Option<f64>, D::Error> {
    unless(from, "never", |text| of_kind(text, Kind::Duration))
}

/// A share for each of some resources.
pub(super) fn shares<'d, D: Deserializer<'d>>(
    from: D,
) -> Result<BTreeMap<Resource, f64>, D::Error> {
    let texts = BTreeMap::<Resource, String>::deserialize(from)?;
    let share = |(resource, text): (Resource, String)| {
        let share = of_kind(&text, Kind::Share).map_err(D::Error::custom)?;
        if (0.0..=1.0).contains(&share) {
            return Ok((resource, share));
        }
        Err(D::Error::custom(format!("{} % is not a share; write 0 % to 100 %", share * 100.0)))
    };
    texts.into_iter().map(share).collect()
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
