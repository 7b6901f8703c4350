//! Knows which values of a physics cannot be, beyond what their units say.
//!
//! Must not know how a physics is written.

use super::device::Device;
use super::fault::Planted;
use super::physics::Physics;
use super::read::SimError;
use super::resource::{Blend, Resource, Through};

/// A key, its value, whether that can be, and what may be.
type Row = (&'static str, f64, bool, &'static str);

/// Refuses values that cannot be.
///
/// # Errors
/// The first of them, with what may be.
pub(super) fn check(physics: &Physics) -> Result<(), SimError> {
    let rows = made_of(physics)
        .into_iter()
        .chain(driven(physics))
        .chain(moved(physics))
        .chain(boxed(physics));
    for (key, value, good, remedy) in rows {
        if !good {
            return Err(SimError::Value { key: key.into(), value, remedy });
        }
    }
    multipliers(physics)?;
    clocks(physics)?;
    limits(physics)?;
    let ambiguous = |fault: &Planted| fault.trial.is_some() == fault.share.is_some();
    match physics.faults.iter().position(ambiguous) {
        Some(at) => Err(SimError::Where(at + 1)),
        None => Ok(()),
    }
}

/// What the machine and its links are.
fn made_of(physics: &Physics) -> [Row; 9] {
    let Physics { machine, link, memory, disk, softirq, .. } = physics;
    let few = |count: u32, most: u32| (1..=most).contains(&count);
    let yields = (1.0..=f64::from(machine.threads).max(2.0)).contains(&machine.smt_yield);
    let cpus = machine.cores.saturating_mul(machine.threads);
    [
        ("machine.cores", machine.cores.into(), few(machine.cores, 1024), "1 to 1024"),
        ("machine.threads", machine.threads.into(), few(machine.threads, 8), "1 to 8"),
        ("machine.smt_yield", machine.smt_yield, yields, "from 1 to the number of threads"),
        ("link.line_rate", link.line_rate, link.line_rate > 0.0, "above 0"),
        ("link.mtu", link.mtu, (576.0..=65535.0).contains(&link.mtu), "576 B to 65535 B"),
        ("memory.touches", memory.touches, memory.touches > 0.0, "above 0"),
        ("disk.latency", disk.latency, disk.latency >= 0.0, "0 s or more"),
        ("disk.queue", disk.queue.into(), disk.queue > 0, "1 or more"),
        ("softirq.cpus", softirq.cpus.into(), softirq.cpus <= cpus, "at most the machine's CPUs"),
    ]
}

/// What a load costs, and who makes it.
fn driven(physics: &Physics) -> [Row; 7] {
    let Physics { cost, clients, heat, .. } = physics;
    let rate = clients.rate.unwrap_or(f64::INFINITY);
    let after = heat.after.unwrap_or(f64::INFINITY);
    let share = |share: f64| share > 0.0 && share <= 1.0;
    [
        ("cost.byte", cost.byte, cost.byte > 0.0, "above 0"),
        ("cost.beyond_cache", cost.beyond_cache, cost.beyond_cache >= 1.0, "1 or more"),
        ("clients.cpu", clients.cpu, share(clients.cpu), "1 % to 100 %"),
        ("clients.cores", clients.cores.into(), (1..=1024).contains(&clients.cores), "1 to 1024"),
        ("clients.speed", clients.speed, clients.speed > 0.0, "above 0"),
        ("clients.rate", rate, rate > 0.0, "above 0"),
        ("heat.after", after, after > 0.0 && heat.cools > 0.0 && share(heat.speed), HEAT),
    ]
}

const HEAT: &str = "above 0, as must be heat.cools and heat.speed";

