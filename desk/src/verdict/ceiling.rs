//! Knows every ceiling that a trial's readings tell of, and how near the load came to it.
//!
//! Never: which of them was the limit, nor what a plan asked for. A ceiling is a reading; only an
//! old record without any of a token bucket is judged by the rate that was set.

use super::finding::{LimitKind, Top};
use super::measure::{
    busy, by_host, direction, directions, is_client, is_server, programs_of, reading, throughput,
};
use super::parts::all_clients_apart;
use super::relayed;
use crate::record::flow::{BUSY, OPERATIONS, RECEIVE_WINDOW, RECEIVED, SEND_BUFFER};
use crate::record::{Derivation, Direction, Flow, HostName, Reading, Run, SUT, TrialRecord};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::Unit;
use crate::validity::{FULL, relay};
use std::collections::{BTreeMap, BTreeSet};

/// The TCP header with the timestamps option, bytes (RFC 9293, RFC 7323).
const TCP: f64 = 32.0;
/// The headers of IPv4 (RFC 791) and IPv6 (RFC 8200), bytes.
const IPV4: f64 = 20.0;
const IPV6: f64 = 40.0;
/// The Ethernet header, which interfaces and token buckets count, bytes.
pub(super) const ETHERNET: f64 = 14.0;
/// All that a frame takes on the wire beside its packet: preamble 8, header 14, checksum 4,
/// gap 12 bytes (IEEE 802.3).
const WIRE: f64 = 38.0;
/// The MTU where nothing tells, bytes.
const MTU: f64 = 1500.0;
/// The largest packet that TCP hands over before segmentation, bytes (RFC 791: a 16-bit length).
const PACKET: f64 = 65_536.0;
/// Share of a set rate from which it counts as reached; the bucket's bursts take the rest.
const AT_RATE: f64 = 0.9;
/// Share of a bus from which it counts as full. With 128 B a packet of the bus its own headers take
/// 16 % (payload / (payload + 24)), and descriptors pass it, too.
const AT_BUS: f64 = 0.85;
/// Share of a quota from which it counts as used up: periods of 100 ms cut a window anywhere.
const AT_QUOTA: f64 = 0.9;
/// The same of a host that was held back in nearly every period.
const NEAR_QUOTA: f64 = 0.7;
/// The shortest time for which Linux delays an acknowledgement, seconds (`TCP_DELACK_MIN`, a 25th
/// of a second; include/net/tcp.h). The sender waits for it where Nagle's algorithm (RFC 896) or a
/// cork (tcp(7), `TCP_CORK`) holds back what does not fill a segment.
const DELAYED_ACK: f64 = 0.04;
/// Share of a stream's busy time, or of the time of operations, from which waiting counts as the
/// limit.
const WAITING: f64 = 0.5;
/// Share of the time from which waiting beside a buffer that is too small for any load counts.
const SLEEPING: f64 = 0.1;
/// A buffer, what is under way at once on a stream that uses it, and the share of the buffer from
/// which this fills it. Of a receive buffer the kernel offers a half until it knows how large the
/// structures around the bytes are, later up to nearly all (tcp(7), `tcp_adv_win_scale`), and it
/// lets one that does not hold a stream back grow to at least twice what is under way. A sender
/// that waits goes on when a third of its buffer is free.
const FILLED: [(&str, &str, f64); 2] =
    [("receive_buffer", "receive_flight", 0.25), ("send_buffer", "send_flight", 0.5)];
