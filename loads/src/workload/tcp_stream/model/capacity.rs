//! Knows what each stage that the bytes of `tcp_stream` pass through can carry, and what the stages
//! give together.
//!
//! Must not know chance, nor what was offered.

use super::costs::Costs;
use super::flow::{ETHERNET, Load, segment};
use desk::record::Value;
use rig::lab::sim::{Blend, Hold, LinkNow, Physics, Resource, Scene, Through};

/// Something that every byte passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The CPUs of the system under test, and of clients that share them.
    Cpu,
    /// A quota of their time that the system under test has.
    ServerQuota,
    /// A quota that the clients have.
    ClientQuota,
    /// CPUs that work on received packets.
    Softirq,
    /// The link, with its token bucket.
    Line,
    /// The adapter's bus.
    Pcie,
    /// Memory.
    Memory,
    /// The disk.
    Disk,
    /// What the adapters of the clients carry.
    ClientLine,
    /// The CPUs of clients that have machines of their own.
    ClientCpu,
    /// The receive buffers.
    ReceiveWindow,
    /// The send buffers.
    SendBuffer,
}

impl Stage {
    /// The resource that it is a part of; none for what is a hard limit in any case.
    const fn resource(self) -> Option<Resource> {
        match self {
            Self::Cpu | Self::ServerQuota => Some(Resource::Cpu),
            Self::Line => Some(Resource::Line),
            Self::Pcie => Some(Resource::Pcie),
            Self::Memory => Some(Resource::Memory),
            Self::Disk => Some(Resource::Disk),
            Self::ClientLine | Self::ClientCpu | Self::ClientQuota => Some(Resource::Clients),
            Self::Softirq | Self::ReceiveWindow | Self::SendBuffer => None,
        }
    }
}

/// What every stage can carry, payload bytes per second of one direction; infinite where it is
/// never the limit.
pub(super) struct Capacities(Vec<(Stage, f64)>);

/// Everything that they hang on.
pub(super) struct Setting<'a> {
    pub(super) physics: &'a Physics,
    pub(super) link: &'a LinkNow,
    pub(super) hold: &'a Hold,
    pub(super) load: &'a Load<'a>,
    /// Number of clients.
    pub(super) clients: f64,
    /// Share of the CPU time that clients want and get.
    pub(super) clients_cpu: f64,
}

impl<'a> Setting<'a> {
    pub(super) fn of(scene: &'a Scene<'a>, load: &'a Load<'a>) -> Self {
        Self {
            physics: scene.physics,
            link: &scene.link,
            hold: &scene.hold,
            load,
            clients: f64::from(load.clients(scene.clients)),
            clients_cpu: scene.clients_cpu,
        }
    }

    /// Costs on the server's CPUs, as fast as they are, each with a core to itself.
    pub(super) fn costs(&self) -> Costs {
        let raw = Costs::of(self.physics, self.link, self.load);
        let moved = self.physics.softirq.cpus > 0;
        (if moved { raw.relieved() } else { raw }).at(self.hold.speed)
    }

    /// Costs on the CPUs of a client that has a machine of its own.
    pub(super) fn client_costs(&self) -> Costs {
        Costs::of(self.physics, self.link, self.load).at(self.physics.clients.speed)
    }

    /// CPUs of the server's machine that the threads keep busy at full speed.
    ///
    /// Pinned pairs share a CPU each; else every end of a stream may have one. A machine that is
    /// not short of CPUs is counted whole, as then its CPUs are not the limit.
    pub(super) fn busy_cpus(&self) -> f64 {
        let cpus = &self.hold.cpus;
        let streams = self.load.one_way * self.load.directions;
        if self.load.word("placement") == "same" || self.physics.clients_apart() {
            return cpus.logical.min(streams);
        }
        cpus.logical.min((2.0 * streams).max(cpus.cores))
    }

    /// How much longer a thread takes there than on a core that it has to itself, 1 or more.
    pub(super) fn slowdown(&self) -> f64 {
        let busy = self.busy_cpus();
        busy / self.hold.cpus.work(busy)
    }

