//! Knows what TCP of the machine's own network namespace did: connections, segments, what was sent
//! again, and where data was refused.
//!
//! From `/proc/net/snmp` and `/proc/net/netstat` (Documentation/networking/snmp_counter.rst).
//! Hosts of the lab that have namespaces of their own count there, and not here: over a link the
//! flows of a load tell of them. `retransmitted` counts segments; timeouts, fast and SYN
//! retransmissions are its reasons. Must not know whose connections they were.

use super::source::{Sources, Text};
use super::{Moment, Probe, counter, reading};
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Name in the file, key, unit.
type Row = (&'static str, &'static str, Unit);

const TCP: [Row; 8] = [
    ("ActiveOpens", "active_opens", Unit::Count),
    ("PassiveOpens", "passive_opens", Unit::Count),
    ("EstabResets", "resets", Unit::Count),
    ("OutRsts", "resets_sent", Unit::Count),
    ("InSegs", "segments_received", Unit::PacketPerSecond),
    ("OutSegs", "segments_sent", Unit::PacketPerSecond),
    ("RetransSegs", "retransmitted", Unit::Count),
    ("InErrs", "errors_received", Unit::Count),
];
const EXTENDED: [Row; 13] = [
    ("TCPTimeouts", "timeouts", Unit::Count),
    ("TCPFastRetrans", "fast_retransmitted", Unit::Count),
    ("TCPSynRetrans", "syn_retransmitted", Unit::Count),
    ("TCPLostRetransmit", "lost_retransmitted", Unit::Count),
    ("TCPOFOQueue", "out_of_order", Unit::Count),
    ("TCPDeliveredCE", "delivered_ce", Unit::Count),
    ("ListenOverflows", "listen_overflows", Unit::Count),
    ("ListenDrops", "listen_drops", Unit::Count),
    ("TCPBacklogDrop", "backlog_drops", Unit::Count),
    ("TCPRcvQDrop", "receive_queue_drops", Unit::Count),
    ("PruneCalled", "pruned", Unit::Count),
    ("TCPToZeroWindowAdv", "zero_windows", Unit::Count),
    ("TCPMemoryPressures", "memory_pressures", Unit::Count),
];
/// Files, the head of their lines, and what of them is read.
const FILES: [(&str, &str, &[Row]); 2] =
    [("proc/net/snmp", "Tcp:", &TCP), ("proc/net/netstat", "TcpExt:", &EXTENDED)];

/// Reads the counters of TCP at both edges.
#[derive(Debug)]
pub struct TcpProbe {
    files: Sources<{ FILES.len() }>,
}

impl TcpProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { files: Sources::new(root, FILES.map(|(path, _, _)| path)) }
    }
}

impl Probe for TcpProbe {
    fn begin(&mut self, _: &Moment) {
        self.files.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let files = FILES.into_iter().zip(self.files.close());
        let rows = files.filter_map(|((_, head, of), both)| {
            let (opened, closed) = both?;
            Some(readings((head, of), &opened, &closed))
        });
        rows.flatten().collect()
    }
}

/// Connections that listening sockets of these ports have not accepted yet, in the network
/// namespace of this process; none where no such socket is seen.
#[must_use]
pub fn accept_queue(ports: &[u16]) -> Option<u64> {
    let of = |file: &str| {
        let file = BufReader::new(File::open(format!("/proc/self/net/{file}")).ok()?);
        waiting(file.lines().map_while(Result::ok), ports)
    };
    ["tcp", "tcp6"].into_iter().filter_map(of).reduce(|a, b| a + b)
}

/// The same of the lines of `/proc/net/tcp`, in which listening sockets come first and which may be
/// long behind them: of these `rx_queue` is what waits to be accepted.
fn waiting(lines: impl Iterator<Item = String>, ports: &[u16]) -> Option<u64> {
    let of = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (_, port) = words.next()?.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok().filter(|port| ports.contains(port))?;
        let queues = words.nth(2).filter(|_| port != 0)?;
        u64::from_str_radix(queues.split_once(':')?.1, 16).ok()
    };
    let listens = |line: &String| line.split_ascii_whitespace().nth(3) == Some("0A");
    let listening = lines.skip(1).take_while(listens);
    listening.filter_map(|line| of(&line)).reduce(|a, b| a + b)
}

/// The numbers of a pair of lines, `Tcp: NAME ..` and `Tcp: NUMBER ..`; what is negative is left
/// out.
fn numbers<'a>(text: &'a str, head: &str) -> BTreeMap<&'a str, u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(head));
    let (names, numbers) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
    pairs.filter_map(|(name, number)| Some((name, number.parse().ok()?))).collect()
}

/// A counter of `TcpExt` of the network namespace of the thread that asks.
#[must_use]
pub fn tcp_counter(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/netstat").ok()?;
    numbers(&text, "TcpExt:").get(name).copied()
}

