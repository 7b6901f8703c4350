//! Knows what every measuring verb shares: the machine, the stop flag, a run from plan to record.

use super::error::CliError;
use super::progress::Meter;
use desk::plan::order;
use desk::record::{Environment, LabKind, Metric, Plan, RUN_SCHEMA, Run, Scope};
use rig::factor;
use rig::lab::{Blueprint, LabError, Wanted, environment};
use rig::run::{Bench, RunError, Stand as _};
use rig::workload;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// One sitting at one lab.
pub struct Session {
    /// The machine.
    pub environment: Environment,
    /// When it began, RFC 3339 UTC.
    pub started: String,
    /// Name of the sitting.
    pub id: String,
    /// The command that repeats it.
    pub command: String,
    cancel: &'static AtomicBool,
    bench: Bench,
    runs: u32,
}

impl Session {
    /// Looks at the machine and builds the lab.
    ///
    /// # Errors
    /// When no lab of the wanted kind is to be had.
    pub fn begin(plan: &Plan, wanted: Wanted, command: String) -> Result<Self, CliError> {
        factor::refuse(plan, Path::new("/")).map_err(RunError::Factor)?;
        let cancel = stop_flag()?;
        let mut environment = environment::observe(Path::new("/"));
        environment::complete_adapters(&mut environment);
        let links = plan.lab.links.iter().map(|l| l.name.clone()).collect();
        let binary = std::env::current_exe()?;
        let blueprint = Blueprint { wanted, clients: plan.lab.clients, links, binary };
        let asked = matches!(wanted, Wanted::Only(_));
        let bench = Bench::build(blueprint, cancel).map_err(|e| match e {
            RunError::Lab(LabError::Cancelled) => CliError::Run(e),
            e if asked => CliError::Place(e),
            e => CliError::Run(e),
        })?;
        environment.facts.push(bench.lab.groups_fact());
        environment.facts.extend(factor::facts(plan, Path::new("/")));
        environment.facts.sort_by(|a, b| a.key.cmp(&b.key));
        environment.lab = Some((bench.lab.kind, bench.lab.reason.clone()));
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let id = started.replace(['-', ':'], "").replace('T', "-").replace('Z', "");
        Ok(Self { environment, started, id, command, cancel, bench, runs: 0 })
    }

    /// Where the hosts live.
    #[must_use]
    pub const fn kind(&self) -> LabKind {
        self.bench.lab.kind
    }

    /// Settings of the machine that could not be brought back, in words for the person.
    #[must_use]
    pub fn left(&self) -> &[String] {
        self.bench.left()
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
        let plan = &self.named(plan);
        let trials = order(plan);
        let title = plan.title.clone();
        let visited = self.bench.run(plan, trials, &mut |progress| {
            meter.show(&title, progress.done, progress.planned, progress.last);
        })?;
        self.runs += 1;
        Ok(Run {
            schema: RUN_SCHEMA,
            id: format!("{}-{}", self.id, self.runs),
            started: self.started.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            command: self.command.clone(),
            metrics: metrics(plan),
            plan: plan.clone(),
            plan_text: text.into(),
            environment: self.environment.clone(),
            records: visited.records,
            completeness: visited.completeness,
            sittings: Vec::new(),
        })
    }

    /// The plan with the kernel's own congestion control called by its name.
    fn named(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        if let Some(own) = self.environment.fact("tcp.congestion_default") {
            let levels = plan.factors.iter_mut().flat_map(|f| &mut f.levels);
            for level in levels.filter(|l| l.name == "kernel" && l.settings.len() == 1) {
                level.name = format!("{own} (the kernel's own)");
            }
        }
        plan
    }

    /// A plan that changes links cannot run where there are none; said before anything is measured.
    ///
    /// # Errors
    /// The first such factor, why there are no links, and the remedy.
    pub fn refuse_without_links(&self, plan: &Plan) -> Result<(), CliError> {
        if self.kind() != LabKind::Loopback {
            return Ok(());
        }
        let levels = plan.factors.iter().flat_map(|f| &f.levels).map(|l| &l.settings);
        let links = plan.lab.links.iter().map(|l| &l.settings);
        let all = levels.chain(links).chain([&plan.lab.settings]);
        let mut keys = all.flat_map(|settings| settings.keys());
        let linked = |key: &&String| {
            let spec = factor::ALL.iter().find(|f| f.name == key.as_str());
            spec.is_some_and(|f| matches!(f.scope, Scope::Link | Scope::Host | Scope::Path))
        };
        match keys.find(linked) {
            None => Ok(()),
            Some(factor) => Err(CliError::NoLinks {
                factor: factor.clone(),
                why: match self.bench.lab.reason.as_str() {
                    "" => "the lab is the loopback interface".into(),
                    reason => format!("the kernel refused namespaces ({reason})"),
                },
                remedy: match self.bench.lab.reason.as_str() {
                    "" => "leave out --lab loopback",
                    _ => "run as root, or allow user namespaces (sysctl user.max_user_namespaces)",
                },
            }),
        }
    }
}

/// Metrics of the plan's workloads, for the record to explain itself.
fn metrics(plan: &Plan) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for load in &plan.loads {
        let specs = workload::find(&load.workload).map_or(&[][..], |entry| entry.spec.metrics);
        for metric in specs.iter().map(Metric::from) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
    }
    metrics
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
