//! Knows how hosts are joined: bridges, cables, lent adapters; and what the ends of a link are
//! called. Their addresses stand in `addresses.rs`.
//!
//! Must not know what is measured over a link, nor which factor changes it.

use super::addresses::IpVersion;
use super::clock;
use super::error::LabError;
use super::filter::{Hook, SHOWN};
use super::standing::SUT;
use super::topology::{EndRole, Lab, LentAdapter, LinkEnd};
use super::wire::{LinkAnswer, LinkRequest};
use desk::record::{LabKind, LinkPlan, Role, Way};
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

/// Longest wait for the ports of the switch.
const PORTS_MAX: Duration = Duration::from_secs(3);
/// Longest wait for adapters: they negotiate with what they are joined to.
const ADAPTERS_MAX: Duration = Duration::from_secs(10);

impl Lab {
    /// One bridge, cable or set of adapters and one subnet a link, so that links share nothing. Who
    /// is no member of a link has no adapter on it.
    pub(super) fn lay_cables(&mut self) -> Result<(), LabError> {
        let (first, switches) = (self.switch(), self.switch()..self.hosts.len());
        // Links take over what their namespace has when they are born.
        for at in 1..self.hosts.len() {
            self.quiet(at)?;
        }
        for sut in self.suts.clone().into_iter().rev() {
            self.hosts[SUT] = sut;
            self.quiet(SUT)?;
        }
        let bridged = self.bridges();
        self.links_on(first, bridged)?;
        for switch in switches {
            let shared = self.shared(switch);
            self.links_on(switch, shared)?;
        }
        for (number, link) in self.plan.links.clone().iter().enumerate() {
            if let (true, [one, other]) = (link.is_direct(), self.members(number).as_slice()) {
                let (name, pid) = (link.name.clone(), self.pid(*other));
                self.links_on(*one, vec![LinkRequest::AddVeth(name.clone(), name, pid)])?;
            }
        }
        for at in 1..first {
            let work = self.joined(at);
            self.links_on(at, work)?;
        }
        // The last that is joined is the first of the plan, which is measured first.
        for sut in self.suts.clone().into_iter().rev() {
            self.hosts[SUT] = sut;
            let work = self.joined(SUT);
            self.links_on(SUT, work)?;
            self.wait_for_ends()?;
            self.lay_sixth_if_there()?;
        }
        self.begin_relay()
    }

    /// What the first switch makes: a bridge for each link that has one, and a port to each member.
    fn bridges(&self) -> Vec<LinkRequest> {
        let mut work = Vec::new();
        for (number, link) in self.plan.links.iter().enumerate().filter(|(_, l)| l.is_bridge()) {
            work.push(LinkRequest::AddBridge(bridge_name(number)));
            work.push(LinkRequest::Up(bridge_name(number)));
            for at in self.members(number) {
                let port = port_name(number, self.name(at));
                if link.is_double() {
                    // Switched off until a bond has it.
                    let (port, name) = (second_cable(&port), second_cable(&link.name));
                    work.push(LinkRequest::AddVeth(port, name, self.pid(at)));
                }
                work.push(LinkRequest::AddVeth(port.clone(), link.name.clone(), self.pid(at)));
                work.push(LinkRequest::Master(port.clone(), bridge_name(number)));
                work.push(LinkRequest::Up(port));
            }
        }
        work
    }

    /// What a switch makes on adapters that members share: a macvlan for each.
    fn shared(&self, switch: usize) -> Vec<LinkRequest> {
        let mut work = Vec::new();
        for lent in self.lent().filter(|lent| lent.host == switch) {
            work.push(LinkRequest::Up(lent.name.clone()));
            let link = &self.plan.links[lent.link];
            for at in self.sharing(lent) {
                let (parent, name) = (lent.name.clone(), link.name.clone());
                work.push(LinkRequest::AddMacvlan(parent, name, self.pid(at)));
            }
        }
        work
    }

    /// Members of a link that share an adapter.
    fn sharing(&self, lent: &LentAdapter) -> Vec<usize> {
        let link = &self.plan.links[lent.link];
        let has = |at: &usize| {
            let own = self.plan.adapter(link, self.name(*at), lent.machine);
            self.machine_of(*at) == lent.machine && own == Some(lent.adapter.as_str())
        };
        self.members(lent.link).into_iter().filter(has).collect()
    }

