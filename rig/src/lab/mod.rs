//! Knows the place where things are measured: hosts, links, their control, the machine itself.
//!
//! Gives: [`Lab`], [`Host`](host::Host), link and offload access, the machine's inventory.
//! Never: what is measured, and which factor means what.
//! Start reading at `topology.rs`.

pub mod agent;
pub mod capability;
mod cgroup;
pub mod clock;
pub mod cpus;
pub mod environment;
mod error;
pub mod ethtool;
pub mod host;
pub mod ia32cap;
pub mod link;
mod namespace;
mod ours;
pub mod quota;
pub mod sim;
mod topology;
pub mod undo;
pub mod wire;

pub use cgroup::HostGroup;
pub use error::LabError;
pub use ours::Ours;
pub use topology::{Blueprint, EndRole, Lab, LinkEnd, SUT, Wanted};
