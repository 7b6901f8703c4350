//! Knows how a physics is written: strict TOML over the built-in one, every number with its unit.
//!
//! Must not know what the numbers do.

use super::check::check;
use super::keys;
use super::physics::Physics;
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
