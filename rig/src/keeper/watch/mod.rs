//! Knows who watches the machine while a load runs: the probes, the soaker, the idle lab's figure.
//!
//! Must not know which trial is watched, or what its load does.

use super::Ended;
use crate::lab::{Ours, clock, environment};
use crate::probe::{
    self, AdapterCounts, Copied, Look, Moment, Probe, Sampled, Sampler, Soaker, Stretch,
};
use desk::plan::{BASELINE_S, CALIBRATION_S};
use desk::record::{Fact, Reading, class_of};
use desk::unit::{Quantity, Unit};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The soaker's first part of the calibration, which is not counted: threads wake, clocks rise.
const RISE_S: f64 = 0.02;

/// A reading begins at most so long after the edge, and takes at most so long: who was stopped
/// between reads another window than the load had.
const LATE_MAX: Duration = Duration::from_millis(250);
const READ_MAX: Duration = Duration::from_secs(1);

/// An edge of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// It opens.
    Opens,
    /// It closes.
    Closes,
}

/// Waits until a moment of the monotonic clock, nanoseconds; ends early where nobody is left to
/// wait for.
pub type Wait<'w> = dyn FnMut(u64) -> Result<(), Ended> + 'w;

/// At the opening: its moment, the CPU time that it took to read everything, and that which the
/// sampler had taken, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    opened_ns: u64,
    opening_ns: u64,
    sampler_ns: u64,
}

/// All that is read beside the load.
pub struct Watch {
    probes: Vec<Box<dyn Probe>>,
    sampler: Sampler,
    soaker: Option<Soaker>,
    /// What adapters had counted before the load went.
    counts: AdapterCounts,
    /// What the soaker does in a second without the load.
    calibrated: Stretch,
    opened: Vec<Look>,
    cost: Cost,
    ours: Ours,
    baseline: Quantity,
    copied: Option<Copied>,
}

impl Watch {
    /// Measures what the idle lab leaves unattributed; takes [`BASELINE_S`], in which the 10 ms of
    /// an idle tick are 1 %. Then, for some tens of milliseconds, how fast memory is copied.
    ///
    /// # Errors
    /// When the wait ends early.
    pub fn begin(ours: Ours, wait: &mut Wait<'_>) -> Result<Self, Ended> {
        let mut watch = Self {
            probes: probe::all(),
            sampler: Sampler::new(Path::new("/")),
            soaker: None,
            counts: AdapterCounts::default(),
            calibrated: Stretch::default(),
            opened: Vec::new(),
            cost: Cost::default(),
            ours,
            baseline: Quantity::new(0.0, Unit::Cpu),
            copied: None,
        };
        let mut readings = Vec::new();
        watch.probes.iter_mut().for_each(|probe| probe.prepare(&watch.ours));
        let (began_ns, hosts) = (clock::now_ns(), watch.hosts_cpu_ns());
        watch.read(Edge::Opens, &mut readings);
        wait(began_ns + nanoseconds(BASELINE_S))?;
        watch.read(Edge::Closes, &mut readings);
        let hosts_ns = watch.hosts_cpu_ns().saturating_sub(hosts);
        let value =
            unattributed(&readings, seconds(hosts_ns) / seconds(clock::now_ns() - began_ns));
        watch.baseline = Quantity::new(value, Unit::Cpu);
        watch.copied = Copied::measure(environment::largest_cache(Path::new("/")));
        Ok(watch)
    }

    /// That memory was copied, how fast and how.
    pub fn facts(&self) -> Vec<Fact> {
        let key = "memory.copy";
        let fact = |Copied { rate, cpus, buffers, took_ns }: &Copied| Fact {
            key: key.into(),
            value: format!(
                "{} by {cpus} CPUs with {} of buffers, measured before the first trial in {}",
                Quantity::new(*rate, Unit::BytePerSecond),
                Quantity::bytes(*buffers),
                Quantity::seconds(seconds(*took_ns))
            ),
            class: class_of(key),
            source: "measured".into(),
        };
        self.copied.iter().map(fact).collect()
    }

    /// Starts the soaker if there is none.
    ///
    /// # Errors
    /// When its threads cannot be put where they disturb nothing.
    pub fn soak(&mut self) -> io::Result<()> {
        if self.soaker.is_none() {
            self.soaker = Some(Soaker::start()?);
        }
        Ok(())
    }

    /// Ends the soaker if there is one.
    pub fn end_soaker(&mut self) {
        self.soaker = None;
    }

    /// Just before the load goes: notes who is ours, finds what is to be read, reads what takes
    /// long, and lets the soaker show its rate. It works on until [`Self::rest`], so that the load
    /// settles beside it.
    ///
    /// # Errors
    /// When the wait ends early.
    pub fn prepare(&mut self, ours: Ours, wait: &mut Wait<'_>) -> Result<(), Ended> {
        self.ours = ours;
        self.probes.iter_mut().for_each(|probe| probe.prepare(&self.ours));
        // Without a thread there is no course; what is judged does not need one.
        let _ = self.sampler.prepare(self.soaker.is_some(), &self.ours);
        self.counts = AdapterCounts::read(Path::new("/"), &self.ours);
        let Some(soaker) = &self.soaker else { return Ok(()) };
        soaker.work();
        let began_ns = clock::now_ns();
        wait(began_ns + nanoseconds(RISE_S))?;
        let opened = soaker.look();
        wait(began_ns + nanoseconds(CALIBRATION_S))?;
        self.calibrated = Stretch::between(&opened, &soaker.look());
        Ok(())
    }

