//! Knows how a host counts the packets of IP that it received, and whether it has addresses of
//! IPv6.
//!
//! Must not know who sent them, nor which version a load was asked to use.

use super::adapter::is_benchmark;
use std::fs::read_to_string;
use std::net::{IpAddr, Ipv6Addr};

/// Of `linux/if_addr.h`: the address is not used yet.
const TENTATIVE: u32 = 0x40;

/// Packets of IPv4 and of IPv6 that the network namespace of the calling thread received since it
/// was made; 0 where the kernel does not tell.
pub(super) fn received() -> [u64; 2] {
    let text = |file: &str| read_to_string(format!("/proc/thread-self/net/{file}"));
    let [fourth, sixth] = ["snmp", "snmp6"].map(|file| text(file).unwrap_or_default());
    [of_fourth(&fourth).unwrap_or(0), of_sixth(&sixth).unwrap_or(0)]
}

/// `InReceives` of the pair of lines `Ip:` of `/proc/net/snmp`.
fn of_fourth(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
    pairs.find(|(name, _)| *name == "InReceives")?.1.parse().ok()
}

/// `Ip6InReceives` of `/proc/net/snmp6`.
fn of_sixth(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("Ip6InReceives"))?.trim().parse().ok()
}

/// Whether an interface of this namespace has an address of IPv6 that loads may go to, and that is
/// in use.
pub(super) fn has_sixth(interface: &str) -> bool {
    let text = read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
    text.lines().any(|line| is_usable(line, interface))
}

/// A line of `/proc/net/if_inet6`: address, index, length of prefix, scope, flags, interface.
fn is_usable(line: &str, interface: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [address, _, _, _, flags, name] = words[..] else { return false };
    let hex = (u128::from_str_radix(address, 16), u32::from_str_radix(flags, 16));
    let (Ok(address), Ok(flags)) = hex else { return false };
    let address = Ipv6Addr::from(address);
    let ours = address.is_loopback() || is_benchmark(IpAddr::V6(address));
    name == interface && ours && flags & TENTATIVE == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_either_version_are_read_by_their_names() {
        let fourth = "Ip: Forwarding DefaultTTL InReceives InHdrErrors\nIp: 1 64 1234 0\nIcmp: A\n";
        assert_eq!(of_fourth(fourth), Some(1234));
        let sixth = "Ip6InReceives                   \t77\nIp6InHdrErrors                  \t0\n";
        assert_eq!(of_sixth(sixth), Some(77));
        assert_eq!((of_fourth("Tcp: A\nTcp: 1\n"), of_sixth("")), (None, None));
    }

    #[test]
    fn only_an_address_of_a_lab_or_of_loopback_that_is_in_use_counts() {
        let ours = "20010002000000000000000000000001 07 40 00 82 lan";
        assert!(is_usable(ours, "lan") && !is_usable(ours, "far"));
        assert!(is_usable("00000000000000000000000000000001 01 80 10 80       lo", "lo"));
        assert!(!is_usable(&ours.replace(" 82 ", " c2 "), "lan"), "it is tentative");
        assert!(!is_usable("fe800000000000000000000000000001 07 40 20 82 lan", "lan"));
        assert!(!is_usable("20010003000000000000000000000001 07 40 00 82 lan", "lan"));
        assert!(!is_usable("", "lan"));
    }
}
