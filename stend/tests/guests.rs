//! Knows that machines in software emulation join a lab and serve runs, that the drivers of the
//! published adapters take or refuse settings there, and what becomes of a run when such a machine
//! loses its cable, is stopped or boots again. What QEMU or a kernel is missing for is skipped
//! aloud.
#![cfg(feature = "machines")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::plan::order;
use desk::record::{Completeness, Counted, Environment, Fault, Run};
use kill::{Place, Running, STEND, signal, until};
use rig::lab::machine::{LEASE, Machine, Tls};
use rig::lab::trust::Conductor;
use rig::store::Store;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// Two guests boot in a quarter of a minute on two CPUs.
const BOOT: Duration = Duration::from_secs(240);
/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);

/// A load over the first adapters of servers that take turns, with these levels of a factor.
const PLAN: &str = r#"title = "Guests"
factors.sut.levels = ["server1", "server2"]
factors.FACTOR.levels = LEVELS
load.net = { workload = "tcp_stream" }
method.compare = "sut"
method.blocks = 3
method.window = "500 ms"
"#;

/// Short visits to one client, for both plans.
const SHORT: &str = r#"
lab.clients = 1
method.dry = false
method.steady = "noted"
method.settle = "200 ms"
method.settle_max = "200 ms"
"#;

/// Where a kernel is, if guests can be had here; why not is told.
fn kernel() -> Option<PathBuf> {
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        println!("skipped: needs qemu-system-x86_64, of the package qemu-system-x86");
        return None;
    }
    let named = std::env::var_os("STEND_GUEST_KERNEL").filter(|path| !path.is_empty());
    let root = named.map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let mut images = fs::read_dir(root.join("boot")).into_iter().flatten().flatten();
    if !images.any(|image| image.file_name().to_string_lossy().starts_with("vmlinuz-")) {
        let root = root.display();
        println!("skipped: no kernel in {root}; STEND_GUEST_KERNEL names an unpacked package");
        return None;
    }
    Some(root)
}

/// Servers with these adapters, and the guest with the clients.
fn boot(place: &Place, kernel: &Path, adapters: &[&str]) -> Running {
    let made = place.stend(&["lab", "init", "--dir", "lab"]);
    assert!(made.status.success(), "{}", said(&made));
    let kernel = kernel.to_string_lossy();
    let words = ["lab", "guests", "--dir", "lab", "--kernel", &kernel];
    let servers: Vec<&str> = adapters.iter().flat_map(|one| ["--server", *one]).collect();
    let guests = place.start(&[&words[..], &servers].concat());
    let joined = until(BOOT, || place.path.join("lab.toml").exists());
    let log = || fs::read_to_string(place.path.join("log")).unwrap_or_default();
    assert!(joined.is_some(), "{}", log());
    guests
}

/// Where guests have their consoles and take orders.
fn scratch(guests: &Running) -> PathBuf {
    std::env::temp_dir().join(format!("stend-guests-{}", guests.pid()))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run on the guests, with these levels of a factor.
fn run(place: &Place, factor: &str, levels: &str) -> Output {
    let plan = PLAN.replace("FACTOR", factor).replace("LEVELS", levels) + SHORT;
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    let words = ["env", "STEND_LAB_DIR=lab", STEND, "run", "plan.toml", "--machines", "lab.toml"];
    place.run(&[&words[..], &["--out", factor]].concat())
}

/// Emulators that guests of this place left.
fn emulators(place: &Place) -> Vec<String> {
    let marks = place.path.to_string_lossy().into_owned();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| {
        let words = fs::read(entry.path().join("cmdline")).ok()?;
        let at = fs::read_link(entry.path().join("cwd")).ok()?;
        let ours = words.starts_with(b"qemu-system") && at.to_string_lossy() == marks;
        ours.then(|| entry.file_name().to_string_lossy().into_owned())
    });
    lines.collect()
}

