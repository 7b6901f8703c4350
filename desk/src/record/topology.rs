//! Knows the shape of a lab as data: which hosts there are, their roles, and who is on which link.
//!
//! Never: addresses, or how a link is made.

use super::plan::{LabPlan, LinkPlan, Placement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the system under test.
pub const SUT: &str = "sut";
/// What stands for every client where adapters are named.
pub const CLIENTS: &str = "clients";

/// Whether a name is that of a client: `c` and a number.
#[must_use]
pub fn is_client(name: &str) -> bool {
    name.strip_prefix('c').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// What a host that is neither the system under test nor a client is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It forwards between its links, and what it costs is of interest.
    Device,
    /// It carries every frame between its two links, which are one network then, with the delay,
    /// losses and rate of the plan; its cost is the tester's.
    Relay,
    /// It bridges its links, which are one network then; its cost is the tester's.
    Switch,
    /// It sends and receives on its links, and passes nothing on.
    Tester,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Device, Self::Relay, Self::Switch, Self::Tester];

    /// Whether packets for other networks go through it.
    #[must_use]
    pub const fn forwards(self) -> bool {
        matches!(self, Self::Device)
    }

    /// Whether its links are one network.
    #[must_use]
    pub const fn joins(self) -> bool {
        matches!(self, Self::Relay | Self::Switch)
    }

    /// As a plan writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Relay => "relay",
            Self::Switch => "switch",
            Self::Tester => "tester",
        }
    }
}

/// How the members of a link are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// Virtual adapters, each with a port on a bridge of the switch.
    Bridge,
    /// One virtual cable between two members.
    Direct,
    /// Adapters of the machine, and what joins them; who shares one has a macvlan on it.
    Adapter,
}

impl LinkKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Bridge, Self::Direct, Self::Adapter];

    /// As a plan writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Direct => "direct",
            Self::Adapter => "adapter",
        }
    }
}

/// A host between links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostPlan {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: Role,
}

impl LinkPlan {
    /// A bridge with all hosts, under this name.
    #[must_use]
    pub fn of_all(name: &str) -> Self {
        let (name, settings) = (name.into(), std::collections::BTreeMap::new());
        let adapters = std::collections::BTreeMap::new();
        Self { name, settings, members: Vec::new(), kind: None, adapters, cables: None }
    }

    /// Whether it is one cable.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.kind == Some(LinkKind::Direct)
    }

    /// Whether its members have adapters of the machine.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.kind == Some(LinkKind::Adapter)
    }

    /// Whether each member has two cables, which can be bonded.
    #[must_use]
    pub fn is_double(&self) -> bool {
        self.cables == Some(2)
    }

    /// Whether its members are ports of a bridge.
    #[must_use]
    pub fn is_bridge(&self) -> bool {
        !self.is_direct() && !self.is_real()
    }

    /// The adapter that a machine of the lab has on it; the same for all of its hosts.
    #[must_use]
    pub fn adapter_of(&self, at: &Placement) -> Option<&str> {
        at.hosts.iter().find_map(|host| self.adapter_on(host, &at.machine))
    }

    /// The adapter of a member on a machine, without the name of the machine.
    #[must_use]
    pub fn adapter_on(&self, member: &str, machine: &str) -> Option<&str> {
        let own = self.adapters.get(&format!("{member}@{machine}")).map(String::as_str);
        own.or_else(|| self.adapter(member))?.strip_prefix(machine)?.strip_prefix('/')
    }

    /// The adapter of a member, as the plan writes it; `clients` stands for every client.
    #[must_use]
    pub fn adapter(&self, member: &str) -> Option<&str> {
        let of_all = || self.adapters.get(CLIENTS).filter(|_| is_client(member));
        let on_some = || {
            let is_its = |key: &str| key.split_once('@').is_some_and(|(name, _)| name == member);
            self.adapters.iter().find(|(key, _)| is_its(key)).map(|(_, adapter)| adapter)
        };
        self.adapters.get(member).or_else(of_all).or_else(on_some).map(String::as_str)
    }
}

