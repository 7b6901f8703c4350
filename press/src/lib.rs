//! The press: prints what the desk thought.
//!
//! Knows: figures, sentences, articles and their media.
//! Never: files, sockets, clocks, threads, unseeded chance, or the name of a workload.
//! Start reading at `report`; what it says is a `claim`.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod claim;
pub mod figure;
pub mod report;
