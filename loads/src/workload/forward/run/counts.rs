//! Knows which counters of a host tell where frames went, and what its CPUs did.
//!
//! Must not know which frames these were.

use crate::engine::packet::live::Totals;
use crate::engine::packet::live::bridge::PortCounts;
use desk::record::Distribution;
use rig::lab::filter::SHOWN;
use rig::lab::link::{LinkInfo, Routes};
use serde::{Deserialize, Serialize};

/// Counters of IPv4 that grow with a packet that goes no further (RFC 1213, `/proc/net/snmp`).
const IP_DROPS: [&str; 6] =
    ["InHdrErrors", "InAddrErrors", "InUnknownProtos", "InDiscards", "OutDiscards", "OutNoRoutes"];

/// The same of IPv6 (RFC 4293, `/proc/net/snmp6`).
const IP6_DROPS: [&str; 8] = [
    "Ip6InHdrErrors",
    "Ip6InTooBigErrors",
    "Ip6InNoRoutes",
    "Ip6InAddrErrors",
    "Ip6InUnknownProtos",
    "Ip6InDiscards",
    "Ip6OutDiscards",
    "Ip6OutNoRoutes",
];

/// Drops of IPv4 for want of a route on, or of a route back (`rp_filter`; `/proc/net/netstat`).
const ROUTE_DROPS: [(&str, &str); 2] =
    [("IpExt: ", "InNoRoutes"), ("TcpExt: ", "IPReversePathFilter")];

/// What a host counted so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Packets dropped, by the counter that tells so.
    pub drops: Vec<(String, u64)>,
    /// What a fast path counted, by port.
    pub ports: Vec<(String, PortCounts)>,
    /// What its sink counted.
    pub sink: Option<Totals>,
    /// How long frames of the window took.
    pub times: Option<Distribution>,
    /// Whether its bridges show frames to the filter of IP.
    pub filtered: bool,
}

/// Whether a bridge of this namespace shows frames to the filter of IP, as bridges do where
/// nothing else was set (`br_netfilter`); these are the links there.
pub fn filtered(links: &[LinkInfo]) -> bool {
    let is_on = |path: &str| {
        let told = std::fs::read_to_string(format!("/proc/sys/net/{path}"));
        told.is_ok_and(|text| text.trim() != "0")
    };
    let bridges = links.iter().any(|link| link.kind.as_deref() == Some("bridge"));
    bridges && SHOWN.iter().any(|path| is_on(path))
}

/// Packets dropped on these links and elsewhere in the network namespace of this process, without
/// those of adapters that frames leave by: what a virtual adapter could not hand over, the other
/// end counts.
///
/// # Errors
/// What netlink says.
pub fn drops(
    (routes, links): (&mut Routes, &[LinkInfo]),
    sends: &[&str],
) -> Result<Vec<(String, u64)>, String> {
    let mut all = Vec::new();
    for link in links {
        all.extend(of_link(link, sends));
        let shaper = routes.shaper(&link.name).ok().flatten();
        if let Some(shaper) = shaper {
            all.push((format!("{} {}", link.name, shaper.kind), u64::from(shaper.drops)));
        }
    }
    let snmp = std::fs::read_to_string("/proc/self/net/snmp").unwrap_or_default();
    all.extend(of_ip(&snmp));
    all.extend(of_routes(&std::fs::read_to_string("/proc/self/net/netstat").unwrap_or_default()));
    all.extend(of_ip6(&std::fs::read_to_string("/proc/self/net/snmp6").unwrap_or_default()));
    Ok(all)
}

fn of_link(link: &LinkInfo, sends: &[&str]) -> Vec<(String, u64)> {
    let LinkInfo { name, kind, counters, .. } = link;
    let handed_over = kind.as_deref() == Some("veth") && sends.contains(&name.as_str());
    let mut all = vec![
        (format!("{name} rx_dropped"), counters.rx_dropped),
        (format!("{name} rx_errors"), counters.rx_errors),
        (format!("{name} rx_missed"), counters.rx_missed),
    ];
    if !handed_over {
        all.push((format!("{name} tx_dropped"), counters.tx_dropped));
        all.push((format!("{name} tx_errors"), counters.tx_errors));
    }
    all
}