impl LabPlan {
    /// The adapter that a host has on a link, on the machine of this place among those of the lab.
    #[must_use]
    pub fn adapter<'a>(&self, link: &'a LinkPlan, host: &str, place: usize) -> Option<&'a str> {
        match self.machines.get(place) {
            Some(at) => link.adapter_on(host, &at.machine),
            None => link.adapter(host),
        }
    }

    /// Machines on which a host is: several where `sut` is a factor, none in a lab of one machine.
    pub fn machines_of<'a>(&'a self, host: &'a str) -> impl Iterator<Item = &'a str> {
        let has = move |at: &&Placement| at.hosts.iter().any(|name| name == host);
        self.machines.iter().filter(has).map(|at| at.machine.as_str())
    }

    /// Names of all hosts but the switch: the system under test, the clients, what is between.
    #[must_use]
    pub fn host_names(&self) -> Vec<String> {
        let clients = (1..=self.clients).map(|n| format!("c{n:02}"));
        let hosts = std::iter::once(SUT.to_owned()).chain(clients);
        hosts.chain(self.hosts.iter().map(|host| host.name.clone())).collect()
    }

    /// Members of a link, by their place in [`Self::host_names`], in that order. A link that names
    /// none has the system under test and every client.
    #[must_use]
    pub fn members(&self, link: &LinkPlan) -> Vec<usize> {
        if link.members.is_empty() {
            return (0..=self.clients as usize).collect();
        }
        let names = self.host_names();
        (0..names.len()).filter(|at| link.members.contains(&names[*at])).collect()
    }

    /// Whether a link can carry the traffic: the system under test is on it.
    #[must_use]
    pub fn carries(&self, link: &LinkPlan) -> bool {
        self.members(link).contains(&0)
    }

    /// Hosts between links of which this holds, by their place in [`Self::host_names`].
    fn between(&self, holds: fn(Role) -> bool) -> Vec<usize> {
        let first = 1 + self.clients as usize;
        let rows = self.hosts.iter().enumerate().filter(|(_, host)| holds(host.role));
        rows.map(|(at, _)| first + at).collect()
    }

    /// Of each link the first link of its network: links that a switch bridges, or between which a
    /// relay carries frames, are one network.
    #[must_use]
    pub fn networks(&self) -> Vec<usize> {
        let members: Vec<Vec<usize>> = self.links.iter().map(|link| self.members(link)).collect();
        let mut first: Vec<usize> = (0..members.len()).collect();
        for switch in self.between(Role::joins) {
            let on: Vec<usize> =
                (0..members.len()).filter(|link| members[*link].contains(&switch)).collect();
            let least = on.iter().map(|link| first[*link]).min().unwrap_or_default();
            let joined: Vec<usize> = on.iter().map(|link| first[*link]).collect();
            first.iter_mut().filter(|of| joined.contains(of)).for_each(|of| *of = least);
        }
        first
    }

    /// The relay, by its place in [`Self::host_names`].
    #[must_use]
    pub fn relay(&self) -> Option<usize> {
        self.between(|role| role == Role::Relay).first().copied()
    }

    /// How a host reaches each link, by its own adapter or over hosts that forward. Shortest ways,
    /// of equals the first.
    #[must_use]
    pub fn ways(&self, host: usize) -> Vec<Way> {
        let members: Vec<Vec<usize>> = self.links.iter().map(|link| self.members(link)).collect();
        let (networks, forwards) = (self.networks(), self.between(Role::forwards));
        let near = |to: usize| {
            let on =
                |link: &usize| networks[*link] == networks[to] && members[*link].contains(&host);
            match (members[to].contains(&host), (0..members.len()).find(on)) {
                (true, _) => Way::Member,
                (false, Some(link)) => Way::Bridged { link },
                (false, None) => Way::None,
            }
        };
        let mut ways: Vec<Way> = (0..members.len()).map(near).collect();
        let mut reached: Vec<usize> =
            (0..members.len()).filter(|link| ways[*link] != Way::None).collect();
        let mut next = 0;
        while let Some(from) = reached.get(next).copied() {
            next += 1;
            for over in members[from].iter().filter(|at| forwards.contains(at) && **at != host) {
                let beyond = |to: usize| {
                    let joined = |link: &usize| networks[*link] == networks[to];
                    (0..members.len()).filter(joined).any(|link| members[link].contains(over))
                };
                for to in 0..members.len() {
                    if ways[to] == Way::None && beyond(to) {
                        ways[to] = match &ways[from] {
                            Way::Member => Way::Over { link: from, host: *over },
                            Way::Bridged { link } => Way::Over { link: *link, host: *over },
                            before => before.clone(),
                        };
                        reached.push(to);
                    }
                }
            }
        }
        ways
    }
}

