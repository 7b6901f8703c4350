//! Knows how fast `tcp_stream` goes under a physics, and what that takes of the CPUs.
//!
//! Must not know evidence or checks.

use crate::lab::sim::{LinkNow, Scene};
use crate::workload::tcp_stream::run::{Engine, StreamPlan, read_bytes, shape};
use desk::record::{Settings, Value};

/// IPv4 and TCP headers with the timestamps option; the Ethernet header that an interface counts.
pub(super) const HEADERS: f64 = 52.0;
pub(super) const ETHERNET: f64 = 14.0;
/// Largest packet that the stack hands over before segmentation.
const WHOLE: f64 = 65536.0;

/// How fast it goes and what that takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flow {
    /// Payload bytes per second of one stream.
    pub(super) rate: f64,
    /// Share of a CPU that a sending thread has, and that a receiving one has.
    pub(super) sends: f64,
    pub(super) receives: f64,
    /// Share of paced calls that are late; none without a pace.
    pub(super) late: Option<f64>,
    /// Interval of the calls of a paced stream, seconds.
    pub(super) interval: Option<f64>,
    /// Whether the CPUs hold it down.
    pub(super) by_cpu: bool,
    /// Share of the CPU time that clients want and get.
    pub(super) clients: f64,
}

/// The load, as far as its speed hangs on it.
pub(super) struct Load<'a> {
    pub(super) params: &'a Settings,
    pub(super) engine: Engine,
    pub(super) request: f64,
    pub(super) call_requests: usize,
    pub(super) read: f64,
    /// Streams of one direction, and directions.
    pub(super) one_way: f64,
    pub(super) directions: f64,
}

impl<'a> Load<'a> {
    #[expect(clippy::cast_precision_loss, reason = "at most 1,024 streams of at most 1 MiB")]
    pub(super) fn of(params: &'a Settings, streams: &[StreamPlan]) -> Self {
        let (engine, request, call_requests) = shape(params);
        let both = streams.iter().any(|s| s.direction != streams[0].direction);
        let directions = if both { 2.0 } else { 1.0 };
        Self {
            params,
            engine,
            request: request as f64,
            call_requests,
            read: read_bytes(engine, request) as f64,
            one_way: streams.len() as f64 / directions,
            directions,
        }
    }

    pub(super) fn word(&self, key: &str) -> &str {
        self.params.get(key).and_then(Value::word).unwrap_or_default()
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 1,024")]
    pub(super) fn call(&self) -> f64 {
        self.request * self.call_requests as f64
    }
}

pub(super) fn segment(link: &LinkNow) -> f64 {
    (link.mtu - HEADERS).max(88.0)
}

/// CPU seconds for a byte at the sending and at the receiving end.
fn costs(scene: &Scene<'_>, load: &Load<'_>) -> (f64, f64) {
    let (cost, link) = (&scene.physics.cost, &scene.link);
    let segment = segment(link);
    let in_use = load.request.max(load.read) * load.one_way * load.directions;
    let copy = cost.byte * if in_use > cost.cache { cost.beyond_cache } else { 1.0 };
    let sum = if link.checksum { 0.0 } else { cost.checksum };
    let send_packets = match (link.tso, link.gso) {
        (true, _) => cost.packet / WHOLE,
        (false, true) => cost.packet / WHOLE + cost.cut / segment,
        (false, false) => cost.packet / segment,
    };
    let receive_packets =
        if link.gro { cost.packet / WHOLE + cost.cut / segment } else { cost.packet / segment };
    (
        cost.call / load.call() + send_packets + copy + sum,
        cost.call / load.read + receive_packets + copy,
    )
}

/// The first of these that is full sets the rate: the CPUs, the line, the token bucket, the load
/// offered. Chance moves what could be had, so that a load that is offered and carried is steady.
pub(super) fn flow(scene: &Scene<'_>, load: &Load<'_>) -> Flow {
    let (send, receive) = costs(scene, load);
    let streams = load.one_way * load.directions;
    let cores = f64::from(scene.physics.machine.cores);
    let cpu = if load.word("placement") == "same" {
        cores.min(streams) / (send + receive)
    } else {
        (cores / (send + receive)).min(streams / send.max(receive))
    } / load.directions;
    let segment = segment(&scene.link);
    let line = scene.link.line_rate / 8.0 * segment / (scene.link.mtu + scene.link.overhead);
    let cap =
        scene.link.cap.map_or(f64::INFINITY, |c| c / 8.0 * segment / (scene.link.mtu + ETHERNET));
    let offered = load.params.get("offered_load").and_then(Value::quantity).map(|q| q.value / 8.0);
    let could = cpu.min(line).min(cap) * scene.clients_cpu;
    let moved = (could * scene.pace).min(offered.unwrap_or(f64::INFINITY));
    let rate = moved / load.one_way;
    // What chance does to the rate it does to the price of a byte, the other way round.
    let price = scene.cpu * rate / if offered.is_some() { 1.0 } else { scene.pace };
    let share = |cost: f64| (price * cost).min(1.0);
    Flow {
        rate,
        sends: share(send),
        receives: share(receive),
        late: offered.map(|offered| (1.0 - moved / offered).max(0.0)),
        interval: offered.map(|offered| load.call() * load.one_way / offered),
        by_cpu: cpu <= line.min(cap) && offered.is_none_or(|offered| offered > could),
        clients: scene.clients_cpu,
    }
}