/// Waits for each packet passed from which a shaper held the load back. One before segmentation
/// counts as some 45, and a burst lets several of these pass between two waits.
const HELD: f64 = 0.005;
/// Share of the connections of a load from which those that wait to be accepted, at both edges of
/// the window, are more than those which came just then.
const QUEUED: f64 = 0.1;
/// Share of packets dropped from which a queue is too short; below, drops are how TCP finds a rate.
const DROPPED: f64 = 0.005;
/// Share of a full CPU of the load from which other programs on it hold the load down: a program
/// that always runs beside one or two threads gets a third or more.
const TAKEN: f64 = 0.2;
/// Share of frames lost from which losses hold down what nothing else does. TCP sends at most
/// 1.22 / sqrt(share) segments a round trip then (Mathis, Semke, Mahdavi and Ott 1997): here 1,220.
const LOST: f64 = 1e-6;
/// A load that goes so far beyond a ceiling does not pass it: caches serve it, or another device.
pub(super) const BEYOND: f64 = 1.1;
/// Busy share of all CPUs from which a full one among them does not stand out: the others have no
/// room for the load, which wants them in turn.
pub(super) const NONE_STANDS_OUT: f64 = 0.9;
/// Share of the time from which a load wants a CPU: where nothing else holds it, at any moment one
/// of its two ends can go on.
const WANTED: f64 = 0.95;
/// Share of the payload that an adapter has to have carried to be the one that did.
const CARRIED: f64 = 0.9;

/// A ceiling, and the share of it in use over the trials of a level.
pub(super) struct Ceiling {
    pub kind: LimitKind,
    pub utilisation: Estimate,
    full_from: f64,
}

impl Ceiling {
    /// Whether nothing more fits below it.
    pub fn is_full(&self) -> bool {
        self.utilisation.centre.value >= self.full_from
    }

    /// Whether the load shows that it does not pass it.
    fn is_exceeded(&self) -> bool {
        self.utilisation.centre.value > BEYOND
    }
}

type Use = fn(&Run, &TrialRecord) -> Option<f64>;

/// Every ceiling with the share from which it is full, in the order of [`LimitKind`].
const ALL: [(LimitKind, f64, Use); 24] = [
    (LimitKind::RelayQuota, AT_QUOTA, |_, record| relay_quota(record)),
    (LimitKind::RelayCpu, FULL, |_, record| relayed::cpu(record)),
    (LimitKind::Relay, relay::BEHIND, |_, record| relay::behind(record)),
    (LimitKind::ClientQuota, AT_QUOTA, |_, record| quota(record, is_client)),
    (LimitKind::ClientLine, FULL, client_line),
    (LimitKind::ServerQuota, AT_QUOTA, |_, record| quota(record, is_server)),
    (LimitKind::SetRate, AT_RATE, set_rate),
    (LimitKind::PathRate, AT_RATE, relayed::rate),
    (LimitKind::Shaper, HELD, |_, record| largest(held(record).map(|end| end.1))),
    (LimitKind::QueueDrops, DROPPED, |_, record| largest(dropped(record).map(|end| end.1))),
    (LimitKind::Goodput, FULL, goodput),
    (LimitKind::LineRate, FULL, line_rate),
    (LimitKind::Pcie, AT_BUS, bus),
    (LimitKind::Memory, FULL, memory),
    (LimitKind::Disk, FULL, disk),
    (LimitKind::OtherPrograms, TAKEN, |_, record| largest(taken(record).into_iter().map(|c| c.1))),
    (LimitKind::AllCpus, FULL, |_, record| busy(record)),
    (LimitKind::SoftirqCpu, FULL, |_, record| softirq(record)),
    (LimitKind::OneCpu, FULL, |_, record| one_cpu(record)),
    (LimitKind::Workers, QUEUED, |_, record| reading(record, "accept", SUT, "queue")),
    (LimitKind::ReceiveWindow, WAITING, |_, r| waiting(r, RECEIVE_WINDOW)),
    (LimitKind::SendBuffer, WAITING, |_, record| send_buffer(record)),
    (LimitKind::DelayedAcks, WAITING, delayed_acks),
    (LimitKind::PathLosses, LOST, |_, record| relay::losses(record)),
];

