//! Knows what `forward` does in a simulated lab: frames through a device in simulated time, which
//! has what the physics plants, and the evidence of it.
//!
//! The evidence goes through the same check as that of a real trial. Must not know how trials are
//! judged, nor how the device works.

use super::check;
use super::evidence::{Evidence, Leg};
use super::late;
use super::run::{
    Alone, Counts, Forwarded, HostMark, StreamEnd, burst, fits, frame_sizes, holds, interval,
    is_planted, is_received, is_served, lacks_policers, line_bits, share, vlan_of,
};
use super::spec::LATENCY;
use crate::engine::net::Life;
use crate::engine::packet::device::{Device, Forwarding, PORTS, Services, Tables};
use crate::engine::packet::live::{Layout, PHASES, Sent, Stream, Totals};
use crate::engine::packet::police::Policers;
use crate::engine::packet::queues::Scheduler;
use crate::engine::packet::ring::{Knobs, Offer, Outcome, Ring, Stalls, Turns};
use crate::engine::packet::tuple::Tuple;
use crate::engine::times::stored;
use desk::record::Fault;
use rig::lab::IpVersion;
use rig::lab::sim::{self, QueueOrder, Scene, Spoilt};
use rig::workload::{Job, Modelled};

/// The host that a reading of the device is of.
const DEVICE: &str = "device";
/// Frames of a trial at the most, which take minutes to simulate.
const MOST: f64 = 268_435_456.0;

/// What the tester does in a trial.
#[derive(Clone, Debug)]
struct Schedule {
    /// How long the frames of clients are, which send in turn.
    turns: Turns,
    /// Seconds between two frames of one client by the plan; none where it sends as it can.
    wanted: Option<f64>,
    /// Seconds between two frames of all clients.
    interval: f64,
    /// What the tester reaches with nothing between; the latency is that of a frame on the line.
    alone: Alone,
    /// The window, seconds from the first frame.
    window: [f64; 2],
    /// Frames that are sent before the window, and in it.
    frames: [u32; 2],
}

/// What it does in a simulated lab.
///
/// # Errors
/// The fault that the workload's own check finds; a trial of too many frames; a burst that the
/// window does not hold.
pub fn model(scene: &Scene<'_>, job: &Job<'_>) -> Result<Modelled, Fault> {
    let schedule = schedule(scene, job)?;
    let device = &scene.physics.device;
    let count = device.queues.len().max(1);
    let classes: Vec<u8> =
        (0..schedule.turns.streams as usize).map(|at| class(at, count)).collect();
    let offer = Offer {
        flows: &[Tuple { src: 1, dst: 2, src_port: 49_152, dst_port: 5001, protocol: 17 }],
        frames: schedule.frames[0] + schedule.frames[1],
        interval: schedule.interval,
        turns: schedule.turns.clone(),
        classes: &classes,
        window: schedule.window,
    };
    let knobs = knobs(device, scene.pace);
    let mut ring = Ring::new(planted(device), knobs, job.trial.seed);
    let evidence = evidence(scene, job, (&schedule, &ring.run(&offer)));
    let cores = scene.physics.machine.cores.max(1);
    let busy = |core| if core < schedule.turns.streams { 1.0 } else { 0.0 };
    let cores: Vec<f64> = (0..cores).map(busy).collect();
    let clients = match scene.physics.clients_apart() {
        true => vec![1.0; schedule.turns.streams as usize],
        false => Vec::new(),
    };
    let softirq = cores.clone();
    Ok(Modelled { checked: check::check(&evidence)?, cores, softirq, clients })
}

/// The class of service by which a device with so many queues puts frames of a client into the
/// queue of the same place.
#[expect(clippy::cast_possible_truncation, reason = "below 64")]
fn class(client: usize, queues: usize) -> u8 {
    ((client % queues) * 64).div_ceil(queues) as u8
}

