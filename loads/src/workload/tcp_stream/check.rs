//! Knows whether the work of a `tcp_stream` trial was done, and what figures it gives. Pure.
//!
//! Must not know sockets or hosts; all it sees is the evidence.

use super::evidence::{Evidence, end_at, seconds};
use super::run::{Direction, HostMark, STEP_NS, StreamEnd, StreamPlan};
use super::{bytes, readings};
use desk::record::flow::{self, Flow, Flows};
use desk::record::{Fault, Outcome, Sample, Series, Settings, Value, Window, Work};
use desk::unit::{Quantity, Unit};
use rig::metal::{DIGEST, digest};
use rig::workload::Checked;

/// How far from an edge counters may be read in any case, nanoseconds; beyond, 5 % of the window.
const LATE_NS: u64 = 50_000_000;

/// Checks the work and makes the figures.
///
/// # Errors
/// The first thing that was wrong: content, byte counts, a stream that did not move, congestion
/// control that did not take, counts of application, TCP and interface that disagree.
pub fn check(evidence: &Evidence) -> Result<Checked, Fault> {
    let work = check_work(evidence)?;
    check_moments(evidence)?;
    let mut streams = Vec::new();
    for plan in &evidence.streams {
        streams.push(stream(evidence, plan)?);
    }
    bytes::check(evidence)?;
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
        series: course(evidence).into_iter().collect(),
        distributions: Vec::new(),
        flows: Flows::new(&COLUMNS, streams),
        work,
        made_with: made_with(evidence),
        steady: evidence.steady,
        settle: Some(Quantity::seconds(seconds(evidence.settle_ns))),
        fault: None,
    };
    Ok(Checked { outcome, readings: readings::of(evidence) })
}

/// Every host must have read its counters near the announced edges, or there is no common window.
fn check_moments(evidence: &Evidence) -> Result<(), Fault> {
    let (opens, closes) = evidence.window_ns;
    let allowed = (closes.saturating_sub(opens) / 20).max(LATE_NS);
    for (edge, marks) in [(opens, &evidence.opened), (closes, &evidence.closed)] {
        if marks.len() != evidence.host_names.len() {
            return Err(Fault::WrongWork { what: "not every host read its counters".into() });
        }
        for (host, mark) in evidence.host_names.iter().zip(marks) {
            let done_ns = mark.at_ns + mark.took_ns;
            let off_ns = mark.at_ns.abs_diff(edge).max(done_ns.abs_diff(edge));
            if off_ns > allowed {
                let what = format!("read its counters {} ms off the edge", off_ns / 1_000_000);
                return Err(Fault::Disturbed { host: host.as_str().into(), what });
            }
        }
    }
    Ok(())
}

/// Sent and received must agree: to the byte where the receiver saw the end of its stream.
fn check_work(evidence: &Evidence) -> Result<Work, Fault> {
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

/// Throughput in steps of the window, from what the receivers of all hosts had taken at their
/// ends; none where not every host looked on the way.
fn course(evidence: &Evidence) -> Option<Series> {
    let (opens, closes) = evidence.window_ns;
    let steps = evidence.closed.iter().map(|mark| mark.course.len()).min().filter(|n| *n > 0)?;
    let taken = |marks: &[HostMark]| -> u64 {
        let ends = marks.iter().flat_map(|mark| &mark.streams).filter(|end| !end.sends);
        ends.map(|end| end.bytes).sum()
    };
    let on_the_way = |at: usize| evidence.closed.iter().map(|mark| mark.course[at]).sum::<u64>();
    let mut so_far = taken(&evidence.opened);
    let mut from = opens;
    let mut values = Vec::with_capacity(steps + 1);
    for at in 0..=steps {
        let (bytes, to) = match at < steps {
            true => (on_the_way(at), from + STEP_NS),
            false => (taken(&evidence.closed), closes),
        };
        #[expect(clippy::cast_precision_loss, reason = "bytes of a window are below 2^53")]
        let bits = bytes.saturating_sub(so_far) as f64 * 8.0;
        values.push(bits / seconds(to.saturating_sub(from).max(1)));
        (so_far, from) = (bytes, to);
    }
    let step = Quantity::seconds(seconds(STEP_NS));
    Some(Series { metric: "throughput".into(), unit: Unit::BitPerSecond, step, values })
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
    let first = evidence.closed.iter().flat_map(|m| &m.streams).find(|s| s.sends);
    if let Some(sender) = first {
        made.insert("congestion".into(), Value::Word(sender.congestion.clone()));
    }
    made.insert("queue_depth".into(), Value::Count(evidence.call_requests));
    made.insert("streams_total".into(), Value::Count(evidence.streams.len() as u64));
    made
}
