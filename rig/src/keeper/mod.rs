//! Knows the agent of a machine: it carries out the orders of a conductor, and undoes all when that
//! is gone.
//!
//! Gives: [`serve`] over a transport, [`here`] for a machine that is this one.
//! Never: which trial is visited, or what a figure is worth.
//! Start reading at `serve.rs`.

mod examine;
mod orders;
mod serve;
mod stolen;
mod watch;

#[cfg(feature = "machines")]
pub use serve::listen;
pub use serve::{Visit, here, serve};

use std::fmt;

/// Why a wait ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The conductor is gone.
    Conductor,
    /// The process of this host is gone.
    Host(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conductor => f.write_str("the conductor is gone"),
            Self::Host(host) => write!(f, "host '{host}' is gone: its process ended"),
        }
    }
}
