//! The loads: what is put on the laboratory.
//!
//! Knows: one folder a workload, and what they share.
//! Never: which trial comes next, what is set on the machine, or what a figure means.
//! Start reading at `workload`.
#![deny(missing_docs)]

pub mod dataset;
pub mod engine;
pub mod workload;

pub use workload::{
    ALL, find, fio_of_run, is_block_of_ours, length_of_page, overwrites, plan_of_fio,
};
