//! Knows how a plan is read and run in the simulated lab, all of it in memory.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::plan::{Catalogue, order, read};
use desk::record::{Completeness, Plan, RUN_SCHEMA, Run, TrialRecord};
use desk::search;
use rig::factor;
use rig::lab::sim::{self, Physics};
use rig::run::{Orders, Simulated, conduct};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A plan as the product reads it.
pub fn plan(text: &str) -> Plan {
    let workloads: Vec<_> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    read(text, &catalogue).map_err(|e| e.to_string()).expect("a plan")
}

/// A physics as the product reads it.
pub fn physics(text: &str) -> Physics {
    Physics::read(text).map_err(|e| e.to_string()).expect("a physics")
}

/// A whole run in memory. Every record was kept when it was made, and where the physics plants no
/// fault the run comes to its end.
pub fn run(plan: &Plan, physics: &Physics) -> Run {
    let mut kept: Vec<TrialRecord> = Vec::new();
    let orders = Orders {
        plan,
        trials: order(plan).into_iter().map(|trial| (trial, 1)).collect(),
        kept: &[],
        before_s: 0.0,
        keep: &mut |record| {
            kept.push(record.clone());
            Ok(())
        },
        enough: &mut |_| false,
        tell: &mut |_| (),
    };
    let visited = conduct(&mut Simulated::new(physics.clone(), loads::ALL, &NEVER), orders)
        .expect("a simulated lab");
    assert_eq!(kept, visited.records);
    if physics.faults.is_empty() {
        assert_eq!(visited.completeness, Completeness::Complete);
    }
    let of_loads = plan.loads.iter().filter_map(|load| loads::find(&load.workload));
    let mut metrics: Vec<_> = of_loads.flat_map(|entry| entry.spec.described()).collect();
    metrics.extend(search::metrics(plan, &metrics));
    Run {
        schema: RUN_SCHEMA,
        id: "simulated".into(),
        started: "2026-01-01T00:00:00Z".into(),
        version: "0".into(),
        command: String::new(),
        workloads: BTreeMap::new(),
        metrics,
        plan: plan.clone(),
        plan_text: String::new(),
        environments: Run::of_local(sim::environment(physics, "test.toml", &["lan".into()])),
        records: visited.records,
        completeness: visited.completeness,
        sittings: Vec::new(),
        digits: None,
    }
}
