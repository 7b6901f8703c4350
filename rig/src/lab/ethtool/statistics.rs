//! Knows what an adapter counts besides its standard statistics: pause frames (IEEE 802.3 annex
//! 31B), the groups of IEEE 802.3 and RFC 2819 that count errors, and what only its driver names.
//!
//! Each answer takes the kernel's RTNL lock while the driver asks its device. Must not know when
//! that may be done, or what a count means.

use super::attribute::{attributes, find, find_u32, put, put_nested, put_text};
use super::number::Asks;
use super::{Ethtool, EthtoolError, HEADER, HEADER_DEV_NAME, bitset, driver, optional, plausible};
use std::collections::BTreeMap;
use std::os::fd::AsRawFd;

/// Counts of one adapter at one moment, by name.
pub type Counters = BTreeMap<String, u64>;

/// Messages and attributes of `linux/ethtool_netlink.h`.
const PAUSE_GET: u8 = 21;
const STATS_GET: u8 = 32;
const HEADER_FLAGS: u16 = 3;
const WITH_STATISTICS: u32 = 1 << 2;
const PAUSE_STATISTICS: u16 = 5;
/// Pause frames by their attribute.
const PAUSES: [(u16, &str); 2] = [(2, "tx_pause"), (3, "rx_pause")];
/// The header of statistics, groups that are asked for, a group, its number, its counts.
const STATS_HEADER: u16 = 2;
const STATS_GROUPS: u16 = 3;
const STATS_GROUP: u16 = 4;
const GROUP_ID: u16 = 2;
const GROUP_COUNT: u16 = 4;
/// Groups in the order of their numbers.
const GROUPS: [&str; 4] = ["eth-phy", "eth-mac", "eth-ctrl", "rmon"];
/// Number of the group, of the count, and our name of it. What was carried is in the standard
/// statistics of the kernel and is left out.
const COUNTS: [(u32, u16, &str); 20] = [
    (0, 0, "symbol_errors"),
    (1, 1, "single_collisions"),
    (1, 2, "multiple_collisions"),
    (1, 4, "fcs_errors"),
    (1, 5, "alignment_errors"),
    (1, 7, "deferred"),
    (1, 8, "late_collisions"),
    (1, 9, "excessive_collisions"),
    (1, 10, "tx_internal_errors"),
    (1, 11, "carrier_sense_errors"),
    (1, 13, "rx_internal_errors"),
    (1, 16, "excessive_deferral"),
    (1, 19, "in_range_length_errors"),
    (1, 20, "out_of_range_length"),
    (1, 21, "too_long_errors"),
    (2, 2, "unsupported_control_frames"),
    (3, 0, "undersize"),
    (3, 1, "oversize"),
    (3, 2, "fragments"),
    (3, 3, "jabbers"),
];

impl Ethtool {
    /// Pause frames and errors by the names of this file, and the driver's as `driver.NAME`; what
    /// the driver does not count is absent.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn counters(&mut self, name: &str) -> Result<Counters, EthtoolError> {
        let mut all = standard(&mut self.connection, name)?;
        let own = driver::counts(self.connection.as_raw_fd(), name)
            .map_err(|refusal| EthtoolError::of(refusal, "read the driver's statistics", name));
        let own = optional(own)?.unwrap_or_default();
        all.extend(own.into_iter().map(|(name, count)| (format!("driver.{name}"), count)));
        Ok(all)
    }
}

/// Pause frames and groups.
pub(super) fn standard(from: &mut impl Asks, name: &str) -> Result<Counters, EthtoolError> {
    plausible(name)?;
    let mut ask = |command, op: &str, body: &[u8]| {
        let reply = from.request(command, body);
        optional(reply.map_err(|refusal| EthtoolError::of(refusal, op, name)))
    };
    let mut device = Vec::new();
    put_text(&mut device, HEADER_DEV_NAME, name);
    put(&mut device, HEADER_FLAGS, &WITH_STATISTICS.to_ne_bytes());
    let mut body = Vec::new();
    put_nested(&mut body, HEADER, &device);
    let mut all = Counters::new();
    if let Some(reply) = ask(PAUSE_GET, "read the pause frames", &body)? {
        let counts = find(&reply, PAUSE_STATISTICS).unwrap_or_default();
        let known =
            |(kind, name): (u16, &str)| Some((name.to_owned(), number(find(counts, kind)?)?));
        all.extend(PAUSES.into_iter().filter_map(known));
    }
    if let Some(reply) = ask(STATS_GET, "read the statistics", &groups(name))? {
        let of_reply = attributes(&reply).filter(|(kind, _)| *kind == STATS_GROUP);
        all.extend(of_reply.flat_map(|(_, group)| of_group(group)));
    }
    Ok(all)
}

