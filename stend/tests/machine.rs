//! Knows that a run on a machine over TCP is the run that it is over a pair of sockets: same plan,
//! same figures, whatever the other clock says; and that an agent which loses its conductor ends
//! its load and brings everything back. Both machines are namespaces of this one. What needs root
//! is skipped aloud.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::{Run, TrialRecord};
use desk::stats::{equivalence_p, log_ratio};
use kill::{Place, Running, STEND, signal, until};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use std::time::Duration;

const CONDUCTOR: &str = "stend-conductor";
const AGENT: &str = "stend-machine";
const ADDRESS: &str = "198.19.254.2:7000";
/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);
/// An agent that hears nothing ends after 5 s; what it then undoes takes its time.
const LEASE_AND_UNDO: Duration = Duration::from_secs(15);

/// A load whose rate the plan sets, so that figures can be compared on a machine that others use.
const PACED: &str = r#"title = "Paced"
[lab]
clients = 2
[factors.tso]
levels = ["on", "off"]
[load.net]
workload = "tcp_stream"
offered_load = "200 Mbit/s"
[load.memory]
workload = "mem_copy"
[method]
blocks = 3
dry = false
steady = "noted"
settle = "200 ms"
settle_max = "200 ms"
window = "300 ms"
"#;

/// A run without end that switches settings which every namespace of the machine has.
const SWITCHING: &str = r#"title = "Switched"
[lab]
clients = 1
[factors.tuned]
key = "profile"
[factors.tuned.levels.one]
thp = "always"
autogroup = "off"
[factors.tuned.levels.two]
thp = "never"
autogroup = "off"
[load.stream]
workload = "tcp_stream"
[method]
blocks = 900
dry = false
settle = "50 ms"
settle_max = "100 ms"
window = "100 ms"
"#;

/// Two namespaces with a cable between them, for control alone.
struct Cable;

impl Cable {
    fn lay() -> Self {
        let cable = Self;
        Self::remove();
        let words = [
            format!("netns add {CONDUCTOR}"),
            format!("netns add {AGENT}"),
            format!(
                "link add stend-m0 netns {CONDUCTOR} type veth peer name stend-m1 netns {AGENT}"
            ),
            format!("-n {CONDUCTOR} address add 198.19.254.1/30 dev stend-m0"),
            format!("-n {AGENT} address add 198.19.254.2/30 dev stend-m1"),
            format!("-n {CONDUCTOR} link set stend-m0 up"),
            format!("-n {AGENT} link set stend-m1 up"),
        ];
        for line in words {
            let made = Command::new("ip").args(line.split(' ')).status().expect("iproute2");
            assert!(made.success(), "ip {line}");
        }
        cable
    }

    fn remove() {
        for name in [CONDUCTOR, AGENT] {
            let _ = Command::new("ip").args(["netns", "delete", name]).output();
        }
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        Self::remove();
    }
}

/// A place with a plan and a key; none where namespaces cannot be had.
fn place(name: &str, plan: &str) -> Option<(Place, Cable)> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, for two namespaces with a cable");
        return None;
    }
    let place = Place::new(name);
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    for (key, digits) in [("key", "0f"), ("other", "0e")] {
        let key = place.path.join(key);
        fs::write(&key, digits.repeat(32)).expect("a key");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("a key of ours");
    }
    Some((place, Cable::lay()))
}

fn inside<'w>(namespace: &'w str, words: &[&'w str]) -> Vec<String> {
    let enter = ["nsenter".to_owned(), format!("--net=/run/netns/{namespace}"), "env".to_owned()];
    enter.into_iter().chain(words.iter().map(|word| (*word).to_owned())).collect()
}

