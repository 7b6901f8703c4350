//! Knows what an agent tells of its machine before a run: what it may do there, its adapters, and
//! what killed runs left.
//!
//! Must not know how it finds out, nor what follows for a run.

use crate::lab::capability::Capability;
use desk::record::Adapter;
use serde::{Deserialize, Serialize};

/// A machine, looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Examined {
    /// Version of the agent.
    pub version: String,
    /// Effective user of the agent.
    pub user: u32,
    /// Kinds of place, what can be done and seen, and the factors of the machine.
    pub capabilities: Vec<Capability>,
    /// Adapters over which the conductor speaks with it: each with an address of the connection,
    /// and those that it stands on.
    pub control: Vec<String>,
    /// The adapters that it was asked for, in that order.
    pub adapters: Vec<NamedAdapter>,
    /// What killed runs left, in words.
    pub left: Vec<String>,
}

/// An adapter by a name or a bus address, as a lab file writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedAdapter {
    /// As written.
    pub written: String,
    /// What it is; none where the machine has none.
    pub found: Option<Adapter>,
    /// Whether it is switched on. A run switches it on; without that nothing is known of its line.
    pub up: bool,
    /// Why it cannot be lent to a host; none where it can.
    pub refused: Option<String>,
    /// Factors of links that its driver does not have; none where the kernel does not tell the user
    /// of the agent.
    pub lacking: Option<Vec<String>>,
}