/// Every ceiling that these trials were read against and do not exceed.
///
/// CPUs that are full are a ceiling only for a load that wants them: those that others keep busy
/// limit nothing that sleeps. For a load whose threads may all run on one CPU alone the others are
/// none.
pub(super) fn ceilings(run: &Run, trials: &[&TrialRecord]) -> Vec<Ceiling> {
    let of = |(kind, full_from, share): (LimitKind, f64, Use)| {
        let shares: Vec<f64> = trials.iter().filter_map(|record| share(run, record)).collect();
        let utilisation = mean_or_single(&shares, Unit::Share)?;
        Some(Ceiling { kind, utilisation, full_from })
    };
    let mut all: Vec<Ceiling> = ALL.into_iter().filter_map(of).collect();
    let one_is_full = all.iter().any(|c| c.kind == LimitKind::OneCpu && c.is_full());
    for together in all.iter_mut().filter(|c| one_is_full && c.kind == LimitKind::AllCpus) {
        together.full_from = NONE_STANDS_OUT;
    }
    let small = |key: &str| !trials.is_empty() && trials.iter().all(|r| has_too_small(r, key));
    for (kind, key) in
        [(LimitKind::SendBuffer, "send_buffer"), (LimitKind::ReceiveWindow, "receive_buffer")]
    {
        for buffer in all.iter_mut().filter(|c| c.kind == kind && small(key)) {
            buffer.full_from = SLEEPING;
        }
    }
    let wanted = wanted(trials).is_none_or(|share| share >= WANTED);
    let bound = one_is_full && !trials.is_empty() && trials.iter().all(|r| is_on_one_cpu(r));
    let holds = |c: &Ceiling| match c.kind {
        LimitKind::AllCpus => !bound && (wanted || !c.is_full()),
        LimitKind::OneCpu | LimitKind::OtherPrograms => wanted || !c.is_full(),
        _ => true,
    };
    all.retain(|c| !c.is_exceeded() && holds(c));
    all
}

/// The throughput at which each ceiling is full that a load passes at a rate: bit/s, from the
/// throughput and use of each trial. None of CPUs, whose price of a byte changes with the size.
pub(super) fn tops(run: &Run, trials: &[&TrialRecord]) -> Vec<Top> {
    use LimitKind as K;
    let passed = [K::SetRate, K::PathRate, K::Goodput, K::Pcie, K::Memory, K::Disk];
    let of = |(kind, _, share): (LimitKind, f64, Use)| {
        let top = |record: &&TrialRecord| {
            let used = share(run, record).filter(|used| *used > 0.0)?;
            Some(throughput(&run.plan, record)? / used)
        };
        let all: Vec<f64> = trials.iter().filter_map(top).collect();
        Some(Top { kind, throughput: mean_or_single(&all, Unit::BitPerSecond)? })
    };
    ALL.into_iter().filter(|row| passed.contains(&row.0)).filter_map(of).collect()
}

/// The largest use among ceilings of these kinds in a trial, 0 to 1 where it is within them; none
/// where none of them was read.
pub(super) fn use_of(run: &Run, record: &TrialRecord, kinds: &[LimitKind]) -> Option<f64> {
    let its = ALL.into_iter().filter(|row| kinds.contains(&row.0));
    largest(its.filter_map(|(_, _, share)| share(run, record)))
}

/// Whether it is other programs that make the CPUs full: they would not be without them. False
/// where nobody looked.
pub(super) fn filled_by_others(trials: &[&TrialRecord]) -> bool {
    let own = |record: &&TrialRecord| {
        let others = reading(record, "foreign", "machine", "cpu")?;
        Some(busy(record)? - others / reading(record, "cpu", "machine", "cpus")?)
    };
    let shares: Vec<f64> = trials.iter().filter_map(own).collect();
    mean_or_single(&shares, Unit::Share).is_some_and(|mean| mean.centre.value < NONE_STANDS_OUT)
}

/// Share of the time in which the two ends of the load wanted a CPU, mean over the trials: of the
/// server's thread that wanted most and of the clients' together, since one may wait for the other.
/// Of a load between clients the two that wanted most. None where neither side was watched.
fn wanted(trials: &[&TrialRecord]) -> Option<f64> {
    let of = |record: &&TrialRecord| {
        // From the one that wanted most.
        let wants = |side: fn(&str) -> bool| {
            let threads = by_host(record, "thread", "runnable").filter(|r| side(r.host.name()));
            let mut all: Vec<f64> = threads.map(|r| r.quantity.value).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            all.into_iter()
        };
        // The processes of a program under test want what they use, at the least.
        let used: f64 = programs_of(record).map(|(_, reading)| reading.quantity.value).sum();
        let mut clients = wants(is_client);
        let first = clients.next()?;
        match wants(is_server).next() {
            Some(server) => Some(server.max(used.min(1.0)) + first),
            None => Some(clients.next()? + first),
        }
    };
    let shares: Vec<f64> = trials.iter().filter_map(of).collect();
    mean_or_single(&shares, Unit::Share).map(|mean| mean.centre.value)
}