fn knobs(device: &sim::Device, pace: f64) -> Knobs {
    let stalls = Stalls { rate: device.stalls, length: device.stall };
    Knobs {
        capacity: device.capacity * pace,
        buffer: device.buffer as usize,
        line: device.line,
        stalls: (device.stalls > 0.0).then_some(stalls),
        loss: device.loss,
        reorder: device.reorder,
        duplicate: device.duplicate,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
fn planted(device: &sim::Device) -> Device {
    let order = match device.order {
        QueueOrder::Priority => Scheduler::Priority,
        QueueOrder::Weighted => Scheduler::Weighted,
        QueueOrder::Mixed => Scheduler::Mixed,
    };
    let police = |rate| Policers::new(1, rate, device.police_burst as u64);
    let services = Services {
        forwarding: Forwarding::Route,
        batch: 1,
        nat: None,
        policers: device.police_rate.map(police),
        queues: (!device.queues.is_empty()).then(|| (device.queues.clone(), order)),
        ports: PORTS,
    };
    Device::new(Tables::default(), services)
}

fn schedule(scene: &Scene<'_>, job: &Job<'_>) -> Result<Schedule, Fault> {
    let params = &job.trial.point.params;
    let streams = scene.clients.max(1);
    if is_planted(params) || is_served(params) || lacks_policers(params) {
        let what = "nat, policers, policer_rate, port_queues, routes, planted_capacity and \
                    planted_loss are of a process on a real path; take the table [device] of the \
                    physics";
        return Err(Fault::NotAvailable { what: what.into() });
    }
    if let Some(what) = late::refusal(params, true, false) {
        return Err(Fault::NotAvailable { what: what.into() });
    }
    if !is_received(params) {
        let what = "a simulated box passes frames to the system under test alone; take direction = \
                    \"receive\"";
        return Err(Fault::NotAvailable { what: what.into() });
    }
    let six = scene.link.ip_header > f64::from(IpVersion::Four.header());
    let layout = Layout { six, vlan: vlan_of(params) };
    let sizes = frame_sizes(params, layout)?;
    fits(&sizes, layout)?;
    let line = scene.link.cap.unwrap_or(f64::INFINITY).min(scene.link.line_rate);
    let clients = f64::from(streams);
    let frame = line_bits(&sizes) / line;
    let each = 1.0 / (scene.physics.device.tester * scene.clients_cpu);
    let fastest = frame.max(each / clients);
    let alone = Alone { rate: clients / each, latency: Some(frame) };
    let wanted = interval(params, (&sizes, streams)).map(|ns| ns / 1e9);
    let interval = wanted.map_or(fastest, |each| (each / clients).max(fastest));
    let turns = Turns { sizes, streams };
    let settle = if scene.steady { job.settle } else { job.settle_max }.as_secs_f64();
    let length = job.window.as_secs_f64();
    if let Some(frames) = burst(params) {
        holds((frames, interval), length)?;
        let window = [0.0, length];
        let frames = [0, frames];
        return Ok(Schedule { turns, wanted: None, interval, alone, window, frames });
    }
    let window = [settle, settle + length];
    if window[1] / interval > MOST {
        let what = format!(
            "{:.0} frames in simulated time; take a shorter window, or a smaller tester in the \
             physics",
            window[1] / interval
        );
        return Err(Fault::NotAvailable { what });
    }
    let frames = [due(settle, interval), due(window[1], interval) - due(settle, interval)];
    Ok(Schedule { turns, wanted, interval, alone, window, frames })
}

/// Frames that are due before such a moment, the first of them at 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by MOST")]
fn due(until: f64, interval: f64) -> u32 {
    (until / interval).ceil() as u32
}

impl Schedule {
    /// What the client of a stream tells: of each phase the frames that it sent, and those that
    /// were due by the plan and that it could not send.
    fn told(&self, stream: u32) -> Sent {
        // Frames of a stream among the first so many of all.
        let of = |frames: u32| u64::from(share(frames, (stream, self.turns.streams)));
        let before = of(self.frames[0]);
        let mut told = Sent::default();
        (told.sent[0], told.sent[1]) = (before, of(self.frames[0] + self.frames[1]) - before);
        if let Some(wanted) = self.wanted {
            let wanted = wanted / f64::from(self.turns.streams);
            let [settle, end] = self.window.map(|edge| due(edge, wanted));
            let asked = [of(settle), of(end) - of(settle)];
            for (phase, asked) in asked.into_iter().enumerate() {
                told.unsent[phase] = asked.saturating_sub(told.sent[phase]);
            }
        }
        told
    }

    /// What came of a stream, by phase: frames, and their bytes.
    fn came(&self, stream: u32, outcome: &Outcome) -> [[u64; PHASES]; 2] {
        let mut came = [[0; PHASES]; 2];
        let all = self.frames[0] + self.frames[1];
        let numbers = (stream..all).step_by(self.turns.streams as usize);
        for number in numbers.filter(|number| outcome.came(*number)) {
            let phase = usize::from(number >= self.frames[0]);
            came[0][phase] += 1;
            came[1][phase] += self.turns.bytes(number) as u64;
        }
        came
    }
}

fn evidence(
    scene: &Scene<'_>,
    job: &Job<'_>,
    (schedule, outcome): (&Schedule, &Outcome),
) -> Evidence {
    let streams = schedule.turns.streams;
    let name = |at: u32| if at == 0 { "sut".to_owned() } else { format!("c{at:02}") };
    let stream = |at| {
        let [came, bytes] = schedule.came(at, outcome);
        Stream { came, bytes, ..Stream::default() }
    };
    let mut all: Vec<Stream> = (0..streams).map(stream).collect();
    // The device does not tell streams apart; the trial has the sums alone.
    if let Some(first) = all.first_mut() {
        (first.reordered, first.duplicates) = (outcome.reordered, outcome.duplicates);
    }
    let damaged = u64::from(matches!(scene.spoilt, Some(Spoilt::Content(_))));
    let times = outcome.latency.as_ref().and_then(|all| stored(LATENCY, all));
    let sink = Counts {
        sink: Some(Totals { streams: all, damaged, mistagged: 0 }),
        times,
        ..Counts::default()
    };
    let drop = |(cause, frames): &(String, u64)| {
        (cause.trim_start_matches("device: ").to_owned(), *frames)
    };
    let drops = outcome.ledger.drops.iter().map(drop).collect();
    let device = Counts { drops, ..Counts::default() };
    let cores = scene.physics.machine.cores.max(1);
    Evidence {
        host_names: (0..=streams).map(name).collect(),
        between: vec![DEVICE.into()],
        one_clock: (0..=streams).map(|_| !scene.physics.clients_apart()).collect(),
        asked: job.trial.point.params.clone(),
        sizes: schedule.turns.sizes.clone(),
        interval_ns: schedule.wanted.map(|wanted| wanted * 1e9),
        alone: burst(&job.trial.point.params).is_none().then_some(schedule.alone),
        legs: (0..streams)
            .map(|at| Leg { sender: at as usize + 1, receiver: 0, cpu: at % cores })
            .collect(),
        before: [name(0), DEVICE.into()].map(|host| (host, Counts::default())).into(),
        after: vec![(name(0), sink), (DEVICE.into(), device)],
        life: Some(life(scene, job, (schedule, outcome))),
        ..Evidence::default()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of some minutes")]
fn life(
    scene: &Scene<'_>,
    job: &Job<'_>,
    (schedule, outcome): (&Schedule, &Outcome),
) -> Life<HostMark, Vec<StreamEnd>> {
    let [opens_ns, closes_ns] = schedule.window.map(|edge| scene.go_ns + (edge * 1e9) as u64);
    let of_sink = |at: u32, count: u64| vec![if at == 0 { count } else { 0 }];
    let read = |at: u32, at_ns: u64, [came, bytes]: [u64; 2]| HostMark {
        at_ns,
        took_ns: 1000,
        cpu_ns: if at == 0 { 0 } else { at_ns - scene.go_ns },
        came: of_sink(at, came),
        bytes: of_sink(at, bytes),
        ticks: Vec::new(),
        forwarded: None,
    };
    let ended = |at: u32| {
        let still =
            matches!(&scene.spoilt, Some(Spoilt::Still(host)) if *host == format!("c{at:02}"));
        let stream = at.checked_sub(1).filter(|_| !still);
        let end = |number: u32| StreamEnd {
            stream: u8::try_from(number).unwrap_or(u8::MAX),
            sent: schedule.told(number),
            digest: job.trial.seed,
            error: None,
        };
        stream.map(end).into_iter().collect()
    };
    let hosts = 0..=schedule.turns.streams;
    let [opened, closed] = [0, 1].map(|edge| [outcome.by[edge], outcome.bytes_by[edge]]);
    let [before, after] = [(0, opens_ns), (1, closes_ns)].map(|(edge, at_ns)| HostMark {
        at_ns,
        forwarded: Some(Forwarded { routed: 0, sent: outcome.left_by[edge] }),
        ..HostMark::default()
    });
    Life {
        steady: scene.steady,
        settle_ns: opens_ns - scene.go_ns,
        late_ns: Vec::new(),
        window_ns: (opens_ns, closes_ns),
        opened: hosts.clone().map(|at| read(at, opens_ns, opened)).chain([before]).collect(),
        closed: hosts.clone().map(|at| read(at, closes_ns, closed)).chain([after]).collect(),
        course: Vec::new(),
        ended: hosts.map(ended).collect(),
    }
}
