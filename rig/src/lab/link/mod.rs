//! Knows how the kernel is asked, over rtnetlink, to make, change and describe network links.
//!
//! Gives: [`Routes`] (one socket, blocking), [`LinkInfo`], [`Tbf`], [`Shaper`], [`Ipsec`],
//! [`Bonding`], [`LinkError`].
//! Never: which links a lab needs, how a namespace is entered, offloads and rings (ethtool).
//! Start reading at `routes.rs`.

mod bond;
mod error;
mod info;
mod ipsec;
mod kinds;
mod neighbours;
mod routes;
mod socket;
mod tbf;
#[cfg(test)]
mod tests;
mod vlan;
mod wrapping;

pub use bond::{Bonded, Bonding, lacks_bonds};
pub use error::LinkError;
pub use info::{Counters, LinkInfo};
pub use ipsec::{Cipher, Ipsec, Protection, SECRET, cannot_protect};
pub use kinds::lacking;
pub use routes::Routes;
pub use tbf::{Shaper, Tbf};
pub use wrapping::Wrapping;
