//! Knows the ground the trials stand on: hosts, network namespaces and the links between them.
//!
//! Gives: [`link`], the interfaces of a namespace and what shapes them.
//! Never: what is measured over it, or what a measurement means.
//! Start reading at `link/mod.rs`.

pub mod link;