    /// What a host does with its ends of links: a switch bridges them, a relay reads them, all
    /// others have addresses.
    fn joined(&self, at: usize) -> Vec<LinkRequest> {
        let mut work = Vec::new();
        if !self.is_machine(at) {
            work.push(LinkRequest::Up("lo".into()));
        }
        let (bridges, carries) =
            (self.role(at) == Some(Role::Switch), self.role(at) == Some(Role::Relay));
        if bridges {
            work.push(LinkRequest::AddBridge(SWITCHED.into()));
            work.push(LinkRequest::Up(SWITCHED.into()));
        }
        for (number, link) in self.plan.links.iter().enumerate() {
            if self.members(number).contains(&at) {
                let name = self.interface(at, &link.name);
                match bridges {
                    true => work.push(LinkRequest::Master(name.clone(), SWITCHED.into())),
                    // What is for others the relay's own stack must not answer.
                    false if carries => {}
                    false => {
                        let address = self.address(number, at, IpVersion::Four);
                        work.push(LinkRequest::Address(name.clone(), address, 24));
                    }
                }
                work.push(LinkRequest::Up(name));
            }
        }
        if self.role(at).is_some_and(Role::forwards) {
            work.push(LinkRequest::SetSetting("ipv4/ip_forward".into(), "1".into()));
            work.extend(self.routes_behind(at));
        }
        work.extend(self.routes(at, IpVersion::Four));
        work
    }

    /// What a host between links is for.
    pub(super) fn role(&self, at: usize) -> Option<Role> {
        let between = at.checked_sub(1 + self.plan.clients as usize)?;
        self.plan.hosts.get(between).map(|host| host.role)
    }

    /// The hosts that route or bridge, and where packets meet a filter on each.
    pub(crate) fn forwarders(&self) -> Vec<(usize, Hook)> {
        let hook = |at: usize| match self.role(at) {
            Some(Role::Device) => Some(Hook::Routed),
            Some(Role::Switch) => Some(Hook::Bridged),
            _ => None,
        };
        let mut all: Vec<(usize, Hook)> =
            (0..self.switch()).filter_map(|at| Some((at, hook(at)?))).collect();
        // Of the switches the first has the bridges.
        if self.kind != LabKind::Loopback && self.plan.links.iter().any(LinkPlan::is_bridge) {
            all.push((self.switch(), Hook::Bridged));
        }
        all
    }

    /// Whether a host is the machine itself.
    pub(crate) fn is_machine(&self, at: usize) -> bool {
        self.plan.machine.as_deref() == Some(self.name(at))
    }

    /// Waits until the lent adapters of a link pass traffic: a driver may reset its own when it
    /// takes a setting, and the line then comes back within seconds.
    ///
    /// # Errors
    /// When a host is gone, or an adapter has no carrier.
    pub(crate) fn wait_for_adapters(&mut self, link: &str) -> Result<(), LabError> {
        let number = self.plan.links.iter().position(|one| one.name == link);
        let lent = self.lent().filter(|lent| Some(lent.link) == number);
        let lent: Vec<LentAdapter> = lent.cloned().collect();
        let Some(number) = number.filter(|_| !lent.is_empty()) else { return Ok(()) };
        let down = self.wait_for(&self.passing(number), ADAPTERS_MAX)?;
        let is_down = |lent: &&LentAdapter| down.contains(&(lent.host, lent.name.clone()));
        lent.iter().find(is_down).map_or(Ok(()), |lent| {
            let machine = self.machine_name(lent.machine).to_owned();
            Err(LabError::NoCarrier { machine, adapter: lent.adapter.clone() })
        })
    }

    /// Waits until every port of a bridge and every lent adapter passes traffic: the kernel looks
    /// at carriers up to a second after they come, and what is sent before is lost.
    fn wait_for_ends(&mut self) -> Result<(), LabError> {
        let links = 0..self.plan.links.len();
        let ends: Vec<LinkEnd> = links.flat_map(|number| self.passing(number)).collect();
        let most = if self.lent().next().is_none() { PORTS_MAX } else { ADAPTERS_MAX };
        // One that stays silent shows in the first trial.
        self.wait_for(&ends, most).map(|_| ())
    }

