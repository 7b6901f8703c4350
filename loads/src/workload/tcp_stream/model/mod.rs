//! Knows what `tcp_stream` does in a simulated lab: how fast it goes, and the evidence of that.
//!
//! The evidence goes through the same check as that of a real trial, so that figures, facts of
//! streams and faults come from one place. Must not know how trials are judged.

mod capacity;
mod costs;
mod flow;
mod machine;
mod stalls;
#[cfg(test)]
mod tests;

use super::check;
use super::evidence::Evidence;
use super::run::{HostMark, InterfaceMark, StreamEnd, StreamMark, read_bytes, shape};
use crate::engine::net::schedule::PaceMark;
use crate::engine::net::streams::{Direction, StreamPlan};
use crate::engine::net::{TcpFacts, ThreadMark};
use desk::record::{Fault, Value};
use flow::{ETHERNET, Flow, Load, flow, headers, segment};
use rig::lab::sim::{LinkNow, Scene, Spoilt};
use rig::workload::{Job, Modelled};

/// Share of the time that the thread of a held client wants to run.
const KEEN: f64 = 0.99;
/// Time from the close of the window to the last byte, nanoseconds.
const DRAIN_NS: u64 = 10_000_000;

/// What it does in a simulated lab.
pub fn model(scene: &Scene<'_>, job: &Job<'_>) -> Result<Modelled, Fault> {
    let params = &job.trial.point.params;
    let streams = machine::streams(scene, params);
    let load = Load::of(params, &streams);
    let flow = flow(scene, &load);
    let busy = machine::busy(scene, &load, &flow);
    let evidence = evidence(scene, job, (streams, &load, &flow));
    Ok(Modelled {
        checked: check::check(&evidence)?,
        cores: busy.cores,
        softirq: busy.softirq,
        clients: busy.clients,
    })
}

/// One end of one stream.
struct End<'a> {
    plan: &'a StreamPlan,
    sends: bool,
    /// Whether it is a client's.
    client: bool,
}

/// Everything that is the same at each moment.
struct Made<'a> {
    scene: &'a Scene<'a>,
    load: &'a Load<'a>,
    flow: &'a Flow,
    congestion: String,
    /// The stream that moves nothing.
    still: Option<u32>,
    window_ns: u64,
    /// When the last byte is moved.
    last_ns: u64,
    names: Vec<String>,
}

/// A moment at which every host reads.
#[derive(Clone, Copy)]
enum Moment {
    /// When it is told to.
    Told(u64),
    /// When its own clock shows this.
    Shown(u64),
}

fn evidence(
    scene: &Scene<'_>,
    job: &Job<'_>,
    (streams, load, flow): (Vec<StreamPlan>, &Load<'_>, &Flow),
) -> Evidence {
    let ns = |d: std::time::Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
    let waited = if scene.steady { job.settle } else { job.settle_max };
    let opens_ns = scene.go_ns + ns(waited);
    let closes_ns = opens_ns + ns(job.window);
    let asked = job.trial.point.params.get("congestion").and_then(Value::word);
    let asked = asked.filter(|c| *c != "kernel" && scene.spoilt != Some(Spoilt::Congestion));
    let own = scene.physics.machine.congestion.as_str();
    let first_of = |host: &str| {
        let client = host.strip_prefix('c').and_then(|n| n.parse().ok()).unwrap_or(1);
        streams.iter().find(|s: &&StreamPlan| s.client == client).map(|s| s.id)
    };
    let still = match &scene.spoilt {
        Some(Spoilt::Still(host)) => first_of(host),
        _ => None,
    };
    let wrong = match &scene.spoilt {
        Some(Spoilt::Content(host)) => first_of(host),
        _ => None,
    };
    let congestion = asked.unwrap_or(own).to_owned();
    let (window_ns, last_ns) = (closes_ns - opens_ns, closes_ns + DRAIN_NS);
    let names = names(scene.clients);
    let made = Made { scene, load, flow, congestion, still, window_ns, last_ns, names };
    let hosts: Vec<Vec<End<'_>>> =
        (0..=scene.clients as usize).map(|at| ends(&streams, at)).collect();
    let at =
        |moment| hosts.iter().enumerate().map(|(h, ends)| made.host(h, ends, moment)).collect();
    let ended = |ends: &Vec<End<'_>>| {
        ends.iter().map(|end| made.ended(end, last_ns, wrong)).collect::<Vec<_>>()
    };
    Evidence {
        host_names: made.names.clone(),
        asked: job.trial.point.params.clone(),
        call_requests: load.call_requests as u64,
        read_bytes: read_bytes(load.engine, shape(load.params).1) as u64,
        ip_header: scene.link.ip_header,
        before: at(Moment::Told(scene.go_ns)),
        opened: at(Moment::Shown(opens_ns)),
        closed: at(Moment::Shown(closes_ns)),
        after: at(Moment::Told(last_ns)),
        course: Vec::new(),
        window_ns: (opens_ns, closes_ns),
        settle_ns: opens_ns - scene.go_ns,
        late_ns: Vec::new(),
        steady: scene.steady,
        ends: hosts.iter().map(ended).collect(),
        refused: 0,
        streams,
    }
}

fn names(clients: u32) -> Vec<String> {
    let clients = (1..=clients).map(|n| format!("c{n:02}"));
    std::iter::once("sut".to_owned()).chain(clients).collect()
}

