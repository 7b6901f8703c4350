//! Knows that a lab of several machines measures what a lab of one measures, and that its doctor
//! tells what each machine lets a run do: a conductor and three agents in namespaces of their own,
//! joined by adapters. What needs root is skipped aloud.
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
use joined::machines::{MACHINES, Machines, journal, place};
use joined::{doctor, errors, good, inside, ip, must_be_equivalent, read, run, state, text};
use kill::STEND;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

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

/// A machine of which the doctor told.
fn told_of<'v>(said: &'v Value, name: &str) -> &'v Value {
    let machines = said["machines"].as_array().expect("a list");
    machines.iter().find(|machine| machine["name"] == name).expect("a machine")
}

/// A quantity of the doctor, seconds.
fn seconds(quantity: &Value) -> f64 {
    assert_eq!(quantity["unit"], "s");
    quantity["value"].as_f64().expect("a number")
}

#[test]
fn the_doctor_of_a_lab_tells_what_each_machine_lets_a_run_do_and_changes_nothing() {
    let Some(place) = place("lab_doctor", "\"one\"") else { return };
    let machines = Machines::lay(&place, PREFIX);
    let before = machines.adapters();
    let said = doctor(&place, &machines.conductor(), 0);
    assert_eq!(said["can_measure"], true);
    assert_eq!(said["machines"].as_array().map(Vec::len), Some(3));
    for name in MACHINES {
        let one = told_of(&said, name);
        let none = serde_json::json!([]);
        assert_eq!((text(one, "/state"), &one["problems"]), ("answers", &none), "{name}");
        // Runs of others on this machine may have left something at this moment.
        let remarks = one["remarks"].as_array().expect("a list").iter();
        let own = remarks.filter(|remark| !text(remark, "").starts_with("killed runs left"));
        assert_eq!(own.count(), 0, "{name}: {}", one["remarks"]);
        assert_eq!((&one["agent"]["root"], &one["agent"]["user"]), (&true.into(), &0.into()));
        assert_eq!(text(one, "/agent/version"), env!("CARGO_PKG_VERSION"));
        // All machines of this test have one clock.
        let (offset, bound) = (&one["clock"]["offset"], seconds(&one["clock"]["bound"]));
        assert!(seconds(offset).abs() <= bound && bound < 1.0, "{name}: {offset} within {bound}");
        for what in ["lab root", "journal of undos", "factor swappiness"] {
            assert_eq!(state(one, what), "ok", "{name}: {what}");
        }
        assert_eq!(
            (&one["control"], &one["control_shares"]),
            (&"[\"control\"]".parse().expect("JSON"), &none)
        );
        for (at, link, end) in [(0, "onboard", "a"), (1, "card", "b")] {
            let adapter = &one["adapters"][at];
            let (own, driver) = (format!("{name}-{end}"), text(adapter, "/driver"));
            assert_eq!((text(adapter, "/link"), text(adapter, "/name")), (link, own.as_str()));
            assert_eq!((driver, &adapter["refused"]), ("veth", &Value::Null), "{name}");
            let lacking = adapter["lacking"].as_array().expect("a list");
            let lacks = |factor: &str| lacking.iter().any(|one| one == factor);
            assert!(lacks("rx_ring") && !lacks("tso") && !lacks("mtu"), "{lacking:?}");
        }
    }
    assert_eq!(machines.adapters(), before);
    for (name, agent) in &machines.agents {
        assert!(kill::agents_of(agent.pid()).is_empty(), "{name}");
        assert!(!place.path.join(journal(name)).exists(), "{name}: nothing was written down");
    }
}

#[test]
fn a_machine_that_does_not_answer_hides_no_other_from_the_doctor_of_a_lab() {
    let Some(place) = place("lab_doctor_bad", "\"one\"") else { return };
    let mut machines = Machines::lay(&place, PREFIX);
    let con = machines.conductor();
    let lab = place.path.join("lab.toml");
    let gone = fs::read_to_string(&lab).expect("a lab file") + "[machines.gone]\n";
    fs::write(&lab, gone + "address = \"198.19.243.2:7000\"\n").expect("a lab file");
    machines.agents.remove("two").expect("an agent").kill();
    let removed = run(&place, &inside(&con, &[STEND, "lab", "remove", "load", "--dir", "lab"]));
    assert_eq!(removed.status.code(), Some(0), "{}", errors(&removed));
    machines.agents.remove("one").expect("an agent").kill();
    machines.serve_as_user(&place, "one");
    let one = machines.namespace("one");
    ip(&[
        format!("-n {one} address add 192.0.2.1/24 dev one-a"),
        format!("-n {one} link set one-b up"),
    ]);
    let said = doctor(&place, &con, 5);
    assert_eq!(said["can_measure"], false);
    let all = said["machines"].as_array().expect("a list");
    let states: Vec<_> = all.iter().map(|one| (text(one, "/name"), text(one, "/state"))).collect();
    let expected =
        [("two", "refused"), ("load", "not_trusted"), ("gone", "no_route"), ("one", "answers")];
    assert_eq!(states, expected);
    for (name, why) in [
        ("two", "start `stend agent listen 198.19.241.2:7000` on the machine"),
        ("load", "removed from the lab"),
        ("gone", "is it the address of the machine"),
    ] {
        let said = text(told_of(&said, name), "/problems/0");
        assert!(said.contains(why), "{said}");
    }
    let one = told_of(&said, "one");
    assert_eq!((&one["agent"]["user"], &one["agent"]["root"]), (&12_345.into(), &false.into()));
    assert!(one["agent"]["lacks"].as_array().expect("a list").contains(&"CAP_NET_ADMIN".into()));
    assert_eq!((state(one, "lab root"), state(one, "lab loopback")), ("absent", "ok"));
    assert_ne!(state(one, "factor swappiness"), "ok");
    let refused = text(one, "/adapters/0/refused");
    assert!(refused.contains("it has the address 192.0.2.1/24"), "{refused}");
    assert_eq!(
        (&one["adapters"][1]["up"], &one["adapters"][1]["refused"]),
        (&true.into(), &Value::Null)
    );
    let home = format!("{}/.local/state/stend/journal", place.path.join("home").display());
    let all = one["capabilities"].as_array().expect("a list");
    let journal = all.iter().find(|one| one["name"] == "journal of undos").expect("it");
    assert!(text(journal, "/evidence").starts_with(&home), "{journal}");
    let page = run(&place, &inside(&con, &[STEND, "lab", "doctor", "--dir", "lab"]));
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(
        page.starts_with("two (198.19.241.2:7000; no role): does not answer (refused)\n"),
        "{page}"
    );
    assert!(
        page.ends_with("0 of 4 machines can take part in a run; the lab cannot measure\n"),
        "{page}"
    );
}
