//! Knows how two adapters become ports of a bond, to which addresses or the place in a bridge of
//! the first one move, and how all comes back.
//!
//! Must not know which mode a trial wants.

use super::error::{LinkError, Task};
use super::info::LinkInfo;
use super::kinds::lacking;
use super::routes::{Routes, link_message};
use super::vlan::Gateway;
use netlink_packet_core::{
    DecodeError, Emitable as _, NLM_F_CREATE, NLM_F_EXCL, NlasIterator, parse_u8, parse_u16,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BondLacpRate, BondMode, BondXmitHashPolicy, InfoBond, InfoData, InfoKind, LinkAttribute,
    LinkHeader, LinkInfo as InfoPart, LinkMessage,
};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The kind of a bond.
const BOND: &str = "bond";
/// Is there once the kernel has bonds.
const MODULE: &str = "/sys/module/bonding";
/// How often a bond looks at the carriers of its ports, milliseconds.
const MIIMON_MS: u32 = 50;
/// In the data of a bond its mode and its aggregator; in that the number of the one in use
/// (`linux/if_link.h`).
const IFLA_BOND_MODE: u16 = 1;
const IFLA_BOND_AD_INFO: u16 = 23;
const IFLA_BOND_AD_INFO_AGGREGATOR: u16 = 1;
/// In the data of a port whether its carrier is there, its aggregator, its state of LACP.
const IFLA_BOND_SLAVE_MII_STATUS: u16 = 2;
const IFLA_BOND_SLAVE_AD_AGGREGATOR_ID: u16 = 6;
const IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE: u16 = 7;
/// The word of a carrier that is there (`BOND_LINK_UP`).
const LINK_UP: u8 = 0;
/// The state "distributing" of LACP (IEEE 802.1AX, 6.4.2.3).
const DISTRIBUTING: u8 = 1 << 5;

/// By which rule a bond shares frames out among its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bonding {
    /// Adaptive load balancing: a port for each peer, both ways by ARP.
    BalanceAlb,
    /// A port for each pair of addresses and ports.
    BalanceXor,
    /// The same, among ports that LACP has joined (IEEE 802.1AX).
    Ieee8023ad,
}

impl Bonding {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::BalanceAlb, Self::BalanceXor, Self::Ieee8023ad];

    /// As a plan and the kernel write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::BalanceAlb => "balance-alb",
            Self::BalanceXor => "balance-xor",
            Self::Ieee8023ad => "802.3ad",
        }
    }

    const fn mode(self) -> BondMode {
        match self {
            Self::BalanceAlb => BondMode::BalanceAlb,
            Self::BalanceXor => BondMode::BalanceXor,
            Self::Ieee8023ad => BondMode::Ieee8023Ad,
        }
    }

    fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| u8::from(one.mode()) == number)
    }
}

/// What two adapters are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bonded {
    /// The mode of their bond; none where the second one has no part in the link.
    pub mode: Option<Bonding>,
    /// How many of them carry frames, 0 to 2; of a bond with LACP those that the partner has
    /// joined to the aggregator in use.
    pub ready: u32,
}

/// What the kernel says of a link as a bond, or as a port of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BondPart {
    mode: Option<u8>,
    aggregator: Option<u16>,
    carries: bool,
    distributes: bool,
}

/// Whether this kernel has no bonds. The question loads the module, and bonds that it makes then
/// (`max_bonds`) are removed.
///
/// # Errors
/// Those of [`lacking`]; what the kernel says of a bond that cannot be removed.
pub fn lacks_bonds() -> Result<bool, LinkError> {
    let loaded = std::fs::exists(MODULE).unwrap_or(true);
    let mut routes = Routes::open()?;
    let before = routes.bonds()?;
    let lacks = !lacking(&[BOND])?.is_empty();
    if !loaded {
        for bond in routes.bonds()?.into_iter().filter(|bond| !before.contains(bond)) {
            routes.delete_link(&bond)?;
        }
    }
    Ok(lacks)
}