/// The ends of all streams on a host, by its index.
fn ends(streams: &[StreamPlan], at: usize) -> Vec<End<'_>> {
    let here = |s: &&StreamPlan| at == 0 || s.client == at;
    let end = |plan| {
        let client = at > 0;
        let sends = (plan_sends(plan)) != client;
        End { plan, sends, client }
    };
    streams.iter().filter(here).map(end).collect()
}

/// Whether the system under test sends.
const fn plan_sends(plan: &StreamPlan) -> bool {
    matches!(plan.direction, Direction::Transmit)
}

impl Made<'_> {
    /// Bytes that a stream has moved at a moment.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53")]
    fn bytes(&self, plan: &StreamPlan, at_ns: u64) -> u64 {
        let at_ns = at_ns.min(self.last_ns);
        if self.still == Some(plan.id) { 0 } else { (self.flow.rate * self.since_go(at_ns)) as u64 }
    }

    #[expect(clippy::cast_precision_loss, reason = "runs are below 2^53 ns")]
    fn since_go(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.scene.go_ns) as f64 / 1e9
    }

    fn host(&self, at: usize, ends: &[End<'_>], moment: Moment) -> HostMark {
        let clock = self.names.get(at).and_then(|name| self.scene.clocks.of(name));
        let true_ns = match (moment, clock) {
            (Moment::Shown(shown_ns), Some(clock)) => clock.reaches(shown_ns),
            (Moment::Told(at_ns) | Moment::Shown(at_ns), _) => at_ns,
        };
        let at_ns = clock.map_or(true_ns, |clock| clock.shows(true_ns));
        let mut mark = HostMark { at_ns, took_ns: 1000, ..HostMark::default() };
        mark.interface.name.clone_from(&self.scene.link.name);
        // What the host counts of time it counts by its own clock.
        let elapsed = self.since_go(true_ns) * clock.map_or(1.0, |clock| clock.rate);
        for end in ends {
            let stream = self.stream(end, true_ns, elapsed);
            if !end.sends {
                received(&mut mark.interface, stream.bytes, &self.scene.link);
            }
            mark.cpu_ns += stream.thread.map_or(0, |t| t.cpu_ns);
            mark.streams.push(stream);
        }
        // Housekeeping of the host's own thread.
        mark.cpu_ns += whole(elapsed * 1e-4 * 1e9);
        mark
    }

    /// An end at a true moment, so long after go by its host's clock.
    fn stream(&self, end: &End<'_>, at_ns: u64, elapsed: f64) -> StreamMark {
        let bytes = self.bytes(end.plan, at_ns);
        let (ran, waited) = self.thread(end);
        let pace = self.flow.interval.filter(|_| end.sends).map(|interval| {
            let due = elapsed / interval;
            PaceMark { due: whole(due), late: whole(due * self.flow.late.unwrap_or(0.0)) }
        });
        StreamMark {
            id: end.plan.id,
            sends: end.sends,
            bytes,
            congestion: self.congestion.clone(),
            tcp: self.tcp(end, bytes, elapsed),
            queued: 0,
            thread: Some(ThreadMark {
                cpu_ns: whole(ran * elapsed * 1e9),
                waited_ns: whole(waited * elapsed * 1e9),
            }),
            pace,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the kernel's counters wrap as well")]
    fn tcp(&self, end: &End<'_>, bytes: u64, elapsed: f64) -> TcpFacts {
        let segment = segment(&self.scene.link);
        let segments = bytes.div_ceil(whole(segment).max(1)) as u32;
        let rtt = self.scene.link.rtt;
        let busy_us = whole(elapsed * 1e6);
        let stalls = self.stalls(end, busy_us);
        TcpFacts {
            send_mss: whole(segment) as u32,
            rtt_us: whole(rtt * 1e6) as u32,
            congestion_window: (self.flow.rate * rtt / segment).ceil() as u32 + 10,
            timestamps: true,
            receive_window: 1 << 20,
            bytes_received: if end.sends { 0 } else { bytes },
            data_segments_in: if end.sends { 0 } else { segments },
            data_segments_out: if end.sends { segments } else { 0 },
            busy_us: stalls.busy_us,
            receive_window_limited_us: stalls.receive_window_us,
            send_buffer_limited_us: stalls.send_buffer_us,
            ..TcpFacts::default()
        }
    }

    fn ended(&self, end: &End<'_>, at_ns: u64, wrong: Option<u32>) -> StreamEnd {
        let bytes = self.bytes(end.plan, at_ns);
        let is_wrong = wrong == Some(end.plan.id) && !end.sends;
        let read = whole(self.load.read).max(1);
        let middle = self.bytes(end.plan, at_ns - self.window_ns / 2);
        StreamEnd {
            id: end.plan.id,
            sends: end.sends,
            bytes,
            checks: if end.sends { 0 } else { bytes.div_ceil(read) * 2 },
            complete: true,
            error: is_wrong.then(|| format!("content at byte {middle} is not what was sent")),
            zero_copy: [0; 2],
            digest: None,
        }
    }
}

/// What an interface counts of so much payload.
fn received(interface: &mut InterfaceMark, bytes: u64, link: &LinkNow) {
    let packets = bytes.div_ceil(whole(segment(link)).max(1));
    interface.rx_bytes += bytes + packets * whole(headers(link) + ETHERNET);
    interface.rx_packets += packets;
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
const fn whole(value: f64) -> u64 {
    value as u64
}