/// Whether both ends of all streams were pinned to one and the same CPU of several.
fn is_on_one_cpu(record: &TrialRecord) -> bool {
    if cpus(record).count() < 2 || all_clients_apart(record) {
        return false;
    }
    let ends = record.outcome.flows.rows.iter().flat_map(|s| [s.sender_cpu, s.receiver_cpu]);
    let mut cpus = ends.collect::<Vec<_>>();
    cpus.dedup();
    matches!(cpus[..], [Some(_)])
}

/// Headers of a packet, of the version of IP that the plan has the load go over, bytes: 52 or 72.
pub(super) fn headers(run: &Run, record: &TrialRecord) -> f64 {
    TCP + if run.plan.ip_version(&record.trial.settings) == 6 { IPV6 } else { IPV4 }
}

/// Bytes of frames for each byte of payload: of a packet with these headers, `beside` bytes of each
/// frame beside it.
pub(super) fn framed((packet, headers): (f64, f64), beside: f64) -> f64 {
    (packet + beside) / (packet - headers).max(1.0)
}

/// A packet of the load and its headers, bytes.
pub(super) fn packet(run: &Run, record: &TrialRecord) -> (f64, f64) {
    let headers = headers(run, record);
    (segment(run, record) + headers, headers)
}

/// The largest packet of the link of a host and its headers, bytes.
fn full_packet<H: ?Sized>(run: &Run, record: &TrialRecord, host: &H) -> (f64, f64)
where
    HostName: PartialEq<H>,
{
    (ceiling(record, host, "mtu").unwrap_or(MTU), headers(run, record))
}

/// Payload bytes of a packet: as the load counted them, else as the MTU of the link allows.
fn segment(run: &Run, record: &TrialRecord) -> f64 {
    let headers = headers(run, record);
    let planned = || {
        let mtu = run.plan.effective(&record.trial.settings).get("mtu")?.quantity()?;
        Some(mtu.value - headers)
    };
    run.segment(record).or_else(planned).unwrap_or(MTU - headers)
}

/// Payload in one direction, bit/s.
pub(super) fn one_way(run: &Run, record: &TrialRecord) -> Option<f64> {
    Some(throughput(&run.plan, record)? / directions(&run.plan, record))
}

fn ceiling<H: ?Sized>(record: &TrialRecord, host: &H, key: &str) -> Option<f64>
where
    HostName: PartialEq<H>,
{
    reading(record, "ceiling", host, key).filter(|value| *value > 0.0)
}

fn largest(shares: impl Iterator<Item = f64>) -> Option<f64> {
    shares.max_by(f64::total_cmp)
}

/// The largest share of a quota that a host of one side used. A window cuts the periods of the
/// kernel, and a slice may outlast one: where the kernel held the host back in nearly every period
/// and the share is near, it is one from [`AT_QUOTA`] to all.
fn quota(record: &TrialRecord, of: impl Fn(&str) -> bool) -> Option<f64> {
    let hosts = by_host(record, "quota", "use").filter(|r| of(r.host.name()));
    largest(hosts.map(|r| {
        let (used, held) = (r.quantity.value, reading(record, "quota", &r.host, "throttled"));
        let is_held = used >= NEAR_QUOTA && held.is_some_and(|share| share >= AT_QUOTA);
        if is_held { used.clamp(AT_QUOTA, 1.0) } else { used }
    }))
}

/// The same of the relay.
fn relay_quota(record: &TrialRecord) -> Option<f64> {
    let relay = relay::host(record)?;
    quota(record, |host| *relay == *host)
}

/// The largest use of a token bucket at any end of the link.
fn set_rate(run: &Run, record: &TrialRecord) -> Option<f64> {
    if by_host(record, "qdisc", "rate").next().is_none() {
        return as_planned(run, record);
    }
    largest(rates(run, record).into_iter().map(|end| end.1))
}

