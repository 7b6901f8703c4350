//! Knows what a fault on a machine of a lab does to a run, to its store and to the machines: no
//! trial is counted wrongly, the run goes on when the machine is back, and all settings come back.
//!
//! Faults strike several labs of real agents side by side, each at a moment and on a machine that
//! are drawn from its seed. `STEND_LOST` says how many there are: 200 in `./test full`, else 16.
//! `STEND_SEED` sets the seed of the first, so that `STEND_SEED=N STEND_LOST=1` repeats one. What
//! needs root is skipped aloud.
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

use desk::plan::{attempts, order, remaining};
use desk::record::{Completeness, Fault, HostName, Run, TrialRecord};
use joined::machines::{MACHINES, Machines, journal, logs, place, swappiness, write_lab};
use joined::{errors, inside, ip};
use kill::{Place, Running, STEND, agents_of, kills, signal};
use rig::lab::machine::LEASE;
use rig::store::Store;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

const PREFIX: &str = "stend-lost";
const SUT: &str = "[\"one\", \"two\"]";
const SECOND: Duration = Duration::from_secs(1);
/// Longest wait for a conductor that has lost a machine.
const END: Duration = Duration::from_secs(60);
/// Longest wait for machines to be as before; how often it is more than a second over the lease is
/// told. Labs share two CPUs, so that no time fails the test.
const BACK: Duration = Duration::from_secs(30);

/// Labs side by side.
const BEDS: u32 = 4;
/// An agent that is stopped so long misses an edge of the window, and not its lease.
const LATE: Duration = Duration::from_millis(700);
/// A fault strikes at most so long after a record was kept, or after the conductor started.
const MOMENT: Duration = Duration::from_millis(2500);
const START: Duration = Duration::from_secs(6);
/// Of so many faults one strikes after the start.
const EARLY: u64 = 4;
/// What a machine has as its own setting, and how far a clock steps, seconds.
const SWAPPINESS: &str = "60\n";
const STEP: [f64; 2] = [0.1, 3.0];
/// Fewest trials that are left when a fault strikes.
const LEFT: usize = 9;

/// Two servers, and two levels that are set on them: of the machine, and of its adapters.
const PLAN: &str = r#"title = "Lost"
factors.sut.levels = ["one", "two"]
factors.tuned.key = "profile"
factors.tuned.levels.small = { mtu = "1400 B", swappiness = 11 }
factors.tuned.levels.large = { mtu = "1500 B", swappiness = 12 }
method.compare = "sut"
method.blocks = 8
load.net = { workload = "tcp_stream", offered_load = "40 Mbit/s", request_size = "4 KiB" }
"#;
/// What the plan paces, bit/s, and how far a good trial may be from it where labs share two CPUs: a
/// window that is off by the shortest step of a clock is further.
const RATE: f64 = 40e6;
const NEAR: f64 = 0.25;

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
    ClockStepped,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::AgentKilled,
        Self::AgentFrozen,
        Self::AgentLate,
        Self::DiskFull,
        Self::LinkDown,
        Self::ControlCut,
        Self::ConductorKilled,
        Self::ClockStepped,
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

    /// A share of 1.
    fn share(&mut self) -> f64 {
        f64::from(self.next() as u32) / f64::from(u32::MAX)
    }
}

/// A fault, as its seed has it.
struct Strike {
    seed: u32,
    kind: Kind,
    victim: &'static str,
    /// Whether the moment counts from the start of the conductor, and not from a record.
    early: bool,
    moment: Duration,
    /// How far a clock steps, seconds.
    step_s: f64,
}

