//! Knows whether the work of a `forward` trial was done, and what figures it gives. Pure.
//!
//! Must not know frames or hosts; all it sees is the evidence.

use super::evidence::{Evidence, WINDOW, float};
use super::external;
use super::late;
use super::ledger::ledger;
use super::readings;
use super::run::{HostMark, share};
use super::spec::{DECLARED, HEADROOM};
use crate::engine::net::life::{check_moments, series};
use crate::engine::net::seconds;
use crate::engine::packet::frame::IFG;
use crate::engine::packet::ledger::Ledger;
use crate::engine::packet::live::{Listed, Stream};
use crate::engine::packet::source_file::content;
use crate::engine::times::merged;
use desk::record::flow::{self, Flow, Flows};
use desk::record::{Fault, Outcome, Sample, Settings, Value, Window, Work};
use desk::unit::{Quantity, Unit};
use rig::metal::{DIGEST, digest};
use rig::workload::Checked;
use std::collections::{BTreeMap, BTreeSet};

/// Share of the window that the CPU of a client that sends as fast as it can may be idle.
const IDLE: f64 = 0.2;

/// Checks the work and makes the figures.
///
/// # Errors
/// The first thing that was wrong: frames that are not accounted for, damaged, or not sent.
pub fn check(evidence: &Evidence) -> Result<Checked, Fault> {
    let life = evidence.life()?;
    let read = |marks: &[HostMark]| marks.iter().map(|m| (m.at_ns, m.took_ns)).collect::<Vec<_>>();
    let edges = [read(&life.opened), read(&life.closed)];
    let hosts = [evidence.host_names.as_slice(), &evidence.between].concat();
    check_moments(&hosts, &edges, life.window_ns)?;
    let ledger = ledger(evidence)?;
    damage(evidence)?;
    // Counts of ports that frames do not pass explain why a ledger does not close.
    external::fit(evidence, &ledger)?;
    ledger.closes().map_err(|what| Fault::WrongWork { what })?;
    programs(evidence, &ledger)?;
    life_of_streams(evidence)?;
    schedules(evidence)?;
    idleness(evidence)?;
    // A difference of two clocks is no latency.
    let tells = evidence.one_clock.iter().all(|one| *one) && !late::hides_latency(evidence)?;
    let sinks = evidence.after.iter().filter(|_| tells);
    let times = sinks.filter_map(|(_, counts)| counts.times.as_ref());
    let outcome = Outcome {
        window: Window { opened_ns: life.window_ns.0, closed_ns: life.window_ns.1 },
        samples: samples(evidence)?,
        series: series(&life.course, life.window_ns, ("frames", Unit::PacketPerSecond, 1.0)),
        distributions: merged(times)?,
        flows: Flows::new(&COLUMNS, flows(evidence)?),
        work: work(evidence, &ledger)?,
        made_with: made_with(evidence),
        // Before a burst there is no rate.
        steady: life.steady || evidence.burst.is_some(),
        settle: Some(Quantity::seconds(seconds(life.settle_ns))),
        fault: None,
        logs: Vec::new(),
    };
    Ok(Checked { outcome, readings: readings::of(evidence, &ledger)? })
}

/// A frame that is damaged ends the trial: what changes one may change the next to a good one. So
/// does one without its tag, which is not the frame that was sent.
fn damage(evidence: &Evidence) -> Result<(), Fault> {
    let sinks = || evidence.after.iter().filter_map(|(_, counts)| counts.sink.as_ref());
    let damaged = sinks().map(|sink| sink.damaged).sum::<u64>();
    let what = match (damaged, sinks().map(|sink| sink.mistagged).sum::<u64>()) {
        (0, 0) => return Ok(()),
        (0, count) => format!(
            "{count} frames came with the tag of another VLAN, or with none: what stands between \
             the ends changes tags, or the sink's adapter takes them out of frames, which \
             `ethtool -K ADAPTER rxvlan off` ends"
        ),
        (count, _) => format!("{count} frames came with a tag or a length that is not their own"),
    };
    Err(Fault::WrongWork { what })
}

/// Every frame that came went through the fast path of each switch: the kernel forwards what that
/// leaves to it.
fn programs(evidence: &Evidence, ledger: &Ledger) -> Result<(), Fault> {
    if evidence.list.is_none() {
        return Ok(());
    }
    let mut forwarded: BTreeMap<&str, u64> = BTreeMap::new();
    for (host, _, counts) in evidence.ports() {
        *forwarded.entry(host).or_default() += counts.forwarded;
    }
    match forwarded.into_iter().find(|(_, forwarded)| *forwarded < ledger.received) {
        None => Ok(()),
        Some((host, forwarded)) => {
            let what = format!(
                "{} frames came, and the fast path of {host} forwarded {forwarded}: the kernel \
                 forwarded the others; with af_xdp give each port one queue, by \
                 `ethtool -L ADAPTER combined 1`",
                ledger.received
            );
            Err(Fault::WrongWork { what })
        }
    }
}