/// The counters of IPv4 of a text of `/proc/net/snmp`: a line of names, then one of numbers.
fn of_ip(text: &str) -> Vec<(String, u64)> {
    let wanted = counters(text, "Ip: ").filter(|(name, _)| IP_DROPS.contains(name));
    wanted.map(|(name, count)| (format!("ip {name}"), count)).collect()
}

/// Drops for want of a route, of a text of `/proc/net/netstat`.
fn of_routes(text: &str) -> Vec<(String, u64)> {
    let of = |(group, wanted): (&str, &str)| {
        let found = counters(text, group).find(|(name, _)| *name == wanted);
        found.map(|(name, count)| (format!("ip {name}"), count))
    };
    ROUTE_DROPS.into_iter().filter_map(of).collect()
}

/// The counters of a group: a line of names, then one of numbers.
fn counters<'t>(text: &'t str, group: &str) -> impl Iterator<Item = (&'t str, u64)> {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    let mut words = || lines.next().unwrap_or_default().split_ascii_whitespace();
    let (names, numbers) = (words(), words());
    names.zip(numbers).filter_map(|(name, number)| Some((name, number.parse().ok()?)))
}

/// Packets that a host has forwarded, by its own counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forwarded {
    /// Those that IPv4 and IPv6 forwarded (`ForwDatagrams`, RFC 1213 and 4293).
    pub routed: u64,
    /// Those that its adapters sent; bridges, which count them once more, are left out.
    pub sent: u64,
}

impl Forwarded {
    /// Of the network namespace of this process.
    ///
    /// # Errors
    /// What netlink says.
    pub fn now(routes: &mut Routes) -> Result<Self, String> {
        let links = routes.links().map_err(|e| e.to_string())?;
        let read = |name| std::fs::read_to_string(name).unwrap_or_default();
        let [fourth, sixth] = ["/proc/self/net/snmp", "/proc/self/net/snmp6"].map(read);
        Ok(Self { routed: routed(&fourth) + routed_of_ip6(&sixth), sent: sent(&links) })
    }

    /// Packets forwarded since an earlier reading: by IP where the host routes, else by adapters.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        match self.routed.saturating_sub(earlier.routed) {
            0 => self.sent.saturating_sub(earlier.sent),
            routed => routed,
        }
    }
}

fn routed(snmp: &str) -> u64 {
    let told = counters(snmp, "Ip: ").find(|(name, _)| *name == "ForwDatagrams");
    told.map_or(0, |(_, count)| count)
}

fn routed_of_ip6(snmp6: &str) -> u64 {
    let of = |line: &str| line.strip_prefix("Ip6OutForwDatagrams")?.trim().parse().ok();
    snmp6.lines().find_map(of).unwrap_or(0)
}

fn sent(links: &[LinkInfo]) -> u64 {
    let own = |link: &&LinkInfo| link.name != "lo" && link.kind.as_deref() != Some("bridge");
    links.iter().filter(own).map(|link| link.counters.tx_packets).sum()
}

/// The counters of IPv6 of a text of `/proc/net/snmp6`: a name and a number a line.
fn of_ip6(text: &str) -> Vec<(String, u64)> {
    let read = |line: &str| {
        let (name, number) = line.split_once(char::is_whitespace)?;
        let name = IP6_DROPS.iter().find(|known| **known == name)?.strip_prefix("Ip6")?;
        Some((format!("ip6 {name}"), number.trim().parse().ok()?))
    };
    text.lines().filter_map(read).collect()
}

/// Time of a CPU since boot, ticks of `/proc/stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticks {
    /// Idle, or waiting for a disk.
    pub idle: u64,
    /// All of it.
    pub all: u64,
}

