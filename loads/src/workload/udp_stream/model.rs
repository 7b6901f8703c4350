//! Knows what `udp_stream` does in a simulated lab: how fast both ends go, and its evidence.
//!
//! The evidence goes through the same check as that of a real trial. Must not know how trials are
//! judged.

use super::check;
use super::evidence::Evidence;
use super::run::{HostMark, StreamEnd, StreamMark, shape};
use super::spec::DELAY;
use crate::engine::net::schedule::PaceMark;
use crate::engine::net::streams::{StreamPlan, plan_streams, shared_out};
use crate::engine::net::{Cpus, Life, ThreadMark};
use crate::engine::times::stored;
use desk::record::{Distribution, Fault, Value};
use rig::lab::sim::{Scene, Spoilt};
use rig::workload::{Job, Modelled};
use std::time::Duration;

/// Header of UDP in a packet, bytes.
const UDP: f64 = 8.0;

/// Datagrams a second of one stream.
struct Rates {
    sent: f64,
    came: f64,
    /// By its schedule, where it has one.
    due: Option<f64>,
}

/// What it does in a simulated lab.
///
/// # Errors
/// The fault that the workload's own check finds.
pub fn model(scene: &Scene<'_>, job: &Job<'_>) -> Result<Modelled, Fault> {
    let params = &job.trial.point.params;
    let cores: Vec<u32> = (0..scene.physics.machine.cores.max(1)).collect();
    let streams = plan_streams(params, scene.clients, Cpus { server: &cores, all: &cores });
    let (rates, busy) = rates(scene, job, &streams);
    let evidence = evidence(scene, job, (streams, &rates));
    let each = (busy / f64::from(scene.physics.machine.cores.max(1))).min(1.0);
    let clients = match scene.physics.clients_apart() {
        true => shared_out(busy / 2.0, params, scene.clients),
        false => Vec::new(),
    };
    let cores = vec![each; cores.len()];
    let softirq = cores.iter().map(|busy| busy / 3.0).collect();
    Ok(Modelled { checked: check::check(&evidence)?, cores, softirq, clients })
}

/// What every stream sends and receives, and the CPUs that all take.
#[expect(clippy::cast_precision_loss, reason = "at most 1,024 streams of 64 KiB")]
fn rates(scene: &Scene<'_>, job: &Job<'_>, streams: &[StreamPlan]) -> (Rates, f64) {
    let params = &job.trial.point.params;
    let (_, bytes, depth) = shape(params);
    let (bytes, count) = (bytes as f64, streams.len().max(1) as f64);
    let one_way = f64::from(streams.iter().map(|plan| plan.turn + 1).max().unwrap_or(1));
    let cost = &scene.physics.cost;
    // Either end: its share of a call, its packets, its copy.
    let headers = UDP + scene.link.ip_header;
    let packets = (bytes / (scene.link.mtu - headers).max(1.0)).ceil();
    let each = cost.call / depth as f64 + packets * cost.packet + bytes * cost.byte;
    let fastest = scene.hold.speed * scene.pace / each;
    let cpus = f64::from(scene.physics.machine.cores.max(1));
    // Both ends of all streams share the CPUs.
    let fastest = fastest * (cpus / (2.0 * count)).min(1.0);
    let rate = scene.link.cap.unwrap_or(f64::INFINITY).min(scene.link.line_rate);
    let wire = rate / 8.0 / (bytes + packets * (headers + scene.link.overhead)) / one_way;
    let offered = params.get("offered_load").and_then(Value::quantity);
    let due = offered.map(|load| load.value / 8.0 / bytes / one_way);
    let sent = due.unwrap_or(f64::INFINITY).min(fastest);
    let came = sent.min(wire);
    (Rates { sent, came, due }, (sent + came) * each * count * scene.cpu / scene.hold.speed)
}

