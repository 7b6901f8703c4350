//! Knows the operations on links; knows nothing of shaping (`tbf.rs`) and of framing (`socket.rs`).

use super::bond::is_bond;
use super::error::{LinkError, Task};
use super::info::LinkInfo;
use super::socket::KernelSocket;
use netlink_packet_core::{
    DecodeError, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NlasIterator, parse_u32,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoMacVlan, InfoVeth, LinkAttribute, LinkFlags, LinkInfo as InfoPart,
    LinkMessage, MacVlanMode,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};

/// One `NETLINK_ROUTE` socket; every call blocks until the kernel has answered.
///
/// It acts in the network namespace that the calling thread was in at [`Routes::open`], and stays
/// there even if the thread moves on. Every call but `open` and the readings needs
/// `CAP_NET_ADMIN` there and gives [`LinkError::PermissionDenied`] without it; every call that
/// names a link gives [`LinkError::NoSuchLink`] if it is absent.
pub struct Routes {
    pub(super) socket: KernelSocket,
}

impl Routes {
    /// Opens the socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`LinkError::Socket`] if the process has no file descriptor left or may not use netlink.
    pub fn open() -> Result<Self, LinkError> {
        let task = Task { op: "open", name: "NETLINK_ROUTE" };
        let socket = KernelSocket::open(NETLINK_ROUTE).map_err(|e| task.socket_failed(&e))?;
        Ok(Self { socket })
    }

    /// Describes every link of the namespace, in the order of the kernel (by index).
    ///
    /// # Errors
    /// [`LinkError::Garbled`] if an answer cannot be read.
    pub fn links(&mut self) -> Result<Vec<LinkInfo>, LinkError> {
        let task = Task { op: "list", name: "all links" };
        let message = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let bodies = self.socket.dump(task, &message)?;
        bodies.iter().map(|b| LinkInfo::decode(b).map_err(|e| task.garbled(&e))).collect()
    }

    /// Describes one link.
    ///
    /// # Errors
    /// [`LinkError::NoSuchLink`] if the namespace has none of that name.
    pub fn link(&mut self, name: &str) -> Result<LinkInfo, LinkError> {
        // A name that no link can have would be refused as a bad value, not as an absent link.
        check_name(name).map_err(|_| LinkError::NoSuchLink(name.to_owned()))?;
        let task = Task { op: "read", name };
        let message = link_message(0, vec![LinkAttribute::IfName(name.to_owned())]);
        let bodies = self.socket.request(task, RouteNetlinkMessage::GetLink(message), 0)?;
        let body = bodies.first().ok_or_else(|| task.garbled(&"no answer".into()))?;
        LinkInfo::decode(body).map_err(|e| task.garbled(&e))
    }

    /// Makes an Ethernet bridge, switched off, without ports.
    ///
    /// # Errors
    /// [`LinkError::Kernel`] with `EEXIST` if the name is taken; [`LinkError::NotSupported`] if
    /// the kernel has no bridges; [`LinkError::BadName`].
    pub fn add_bridge(&mut self, name: &str) -> Result<(), LinkError> {
        check_name(name)?;
        let kind = vec![InfoPart::Kind(InfoKind::Bridge)];
        self.create(Task { op: "create bridge", name }, kind)
    }

    /// Makes a pair of virtual Ethernet ends, both switched off: `name` here, and `peer_name`
    /// directly in the network namespace of the process (or thread) `peer_pid`.
    ///
    /// # Errors
    /// As [`Routes::add_bridge`], and `ESRCH` if there is no such process.
    pub fn add_veth(
        &mut self,
        name: &str,
        peer_name: &str,
        peer_pid: u32,
    ) -> Result<(), LinkError> {
        check_name(name)?;
        check_name(peer_name)?;
        let peer =
            vec![LinkAttribute::IfName(peer_name.to_owned()), LinkAttribute::NetNsPid(peer_pid)];
        let peer = InfoData::Veth(InfoVeth::Peer(link_message(0, peer)));
        let pair = vec![InfoPart::Kind(InfoKind::Veth), InfoPart::Data(peer)];
        self.create(Task { op: "create veth", name }, pair)
    }

    /// Switches a link on or off.
    ///
    /// # Errors
    /// Those of [`Routes`].
    pub fn set_up(&mut self, name: &str, up: bool) -> Result<(), LinkError> {
        let mut message = link_message(self.link(name)?.index, Vec::new());
        message.header.change_mask = LinkFlags::Up;
        if up {
            message.header.flags = LinkFlags::Up;
        }
        let op = if up { "switch on" } else { "switch off" };
        self.change(Task { op, name }, message)
    }

    /// Sets the largest payload of a frame, bytes, on a link and on the VLAN links on it; of a port
    /// of a bond on all of the bond.
    ///
    /// # Errors
    /// [`LinkError::Kernel`] with `EINVAL` outside the `min_mtu` and `max_mtu` of the link.
    pub fn set_mtu(&mut self, name: &str, mtu: u32) -> Result<(), LinkError> {
        let LinkInfo { index, master, .. } = self.link(name)?;
        // The kernel lowers the MTU of a VLAN link with that below it, and never raises it.
        let is_above = |l: &LinkInfo| l.tags(index) || (is_bond(l) && master == Some(l.index));
        let above = self.links()?.into_iter().filter(is_above);
        for index in [index].into_iter().chain(above.map(|link| link.index)) {
            let message = link_message(index, vec![LinkAttribute::Mtu(mtu)]);
            self.change(Task { op: "set the MTU of", name }, message)?;
        }
        Ok(())
    }

