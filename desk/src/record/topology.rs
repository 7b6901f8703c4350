//! Knows the shape of a lab as data: which hosts there are, their roles, and who is on which link.
//!
//! Never: addresses, or how a link is made.

use super::plan::{LabPlan, LinkPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the system under test.
pub const SUT: &str = "sut";

/// What a host that is neither the system under test nor a client is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It forwards between its links, and what it costs is of interest.
    Device,
    /// It forwards between its links, as a part of the path; its cost is the tester's.
    Relay,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 2] = [Self::Device, Self::Relay];

    /// As a plan writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Relay => "relay",
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
}

impl LinkKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Bridge, Self::Direct];

    /// As a plan writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Direct => "direct",
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
        Self { name, settings, members: Vec::new(), kind: None }
    }

    /// Whether it is one cable.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.kind == Some(LinkKind::Direct)
    }
}

impl LabPlan {
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

    /// How a host reaches each link, by its own adapter or over hosts that forward. Shortest ways,
    /// of equals the first.
    #[must_use]
    pub fn ways(&self, host: usize) -> Vec<Way> {
        let members: Vec<Vec<usize>> = self.links.iter().map(|link| self.members(link)).collect();
        let first_between = 1 + self.clients as usize;
        let mut ways: Vec<Way> = members
            .iter()
            .map(|on| if on.contains(&host) { Way::Member } else { Way::None })
            .collect();
        let mut reached: Vec<usize> =
            (0..members.len()).filter(|link| ways[*link] == Way::Member).collect();
        let mut next = 0;
        while let Some(from) = reached.get(next).copied() {
            next += 1;
            for over in members[from].iter().filter(|at| **at >= first_between && **at != host) {
                for to in 0..members.len() {
                    if ways[to] == Way::None && members[to].contains(over) {
                        ways[to] = match &ways[from] {
                            Way::Member => Way::Over { link: from, host: *over },
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
    /// By one of its own links, from which this host forwards.
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
    use std::collections::BTreeMap;

    fn lab(clients: u32, between: &[&str], links: &[(&str, &[&str])]) -> LabPlan {
        let host = |name: &&str| HostPlan { name: (*name).into(), role: Role::Device };
        let link = |(name, members): &(&str, &[&str])| LinkPlan {
            members: members.iter().map(|m| (*m).to_owned()).collect(),
            ..LinkPlan::of_all(name)
        };
        LabPlan {
            clients,
            client_rate: None,
            settings: BTreeMap::new(),
            links: links.iter().map(link).collect(),
            hosts: between.iter().map(host).collect(),
        }
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
}
