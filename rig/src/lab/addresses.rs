//! Knows the addresses of hosts, of both versions of IP: 198.18.LINK.HOST/24 and
//! 2001:2:0:LINK::HOST/64; and which of the two loads go to.
//!
//! Must not know which load goes there.

use super::error::LabError;
use super::standing::SUT;
use super::topology::Lab;
use super::wire::{LinkAnswer, LinkRequest};
use desk::record::{LabKind, Role, Value, Way};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4 (RFC 791).
    #[default]
    Four,
    /// IPv6 (RFC 8200).
    Six,
}

impl IpVersion {
    /// The setting of a plan whose levels are versions.
    pub const SETTING: &str = "ip_version";

    /// The version that a level means: 4 or 6.
    #[must_use]
    pub fn of(level: &Value) -> Option<Self> {
        match level.count() {
            Some(4) => Some(Self::Four),
            Some(6) => Some(Self::Six),
            _ => None,
        }
    }

    /// Bytes of its header, without options or extensions: 20 (RFC 791, 3.1) or 40 (RFC 8200, 3).
    #[must_use]
    pub const fn header(self) -> u32 {
        match self {
            Self::Four => 20,
            Self::Six => 40,
        }
    }
}

/// Networks behind the system under test and behind the clients, of which no host has an address.
/// Hosts that route forward the first one to the system under test, the second to the first client.
pub const BEHIND: [(Ipv4Addr, u8); 2] =
    [(Ipv4Addr::new(198, 19, 0, 0), 17), (Ipv4Addr::new(198, 19, 128, 0), 18)];

/// What keeps IPv6 quiet on the links of a host: addresses are there at once and stay while a link
/// is down, nobody asks for a router, and memberships of groups are told at once.
const SIXTH: [(&str, &str); 12] = [
    ("ipv6/conf/all/disable_ipv6", "0"),
    ("ipv6/conf/default/disable_ipv6", "0"),
    ("ipv6/conf/all/accept_dad", "0"),
    ("ipv6/conf/default/accept_dad", "0"),
    ("ipv6/conf/all/accept_ra", "0"),
    ("ipv6/conf/default/accept_ra", "0"),
    ("ipv6/conf/default/autoconf", "0"),
    ("ipv6/conf/default/router_solicitations", "0"),
    ("ipv6/conf/default/mldv1_unsolicited_report_interval", "1"),
    ("ipv6/conf/default/mldv2_unsolicited_report_interval", "1"),
    ("ipv6/conf/all/keep_addr_on_down", "1"),
    ("ipv6/conf/default/keep_addr_on_down", "1"),
];
/// Of a host that joins links, whose own stack must say nothing.
const NO_SIXTH: [(&str, &str); 2] =
    [("ipv6/conf/all/disable_ipv6", "1"), ("ipv6/conf/default/disable_ipv6", "1")];

