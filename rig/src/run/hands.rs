//! Knows how the conductor's commands are carried out on a lab.
//!
//! Must not know which trial comes next, or what a figure is worth.

use super::calm::Calm;
use super::conduct::conduct;
use super::idle::Idle;
use super::levels::{Levels, in_force, link_of};
use super::stand::{Orders, Progress, RunError, Stand, Visited, refuse_boots};
use super::watched::{self, Watch};
use crate::factor;
use crate::lab::machine::{Machine, Order};
use crate::lab::quota::Side;
use crate::lab::wire::{Answer, Request};
use crate::lab::{Blueprint, IpVersion, Lab, LabError, SUT, Urgent, clock};
use crate::probe::{Carriers, Received, Relayed, Shapers};
use crate::workload::{self, Checked, Entries, Job};
use desk::plan::DRY_WINDOW_S;
use desk::record::{
    Fact, Fault, Outcome, Place, Plan, ProgramLog, Reading, Scope, Settings, Trial, TrialKind,
    TrialRecord, Value, is_client,
};
use desk::unit::Quantity;
use std::time::Duration;

/// Longest wait for the logs of a host.
const LOGS: Duration = Duration::from_secs(2);

/// A lab with what is set on it, ready to visit trials of plans that share its blueprint.
pub struct Bench {
    /// The lab.
    pub lab: Lab,
    entries: Entries,
    /// What was measured of each machine itself while the lab stood idle.
    facts: Vec<Vec<Fact>>,
    calm: Calm,
    levels: Levels,
    /// Sides that the plan holds to quotas.
    sides: Vec<Side>,
    started_ns: u64,
    /// Hosts may hold answers that nobody waits for, or links something that nobody undid.
    stale: bool,
}

impl Bench {
    /// Builds the lab for these workloads on machines, in the order of the plan, and looks at each
    /// for a second while it is idle.
    ///
    /// # Errors
    /// When no kind of place that was wanted is to be had, or the run is stopped.
    pub fn build(
        blueprint: &Blueprint,
        entries: Entries,
        machines: Vec<Machine>,
    ) -> Result<Self, RunError> {
        let started_ns = clock::now_ns();
        let mut lab = Lab::build(blueprint, machines)?;
        let mut facts = Vec::new();
        for at in 0..lab.machine_count() {
            let mut of = lab.machine_at(at).facts(&Order::Baseline)?;
            of.extend(lab.groups_facts(at)?);
            facts.push(of);
        }
        let (calm, levels, sides) = (Calm::default(), Levels::default(), Vec::new());
        Ok(Self { lab, entries, facts, calm, levels, sides, started_ns, stale: false })
    }

    /// What was measured of each machine itself while the lab stood idle, and where the groups of
    /// its hosts are.
    #[must_use]
    pub fn facts(&self) -> &[Vec<Fact>] {
        &self.facts
    }

