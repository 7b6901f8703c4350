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
use joined::{
    Joiner, LIMIT, errors, good, inside, ip, join, listens, must_be_equivalent, read, run,
};
use kill::{Place, Running, STEND, until};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Output};

const CONDUCTOR: &str = "stend-lab-con";
/// Machine, its namespace, and the network for control.
const MACHINES: [(&str, &str, &str); 3] = [
    ("one", "stend-lab-one", "198.19.240"),
    ("two", "stend-lab-two", "198.19.241"),
    ("load", "stend-lab-load", "198.19.242"),
];

/// Every machine has two adapters; those of a kind are ports of one switch.
const LAB: &str = r#"
[machines.one]
address = "198.19.240.2:7000"
[machines.two]
address = "198.19.241.2:7000"
[machines.load]
address = "198.19.242.2:7000"
[roles]
sut = SUT
clients = "load"
[links.onboard]
one = "one-a"
two = "two-a"
load = "load-a"
[links.card]
one = "one-b"
two = "two-b"
load = "load-b"
"#;

/// Plans of two adapters, and of two servers at two sizes of packet.
const ADAPTERS: &str = r#"title = "Adapters"
lab.links = { plain = {}, other = {} }
factors.path.levels = ["plain", "other"]
"#;
const SERVERS: &str = r#"title = "Servers"
factors.sut.levels = ["one", "two"]
factors.mtu.levels = ["1500 B", "1400 B"]
method.compare = "sut"
"#;

/// A load whose rate the plan sets, so that figures can be compared on a machine that others use.
const PACED: &str = r#"
lab.clients = 2
load.net = { workload = "tcp_stream", offered_load = "200 Mbit/s" }
method.blocks = 4
method.dry = false
method.steady = "noted"
method.settle = "200 ms"
method.settle_max = "200 ms"
method.window = "300 ms"
"#;

/// Namespaces, cables and agents; all is gone when it is dropped.
struct Machines {
    agents: Vec<Running>,
}

impl Machines {
    fn remove() {
        joined::remove(&MACHINES.map(|(_, namespace, _)| namespace));
        joined::remove(&[CONDUCTOR]);
    }

    fn lay(place: &Place) -> Self {
        Self::remove();
        let mut lines = vec![format!("netns add {CONDUCTOR}")];
        for kind in ["a", "b"] {
            lines.push(format!("-n {CONDUCTOR} link add name br-{kind} type bridge"));
            lines.push(format!("-n {CONDUCTOR} link set br-{kind} up"));
        }
        for (name, namespace, network) in MACHINES {
            let con = format!("-n {CONDUCTOR}");
            let pair = |ours: &str, theirs: &str| {
                let peer = format!("type veth peer name {theirs} netns {namespace}");
                format!("link add {ours} netns {CONDUCTOR} {peer}")
            };
            lines.push(format!("netns add {namespace}"));
            lines.push(pair(&format!("c-{name}"), "control"));
            lines.push(format!("{con} address add {network}.1/30 dev c-{name}"));
            lines.push(format!("{con} link set c-{name} up"));
            lines.push(format!("-n {namespace} address add {network}.2/30 dev control"));
            lines.push(format!("-n {namespace} link set control up"));
            for kind in ["a", "b"] {
                lines.push(pair(&format!("{kind}-{name}"), &format!("{name}-{kind}")));
                lines.push(format!("{con} link set {kind}-{name} master br-{kind}"));
                lines.push(format!("{con} link set {kind}-{name} up"));
            }
        }
        ip(&lines);
        let made = run(place, &inside(CONDUCTOR, &[STEND, "lab", "init", "--dir", "lab"]));
        assert_eq!(made.status.code(), Some(0), "{}", errors(&made));
        Self { agents: MACHINES.map(|machine| agent(place, machine)).into_iter().collect() }
    }

    /// Names of adapters that are back on their machines.
    fn adapters() -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (name, namespace, _) in MACHINES {
            let list = ["-n", namespace, "-o", "link"];
            let list = Command::new("ip").args(list).output().expect("iproute2");
            let text = String::from_utf8_lossy(&list.stdout).into_owned();
            let all = text.lines().filter_map(|line| line.split(": ").nth(1)?.split('@').next());
            names.extend(all.filter(|own| own.starts_with(name)).map(str::to_owned));
        }
        names
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.agents.clear();
        Self::remove();
    }
}

