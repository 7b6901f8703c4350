//! Knows which ports of a host are joined by a fast path instead of the kernel's bridge, and what
//! that counted.
//!
//! Must not know the other hosts, nor what is sent.

use super::engine::Refusal;
use super::message::{FastPath, Joining};
use crate::engine::packet::live::bridge::pair::{Duties, Pair};
use crate::engine::packet::live::bridge::{Bridge, BridgeError, PortCounts};
use crate::engine::packet::rules::Rule;
use rig::lab::agent;
use rig::lab::link::{LinkInfo, Routes};

/// The kind of a bridge of the kernel.
const BRIDGE: &str = "bridge";
const LOOPBACK: &str = "lo";

/// Ports that are joined, two by two.
#[derive(Debug, Default)]
pub struct Joined(Vec<([String; 2], Path)>);

/// What joins two ports.
#[derive(Debug)]
enum Path {
    Program(Box<Bridge>),
    Process(Pair),
}

impl Path {
    fn attach(how: &Joining, ports: [u32; 2], rules: &[Rule]) -> Result<Self, BridgeError> {
        Ok(match how.by {
            FastPath::Program => Self::Program(Box::new(Bridge::attach(ports, rules)?)),
            FastPath::Process => {
                let Joining { wanted, plants, .. } = *how;
                let duties = Duties { rules: rules.to_vec(), wanted, plants };
                Self::Process(Pair::attach(ports, &duties, agent::take_started_nice)?)
            }
        })
    }

    fn counts(&self) -> Result<[PortCounts; 2], String> {
        match self {
            Self::Program(bridge) => bridge.counts().map_err(|e| e.to_string()),
            Self::Process(pair) => pair.counts(),
        }
    }
}

impl Joined {
    /// Joins the two ports of each bridge of this network namespace.
    ///
    /// # Errors
    /// Ports that are not two by two; what the kernel says.
    pub fn all(how: &Joining) -> Result<Self, Refusal> {
        let rules = how.near.list();
        let links = Routes::open().and_then(|mut routes| routes.links());
        let links = links.map_err(Refusal::failed)?;
        let join = |ports: [&LinkInfo; 2]| {
            let names = ports.map(|port| port.name.clone());
            Ok((names, Path::attach(how, ports.map(|port| port.index), &rules)?))
        };
        let pairs = pairs(&links).map_err(Refusal::Lacks)?;
        let joined: Result<_, BridgeError> = pairs.into_iter().map(join).collect();
        Ok(Self(joined?))
    }

    /// What each port counted, by its name.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn counts(&self) -> Result<Vec<(String, PortCounts)>, String> {
        let mut all = Vec::new();
        for (names, path) in &self.0 {
            all.extend(names.iter().cloned().zip(path.counts()?));
        }
        Ok(all)
    }
}

/// The ports of each bridge, two by two.
///
/// # Errors
/// A link that no bridge has; a bridge of more or fewer ports than two.
pub fn pairs(links: &[LinkInfo]) -> Result<Vec<[&LinkInfo; 2]>, String> {
    let is_bridge = |link: &LinkInfo| link.kind.as_deref() == Some(BRIDGE);
    let bridges = || links.iter().filter(|link| is_bridge(link));
    let own = |link: &&LinkInfo| {
        let ported = bridges().any(|bridge| link.master == Some(bridge.index));
        link.up && !is_bridge(link) && link.name != LOOPBACK && !ported
    };
    if let Some(link) = links.iter().find(own) {
        return Err(format!(
            "{} is no port of a bridge, and a fast path takes the place of one; take \
             role = \"switch\", or fast_path = \"off\"",
            link.name
        ));
    }
    let mut pairs = Vec::new();
    for bridge in bridges() {
        let ports: Vec<&LinkInfo> =
            links.iter().filter(|link| link.master == Some(bridge.index)).collect();
        match ports.as_slice() {
            [] => {}
            [near, far] => pairs.push([*near, *far]),
            ports => {
                return Err(format!(
                    "a fast path joins two ports of a bridge, and this one has {}; let a \
                     switch stand on two links, or take fast_path = \"off\"",
                    ports.len()
                ));
            }
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32, kind: Option<&str>, master: Option<u32>) -> LinkInfo {
        let (name, kind) = (format!("l{index}"), kind.map(str::to_owned));
        LinkInfo { index, name, kind, master, up: true, ..LinkInfo::default() }
    }

    #[test]
    fn two_ports_of_a_bridge_are_a_pair() {
        let lo = LinkInfo { name: "lo".into(), up: true, index: 1, ..LinkInfo::default() };
        let idle = LinkInfo { up: false, ..link(9, Some("sit"), None) };
        let links = [
            lo,
            link(2, Some("bridge"), None),
            link(3, Some("veth"), Some(2)),
            link(4, None, Some(2)),
            link(5, Some("bridge"), None),
            idle,
        ];
        let found = pairs(&links).unwrap();
        assert_eq!(found.iter().map(|p| p.map(|l| l.index)).collect::<Vec<_>>(), [[3, 4]]);
        assert!(pairs(&links[..1]).unwrap().is_empty());
    }

    #[test]
    fn routers_and_bridges_of_more_ports_are_refused() {
        let routed = pairs(&[link(3, Some("veth"), None)]).unwrap_err();
        assert!(routed.contains("l3 is no port of a bridge") && routed.contains("switch"));
        let three = [2, 3, 4].map(|index| link(index, Some("veth"), Some(1)));
        let links: Vec<LinkInfo> =
            [link(1, Some("bridge"), None)].into_iter().chain(three).collect();
        let many = pairs(&links).unwrap_err();
        assert!(many.contains("this one has 3"), "{many}");
        assert!(pairs(&links[..2]).unwrap_err().contains("this one has 1"));
    }
}