impl Routes {
    /// What two adapters of this namespace are together.
    ///
    /// # Errors
    /// Those of [`Routes`].
    pub fn bonded(&mut self, (first, second): (&str, &str)) -> Result<Bonded, LinkError> {
        let all = self.links_of_bonds()?;
        let of = |name: &str| all.iter().find(|(link, _)| link.name == name);
        let absent = |name: &str| LinkError::NoSuchLink(name.to_owned());
        let one = of(first).ok_or_else(|| absent(first))?;
        let other = of(second).ok_or_else(|| absent(second))?;
        let bond = all.iter().find(|(link, _)| one.0.master == Some(link.index) && is_bond(link));
        if let Some((bond, whole)) = bond {
            let mode = whole.mode.and_then(Bonding::of);
            let lacp = mode == Some(Bonding::Ieee8023ad);
            let joined = |part: &BondPart| {
                !lacp || (part.distributes && part.aggregator == whole.aggregator)
            };
            let ports = all.iter().filter(|(link, _)| link.master == Some(bond.index));
            let ready = ports.filter(|(_, part)| part.carries && joined(part)).count();
            return Ok(Bonded { mode, ready: u32::try_from(ready).unwrap_or(0) });
        }
        // Two ports of one bridge are what balance-alb needs to face.
        let both = one.0.master.is_some() && one.0.master == other.0.master;
        let mode = both.then_some(Bonding::BalanceAlb);
        let part = [Some(one), both.then_some(other)].into_iter().flatten();
        let ready = part.filter(|(link, _)| link.running && link.carrier).count();
        Ok(Bonded { mode, ready: u32::try_from(ready).unwrap_or(0) })
    }

    /// Makes a bond of two adapters, or takes it apart. The IPv4 addresses of the first one and
    /// the routes over it move to the bond, or its place in a bridge does. In a bridge, balance-alb
    /// needs no bond: both adapters are ports of the bridge then.
    ///
    /// # Errors
    /// [`LinkError::NotSupported`] if the kernel has no bonds; then nothing has moved.
    pub fn set_bonding(
        &mut self,
        (first, second): (&str, &str),
        wanted: Option<Bonding>,
    ) -> Result<(), LinkError> {
        if self.bonded((first, second))?.mode == wanted {
            return Ok(());
        }
        let below = self.link(first)?;
        let bond = self.bond_over(&below)?;
        let top = bond.as_ref().unwrap_or(&below);
        let bridge = top.master;
        let spread = bridge.is_some() && wanted == Some(Bonding::BalanceAlb);
        let number = wanted.map_or(0, |mode| u8::from(mode.mode()));
        let made = format!("b{}.{number}", below.index);
        if let Some(mode) = wanted.filter(|_| !spread) {
            self.add_bond(&made, mode)?;
        }
        let moved = self.take_addresses(&top.name)?;
        if let Some(bond) = &bond {
            self.delete_link(&bond.name)?;
        }
        for name in [first, second] {
            self.set_controller(name, 0)?;
            self.set_up(name, false)?;
        }
        let to = match wanted.filter(|_| !spread) {
            Some(_) => {
                self.join(&made, [first, second], below.mtu)?;
                made.as_str()
            }
            None => first,
        };
        if let Some(bridge) = bridge {
            self.set_controller(to, bridge)?;
        }
        self.set_up(to, true)?;
        if let (true, Some(bridge)) = (spread, bridge) {
            self.set_mtu(second, below.mtu)?;
            self.set_controller(second, bridge)?;
            self.set_up(second, true)?;
        }
        self.give_addresses(to, moved)
    }

    /// A link, or the bond that it is a port of: where its frames are counted as one.
    ///
    /// # Errors
    /// Those of [`Routes`].
    pub fn carrier(&mut self, name: &str) -> Result<LinkInfo, LinkError> {
        let below = self.link(name)?;
        Ok(self.bond_over(&below)?.unwrap_or(below))
    }

    /// Names of all bonds of this namespace.
    fn bonds(&mut self) -> Result<Vec<String>, LinkError> {
        Ok(self.links()?.into_iter().filter(is_bond).map(|bond| bond.name).collect())
    }