impl Lab {
    /// Settings of IPv6 of a host in a namespace.
    pub(super) fn sixth_settings(&self, at: usize) -> &'static [(&'static str, &'static str)] {
        match self.is_switch(at) || self.role(at).is_some_and(Role::joins) {
            true => &NO_SIXTH,
            false => &SIXTH,
        }
    }

    /// What a host does to have IPv6 beside IPv4, on links that are up.
    fn sixth(&self, at: usize) -> Vec<LinkRequest> {
        let mut work = Vec::new();
        if self.role(at).is_some_and(Role::forwards) {
            work.push(LinkRequest::SetSetting("ipv6/conf/all/forwarding".into(), "1".into()));
        }
        for (number, name) in self.addressed(at) {
            work.push(LinkRequest::Address(name, self.address(number, at, IpVersion::Six), 64));
        }
        work.extend(self.routes(at, IpVersion::Six));
        work
    }

    /// Links on which a host has addresses, and its interfaces there.
    pub(super) fn addressed(&self, at: usize) -> Vec<(usize, String)> {
        if self.is_switch(at) || self.role(at).is_some_and(Role::joins) {
            return Vec::new();
        }
        let of = |number: &usize| self.members(*number).contains(&at);
        let numbers = (0..self.plan.links.len()).filter(of);
        numbers.map(|number| (number, self.interface(at, &self.plan.links[number].name))).collect()
    }

    /// The routes of a host to links that it reaches over others.
    pub(super) fn routes(&self, at: usize, version: IpVersion) -> Vec<LinkRequest> {
        if self.role(at).is_some_and(Role::joins) {
            return Vec::new();
        }
        let (networks, mut work) = (self.plan.networks(), Vec::new());
        for (to, way) in self.plan.ways(at).into_iter().enumerate() {
            // Links that a switch bridges are one network, and have one route.
            if let (Way::Over { link, host }, true) = (way, networks[to] == to) {
                let (network, bits) = network(to, version);
                work.push(LinkRequest::Route(network, bits, self.address(link, host, version)));
            }
        }
        work
    }

    /// The routes of a host that forwards to the networks behind the ends.
    pub(super) fn routes_behind(&self, at: usize) -> Vec<LinkRequest> {
        let (ends, ways) = ([Some(SUT), self.client_indexes().next()], self.plan.ways(at));
        let route = |((network, bits), end): ((Ipv4Addr, u8), Option<usize>)| {
            let end = end?;
            let link = self.first_link(&ways, end)?;
            let (link, via) = match ways[link] {
                Way::Member => (link, end),
                Way::Bridged { link } => (link, end),
                Way::Over { link, host } => (link, host),
                Way::None => return None,
            };
            let via = self.address(link, via, IpVersion::Four);
            Some(LinkRequest::Route(network.into(), bits, via))
        };
        BEHIND.into_iter().zip(ends).filter_map(route).collect()
    }

    /// The first link of a host that another host reaches by these ways.
    fn first_link(&self, ways: &[Way], end: usize) -> Option<usize> {
        let reached = |link: &usize| ways[*link] != Way::None && self.members(*link).contains(&end);
        (0..ways.len()).find(reached)
    }

    /// Whether each host that routes forwards to the system under test on this link what is for the
    /// network behind it.
    #[must_use]
    pub fn has_way_behind(&self, link: &str) -> bool {
        let routes = |at: &usize| self.role(*at).is_some_and(Role::forwards);
        let number = self.number(link);
        (0..self.switch())
            .filter(routes)
            .all(|at| self.suts.len() < 2 && self.first_link(&self.plan.ways(at), SUT) == number)
    }

    /// Gives the hosts addresses and routes of IPv6, which they may have already.
    ///
    /// # Errors
    /// When a host is gone; [`LabError::Refused`] where one has no IPv6.
    fn lay_sixth(&mut self) -> Result<(), LabError> {
        let work = (0..self.switch()).map(|at| (at, self.sixth(at)));
        let work = work.filter(|(_, requests)| !requests.is_empty()).collect();
        self.ask_links(work).map(|_| ())
    }

    /// The same, where there is IPv6: who asks for it later is told why there is none.
    pub(super) fn lay_sixth_if_there(&mut self) -> Result<(), LabError> {
        match self.lay_sixth() {
            Err(LabError::Refused { .. }) => Ok(()),
            other => other,
        }
    }

    /// Has loads go to addresses of this version from now on.
    ///
    /// # Errors
    /// When a host is gone; [`LabError::Refused`] where one has no IPv6, with its words.
    pub fn take_ip_version(&mut self, version: IpVersion) -> Result<(), LabError> {
        // A link whose MTU was below 1280 has lost it.
        if version == IpVersion::Six && self.kind != LabKind::Loopback {
            self.lay_sixth()?;
        }
        self.version = version;
        Ok(())
    }

    /// The version of the addresses that loads go to.
    #[must_use]
    pub const fn ip_version(&self) -> IpVersion {
        self.version
    }

    /// The first host that has no address of IPv6 where it has one of IPv4; none where all have.
    ///
    /// # Errors
    /// When a host is gone.
    pub fn without_sixth(&mut self) -> Result<Option<String>, LabError> {
        let hosts = 0..self.switch().min(self.hosts.len());
        let links = |lab: &Self, at| match lab.kind {
            LabKind::Loopback => vec!["lo".to_owned()],
            _ => lab.addressed(at).into_iter().map(|(_, name)| name).collect(),
        };
        let ask = |at| (at, links(self, at).into_iter().map(LinkRequest::HasSixth).collect());
        let work: Vec<(usize, Vec<LinkRequest>)> = hosts.map(ask).collect();
        let places: Vec<usize> = work.iter().map(|(at, _)| *at).collect();
        let answers = self.ask_links(work)?;
        let lacks = |all: &Vec<LinkAnswer>| {
            all.iter().any(|answer| matches!(answer, LinkAnswer::HasSixth(false)))
        };
        let first = places.into_iter().zip(answers).find(|(_, all)| lacks(all));
        Ok(first.map(|(at, _)| self.name(at).to_owned()))
    }

    /// Address of the system under test or of a client on a link, of the version in force; on
    /// loopback always 127.0.0.1 or `::1`.
    #[must_use]
    pub fn address_of(&self, at: usize, link: &str) -> IpAddr {
        match (self.kind, self.version) {
            (LabKind::Loopback, IpVersion::Four) => Ipv4Addr::LOCALHOST.into(),
            (LabKind::Loopback, IpVersion::Six) => Ipv6Addr::LOCALHOST.into(),
            (_, version) => self.address(self.number(link).unwrap_or(0), at, version),
        }
    }

    /// Addresses of the benchmarking ranges (RFC 2544 C.2.2, RFC 5180 5.1.1): one /24 and one /64 a
    /// network.
    pub(super) fn address(&self, link: usize, host: usize, version: IpVersion) -> IpAddr {
        let number = self.plan.networks().get(link).copied().unwrap_or(link);
        let sut = || self.suts.iter().position(|sut| sut.machine == self.machine_of(SUT));
        let last = if host == SUT { 1 + sut().unwrap_or_default() } else { host + 9 };
        match version {
            IpVersion::Four => Ipv4Addr::new(198, 18, octet(number), octet(last)).into(),
            IpVersion::Six => sixth_address(number, last).into(),
        }
    }
}

