//! The rig: the half of stend that touches the world and writes down facts.
//!
//! Knows: the lab, factors, probes, workloads and the conductor.
//! Never: what a figure means or how it is shown; that is the desk's.
//! Start reading at `run`.
#![deny(missing_docs)]

pub mod factor;
pub mod lab;
pub mod metal;
pub mod probe;
pub mod run;
pub mod store;
pub mod workload;