#[test]
#[ignore = "two minutes: ./test full"]
fn guests_serve_runs_and_their_drivers_take_or_refuse_settings() {
    let Some(kernel) = kernel() else { return };
    let place = Place::new("guests");
    let guests = boot(&place, &kernel, &["e1000-82540em", "e1000e-82574l"]);
    assert_eq!(emulators(&place).len(), 3);
    let taken = run(&place, "rx_ring", "[128, 256]");
    let records = fs::read_to_string(place.path.join("rx_ring/records.json"));
    assert!(records.is_ok(), "{}", said(&taken));
    let records: Run = serde_json::from_str(&records.expect("records")).expect("a run");
    let of = |machine: &str| {
        let found = records.environments.get(machine).expect(machine);
        assert_eq!(found.cpu.hypervisor.as_deref(), Some("QEMU software emulation (TCG)"));
        let eth1 = found.adapters.iter().find(|adapter| adapter.name == "eth1").expect("eth1");
        assert_eq!((eth1.tx_ring, eth1.rx_ring, eth1.bus.is_some()), (Some(256), Some(256), true));
        (eth1.driver.clone(), eth1.device_id.clone(), eth1.firmware.is_some())
    };
    assert_eq!(of("local"), (Some("e1000".into()), Some("8086:100e".into()), false));
    assert_eq!(of("server2"), (Some("e1000e".into()), Some("8086:10d3".into()), true));
    let good: Vec<_> = records.records.iter().filter(|r| r.outcome.fault.is_none()).collect();
    let seen: BTreeSet<String> = good.iter().map(|r| r.observed["sut"].to_string()).collect();
    assert_eq!(seen.len(), 2, "{}", said(&taken));
    for record in good {
        let set = record.trial.settings.get("rx_ring").map(ToString::to_string);
        let read = record.observed.get("rx_ring").map(ToString::to_string);
        assert!(set.is_some() && set == read, "{set:?}, {read:?}");
    }
    let article = fs::read_to_string(place.path.join("rx_ring/report.md")).expect("an article");
    assert!(article.contains("Emulation: software computes these machines"), "{article}");
    assert!(article.contains("**No verdict on sut server2 and sut server1"), "{article}");
    assert!(!article.contains("What to do"), "{article}");
    let page = fs::read_to_string(place.path.join("rx_ring/report.html")).expect("an article");
    for words in ["server2: eth1", "8086:10d3", "256 and 256 descriptors"] {
        assert!(page.contains(words), "{words}");
    }
    let refused = run(&place, "rx_usecs", "[\"10 us\", \"100 us\"]");
    let words = said(&refused);
    assert_ne!(refused.status.code(), Some(0));
    assert!(words.contains("factor 'rx_usecs' cannot be set here"), "{words}");
    let by = "the driver e1000 of server1/eth1 does not set it (Operation not supported";
    assert!(words.contains(by), "{words}");
    assert!(!place.path.join("rx_usecs").exists(), "it was refused before the run");
    let left = scratch(&guests);
    guests.kill();
    let gone = until(LIMIT, || emulators(&place).is_empty());
    assert!(gone.is_some(), "{:?}", emulators(&place));
    fs::remove_dir_all(left).expect("what a killed process leaves");
}

/// What of `nic-duel` is measured: emulated machines need seconds for each trial.
const DUEL: [&str; 3] = ["load=full", "direction=transmit,receive", "request_size=64KiB"];
/// Share of its trials that have to be valid: two CPUs emulate both machines, so that counters are
/// read late and clients are at their limits.
const VALID: f64 = 0.5;