/// What the box in the links is planted with.
#[expect(clippy::cast_precision_loss, reason = "queues are few")]
fn boxed(physics: &Physics) -> [Row; 8] {
    let Device { tester, capacity, buffer, stalls, queues, .. } = &physics.device;
    let Device { line, police_rate, police_burst, .. } = &physics.device;
    let of = |key, value: f64, least: f64, remedy| (key, value, value >= least, remedy);
    let rate = |rate: &Option<f64>| rate.unwrap_or(f64::INFINITY);
    let count = queues.len();
    let weighted = queues.iter().all(|weight| (1..=1000).contains(weight));
    [
        of("device.tester", *tester, 1.0, "1 or more"),
        of("device.capacity", *capacity, 1.0, "1 or more"),
        ("device.buffer", (*buffer).into(), (1..=65_536).contains(buffer), "1 to 65536"),
        of("device.line", rate(line), 1.0, "1 bit/s or more"),
        ("device.stalls", *stalls, (0.0..=1e4).contains(stalls), "0 to 10000"),
        of("device.police_rate", rate(police_rate), 1.0, "1 bit/s or more"),
        of("device.police_burst", *police_burst, 1.0, "1 B or more"),
        ("device.queues", count as f64, count <= 64 && weighted, "up to 64 weights of 1 to 1000"),
    ]
}

/// What chance does.
fn moved(physics: &Physics) -> [Row; 3] {
    let noise = &physics.noise;
    [
        ("noise.ar", noise.ar, noise.ar.abs() < 1.0, "between -1 and 1"),
        ("noise.outliers.size", noise.outliers.size, noise.outliers.size < 1.0, "below 100 %"),
        ("noise.slow.size", noise.slow.size, noise.slow.size < 1.0, "below 100 %"),
    ]
}

/// Effects and capacities multiply: each must be above 0.
fn multipliers(physics: &Physics) -> Result<(), SimError> {
    let effects = physics.effects.iter().flat_map(|(factor, levels)| {
        levels.iter().map(move |(level, by)| (format!("effects.{factor}.{level}"), *by))
    });
    let capacities = physics.capacities.iter().flat_map(|(factor, levels)| {
        let of = move |(level, all): (&String, _)| (format!("capacities.{factor}.{level}"), all);
        levels.iter().map(of).flat_map(|(key, all)| all.values().map(move |by| (key.clone(), *by)))
    });
    match effects.chain(capacities).find(|(_, by)| *by <= 0.0 || !by.is_finite()) {
        Some((key, value)) => Err(SimError::Value { key, value, remedy: "above 0" }),
        None => Ok(()),
    }
}

fn clocks(physics: &Physics) -> Result<(), SimError> {
    let wrong = physics.clocks.iter().find(|(_, clock)| !(0.5..=2.0).contains(&clock.rate));
    let Some((host, clock)) = wrong else { return Ok(()) };
    let (key, value) = (format!("clocks.{host}.rate"), clock.rate);
    Err(SimError::Value { key, value, remedy: "0.5 to 2" })
}

/// Shares stand with the rule that uses them, are of what there is, and make a whole.
fn limits(physics: &Physics) -> Result<(), SimError> {
    let limits = &physics.limits;
    let no = |words: String| Err(SimError::Shares(words));
    if limits.through == Through::Disk && physics.disk.rate.is_none() {
        return no("limits.through is disk, and there is none; write its rate into [disk]".into());
    }
    match (limits.blend, limits.shares.is_empty()) {
        (Blend::Hard, true) => return Ok(()),
        (Blend::Hard, false) => {
            return no(
                "limits.shares are for blend = \"shares\"; write that or leave them out".into()
            );
        }
        (Blend::Shares, _) => {}
    }
    let planted = |resource| limits.shares.get(&resource).is_some_and(|share| *share > 0.0);
    let missing = Resource::ALL.into_iter().find(|(_, r)| planted(*r) && !physics.has(*r));
    if let Some((word, _)) = missing {
        return no(format!("limits.shares.{word} is of nothing; give the physics that resource"));
    }
    let sum = limits.shares.values().fold(0.0, |sum, share| sum + share);
    if (sum - 1.0).abs() > 1e-6 {
        return no(format!("limits.shares make {:.4} %; they must make 100 %", sum * 100.0));
    }
    Ok(())
}
