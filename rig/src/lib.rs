//! The rig: the half of stend that touches the world and writes down facts.
#![deny(missing_docs)]

pub mod lab;
