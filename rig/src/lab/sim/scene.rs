//! Knows what a workload's model is told of the lab for one trial.
//!
//! Must not know the workload.

use super::clock::Clocks;
use super::hold::Hold;
use super::physics::Physics;
use crate::lab::IpVersion;
use desk::record::{LabPlan, Settings, Value};

/// The link that carries the traffic, as it is set.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkNow {
    /// Name.
    pub name: String,
    /// Bits per second on the wire, each way.
    pub line_rate: f64,
    /// Bits per second that a token bucket leaves, if there is one.
    pub cap: Option<f64>,
    /// Bytes of the wire that a frame takes beside its payload.
    pub overhead: f64,
    /// Largest payload of a frame, bytes.
    pub mtu: f64,
    /// Header of IP in each packet, bytes.
    pub ip_header: f64,
    /// Round-trip time of the empty link, seconds.
    pub rtt: f64,
    /// Bytes per second, each way, that the adapter's bus carries.
    pub pcie: f64,
    /// The adapter cuts segments; needs its checksums.
    pub tso: bool,
    /// The stack cuts segments as late as it can.
    pub gso: bool,
    /// The stack merges segments that come in.
    pub gro: bool,
    /// The adapter makes checksums.
    pub checksum: bool,
}

impl LinkNow {
    /// The link that carries the traffic under these settings, which stand above the link's own,
    /// and those above the lab's.
    #[must_use]
    pub fn of(physics: &Physics, lab: &LabPlan, settings: &Settings) -> Self {
        let (name, all) = in_force(lab, settings);
        let on = |key: &str| all.get(key).and_then(Value::word) != Some("off");
        let number = |key: &str| all.get(key).and_then(Value::quantity).map(|q| q.value);
        let made = physics.link(&name);
        Self {
            name,
            line_rate: made.line_rate,
            cap: number("rate"),
            overhead: made.overhead,
            mtu: number("mtu").unwrap_or(made.mtu),
            ip_header: header(all.get(IpVersion::SETTING)),
            rtt: made.rtt,
            pcie: made.pcie,
            tso: on("tso") && on("checksum"),
            gso: on("gso"),
            gro: on("gro"),
            checksum: on("checksum"),
        }
    }

    /// The same link as the physics has it, with every offload on.
    #[must_use]
    pub fn untouched(&self, physics: &Physics) -> Self {
        let made = physics.link(&self.name);
        Self {
            name: self.name.clone(),
            line_rate: made.line_rate,
            cap: None,
            overhead: made.overhead,
            mtu: made.mtu,
            ip_header: self.ip_header,
            rtt: made.rtt,
            pcie: made.pcie,
            tso: true,
            gso: true,
            gro: true,
            checksum: true,
        }
    }
}

/// Bytes of the header of IP, of the version that is in force.
fn header(version: Option<&Value>) -> f64 {
    version.and_then(IpVersion::of).unwrap_or_default().header().into()
}

/// The link that carries the traffic, and all settings in force there: a trial's stand above the
/// link's own, and those above the lab's.
pub(super) fn in_force(lab: &LabPlan, settings: &Settings) -> (String, Settings) {
    let path = settings.get("path").and_then(Value::word);
    let chosen = lab.links.iter().find(|l| Some(l.name.as_str()) == path);
    let link = chosen.or(lab.links.first());
    let name = link.map_or_else(String::new, |l| l.name.clone());
    let mut all = lab.settings.clone();
    all.extend(link.map(|l| l.settings.clone()).unwrap_or_default());
    all.extend(settings.clone());
    (name, all)
}

/// What the load itself meets that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoilt {
    /// A receiver of this client's first stream finds content that was not sent.
    Content(String),
    /// The first stream of this client moves nothing.
    Still(String),
    /// Sockets keep the kernel's own congestion control, whatever is asked.
    Congestion,
}

/// All that a model is told.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// What things cost.
    pub physics: &'a Physics,
    /// The link that carries the traffic.
    pub link: LinkNow,
    /// What the settings leave of the machine's resources.
    pub hold: Hold,
    /// Hosts whose clocks are wrong.
    pub clocks: Clocks,
    /// Number of clients.
    pub clients: u32,
    /// What chance, drift and planted effects make of the rate; 1 changes nothing.
    pub pace: f64,
    /// What chance makes of CPU time.
    pub cpu: f64,
    /// Share of the CPU time that clients want and get.
    pub clients_cpu: f64,
    /// Whether the rate is level when the window opens.
    pub steady: bool,
    /// What is wrong.
    pub spoilt: Option<Spoilt>,
    /// When it is go, nanoseconds of the simulated clock.
    pub go_ns: u64,
}