    /// Makes a link a port of a bridge, out of the one it was in before.
    ///
    /// # Errors
    /// [`LinkError::NoSuchLink`] for either; `ELOOP` if the link is a bridge itself.
    pub fn set_master(&mut self, name: &str, bridge: &str) -> Result<(), LinkError> {
        let index = self.link(name)?.index;
        let master = self.link(bridge)?.index;
        let message = link_message(index, vec![LinkAttribute::Controller(master)]);
        self.change(Task { op: "set the bridge of", name }, message)
    }

    /// Gives a link an address in a network of `prefix` bits (0 to 32, or to 128). One of IPv6 is
    /// not looked for on the link first (RFC 4862, 5.4), and may be there already.
    ///
    /// # Errors
    /// [`LinkError::Kernel`] with `EEXIST` if it has the address of IPv4, `EINVAL` for a prefix
    /// that is too long, `EACCES` where the link has no IPv6.
    pub fn add_address(
        &mut self,
        name: &str,
        address: IpAddr,
        prefix: u8,
    ) -> Result<(), LinkError> {
        let message = RouteNetlinkMessage::NewAddress(self.address_message(name, address, prefix)?);
        let task = Task { op: "add an address to", name };
        self.socket.request(task, message, NLM_F_CREATE | if_there(address)).map(drop)
    }

    /// The addresses of a link, each with the bits of its network, in the order of the kernel.
    ///
    /// # Errors
    /// [`LinkError::Garbled`] if an answer cannot be read.
    pub fn addresses(&mut self, name: &str) -> Result<Vec<(IpAddr, u8)>, LinkError> {
        let index = self.link(name)?.index;
        let task = Task { op: "list the addresses of", name };
        let message = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        let mut found = Vec::new();
        for body in self.socket.dump(task, &message)? {
            let read = address_of(&body, index).map_err(|e| task.garbled(&e))?;
            found.extend(read);
        }
        Ok(found)
    }

    /// Takes an address from a link.
    ///
    /// # Errors
    /// [`LinkError::Kernel`] with `EADDRNOTAVAIL` if it does not have it.
    pub fn remove_address(
        &mut self,
        name: &str,
        address: IpAddr,
        prefix: u8,
    ) -> Result<(), LinkError> {
        let message = self.address_message(name, address, prefix)?;
        let message = RouteNetlinkMessage::DelAddress(message);
        self.socket.request(Task { op: "remove an address from", name }, message, 0).map(drop)
    }

