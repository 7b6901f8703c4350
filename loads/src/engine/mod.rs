//! Knows what several workloads are made on.
//!
//! Gives: [`access`], accesses as IOmeter lists them; [`alone`], the harness of loads of one
//! machine; [`net`], that of loads between hosts; [`exchange`], loads of requests and responses on
//! it; [`file`], files without a name; [`http`], responses of HTTP as bytes; [`pace`], moments at
//! which work is due; [`packet`], frames, what a box does with them, and testers of boxes;
//! [`pipe`], pipes that move bytes without a copy; [`ring`], how an `io_uring`
//! is opened; [`times`], how response times are told.
//! Never: a workload.
//! Start reading at `alone/mod.rs`.

pub mod access;
pub mod alone;
pub mod exchange;
pub mod file;
pub mod http;
pub mod net;
pub mod pace;
pub mod packet;
pub mod pipe;
pub mod ring;
pub mod times;
