//! The rig: the half of stend that touches the world and writes down facts.
//!
//! Knows: the lab, factors, probes, the agent of a machine and the conductor.
//! Never: which workloads there are, what a figure means or how it is shown.
//! Start reading at `run`.
#![deny(missing_docs)]

pub mod block;
pub mod factor;
pub mod keeper;
pub mod lab;
pub mod metal;
pub mod probe;
pub mod run;
pub mod service;
pub mod store;
pub mod workload;
