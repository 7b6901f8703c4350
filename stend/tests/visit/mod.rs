//! Knows how a plan is read, how a lab is built for it on this machine, and how a trial is visited
//! until nothing from outside disturbs it. What cannot be had is said aloud.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use crate::moment;
use desk::plan::{Catalogue, order, read};
use desk::record::{LabKind, Plan, Trial, TrialKind, TrialRecord, WorkloadSpec};
use rig::factor;
use rig::lab::machine::Machine;
use rig::lab::{Blueprint, Wanted};
use rig::run::Bench;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a trial is visited at most.
const VISITS: usize = 5;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static NEVER: AtomicBool = AtomicBool::new(false);

/// Labs of a test program stand one at a time: their loads share the CPUs.
pub fn lock() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A plan of this text, or why there is none.
pub fn parse(text: &str) -> Result<Plan, String> {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    read(text, &catalogue).map_err(|e| e.to_string())
}

/// This machine, with an agent.
pub fn machine() -> Machine {
    let binary = Path::new(env!("CARGO_BIN_EXE_stend"));
    rig::keeper::here(binary, &NEVER).expect("an agent")
}

/// A lab of a plan.
pub fn build(plan: &Plan, wanted: Wanted) -> Bench {
    let blueprint = Blueprint { wanted, lab: plan.lab.clone() };
    Bench::build(&blueprint, loads::ALL, vec![machine()]).expect("a lab")
}

/// A lab of a plan in namespaces; none where this user has none.
pub fn in_namespaces(plan: &Plan) -> Option<Bench> {
    of_kind(plan, |kind| kind != LabKind::Loopback)
}

/// A lab of a plan in namespaces of root; none where this user is not root.
pub fn as_root(plan: &Plan) -> Option<Bench> {
    of_kind(plan, |kind| kind == LabKind::RootNamespaces)
}

fn of_kind(plan: &Plan, is: impl Fn(LabKind) -> bool) -> Option<Bench> {
    // Without namespaces a plan with hosts between links has no lab at all.
    if !is(LabKind::UserNamespaces) && !rustix::process::geteuid().is_root() {
        println!("skipped: needs root");
        return None;
    }
    let bench = build(plan, Wanted::Best);
    if is(bench.lab.kind) {
        return Some(bench);
    }
    println!("skipped: needs namespaces: {}", bench.lab.reason);
    None
}

/// The first counted trial of a plan.
pub fn first(plan: &Plan) -> Trial {
    let mut all = order(plan).into_iter();
    all.find(|trial| trial.kind == TrialKind::Counted).expect("a trial")
}

/// The record of a visit that the machine of this moment did not disturb; none after some tries.
pub fn undisturbed(bench: &mut Bench, plan: &Plan, trial: &Trial) -> Option<TrialRecord> {
    for _ in 0..VISITS {
        let visited = bench.run(plan, vec![trial.clone()], &mut |_| ()).expect("a run");
        let record = visited.records.last().expect("a record").clone();
        match &record.outcome.fault {
            Some(fault) if moment::of_the_machine(fault) => println!("again: {fault}"),
            _ => return Some(record),
        }
    }
    println!("skipped: the machine disturbed every visit");
    None
}