/// Joins a machine and starts its agent, with a sysfs and names of namespaces of its own, as a
/// computer has them.
fn agent(place: &Place, (name, namespace, network): (&str, &str, &str)) -> Running {
    let invites = format!("{network}.1:7711");
    let (joined, said) = join(place, (CONDUCTOR, &invites), &Joiner { name, namespace, dir: name });
    assert_eq!(joined.status.code(), Some(0), "{said}{}", errors(&joined));
    let own = "mount -t tmpfs none /run/netns; exec \"$@\"";
    let journal = format!("STEND_JOURNAL=journal-{name}");
    let address = format!("{network}.2:7000");
    let words = ["ip", "netns", "exec", namespace, "sh", "-c", own, "sh", "env", &journal];
    let serve = [STEND, "agent", "listen", &address, "--dir", name];
    let agent = place.start_logged(&[&words[..], &serve].concat(), &format!("{name}.log"));
    assert!(until(LIMIT, || listens(namespace)).is_some(), "{name}: {}", logs(place));
    agent
}

fn logs(place: &Place) -> String {
    let read = |name| fs::read_to_string(place.path.join(format!("{name}.log")));
    MACHINES.iter().filter_map(|(name, ..)| read(name).ok()).collect()
}

/// A place with a lab of three machines, of which these can be the system under test; none where
/// namespaces cannot be had.
fn lab(name: &str, sut: &str) -> Option<(Place, Machines)> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, for namespaces with adapters");
        return None;
    }
    let place = Place::new(name);
    fs::write(place.path.join("lab.toml"), LAB.replace("SUT", sut)).expect("a lab file");
    let machines = Machines::lay(&place);
    Some((place, machines))
}

/// Runs a plan, on the machines of the lab file or on this one.
fn measure(place: &Place, (plan, out): (&str, &str), machines: bool) -> Output {
    fs::write(place.path.join("plan.toml"), plan.to_owned() + PACED).expect("a plan");
    let words = ["STEND_LAB_DIR=lab", STEND, "run", "plan.toml", "--out", out];
    let more: &[&str] = if machines { &["--machines", "lab.toml"] } else { &[] };
    run(place, &inside(CONDUCTOR, &[&words[..], more].concat()))
}

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
    let Some((place, _machines)) = lab("machines", "\"one\"") else { return };
    moment::taken(|| measure(&place, (ADAPTERS, "here"), false));
    moment::taken(|| measure(&place, (ADAPTERS, "there"), true));
    let (here, there) = (read(&place, "here"), read(&place, "there"));
    assert_eq!(told(&here), told(&there));
    let names: Vec<&str> = there.environments.keys().map(String::as_str).collect();
    assert_eq!(names, ["load", "local"]);
    let levels: Vec<&str> =
        there.plan.factors[0].levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(levels, ["onboard", "card"], "links have the names of the lab");
    must_be_equivalent(&rates(&here, "path"), &rates(&there, "path"), "several machines");
    // The conductor ends when all adapters are back.
    assert_eq!(Machines::adapters().len(), 6, "{:?}", Machines::adapters());
}

#[test]
fn servers_take_turns_and_a_lost_one_ends_the_run_without_a_wrong_trial() {
    let Some((place, mut machines)) = lab("servers", "[\"one\", \"two\"]") else { return };
    moment::taken(|| measure(&place, (SERVERS, "out"), true));
    let run = read(&place, "out");
    assert!(run.environments.contains_key("two"), "{:?}", run.environments.keys());
    for record in good(&run) {
        let (level, seen) = (&record.trial.treatment.levels["sut"], &record.observed["sut"]);
        assert_eq!(seen.to_string(), *level);
        let mtu = &record.trial.treatment.levels["mtu"];
        assert_eq!(record.observed["mtu"].to_string(), *mtu, "it is set on both servers");
    }
    assert_eq!(rates(&run, "sut").len(), 8, "each server in each block");
    let wrong = measure(&place, (&SERVERS.replace("\"two\"]", "\"load\"]"), "no"), true);
    assert!(errors(&wrong).contains("is no machine of roles.sut"), "{}", errors(&wrong));
    // The second server dies: its trials are faulty, and its guardian brings its adapters back.
    machines.agents.remove(1).kill();
    let lost = measure(&place, (SERVERS, "lost"), true);
    assert_ne!(lost.status.code(), Some(0));
    assert!(errors(&lost).contains("two (198.19.241.2:7000)"), "{}", errors(&lost));
    assert_eq!(Machines::adapters().len(), 6, "{:?}", Machines::adapters());
}