    fn bond_over(&mut self, below: &LinkInfo) -> Result<Option<LinkInfo>, LinkError> {
        let Some(master) = below.master else { return Ok(None) };
        Ok(self.links()?.into_iter().find(|link| link.index == master && is_bond(link)))
    }

    /// Takes the IPv4 addresses from a link, and gives them with the routes that went with them.
    fn take_addresses(&mut self, name: &str) -> Result<Moved, LinkError> {
        let link = self.link(name)?;
        let addresses = self.addresses(name)?.into_iter().filter(|(one, _)| one.is_ipv4());
        let addresses: Vec<_> = addresses.collect();
        let gateways = self.gateways(&link)?;
        for (address, bits) in &addresses {
            self.remove_address(name, *address, *bits)?;
        }
        Ok((addresses, gateways))
    }

    fn give_addresses(
        &mut self,
        name: &str,
        (addresses, gateways): Moved,
    ) -> Result<(), LinkError> {
        for (address, bits) in addresses {
            self.add_address(name, address, bits)?;
        }
        gateways
            .into_iter()
            .try_for_each(|(net, bits, via)| self.add_route(net.into(), bits, via.into()))
    }

    fn add_bond(&mut self, name: &str, mode: Bonding) -> Result<(), LinkError> {
        let task = Task { op: "create a bond", name };
        self.socket.request(task, bond_message(name, mode), NLM_F_CREATE | NLM_F_EXCL).map(drop)
    }

    /// Makes adapters that are switched off ports of a bond, which switches them on.
    fn join(&mut self, bond: &str, ports: [&str; 2], mtu: u32) -> Result<(), LinkError> {
        self.set_mtu(bond, mtu)?;
        let index = self.link(bond)?.index;
        ports.into_iter().try_for_each(|port| self.set_controller(port, index))
    }

    /// Makes a link a port of the bond or bridge of this index, of 0 of none.
    fn set_controller(&mut self, name: &str, master: u32) -> Result<(), LinkError> {
        let task = Task { op: "set the bond or bridge of", name };
        let message = link_message(self.link(name)?.index, vec![LinkAttribute::Controller(master)]);
        self.socket.request(task, RouteNetlinkMessage::SetLink(message), 0).map(drop)
    }

    fn links_of_bonds(&mut self) -> Result<Vec<(LinkInfo, BondPart)>, LinkError> {
        let task = Task { op: "list", name: "all links" };
        let message = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let bodies = self.socket.dump(task, &message)?;
        let read = |body: &Vec<u8>| Ok((LinkInfo::decode(body)?, BondPart::decode(body)?));
        bodies.iter().map(|body| read(body).map_err(|e| task.garbled(&e))).collect()
    }
}

/// Addresses with their bits, and routes by way of a neighbour.
type Moved = (Vec<(IpAddr, u8)>, Vec<Gateway>);

pub(super) fn is_bond(link: &LinkInfo) -> bool {
    link.kind.as_deref() == Some(BOND)
}

/// Asks for a bond of this name.
pub(super) fn bond_message(name: &str, mode: Bonding) -> RouteNetlinkMessage {
    let mut data = vec![
        InfoBond::Mode(mode.mode()),
        InfoBond::MiiMon(MIIMON_MS),
        InfoBond::XmitHashPolicy(BondXmitHashPolicy::Layer34),
    ];
    if mode == Bonding::Ieee8023ad {
        data.push(InfoBond::AdLacpRate(BondLacpRate::Fast));
    }
    let parts = vec![InfoPart::Kind(InfoKind::Bond), InfoPart::Data(InfoData::Bond(data))];
    let attributes = vec![LinkAttribute::IfName(name.to_owned()), LinkAttribute::LinkInfo(parts)];
    RouteNetlinkMessage::NewLink(link_message(0, attributes))
}