#[test]
#[ignore = "four minutes: ./test full"]
fn the_built_in_duel_runs_between_two_adapters_of_a_guest() {
    let Some(kernel) = kernel() else { return };
    let place = Place::new("duel");
    let begun = Instant::now();
    let guests = boot(&place, &kernel, &["e1000-82540em,e1000e-82574l"]);
    let only: Vec<&str> = DUEL.iter().flat_map(|one| ["--only", *one]).collect();
    let words = ["env", "STEND_LAB_DIR=lab", STEND, "run", "--quick", "--blocks", "3"];
    let more = ["--machines", "lab.toml", "--out", "duel", "nic-duel"];
    let ran = place.run(&[&words[..], &only, &more].concat());
    println!("{}\nafter {:.0?}", said(&ran), begun.elapsed());
    let records = fs::read_to_string(place.path.join("duel/records.json")).expect("records");
    let run: Run = serde_json::from_str(&records).expect("a run");
    assert_eq!(run.completeness, Completeness::Complete);
    let Counted { visited, valid } = Counted::of(&run.records);
    assert!(f64::from(valid) >= VALID * f64::from(visited), "{valid} of {visited}");
    let good = run.records.iter().filter(|r| r.trial.block > 0 && r.outcome.fault.is_none());
    let treatments: BTreeSet<String> = good
        .map(|record| {
            assert_eq!(record.observed.get("mtu"), record.trial.settings.get("mtu"));
            format!("{:?}", record.trial.treatment.levels)
        })
        .collect();
    assert_eq!(treatments.len(), 4, "two adapters under two MTUs");
    let page = fs::read_to_string(place.path.join("duel/report.html")).expect("an article");
    for words in ["8086:100e", "8086:10d3", "e1000e", "256 and 256 descriptors"] {
        assert!(page.contains(words), "{words}");
    }
    let article = fs::read_to_string(place.path.join("duel/report.md")).expect("an article");
    assert!(article.contains("Emulation: software computes these machines"), "{article}");
    assert!(!article.contains("What to do"), "{article}");
    drop(guests);
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// The guest that is struck.
const SERVER: &str = "server";
/// Longest wait for a record: emulated adapters take seconds for each setting.
const RECORD: Duration = Duration::from_secs(120);
/// Longest wait for a conductor that has lost a machine or is told to stop.
const END: Duration = Duration::from_secs(120);
/// How often a run is gone on with at most: guests may be disturbed by the machine, too.
const TRIES: usize = 3;
/// What the plan paces, bit/s, and how far a trial may be from it: messages are long beside the
/// window.
const RATE: f64 = 20e6;
const NEAR: f64 = 0.1;

/// A paced load, and levels that are set on a machine and on its adapter.
const STRUCK: &str = r#"title = "Struck"
factors.tuned.key = "profile"
factors.tuned.levels.small = { rx_ring = 128, tx_ring = 128, thp = "always", netdev_budget = 600 }
factors.tuned.levels.large = { rx_ring = 512, tx_ring = 512, thp = "never", netdev_budget = 900 }
load.net = { workload = "tcp_stream", offered_load = "20 Mbit/s", request_size = "16 KiB" }
method.blocks = 6
method.window = "1 s"
"#;

/// What befalls a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    LinkDown,
    Stopped,
    Reset,
}

/// Two guests, and the run on them.
struct Bed {
    guests: Running,
    place: Place,
}

impl Bed {
    /// Gives QEMU an order for the server by its machine protocol (QMP): a line of JSON each way.
    fn order(&self, order: &str, arguments: Value) {
        let path = scratch(&self.guests).join(format!("{SERVER}.qmp"));
        let mut to = UnixStream::connect(path).expect("QMP");
        to.set_read_timeout(Some(LIMIT)).expect("a socket");
        let mut lines = BufReader::new(to.try_clone().expect("a socket")).lines();
        assert!(lines.next().is_some(), "QEMU greets");
        for (order, arguments) in [("qmp_capabilities", json!({})), (order, arguments)] {
            let line = json!({ "execute": order, "arguments": arguments });
            writeln!(to, "{line}").expect("QMP");
            let said = lines.by_ref().map_while(Result::ok).find(|line| !line.contains("event"));
            // One that is reset may end before it answers.
            let done = said.as_ref().is_none_or(|said| said.contains("return"));
            assert!(done, "{order}: {said:?}");
        }
    }

    fn set_link(&self, up: bool) {
        self.order("set_link", json!({ "name": "eth1", "up": up }));
    }

