//! Knows what every measuring verb shares: the machine, the stop flag, a run from plan to record.

use super::error::CliError;
use super::place::{self, Ground};
use super::progress::Meter;
use super::{Options, store};
use desk::plan::{fit_lines, remaining};
use desk::record::{
    Adapter, Added, Completeness, Environment, Fact, LabKind, Metric, Plan, RUN_SCHEMA, Run,
    Sitting,
};
use desk::search;
use desk::verdict::enough;
use rig::run::{Orders, Stand, conduct};
use rig::store::Store;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// One sitting at one lab.
pub struct Session {
    /// The machine.
    pub environment: Environment,
    /// The other machines of the lab, by name.
    pub others: BTreeMap<String, Environment>,
    /// Name of the sitting.
    pub id: String,
    /// The command that repeats it.
    pub command: String,
    cancel: &'static AtomicBool,
    stand: Box<dyn Stand>,
    store: Store,
    runs: u32,
    left: Vec<String>,
    told: Vec<Fact>,
}

impl Session {
    /// Opens the store, looks at the machine and builds the lab.
    ///
    /// # Errors
    /// When records cannot be kept, or no lab of the wanted kind is to be had.
    pub fn begin(plan: &Plan, options: &Options, command: String) -> Result<Self, CliError> {
        place::refuse_boots(plan, options.lab)?;
        // Before anything is measured: a record that cannot be kept is not worth the time.
        let store = Store::open(&store::path(options.store.as_deref())?)?;
        let cancel = stop_flag()?;
        let Ground { stand, mut environment, others } = place::prepare(plan, options, cancel)?;
        environment.facts.extend(plan.told());
        environment.facts.sort_by(|a, b| a.key.cmp(&b.key));
        let id = format!("{}-{}", now().replace(['-', ':', 'Z'], "").replace('T', "-"), letters());
        let (left, told) = (Vec::new(), Vec::new());
        Ok(Self { environment, others, id, command, cancel, stand, store, runs: 0, left, told })
    }

    /// Keeps these facts with the runs from now on, in place of those told before.
    pub fn tell(&mut self, facts: Vec<Fact>) {
        self.told = facts;
    }

    /// The machine, with what was told.
    fn machine(&self) -> Environment {
        let mut machine = self.environment.clone();
        machine.facts.extend(self.told.iter().cloned());
        machine.facts.sort_by(|a, b| a.key.cmp(&b.key));
        machine
    }

    /// All machines of the lab, that of the system under test with what was told.
    #[must_use]
    pub fn machines(&self) -> BTreeMap<String, Environment> {
        let mut all = Run::of_local(self.machine());
        all.extend(self.others.clone());
        all
    }

    /// Where the hosts live.
    #[must_use]
    pub fn kind(&self) -> LabKind {
        self.environment.lab.as_ref().map_or(LabKind::Loopback, |(kind, _)| *kind)
    }

    /// Where the records are kept.
    #[must_use]
    pub fn kept_in(&self) -> &Path {
        self.store.path()
    }

    /// Why there, in words of the kernel.
    fn reason(&self) -> &str {
        self.environment.lab.as_ref().map_or("", |(_, why)| why)
    }

    /// Settings of the machine that could not be brought back, in words for the person.
    #[must_use]
    pub fn left(&self) -> &[String] {
        &self.left
    }

    /// Whether the person has asked to stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Runs a plan whose lab is this one.
    ///
    /// # Errors
    /// When the plan needs links and there are none, or they cannot be set up.
    pub fn run(&mut self, plan: &Plan, text: &str, meter: &mut Meter) -> Result<Run, CliError> {
        self.refuse_without_links(plan)?;
        let plan = self.fitted(self.named(plan), meter)?;
        self.runs += 1;
        let run = Run {
            schema: RUN_SCHEMA,
            id: format!("{}-{}", self.id, self.runs),
            started: now(),
            version: env!("CARGO_PKG_VERSION").into(),
            command: self.command.clone(),
            metrics: metrics(&plan),
            workloads: revisions(&plan),
            plan,
            plan_text: text.into(),
            environments: self.machines(),
            records: Vec::new(),
            completeness: Completeness::Partial { why: "it has only begun".into() },
            sittings: vec![sitting(0)],
            digits: None,
        };
        self.store.begin(&run, &run.sittings[0])?;
        self.go_on(run, 0.0, meter)
    }