    fn cpu(&self) -> f64 {
        let Costs { send, receive, packets } = self.costs();
        let (cpus, load) = (&self.hold.cpus, self.load);
        let busy = self.busy_cpus();
        let streams = load.one_way * load.directions;
        if self.physics.clients_apart() {
            let (sum, most) = (load.sending(send, receive), load.dearest(send, receive));
            let packets = self.soft_directions() * packets;
            let all = if self.physics.softirq.cpus > 0 { sum + packets } else { sum };
            let threads = (cpus.work(busy) / sum).min(load.one_way / most / self.slowdown());
            return threads.min(cpus.work(cpus.logical) / all);
        }
        let both = send + receive;
        let threads = if load.word("placement") == "same" {
            cpus.work(busy) / both
        } else {
            (cpus.work(busy) / both).min(streams / send.max(receive) / self.slowdown())
        };
        let threads = if self.physics.softirq.cpus > 0 {
            threads.min(cpus.work(cpus.logical) / (both + packets))
        } else {
            threads
        };
        threads / load.directions
    }

    /// Directions in which the server's machine receives.
    pub(super) fn soft_directions(&self) -> f64 {
        if self.physics.clients_apart() {
            f64::from(u8::from(self.load.receives()))
        } else {
            self.load.directions
        }
    }

    fn server_quota(&self) -> f64 {
        let Costs { send, receive, .. } = self.costs();
        let Some(cpus) = self.hold.server_quota else { return f64::INFINITY };
        cpus / (self.load.sending(send, receive) * self.slowdown())
    }

    /// The clients do the other end of what the server does, on its CPUs or on their own.
    fn client_quota(&self) -> f64 {
        let Some(cpus) = self.hold.client_quota else { return f64::INFINITY };
        let apart = self.physics.clients_apart();
        let Costs { send, receive, .. } = if apart { self.client_costs() } else { self.costs() };
        let slowdown = if apart { 1.0 } else { self.slowdown() };
        cpus / (self.load.sending(receive, send) * slowdown)
    }

    fn softirq(&self) -> f64 {
        let cpus = f64::from(self.physics.softirq.cpus);
        if cpus == 0.0 {
            return f64::INFINITY;
        }
        cpus / (self.costs().packets * self.soft_directions())
    }

    /// A token bucket counts frames without preamble, checksum and gap.
    fn line(&self) -> f64 {
        let (link, segment) = (self.link, segment(self.link));
        let left = self.hold.left(Resource::Line);
        let line = link.line_rate / 8.0 * segment / (link.mtu + link.overhead) * left;
        if self.physics.limits.blend == Blend::Shares {
            // Bit for bit, so that a rate of 90 % of the line is 90 % of its capacity.
            return line.min(line * link.cap.map_or(1.0, |cap| cap / (link.line_rate * left)));
        }
        line.min(link.cap.map_or(f64::INFINITY, |c| c / 8.0 * segment / (link.mtu + ETHERNET)))
    }

    fn disk(&self) -> f64 {
        let disk = &self.physics.disk;
        let (Some(rate), Through::Disk) = (disk.rate, self.physics.limits.through) else {
            return f64::INFINITY;
        };
        // Little's law: requests at once over the time of one.
        let served = f64::from(disk.queue) * self.load.request / disk.latency;
        rate.min(served) * self.hold.left(Resource::Disk) / self.load.directions
    }

    fn memory(&self) -> f64 {
        let memory = &self.physics.memory;
        let ends = if self.physics.clients_apart() { 1.0 } else { 2.0 };
        let Some(bandwidth) = memory.bandwidth else { return f64::INFINITY };
        let left = self.hold.left(Resource::Memory);
        bandwidth * left / (memory.touches * ends * self.load.directions)
    }

    fn client_line(&self) -> f64 {
        let (link, segment) = (self.link, segment(self.link));
        let goodput = self.hold.client_rate / 8.0 * segment / (link.mtu + link.overhead);
        self.clients * goodput * self.hold.left(Resource::Clients)
    }

    fn client_cpu(&self) -> f64 {
        if !self.physics.clients_apart() {
            return f64::INFINITY;
        }
        let (load, own) = (self.load, &self.physics.clients);
        let Costs { send, receive, .. } = self.client_costs();
        // The other end of what the server does.
        let (sum, most) = (load.sending(receive, send), load.dearest(receive, send));
        let each = (f64::from(own.cores) / sum).min(load.one_way / self.clients / most);
        self.clients * each * self.clients_cpu * self.hold.left(Resource::Clients)
    }

    fn window(&self, buffer: f64) -> f64 {
        self.load.one_way * buffer / self.link.rtt.max(1e-9)
    }
}

