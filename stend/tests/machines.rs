//! Knows that a lab of several machines measures what a lab of one measures: a conductor and three
//! agents in namespaces of their own, joined by adapters. What needs root is skipped aloud.
#![cfg(feature = "machines")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod joined;
#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::{Run, TrialRecord};
use joined::machines::{Machines, place};
use joined::{errors, good, must_be_equivalent, read};
use std::collections::{BTreeMap, BTreeSet};

/// What the names of the namespaces begin with.
const PREFIX: &str = "stend-lab";

/// Plans of two adapters, and of two servers at two sizes of packet.
const ADAPTERS: &str = r#"title = "Adapters"
lab.links = { plain = {}, other = {} }
factors.path.levels = ["plain", "other"]
method.blocks = 4
"#;
const SERVERS: &str = r#"title = "Servers"
factors.sut.levels = ["one", "two"]
factors.mtu.levels = ["1500 B", "1400 B"]
method.compare = "sut"
method.blocks = 4
"#;

/// What trials tell, without the figures: metrics, and what hosts and their processors were.
fn told(run: &Run) -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    for record in good(run) {
        for sample in &record.outcome.samples {
            told.insert(format!("{} {:?}", sample.metric, sample.quantity.unit));
        }
        let is_core = |probe: &str| ["process", "thread", "flap"].contains(&probe);
        for reading in record.readings.iter().filter(|reading| is_core(&reading.probe)) {
            // The switch of a lab of one machine is none of one with adapters.
            let own = reading.host.name() != "switch" && reading.host.machine() == "local";
            // A thread of the kernel is read where it ran; a link has its own name.
            if own && reading.probe != "flap" && !reading.key.starts_with("ksoftirqd") {
                told.insert(format!("{} {} {}", reading.probe, reading.host, reading.key));
            }
        }
    }
    told
}

/// Rates of a run by block and place of the level, bit/s.
fn rates(run: &Run, factor: &str) -> BTreeMap<(u32, usize), f64> {
    let levels = &run.plan.factors[0].levels;
    let place = |record: &TrialRecord| {
        let level = &record.trial.treatment.levels[factor];
        levels.iter().position(|known| known.name == *level).expect("a level of the plan")
    };
    let rate = |record: &&TrialRecord| {
        ((record.trial.block, place(record)), record.outcome.samples[0].quantity.value)
    };
    good(run).iter().map(rate).collect()
}

#[test]
fn a_plan_tells_on_several_machines_what_it_tells_on_one() {
    let Some(place) = place("machines", "\"one\"") else { return };
    let machines = Machines::lay(&place, PREFIX);
    moment::taken(|| machines.measure(&place, (ADAPTERS, "here"), false));
    moment::taken(|| machines.measure(&place, (ADAPTERS, "there"), true));
    let (here, there) = (read(&place, "here"), read(&place, "there"));
    assert_eq!(told(&here), told(&there));
    let names: Vec<&str> = there.environments.keys().map(String::as_str).collect();
    assert_eq!(names, ["load", "local"]);
    let levels: Vec<&str> =
        there.plan.factors[0].levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(levels, ["onboard", "card"], "links have the names of the lab");
    must_be_equivalent(&rates(&here, "path"), &rates(&there, "path"), "several machines");
    // The conductor ends when all adapters are back.
    assert_eq!(machines.adapters().len(), 6, "{:?}", machines.adapters());
}

#[test]
fn servers_take_turns_and_a_lost_one_ends_the_run_without_a_wrong_trial() {
    let Some(place) = place("servers", "[\"one\", \"two\"]") else { return };
    let mut machines = Machines::lay(&place, PREFIX);
    moment::taken(|| machines.measure(&place, (SERVERS, "out"), true));
    let run = read(&place, "out");
    assert!(run.environments.contains_key("two"), "{:?}", run.environments.keys());
    for record in good(&run) {
        let (level, seen) = (&record.trial.treatment.levels["sut"], &record.observed["sut"]);
        assert_eq!(seen.to_string(), *level);
        let mtu = &record.trial.treatment.levels["mtu"];
        assert_eq!(record.observed["mtu"].to_string(), *mtu, "it is set on both servers");
    }
    assert_eq!(rates(&run, "sut").len(), 8, "each server in each block");
    let wrong = machines.measure(&place, (&SERVERS.replace("\"two\"]", "\"load\"]"), "no"), true);
    assert!(errors(&wrong).contains("is no machine of roles.sut"), "{}", errors(&wrong));
    // The second server dies: its trials are faulty, and its guardian brings its adapters back.
    machines.agents.remove("two").expect("an agent").kill();
    let lost = machines.measure(&place, (SERVERS, "lost"), true);
    assert_ne!(lost.status.code(), Some(0));
    assert!(errors(&lost).contains("two (198.19.241.2:7000)"), "{}", errors(&lost));
    assert_eq!(machines.adapters().len(), 6, "{:?}", machines.adapters());
}