impl Ticks {
    /// Of a CPU now; none where the kernel does not tell.
    #[must_use]
    pub fn now(cpu: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?, cpu)
    }

    /// user, nice, system, idle, iowait, irq, softirq, steal; what guests had is in the first two.
    fn parse(text: &str, cpu: u32) -> Option<Self> {
        let name = format!("cpu{cpu}");
        let line = text.lines().find(|line| line.split_ascii_whitespace().next() == Some(&name))?;
        let numbers: Vec<u64> =
            line.split_ascii_whitespace().skip(1).take(8).map_while(|n| n.parse().ok()).collect();
        Some(Self { idle: numbers.get(3)? + numbers.get(4)?, all: numbers.iter().sum() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig::lab::link::Counters;

    #[test]
    fn the_counters_of_ip_are_found_by_their_names() {
        let text = "Ip: Forwarding InHdrErrors ForwDatagrams OutNoRoutes\nIp: 1 7 99 3\nTcp: x\n";
        let told = of_ip(text);
        assert_eq!(told, [("ip InHdrErrors".to_owned(), 7), ("ip OutNoRoutes".to_owned(), 3)]);
        assert!(of_ip("").is_empty());
        let text = "Ip6InReceives   \t5\nIp6InNoRoutes  \t 7\nIp6OutDiscards\t0\nUdp6InErrors 9\n";
        let told = of_ip6(text);
        assert_eq!(told, [("ip6 InNoRoutes".to_owned(), 7), ("ip6 OutDiscards".to_owned(), 0)]);
    }

    #[test]
    fn a_router_counts_by_ip_and_a_bridge_by_what_its_ports_sent() {
        let text = "Ip: Forwarding ForwDatagrams OutNoRoutes\nIp: 1 99 3\n";
        assert_eq!((routed(text), routed("")), (99, 0));
        let text = "Ip6OutRequests \t5\nIp6OutForwDatagrams   \t42\n";
        assert_eq!((routed_of_ip6(text), routed_of_ip6("")), (42, 0));
        let link = |name: &str, kind: &str, tx_packets| LinkInfo {
            name: name.into(),
            kind: Some(kind.into()),
            counters: Counters { tx_packets, ..Counters::default() },
            ..LinkInfo::default()
        };
        let links = [link("lo", "none", 1), link("br", "bridge", 10), link("a", "veth", 100)];
        assert_eq!(sent(&links), 100);
        let earlier = Forwarded { routed: 7, sent: 50 };
        assert_eq!(Forwarded { routed: 7, sent: 90 }.since(earlier), 40);
        assert_eq!(Forwarded { routed: 20, sent: 90 }.since(earlier), 13, "ARP is not forwarded");
    }

    #[test]
    fn what_a_virtual_sender_could_not_hand_over_counts_at_the_other_end() {
        let link = LinkInfo {
            name: "lan".into(),
            kind: Some("veth".into()),
            counters: Counters { rx_dropped: 1, tx_dropped: 2, ..Counters::default() },
            ..LinkInfo::default()
        };
        let sum = |told: Vec<(String, u64)>| told.iter().map(|(_, count)| count).sum::<u64>();
        assert_eq!(sum(of_link(&link, &[])), 3);
        assert_eq!(sum(of_link(&link, &["lan"])), 1);
        let real = LinkInfo { kind: None, ..link };
        assert_eq!(sum(of_link(&real, &["lan"])), 3, "of a cable nobody else counts them");
    }

    #[test]
    fn idle_time_of_a_cpu_is_read() {
        let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu1 1 2 3 40 5 6 7 8 1 2\ncpu11 0 0 0 0 0 0 0 0\n";
        assert_eq!(Ticks::parse(text, 1), Some(Ticks { idle: 45, all: 72 }));
        assert_eq!(Ticks::parse(text, 2), None);
    }
}
