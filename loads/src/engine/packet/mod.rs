//! Knows what loads of raw frames are made on.
//!
//! Gives: [`bpf`], programs and maps of the kernel's virtual machine; [`live`], frames that the
//! kernel sends without a copy, and the end that counts them.
//! Never: a workload, a host or a window.
//! Start reading at `live/mod.rs`.

pub mod bpf;
pub mod live;
