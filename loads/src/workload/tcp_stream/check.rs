//! Knows whether the work of a `tcp_stream` trial was done, and what figures it gives. Pure.
//!
//! Must not know sockets or hosts; all it sees is the evidence.

use super::evidence::{Evidence, end_at};
use super::run::{HostMark, StreamEnd};
use super::spec::SPEC;
use super::{bytes, readings};
use crate::engine::net::life::{check_moments, series};
use crate::engine::net::seconds;
use crate::engine::net::streams::{Direction, StreamPlan};
use desk::record::flow::{self, Flow, Flows};
use desk::record::{Fault, Outcome, Sample, Settings, Value, Window, Work};
use desk::unit::{Quantity, Unit};
use rig::metal::{DIGEST, digest};
use rig::workload::Checked;

/// The metric of the receivers' bytes, its unit, and how much of it a byte is.
const THROUGHPUT: (&str, Unit, f64) = ("throughput", Unit::BitPerSecond, 8.0);

/// Parameters that say by what means bytes move.
const PARTS: [&str; 4] = ["buffers", "duplex_on", "receiver", "sender"];

/// Share of sends without a copy that the kernel may have copied all the same.
const COPIED_MOST: f64 = 0.01;

/// Checks the work and makes the figures.
///
/// # Errors
/// The first thing that was wrong: content, byte counts, a stream that did not move, congestion
/// control that did not take, counts of application, TCP and interface that disagree, sends
/// without a copy that the kernel copied.
pub fn check(evidence: &Evidence) -> Result<Checked, Fault> {
    let work = check_work(evidence)?;
    let read = |marks: &[HostMark]| marks.iter().map(|m| (m.at_ns, m.took_ns)).collect::<Vec<_>>();
    let edges = [read(&evidence.opened), read(&evidence.closed)];
    check_moments(&evidence.host_names, &edges, evidence.window_ns)?;
    let mut streams = Vec::new();
    for plan in &evidence.streams {
        streams.push(stream(evidence, plan)?);
    }
    bytes::check(evidence)?;
    uncopied(evidence)?;
    let rates: Vec<(f64, f64)> = evidence.streams.iter().map(|p| rates(evidence, p)).collect();
    let bytes_per_s: f64 = rates.iter().map(|r| r.0).sum();
    let segments_per_s: f64 = rates.iter().map(|r| r.1).sum();
    #[expect(clippy::cast_precision_loss, reason = "1 B to 1 MiB")]
    let request = evidence.request_bytes() as f64;
    let sample = |metric: &str, value: f64, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    let mut samples = vec![
        sample("throughput", bytes_per_s * 8.0, Unit::BitPerSecond),
        sample("operations", bytes_per_s / request, Unit::OperationPerSecond),
        sample("packets", segments_per_s, Unit::PacketPerSecond),
    ];
    if segments_per_s > 0.0 {
        samples.push(sample("mean_segment", bytes_per_s / segments_per_s, Unit::Byte));
    }
    let outcome = Outcome {
        window: Window { opened_ns: evidence.window_ns.0, closed_ns: evidence.window_ns.1 },
        samples,
        series: series(&evidence.course, evidence.window_ns, THROUGHPUT),
        distributions: Vec::new(),
        flows: Flows::new(&COLUMNS, streams),
        work,
        made_with: made_with(evidence),
        steady: evidence.steady,
        settle: Some(Quantity::seconds(seconds(evidence.settle_ns))),
        fault: None,
        logs: Vec::new(),
    };
    Ok(Checked { outcome, readings: readings::of(evidence) })
}

/// Sent and received must agree: to the byte where the receiver saw the end of its stream.
///
/// # Errors
/// The stream that is missing, ended with an error, or moved wrong bytes.
pub(super) fn check_work(evidence: &Evidence) -> Result<Work, Fault> {
    let mut work = Work::default();
    if evidence.refused > 0 {
        work.errors.insert("refused".into(), evidence.refused);
    }
    let mut digests = Some(DIGEST);
    for plan in &evidence.streams {
        let ends: Vec<&StreamEnd> =
            evidence.ends.iter().flatten().filter(|e| e.id == plan.id).collect();
        let (Some(sent), Some(received)) =
            (ends.iter().find(|e| e.sends), ends.iter().find(|e| !e.sends))
        else {
            return Err(Fault::DeadStream { stream: evidence.name(plan) });
        };
        if let Some(error) = received.error.as_ref().or(sent.error.as_ref()) {
            return Err(Fault::WrongWork { what: format!("{}: {error}", evidence.name(plan)) });
        }
        let lost = received.complete && received.bytes != sent.bytes;
        if received.bytes > sent.bytes || lost {
            return Err(Fault::WrongWork {
                what: format!(
                    "{}: {} B sent but {} B received",
                    evidence.name(plan),
                    sent.bytes,
                    received.bytes
                ),
            });
        }
        work.sent_bytes += sent.bytes;
        work.received_bytes += received.bytes;
        work.content_checks += received.checks;
        digests = digests.and_then(|so_far| Some(digest(so_far, &sent.digest?.to_le_bytes())));
    }
    work.digest = digests.map(Work::folded);
    work.operations = work.received_bytes / evidence.request_bytes();
    Ok(work)
}

/// What was to be sent without a copy must have been sent so: else the figures are those of a
/// sender that copies, and keeps books beside it.
#[expect(clippy::cast_precision_loss, reason = "sends of a trial are below 2^53")]
fn uncopied(evidence: &Evidence) -> Result<(), Fault> {
    let [told, copied] = evidence.zero_copy();
    if copied as f64 <= told as f64 * COPIED_MOST {
        return Ok(());
    }
    Err(Fault::NotAvailable {
        what: format!(
            "sender = \"zerocopy\": the kernel copied {copied} of {told} sends all the same \
             (SO_EE_CODE_ZEROCOPY_COPIED), as it does on loopback, on virtual links and with \
             adapters that gather nothing; take sender = \"write\" or \"splice\""
        ),
    })
}

