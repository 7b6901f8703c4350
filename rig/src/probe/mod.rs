//! Knows what can be read beside the load at the two edges of the window.
//!
//! Gives: [`Probe`], [`all`], [`Sampler`], [`Soaker`], [`Carriers`], [`Shapers`],
//! [`Relayed`], [`Received`], [`AdapterCounts`], [`Copied`].
//! Never: what the load was, or what a reading means.
//! Start reading at `cpu.rs`.

mod adapter;
mod between;
mod ceiling;
mod cgroup;
mod columns;
mod conductor;
mod counter;
mod counts;
mod cpu;
mod disk;
#[cfg(test)]
mod fixture;
mod flap;
mod hwmon;
mod ipmi;
mod irq;
mod mem_copy;
mod memory;
mod nic;
mod power;
mod pressure;
mod qdisc;
mod quota;
mod received;
mod relay;
mod sampler;
mod soaker;
mod softirq;
mod source;
mod tasks;
mod tcp;
mod thermal;
mod throttle;

pub use between::BetweenProbe;
pub use ceiling::CeilingProbe;
pub use cgroup::GroupProbe;
pub use conductor::ConductorProbe;
pub use counts::AdapterCounts;
pub use cpu::CpuProbe;
pub use disk::DiskProbe;
pub use flap::Carriers;
pub use irq::IrqProbe;
pub use mem_copy::Copied;
pub use memory::MemoryProbe;
pub use nic::NicProbe;
pub use power::PowerProbe;
pub use pressure::PressureProbe;
pub use qdisc::Shapers;
pub use quota::QuotaProbe;
pub use received::Received;
pub use relay::Relayed;
pub use sampler::{Sampled, Sampler};
pub use soaker::{Look, Soaker, Stretch};
pub use softirq::SoftirqProbe;
pub use tasks::TaskProbe;
pub use tcp::{TcpProbe, accept_queue, tcp_counter, udp_counter};
pub use thermal::ThermalProbe;
pub use throttle::ThrottleProbe;

use crate::lab::Ours;
use desk::record::Reading;
use desk::unit::{Quantity, Unit};
use std::path::Path;

/// What a probe is told at an edge of the window: which of the machine's time is our own.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Processes and control groups of the lab.
    pub ours: &'a Ours,
    /// What the soaker's threads were at, one a CPU, a moment ago; empty without a soaker.
    pub soaker: &'a [Look],
}

/// Something that is read when the window opens and when it closes.
pub trait Probe {
    /// Before the load goes: finds its files and devices, opens them, and reads what stays the same
    /// in the window. What an edge costs is only what changes.
    fn prepare(&mut self, _: &Ours) {}
    /// Reads at the opening.
    fn begin(&mut self, moment: &Moment);
    /// Reads at the close and gives what happened between; empty when the kernel does not say.
    fn end(&mut self, moment: &Moment) -> Vec<Reading>;
}

/// All probes in the order of reading, which is the same at both edges: what one costs then falls
/// between the edges as often as outside of them.
#[must_use]
pub fn all() -> Vec<Box<dyn Probe>> {
    let root = Path::new("/");
    vec![
        Box::new(CpuProbe::new(root)),
        Box::new(ConductorProbe::default()),
        Box::new(BetweenProbe::default()),
        Box::new(GroupProbe::default()),
        Box::new(QuotaProbe::default()),
        Box::new(TaskProbe::new(root)),
        Box::new(IrqProbe::new(root)),
        Box::new(ThrottleProbe::new(root)),
        Box::new(CeilingProbe::new(root)),
        Box::new(SoftirqProbe::new(root)),
        Box::new(NicProbe::new(root)),
        Box::new(TcpProbe::new(root)),
        Box::new(MemoryProbe::new(root)),
        Box::new(DiskProbe::new(root)),
        Box::new(PressureProbe::new(root)),
        // Sensors last: some answer only after a millisecond.
        Box::new(PowerProbe::new(root)),
        Box::new(ThermalProbe::new(root)),
    ]
}

fn reading(probe: &str, host: &str, key: &str, value: f64, unit: Unit) -> Reading {
    let quantity = Quantity::new(value, unit);
    Reading { probe: probe.into(), host: host.into(), key: key.into(), quantity }
}

/// What a clock gained between two readings, over the time between them: CPUs kept busy.
#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
fn per_wall(gained_ns: u64, wall_ns: u64) -> f64 {
    gained_ns as f64 / wall_ns.max(1) as f64
}