/// The discipline whose rate is read.
pub(super) const TOKEN_BUCKET: &str = "tbf";

/// Each end of the link with a token bucket, and its use: payload that leaves there, with the
/// headers that a bucket counts, over its rate.
pub(super) fn rates(run: &Run, record: &TrialRecord) -> Vec<(String, f64)> {
    let frames = framed(packet(run, record), ETHERNET);
    let of = |r: &Reading| {
        let used = leaves(run, record, r.host.name())? * frames / r.quantity.value;
        (r.quantity.value > 0.0).then(|| (r.host.name().to_owned(), used))
    };
    by_host(record, "qdisc", "rate").filter_map(of).collect()
}

/// Payload that leaves by an end of the link, bit/s: of the adapter of a host what it sends, of the
/// switch's port what the host behind it takes. None of an end by which the load does not pass.
/// Where flows tell no bytes, those of one way are shared out by operations, which are of one size.
fn leaves(run: &Run, record: &TrialRecord, end: &str) -> Option<f64> {
    let way = direction(&run.plan, record);
    if way == Some(Direction::Between) {
        return leaves_between(run, record, end);
    }
    let (sent, taken) = (way != Some(Direction::Receive), way != Some(Direction::Transmit));
    match end {
        "sut" => return one_way(run, record).filter(|_| sent),
        "switch" => return one_way(run, record).filter(|_| taken),
        _ => {}
    }
    let behind = end.strip_prefix("switch.");
    let its = |s: &Flow| behind.map_or(s.sender == end, |client| s.receiver == client);
    let flows = &record.outcome.flows;
    let share = match flows.sum(RECEIVED, |_| true) {
        all if all > 0.0 => flows.sum(RECEIVED, its) / all,
        _ => {
            let to_client = way == Some(Direction::Transmit);
            let passes = if behind.is_some() { to_client } else { way == Some(Direction::Receive) };
            let client = behind.unwrap_or(end);
            let all = flows.sum(OPERATIONS, |_| true).max(1.0);
            flows.sum(OPERATIONS, |flow| passes && flow.sender == client) / all
        }
    };
    (share > 0.0).then_some(throughput(&run.plan, record)? * share)
}

/// The same of a load between clients, the first of which sends to the others.
fn leaves_between(run: &Run, record: &TrialRecord, end: &str) -> Option<f64> {
    let flows = &record.outcome.flows;
    let to = end.strip_prefix("switch.");
    let its = |flow: &Flow| to.map_or(flow.receiver == end, |client| flow.sender == client);
    let share = flows.sum(OPERATIONS, its) / flows.sum(OPERATIONS, |_| true).max(1.0);
    (share > 0.0).then_some(throughput(&run.plan, record)? * share)
}

/// Each end of the link with a discipline whose rate was not read, by name and kind, and how often
/// packets had to wait there for each one that passed, 0 or more, at most 1.
pub(super) fn held(record: &TrialRecord) -> impl Iterator<Item = ((&str, &str), f64)> {
    record.readings.iter().filter_map(move |r| {
        let kind = r.key.strip_prefix("overlimits.").filter(|_| r.probe == "qdisc")?;
        let passed = reading(record, "qdisc", &r.host, &format!("packets.{kind}"))?;
        (passed > 0.0).then(|| ((r.host.name(), kind), (r.quantity.value / passed).min(1.0)))
    })
}

/// Each end of the link with a queue, by name and kind, and the share of packets that it dropped.
pub(super) fn dropped(record: &TrialRecord) -> impl Iterator<Item = ((&str, &str), f64)> {
    record.readings.iter().filter_map(move |r| {
        let rest = r.key.strip_prefix("drops").filter(|_| r.probe == "qdisc")?;
        let passed = reading(record, "qdisc", &r.host, &format!("packets{rest}"))?;
        let all = passed + r.quantity.value;
        let kind = rest.strip_prefix('.').unwrap_or(TOKEN_BUCKET);
        (all > 0.0).then(|| ((r.host.name(), kind), r.quantity.value / all))
    })
}

