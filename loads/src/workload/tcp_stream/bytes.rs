//! Knows whether three counts of the same bytes agree: the application's, TCP's, the interface's.
//! Pure.
//!
//! All three are of the receiving host. The interface counts packets with their headers, so its
//! payload is bytes - packets x header. A packet that is handed over before segmentation has one
//! header and is counted once, so offloads do not matter; an acknowledgement is a header and
//! nothing else and gives zero. Must not know where the figures come from.

use super::evidence::{Evidence, end_at};
use super::run::{HostMark, StreamMark};
use crate::engine::net::seconds;
use desk::record::{Fault, Value};

/// How far the three may lie apart, as a share of the largest.
const TOLERANCE: f64 = 0.01;
/// Bytes that are nobody's payload, such as answers to ARP and SACK options, in any case.
const FLOOR: f64 = 4096.0;
/// Ethernet header; counted by most drivers, and not by the loopback interface, nor by a virtual
/// pair that receives in NAPI mode (GRO on and TSO off), which count after it was taken off.
const ETHERNET: f64 = 14.0;
/// The TCP header without options.
const TCP: f64 = 20.0;
/// TCP's timestamps option with its padding (RFC 7323, appendix A).
const TIMESTAMPS: f64 = 12.0;

/// Three counts of the payload that a host received, bytes.
#[derive(Clone, Copy, Debug)]
struct Counts {
    application: f64,
    tcp: f64,
    interface: f64,
}

/// Bytes that may lie between two of the counts at the moments of reading.
#[derive(Clone, Copy, Debug, Default)]
struct Slack {
    /// Between TCP and the application.
    above: f64,
    /// Between the interface and TCP.
    below: f64,
}

/// Compares the three on every receiving host, over the window and over the whole trial.
///
/// # Errors
/// [`Fault::WrongWork`] with the three figures of the first host where they disagree.
pub fn check(evidence: &Evidence) -> Result<(), Fault> {
    for at in 0..evidence.host_names.len() {
        let edges = (&*evidence.opened, &*evidence.closed);
        compare(evidence, at, edges, ("the window", window_slack(evidence, at)))?;
        let ends = (&*evidence.before, &*evidence.after);
        compare(evidence, at, ends, ("the whole trial", cut_slack(evidence, at)))?;
    }
    Ok(())
}

fn compare(
    evidence: &Evidence,
    at: usize,
    (first, last): (&[HostMark], &[HostMark]),
    (span, slack): (&str, Slack),
) -> Result<(), Fault> {
    let host = &evidence.host_names[at];
    let (Some(a), Some(b)) = (first.get(at), last.get(at)) else {
        return Err(Fault::WrongWork { what: format!("{host} did not read its counters") });
    };
    if b.streams.iter().all(|s| s.sends) {
        return Ok(());
    }
    let again = sent_again(evidence, at, (first, last));
    let counts = counts(a, b, link_header(evidence, at) + evidence.ip_header);
    let shared = is_shared(b);
    let largest = counts.application.max(counts.tcp);
    let allowed = |slack: f64| largest * TOLERANCE + FLOOR + slack;
    let (above, below) = (allowed(slack.above), allowed(slack.below));
    let interface_off = if shared {
        counts.tcp - counts.interface
    } else {
        (counts.tcp - counts.interface).max(counts.interface - again - counts.tcp)
    };
    if (counts.application - counts.tcp).abs() <= above && interface_off <= below {
        return Ok(());
    }
    Err(Fault::WrongWork {
        what: format!(
            "over {span} on {host} the application took {:.0} B, TCP received {:.0} B (they may \
             differ by {above:.0} B) and interface {} carried {:.0} B of payload (by {below:.0} B \
             from TCP's, and {again:.0} B that were sent again)",
            counts.application, counts.tcp, b.interface.name, counts.interface
        ),
    })
}

