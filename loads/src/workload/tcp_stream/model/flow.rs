//! Knows how fast `tcp_stream` goes under a physics, and what that takes of the CPUs.
//!
//! Must not know evidence or checks.

use super::capacity::{Setting, Stage, joined};
use crate::engine::net::streams::{StreamPlan, taking_part};
use crate::workload::tcp_stream::run::{Engine, read_bytes, shape};
use desk::record::{Settings, Value};
use rig::lab::sim::{LinkNow, Scene};

/// The TCP header with the timestamps option; the Ethernet header that an interface counts.
const TCP: f64 = 32.0;
pub(super) const ETHERNET: f64 = 14.0;
/// Largest packet that the stack hands over before segmentation.
pub(super) const WHOLE: f64 = 65536.0;

/// How fast it goes and what that takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flow {
    /// Payload bytes per second of one stream.
    pub(super) rate: f64,
    /// Share of a CPU that a sending thread has, and that a receiving one has, on the machine of
    /// the system under test.
    pub(super) sends: f64,
    pub(super) receives: f64,
    /// The same at the clients; no other where they share the machine.
    pub(super) client_sends: f64,
    pub(super) client_receives: f64,
    /// CPUs of that machine that received packets take, in the threads or beside them.
    pub(super) packets: f64,
    /// Share of paced calls that are late; none without a pace.
    pub(super) late: Option<f64>,
    /// Interval of the calls of a paced stream, seconds.
    pub(super) interval: Option<f64>,
    /// What holds it down; none where that is the load offered, or nothing is full.
    pub(super) full: Option<Stage>,
    /// Share of the time for which everything else waits for that.
    pub(super) idle: f64,
    /// Share of the CPU time that clients on the same machine want and get.
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

    /// How many of so many clients have streams.
    pub(super) fn clients(&self, all: u32) -> u32 {
        taking_part(self.params, all)
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 1,024")]
    pub(super) fn call(&self) -> f64 {
        self.request * self.call_requests as f64
    }
}

pub(super) fn segment(link: &LinkNow) -> f64 {
    (link.mtu - headers(link)).max(88.0)
}

/// Headers of a packet.
pub(super) const fn headers(link: &LinkNow) -> f64 {
    link.ip_header + TCP
}

/// What the stages give sets the rate, or the load offered does. Chance moves what could be had, so
/// that a load that is offered and carried is steady.
pub(super) fn flow(scene: &Scene<'_>, load: &Load<'_>) -> Flow {
    let setting = Setting::of(scene, load);
    let (costs, theirs) = (setting.costs(), setting.client_costs());
    let slowdown = setting.slowdown();
    let apart = scene.physics.clients_apart();
    let (carried, full, next) = joined(scene, load);
    // On a machine that all share, clients that are held hold their server, whatever it could do.
    let could = carried * if apart { 1.0 } else { scene.clients_cpu };
    let offered = load.params.get("offered_load").and_then(Value::quantity).map(|q| q.value / 8.0);
    let moved = (could * scene.pace).min(offered.unwrap_or(f64::INFINITY));
    let rate = moved / load.one_way;
    // What chance does to the rate it does to the price of a byte, the other way round.
    let price = scene.cpu * rate / if offered.is_some() { 1.0 } else { scene.pace };
    let share = |cost: f64| (price * cost).min(1.0);
    let sends = share(costs.send * slowdown);
    let receives = share(costs.receive * slowdown);
    let packets = price * costs.packets * slowdown * load.one_way * setting.soft_directions();
    Flow {
        rate,
        sends,
        receives,
        client_sends: if apart { share(theirs.send) } else { sends },
        client_receives: if apart { share(theirs.receive) } else { receives },
        packets,
        late: offered.map(|offered| (1.0 - moved / offered).max(0.0)),
        interval: offered.map(|offered| load.call() * load.one_way / offered),
        full: full.filter(|_| offered.is_none_or(|offered| offered > could)),
        idle: (1.0 - moved / next).clamp(0.0, 1.0),
        clients: if apart { 1.0 } else { scene.clients_cpu },
    }
}
