//! Knows how a physics is written: strict TOML over the built-in one, every number with its unit.
//!
//! Must not know what the numbers do.

use super::physics::{At, Physics, Span};
use desk::unit::{Kind, parse};
use serde::de::{Deserialize, Deserializer, Error as _};
use thiserror::Error;
use toml::Table;

/// The built-in physics.
const DEFAULT: &str = include_str!("default.toml");

/// Why a physics cannot be used.
#[derive(Debug, Error)]
pub enum SimError {
    /// It is no TOML, has an unknown key, or a value that is none.
    #[error("{0}; the built-in physics in rig/src/lab/sim/default.toml has every key")]
    Toml(#[from] Box<toml::de::Error>),
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

fn check(physics: &Physics) -> Result<(), SimError> {
    let Physics { machine, cost, clients, noise, link, .. } = physics;
    let rows: [(&str, f64, bool, &'static str); 9] = [
        ("machine.cores", machine.cores.into(), (1..=1024).contains(&machine.cores), "1 to 1024"),
        ("link.line_rate", link.line_rate, link.line_rate > 0.0, "above 0"),
        ("link.mtu", link.mtu, (576.0..=65535.0).contains(&link.mtu), "576 B to 65535 B"),
        ("cost.byte", cost.byte, cost.byte > 0.0, "above 0"),
        ("cost.beyond_cache", cost.beyond_cache, cost.beyond_cache >= 1.0, "1 or more"),
        ("clients.cpu", clients.cpu, clients.cpu > 0.0 && clients.cpu <= 1.0, "1 % to 100 %"),
        ("noise.ar", noise.ar, noise.ar.abs() < 1.0, "between -1 and 1"),
        ("noise.outliers.size", noise.outliers.size, noise.outliers.size < 1.0, "below 100 %"),
        ("noise.slow.size", noise.slow.size, noise.slow.size < 1.0, "below 100 %"),
    ];
    for (key, value, good, remedy) in rows {
        if !good {
            return Err(SimError::Value { key: key.into(), value, remedy });
        }
    }
    for (factor, levels) in &physics.effects {
        let bad = levels.iter().find(|(_, value)| **value <= 0.0 || !value.is_finite());
        if let Some((level, value)) = bad {
            let key = format!("effects.{factor}.{level}");
            return Err(SimError::Value { key, value: *value, remedy: "above 0" });
        }
    }
    match physics.faults.iter().position(|f| f.trial.is_some() == f.share.is_some()) {
        Some(at) => Err(SimError::Where(at + 1)),
        None => Ok(()),
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