/// Whatever else this machine says to itself is on its loopback interface too.
fn is_shared(mark: &HostMark) -> bool {
    mark.interface.name == "lo"
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a trial are below 2^53")]
fn counts(a: &HostMark, b: &HostMark, below_tcp: f64) -> Counts {
    let (mut application, mut tcp, mut options) = (0.0, 0.0, 0.0);
    for mark in b.streams.iter().filter(|s| !s.sends) {
        let first = end_at(std::slice::from_ref(a), mark.id, false);
        let (bytes, received) = first.map_or((0, 0), |(s, _)| (s.bytes, s.tcp.bytes_received));
        application += mark.bytes.saturating_sub(bytes) as f64;
        tcp += mark.tcp.bytes_received.saturating_sub(received) as f64;
        options = if mark.tcp.timestamps { TIMESTAMPS } else { 0.0 };
    }
    let carried = b.interface.rx_bytes.saturating_sub(a.interface.rx_bytes) as f64;
    let packets = b.interface.rx_packets.saturating_sub(a.interface.rx_packets) as f64;
    let interface = carried - packets * (below_tcp + TCP + options);
    Counts { application, tcp, interface }
}

/// Bytes besides IP and TCP that an interface counts with each packet: its link header, and what is
/// around the packet. No driver tells; the way of counting that fits the whole trial best is taken,
/// for the window too.
#[expect(clippy::cast_precision_loss, reason = "packets of a trial are below 2^53")]
fn link_header(evidence: &Evidence, at: usize) -> f64 {
    let (Some(a), Some(b)) = (evidence.before.get(at), evidence.after.get(at)) else { return 0.0 };
    let packets = b.interface.rx_packets.saturating_sub(a.interface.rx_packets) as f64;
    let bare = counts(a, b, evidence.ip_header);
    let right = (bare.interface - bare.tcp) / packets.max(1.0);
    let headers: &[f64] = if is_shared(b) { &[0.0] } else { &[ETHERNET, 0.0] };
    let near = |header: f64, [least, most]: [u32; 2]| {
        right.clamp(header + f64::from(least), header + f64::from(most))
    };
    let ways = headers
        .iter()
        .flat_map(|header| b.interface.wrapping.added().map(move |added| near(*header, added)));
    let off = |way: &f64| (way - right).abs();
    ways.min_by(|one, other| off(one).total_cmp(&off(other))).unwrap_or(0.0)
}

/// Bytes that the senders of a host's streams sent again: the interface may have seen them twice.
fn sent_again(evidence: &Evidence, at: usize, (first, last): (&[HostMark], &[HostMark])) -> f64 {
    let senders = receiving(evidence, at).filter_map(|id| end_at(last, id, true));
    let bytes = senders.map(|(end, _)| {
        let before = end_at(first, end.id, true).map_or(0, |(s, _)| s.tcp.retransmitted);
        f64::from(end.tcp.retransmitted.wrapping_sub(before)) * f64::from(end.tcp.send_mss)
    });
    bytes.sum()
}

/// Streams that a host receives.
fn receiving(evidence: &Evidence, at: usize) -> impl Iterator<Item = u32> {
    let streams = evidence.after.get(at).map_or(&[][..], |mark| &mark.streams);
    streams.iter().filter(|s| !s.sends).map(|s| s.id)
}

/// What may lie between the counts at the edges of the window, as read there. Above TCP: bytes in
/// the receive queues, and the one read that a receiver may be in the middle of. Below: what the
/// senders had sent and not seen acknowledged. Both: what came in while the counts were read, which
/// is a request at once where requests are sent on a schedule.
#[expect(clippy::cast_precision_loss, reason = "bytes of a trial are below 2^53")]
fn window_slack(evidence: &Evidence, at: usize) -> Slack {
    let paced = evidence.asked.get("offered_load").and_then(Value::quantity);
    let at_once = paced.map_or(0.0, |_| evidence.request_bytes() as f64);
    let mut slack = Slack::default();
    for marks in [&evidence.opened, &evidence.closed] {
        for id in receiving(evidence, at) {
            (slack.above, slack.below) = (slack.above + at_once, slack.below + at_once);
            let receiver = end_at(marks, id, false);
            slack.above += receiver.map_or(0, |(s, _)| s.queued + evidence.read_bytes) as f64;
            slack.below += end_at(marks, id, true).map_or(0.0, |(s, _)| in_flight(s));
        }
    }
    if let (Some(a), Some(b)) = (evidence.opened.get(at), evidence.closed.get(at)) {
        let wall = seconds(b.at_ns.saturating_sub(a.at_ns)).max(1e-9);
        let skew = counts(a, b, 0.0).tcp / wall * seconds(a.took_ns + b.took_ns);
        slack.above += skew;
        slack.below += skew;
    }
    slack
}

/// After the end nothing is under way, but where a receiver had to stop before its sender's end:
/// its queue, and the window that its kernel went on filling.
#[expect(clippy::cast_precision_loss, reason = "bytes of a trial are below 2^53")]
fn cut_slack(evidence: &Evidence, at: usize) -> Slack {
    let ends = evidence.ends.get(at).map_or(&[][..], Vec::as_slice);
    let mut slack = Slack::default();
    for end in ends.iter().filter(|end| !end.sends && !end.complete) {
        let Some((left, _)) = end_at(&evidence.after, end.id, false) else { continue };
        slack.above += left.queued as f64;
        slack.below += f64::from(left.tcp.receive_window);
    }
    slack
}

fn in_flight(sender: &StreamMark) -> f64 {
    f64::from(sender.tcp.unacknowledged) * f64::from(sender.tcp.send_mss)
}