impl Strike {
    fn of(seed: u32) -> Self {
        let mut chance = Chance(seed.into());
        let kind = Kind::ALL[seed as usize % Kind::ALL.len()];
        let victim = MACHINES[chance.next() as usize % MACHINES.len()];
        let victim = if kind == Kind::DiskFull { SMALL } else { victim };
        let early = chance.next().is_multiple_of(EARLY);
        let moment = if early { START } else { MOMENT }.mul_f64(chance.share());
        let step_s = STEP[0] * (STEP[1] / STEP[0]).powf(chance.share());
        Self { seed, kind, victim, early, moment, step_s }
    }
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, kind, victim, early, moment, step_s } = self;
        let since = if *early { "the start" } else { "a record" };
        write!(f, "seed {seed}: {kind:?} of {victim} {moment:.2?} after {since}")?;
        if *kind == Kind::ClockStepped { write!(f, ", by {step_s:.2} s") } else { Ok(()) }
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
    fn new(place: Place, at: u32) -> Self {
        write_lab(&place, SUT);
        let disk = Disk::mount(place.path.join(journal(SMALL)));
        for name in MACHINES {
            fs::write(place.path.join(swappiness(name)), SWAPPINESS).expect("a setting");
        }
        let machines = Machines::lay(&place, &format!("{PREFIX}{at}"));
        let adapters = machines.adapters();
        Self { machines, adapters, _disk: disk, place }
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

    /// Waits until a run that goes on has kept a further record, or has ended.
    fn wait_for_record(&self, before: usize, conductor: &mut Running) {
        let begun = Instant::now();
        while self.records() <= before && !conductor.has_ended() {
            assert!(begun.elapsed() < END, "{}", self.log());
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
        let setting = fs::read_to_string(self.place.path.join(swappiness(name)));
        let setting = setting.unwrap_or_default();
        left.extend((setting != SWAPPINESS).then(|| format!("swappiness is {setting:?}")));
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
                let late = since.elapsed() > BACK;
                assert!(left.is_empty() || !late, "{name}: {left:?}\n{}", self.log());
            }
            times.extend(all);
            thread::sleep(Duration::from_millis(5));
        }
        times
    }

    /// Starts a run, strikes, and looks at what became of it: how long after the fault all machines
    /// were as before, and the new records of the run. None where the run had ended before.
    fn take(&mut self, strike: &Strike) -> Option<(Duration, Vec<TrialRecord>)> {
        if strike.kind == Kind::ClockStepped {
            self.plant(strike);
        }
        let before = self.records();
        let mut conductor = self.start();
        // A run that was begun anew has none of those.
        let before = before.min(self.records());
        if !strike.early {
            self.wait_for_record(before, &mut conductor);
        }
        thread::sleep(strike.moment);
        let met = !conductor.has_ended();
        let times = self.strike(strike, conductor);
        let last = times.values().max().copied().unwrap_or_default();
        let Some(run) = self.kept() else { return met.then_some((last, Vec::new())) };
        must_be_right(&run, &self.log());
        let new = run.records.get(before..).unwrap_or_default();
        let faults = faults(new);
        let known = |fault: &&Fault| names(fault, strike) || disturbs(fault);
        assert!(faults.iter().all(known), "{strike}: {faults:?}\n{}", self.log());
        met.then(|| (last, new.to_vec()))
    }

    /// Starts the agent of the victim anew, with a clock that steps when the fault is to strike.
    fn plant(&mut self, strike: &Strike) {
        let now_s = rig::lab::clock::now_ns() as f64 / 1e9;
        let at_s = now_s + START.as_secs_f64() + strike.moment.as_secs_f64();
        let clock = format!("STEND_TEST_CLOCK=0,0,{},{at_s}", strike.step_s);
        self.machines.agents.remove(strike.victim);
        self.machines.serve_with(&self.place, strike.victim, &[&clock]);
    }

    /// Strikes a machine while a run goes on, waits until all is back, and makes the machine whole.
    fn strike(&mut self, strike: &Strike, conductor: Running) -> Times {
        let victim = strike.victim;
        let agent = |name: &'static str| (name, self.machines.agents[name].pid());
        let all = MACHINES.map(agent);
        let one = all.iter().copied().find(|(name, _)| *name == victim).expect("a machine");
        let others: Vec<_> = all.iter().copied().filter(|other| *other != one).collect();
        let con = self.machines.conductor();
        let link = |name: &str, way: &str| ip(&[format!("-n {con} link set {name} {way}")]);
        let begun = Instant::now();
        match strike.kind {
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
                self.late(one.1, conductor);
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
            Kind::ClockStepped => {
                thread::sleep(START);
                self.stopped(conductor);
                let times = self.back(&all, Instant::now());
                self.machines.agents.remove(victim);
                self.machines.serve(&self.place, victim);
                times
            }
        }
    }

    /// Stops an agent for less than its lease, and the conductor after the trial that this spoils
    /// and those after it, which must be sound.
    fn late(&self, agent: u32, mut conductor: Running) {
        let before = self.records();
        signal(agent, Signal::STOP);
        thread::sleep(LATE);
        signal(agent, Signal::CONT);
        (0..3).for_each(|more| self.wait_for_record(before + more, &mut conductor));
        self.stopped(conductor);
    }

    /// Lets the conductor go on until a further visit is over, and stops it.
    fn stopped(&self, mut conductor: Running) {
        self.wait_for_record(self.records(), &mut conductor);
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
            let Some(run) = self.kept() else {
                // The last fault struck a run that had no record yet.
                self.stopped(self.start());
                continue;
            };
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
        let near = (rate / RATE - 1.0).abs() < NEAR;
        assert!(near, "trial {id}: {rate} bit/s, with {:?}\n{log}", record.readings);
        assert!(!record.trial.settings.is_empty());
        for (key, level) in &record.trial.settings {
            assert_eq!(record.observed.get(key), Some(level), "trial {id}: {key}\n{log}");
        }
    }
}