/// CPUs that threads of the load are pinned to, and the share of each that other programs took, as
/// far as the CPU was full: what its busy time leaves beside these threads and its interrupts, and
/// no more than all other programs had.
pub(super) fn taken(record: &TrialRecord) -> Vec<(u32, f64)> {
    let mut own: BTreeMap<u32, f64> = BTreeMap::new();
    for r in record.readings.iter().filter(|r| r.probe == "thread") {
        let cpu = r.key.strip_prefix("cpu.cpu").and_then(|number| number.parse().ok());
        if let Some(cpu) = cpu {
            *own.entry(cpu).or_default() += r.quantity.value;
        }
    }
    let Some(others) = reading(record, "foreign", "machine", "cpu") else { return Vec::new() };
    let of = |(cpu, own): (u32, f64)| {
        let busy = reading(record, "cpu", "machine", &format!("busy.cpu{cpu}"))?;
        let share = |key: &str| reading(record, "cpu", "machine", &format!("{key}.cpu{cpu}"));
        let interrupts = largest(["softirq", "ksoftirqd"].into_iter().filter_map(share));
        let left = busy - own - interrupts.unwrap_or(0.0);
        Some((cpu, if busy >= FULL { left.min(others).max(0.0) } else { 0.0 }))
    };
    own.into_iter().filter_map(of).collect()
}

/// Whether other programs took from a CPU on which a thread of a client runs.
pub(super) fn is_taken_from_clients(record: &TrialRecord) -> bool {
    let runs = |cpu: u32| {
        let key = format!("cpu.cpu{cpu}");
        by_host(record, "thread", &key).any(|r| is_client(r.host.name()))
    };
    taken(record).into_iter().any(|(cpu, share)| share > 0.0 && runs(cpu))
}

/// Hosts whose sockets have a buffer that is too small for any load: in force, and at the most that
/// its host lets it grow to, it holds less than one packet as TCP hands it over before
/// segmentation.
fn small_at<'r>(record: &'r TrialRecord, key: &'r str) -> impl Iterator<Item = &'r str> {
    let most = format!("{key}_max");
    by_host(record, "tcp", key).filter_map(move |r| {
        let allowed = reading(record, "tcp", &r.host, &most)?;
        (r.quantity.value < PACKET && allowed < PACKET).then_some(r.host.name())
    })
}

/// Hosts whose sockets have a buffer that only the distance makes small: it is as large as its host
/// lets it grow, and what is under way in the least round trip fills it. What waits in a queue of
/// the path does not count, for a larger buffer would only make that longer.
fn filled_at<'r>(record: &'r TrialRecord, key: &'r str) -> impl Iterator<Item = &'r str> {
    let most = format!("{key}_max");
    let row = FILLED.into_iter().find(|(buffer, ..)| *buffer == key);
    by_host(record, "tcp", key).filter_map(move |r| {
        let (_, under_way, share) = row?;
        let allowed = reading(record, "tcp", &r.host, &most)?;
        let flight = reading(record, "tcp", &r.host, under_way)?;
        let size = r.quantity.value;
        (size >= allowed && flight >= share * size).then_some(r.host.name())
    })
}

/// Whether every host that carries streams as the owner of this buffer has one that is too small
/// for any load; where no streams are known, whether any host has.
pub(super) fn has_small(record: &TrialRecord, key: &str) -> bool {
    all_own(record, key, &small_at(record, key).collect())
}

/// The same of one that is too small for any load, or for the distance.
fn has_too_small(record: &TrialRecord, key: &str) -> bool {
    all_own(record, key, &small_at(record, key).chain(filled_at(record, key)).collect())
}

/// Whether every host that carries streams as the owner of this buffer is one of these; where no
/// streams are known, whether there is any.
fn all_own(record: &TrialRecord, key: &str, small: &BTreeSet<&str>) -> bool {
    let flows = &record.outcome.flows;
    // A flow of operations has no end that only sends or receives.
    let has_ways = flows.rows.iter().any(|flow| flows.figure(flow, RECEIVED).is_some());
    let owner = |s: &Flow| {
        let ends = [(&s.sender, "send_buffer"), (&s.receiver, "receive_buffer")];
        ends.into_iter().any(|(end, its)| (its == key || !has_ways) && small.contains(end.as_str()))
    };
    !small.is_empty() && flows.rows.iter().all(owner)
}