/// The network of a link, and the bits of its prefix.
fn network(link: usize, version: IpVersion) -> (IpAddr, u8) {
    match version {
        IpVersion::Four => (Ipv4Addr::new(198, 18, octet(link), 0).into(), 24),
        IpVersion::Six => (sixth_address(link, 0).into(), 64),
    }
}

fn sixth_address(link: usize, host: usize) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 2, 0, octet(link).into(), 0, 0, 0, octet(host).into())
}

fn octet(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::topology::{Blueprint, Wanted};
    use super::*;
    use desk::record::{HostPlan, LabPlan, LinkPlan};

    fn lab(links: &[(&str, &[&str])]) -> Lab {
        let link = |(name, members): &(&str, &[&str])| LinkPlan {
            members: members.iter().map(|member| (*member).to_owned()).collect(),
            ..LinkPlan::of_all(name)
        };
        let host = |name: &str| HostPlan { name: name.into(), role: Role::Device };
        let lab = LabPlan {
            clients: 1,
            links: links.iter().map(link).collect(),
            hosts: vec![host("one"), host("two")],
            ..LabPlan::default()
        };
        Lab::empty(&Blueprint { wanted: Wanted::Best, lab }, Vec::new())
    }

    /// Where a host that routes sends what is for the networks behind the ends.
    fn ways(lab: &Lab, at: usize) -> Vec<String> {
        let way = |request| match request {
            LinkRequest::Route(network, bits, via) => format!("{network}/{bits} {via}"),
            other => format!("{other:?}"),
        };
        lab.routes_behind(at).into_iter().map(way).collect()
    }

    #[test]
    fn hosts_that_route_lead_to_the_networks_behind_the_ends() {
        let all: [(&str, &[&str]); 4] = [
            ("a", &["c01", "one"]),
            ("b", &["one", "two"]),
            ("c", &["two", "sut"]),
            ("d", &["c01", "sut"]),
        ];
        let lab = lab(&all);
        let [to, from] = ["198.19.0.0/17", "198.19.128.0/18"];
        assert_eq!(ways(&lab, 2), [format!("{to} 198.18.1.12"), format!("{from} 198.18.0.10")]);
        assert_eq!(ways(&lab, 3), [format!("{to} 198.18.2.1"), format!("{from} 198.18.1.11")]);
        assert_eq!(["c", "d"].map(|link| lab.has_way_behind(link)), [true, false]);
    }
}
