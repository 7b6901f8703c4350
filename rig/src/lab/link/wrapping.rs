//! Knows what is around a packet on a link besides its own headers, by what the kernel says now.
//!
//! Never: sets it.

use super::error::LinkError;
use super::ipsec::Ipsec;
use super::routes::Routes;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What is around the packets of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapping {
    /// The tag of a VLAN (IEEE 802.1Q).
    pub vlan: bool,
    /// ESP with AES-GCM (RFC 4106), in transport mode.
    pub esp: bool,
}

impl Wrapping {
    /// That of the packets of a link's addresses, as this namespace has them.
    ///
    /// # Errors
    /// [`LinkError::NoSuchLink`]; what else the kernel says of its links.
    pub fn of(routes: &mut Routes, name: &str) -> Result<Self, LinkError> {
        let vlan = routes.vlan_link(name)?;
        let carrier = match &vlan {
            Some(link) => link.name.clone(),
            None => routes.carrier(name)?.name,
        };
        let own =
            routes.addresses(&carrier)?.into_iter().filter_map(|(address, _)| match address {
                IpAddr::V4(address) => Some(address),
                IpAddr::V6(_) => None,
            });
        let own: Vec<_> = own.collect();
        // A kernel without XFRM, or one that does not tell this user, has none of ours.
        let esp = Ipsec::open().and_then(|mut ipsec| ipsec.has_any(&own)).unwrap_or(false);
        Ok(Self { vlan: vlan.is_some(), esp })
    }

    /// Least and most bytes that this adds to a packet as an interface counts it. A driver counts a
    /// tag, or takes it off first. ESP has 8 B of header, 8 B of nonce, 16 B of check, and a
    /// trailer of 2 B behind up to 3 B of padding (RFC 4303 section 2).
    pub fn added(self) -> impl Iterator<Item = [u32; 2]> {
        let esp = if self.esp { [34, 37] } else { [0, 0] };
        let tags = [0, 4].into_iter().take(if self.vlan { 2 } else { 1 });
        tags.map(move |tag| esp.map(|bytes| bytes + tag))
    }
}