impl Capacities {
    pub(super) fn of(setting: &Setting<'_>) -> Self {
        let segment = segment(setting.link);
        let bus = setting.link.pcie * setting.hold.left(Resource::Pcie);
        let sockets = &setting.physics.sockets;
        Self(vec![
            (Stage::Cpu, setting.cpu()),
            (Stage::Line, setting.line()),
            (Stage::ServerQuota, setting.server_quota()),
            (Stage::ClientQuota, setting.client_quota()),
            (Stage::Softirq, setting.softirq()),
            (Stage::Pcie, bus * segment / (setting.link.mtu + ETHERNET)),
            (Stage::Memory, setting.memory()),
            (Stage::Disk, setting.disk()),
            (Stage::ClientLine, setting.client_line()),
            (Stage::ClientCpu, setting.client_cpu()),
            (Stage::ReceiveWindow, setting.window(setting.hold.receive_buffer)),
            (Stage::SendBuffer, setting.window(sockets.send_buffer.unwrap_or(f64::INFINITY))),
        ])
    }

    /// The first of the smallest, and what it carries.
    pub(super) fn tightest(&self) -> (Stage, f64) {
        let first = (Stage::Cpu, f64::INFINITY);
        self.0.iter().fold(first, |least, next| if next.1 < least.1 { *next } else { least })
    }

    /// What the others would carry without this stage.
    pub(super) fn without(&self, stage: Stage) -> f64 {
        self.0.iter().filter(|(s, _)| *s != stage).map(|(_, c)| *c).fold(f64::INFINITY, f64::min)
    }

    fn resource(&self, resource: Resource) -> f64 {
        let its = self.0.iter().filter(|(stage, _)| stage.resource() == Some(resource));
        its.map(|(_, capacity)| *capacity).fold(f64::INFINITY, f64::min)
    }
}

/// Payload bytes per second of one direction, and the stage that is full, if one is.
///
/// With hard limits, that is the smallest capacity. With shares a byte takes
///
/// ```text
/// 1 / rate = (1 / R) x sum over resources of share x C0 / C,   R = least of share x C0
/// ```
///
/// where C is a capacity now and C0 what it is with everything untouched. Then d ln rate / d ln C =
/// (share x C0 / C) / sum, which is the share itself where all C = C0: the elasticity is planted.
/// Taken down to a part q it gives rate / rate0 = 1 / (1 + share (1 / q - 1)), so that a step to
/// 90 % shows as an elasticity of ln(1 + share / 9) / ln(10 / 9): 0.513 for 0.5. R keeps
/// rate x share of each below its capacity, so that no resource is full: a byte stays in each for
/// its share of the time, one after the other.
pub(super) fn joined(scene: &Scene<'_>, load: &Load<'_>) -> (f64, Option<Stage>, f64) {
    let setting = Setting::of(scene, load);
    let now = Capacities::of(&setting);
    let (stage, least) = now.tightest();
    let limits = &scene.physics.limits;
    if limits.blend == Blend::Hard {
        return (least, Some(stage), now.without(stage));
    }
    let (link, hold) = (scene.link.untouched(scene.physics), Hold::untouched(scene.physics));
    let whole = scene.physics.clients.cpu;
    let bare = Capacities::of(&Setting { link: &link, hold: &hold, clients_cpu: whole, ..setting });
    let shares = || limits.shares.iter().filter(|(_, share)| **share > 0.0);
    let reach = shares().map(|(r, share)| share * bare.resource(*r)).fold(f64::INFINITY, f64::min);
    let time: f64 = shares().map(|(r, share)| share * bare.resource(*r) / now.resource(*r)).sum();
    let rate = reach / time;
    if rate < least { (rate, None, least) } else { (least, Some(stage), now.without(stage)) }
}

/// Whether the load has a direction in which the server receives, and what both ends cost.
impl Load<'_> {
    pub(super) fn receives(&self) -> bool {
        self.params.get("direction").and_then(Value::word) != Some("transmit")
    }

    fn transmits(&self) -> bool {
        self.params.get("direction").and_then(Value::word) != Some("receive")
    }

    /// Cost of a byte in each direction at an end that pays the first where the server transmits
    /// and the second where it receives.
    pub(super) fn sending(&self, transmits: f64, receives: f64) -> f64 {
        let (out, back) = self.ways(transmits, receives);
        out + back
    }

    /// The dearer of the two.
    fn dearest(&self, transmits: f64, receives: f64) -> f64 {
        let (out, back) = self.ways(transmits, receives);
        out.max(back)
    }

    fn ways(&self, transmits: f64, receives: f64) -> (f64, f64) {
        let out = if self.transmits() { transmits } else { 0.0 };
        (out, if self.receives() { receives } else { 0.0 })
    }
}