/// A stream of which nothing came in the window has no rate.
fn life_of_streams(evidence: &Evidence) -> Result<(), Fault> {
    for stream in 0..evidence.streams() {
        let sent = evidence.sent(stream)?.0.sent[WINDOW];
        if (sent > 0 || evidence.interval_ns.is_none()) && evidence.came(stream)?.came[WINDOW] == 0
        {
            return Err(Fault::DeadStream { stream: evidence.name(stream) });
        }
    }
    Ok(())
}

/// A paced sender accounts for every frame that was due in the window, and has sent nearly all,
/// unless frames that were not sent are lost; of a burst, all.
fn schedules(evidence: &Evidence) -> Result<(), Fault> {
    for stream in 0..evidence.streams() {
        let Some(due) = due(evidence, stream)? else { continue };
        let (sent, _) = evidence.sent(stream)?;
        let (sent, unsent) = (sent.sent[WINDOW], sent.unsent[WINDOW]);
        let told = sent + unsent;
        let limit =
            |what| Err(Fault::GeneratorLimit { host: evidence.sender(stream).into(), what });
        if evidence.burst.is_some() && float(told) < due {
            return limit(format!(
                "{told} of {due} frames of the burst were sent before the end; take a longer \
                 window or a smaller burst"
            ));
        }
        // Edges on the clocks of two machines are off by their bound.
        let slack =
            1.0 + if evidence.one_clock[evidence.legs[stream].sender] { 0.0 } else { due * 1e-3 };
        if (float(told) - due).abs() > slack {
            let name = evidence.name(stream);
            let what = format!("{name}: {due:.1} frames were due in the window, {told} are told");
            return Err(Fault::WrongWork { what });
        }
        if let Some(what) = late::limit(evidence, (sent, unsent))? {
            return limit(what);
        }
    }
    Ok(())
}

/// Frames of a stream that were due in the window; none of one that sends as many as it can.
fn due(evidence: &Evidence, stream: usize) -> Result<Option<f64>, Fault> {
    if let Some(frames) = evidence.burst {
        let [stream, streams] =
            [stream, evidence.streams()].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        return Ok(Some(f64::from(share(frames, (stream, streams)))));
    }
    let counted = evidence.frames_for()?;
    Ok(evidence.interval_ns.map(|interval_ns| counted * 1e9 / interval_ns))
}

/// Who sends as fast as it can and leaves its CPU idle does not.
fn idleness(evidence: &Evidence) -> Result<(), Fault> {
    if evidence.interval_ns.is_some() || evidence.burst.is_some() {
        return Ok(());
    }
    for stream in 0..evidence.streams() {
        let host = evidence.sender(stream);
        let share = readings::idle(evidence, stream)?.filter(|share| *share > IDLE);
        if let Some(share) = share {
            let what = format!(
                "its CPU {} was idle for {:.0} % of the window, while it shall send as fast as it \
                 can",
                evidence.legs[stream].cpu,
                share * 100.0
            );
            return Err(Fault::GeneratorLimit { host: host.into(), what });
        }
    }
    Ok(())
}

