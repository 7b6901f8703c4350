//! Knows what several workloads are made on.
//!
//! Gives: [`alone`], the harness of loads of one machine.
//! Never: a workload.
//! Start reading at `alone/mod.rs`.

pub mod alone;