/// How a host reaches a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is a member.
    Member,
    /// By one of its own links, which switches or a relay join to that one.
    Bridged {
        /// Place of its own link among the links.
        link: usize,
    },
    /// By one of its own links, on whose network this host forwards.
    Over {
        /// Place of the link among the links.
        link: usize,
        /// Place of the host that forwards among the hosts.
        host: usize,
    },
    /// It does not.
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab(clients: u32, between: &[&str], links: &[(&str, &[&str])]) -> LabPlan {
        let host = |name: &&str| HostPlan { name: (*name).into(), role: Role::Device };
        let link = |(name, members): &(&str, &[&str])| LinkPlan {
            members: members.iter().map(|m| (*m).to_owned()).collect(),
            ..LinkPlan::of_all(name)
        };
        let (links, hosts) = (links.iter().map(link).collect(), between.iter().map(host).collect());
        LabPlan { clients, links, hosts, ..LabPlan::default() }
    }

    #[test]
    fn a_link_that_names_no_member_has_the_server_and_every_client() {
        let lab = lab(2, &["box"], &[("lan", &[]), ("back", &["box", "c02"])]);
        assert_eq!(lab.host_names(), ["sut", "c01", "c02", "box"]);
        assert_eq!(lab.members(&lab.links[0]), [0, 1, 2]);
        assert_eq!(lab.members(&lab.links[1]), [2, 3]);
    }

    #[test]
    fn a_way_goes_over_hosts_that_forward_and_over_no_client() {
        let lab = lab(
            2,
            &["one", "two"],
            &[
                ("a", &["c01", "c02", "one"]),
                ("b", &["one", "two"]),
                ("c", &["two", "sut"]),
                ("d", &["c02", "sut"]),
            ],
        );
        let over = |link, host| Way::Over { link, host };
        assert_eq!(lab.ways(1), [Way::Member, over(0, 3), over(0, 3), Way::None]);
        assert_eq!(lab.ways(0), [over(2, 4), over(2, 4), Way::Member, Way::Member]);
        assert_eq!(lab.ways(3), [Way::Member, Way::Member, over(1, 4), Way::None]);
    }

    #[test]
    fn links_that_a_switch_bridges_are_one_network() {
        let mut lab = lab(
            2,
            &["patch", "box", "tap"],
            &[
                ("a", &["c01", "patch", "tap"]),
                ("b", &["patch", "box", "c02"]),
                ("c", &["box", "sut"]),
            ],
        );
        lab.hosts[0].role = Role::Switch;
        lab.hosts[2].role = Role::Tester;
        assert_eq!(lab.networks(), [0, 0, 2]);
        let over = |link| Way::Over { link, host: 4 };
        assert_eq!(lab.ways(1), [Way::Member, Way::Bridged { link: 0 }, over(0)]);
        assert_eq!(lab.ways(2), [Way::Bridged { link: 1 }, Way::Member, over(1)]);
        assert_eq!(lab.ways(0), [over(2), over(2), Way::Member]);
        lab.hosts[1].role = Role::Tester;
        assert_eq!(lab.ways(0), [Way::None, Way::None, Way::Member], "a tester passes nothing on");
    }

    #[test]
    fn clients_may_share_an_adapter_by_one_word() {
        let mut link = LinkPlan::of_all("lan");
        link.adapters.insert(CLIENTS.into(), "eth2".into());
        link.adapters.insert("c02".into(), "eth3".into());
        assert_eq!(link.adapter("c01"), Some("eth2"));
        assert_eq!(link.adapter("c02"), Some("eth3"));
        assert_eq!(link.adapter(SUT), None);
    }
}