fn samples(evidence: &Evidence) -> Result<Vec<Sample>, Fault> {
    let life = evidence.life()?;
    // Each sink has edges of its own; one that counts nothing adds nothing.
    let rate = |(opened, closed): (&HostMark, &HostMark), counts: fn(&HostMark) -> &Vec<u64>| {
        let length = seconds(closed.at_ns.saturating_sub(opened.at_ns)).max(1e-9);
        let both = counts(closed).iter().zip(counts(opened));
        float(both.map(|(b, a)| b.saturating_sub(*a)).sum()) / length
    };
    let of = |counts: fn(&HostMark) -> &Vec<u64>| -> f64 {
        life.opened.iter().zip(&life.closed).map(|marks| rate(marks, counts)).sum()
    };
    let of_all = |count: fn(&Stream) -> u64| -> Result<u64, Fault> {
        (0..evidence.streams()).map(|stream| Ok(count(&evidence.came(stream)?))).sum()
    };
    let (sent, came) = evidence.sums()?;
    let received: u64 = came.iter().sum();
    let (sent, unsent, came) = (sent.sent[WINDOW], sent.unsent[WINDOW], came[WINDOW]);
    let read = (of(|mark| &mark.came), of(|mark| &mark.bytes));
    let (rate, bytes) = match evidence.due_in {
        None => read,
        Some(_) => {
            let bytes = float(of_all(|s| s.bytes[WINDOW])?);
            let length = evidence.frames_for()?;
            (float(came) / length, bytes / length)
        }
    };
    let part = |count: u64, of: u64| float(count) / float(of.max(1));
    let sample = |metric: &str, value: f64, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    let offered = if late::are_lost(&evidence.asked) { sent + unsent } else { sent };
    let throughput = (bytes + rate * float(IFG as u64)) * 8.0;
    let mut samples = vec![
        sample("frames", rate, Unit::PacketPerSecond),
        sample("throughput", throughput, Unit::BitPerSecond),
        sample("loss", part(offered.saturating_sub(came), offered), Unit::Share),
        sample("reordered", part(of_all(|s| s.reordered)?, came), Unit::Share),
        sample("duplicates", part(of_all(|s| s.duplicates)?, came), Unit::Share),
        sample("unsent", part(unsent, sent + unsent), Unit::Share),
    ];
    // Hosts between the ends are read at the edges: what they count goes by what came there.
    let scale = if read.0 > 0.0 { rate / read.0 } else { 1.0 };
    let own = readings::forwarded(evidence)?.into_iter().map(|(_, own)| own * scale);
    let own = own.chain(external::rate(evidence, (rate, received)));
    let own = own.reduce(f64::max).map(|rate| sample("self_frames", rate, Unit::PacketPerSecond));
    samples.extend(own);
    let declared = evidence.asked.get(DECLARED.name).and_then(Value::quantity);
    // A line has its rate in each direction.
    let ways: BTreeSet<bool> = evidence.legs.iter().map(|leg| leg.receiver == 0).collect();
    let share = |rate: Quantity| throughput / rate.value / float(ways.len() as u64);
    let bias = evidence.alone.and_then(|alone| alone.latency);
    samples.extend(bias.map(|late| sample("latency_bias", late, Unit::Second)));
    let headroom = evidence.alone.filter(|_| rate > 0.0).map(|alone| alone.rate / rate);
    samples.extend(headroom.map(|times| sample(HEADROOM, times, Unit::Ratio)));
    let share = declared.map(|rate| sample("line_share", share(rate), Unit::Share));
    samples.extend(share);
    Ok(samples)
}

fn work(evidence: &Evidence, ledger: &Ledger) -> Result<Work, Fault> {
    let mut work =
        Work { operations: ledger.received, content_checks: ledger.received, ..Work::default() };
    let mut sum = DIGEST;
    for stream in 0..evidence.streams() {
        let (sent, own) = evidence.sent(stream)?;
        work.sent_bytes += evidence.sizes.sum(sent.sent.iter().sum());
        work.received_bytes += evidence.came(stream)?.bytes.iter().sum::<u64>();
        sum = digest(sum, &own.to_le_bytes());
    }
    work.digest = Some(Work::folded(sum));
    Ok(work)
}

/// Of a stream over the window: bytes of the frames that came, frames sent and come.
const COLUMNS: [(&str, Unit); 3] =
    [(flow::RECEIVED, Unit::Byte), ("sent", Unit::Count), ("came", Unit::Count)];

fn flows(evidence: &Evidence) -> Result<Vec<Flow>, Fault> {
    let row = |stream: usize| {
        let leg = &evidence.legs[stream];
        let (sent, arrived) = (evidence.sent(stream)?.0.sent, evidence.came(stream)?);
        let (came, bytes) = (arrived.came, float(arrived.bytes[WINDOW]));
        Ok(Flow {
            name: evidence.name(stream),
            sender: evidence.sender(stream).to_owned(),
            receiver: evidence.host_names[leg.receiver].clone(),
            sender_cpu: Some(leg.cpu),
            receiver_cpu: None,
            words: [].into(),
            figures: vec![Some(bytes), Some(float(sent[WINDOW])), Some(float(came[WINDOW]))],
        })
    };
    (0..evidence.streams()).map(row).collect()
}

/// How the load was made, as it really was.
fn made_with(evidence: &Evidence) -> Settings {
    let mut made = evidence.asked.clone();
    made.insert("streams_total".into(), Value::Count(evidence.streams() as u64));
    let words = |frame: &Listed| u64::from(frame.bytes) << 32 | u64::from(frame.flow);
    let captured = evidence.captured();
    made.extend(captured.map(|list| content(list.iter().map(|one| words(one).to_le_bytes()))));
    made
}