impl BondPart {
    /// Reads the body of an `RTM_NEWLINK` message.
    pub(super) fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let (header, mut part) = (LinkHeader::parse(body)?, Self::default());
        for nla in NlasIterator::new(body.get(header.buffer_len()..).unwrap_or_default()) {
            let nla = nla?;
            if nla.kind() == libc::IFLA_LINKINFO {
                part.take(nla.value())?;
            }
        }
        Ok(part)
    }

    fn take(&mut self, link_info: &[u8]) -> Result<(), DecodeError> {
        let (mut is_bond, mut is_port) = (false, false);
        let named = |value: &[u8]| value.strip_suffix(&[0]).unwrap_or(value) == BOND.as_bytes();
        for nla in NlasIterator::new(link_info) {
            let nla = nla?;
            match nla.kind() {
                libc::IFLA_INFO_KIND => is_bond = named(nla.value()),
                libc::IFLA_INFO_SLAVE_KIND => is_port = named(nla.value()),
                libc::IFLA_INFO_DATA if is_bond => self.take_bond(nla.value())?,
                libc::IFLA_INFO_SLAVE_DATA if is_port => self.take_port(nla.value())?,
                _ => {}
            }
        }
        Ok(())
    }

    fn take_bond(&mut self, data: &[u8]) -> Result<(), DecodeError> {
        for nla in NlasIterator::new(data) {
            let nla = nla?;
            match nla.kind() {
                IFLA_BOND_MODE => self.mode = Some(parse_u8(nla.value())?),
                IFLA_BOND_AD_INFO => {
                    for nla in NlasIterator::new(nla.value()) {
                        let nla = nla?;
                        if nla.kind() == IFLA_BOND_AD_INFO_AGGREGATOR {
                            self.aggregator = Some(parse_u16(nla.value())?);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn take_port(&mut self, data: &[u8]) -> Result<(), DecodeError> {
        for nla in NlasIterator::new(data) {
            let nla = nla?;
            match nla.kind() {
                IFLA_BOND_SLAVE_MII_STATUS => self.carries = parse_u8(nla.value())? == LINK_UP,
                IFLA_BOND_SLAVE_AD_AGGREGATOR_ID => {
                    self.aggregator = Some(parse_u16(nla.value())?);
                }
                IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE => {
                    self.distributes = parse_u8(nla.value())? & DISTRIBUTING != 0;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::socket::written;
    use super::super::tests::bytes_of;
    use super::*;
    use netlink_packet_core::NLM_F_ACK;

    #[test]
    fn a_bond_is_asked_for_as_ip_link_does() {
        let theirs = bytes_of(include_str!("golden/ip-link-add-bond.hex"));
        let sequence = u32::from_ne_bytes(theirs[8..12].try_into().unwrap());
        let flags = (NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sequence);
        let ours = written(bond_message("b3", Bonding::Ieee8023ad), flags);
        // The library ends the name of the kind with a zero byte, which ip(8) leaves out.
        let mut same = theirs;
        same.splice(52..52, [0; 4]);
        for (at, more) in [(0, 4), (40, 4), (44, 1)] {
            same[at] += more;
        }
        assert_eq!(ours, same);
    }

    #[test]
    fn a_bond_and_its_port_that_a_kernel_tells_are_read() {
        let bond = bytes_of(include_str!("golden/kernel-bond-link.hex"));
        let port = bytes_of(include_str!("golden/kernel-bond-port.hex"));
        let whole = BondPart::decode(&bond[16..]).unwrap();
        assert_eq!(whole.mode.and_then(Bonding::of), Some(Bonding::Ieee8023ad));
        let part = BondPart::decode(&port[16..]).unwrap();
        assert!(part.carries && part.distributes, "{part:?}");
        assert!(whole.aggregator.is_some() && part.aggregator == whole.aggregator);
        assert!(is_bond(&LinkInfo::decode(&bond[16..]).unwrap()));
        let other = bytes_of(include_str!("golden/kernel-vlan-link.hex"));
        assert_eq!(BondPart::decode(&other[16..]).unwrap(), BondPart::default());
        assert!((0..16).all(|length| BondPart::decode(&port[16..16 + length]).is_err()));
    }
}
