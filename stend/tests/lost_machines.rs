//! Knows what a fault on a machine of a lab does to a run, to its store and to the machines: no
//! trial is counted wrongly, the run goes on when the machine is back, and all settings come back.
//!
//! `STEND_LOST` says how often each kind of fault strikes: 5 times in `./test full`, else once.
//! `STEND_SEED` repeats the moments. What needs root is skipped aloud. A step of the
//! monotonic clock is no kind here: a time namespace takes offsets before its first process only
//! (time_namespaces(7)).
#![cfg(feature = "machines")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod joined;
#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::plan::{order, remaining};
use desk::record::{Completeness, Fault, HostName, Run};
use joined::machines::{MACHINES, Machines, journal, logs, place};
use joined::{LIMIT, errors, inside, ip};
use kill::{Place, Running, STEND, agents_of, kills, signal};
use rig::lab::machine::LEASE;
use rig::store::Store;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const PREFIX: &str = "stend-lost";
const SECOND: Duration = Duration::from_secs(1);
/// Longest wait for a conductor that has lost a machine.
const END: Duration = Duration::from_secs(60);

/// An agent that is stopped so long misses an edge of the window, and not its lease.
const LATE: Duration = Duration::from_millis(700);
/// A fault strikes so long after a record was kept, at most.
const MOMENT: Duration = Duration::from_millis(2500);
/// Fewest trials that are left when a fault strikes.
const LEFT: usize = 9;

/// Two servers, and two levels that are set on them: of the machine, and of its adapters.
const PLAN: &str = r#"title = "Lost"
factors.sut.levels = ["one", "two"]
factors.tuned.key = "profile"
factors.tuned.levels.small = { mtu = "1400 B", thp = "always", autogroup = "off", swappiness = 11 }
factors.tuned.levels.large = { mtu = "1500 B", thp = "never", autogroup = "off", swappiness = 12 }
method.compare = "sut"
method.blocks = 8
"#;
/// What the plan paces, bit/s, and how far a good trial may be from it.
const RATE: f64 = 200e6;
const NEAR: f64 = 0.05;

/// The machine with a small disk for its journal, bytes, and what fills it.
const SMALL: &str = "one";
const DISK: &str = "size=32k,mode=700";
const FILLER: &str = "filler";
/// How often a run is gone on with at most: the machine may be disturbed by others, too.
const TRIES: usize = 3;

/// How long after a moment machines were as they were.
type Times = BTreeMap<&'static str, Duration>;

/// What befalls a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    AgentKilled,
    AgentFrozen,
    AgentLate,
    DiskFull,
    LinkDown,
    ControlCut,
    ConductorKilled,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::AgentKilled,
        Self::AgentFrozen,
        Self::AgentLate,
        Self::DiskFull,
        Self::LinkDown,
        Self::ControlCut,
        Self::ConductorKilled,
    ];
}

/// Chance by a seed: SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let one = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let two = (one ^ (one >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        two ^ (two >> 31)
    }

    /// A time below a limit.
    fn below(&mut self, limit: Duration) -> Duration {
        limit.mul_f64(f64::from(self.next() as u32) / f64::from(u32::MAX))
    }
}

/// A lab, and what it is when nothing stands on it. Fields go in this order.
struct Bed {
    machines: Machines,
    adapters: BTreeMap<String, String>,
    _disk: Disk,
    place: Place,
}

/// A disk of some pages.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: PathBuf) -> Self {
        fs::create_dir_all(&at).expect("a directory");
        let made =
            Command::new("mount").args(["-t", "tmpfs", "-o", DISK, "none"]).arg(&at).status();
        assert!(made.expect("util-linux").success());
        Self(at)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

impl Bed {
    fn new() -> Option<Self> {
        let place = place("lost", "[\"one\", \"two\"]")?;
        let disk = Disk::mount(place.path.join(journal(SMALL)));
        let machines = Machines::lay(&place, PREFIX);
        let adapters = machines.adapters();
        Some(Self { machines, adapters, _disk: disk, place })
    }

    /// Goes on with the run of the store; begins one where too few trials are left.
    fn start(&self) -> Running {
        let left = self.kept().map(|run| remaining(&run.plan, &run.records).len());
        let words = match left {
            Some(LEFT..) => self.resume(),
            _ => {
                if left.is_some() {
                    self.go_on();
                }
                for suffix in ["", "-wal", "-shm"] {
                    let _ = fs::remove_file(self.place.path.join(format!("lab.stend{suffix}")));
                }
                let mut words = self.machines.words(&self.place, (PLAN, "out"), true);
                words.extend(["--store", "lab.stend"].map(str::to_owned));
                words
            }
        };
        self.place.start_logged(&words.iter().map(String::as_str).collect::<Vec<_>>(), "log")
    }

