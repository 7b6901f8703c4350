//! Knows by which neighbour a target is reached, and a neighbour's hardware address, as the kernel
//! has both.
//!
//! Must not know what is sent there.

use super::error::{LinkError, Task};
use super::routes::{Routes, family, route_address};
use netlink_packet_core::{DecodeError, Emitable as _, NlasIterator, parse_u16, parse_u32};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::NeighbourMessage;
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage};
use std::net::IpAddr;

/// Bytes of `struct ndmsg` (`linux/neighbour.h`).
const NDMSG: usize = 12;
/// A neighbour that has not answered, or no more.
const UNKNOWN: u16 = libc::NUD_INCOMPLETE | libc::NUD_FAILED;

impl Routes {
    /// The neighbour that packets for a target are handed to by a link: a router, or the target.
    /// None where the kernel sends them by another link.
    ///
    /// # Errors
    /// [`LinkError::Kernel`] with `ENETUNREACH` where there is no route.
    pub fn next_hop(&mut self, name: &str, target: IpAddr) -> Result<Option<IpAddr>, LinkError> {
        let index = self.link(name)?.index;
        let text = target.to_string();
        let task = Task { op: "find the route to", name: &text };
        let mut message = RouteMessage::default();
        message.header.address_family = family(target);
        message.header.destination_prefix_length = if target.is_ipv6() { 128 } else { 32 };
        message.attributes = vec![RouteAttribute::Destination(route_address(target))];
        let bodies = self.socket.request(task, RouteNetlinkMessage::GetRoute(message), 0)?;
        let body = bodies.first().ok_or_else(|| task.garbled(&"no answer".into()))?;
        let (over, via) = hop_of(body).map_err(|e| task.garbled(&e))?;
        Ok((over == Some(index)).then_some(via.unwrap_or(target)))
    }

    /// The hardware address of a neighbour on a link, once the kernel knows it.
    ///
    /// # Errors
    /// [`LinkError::Garbled`] if an answer cannot be read.
    pub fn neighbour(&mut self, name: &str, of: IpAddr) -> Result<Option<[u8; 6]>, LinkError> {
        let index = self.link(name)?.index;
        let task = Task { op: "list the neighbours on", name };
        let mut message = NeighbourMessage::default();
        message.header.family = family(of);
        for body in self.socket.dump(task, &RouteNetlinkMessage::GetNeighbour(message))? {
            let found = neighbour_of(&body, (index, of)).map_err(|e| task.garbled(&e))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

/// The link and the router of the body of an `RTM_NEWROUTE` message.
fn hop_of(body: &[u8]) -> Result<(Option<u32>, Option<IpAddr>), DecodeError> {
    let length = RouteHeader::default().buffer_len();
    let short = || DecodeError::invalid_buffer("rtmsg", body.len(), length);
    let (mut over, mut via) = (None, None);
    for nla in NlasIterator::new(body.get(length..).ok_or_else(short)?) {
        let nla = nla?;
        match nla.kind() {
            libc::RTA_GATEWAY => via = address(nla.value()),
            libc::RTA_OIF => over = Some(parse_u32(nla.value())?),
            _ => {}
        }
    }
    Ok((over, via))
}

/// The hardware address in the body of an `RTM_NEWNEIGH` message, if it is that of this neighbour
/// on the link of this index and the kernel has had an answer of it.
fn neighbour_of(body: &[u8], of: (u32, IpAddr)) -> Result<Option<[u8; 6]>, DecodeError> {
    let short = || DecodeError::invalid_buffer("ndmsg", body.len(), NDMSG);
    let (head, rest) = body.split_at_checked(NDMSG).ok_or_else(short)?;
    let (index, state) = (parse_u32(&head[4..8])?, parse_u16(&head[8..10])?);
    let (mut whose, mut hardware) = (None, None);
    for nla in NlasIterator::new(rest) {
        let nla = nla?;
        match nla.kind() {
            libc::NDA_DST => whose = address(nla.value()),
            libc::NDA_LLADDR => hardware = nla.value().try_into().ok(),
            _ => {}
        }
    }
    let known = state & UNKNOWN == 0 && whose.map(|whose| (index, whose)) == Some(of);
    Ok(hardware.filter(|_| known))
}
