//! Knows how many packets of each version of IP the ends of a load received between staging and
//! the end, and whether they are of the version that was asked for.
//!
//! The kernel counts them in each network namespace (`InReceives` of `/proc/net/snmp`,
//! `Ip6InReceives` of `/proc/net/snmp6`). A host that is the machine itself, and any on loopback,
//! has packets of others among them. Must not know what the load was.

use super::reading;
use crate::lab::wire::{LinkAnswer, LinkRequest};
use crate::lab::{IpVersion, Lab, LabError, SUT};
use desk::record::{Fault, LabKind, Reading};
use desk::unit::Unit;

/// Packets so far, of the system under test and of every client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    hosts: Vec<Host>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    name: String,
    /// Whether others have packets in these counts.
    shared: bool,
    /// Of IPv4 and of IPv6.
    packets: [u64; 2],
}

impl Received {
    /// Reads them.
    ///
    /// # Errors
    /// When a host is gone or does not answer.
    pub fn read(lab: &mut Lab) -> Result<Self, LabError> {
        let hosts: Vec<usize> = std::iter::once(SUT).chain(lab.client_indexes()).collect();
        let work = hosts.iter().map(|at| (*at, vec![LinkRequest::Received])).collect();
        let mut read = Self::default();
        for (at, answers) in hosts.into_iter().zip(lab.ask_links(work)?) {
            let shared = lab.kind == LabKind::Loopback || lab.is_machine(at);
            for answer in answers {
                let LinkAnswer::Received(packets) = answer else { continue };
                read.hosts.push(Host { name: lab.name(at).to_owned(), shared, packets });
            }
        }
        Ok(read)
    }

    /// What came since `before`, by host and version.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "packets of a trial are far below 2^53")]
    pub fn since(&self, before: &Self) -> Vec<Reading> {
        let row = |(now, then): (&Host, &Host)| {
            let gained = gained(now, then);
            let of = |key, packets: u64| reading("ip", &now.name, key, packets as f64, Unit::Count);
            [of("received.4", gained[0]), of("received.6", gained[1])]
        };
        self.hosts.iter().zip(&before.hosts).flat_map(row).collect()
    }

    /// Whether the load went over this version: hosts that receive nothing but the load's packets
    /// received more of it than of the other; hosts with packets of others received some.
    ///
    /// # Errors
    /// With the counts, where it did not.
    pub fn went_over(&self, before: &Self, version: IpVersion) -> Result<(), Fault> {
        let (mut ours, mut all) = ([0; 2], [0; 2]);
        for (now, then) in self.hosts.iter().zip(&before.hosts) {
            let gained = gained(now, then);
            for at in 0..2 {
                all[at] += gained[at];
                ours[at] += if now.shared { 0 } else { gained[at] };
            }
        }
        let at = usize::from(version == IpVersion::Six);
        let alone = self.hosts.iter().any(|host| !host.shared);
        if if alone { ours[at] > ours[1 - at] } else { all[at] > 0 } {
            return Ok(());
        }
        let [fourth, sixth] = if alone { ours } else { all };
        let asked = if version == IpVersion::Six { 6 } else { 4 };
        let what = format!(
            "factor 'ip_version' did not take: asked {asked}, and the hosts received {fourth} \
             packets of IPv4 and {sixth} of IPv6"
        );
        Err(Fault::Factor { what })
    }
}

fn gained(now: &Host, then: &Host) -> [u64; 2] {
    [0, 1].map(|at| now.packets[at].saturating_sub(then.packets[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(hosts: &[(&str, bool, [u64; 2])]) -> Received {
        let host = |(name, shared, packets): &(&str, bool, [u64; 2])| Host {
            name: (*name).into(),
            shared: *shared,
            packets: *packets,
        };
        Received { hosts: hosts.iter().map(host).collect() }
    }

    #[test]
    fn each_host_tells_what_it_received_of_either_version() {
        let before = received(&[("sut", false, [10, 20]), ("c01", false, [0, 5])]);
        let after = received(&[("sut", false, [11, 520]), ("c01", false, [0, 9])]);
        let rows = after.since(&before);
        let told: Vec<(&str, &str, f64)> =
            rows.iter().map(|r| (r.host.name(), r.key.as_str(), r.quantity.value)).collect();
        let sut = [("sut", "received.4", 1.0), ("sut", "received.6", 500.0)];
        assert_eq!(
            told,
            [&sut[..], &[("c01", "received.4", 0.0), ("c01", "received.6", 4.0)]].concat()
        );
    }

    #[test]
    fn packets_of_the_other_version_are_a_fault() {
        let before = received(&[("sut", false, [10, 20]), ("c01", false, [0, 0])]);
        let after = received(&[("sut", false, [900, 22]), ("c01", false, [800, 2])]);
        assert_eq!(after.went_over(&before, IpVersion::Four), Ok(()));
        let Err(Fault::Factor { what }) = after.went_over(&before, IpVersion::Six) else {
            panic!("a fault")
        };
        assert!(what.contains("1690 packets of IPv4 and 4 of IPv6"), "{what}");
        assert!(before.went_over(&before, IpVersion::Six).is_err(), "nothing came at all");
    }

    #[test]
    fn where_others_are_counted_too_some_packets_are_enough() {
        let before = received(&[("sut", true, [0, 0]), ("c01", true, [0, 0])]);
        let after = received(&[("sut", true, [9000, 40]), ("c01", true, [9000, 40])]);
        assert_eq!(after.went_over(&before, IpVersion::Six), Ok(()));
        assert!(before.went_over(&before, IpVersion::Six).is_err());
        // A client in a namespace tells of the load alone.
        let apart = received(&[("sut", true, [9000, 40]), ("c01", false, [30, 10])]);
        assert!(apart.went_over(&before, IpVersion::Six).is_err());
    }
}
