//! Knows how trials are visited in a lab that is only physics, in simulated time.
//!
//! What the load does is asked of its workload's model; this makes the rest of the record: what a
//! real lab's probes and factors would have told. Must not know how trials are judged.

use super::hands::{is_told, job, of_sockets, window, with_load_settings};
use super::idle::Idle;
use super::levels::{in_force, link_of};
use super::stand::{RunError, Stand};
use crate::factor::{self, FactorError, Mechanism};
use crate::lab::sim::{
    Chance, Drawn, Hold, LinkNow, Physics, Planted, Scene, Spoil, Spoilt, Through, Warmth,
    ceilings, clocks, meters, quotas, shapers,
};
use crate::workload::{self, Entries, Job, Modelled};
use desk::plan::{OVERHEAD_S, shortest};
use desk::record::{Fault, Outcome, Plan, Reading, Settings, Trial, TrialRecord, Value};
use desk::unit::{Quantity, Unit};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Time to build a lab, seconds.
const BUILD_S: f64 = 0.2;
/// Time until a host that does not answer is given up, seconds.
const PATIENCE_S: f64 = 2.0;
/// What a flap or a rate that still climbs takes of the rate.
const SPOILT_PACE: f64 = 0.8;

/// A simulated lab: no sleep, no clock, no chance but from the seeds of plan and physics.
pub struct Simulated {
    physics: Physics,
    entries: Entries,
    cancel: &'static AtomicBool,
    chance: Chance,
    /// The boot that the machine is in; 0 before the first that a plan asks for.
    boot: u32,
    /// How hot the busiest CPU is.
    warmth: Warmth,
    /// Visits made to each trial of the plan.
    visits: BTreeMap<u32, u32>,
    /// Simulated time, when the run began and how long it takes, seconds.
    now_s: f64,
    began_s: f64,
    run_s: f64,
}

/// One visit: what was drawn for it and what is spoilt in it.
struct Visit<'v> {
    plan: &'v Plan,
    trial: &'v Trial,
    drawn: Drawn,
    planted: Option<&'v Planted>,
    link: LinkNow,
}

impl Simulated {
    /// A lab of this physics for these workloads.
    #[must_use]
    pub fn new(physics: Physics, entries: Entries, cancel: &'static AtomicBool) -> Self {
        let chance = Chance::new(0, &physics);
        let (now_s, began_s, run_s) = (0.0, 0.0, 1.0);
        let (boot, warmth, visits) = (0, Warmth::default(), BTreeMap::new());
        Self { physics, entries, cancel, chance, boot, warmth, visits, now_s, began_s, run_s }
    }

    /// Its physics.
    #[must_use]
    pub const fn physics(&self) -> &Physics {
        &self.physics
    }

    /// Starts the machine anew where a trial wants another boot; the lab is then built anew, too.
    fn boot_into(&mut self, plan: &Plan, trial: &Trial) {
        if trial.boot == self.boot {
            return;
        }
        self.boot = trial.boot;
        let took_s = plan.method.boot_time.map_or(0.0, |time| time.value) + BUILD_S;
        self.warmth.pass(&self.physics, 0.0, took_s);
        self.now_s += took_s;
        self.chance.relaunch(&self.physics);
    }

    fn fill(&self, visit: &Visit<'_>, record: &mut TrialRecord) -> Result<(), Fault> {
        let (plan, trial) = (visit.plan, visit.trial);
        record.observed = observed(plan, trial, &visit.link);
        if self.physics.machine.threads > 1 {
            record.observed.extend(smt(plan, trial));
        }
        self.break_before(visit)?;
        let trial = with_load_settings(trial);
        let entry = workload::find(self.entries, &trial.point.workload)?;
        let settings = in_force(plan, &trial);
        let job = job(plan, &trial, (&visit.link.name, &settings));
        let scene = self.scene(visit);
        let model = entry.model.ok_or_else(|| Fault::NotAvailable {
            what: format!("{} has no model for a simulated lab", entry.spec.name),
        })?;
        let modelled = match Idle::is(plan, &trial) {
            true => self.idle(&scene, &job),
            false => model(&scene, &job)?,
        };
        record.readings = self.watched(visit, &modelled);
        let Modelled { checked, .. } = modelled;
        record.readings.extend(quotas(&scene.hold, plan.lab.clients, &checked.readings));
        record.observed.extend(of_sockets(&checked.outcome.made_with));
        record.outcome = checked.outcome;
        record.readings.extend(checked.readings);
        Ok(())
    }

