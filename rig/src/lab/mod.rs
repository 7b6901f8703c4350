//! Knows the place where things are measured: hosts, links, their control, the machine itself.
//!
//! Gives: [`Lab`], [`machine::Machine`], [`Standing`], link and offload access, the inventory.
//! Never: what is measured, and which factor means what.
//! Start reading at `topology.rs`.

pub(crate) mod adapter;
pub mod adapter_file;
mod addresses;
pub mod agent;
mod cables;
pub mod capability;
mod cgroup;
pub mod clock;
pub mod cpus;
pub mod environment;
mod error;
pub mod ethtool;
pub mod external_box;
pub mod filter;
#[cfg(feature = "machines")]
pub mod guest;
mod host;
pub mod ia32cap;
pub mod link;
pub(crate) mod logs;
pub mod machine;
mod machines;
pub mod messages;
pub(crate) mod namespace;
mod ours;
pub mod own;
mod packets;
pub mod quota;
pub mod relay;
pub mod sim;
mod standing;
mod topology;
#[cfg(feature = "machines")]
pub mod trust;
pub mod undo;
mod urgent;
pub mod version;
pub mod wire;

pub use adapter::{Away, Loan, is_benchmark};
pub use addresses::{BEHIND, IpVersion};
pub use cables::{by_host, second_cable};
pub use cgroup::HostGroup;
pub use error::LabError;
pub use host::HostProcess;
pub use machines::{
    SWITCH, names as machine_names, refuse_adapters, refuse_names, wanted_adapters,
};
pub use ours::Ours;
pub use standing::{SUT, Standing};
pub use topology::{Blueprint, EndRole, Lab, LinkEnd, Wanted};
pub use urgent::Urgent;