/// Share of the time that senders wait for their send buffer: by TCP's own count, and where the
/// buffer is small by the sleep of the threads, since TCP counts only while nothing is in flight
/// and nothing is queued.
fn send_buffer(record: &TrialRecord) -> Option<f64> {
    let counted = waiting(record, SEND_BUFFER);
    let waits = small_at(record, "send_buffer").chain(filled_at(record, "send_buffer"));
    let slept = waits.filter_map(|host| reading(record, "tcp", host, "send_wait"));
    largest(counted.into_iter().chain(slept))
}

/// Throughput over the `rate` of the plan, where the queue of no end of the link was read.
fn as_planned(run: &Run, record: &TrialRecord) -> Option<f64> {
    let rate = run.plan.effective(&record.trial.settings).get("rate")?.quantity()?;
    let limited = rate.unit == Unit::BitPerSecond && rate.value > 0.0;
    one_way(run, record).filter(|_| limited).map(|moved| moved / rate.value)
}

/// Most of the adapters' own ceiling `key` that one of those used that carried the load; each tells
/// what it sent and took, bit/s on the wire, and `used` says how much of the ceiling that is.
fn of_adapters(
    run: &Run,
    record: &TrialRecord,
    key: &str,
    used: fn(f64, f64) -> f64,
) -> Option<f64> {
    let payload = one_way(run, record)?;
    let share = |adapter: &Reading| {
        let moved = |key| ceiling(record, &adapter.host, key).unwrap_or(0.0);
        let (sent, took) = (moved("tx"), moved("rx"));
        let carried = sent.max(took) >= CARRIED * payload;
        (carried && adapter.quantity.value > 0.0).then(|| used(sent, took) / adapter.quantity.value)
    };
    largest(by_host(record, "ceiling", key).filter_map(share))
}

/// Bits on the wire over the line rate, in the fuller direction.
fn line_rate(run: &Run, record: &TrialRecord) -> Option<f64> {
    of_adapters(run, record, "line_rate", f64::max)
}

/// Whether the rate of a load is that of a line, with the headers and gaps of its frames.
fn is_of_line(run: &Run, record: &TrialRecord) -> bool {
    let load = run.plan.load(&record.trial.point.load);
    load.is_some_and(|load| load.asks(Derivation::LineShare).next().is_some())
}

/// Payload over what the line rate leaves of it: MTU - 52 of each MTU + 38 bytes, over IPv6
/// MTU - 72.
fn goodput(run: &Run, record: &TrialRecord) -> Option<f64> {
    if is_of_line(run, record) {
        return None;
    }
    let rates = by_host(record, "ceiling", "line_rate").filter(|r| !is_client(r.host.name()));
    let payload = one_way(run, record)?;
    let share = |r: &Reading| {
        // An adapter that tells what it moved has to have moved the load.
        let moved = |key| ceiling(record, &r.host, key);
        let told = moved("tx").into_iter().chain(moved("rx")).reduce(f64::max);
        let carried = told.is_none_or(|moved| moved >= CARRIED * payload);
        let most = r.quantity.value / framed(full_packet(run, record, &r.host), WIRE);
        (carried && most > 0.0).then(|| payload / most)
    };
    largest(rates.filter_map(share))
}

/// The same for the adapters of clients that have machines of their own, the fullest of them.
fn client_line(run: &Run, record: &TrialRecord) -> Option<f64> {
    let flows = &record.outcome.flows;
    let (all, payload) = (flows.sum(RECEIVED, |_| true), one_way(run, record)?);
    let rates = by_host(record, "ceiling", "line_rate").filter(|r| is_client(r.host.name()));
    let frames = match is_of_line(run, record) {
        true => 1.0,
        false => framed(full_packet(run, record, "machine"), WIRE),
    };
    let share = |r: &Reading| {
        let host = r.host.name();
        let has = |s: &Flow| s.sender == host || s.receiver == host;
        let its = flows.sum(RECEIVED, has) / all.max(1.0);
        payload * its * frames / r.quantity.value.max(1.0)
    };
    largest(rates.map(share))
}