    /// What the agent of a guest says that it is; none where no agent answers.
    fn what_is(&self, name: &str) -> Option<Environment> {
        let file = fs::read_to_string(self.place.path.join("lab.toml")).expect("a lab file");
        let of = file.split_once(&format!("[machines.{name}]\naddress = \"")).expect(name).1;
        let address: SocketAddr = of.split('"').next().expect(name).parse().expect("an address");
        let lab = Conductor::open(&self.place.path.join("lab")).expect("a lab");
        let tls = Tls::connect(address, name, &lab, Duration::from_secs(5)).ok()?;
        let mut machine = Machine::greet(name, Box::new(tls), None, &NEVER).ok()?;
        machine.environment().ok()
    }

    /// The adapters and settings of the server, once its agent answers. By the word of its code it
    /// boots with another command line each time.
    fn settings(&self) -> Vec<String> {
        let mut found = None;
        let begun = Instant::now();
        while found.is_none() {
            assert!(begun.elapsed() < BOOT, "{}", self.log());
            found = self.what_is(SERVER);
        }
        let found = found.expect("an environment");
        let facts = found.facts.iter().filter(|fact| !fact.key.starts_with("kernel.cmdline"));
        let facts = facts.map(|fact| format!("{} = {}", fact.key, fact.value));
        facts.chain(found.adapters.iter().map(|adapter| format!("{adapter:?}"))).collect()
    }

    /// Begins the run, or goes on with it.
    fn start(&self) -> Running {
        fs::write(self.place.path.join("plan.toml"), [STRUCK, SHORT].concat()).expect("a plan");
        let verb: &[&str] = if self.run().is_some() { &["resume"] } else { &["run", "plan.toml"] };
        let words = ["env", "STEND_LAB_DIR=lab", STEND];
        let more = ["--store", "lab.stend", "--machines", "lab.toml", "--out", "out"];
        self.place.start_logged(&[&words[..], verb, &more].concat(), "run.log")
    }

    /// The run of the store.
    fn run(&self) -> Option<Run> {
        Store::read(&self.place.path.join("lab.stend")).and_then(|s| s.load("last")).ok()
    }

    fn log(&self) -> String {
        let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        let console = read(scratch(&self.guests).join(format!("{SERVER}.log")));
        let logs = ["log", "run.log"].map(|log| read(self.place.path.join(log)));
        format!("{}\n{console}", logs.join("\n"))
    }

    /// Faults of the run, without the first so many records, and how many records there are.
    fn faults(&self, before: usize) -> (Vec<Fault>, usize) {
        let records = self.run().map(|run| run.records).unwrap_or_default();
        let new = records.iter().skip(before).filter_map(|r| r.outcome.fault.clone());
        (new.collect(), records.len())
    }

    /// Waits until the run has kept a further record.
    fn wait_for_record(&self, before: usize) {
        let seen = until(RECORD, || self.faults(0).1 > before);
        assert!(seen.is_some(), "{}", self.log());
    }

    /// Strikes the server while a run goes on, until the conductor has found it or has ended.
    fn strike(&self, kind: Kind) -> Vec<Fault> {
        let before = self.faults(0).1;
        let conductor = self.start();
        self.wait_for_record(before);
        let (_, before) = self.faults(0);
        match kind {
            Kind::LinkDown => self.set_link(false),
            Kind::Stopped => {
                self.order("stop", json!({}));
                thread::sleep(LEASE + Duration::from_secs(2));
                self.order("cont", json!({}));
            }
            Kind::Reset => self.order("system_reset", json!({})),
        }
        if kind != Kind::Reset {
            let found = || self.faults(before).0.iter().any(|fault| names(fault, kind));
            assert!(until(RECORD, found).is_some(), "{kind:?}: {}", self.log());
            signal(conductor.pid(), Signal::INT);
        }
        assert!(conductor.ends(END).is_some(), "{kind:?}: it does not end: {}", self.log());
        if kind == Kind::LinkDown {
            self.set_link(true);
        }
        self.faults(before).0
    }

    /// Whether the run has ended for what befell the server: between two visits nothing else is
    /// kept of it.
    fn ended_for(&self, kind: Kind) -> bool {
        let completeness = self.run().map(|run| run.completeness);
        let Some(Completeness::Partial { why }) = completeness else { return false };
        kind == Kind::Reset && why.contains(&format!("machine '{SERVER}' is gone"))
    }

