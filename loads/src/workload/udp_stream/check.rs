//! Knows whether the work of a `udp_stream` trial was done, and what figures it gives. Pure.
//!
//! Must not know sockets or hosts; all it sees is the evidence.

use super::evidence::{End, Evidence};
use super::readings;
use super::run::HostMark;
use crate::engine::net::life::{check_moments, series};
use crate::engine::net::seconds;
use crate::engine::net::streams::StreamPlan;
use crate::engine::times::merged;
use desk::record::flow::{self, Flow, Flows};
use desk::record::{Fault, Outcome, Sample, Settings, Value, Window, Work};
use desk::unit::{Quantity, Unit};
use rig::metal::{DIGEST, digest};
use rig::workload::Checked;

/// Both ends of one stream.
struct Both<'e> {
    plan: &'e StreamPlan,
    from: End<'e>,
    to: End<'e>,
}

/// Checks the work and makes the figures.
///
/// # Errors
/// The first thing that was wrong: content, counts that disagree, a stream that did not move.
pub fn check(evidence: &Evidence) -> Result<Checked, Fault> {
    let life = evidence.life()?;
    let read = |marks: &[HostMark]| marks.iter().map(|m| (m.at_ns, m.took_ns)).collect::<Vec<_>>();
    let edges = [read(&life.opened), read(&life.closed)];
    check_moments(&evidence.host_names, &edges, life.window_ns)?;
    let mut all = Vec::new();
    for plan in &evidence.streams {
        let (from, to) = (evidence.end(plan, true)?, evidence.end(plan, false)?);
        check_stream(evidence, &Both { plan, from, to })?;
        all.push(Both { plan, from, to });
    }
    // Histograms of one clock alone; a difference of two clocks is no delay.
    let delays = all.iter().filter(|both| evidence.one_clock[both.plan.client]);
    let delays = delays.filter_map(|both| both.to.end.delay.as_ref());
    let bits = float(evidence.datagram) * 8.0;
    let outcome = Outcome {
        window: Window { opened_ns: life.window_ns.0, closed_ns: life.window_ns.1 },
        samples: samples(&all, bits),
        series: series(&life.course, life.window_ns, ("throughput", Unit::BitPerSecond, bits)),
        distributions: merged(delays)?,
        flows: Flows::new(&COLUMNS, all.iter().map(|both| flow(evidence, both)).collect()),
        work: work(evidence, &all),
        made_with: made_with(evidence, &all),
        steady: life.steady,
        settle: Some(Quantity::seconds(seconds(life.settle_ns))),
        fault: None,
        logs: Vec::new(),
    };
    Ok(Checked { outcome, readings: readings::of(evidence)? })
}