    fn address_message(
        &mut self,
        name: &str,
        address: IpAddr,
        prefix: u8,
    ) -> Result<AddressMessage, LinkError> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = prefix;
        message.header.index = self.link(name)?.index;
        if address.is_ipv6() {
            message.header.flags = AddressHeaderFlags::Nodad;
        }
        message.attributes =
            vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        Ok(message)
    }

    /// Makes a link on another one, in the namespace of the process `pid`, with an address of its
    /// own; links on the same one reach each other.
    ///
    /// # Errors
    /// [`LinkError::NotSupported`] if the kernel has no macvlan; `EBUSY` if `parent` is a port of a
    /// bridge.
    pub fn add_macvlan(&mut self, parent: &str, name: &str, pid: u32) -> Result<(), LinkError> {
        check_name(name)?;
        let task = Task { op: "create macvlan on", name: parent };
        let below = self.link(parent)?.index;
        let mode = InfoData::MacVlan(vec![InfoMacVlan::Mode(MacVlanMode::Bridge)]);
        let parts = vec![InfoPart::Kind(InfoKind::MacVlan), InfoPart::Data(mode)];
        let attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Link(below),
            LinkAttribute::NetNsPid(pid),
            LinkAttribute::LinkInfo(parts),
        ];
        let message = RouteNetlinkMessage::NewLink(link_message(0, attributes));
        self.socket.request(task, message, NLM_F_CREATE | NLM_F_EXCL).map(drop)
    }

    /// Moves a link to the network namespace of a file, and gives it a name there.
    ///
    /// # Errors
    /// `EEXIST` if the name is taken there, `EINVAL` if the link cannot be moved.
    pub fn move_to(&mut self, name: &str, (file, there): (&str, &str)) -> Result<(), LinkError> {
        let task = Task { op: "move", name };
        let file = std::fs::File::open(file).map_err(|e| task.socket_failed(&e))?;
        self.move_to_descriptor(name, (file.as_fd(), there))
    }

    /// As [`Self::move_to`], of a namespace that is open.
    ///
    /// # Errors
    /// Those of [`Self::move_to`].
    pub fn move_to_descriptor(
        &mut self,
        name: &str,
        (namespace, there): (BorrowedFd<'_>, &str),
    ) -> Result<(), LinkError> {
        check_name(there)?;
        let task = Task { op: "move", name };
        // Only what is switched off can be renamed (kernels before 6.2).
        self.set_up(name, false)?;
        let attributes = vec![
            LinkAttribute::NetNsFd(namespace.as_raw_fd()),
            LinkAttribute::IfName(there.to_owned()),
        ];
        let message = link_message(self.link(name)?.index, attributes);
        self.change(task, message)
    }

    /// Gives a link another name.
    ///
    /// # Errors
    /// `EEXIST` if it is taken.
    pub fn rename(&mut self, name: &str, to: &str) -> Result<(), LinkError> {
        check_name(to)?;
        self.set_up(name, false)?;
        let attributes = vec![LinkAttribute::IfName(to.to_owned())];
        let message = link_message(self.link(name)?.index, attributes);
        self.change(Task { op: "rename", name }, message)
    }

    /// Sends what is for a network of `prefix` bits (0 to 32, or to 128) by way of a neighbour. A
    /// route of IPv6 may be there already.
    ///
    /// # Errors
    /// [`LinkError::Kernel`] with `EEXIST` if there is such a route of IPv4, `ENETUNREACH` or
    /// `EHOSTUNREACH` if no link of the namespace reaches the neighbour.
    pub fn add_route(&mut self, network: IpAddr, prefix: u8, via: IpAddr) -> Result<(), LinkError> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(network);
        message.header.destination_prefix_length = prefix;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            RouteAttribute::Destination(route_address(network)),
            RouteAttribute::Gateway(route_address(via)),
        ];
        let message = RouteNetlinkMessage::NewRoute(message);
        let name = format!("{network}/{prefix} by way of {via}");
        let task = Task { op: "add a route to", name: &name };
        self.socket.request(task, message, NLM_F_CREATE | if_there(network)).map(drop)
    }

    /// Deletes a virtual link; the other end of a veth pair goes with it.
    ///
    /// # Errors
    /// [`LinkError::NotSupported`] for hardware.
    pub fn delete_link(&mut self, name: &str) -> Result<(), LinkError> {
        let message = link_message(self.link(name)?.index, Vec::new());
        let message = RouteNetlinkMessage::DelLink(message);
        self.socket.request(Task { op: "delete", name }, message, 0).map(drop)
    }

    fn create(&mut self, task: Task<'_>, parts: Vec<InfoPart>) -> Result<(), LinkError> {
        let attributes =
            vec![LinkAttribute::IfName(task.name.to_owned()), LinkAttribute::LinkInfo(parts)];
        let message = RouteNetlinkMessage::NewLink(link_message(0, attributes));
        self.socket.request(task, message, NLM_F_CREATE | NLM_F_EXCL).map(drop)
    }

    fn change(&mut self, task: Task<'_>, message: LinkMessage) -> Result<(), LinkError> {
        self.socket.request(task, RouteNetlinkMessage::SetLink(message), 0).map(drop)
    }
}

pub(super) const fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv6() { AddressFamily::Inet6 } else { AddressFamily::Inet }
}

/// What is done where there is such a thing: of IPv4 it is an error. Links lose their IPv6 with an
/// MTU below 1280, so that it is laid again.
const fn if_there(address: IpAddr) -> u16 {
    if address.is_ipv6() { NLM_F_REPLACE } else { NLM_F_EXCL }
}

pub(super) const fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

pub(super) fn link_message(index: u32, attributes: Vec<LinkAttribute>) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.attributes = attributes;
    message
}

/// The address in the body of an `RTM_NEWADDR` message, if it is one of the link of this index:
/// `struct ifaddrmsg` of `linux/if_addr.h`, whose third and fourth bytes are flags and scope.
fn address_of(body: &[u8], index: u32) -> Result<Option<(IpAddr, u8)>, DecodeError> {
    let short = || DecodeError::invalid_buffer("ifaddrmsg", body.len(), 8);
    let (head, rest) = body.split_at_checked(8).ok_or_else(short)?;
    let mut address = None;
    for nla in NlasIterator::new(rest) {
        let nla = nla?;
        let bytes = nla.value();
        let read = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
        let read = read.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
        match nla.kind() {
            // Of a link between two points this is the other one's, where there is a local one.
            libc::IFA_ADDRESS => address = address.or(read.ok()),
            libc::IFA_LOCAL => address = read.ok(),
            _ => {}
        }
    }
    let of_link = parse_u32(&head[4..])? == index;
    Ok(address.filter(|_| of_link).map(|address| (address, head[1])))
}

/// The rule of `dev_valid_name` in the kernel, and no '%', which it would take as a template.
fn check_name(name: &str) -> Result<(), LinkError> {
    let length = (1..libc::IFNAMSIZ).contains(&name.len());
    let letters = !name.chars().any(|c| c.is_whitespace() || matches!(c, '/' | ':' | '%' | '\0'));
    if length && letters && name != "." && name != ".." {
        Ok(())
    } else {
        Err(LinkError::BadName(name.to_owned()))
    }
}