fn faults(records: &[TrialRecord]) -> Vec<&Fault> {
    records.iter().filter_map(|record| record.outcome.fault.as_ref()).collect()
}

/// Whether a fault is the moment's. Labs that share two CPUs may read the counters of adapters
/// late, and a stream may have no CPU for a whole window.
fn disturbs(fault: &Fault) -> bool {
    let crowded = matches!(fault, Fault::WrongWork { .. } | Fault::DeadStream { .. });
    moment::of_the_machine(fault) || crowded
}

/// Each trial has one good record, unless faults have used up all its visits.
fn must_be_whole(run: &Run) {
    for trial in order(&run.plan) {
        let of = || run.records.iter().filter(|record| record.trial.id == trial.id);
        let good = of().filter(|record| record.outcome.fault.is_none()).count();
        let faults = of().filter_map(|record| record.outcome.fault.as_ref());
        let faults: Vec<_> = faults.filter(|fault| **fault != Fault::Cancelled).collect();
        let most = faults.last().map_or(u32::MAX, |last| attempts(last));
        let used_up = good == 0 && faults.len() >= most as usize;
        assert!(good == 1 || used_up, "trial {}: {good} good, {faults:?}", trial.id);
    }
}

/// Whether a fault names what struck a machine; others on the machine may disturb a trial, too.
fn names(fault: &Fault, Strike { kind, victim, .. }: &Strike) -> bool {
    let is_it = |host: &HostName| host.to_string().contains(victim);
    match (kind, fault) {
        // The test stops a run that goes on.
        (_, Fault::Cancelled) => true,
        // Stopped while its streams open; the server was the first to tell.
        (Kind::AgentFrozen, Fault::Failed { what, .. }) if *victim == "load" => {
            what.contains("streams of c01 did not open")
        }
        (Kind::AgentKilled | Kind::AgentFrozen | Kind::ControlCut, fault) => {
            matches!(fault, Fault::DeadHost { host } | Fault::Frozen { host } if is_it(host))
        }
        (Kind::DiskFull, Fault::Factor { what }) => what.contains("No space left"),
        (Kind::LinkDown, Fault::LinkFlap { .. }) => true,
        _ => false,
    }
}

/// What all beds have seen.
#[derive(Debug, Default)]
struct Seen {
    next: u32,
    /// Faults that met a run.
    met: u32,
    slowest: Duration,
    /// Of them, those after which a machine was back later than a second after the lease.
    late: u32,
    /// Good records.
    good: usize,
}

impl Seen {
    fn take(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn met(&mut self, last: Duration, new: &[TrialRecord]) {
        self.met += 1;
        self.good += new.iter().filter(|record| record.outcome.fault.is_none()).count();
        self.slowest = self.slowest.max(last);
        self.late += u32::from(last > LEASE + SECOND);
    }
}

/// What one bed does: the next strike, until none is left.
fn serve(mut bed: Bed, (first, count): (u32, u32), seen: &Mutex<Seen>) {
    let see = || seen.lock().expect("no bed has failed");
    loop {
        let nth = see().take();
        if nth >= count {
            return bed.go_on();
        }
        let strike = Strike::of(first.wrapping_add(nth));
        let Some((last, new)) = bed.take(&strike) else {
            println!("{strike}: the run had ended\n{}", bed.log());
            continue;
        };
        see().met(last, &new);
        let faults: Vec<String> = faults(&new).iter().map(ToString::to_string).collect();
        println!("{strike}: back after {last:.2?}; {} records; {faults:?}", new.len());
    }
}

#[test]
#[ignore = "minutes: ./test full"]
fn a_lost_machine_loses_no_trial_and_comes_back() {
    let Some(place) = place("lost", SUT) else { return };
    let count = kills("STEND_LOST", 16);
    let first = kills("STEND_SEED", std::process::id() * 1000);
    let seen = Mutex::new(Seen::default());
    let beds = (0..BEDS.min(count)).map(|at| Bed::new(place.beside(&format!("lost{at}")), at));
    let beds: Vec<Bed> = beds.collect();
    thread::scope(|scope| {
        for bed in beds {
            scope.spawn(|| serve(bed, (first, count), &seen));
        }
    });
    let seen = seen.into_inner().expect("no bed has failed");
    println!("{count} faults from seed {first}: {seen:?}");
    assert!(seen.met * 10 >= count * 9, "{seen:?}");
}