    /// The ends of a link that tell whether they pass traffic.
    fn passing(&self, number: usize) -> Vec<LinkEnd> {
        let link = &self.plan.links[number];
        let passes = |end: &LinkEnd| match end.role {
            EndRole::Port => true,
            EndRole::Adapter => link.is_real() || self.role(end.host) == Some(Role::Switch),
            EndRole::Bridge | EndRole::Stacked => false,
        };
        self.ends(&link.name).into_iter().filter(passes).collect()
    }

    /// Waits until all these ends pass traffic, at most so long; gives those that have no carrier
    /// then, by host and name.
    fn wait_for(
        &mut self,
        ends: &[LinkEnd],
        most: Duration,
    ) -> Result<Vec<(usize, String)>, LabError> {
        let deadline = Instant::now() + most;
        loop {
            let ask = |end: &LinkEnd| (end.host, vec![LinkRequest::Info(end.name.clone())]);
            let work = by_host(ends.iter().map(ask));
            let hosts: Vec<usize> = work.iter().map(|(host, _)| *host).collect();
            let (mut all, mut down) = (true, Vec::new());
            for (host, answers) in hosts.into_iter().zip(self.ask_links(work)?) {
                for answer in answers {
                    let LinkAnswer::Info(info) = answer else { continue };
                    // For up to a second after a carrier goes the kernel says that it runs.
                    all &= info.running && info.carrier;
                    if !info.carrier {
                        down.push((host, info.name));
                    }
                }
            }
            if all || Instant::now() > deadline {
                return Ok(down);
            }
            clock::sleep_until(clock::now_ns() + 5_000_000);
        }
    }

    /// Kernel settings without which other things than the link would be measured; none of a host
    /// that is the machine itself.
    fn quiet(&mut self, at: usize) -> Result<(), LabError> {
        if self.is_machine(at) {
            return Ok(());
        }
        // The bridge must not show our frames to iptables (costs about a seventh without
        // segmentation offload).
        let settings = [
            (SHOWN[0], "0"),
            (SHOWN[1], "0"),
            // Every program of the host may ask for ICMP echoes.
            ("ipv4/ping_group_range", "0 0"),
            // What one connection learnt of a path must not shape the next trial's.
            ("ipv4/tcp_no_metrics_save", "1"),
        ];
        let mut work = Vec::new();
        for (path, value) in settings.iter().chain(self.sixth_settings(at)) {
            work.push(LinkRequest::SetSettingIfThere((*path).into(), (*value).into()));
        }
        self.links_on(at, work).map(|_| ())
    }

    /// The interface by which a host reaches a link: its adapter there, or that towards the host
    /// that forwards; `lo` on loopback.
    #[must_use]
    pub fn interface(&self, at: usize, link: &str) -> String {
        if self.kind == LabKind::Loopback {
            return "lo".into();
        }
        let way = self.number(link).and_then(|number| self.plan.ways(at).into_iter().nth(number));
        let first = match way {
            Some(Way::Over { link, .. } | Way::Bridged { link }) => {
                self.plan.links[link].name.clone()
            }
            _ => link.into(),
        };
        let number = self.number(&first);
        let lent = self.lent().find(|lent| lent.host == at && Some(lent.link) == number);
        lent.map_or(first, |lent| lent.name.clone())
    }

    /// Where the system under test and the clients meet on a link: of each the adapter and the
    /// IPv4 address by which it is there, also over hosts between.
    #[must_use]
    pub fn meeting(&self, link: &str) -> Vec<(LinkEnd, Ipv4Addr)> {
        let Some(number) = self.number(link).filter(|_| self.kind != LabKind::Loopback) else {
            return Vec::new();
        };
        let with_sut = self.members(number).contains(&SUT);
        let at = |host: usize| {
            let own = match self.plan.ways(host).into_iter().nth(number)? {
                Way::Member => number,
                Way::Bridged { link } => link,
                Way::Over { link, .. } if with_sut => link,
                _ => return None,
            };
            let (name, role) = (self.interface(host, link), EndRole::Adapter);
            let IpAddr::V4(address) = self.address(own, host, IpVersion::Four) else { return None };
            Some((LinkEnd { host, name, role, narrow: false }, address))
        };
        [SUT].into_iter().chain(self.client_indexes()).filter_map(at).collect()
    }