/// An agent whose clock is planted, once it listens.
fn agent(place: &Place, clock: &str) -> Running {
    let clock = format!("STEND_TEST_CLOCK={clock}");
    let words = inside(AGENT, &[&clock, STEND, "agent", "listen", ADDRESS, "key"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let agent = place.start_logged(&words, "agent.log");
    let listens = || {
        let sockets = ["netns", "exec", AGENT, "cat", "/proc/net/tcp"];
        let sockets = Command::new("ip").args(sockets).output().expect("iproute2");
        // Port 7000, in the state of listening: proc(5).
        String::from_utf8_lossy(&sockets.stdout).contains(":1B58 00000000:0000 0A")
    };
    assert!(until(LIMIT, listens).is_some(), "{}", log(place));
    agent
}

fn log(place: &Place) -> String {
    fs::read_to_string(place.path.join("agent.log")).unwrap_or_default()
}

/// The words of a run whose machine is the agent.
fn over_tcp(key: &str, out: &str) -> Vec<String> {
    let (machine, key) = (format!("STEND_MACHINE={ADDRESS}"), format!("STEND_KEY={key}"));
    inside(CONDUCTOR, &[&machine, &key, STEND, "run", "plan.toml", "--out", out])
}

fn run(place: &Place, words: &[String]) -> Output {
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn read(place: &Place, out: &str) -> Run {
    let text = fs::read_to_string(place.path.join(out).join("records.json")).expect("records");
    serde_json::from_str(&text).expect("a run")
}

fn good(run: &Run) -> Vec<&TrialRecord> {
    let good: Vec<_> = run.records.iter().filter(|r| r.outcome.fault.is_none()).collect();
    let machine = |r: &TrialRecord| r.outcome.fault.as_ref().is_none_or(moment::of_the_machine);
    assert!(run.records.iter().all(machine), "{:?}", run.records.iter().map(|r| &r.outcome.fault));
    assert!(good.len() >= 6, "{} good visits", good.len());
    good
}

/// What a run tells, without the figures: metrics and readings with their units, facts.
fn told(run: &Run) -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    for record in good(run) {
        let load = &record.trial.point.load;
        for sample in &record.outcome.samples {
            told.insert(format!("{load} {} {:?}", sample.metric, sample.quantity.unit));
        }
        for reading in &record.readings {
            let (probe, host, key) = (&reading.probe, &reading.host, &reading.key);
            // What other probes tell is not in every run: disks, queues, pressure.
            let always = ["cpu", "process", "probe", "flap", "ceiling"].contains(&probe.as_str());
            // A thread of the kernel is read where it ran at all.
            if always && !key.starts_with("ksoftirqd") {
                told.insert(format!("{load} {probe} {host} {key} {:?}", reading.quantity.unit));
            }
        }
        told.extend(record.observed.keys().map(|key| format!("{load} observed {key}")));
    }
    told.extend(run.environment().facts.iter().map(|fact| format!("fact {}", fact.key)));
    told
}

/// Rate of the paced load at a level, bit/s, by block.
fn rates(run: &Run, level: &str) -> BTreeMap<u32, f64> {
    let at = |record: &&&TrialRecord| {
        let tso = record.trial.settings.get("tso").map(ToString::to_string);
        record.trial.point.load == "net" && tso.as_deref() == Some(level)
    };
    let records = good(run);
    let of = |record: &&TrialRecord| (record.trial.block, record.outcome.samples[0].quantity.value);
    records.iter().filter(at).map(of).collect()
}

/// Whether two runs are equivalent within a margin of 5 %, by two one-sided tests over the blocks
/// that both have.
fn must_be_equivalent(pair: &Run, tcp: &Run, what: &str) {
    for level in ["on", "off"] {
        let (ours, theirs) = (rates(pair, level), rates(tcp, level));
        let log = |(block, rate): (&u32, &f64)| log_ratio(*rate, *theirs.get(block)?);
        let logs: Vec<f64> = ours.iter().filter_map(log).collect();
        let p = equivalence_p(&logs, 0.05);
        assert!(p.is_some_and(|p| p < 0.05), "{what}, tso {level}: p {p:?} of {logs:?}");
    }
}

#[test]
fn a_run_over_tcp_tells_what_one_over_sockets_tells_whatever_the_other_clock_says() {
    let Some((place, _cable)) = place("tcp", PACED) else { return };
    // In the namespace of the agent: facts of the network are those of where it runs.
    let words = inside(AGENT, &[STEND, "run", "plan.toml", "--out", "pair"]);
    moment::taken(|| run(&place, &words));
    let pair = read(&place, "pair");
    for (out, clock) in [("ahead", "3,100"), ("behind", "-3,-100")] {
        moment::taken(|| {
            let agent = agent(&place, clock);
            let output = run(&place, &over_tcp("key", out));
            assert_eq!(agent.wait(), Some(0), "{}", log(&place));
            output
        });
        let tcp = read(&place, out);
        let (a, b) = (told(&pair), told(&tcp));
        assert_eq!(
            a.symmetric_difference(&b).collect::<Vec<_>>(),
            Vec::<&String>::new(),
            "{clock}"
        );
        must_be_equivalent(&pair, &tcp, clock);
    }
}

#[test]
fn an_agent_that_loses_its_conductor_ends_its_load_and_brings_everything_back() {
    let Some((place, _cable)) = place("lease", SWITCHING) else { return };
    for (word, ends) in [(Signal::KILL, LIMIT), (Signal::STOP, LEASE_AND_UNDO)] {
        let agent = agent(&place, "0,0");
        let pid = agent.pid();
        let words = over_tcp("key", "out");
        let conductor =
            place.start_logged(&words.iter().map(String::as_str).collect::<Vec<_>>(), "log");
        let switched = until(LIMIT, || place.switched() == 2);
        assert!(switched.is_some(), "{}", log(&place));
        signal(conductor.pid(), word);
        let back = until(ends, || place.left_by(pid).is_empty());
        assert!(back.is_some(), "{word:?}: {:?}", place.left_by(pid));
        let status = agent.wait();
        // A stopped conductor holds its end open: the lease has ended, which is an error.
        assert_eq!(status == Some(0), word == Signal::KILL, "{word:?}: {}", log(&place));
    }
}

#[test]
fn a_conductor_with_another_key_is_refused_and_nothing_is_raised() {
    let Some((place, _cable)) = place("wrong-key", PACED) else { return };
    let agent = agent(&place, "0,0");
    let output = run(&place, &over_tcp("other", "out"));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("has another key"), "{words}");
    let pid = agent.pid();
    assert_ne!(agent.wait(), Some(0));
    assert!(log(&place).contains("has another key"), "{}", log(&place));
    assert_eq!(place.left_by(pid), Vec::<String>::new());
}

#[test]
fn an_agent_that_ends_leaves_the_conductor_with_faults_and_no_hang() {
    let Some((place, _cable)) = place("agent-ends", PACED) else { return };
    let agent = agent(&place, "0,0");
    let pid = agent.pid();
    let words = over_tcp("key", "out");
    let conductor =
        place.start_logged(&words.iter().map(String::as_str).collect::<Vec<_>>(), "log");
    // From the first change on, the agent has a guardian.
    let named = |left: &String| left.starts_with("/run/netns");
    let raised = until(LIMIT, || place.left_by(pid).iter().any(named));
    assert!(raised.is_some(), "{}", log(&place));
    agent.kill();
    assert_ne!(conductor.wait(), Some(0));
    // The agent's guardian removes what its journal holds.
    let gone = until(LIMIT, || place.left_by(pid).is_empty());
    assert!(gone.is_some(), "{:?}", place.left_by(pid));
}