    fn resume(&self) -> Vec<String> {
        let words = ["STEND_LAB_DIR=lab", STEND, "resume", "--store", "lab.stend"];
        let more = ["--out", "resumed", "--machines", "lab.toml"];
        inside(&self.machines.conductor(), &[&words[..], &more].concat())
    }

    fn records(&self) -> usize {
        self.kept().map_or(0, |run| run.records.len())
    }

    /// Waits until a run that goes on has kept a further record.
    fn wait_for_record(&self, before: usize) {
        let begun = Instant::now();
        while self.records() <= before {
            assert!(begun.elapsed() < LIMIT, "{}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The run of the store.
    fn kept(&self) -> Option<Run> {
        Store::read(&self.place.path.join("lab.stend")).and_then(|s| s.load("last")).ok()
    }

    fn log(&self) -> String {
        let log = fs::read_to_string(self.place.path.join("log")).unwrap_or_default();
        format!("{log}\n{}", logs(&self.place))
    }

    /// What is left on a machine, in words; `agent` is the process of its agent.
    fn left(&self, name: &str, agent: u32) -> Vec<String> {
        let now = self.machines.adapters();
        let own = self.adapters.iter().filter(|(adapter, _)| adapter.starts_with(name));
        let other = own.filter(|(adapter, was)| now.get(*adapter) != Some(was));
        let adapter = |(adapter, was): (&String, &String)| {
            format!("{adapter} is {:?}, was {was}", now.get(adapter))
        };
        let mut left: Vec<String> = other.map(adapter).collect();
        let journals = fs::read_dir(self.place.path.join(journal(name))).into_iter().flatten();
        let journals = journals.flatten().map(|entry| entry.path().display().to_string());
        left.extend(journals.filter(|path| !path.ends_with(FILLER)));
        left.extend(agents_of(agent).iter().map(|host| format!("host {host}")));
        left
    }

    /// How long after a moment machines are as they were, each by its name.
    fn back(&self, of: &[(&'static str, u32)], since: Instant) -> Times {
        let mut times = Times::new();
        while times.len() < of.len() {
            let mut all = Vec::new();
            for (name, agent) in of.iter().filter(|(name, _)| !times.contains_key(name)) {
                let left = self.left(name, *agent);
                if left.is_empty() {
                    all.push((*name, since.elapsed()));
                }
                let late = since.elapsed() > LEASE + SECOND;
                assert!(left.is_empty() || !late, "{name}: {left:?}\n{}", self.log());
            }
            times.extend(all);
            thread::sleep(Duration::from_millis(5));
        }
        times
    }

    /// Strikes a machine while a run goes on, waits until all is back, and makes the machine whole.
    fn strike(&mut self, kind: Kind, victim: &'static str, conductor: Running) -> Times {
        let agent = |name: &'static str| (name, self.machines.agents[name].pid());
        let all = MACHINES.map(agent);
        let one = all.iter().copied().find(|(name, _)| *name == victim).expect("a machine");
        let others: Vec<_> = all.iter().copied().filter(|other| *other != one).collect();
        let con = self.machines.conductor();
        let link = |name: &str, way: &str| ip(&[format!("-n {con} link set {name} {way}")]);
        let begun = Instant::now();
        match kind {
            Kind::AgentKilled => {
                self.machines.agents.remove(victim).expect("an agent").kill();
                let times = self.back(&all, begun);
                self.ended(conductor);
                self.machines.serve(&self.place, victim);
                times
            }
            Kind::AgentFrozen => {
                signal(one.1, Signal::STOP);
                thread::sleep(LEASE + SECOND);
                signal(one.1, Signal::CONT);
                self.stopped(conductor);
                self.back(&all, Instant::now())
            }
            Kind::AgentLate => {
                let before = self.records();
                signal(one.1, Signal::STOP);
                thread::sleep(LATE);
                signal(one.1, Signal::CONT);
                // The trial that it spoils, and those after it, which must be sound.
                (0..3).for_each(|more| self.wait_for_record(before + more));
                self.stopped(conductor);
                self.back(&all, Instant::now())
            }
            Kind::DiskFull => {
                self.fill(victim);
                self.ended(conductor);
                let times = self.back(&all, Instant::now());
                fs::remove_file(self.filler(victim)).expect("room again");
                times
            }
            Kind::LinkDown => {
                link(&format!("a-{victim}"), "down");
                thread::sleep(SECOND);
                link(&format!("a-{victim}"), "up");
                self.stopped(conductor);
                self.back(&all, Instant::now())
            }
            Kind::ControlCut => {
                link(&format!("c-{victim}"), "down");
                let mut times = self.back(&[one], begun);
                thread::sleep((LEASE + SECOND).saturating_sub(begun.elapsed()));
                link(&format!("c-{victim}"), "up");
                self.ended(conductor);
                times.extend(self.back(&others, Instant::now()));
                times
            }
            Kind::ConductorKilled => {
                conductor.kill();
                self.back(&all, begun)
            }
        }
    }

    /// Lets the conductor go on until a further visit is over, and stops it.
    fn stopped(&self, conductor: Running) {
        self.wait_for_record(self.records());
        signal(conductor.pid(), Signal::INT);
        self.ended(conductor);
    }

    /// Waits for the end of the conductor.
    fn ended(&self, conductor: Running) {
        let status = conductor.ends(END);
        assert!(status.is_some(), "the conductor does not end\n{}", self.log());
    }

    fn filler(&self, name: &str) -> PathBuf {
        self.place.path.join(journal(name)).join(FILLER)
    }

    /// Fills the disk of a machine's journal.
    fn fill(&self, name: &str) {
        let mut file = fs::File::create(self.filler(name)).expect("a file");
        while file.write_all(&[0; 512]).is_ok() {}
    }

    /// Goes on until the run is complete, and looks at it.
    fn go_on(&self) {
        for _ in 0..TRIES {
            let run = self.kept().expect("a run");
            if run.completeness == Completeness::Complete {
                return must_be_whole(&run);
            }
            let resumed = joined::run(&self.place, &self.resume());
            println!("  resumed: {:?} {}", resumed.status.code(), last_line(&errors(&resumed)));
        }
        panic!("it does not become complete: {}", self.log());
    }
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

/// A good record has the rate that the plan paces and the levels of its trial.
fn must_be_right(run: &Run, log: &str) {
    for record in run.records.iter().filter(|record| record.outcome.fault.is_none()) {
        let (id, rate) = (record.trial.id, record.outcome.samples[0].quantity.value);
        assert!((rate / RATE - 1.0).abs() < NEAR, "trial {id}: {rate} bit/s\n{log}");
        assert!(!record.trial.settings.is_empty());
        for (key, level) in &record.trial.settings {
            assert_eq!(record.observed.get(key), Some(level), "trial {id}: {key}\n{log}");
        }
    }
}

/// Each trial has one good record, unless the machine that others use disturbed all its visits.
fn must_be_whole(run: &Run) {
    for trial in order(&run.plan) {
        let of = || run.records.iter().filter(|record| record.trial.id == trial.id);
        let good = of().filter(|record| record.outcome.fault.is_none()).count();
        let faults: Vec<_> = of().filter_map(|record| record.outcome.fault.as_ref()).collect();
        let disturbed = !faults.is_empty() && faults.iter().all(|f| moment::of_the_machine(f));
        assert!(good == 1 || good == 0 && disturbed, "trial {}: {good} good, {faults:?}", trial.id);
    }
}

/// Whether a fault names what struck a machine; others on the machine may disturb a trial, too.
fn names(fault: &Fault, kind: Kind, victim: &str) -> bool {
    let is_it = |host: &HostName| host.to_string().contains(victim);
    match (kind, fault) {
        // The test stops a run that goes on.
        (_, Fault::Cancelled) => true,
        (Kind::AgentKilled | Kind::AgentFrozen | Kind::ControlCut, fault) => {
            matches!(fault, Fault::DeadHost { host } | Fault::Frozen { host } if is_it(host))
        }
        (Kind::DiskFull, Fault::Factor { what }) => what.contains("No space left"),
        (Kind::LinkDown, Fault::LinkFlap { .. } | Fault::DeadStream { .. }) => true,
        _ => false,
    }
}

#[test]
#[ignore = "minutes: ./test full"]
fn a_lost_machine_loses_no_trial_and_comes_back() {
    let Some(mut bed) = Bed::new() else { return };
    let seed = kills("STEND_SEED", std::process::id());
    let mut chance = Chance(seed.into());
    for nth in 0..kills("STEND_LOST", 1) {
        for kind in Kind::ALL {
            let conductor = bed.start();
            let before = bed.records();
            bed.wait_for_record(before);
            let moment = chance.below(MOMENT);
            let victim = MACHINES[chance.next() as usize % MACHINES.len()];
            let victim = if kind == Kind::DiskFull { SMALL } else { victim };
            thread::sleep(moment);
            let times = bed.strike(kind, victim, conductor);
            assert_eq!(bed.place.switched(), 0, "{kind:?}: {}", bed.log());
            let run = bed.kept().expect("a run");
            must_be_right(&run, &bed.log());
            let new = run.records[before..].iter().filter_map(|r| r.outcome.fault.as_ref());
            let faults: Vec<String> = new.clone().map(ToString::to_string).collect();
            let known = |fault: &Fault| names(fault, kind, victim) || moment::of_the_machine(fault);
            assert!(new.clone().all(known), "{kind:?}: {faults:?}\n{}", bed.log());
            let back = |(name, time): (&&str, &Duration)| format!("{name} {time:.2?}");
            let times: Vec<String> = times.iter().map(back).collect();
            println!(
                "{kind:?} {nth}, {victim} after {moment:.2?} (seed {seed}): back after {}; {} \
                 records; {faults:?}",
                times.join(", "),
                run.records.len() - before,
            );
        }
    }
    bed.go_on();
}
