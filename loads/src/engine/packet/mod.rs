//! Knows what a network box does with a packet, and how frames are sent through one and counted.
//!
//! Gives: [`tuple`], the fields that packets are told apart by; [`rules`], lists of rules, read,
//! generated and searched one by one; [`traffic`], packets for a list of rules, and what they hit;
//! [`acl`], the first rule that matches many packets at once; [`routes`], tables of routes;
//! [`lpm`], the longest prefix of many destinations at once; [`frame`] and [`frames`], frames in
//! memory; [`capture`], lengths and flows of captured frames; [`source_file`], what tells the
//! content of a file; [`flows`], flows that meet rules and routes; [`nat`], [`police`], [`queues`]
//! and [`bridge`], services; [`sessions`], those of subscribers; [`device`], the box that is made
//! of them; [`wanted`], the services that a load asks for; [`line`], a core with one;
//! [`reference`], the same in the plainest way; [`ring`], a device in simulated time; [`ledger`],
//! what became of frames; [`bpf`], programs and maps of the kernel's virtual machine; [`live`],
//! frames that the kernel sends without a copy, and the end that counts them.
//! Never: a workload, a host or a window.
//! Start reading at `device.rs`, then `live/mod.rs`.

pub mod acl;
pub mod bpf;
pub mod bridge;
pub mod capture;
mod chance;
pub mod device;
pub mod flows;
pub mod frame;
pub mod frames;
pub mod ledger;
pub mod line;
pub mod live;
pub mod lpm;
#[cfg(test)]
mod lpm_tests;
mod memory;
pub mod nat;
pub mod police;
pub mod queues;
pub mod reference;
pub mod ring;
pub mod routes;
pub mod rules;
pub mod sessions;
pub mod source_file;
pub mod subscribers;
#[cfg(test)]
mod tests;
pub mod traffic;
pub mod tuple;
pub mod wanted;
