//! Knows how the addresses of a link move to a VLAN link on it, and back.
//!
//! Must not know which VLAN a trial wants.

use super::error::{LinkError, Task};
use super::info::LinkInfo;
use super::routes::{Routes, link_message};
use netlink_packet_core::{
    DecodeError, Emitable as _, NLM_F_CREATE, NLM_F_EXCL, NlasIterator, parse_u32,
};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVlan, LinkAttribute, LinkInfo as InfoPart,
};
use netlink_packet_route::route::{RouteHeader, RouteMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::Ipv4Addr;

/// A route by way of a neighbour: network, bits, neighbour.
pub(super) type Gateway = (Ipv4Addr, u8, Ipv4Addr);

impl Routes {
    /// The VLAN whose tag the frames of a link's addresses have; none where they have no tag.
    ///
    /// # Errors
    /// Those of [`Routes`].
    pub fn vlan(&mut self, name: &str) -> Result<Option<u16>, LinkError> {
        Ok(self.vlan_link(name)?.and_then(|link| link.vlan))
    }

    /// The VLAN link on a link.
    ///
    /// # Errors
    /// Those of [`Routes`].
    pub(super) fn vlan_link(&mut self, name: &str) -> Result<Option<LinkInfo>, LinkError> {
        let below = self.link(name)?.index;
        self.vlan_on(below)
    }

    /// Makes a VLAN link on a link and moves the link's IPv4 addresses and the routes over it
    /// there, or back; a VLAN link that it had goes.
    ///
    /// # Errors
    /// [`LinkError::NotSupported`] if the kernel has no VLAN; then nothing has moved.
    pub fn set_vlan(&mut self, name: &str, vlan: Option<u16>) -> Result<(), LinkError> {
        let below = self.link(name)?;
        let old = self.vlan_on(below.index)?;
        if old.as_ref().and_then(|link| link.vlan) == vlan {
            return Ok(());
        }
        let new = vlan.map(|vlan| self.add_vlan(&below, vlan)).transpose()?;
        let from = old.as_ref().unwrap_or(&below);
        let addresses = self.addresses(&from.name)?;
        // They go with the last address.
        let gateways = self.gateways(from)?;
        for (address, bits) in &addresses {
            if address.is_ipv4() {
                self.remove_address(&from.name, *address, *bits)?;
            }
        }
        if let Some(old) = &old {
            self.delete_link(&old.name)?;
        }
        let to = new.as_deref().unwrap_or(name);
        for (address, bits) in addresses {
            if address.is_ipv4() {
                self.add_address(to, address, bits)?;
            }
        }
        gateways
            .into_iter()
            .try_for_each(|(net, bits, via)| self.add_route(net.into(), bits, via.into()))
    }

    /// The VLAN link on the link of this index.
    fn vlan_on(&mut self, below: u32) -> Result<Option<LinkInfo>, LinkError> {
        Ok(self.links()?.into_iter().find(|link| link.tags(below)))
    }

    /// Makes a VLAN link, switched on, and gives its name.
    fn add_vlan(&mut self, below: &LinkInfo, vlan: u16) -> Result<String, LinkError> {
        let name = format!("v{}.{vlan}", below.index);
        let task = Task { op: "create a VLAN link on", name: &below.name };
        let message = vlan_message((&name, below.index), vlan);
        self.socket.request(task, message, NLM_F_CREATE | NLM_F_EXCL)?;
        self.set_up(&name, true)?;
        Ok(name)
    }

    /// The routes by way of a neighbour that leave by a link.
    pub(super) fn gateways(&mut self, link: &LinkInfo) -> Result<Vec<Gateway>, LinkError> {
        let task = Task { op: "list the routes over", name: &link.name };
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        let message = RouteNetlinkMessage::GetRoute(message);
        let bodies = self.socket.dump(task, &message)?;
        let read = bodies.iter().map(|body| gateway_of(body, link.index));
        let read: Result<Vec<_>, _> = read.collect();
        Ok(read.map_err(|e| task.garbled(&e))?.into_iter().flatten().collect())
    }
}

/// Asks for a VLAN link of this name on the link of this index.
pub(super) fn vlan_message((name, below): (&str, u32), vlan: u16) -> RouteNetlinkMessage {
    let data = InfoData::Vlan(vec![InfoVlan::Id(vlan)]);
    let attributes = vec![
        LinkAttribute::Link(below),
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::LinkInfo(vec![InfoPart::Kind(InfoKind::Vlan), InfoPart::Data(data)]),
    ];
    RouteNetlinkMessage::NewLink(link_message(0, attributes))
}

/// The route in the body of an `RTM_NEWROUTE` message, if it stands in the main table and leaves by
/// way of a neighbour over the link of this index.
pub(super) fn gateway_of(body: &[u8], index: u32) -> Result<Option<Gateway>, DecodeError> {
    let header = RouteHeader::parse(body)?;
    let (mut network, mut via, mut over) = (None, None, None);
    for nla in NlasIterator::new(body.get(header.buffer_len()..).unwrap_or_default()) {
        let nla = nla?;
        let address = || <[u8; 4]>::try_from(nla.value()).ok().map(Ipv4Addr::from);
        match nla.kind() {
            libc::RTA_DST => network = address(),
            libc::RTA_GATEWAY => via = address(),
            libc::RTA_OIF => over = Some(parse_u32(nla.value())?),
            _ => {}
        }
    }
    let ours = header.table == RouteHeader::RT_TABLE_MAIN && over == Some(index);
    let found = network.zip(via).filter(|_| ours);
    Ok(found.map(|(network, via)| (network, header.destination_prefix_length, via)))
}