/// Frames over what the bus carries: each way for PCIe, both ways together for `pci`, which is
/// shared.
fn bus(run: &Run, record: &TrialRecord) -> Option<f64> {
    let serial = of_adapters(run, record, "pcie", |sent, took| sent.max(took) / 8.0);
    let shared = of_adapters(run, record, "pci", |sent, took| (sent + took) / 8.0);
    let machine = || {
        let carries = ceiling(record, "machine", "pcie")?;
        let frames = framed(full_packet(run, record, "machine"), ETHERNET);
        Some(one_way(run, record)? * frames / 8.0 / carries)
    };
    serial.into_iter().chain(shared).reduce(f64::max).or_else(machine)
}

/// Bytes copied over the rate at which all CPUs together copy: once at each end of a stream that
/// lives on this machine. What caches serve passes no memory, so this is the most it can be: it
/// rules memory out, and names it only beside CPUs that are not full.
fn memory(run: &Run, record: &TrialRecord) -> Option<f64> {
    let copies = ceiling(record, "machine", "mem_copy")?;
    let apart = by_host(record, "cpu", "busy").any(|r| is_client(r.host.name()));
    let ends = if apart { 1.0 } else { 2.0 };
    Some(throughput(&run.plan, record)? / 8.0 * ends / copies)
}

/// What the disk carried over what it can.
fn disk(_: &Run, record: &TrialRecord) -> Option<f64> {
    Some(reading(record, "disk", "machine", "carried")? / ceiling(record, "machine", "disk")?)
}

/// Busy shares of the CPUs of the machine.
fn cpus(record: &TrialRecord) -> impl Iterator<Item = f64> + '_ {
    let one =
        |r: &&Reading| r.probe == "cpu" && r.host == "machine" && r.key.starts_with("busy.cpu");
    record.readings.iter().filter(one).map(|r| r.quantity.value)
}

/// Busy share of the busiest CPU of the trial: which one it is may change from trial to trial.
fn one_cpu(record: &TrialRecord) -> Option<f64> {
    largest(cpus(record))
}

/// Share of the fullest CPU that interrupts take. Where the kernel keeps no clock of their time it
/// is that of its thread `ksoftirqd`, which takes over when they are too many, or what samples
/// show: the clock of another thread goes on while an interrupt holds it up.
fn softirq(record: &TrialRecord) -> Option<f64> {
    let of = |r: &&Reading| {
        let keys = ["softirq.cpu", "ksoftirqd.cpu", "softirq_samples.cpu"];
        let named = keys.iter().any(|key| r.key.starts_with(key));
        r.probe == "cpu" && r.host == "machine" && named
    };
    largest(record.readings.iter().filter(of).map(|r| r.quantity.value))
}

/// Share of the flows' busy time that went by waiting, by the column that counts it; none without
/// flows.
fn waiting(record: &TrialRecord, waited: &str) -> Option<f64> {
    let flows = &record.outcome.flows;
    let busy = flows.sum(BUSY, |_| true);
    (busy > 0.0).then(|| flows.sum(waited, |_| true) / busy)
}

/// Share of the time of all operations that delayed acknowledgements of one side can be: each held
/// one operation for [`DELAYED_ACK`] or longer, if one was under way. Where connections rest
/// between operations it is above 1, and tells nothing. None without response times.
fn delayed_acks(run: &Run, record: &TrialRecord) -> Option<f64> {
    let of = |side: fn(&str) -> bool| {
        let its = by_host(record, "tcp", "delayed_acks").filter(|r| side(r.host.name()));
        its.map(|r| r.quantity.value).reduce(|a, b| a + b)
    };
    let acks = largest([of(is_server), of(is_client)].into_iter().flatten())?;
    let mut metrics = run.metrics.iter();
    let response = metrics.find_map(|m| record.outcome.distribution(m.quantile.as_ref()?))?;
    let times = response.read().ok().filter(|times| !times.is_empty())?;
    #[expect(clippy::cast_precision_loss, reason = "operations of a window are below 2^53")]
    let all = times.mean() * response.step * times.len() as f64;
    (all > 0.0).then(|| acks * DELAYED_ACK / all)
}