    /// Waits for a moment, an edge of the window, and reads everything there.
    ///
    /// # Errors
    /// How late the reading began, or how long it took, where it is not of this moment.
    pub fn at_edge(&mut self, (edge, at_ns): (Edge, u64)) -> Result<Vec<Reading>, Duration> {
        let mut readings = Vec::new();
        clock::sleep_until(at_ns);
        let began_ns = clock::now_ns();
        self.read(edge, &mut readings);
        if let Some(late) = late(at_ns, [began_ns, clock::now_ns()]) {
            return Err(late);
        }
        match edge {
            Edge::Opens => self.sampler.open(at_ns),
            Edge::Closes => self.sampler.close(at_ns),
        }
        if edge == Edge::Closes {
            let (probe, host, key) = ("cpu".into(), "machine".into(), "baseline".into());
            readings.push(Reading { probe, host, key, quantity: self.baseline });
            readings.extend(self.copied.map(|copied| Reading {
                probe: "ceiling".into(),
                host: "machine".into(),
                key: "mem_copy".into(),
                quantity: Quantity::new(copied.rate, Unit::BytePerSecond),
            }));
        }
        Ok(readings)
    }

    /// The load is over, well or not: the soaker sleeps. Gives what was sampled in the window, and
    /// what adapters counted since the load went.
    pub fn rest(&mut self) -> Sampled {
        if let Some(soaker) = &self.soaker {
            soaker.rest();
        }
        let mut sampled = self.sampler.take();
        let before = std::mem::take(&mut self.counts);
        sampled.readings.extend(AdapterCounts::read(Path::new("/"), &self.ours).since(&before));
        sampled
    }

    /// Reads all probes at an edge, and at the close tells what both readings and the sampler have
    /// cost.
    fn read(&mut self, edge: Edge, readings: &mut Vec<Reading>) {
        let (at_ns, before_ns) = (clock::now_ns(), clock::thread_cpu_ns());
        self.read_probes(edge, readings);
        let cost_ns = clock::thread_cpu_ns().saturating_sub(before_ns);
        let sampler_ns = self.sampler.cpu_ns();
        match edge {
            Edge::Opens => {
                self.cost = Cost { opened_ns: at_ns, opening_ns: cost_ns, sampler_ns };
            }
            Edge::Closes => {
                let Cost { opened_ns, opening_ns, sampler_ns: before_ns } = self.cost;
                let wall_ns = at_ns.saturating_sub(opened_ns).max(1);
                let all_ns = opening_ns + cost_ns + sampler_ns.saturating_sub(before_ns);
                let share = seconds(all_ns) / seconds(wall_ns);
                readings.push(Reading {
                    probe: "probe".into(),
                    host: "machine".into(),
                    key: "cost".into(),
                    quantity: Quantity::new(share, Unit::Share),
                });
            }
        }
    }

    fn read_probes(&mut self, edge: Edge, readings: &mut Vec<Reading>) {
        // First, so that all others take out what it was at the same moment.
        let looks = self.soaker.as_ref().map(Soaker::look).unwrap_or_default();
        let moment = Moment { ours: &self.ours, soaker: &looks };
        for probe in &mut self.probes {
            match edge {
                Edge::Opens => probe.begin(&moment),
                Edge::Closes => readings.extend(probe.end(&moment)),
            }
        }
        match edge {
            Edge::Opens => self.opened = looks,
            Edge::Closes if looks.is_empty() => {}
            Edge::Closes => {
                let window = Stretch::between(&self.opened, &looks);
                readings.extend(window.readings(&self.calibrated));
            }
        }
    }

    fn hosts_cpu_ns(&self) -> u64 {
        self.ours.hosts.iter().filter_map(|(_, pid)| clock::cpu_ns_of(*pid)).sum()
    }
}

/// How late a reading was for its edge; none where it is of this moment. All in nanoseconds of one
/// clock.
fn late(at_ns: u64, [began_ns, ended_ns]: [u64; 2]) -> Option<Duration> {
    let begun = Duration::from_nanos(began_ns.saturating_sub(at_ns));
    let took = Duration::from_nanos(ended_ns.saturating_sub(began_ns));
    (begun > LATE_MAX || took > READ_MAX).then_some(begun + took)
}

/// CPUs kept busy by what no clock of a thread or process shows, 0 or more: interrupts on an idle
/// CPU, and processes that ended; busy x CPUs - conductor - hosts - kernel threads - foreign.
fn unattributed(readings: &[Reading], hosts: f64) -> f64 {
    let value = |probe: &str, host: &str, key: &str| {
        let wanted = |r: &&Reading| r.probe == probe && r.host == host && r.key == key;
        readings.iter().find(wanted).map_or(0.0, |r| r.quantity.value)
    };
    let busy = value("cpu", "machine", "busy") * value("cpu", "machine", "cpus");
    let conductor = value("process", "conductor", "cpu");
    let others = value("kernel", "machine", "threads") + value("foreign", "machine", "cpu");
    (busy - conductor - hosts - others).max(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1 s")]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests;
