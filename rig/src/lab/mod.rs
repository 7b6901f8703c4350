//! The lab: the machines and links that a measurement runs on.
//!
//! Knows: what a machine is, and how its adapters are asked and set.
//! Gives: [`environment::observe`] (what the machine was), [`ethtool::Ethtool`] (an adapter's
//! features, queues and speed).
//! Never: what is measured on them, or which setting is better.
//! Start reading at `environment`.

pub mod environment;
pub mod ethtool;