fn evidence(
    scene: &Scene<'_>,
    job: &Job<'_>,
    (streams, rates): (Vec<StreamPlan>, &Rates),
) -> Evidence {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let opens_ns = scene.go_ns + ns(if scene.steady { job.settle } else { job.settle_max });
    let closes_ns = opens_ns + ns(job.window);
    let hosts = 0..=scene.clients as usize;
    let (_, datagram, depth) = shape(&job.trial.point.params);
    let ends = |host: usize, at_ns: u64| -> Vec<StreamMark> {
        let here = streams.iter().filter(|plan| host == 0 || plan.client == host);
        here.map(|plan| mark((scene, rates), plan, host, at_ns)).collect()
    };
    let read = |host: usize, at_ns: u64| HostMark {
        at_ns,
        took_ns: 1000,
        cpu_ns: (at_ns - scene.go_ns) / 2,
        streams: ends(host, at_ns),
        ..HostMark::default()
    };
    let ended = |host: usize| {
        let (before, after) = (ends(host, opens_ns), ends(host, closes_ns));
        let here = streams.iter().filter(|plan| host == 0 || plan.client == host);
        let both = here.zip(before.iter().zip(after));
        both.map(|(plan, (a, b))| end((scene, job), plan, host, (a.moved, b.moved))).collect()
    };
    let life = Life {
        steady: scene.steady,
        settle_ns: opens_ns - scene.go_ns,
        late_ns: Vec::new(),
        window_ns: (opens_ns, closes_ns),
        opened: hosts.clone().map(|host| read(host, opens_ns)).collect(),
        closed: hosts.clone().map(|host| read(host, closes_ns)).collect(),
        course: Vec::new(),
        ended: hosts.clone().map(|host| (ended(host), 0)).collect(),
    };
    let name = |at: usize| if at == 0 { "sut".to_owned() } else { format!("c{at:02}") };
    Evidence {
        host_names: hosts.clone().map(name).collect(),
        one_clock: hosts.map(|_| !scene.physics.clients_apart()).collect(),
        asked: job.trial.point.params.clone(),
        datagram: datagram as u64,
        depth: depth as u64,
        streams: streams.clone(),
        life: Some(life),
    }
}

/// Whether a host is the first client, at which something is wrong.
fn is_spoilt(spoilt: Option<&Spoilt>, plan: &StreamPlan) -> (bool, bool) {
    let is = |host: &str| host == format!("c{:02}", plan.client);
    match spoilt {
        Some(Spoilt::Still(host)) => (is(host), false),
        Some(Spoilt::Content(host)) => (false, is(host)),
        _ => (false, false),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
#[expect(clippy::cast_precision_loss, reason = "runs are below 2^53 ns")]
fn mark(
    (scene, rates): (&Scene<'_>, &Rates),
    plan: &StreamPlan,
    host: usize,
    at_ns: u64,
) -> StreamMark {
    let passed = (at_ns - scene.go_ns) as f64 / 1e9;
    let sends = Evidence::host(plan, true) == host;
    let (still, _) = is_spoilt(scene.spoilt.as_ref(), plan);
    let rate = if sends { rates.sent } else { rates.came };
    let due = rates.due.filter(|_| sends);
    let late = due.map_or(0.0, |due| (due - rates.sent).max(0.0));
    let used = (at_ns - scene.go_ns) / 2;
    StreamMark {
        id: plan.id,
        moved: if still { 0 } else { (rate * passed) as u64 },
        dropped: 0,
        buffer: 0,
        thread: Some(ThreadMark { cpu_ns: used, waited_ns: 0 }),
        pace: due
            .map(|due| PaceMark { due: (due * passed) as u64 + 1, late: (late * passed) as u64 }),
    }
}

fn end(
    (scene, job): (&Scene<'_>, &Job<'_>),
    plan: &StreamPlan,
    host: usize,
    (opened, closed): (u64, u64),
) -> StreamEnd {
    let sends = Evidence::host(plan, true) == host;
    let (_, wrong) = is_spoilt(scene.spoilt.as_ref(), plan);
    let counted = closed - opened;
    let one_way = Duration::from_secs_f64(scene.link.rtt / 2.0);
    let one_way = u64::try_from(one_way.as_nanos()).unwrap_or(0);
    let delay = Distribution::empty().and_then(|mut delay| {
        delay.saturating_record_n(one_way, counted);
        stored(DELAY, &delay)
    });
    StreamEnd {
        id: plan.id,
        sends,
        moved: closed,
        counted,
        jitter_ns: if sends { 0.0 } else { 1000.0 },
        delay: delay.filter(|_| !sends),
        error: (wrong && !sends).then(|| "datagram 1: byte 40 is not what was sent".to_owned()),
        digest: sends.then_some(job.trial.seed),
        ..StreamEnd::default()
    }
}