    /// Visits these trials of a plan and keeps nothing but what it returns; `tell` hears of every
    /// one.
    ///
    /// # Errors
    /// As [`conduct`].
    pub fn run(
        &mut self,
        plan: &Plan,
        trials: Vec<Trial>,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<Visited, RunError> {
        let trials = trials.into_iter().map(|trial| (trial, 1)).collect();
        let (keep, enough) = (&mut |_: &TrialRecord| Ok(()), &mut |_| false);
        conduct(self, Orders { plan, trials, kept: &[], before_s: 0.0, keep, enough, tell })
    }

    fn set_and_drive(&mut self, plan: &Plan, record: &mut TrialRecord) -> Result<Checked, Fault> {
        let link = link_of(plan, &record.trial.settings);
        let wanted = in_force(plan, &record.trial);
        self.levels.bring_to(&mut self.lab, (plan, &record.trial), &mut record.observed)?;
        self.lab.find_clocks().map_err(LabError::into_fault)?;
        let trial = with_load_settings(&record.trial);
        let entry = workload::find(self.entries, &trial.point.workload)?;
        let job = job(plan, &trial, (&link, &wanted));
        let idle = Idle::is(plan, &trial);
        let over_links = !idle && entry.spec.place == Place::Path;
        let mut work = if idle { Box::<Idle>::default() } else { (entry.make)() };
        work.stage(&mut self.lab, &job)?;
        let carriers = Carriers::read(&mut self.lab, &link).map_err(LabError::into_fault)?;
        let shapers = Shapers::read(&mut self.lab, &link).map_err(LabError::into_fault)?;
        let relayed = Relayed::begin(&mut self.lab, record.trial.seed);
        let relayed = relayed.map_err(LabError::into_fault)?;
        let version = wanted.get(IpVersion::SETTING).and_then(IpVersion::of).filter(|_| over_links);
        let received = self.received(version.is_some())?;
        let readings = &mut record.readings;
        let ready = self.prepare().map_err(LabError::into_fault);
        let urgent = Urgent::begin();
        let mut watch = Watch::default();
        let driven = ready.and_then(|()| {
            work.drive(&mut self.lab, &mut |lab, edge| watch.at_edge(lab, edge, readings))
        });
        drop(urgent);
        let rested = watched::rest(&mut self.lab).map_err(LabError::into_fault);
        driven?;
        watch.in_time()?;
        let (besides, tracks) = rested?;
        // A clock that jumped within the window is found now.
        self.lab.find_clocks().map_err(LabError::into_fault)?;
        // What a dry visit gives is not counted, and its window is short.
        if record.trial.kind != TrialKind::Dry {
            watch.had_clocks(&self.lab)?;
        }
        record.readings.extend(besides);
        record.tracks = tracks;
        let shaped = Shapers::read(&mut self.lab, &link).map_err(LabError::into_fault)?;
        record.readings.extend(shaped.since(&shapers));
        let passed = Relayed::read(&mut self.lab).map_err(LabError::into_fault)?;
        record.readings.extend(passed.since(&relayed));
        let after = Carriers::read(&mut self.lab, &link).map_err(LabError::into_fault)?;
        record.readings.extend(after.since(&carriers));
        let checked = work.check()?;
        if let Some(version) = version {
            let now = self.received(true)?;
            record.readings.extend(now.since(&received));
            now.went_over(&received, version)?;
        }
        // What a load says of its settings nobody says without one.
        if !idle {
            record.observed.extend(told_back(&wanted, &trial, &checked.outcome.made_with)?);
        }
        Ok(checked)
    }

    /// Packets of either version of IP so far; none where nobody asks for a version.
    fn received(&mut self, asked: bool) -> Result<Received, Fault> {
        let read = asked.then(|| Received::read(&mut self.lab));
        Ok(read.transpose().map_err(LabError::into_fault)?.unwrap_or_default())
    }

    /// Logs of programs that have failed on hosts that live.
    fn logs(&mut self, fault: &Fault) -> Vec<ProgramLog> {
        if !matches!(fault, Fault::Failed { .. } | Fault::WrongWork { .. }) {
            return Vec::new();
        }
        let asked = self.lab.ask(&[(SUT, Request::Logs)], LOGS).unwrap_or_default();
        let logs = asked.into_iter().flat_map(|answer| match answer {
            Answer::Logs(logs) => logs,
            _ => Vec::new(),
        });
        logs.map(|(name, text)| ProgramLog { name, text }).collect()
    }

    /// Has every machine make ready for the load.
    fn prepare(&mut self) -> Result<(), LabError> {
        let all = self.lab.in_use();
        all.into_iter().try_for_each(|at| self.lab.machine_at(at).must(&Order::Prepare))
    }

    /// Makes the groups in which the sides are held.
    fn hold(&mut self) -> Result<(), LabError> {
        self.lab.hold(&self.sides)
    }
}

impl Stand for Bench {
    fn begin(&mut self, plan: &Plan) -> Result<(), RunError> {
        refuse_boots(plan)?;
        for at in 0..self.lab.machine_count() {
            self.lab.machine_at(at).must(&Order::Refuse(Box::new(plan.clone()), at))?;
        }
        if self.stale {
            self.rebuild()?;
        }
        self.calm = Calm::within(plan);
        let quotas = factor::quotas(plan);
        self.sides = quotas.iter().map(|row| row.side).collect();
        if let Some(row) = quotas.first() {
            self.hold().map_err(|e| row.refused(e))?;
        }
        let soak = plan.method.displaced_work;
        self.lab.tell_suts(&Order::Soak(soak)).map_err(RunError::soaker)
    }

    fn visit(&mut self, plan: &Plan, trial: &Trial) -> TrialRecord {
        #[expect(clippy::cast_precision_loss, reason = "runs are far below 2^53 ns")]
        let started_s = (clock::now_ns() - self.started_ns) as f64 / 1e9;
        let mut record = TrialRecord {
            trial: trial.clone(),
            observed: Settings::new(),
            outcome: Outcome::default(),
            readings: Vec::new(),
            tracks: Vec::new(),
            started_s,
            attempt: 1,
        };
        match self.set_and_drive(plan, &mut record) {
            Ok(checked) => {
                record.outcome = checked.outcome;
                record.readings.extend(checked.readings);
            }
            Err(fault) => {
                let logs = self.logs(&fault);
                record.outcome = Outcome { logs, ..Outcome::faulty(fault) };
            }
        }
        if plan.is_external(trial) {
            // What was read here is not of the server. Throttling and steal concern the clients.
            let held = |reading: &Reading| {
                reading.probe == "throttle" || (reading.probe == "cpu" && reading.key == "steal")
            };
            record.readings.retain(|reading| is_client(reading.host.name()) || held(reading));
            record.tracks.retain(|track| is_client(track.host.name()));
        }
        record
    }