/// No more came than was sent, nor was more dropped than is missing.
fn check_stream(evidence: &Evidence, both: &Both<'_>) -> Result<(), Fault> {
    let (sent, came, name) = (both.from.end, both.to.end, evidence.name(both.plan));
    let wrong = |what: String| Err(Fault::WrongWork { what: format!("{name}: {what}") });
    if let Some(error) = came.error.as_ref().or(sent.error.as_ref()) {
        return wrong(error.clone());
    }
    if came.moved == 0 && both.from.closed.pace.is_none_or(|pace| pace.due > 0) {
        return Err(Fault::DeadStream { stream: name });
    }
    for (when, sent, came) in
        [("in all", sent.moved, came.moved), ("in the window", sent.counted, came.counted)]
    {
        if came > sent {
            return wrong(format!("{sent} datagrams sent {when} but {came} received"));
        }
    }
    let missing = sent.moved - came.moved + came.duplicates + came.stale + came.foreign;
    if came.dropped > missing {
        let dropped = came.dropped;
        return wrong(format!(
            "the kernel dropped {dropped} datagrams at the socket, and {missing} are missing"
        ));
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts of a trial are below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

fn samples(all: &[Both<'_>], bits: f64) -> Vec<Sample> {
    let rate = |both: &Both<'_>| {
        let End { opened, closed, length_ns, .. } = both.to;
        float(closed.moved.saturating_sub(opened.moved)) / seconds(length_ns)
    };
    let rate: f64 = all.iter().map(rate).sum();
    let sent: u64 = all.iter().map(|both| both.from.end.counted).sum();
    let of = |count: fn(&Both<'_>) -> u64| float(all.iter().map(count).sum());
    let came = of(|both| both.to.end.counted);
    let jitter: f64 =
        all.iter().map(|both| both.to.end.jitter_ns * float(both.to.end.counted)).sum();
    let sample = |metric: &str, value: f64, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    let mut samples = vec![
        sample("throughput", rate * bits, Unit::BitPerSecond),
        sample("datagrams", rate, Unit::PacketPerSecond),
    ];
    if sent > 0 {
        samples.push(sample("loss", (float(sent) - came) / float(sent), Unit::Share));
    }
    if came > 0.0 {
        let part = |count: fn(&Both<'_>) -> u64| of(count) / came;
        samples.push(sample("reordered", part(|both| both.to.end.reordered), Unit::Share));
        samples.push(sample("duplicates", part(|both| both.to.end.duplicates), Unit::Share));
        samples.push(sample("jitter", jitter / came / 1e9, Unit::Second));
    }
    samples
}

fn work(evidence: &Evidence, all: &[Both<'_>]) -> Work {
    let mut work = Work::default();
    let mut sum = Some(DIGEST);
    for both in all {
        let (sent, came) = (both.from.end, both.to.end);
        work.sent_bytes += sent.moved * evidence.datagram;
        work.received_bytes += came.moved * evidence.datagram;
        work.operations += came.moved;
        work.content_checks += came.moved;
        sum = sum.and_then(|sum| Some(digest(sum, &sent.digest?.to_le_bytes())));
        // What was lost or came again is a figure, and no operation that failed.
        let errors = [("stale", came.stale), ("foreign", came.foreign)];
        for (class, count) in errors.into_iter().filter(|(_, count)| *count > 0) {
            *work.errors.entry(class.into()).or_default() += count;
        }
    }
    let refused: u64 = evidence.life.iter().flat_map(|l| &l.ended).map(|ended| ended.1).sum();
    if refused > 0 {
        work.errors.insert("refused".into(), refused);
    }
    work.digest = sum.map(Work::folded);
    work
}

/// Of a stream over the window: payload that the receiver took, datagrams sent and received, what
/// the kernel dropped at the receiver's socket, what came out of order and what came again.
const COLUMNS: [(&str, Unit); 6] = [
    (flow::RECEIVED, Unit::Byte),
    ("sent", Unit::Count),
    ("came", Unit::Count),
    ("dropped", Unit::Count),
    ("reordered", Unit::Count),
    ("duplicates", Unit::Count),
];

fn flow(evidence: &Evidence, both: &Both<'_>) -> Flow {
    let plan = both.plan;
    let host = |sends| evidence.host_names[Evidence::host(plan, sends)].clone();
    let cpu = |sends| match Evidence::host(plan, sends) {
        0 => plan.server_cpu,
        _ => plan.client_cpu,
    };
    let End { opened, closed, .. } = both.to;
    let (came, sent) = (both.to.end.counted, both.from.end.counted);
    Flow {
        name: evidence.name(plan),
        sender: host(true),
        receiver: host(false),
        sender_cpu: cpu(true),
        receiver_cpu: cpu(false),
        words: [].into(),
        figures: vec![
            Some(float(closed.moved.saturating_sub(opened.moved) * evidence.datagram)),
            Some(float(sent)),
            Some(float(came)),
            Some(float(closed.dropped.saturating_sub(opened.dropped))),
            Some(float(both.to.end.reordered)),
            Some(float(both.to.end.duplicates)),
        ],
    }
}

/// How the load was made, as it really was.
fn made_with(evidence: &Evidence, all: &[Both<'_>]) -> Settings {
    let mut made = evidence.asked.clone();
    made.insert("queue_depth".into(), Value::Count(evidence.depth));
    made.insert("streams_total".into(), Value::Count(all.len() as u64));
    made
}