/// A counter of UDP of the network namespace of the calling thread, over both versions of IP
/// (`/proc/net/snmp`, `/proc/net/snmp6`); none where the kernel does not tell it.
#[must_use]
pub fn udp_counter(name: &str) -> Option<u64> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{file}"));
    let fourth = numbers(&read("snmp").ok()?, "Udp:").get(name).copied()?;
    Some(fourth + of_sixth(&read("snmp6").unwrap_or_default(), name).unwrap_or(0))
}

/// A counter of UDP of `/proc/net/snmp6`, which has a line for each.
fn of_sixth(text: &str, name: &str) -> Option<u64> {
    let mut pairs =
        text.lines().filter_map(|line| line.strip_prefix("Udp6")?.split_once([' ', '\t']));
    pairs.find(|(found, _)| *found == name)?.1.trim().parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn readings((head, of): (&str, &[Row]), opened: &Text, closed: &Text) -> Vec<Reading> {
    let seconds = closed.seconds_since(opened);
    let (then, now) = (numbers(&opened.text, head), numbers(&closed.text, head));
    let row = |(name, key, unit): &Row| {
        let gained = counter::gained(*then.get(name)?, *now.get(name)?)? as f64;
        let value = if *unit == Unit::Count { gained } else { gained / seconds };
        Some(reading("tcp", "machine", key, value, *unit))
    };
    of.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Tree, value, window};
    use super::*;

    fn snmp(sent: u64, again: u64) -> String {
        format!(
            "Ip: Forwarding InReceives\nIp: 2 77\nTcp: MaxConn ActiveOpens OutSegs RetransSegs\n\
             Tcp: -1 5 {sent} {again}\nUdp: InDatagrams\nUdp: 9\n"
        )
    }

    fn netstat(timeouts: u64) -> String {
        format!("TcpExt: TW TCPTimeouts ListenDrops\nTcpExt: 1 {timeouts} 4\nIpExt: A\nIpExt: 1\n")
    }

    #[test]
    fn a_counter_of_udp_over_ipv6_has_one_line() {
        let text = "Udp6InDatagrams                 \t12\nUdp6RcvbufErrors                \t3\n\
            UdpLite6RcvbufErrors            \t7\n";
        assert_eq!(of_sixth(text, "RcvbufErrors"), Some(3));
        assert_eq!(of_sixth(text, "SndbufErrors"), None);
    }

    #[test]
    fn what_waits_to_be_accepted_is_that_of_listening_sockets_of_the_ports() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n\
                       0: 0100007F:1F90 00000000:0000 0A 00000000:000000F4 00:00000000 0\n\
                       1: 0100007F:1F91 00000000:0000 0A 00000000:00000003 00:00000000 0\n\
                       2: 0100007F:1F90 0100007F:C000 01 00000000:00000010 00:00000000 0\n";
        let of = |ports: &[u16]| waiting(text.lines().map(str::to_owned), ports);
        assert_eq!((of(&[8080]), of(&[8080, 8081]), of(&[80])), (Some(244), Some(247), None));
    }

    #[test]
    fn segments_are_rates_and_events_are_counts() {
        let at = |at_ns, text| Text { at_ns, text };
        let opened = at(0, snmp(4_294_967_290, 7));
        let closed = at(500_000_000, snmp(94, 10));
        let rows = readings(("Tcp:", &TCP), &opened, &closed);
        assert_eq!(value(&rows, "segments_sent"), Some(200.0), "100 past a wrap, in half a second");
        assert_eq!(value(&rows, "retransmitted"), Some(3.0));
        assert_eq!(value(&rows, "active_opens"), Some(0.0));
        assert_eq!(rows.len(), 3, "what the kernel does not name is absent: {rows:?}");
    }

    #[test]
    fn an_unreadable_or_absent_file_leaves_the_other() {
        let tree = Tree::new("tcp");
        tree.eio("proc/net/snmp");
        tree.file("proc/net/netstat", &netstat(3));
        let mut probe = TcpProbe::new(tree.root());
        let rows = window(&mut probe, || tree.file("proc/net/netstat", &netstat(5)));
        assert_eq!(value(&rows, "timeouts"), Some(2.0));
        assert_eq!(rows.len(), 2);
        let reset = window(&mut probe, || tree.file("proc/net/netstat", &netstat(1)));
        assert_eq!(value(&reset, "timeouts"), None);
        let emptied = window(&mut probe, || tree.file("proc/net/netstat", ""));
        assert!(emptied.is_empty());
        assert!(window(&mut TcpProbe::new(Path::new("/nonexistent")), || ()).is_empty());
        let here = window(&mut TcpProbe::new(Path::new("/")), || ());
        assert!(value(&here, "retransmitted").is_some(), "{here:?}");
    }
}