/// The request for all groups.
fn groups(name: &str) -> Vec<u8> {
    let (mut device, mut body) = (Vec::new(), Vec::new());
    put_text(&mut device, HEADER_DEV_NAME, name);
    put_nested(&mut body, STATS_HEADER, &device);
    let wanted = GROUPS.map(|group| (group.to_owned(), true));
    put_nested(&mut body, STATS_GROUPS, &bitset::write(&wanted));
    body
}

/// The counts of a group that have a name here.
fn of_group(group: &[u8]) -> Vec<(String, u64)> {
    let Some(id) = find_u32(group, GROUP_ID) else { return Vec::new() };
    let counts = attributes(group).filter(|(kind, _)| *kind == GROUP_COUNT);
    let named = |(at, value): (u16, &[u8])| {
        let known = COUNTS.iter().find(|(of, count, _)| (*of, *count) == (id, at))?;
        Some((known.2.to_owned(), number(value)?))
    };
    counts.flat_map(|(_, count)| attributes(count)).filter_map(named).collect()
}

/// A count; the kernel writes 64 bits.
fn number(value: &[u8]) -> Option<u64> {
    Some(u64::from_ne_bytes(value.try_into().ok()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::attribute::text;
    use super::super::netlink::Refusal;
    use super::*;

    /// A kernel with one adapter, `eth7`, that answers as `net/ethtool/pause.c` and `stats.c` do.
    #[derive(Default)]
    pub struct Simulated {
        /// Pause frames, sent and received; none where the driver counts none.
        pub pause: Option<[u64; 2]>,
        /// Group, number of the count, count.
        pub counts: Vec<(u32, u16, u64)>,
        /// Whether the kernel has the messages at all.
        pub old: bool,
    }

    impl Simulated {
        /// What it counts, as is read of any adapter.
        pub fn counters(&mut self) -> Counters {
            standard(self, "eth7").unwrap()
        }
    }

    impl Asks for Simulated {
        fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal> {
            let kernel = |errno| Refusal::Kernel { errno, words: String::new() };
            let header = find(body, if command == STATS_GET { 2 } else { 1 }).unwrap();
            if text(find(header, 2).unwrap()) != "eth7" {
                return Err(kernel(libc::ENODEV));
            }
            if self.old {
                return Err(kernel(libc::EOPNOTSUPP));
            }
            let mut reply = Vec::new();
            if command == 21 {
                assert_eq!(find_u32(header, 3), Some(4), "ETHTOOL_FLAG_STATS");
                let mut counts = Vec::new();
                for (kind, count) in (2..).zip(self.pause.into_iter().flatten()) {
                    put(&mut counts, 1, &[]);
                    put(&mut counts, kind, &count.to_ne_bytes());
                }
                put(&mut reply, 3, &[1]);
                put_nested(&mut reply, 5, &counts);
                return Ok(reply);
            }
            assert_eq!(command, 32);
            let wanted = bitset::read(find(body, 3).unwrap());
            for (id, (name, asked)) in (0_u32..).zip(wanted) {
                assert!(asked && GROUPS[id as usize] == name);
                let mut group = Vec::new();
                put(&mut group, 2, &id.to_ne_bytes());
                put(&mut group, 3, &17_u32.to_ne_bytes());
                for (_, at, count) in self.counts.iter().filter(|(of, _, _)| *of == id) {
                    let mut one = Vec::new();
                    put(&mut one, *at, &count.to_ne_bytes());
                    put_nested(&mut group, 4, &one);
                }
                put_nested(&mut reply, 4, &group);
            }
            Ok(reply)
        }
    }

    #[test]
    fn pause_frames_and_errors_have_names_and_what_was_carried_is_left_out() {
        let counts = vec![(1, 4, 7), (1, 3, 1 << 40), (0, 0, 2), (3, 3, 1), (2, 2, u64::MAX)];
        let mut kernel = Simulated { pause: Some([5, 1 << 33]), counts, old: false };
        let told = standard(&mut kernel, "eth7").unwrap();
        let told: Vec<(&str, u64)> = told.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(
            told,
            [
                ("fcs_errors", 7),
                ("jabbers", 1),
                ("rx_pause", 1 << 33),
                ("symbol_errors", 2),
                ("tx_pause", 5),
                ("unsupported_control_frames", u64::MAX),
            ]
        );
    }

    #[test]
    fn what_a_driver_or_kernel_does_not_count_is_absent_and_an_adapter_that_went_an_error() {
        let mut silent = Simulated::default();
        assert!(standard(&mut silent, "eth7").unwrap().is_empty());
        let mut old = Simulated { pause: Some([1, 1]), old: true, ..Simulated::default() };
        assert!(standard(&mut old, "eth7").unwrap().is_empty());
        let gone = standard(&mut silent, "eth8");
        assert!(matches!(gone, Err(EthtoolError::NoSuchLink { .. })), "{gone:?}");
        assert_eq!(of_group(&[9, 9, 9]), [], "no bytes are a panic");
        assert_eq!(number(&[1, 2, 3, 4]), None);
    }
}