    /// A window without a load: the machine keeps busy with itself alone.
    fn idle(&self, scene: &Scene<'_>, job: &Job<'_>) -> Modelled {
        let nothing = vec![0.0; self.physics.machine.cores as usize];
        let clients = if self.physics.clients_apart() { scene.clients as usize } else { 0 };
        Modelled {
            checked: Idle::simulated(job, scene.go_ns),
            cores: nothing.clone(),
            softirq: nothing,
            clients: vec![0.0; clients],
        }
    }

    /// What breaks before there is anything to measure.
    fn break_before(&self, visit: &Visit<'_>) -> Result<(), Fault> {
        let Some(planted) = visit.planted else { return Ok(()) };
        let host = planted.host.clone().into();
        match planted.kind {
            Spoil::DeadClient => Err(Fault::DeadHost { host }),
            Spoil::FrozenClient => Err(Fault::Frozen { host }),
            Spoil::FactorNotTaken => match not_taken(visit, planted) {
                Some(e) => Err(Fault::Factor { what: e.to_string() }),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn scene(&self, visit: &Visit<'_>) -> Scene<'_> {
        let kind = visit.planted.map(|p| p.kind);
        let size = visit.planted.map_or(0.0, |p| p.size);
        let host = visit.planted.map(|p| p.host.clone()).unwrap_or_default();
        let spoilt_pace = match kind {
            Some(Spoil::StealBurst | Spoil::Throttle) => 1.0 - size,
            Some(Spoil::LinkFlap | Spoil::NeverLevel) => SPOILT_PACE,
            _ => 1.0,
        };
        let held = if kind == Some(Spoil::GeneratorLimit) { size } else { 1.0 };
        let speed = self.warmth.speed(&self.physics);
        Scene {
            physics: &self.physics,
            link: visit.link.clone(),
            hold: Hold::of(&self.physics, &visit.plan.lab, &visit.trial.settings, speed),
            clocks: clocks(&self.physics, self.now_s, (self.began_s, self.run_s)),
            clients: visit.plan.lab.clients,
            pace: visit.drawn.pace * self.effect(visit) * spoilt_pace,
            cpu: visit.drawn.cpu,
            clients_cpu: self.physics.clients.cpu.min(held),
            steady: kind != Some(Spoil::NeverLevel),
            spoilt: match kind {
                Some(Spoil::WrongBytes) => Some(Spoilt::Content(host)),
                Some(Spoil::DeadStream) => Some(Spoilt::Still(host)),
                // A socket that does not take is found by the workload's own check.
                Some(Spoil::FactorNotTaken) => Some(Spoilt::Congestion),
                _ => None,
            },
            go_ns: nanoseconds(self.now_s),
        }
    }

    /// The planted effects of the trial's levels together.
    fn effect(&self, visit: &Visit<'_>) -> f64 {
        let of = |(key, value): (&String, &Value)| {
            self.physics.effects.get(key).and_then(|levels| levels.get(&value.to_string()))
        };
        visit.trial.settings.iter().filter_map(of).product()
    }

    /// What the probes of a real lab would have read.
    fn watched(&self, visit: &Visit<'_>, modelled: &Modelled) -> Vec<Reading> {
        let mut rows = Vec::new();
        let mut row = |probe: &str, host: &str, key: &str, value: f64, unit| {
            let (probe, host, key) = (probe.into(), host.into(), key.into());
            rows.push(Reading { probe, host, key, quantity: Quantity::new(value, unit) });
        };
        let kind = visit.planted.map(|p| p.kind);
        let size = visit.planted.map_or(0.0, |p| p.size);
        let burst = |spoil| if kind == Some(spoil) { size } else { 0.0 };
        let cores = modelled.cores.iter().map(|_| 1.0).sum::<f64>();
        let idle = self.physics.machine.baseline;
        let total: f64 = modelled.cores.iter().sum();
        for (cpu, busy) in modelled.cores.iter().enumerate() {
            let busy = (busy + idle / cores).min(1.0);
            row("cpu", "machine", &format!("busy.cpu{cpu}"), busy, Unit::Share);
        }
        row("cpu", "machine", "busy", ((total + idle) / cores).min(1.0), Unit::Share);
        row("cpu", "machine", "steal", burst(Spoil::StealBurst), Unit::Share);
        row("cpu", "machine", "cpus", cores, Unit::Count);
        row("cpu", "machine", "jiffies", total + idle, Unit::Cpu);
        row("process", "conductor", "cpu", 0.0, Unit::Cpu);
        for host in &modelled.checked.readings {
            if host.probe == "process" {
                row("cgroup", host.host.name(), "cpu", host.quantity.value, Unit::Cpu);
            }
        }
        row("kernel", "machine", "threads", idle, Unit::Cpu);
        row("foreign", "machine", "cpu", 0.0, Unit::Cpu);
        if let Some(hot) = self.warmth.told(&self.physics) {
            let window = modelled.checked.outcome.window;
            let hot_s = if hot { seconds(window.closed_ns - window.opened_ns) } else { 0.0 };
            let count = if hot || kind == Some(Spoil::Throttle) { 1.0 } else { 0.0 };
            let slow_s = hot_s + burst(Spoil::Throttle);
            row("throttle", "machine", "core", count, Unit::Count);
            row("throttle", "machine", "core.time", slow_s, Unit::Second);
        }
        row("cpu", "machine", "baseline", idle, Unit::Cpu);
        if visit.plan.method.displaced_work {
            row("soaker", "machine", "cpu", (cores - total).max(0.0), Unit::Cpu);
            row("soaker", "machine", "calibrated", cores, Unit::Cpu);
            row("soaker", "machine", "displaced", total, Unit::Cpu);
        }
        let clients = (1..=visit.plan.lab.clients).map(|n| format!("c{n:02}"));
        for host in std::iter::once("sut".to_owned()).chain(clients) {
            let flaps = kind == Some(Spoil::LinkFlap)
                && visit.planted.is_some_and(|planted| planted.host == host);
            row("flap", &host, &visit.link.name, if flaps { 2.0 } else { 0.0 }, Unit::Count);
        }
        if self.physics.probes.softirq {
            for (cpu, share) in modelled.softirq.iter().enumerate() {
                row("cpu", "machine", &format!("softirq.cpu{cpu}"), *share, Unit::Share);
            }
        }
        // A client's own machine is told by its own host.
        let theirs = f64::from(self.physics.clients.cores);
        for (client, busy) in (1..).zip(&modelled.clients) {
            row("cpu", &format!("c{client:02}"), "busy", busy / theirs, Unit::Share);
            row("cpu", &format!("c{client:02}"), "cpus", theirs, Unit::Count);
        }
        let mut samples = modelled.checked.outcome.samples.iter().map(|sample| sample.quantity);
        let carried = samples.find(|quantity| quantity.unit == Unit::BitPerSecond);
        if let (Through::Disk, Some(bits)) = (self.physics.limits.through, carried) {
            row("disk", "machine", "carried", bits.value / 8.0, Unit::BytePerSecond);
        }
        rows.extend(meters(&self.physics.power, total + idle, modelled.checked.outcome.window));
        rows.extend(shapers(&visit.link));
        rows.extend(ceilings(&self.physics, &visit.link, visit.plan.lab.clients));
        rows
    }
}

impl Stand for Simulated {
    fn begin(&mut self, plan: &Plan) -> Result<(), RunError> {
        self.chance = Chance::new(plan.method.seed, &self.physics);
        self.visits.clear();
        (self.boot, self.warmth) = (0, Warmth::default());
        self.began_s = self.now_s;
        self.run_s = shortest(plan).value;
        Ok(())
    }

    fn visit(&mut self, plan: &Plan, trial: &Trial) -> TrialRecord {
        self.boot_into(plan, trial);
        let count = self.visits.entry(trial.id).or_insert(0);
        *count += 1;
        let number = *count;
        let time = (self.now_s - self.began_s, self.run_s);
        let mut drawn = self.chance.draw(&self.physics, (trial.id, number), time);
        drawn.pace *= self.chance.boot(&self.physics, trial.boot).exp();
        let mut lots = self.physics.faults.iter().zip(&drawn.luck);
        let planted = lots.find(|(planted, luck)| planted.hits(trial.id, number, **luck));
        let planted = planted.map(|(planted, _)| planted);
        let link = LinkNow::of(&self.physics, &plan.lab, &trial.settings);
        let visit = Visit { plan, trial, drawn, planted, link };
        let mut record = TrialRecord {
            trial: trial.clone(),
            observed: Settings::new(),
            outcome: Outcome::default(),
            readings: Vec::new(),
            tracks: Vec::new(),
            started_s: self.now_s,
            attempt: number,
        };
        let filled = if self.cancel.load(Ordering::Relaxed) {
            Err(Fault::Cancelled)
        } else {
            self.fill(&visit, &mut record)
        };
        let waited = record.outcome.settle.map_or(plan.method.settle.value, |q| q.value);
        let mut took_s = waited + window(plan, trial).as_secs_f64() + OVERHEAD_S;
        if let Err(fault) = filled {
            if matches!(fault, Fault::Frozen { .. }) {
                took_s += PATIENCE_S;
            }
            record.outcome = Outcome::faulty(fault);
        }
        self.warmth.pass(&self.physics, busiest(&record), took_s - OVERHEAD_S);
        self.warmth.pass(&self.physics, 0.0, OVERHEAD_S);
        self.now_s += took_s;
        record
    }

    fn rebuild(&mut self) -> Result<(), RunError> {
        self.now_s += BUILD_S;
        self.chance.relaunch(&self.physics);
        Ok(())
    }

    /// What was planted there was of that visit.
    fn wait_for_calm(&mut self) -> Result<bool, Fault> {
        Ok(true)
    }

    fn end(&mut self, _: bool) -> Vec<String> {
        Vec::new()
    }
}

/// Every level on the link in use and on the hosts, as it would be read back.
fn observed(plan: &Plan, trial: &Trial, link: &LinkNow) -> Settings {
    let mut all = plan.lab.settings.clone();
    let used = plan.lab.links.iter().find(|l| l.name == link.name);
    all.extend(used.map(|l| l.settings.clone()).unwrap_or_default());
    all.extend(trial.settings.clone());
    let set = |key: &str| match factor::mechanism(key) {
        Some(Mechanism::Link(_) | Mechanism::Quota(_)) => true,
        Some(Mechanism::Cpus(_) | Mechanism::Version(_) | Mechanism::Device(_)) => true,
        Some(Mechanism::Machine(_) | Mechanism::Held(_) | Mechanism::Path(_)) => false,
        None => is_told(key) || key.starts_with("sim_") || key == "cpu_speed",
    };
    all.retain(|key, _| set(key));
    all
}

/// Whether a core's other threads are CPUs, as it would be read back.
fn smt(plan: &Plan, trial: &Trial) -> Option<(String, Value)> {
    let set = trial.settings.get("smt").or_else(|| plan.lab.settings.get("smt"))?;
    Some(("smt".into(), set.clone()))
}

/// Busy share of the busiest CPU; 0 where nothing ran.
fn busiest(record: &TrialRecord) -> f64 {
    let cpus = record.readings.iter().filter(|r| r.key.starts_with("busy.cpu"));
    cpus.map(|r| r.quantity.value).fold(0.0, f64::max)
}

/// The factor of a trial that does not take, as the hands say it; none where the trial sets none,
/// or where sockets show it.
fn not_taken(visit: &Visit<'_>, planted: &Planted) -> Option<FactorError> {
    let settings = &visit.trial.settings;
    let named = planted.factor.as_ref().filter(|name| settings.contains_key(*name));
    let on_links = |name: &&String| matches!(factor::mechanism(name), Some(Mechanism::Link(_)));
    let name = named.or_else(|| settings.keys().find(on_links)).filter(on_links)?;
    let factor = factor::spec(name)?.name;
    let place = format!("sut {}", link_of(visit.plan, settings));
    let asked = settings.get(name).map(ToString::to_string).unwrap_or_default();
    let found = "what it was before".into();
    Some(FactorError::NotTaken { factor, place, asked, found })
}

#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
const fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
const fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