    /// A fresh lab; what was set on the old one went with its links.
    fn rebuild(&mut self) -> Result<(), RunError> {
        self.stale = true;
        self.levels.forget_lab();
        self.lab.rebuild()?;
        self.hold()?;
        self.stale = false;
        Ok(())
    }

    fn wait_for_calm(&mut self) -> Result<bool, Fault> {
        self.calm.wait(&mut self.lab).map_err(LabError::into_fault)
    }

    fn end(&mut self, whole: bool) -> Vec<String> {
        self.stale = !self.levels.undo_all(&mut self.lab, whole);
        self.sides.clear();
        // Where the machine is gone, its agent has ended and undone all.
        let _ = self.lab.release().and_then(|()| self.lab.tell_suts(&Order::Soak(false)));
        self.levels.left().to_vec()
    }
}

/// The job of a trial over a link, with settings in force; a dry visit has times of its own.
pub(super) fn job<'t>(
    plan: &Plan,
    trial: &'t Trial,
    (link, settings): (&'t str, &'t Settings),
) -> Job<'t> {
    let (method, dry) = (&plan.method, trial.kind == TrialKind::Dry);
    let time = |q: Quantity| Duration::from_secs_f64(q.value.max(0.0));
    Job {
        trial,
        link,
        settings,
        data_seed: method.seed,
        settle: time(method.settle),
        settle_max: time(if dry { method.settle } else { method.settle_max }),
        window: window(plan, trial),
    }
}

/// Length of the window of a trial.
pub(super) fn window(plan: &Plan, trial: &Trial) -> Duration {
    let dry = trial.kind == TrialKind::Dry;
    Duration::from_secs_f64(if dry { DRY_WINDOW_S } else { plan.window(trial).value.max(0.0) })
}

/// The trial with every setting that is a parameter of its load written over that parameter.
pub(super) fn with_load_settings(trial: &Trial) -> Trial {
    let mut trial = trial.clone();
    for (key, value) in &trial.settings {
        if let Some(param) = trial.point.params.get_mut(key) {
            *param = value.clone();
        }
    }
    trial
}

/// Whether a factor is of what programs are told.
pub(super) fn is_told(key: &str) -> bool {
    factor::ALL.iter().any(|spec| spec.name == key && spec.scope == Scope::Program)
}

/// What the load says of factors that its own sockets have.
pub(super) fn of_sockets(made_with: &Settings) -> impl Iterator<Item = (String, Value)> {
    let rows = factor::ALL.iter().filter(|spec| spec.scope == Scope::Socket);
    rows.filter_map(|spec| Some((spec.name.to_owned(), made_with.get(spec.name)?.clone())))
}

/// What the load says of the settings that were its own to make.
fn told_back(wanted: &Settings, trial: &Trial, made_with: &Settings) -> Result<Settings, Fault> {
    let mut found: Settings = of_sockets(made_with).collect();
    for (key, asked) in wanted {
        match made_with.get(key) {
            Some(made) if is_told(key) || trial.point.params.contains_key(key) => {
                found.insert(key.clone(), made.clone());
            }
            None if is_told(key) => {
                let load = &trial.point.load;
                let what = format!(
                    "load '{load}' runs nothing that reads {key} = {asked}; take an engine that \
                     does, or leave {key} out of the plan"
                );
                return Err(Fault::Factor { what });
            }
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::conductor::tests::trial;

    #[test]
    fn settings_of_the_load_are_written_over_its_parameters_and_nothing_is_added() {
        let one = |key: &str, word: &str| (key.to_owned(), Value::Word(word.to_owned()));
        let mut trial = trial(1, 1);
        trial.point.params = Settings::from([one("placement", "none"), one("size", "1")]);
        trial.settings = Settings::from([one("placement", "spread"), one("tso", "on")]);
        let told = with_load_settings(&trial).point.params;
        assert_eq!(told, Settings::from([one("placement", "spread"), one("size", "1")]));
    }
}