    /// Goes on until the run is complete.
    fn go_on(&self) -> Run {
        for _ in 0..TRIES {
            assert!(self.start().ends(BOOT * 2).is_some(), "{}", self.log());
            let run = self.run().expect("a run");
            if run.completeness == Completeness::Complete {
                return run;
            }
        }
        panic!("it does not become complete: {}", self.log());
    }
}

/// Whether a fault says what befell the server.
fn names(fault: &Fault, kind: Kind) -> bool {
    match (kind, fault) {
        (Kind::LinkDown, Fault::Failed { host, what }) => {
            host.name() == SERVER && what.contains("eth1 has no carrier")
        }
        (Kind::Stopped, Fault::Disturbed { host, what }) => {
            host.name() == SERVER && what.contains("its clock has jumped")
        }
        (Kind::Reset, Fault::DeadHost { host }) => host.name() == SERVER,
        _ => false,
    }
}

/// Whether a fault follows from what befell the server, from the end of the test, or from a machine
/// that is too busy to emulate in time: counts that were read late do not fit those of the load.
fn follows(fault: &Fault, kind: Kind) -> bool {
    let late = |what: &str| what.contains("on c01 the application took");
    match fault {
        Fault::Cancelled => true,
        Fault::LinkFlap { .. } | Fault::DeadStream { .. } => kind != Kind::Reset,
        Fault::WrongWork { what } => late(what),
        other => names(other, kind) || moment::of_the_machine(other),
    }
}

/// A good record has the rate that the plan paces and the levels of its trial; of each trial there
/// is one, unless all its visits were disturbed.
fn must_be_right(run: &Run) {
    for trial in order(&run.plan) {
        let of = run.records.iter().filter(|record| record.trial.id == trial.id);
        let (good, faulty): (Vec<_>, Vec<_>) = of.partition(|r| r.outcome.fault.is_none());
        assert!(good.len() == 1 || good.is_empty() && !faulty.is_empty(), "trial {}", trial.id);
        for record in good {
            let rate = record.outcome.samples[0].quantity.value;
            assert!((rate / RATE - 1.0).abs() < NEAR, "trial {}: {rate} bit/s", trial.id);
            for (key, level) in &record.trial.settings {
                assert_eq!(record.observed.get(key), Some(level), "trial {}: {key}", trial.id);
            }
        }
    }
}

#[test]
#[ignore = "four minutes: ./test full"]
fn a_guest_that_is_struck_loses_no_trial_and_comes_back() {
    let Some(kernel) = kernel() else { return };
    let place = Place::new("struck");
    let begun = Instant::now();
    let guests = boot(&place, &kernel, &["e1000e-82574l"]);
    let bed = Bed { guests, place };
    let before = bed.settings();
    println!("both guests serve after {:.0?}", begun.elapsed());
    assert!(before.iter().any(|line| line.contains("rx_ring: Some(256)")), "{before:?}");
    for kind in [Kind::LinkDown, Kind::Stopped, Kind::Reset] {
        let begun = Instant::now();
        let faults = bed.strike(kind);
        let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let named = faults.iter().any(|fault| names(fault, kind)) || bed.ended_for(kind);
        assert!(named, "{kind:?}: {words:?}\n{}", bed.log());
        assert!(faults.iter().all(|fault| follows(fault, kind)), "{kind:?}: {words:?}");
        assert_eq!(bed.settings(), before, "{kind:?}");
        println!("{kind:?}: {words:?}, all after {:.0?}", begun.elapsed());
    }
    let begun = Instant::now();
    let run = bed.go_on();
    must_be_right(&run);
    println!("the rest: {} records in all, after {:.0?}", run.records.len(), begun.elapsed());
    assert_eq!(bed.settings(), before, "after the run");
    assert!(bed.guests.interrupt().is_some());
    assert!(emulators(&bed.place).is_empty(), "{:?}", emulators(&bed.place));
}
