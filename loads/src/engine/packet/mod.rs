//! Knows what a network box does with a packet: which rule of a list matches it, and where it goes.
//!
//! Gives: [`tuple`], the fields that packets are told apart by; [`rules`], lists of rules, read,
//! generated and searched one by one; [`traffic`], packets for a list of rules, and what they hit;
//! [`acl`], the first rule that matches many packets at once; [`routes`], tables of routes;
//! [`lpm`], the longest prefix of many destinations at once.
//! Never: where packets come from, what a workload asks, or a clock.
//! Start reading at `rules/mod.rs`.

pub mod acl;
mod chance;
pub mod lpm;
#[cfg(test)]
mod lpm_tests;
pub mod routes;
pub mod rules;
pub mod traffic;
pub mod tuple;