/// Bytes per second and data segments per second of one stream, between its receiver's own reads.
fn rates(evidence: &Evidence, plan: &StreamPlan) -> (f64, f64) {
    let Some((opened, from)) = end_at(&evidence.opened, plan.id, false) else { return (0.0, 0.0) };
    let Some((closed, to)) = end_at(&evidence.closed, plan.id, false) else { return (0.0, 0.0) };
    let length = seconds(to.saturating_sub(from)).max(1e-9);
    let segments = closed.tcp.data_segments_in.wrapping_sub(opened.tcp.data_segments_in);
    #[expect(clippy::cast_precision_loss, reason = "bytes of a window are below 2^53")]
    let bytes = closed.bytes.saturating_sub(opened.bytes) as f64;
    (bytes / length, f64::from(segments) / length)
}

/// What the kernel's TCP says of a stream over the window: payload and requests that the receiving
/// application took, data segments that its kernel counted and those sent again, and of the sending
/// end smoothed round-trip time, segment size and window at the close, and what it waited for.
const COLUMNS: [(&str, Unit); 10] = [
    (flow::RECEIVED, Unit::Byte),
    ("operations", Unit::Count),
    ("segments", Unit::Count),
    ("retransmitted", Unit::Count),
    ("rtt", Unit::Second),
    ("mss", Unit::Byte),
    ("congestion_window", Unit::Count),
    (flow::BUSY, Unit::Second),
    (flow::RECEIVE_WINDOW, Unit::Second),
    (flow::SEND_BUFFER, Unit::Second),
];

#[expect(clippy::cast_precision_loss, reason = "bytes and microseconds are far below 2^53")]
fn stream(evidence: &Evidence, plan: &StreamPlan) -> Result<Flow, Fault> {
    let dead = || Fault::DeadStream { stream: evidence.name(plan) };
    let end = |marks, sends| end_at(marks, plan.id, sends).map(|(s, _)| s).ok_or_else(dead);
    let (sender_0, sender_1) = (end(&evidence.opened, true)?, end(&evidence.closed, true)?);
    let (receiver_0, receiver_1) = (end(&evidence.opened, false)?, end(&evidence.closed, false)?);
    let received_bytes = receiver_1.bytes.saturating_sub(receiver_0.bytes);
    // A paced stream whose first moment has not come yet is as it shall be.
    if receiver_1.bytes == 0 && sender_1.pace.is_none_or(|pace| pace.due > 0) {
        return Err(dead());
    }
    let asked = evidence.asked.get("congestion").and_then(Value::word).unwrap_or("kernel");
    if asked != "kernel" && sender_1.congestion != asked {
        let found = &sender_1.congestion;
        return Err(Fault::Factor { what: format!("congestion: asked {asked}, is {found}") });
    }
    let (client, server) = (&evidence.host_names[plan.client], &evidence.host_names[0]);
    let transmit = plan.direction == Direction::Transmit;
    let (sender, receiver) = if transmit { (server, client) } else { (client, server) };
    let (sender_cpu, receiver_cpu) = if transmit {
        (plan.server_cpu, plan.client_cpu)
    } else {
        (plan.client_cpu, plan.server_cpu)
    };
    let (a, b) = (&sender_0.tcp, &sender_1.tcp);
    let segments = receiver_1.tcp.data_segments_in.wrapping_sub(receiver_0.tcp.data_segments_in);
    let counted = |number: u64| Some(number as f64);
    let passed = |a: u64, b: u64| Some(b.saturating_sub(a) as f64 / 1e6);
    Ok(Flow {
        name: evidence.name(plan),
        sender: sender.clone(),
        receiver: receiver.clone(),
        sender_cpu,
        receiver_cpu,
        words: [("congestion".to_owned(), sender_1.congestion.clone())].into(),
        figures: vec![
            counted(received_bytes),
            counted(received_bytes / evidence.request_bytes()),
            Some(f64::from(segments)),
            Some(f64::from(b.retransmitted.wrapping_sub(a.retransmitted))),
            Some(f64::from(b.rtt_us) / 1e6),
            Some(f64::from(b.send_mss)),
            Some(f64::from(b.congestion_window)),
            passed(a.busy_us, b.busy_us),
            passed(a.receive_window_limited_us, b.receive_window_limited_us),
            passed(a.send_buffer_limited_us, b.send_buffer_limited_us),
        ],
    })
}

/// How the load was made, as it really was.
fn made_with(evidence: &Evidence) -> Settings {
    let mut made = Settings::new();
    for key in ["engine", "offered_load", "placement"] {
        if let Some(value) = evidence.asked.get(key) {
            made.insert(key.into(), value.clone());
        }
    }
    // What is rarely asked for is told where it is.
    for param in SPEC.params.iter().filter(|param| PARTS.contains(&param.name)) {
        let asked = evidence.asked.get(param.name).and_then(Value::word);
        if let Some(asked) = asked.filter(|asked| *asked != param.default) {
            made.insert(param.name.into(), Value::Word(asked.into()));
        }
    }
    let first = evidence.closed.iter().flat_map(|m| &m.streams).find(|s| s.sends);
    if let Some(sender) = first {
        made.insert("congestion".into(), Value::Word(sender.congestion.clone()));
    }
    made.insert("queue_depth".into(), Value::Count(evidence.call_requests));
    made.insert("streams_total".into(), Value::Count(evidence.streams.len() as u64));
    made
}