    /// Goes on with a run of an earlier sitting, which began `before_s` seconds ago, and keeps that
    /// these blocks were added to it; its plan has them already.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn resume(
        &mut self,
        mut run: Run,
        (before_s, added): (f64, Option<Added>),
        meter: &mut Meter,
    ) -> Result<Run, CliError> {
        let sitting = Sitting { added, ..sitting(run.records.len()) };
        self.store.sit(&run.id, &sitting)?;
        run.sittings.push(sitting);
        self.go_on(run, before_s, meter)
    }

    /// Visits what is left of a run; every record is in the store before the next visit.
    fn go_on(&mut self, run: Run, before_s: f64, meter: &mut Meter) -> Result<Run, CliError> {
        let (plan, id) = (run.plan.clone(), run.id.clone());
        let trials = remaining(&plan, &run.records);
        // What was added is measured whatever an earlier look would say today.
        let past = run.sittings.iter().filter_map(|s| s.added).map(|a| a.to).max().unwrap_or(0);
        let kept = run.records.clone();
        let run = RefCell::new(run);
        let store = &mut self.store;
        let visited = conduct(
            self.stand.as_mut(),
            Orders {
                plan: &plan,
                trials,
                kept: &kept,
                before_s,
                keep: &mut |record| {
                    store.keep(&id, record).map_err(|e| e.to_string())?;
                    run.borrow_mut().records.push(record.clone());
                    Ok(())
                },
                enough: &mut |blocks| blocks > past && enough(&run.borrow(), blocks),
                tell: &mut |progress| {
                    meter.show(progress, &run.borrow());
                },
            },
        );
        meter.rest();
        let mut run = run.into_inner();
        let visited = visited?;
        (run.completeness, self.left) = (visited.completeness, visited.left);
        if let Err(e) = self.store.end(&run.id, &run.completeness) {
            // What was kept is kept, and what was measured is worth its report.
            run.completeness = Completeness::Partial { why: format!("its end was not kept: {e}") };
        }
        Ok(run)
    }

    /// The plan with the kernel's own congestion control called by its name.
    fn named(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        if let Some(own) = self.environment.fact("tcp.congestion_default") {
            let levels = plan.factors.iter_mut().flat_map(|f| &mut f.levels);
            let is_own = |name: &str| name == "kernel" || name == "kernel again";
            for level in levels.filter(|l| is_own(&l.name) && l.settings.len() == 1) {
                level.name = level.name.replace("kernel", &format!("{own} (the kernel's own)"));
            }
        }
        plan
    }

    /// The plan with loads that the lines of the lab's adapters carry; what was changed is said.
    fn fitted(&self, mut plan: Plan, meter: &mut Meter) -> Result<Plan, CliError> {
        let first = plan.lab.machines.first().map(|at| at.machine.clone());
        let line = |machine: &str, adapter: &str| {
            let is_first = first.as_deref() == Some(machine);
            let of = if is_first { Some(&self.environment) } else { self.others.get(machine) };
            let is = |one: &&Adapter| one.name == adapter || one.bus.as_deref() == Some(adapter);
            of?.adapters.iter().find(is)?.speed_now
        };
        for told in fit_lines(&mut plan, line)? {
            meter.say(&told);
        }
        Ok(plan)
    }

    /// A plan that changes links cannot run where there are none; said before anything is measured.
    ///
    /// # Errors
    /// The first such factor, why there are no links, and the remedy.
    pub fn refuse_without_links(&self, plan: &Plan) -> Result<(), CliError> {
        place::refuse_without_links(plan, self.kind(), self.reason())
    }
}

fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// A sitting that begins now, after so many records.
fn sitting(records: usize) -> Sitting {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let records_before = u32::try_from(records).unwrap_or(u32::MAX);
    Sitting { started: now(), boot: boot.trim().into(), records_before, added: None }
}

/// Three letters that tell apart what begins in the same second.
fn letters() -> String {
    let chance = RandomState::new().build_hasher().finish();
    (0..3)
        .map(|at| char::from(b'a' + u8::try_from(chance >> (8 * at) & 0xff).unwrap_or(0) % 26))
        .collect()
}

/// Metrics of the plan's workloads and searches, for the record to explain itself. Where two
/// workloads mean something else by one name, both metrics say whose they are.
pub fn metrics(plan: &Plan) -> Vec<Metric> {
    let mut metrics: Vec<(&str, Metric)> = Vec::new();
    for load in &plan.loads {
        let entry = loads::find(&load.workload);
        for metric in entry.into_iter().flat_map(|entry| entry.spec.described()) {
            if metrics.iter().all(|(of, known)| *of != load.workload || *known != metric) {
                metrics.push((&load.workload, metric));
            }
        }
    }
    let clashes = |one: &Metric| {
        let named = metrics.iter().filter(|(_, other)| other.name == one.name);
        named.clone().any(|(_, other)| other != one)
    };
    let mut told: Vec<Metric> = Vec::new();
    for (of, metric) in &metrics {
        let workload = clashes(metric).then(|| (*of).to_owned());
        let metric = Metric { workload, ..metric.clone() };
        if !told.contains(&metric) {
            told.push(metric);
        }
    }
    told.extend(search::metrics(plan, &told));
    told
}

/// Revision of every workload of the plan.
pub fn revisions(plan: &Plan) -> BTreeMap<String, u32> {
    let entries = plan.loads.iter().filter_map(|load| loads::find(&load.workload));
    entries.map(|entry| (entry.spec.name.to_owned(), entry.spec.revision)).collect()
}

/// A flag that the first interrupt, hang-up or request to end sets; the second ends the process
/// as if unhandled.
fn stop_flag() -> Result<&'static AtomicBool, CliError> {
    let flag = Arc::new(AtomicBool::new(false));
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    // Lives as long as the process: hosts look at it until they are dropped.
    let flag: &'static Arc<AtomicBool> = Box::leak(Box::new(flag));
    Ok(flag)
}