    /// Whether a host joins its links, and has no address on them.
    #[must_use]
    pub fn joins(&self, at: usize) -> bool {
        self.is_switch(at) || self.role(at).is_some_and(Role::joins)
    }

    pub(super) fn number(&self, link: &str) -> Option<usize> {
        self.plan.links.iter().position(|one| one.name == link)
    }

    /// Whether a link is one virtual cable, with nothing between its two ends.
    #[must_use]
    pub fn is_cable(&self, link: &str) -> bool {
        self.number(link).is_some_and(|number| self.plan.links[number].is_direct())
    }

    /// Every interface of a link; empty on loopback, where there are no links. What others stand on
    /// comes before them.
    #[must_use]
    pub fn ends(&self, link: &str) -> Vec<LinkEnd> {
        let Some(number) = self.number(link).filter(|_| self.kind != LabKind::Loopback) else {
            return Vec::new();
        };
        let plan = &self.plan.links[number];
        if plan.is_real() {
            return self.real_ends(number);
        }
        let (switch, direct) = (self.switch(), plan.is_direct());
        let mut ends = Vec::new();
        for (turn, at) in self.members(number).into_iter().enumerate() {
            // Of a cable both ends are adapters, and each faces the other.
            let (role, narrow) = (EndRole::Adapter, turn == 0 || direct);
            ends.push(LinkEnd { host: at, name: link.into(), role, narrow });
            if !direct {
                let (name, role) = (port_name(number, self.name(at)), EndRole::Port);
                ends.push(LinkEnd { host: switch, name, role, narrow });
            }
        }
        if !direct {
            let (name, role) = (bridge_name(number), EndRole::Bridge);
            ends.push(LinkEnd { host: switch, name, role, narrow: false });
        }
        ends
    }

    /// The ends of the second cables of a link, where its members have two.
    #[must_use]
    pub fn second_ends(&self, link: &str) -> Vec<LinkEnd> {
        let doubles = |number| self.plan.links.get(number).is_some_and(LinkPlan::is_double);
        if !self.number(link).is_some_and(doubles) {
            return Vec::new();
        }
        let cables = self.ends(link).into_iter().filter(|end| !matches!(end.role, EndRole::Bridge));
        cables.map(|end| LinkEnd { name: second_cable(&end.name), ..end }).collect()
    }

    /// Lent adapters, each of which faces the others, and the macvlans on those that are shared.
    fn real_ends(&self, number: usize) -> Vec<LinkEnd> {
        let mut ends = Vec::new();
        let here = || self.lent().filter(move |lent| lent.link == number);
        for lent in here() {
            let (host, name) = (lent.host, lent.name.clone());
            ends.push(LinkEnd { host, name, role: EndRole::Adapter, narrow: true });
        }
        for lent in here().filter(|lent| self.is_switch(lent.host)) {
            for host in self.sharing(lent) {
                let name = self.plan.links[number].name.clone();
                ends.push(LinkEnd { host, name, role: EndRole::Stacked, narrow: false });
            }
        }
        ends
    }
}

/// Name of the bridge in a host that is a switch.
const SWITCHED: &str = "br";

/// What the second cable of a member or of a port is called; no link of a plan has a dot.
#[must_use]
pub fn second_cable(first: &str) -> String {
    format!("{first}.2")
}

fn bridge_name(link: usize) -> String {
    format!("br{link}")
}

fn port_name(link: usize, host: &str) -> String {
    format!("p{link}-{host}")
}

/// Requests of one host in one list, hosts and requests in the order in which they come.
pub fn by_host(
    steps: impl Iterator<Item = (usize, Vec<LinkRequest>)>,
) -> Vec<(usize, Vec<LinkRequest>)> {
    let mut work: Vec<(usize, Vec<LinkRequest>)> = Vec::new();
    for (host, requests) in steps {
        match work.iter_mut().find(|(known, _)| *known == host) {
            Some((_, list)) => list.extend(requests),
            None => work.push((host, requests)),
        }
    }
    work
}
