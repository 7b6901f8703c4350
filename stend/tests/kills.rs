//! Knows what a kill at any moment leaves behind: every setting back, no namespace, no trial lost
//! or doubled, and a store that opens and goes on.
//!
//! `STEND_KILLS`, `STEND_KILLS_BOTH` and `STEND_COPIES` say how often: 5, 1 and 2 in `./test`, 20,
//! 8 and 20 in `./test full`. What needs root is skipped aloud.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;

use desk::plan::order;
use desk::record::{Completeness, Run, TrialKind};
use kill::{Place, Running, SETTINGS, chance, guardian_of, kills, signal, until};
use rig::store::Store;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

/// A second after the kill the guardian has brought every setting back.
const SECOND: Duration = Duration::from_secs(1);
/// Longest wait for the rest: journal, namespaces, control groups and agents, which the kernel
/// takes its time to remove.
const LIMIT: Duration = Duration::from_secs(10);

/// A plan of twelve trials after four dry visits: a few seconds.
fn place(name: &str) -> Option<Place> {
    let fit = rustix::process::geteuid().is_root()
        && SETTINGS
            .iter()
            .all(|path| rustix::fs::access(*path, rustix::fs::Access::WRITE_OK).is_ok());
    if !fit {
        println!("skipped: needs root and the settings {SETTINGS:?}");
        return None;
    }
    let place = Place::new(name);
    let plan = fs::read_to_string(place.path.join("plan.toml")).expect("the plan");
    let plan = plan
        .replace("request_size = \"16 KiB\"", "over = { request_size = [\"4 KiB\", \"64 KiB\"] }")
        .replace("blocks = 900\ndry = false", "blocks = 3\nsteady = \"noted\"");
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    Some(place)
}

fn store(place: &Place) -> PathBuf {
    place.path.join("lab.stend")
}

fn start(place: &Place) -> Running {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", store(place).display()));
    }
    place.start(&["run", "plan.toml", "--store", "lab.stend", "--out", "out"])
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// How long a run takes that nobody kills; it must leave nothing.
fn undisturbed(place: &Place) -> Duration {
    let begun = Instant::now();
    succeeded(&place.stend(&["run", "plan.toml", "--store", "lab.stend", "--out", "out"]));
    assert_eq!(place.switched(), 0, "a run that ends well leaves nothing switched");
    begun.elapsed()
}

/// Goes on with the run of a store, if it holds one, and says whether it did.
fn go_on(place: &Place, store: &Path) -> bool {
    let Ok(before) = Store::read(store).and_then(|s| s.load("last")) else {
        // Killed before the run was begun: there is nothing to lose.
        return false;
    };
    let complete = before.completeness == Completeness::Complete;
    if !complete {
        let file = store.display().to_string();
        succeeded(&place.stend(&["resume", "--store", &file, "--out", "resumed"]));
    }
    let after = Store::read(store).and_then(|s| s.load("last")).expect("a run");
    assert_eq!(after.completeness, Completeness::Complete);
    assert_eq!(after.records[..before.records.len()], before.records[..], "what was kept stays");
    whole_and_once(&after);
    assert_eq!(place.switched(), 0);
    !complete
}

/// No trial is missing, none was finished twice.
fn whole_and_once(run: &Run) {
    let mut finished: BTreeMap<u32, u32> = BTreeMap::new();
    for record in &run.records {
        let done = record.outcome.fault.is_none() || record.trial.kind == TrialKind::Dry;
        *finished.entry(record.trial.id).or_default() += u32::from(done);
    }
    for trial in order(&run.plan) {
        let faults = run.records.iter().filter(|r| r.trial.id == trial.id).count();
        let given_up = finished.get(&trial.id) == Some(&0) && faults >= 2;
        let once = finished.get(&trial.id) == Some(&1);
        assert!(once || given_up, "trial {} of {}: {finished:?}", trial.id, run.id);
    }
}

fn tell(what: &str, mut times: Vec<Duration>, resumed: usize) {
    times.sort();
    let at = |share: usize| times.get(times.len().saturating_sub(1) * share / 100).copied();
    println!(
        "{what}: {} times, all back after {:?} (median), {:?} (longest); {resumed} went on",
        times.len(),
        at(50).unwrap_or_default(),
        at(100).unwrap_or_default()
    );
}

#[test]
fn a_killed_conductor_leaves_nothing_and_loses_nothing() {
    let Some(place) = place("killed") else { return };
    let whole = undisturbed(&place);
    let (mut settings, mut times, mut resumed) = (Vec::new(), Vec::new(), 0);
    for nth in 0..kills("STEND_KILLS", 5) {
        let running = start(&place);
        // The first kill has something to bring back for certain.
        let moment = if nth == 0 { Duration::ZERO } else { chance(whole) };
        if nth == 0 {
            place.wait_switched();
        }
        thread::sleep(moment);
        let begun = Instant::now();
        let pid = running.kill();
        let back = until(LIMIT, || place.switched() == 0).map(|_| begun.elapsed());
        let late = || format!("killed after {moment:?}: settings are back after {back:?}");
        assert!(back.is_some_and(|after| after < SECOND), "{}", late());
        settings.extend(back);
        let clear = until(LIMIT, || place.left_by(pid).is_empty()).map(|_| begun.elapsed());
        assert!(clear.is_some(), "killed after {moment:?}: {:?}", place.left_by(pid));
        times.extend(clear);
        resumed += usize::from(go_on(&place, &store(&place)));
    }
    tell("conductor killed, settings", settings, resumed);
    tell("conductor killed", times, resumed);
}

#[test]
fn when_the_guardian_is_killed_too_the_doctor_brings_all_back() {
    let Some(place) = place("both") else { return };
    let whole = undisturbed(&place);
    let (mut times, mut resumed, mut guardians) = (Vec::new(), 0, 0);
    for _ in 0..kills("STEND_KILLS_BOTH", 1) {
        let running = start(&place);
        thread::sleep(chance(whole));
        if let Some(guardian) = guardian_of(running.pid()) {
            signal(guardian, Signal::KILL);
            guardians += 1;
        }
        let pid = running.kill();
        let begun = Instant::now();
        succeeded(&place.stend(&["doctor", "--clean"]));
        assert!(place.left_by(pid).is_empty(), "{:?}", place.left_by(pid));
        times.push(begun.elapsed());
        resumed += usize::from(go_on(&place, &store(&place)));
    }
    println!("{guardians} guardians were there to be killed");
    tell("both killed, then the doctor", times, resumed);
}

/// The power cut's stand-in: all files as they are at one moment, the conductor held meanwhile.
#[test]
fn the_store_as_it_is_at_any_moment_opens_and_goes_on() {
    let Some(place) = place("copies") else { return };
    let whole = undisturbed(&place);
    let wanted = kills("STEND_COPIES", 2) as usize;
    let (mut copies, mut resumed) = (Vec::new(), 0);
    while copies.len() < wanted {
        let running = start(&place);
        let begun = Instant::now();
        let mut moments: Vec<Duration> = (0..5).map(|_| chance(whole)).collect();
        moments.sort();
        for moment in moments {
            thread::sleep(moment.saturating_sub(begun.elapsed()));
            copies.extend(copy(&place, &running, copies.len()));
        }
        let pid = running.kill();
        // Not before its guardian has gone too: it would clear away beside the next conductor.
        let clear = until(LIMIT, || place.left_by(pid).is_empty() && guardian_of(pid).is_none());
        assert!(clear.is_some(), "{:?}, guardian {:?}", place.left_by(pid), guardian_of(pid));
    }
    for copy in copies.iter().take(wanted) {
        // A file of no length is a store that nobody has written to.
        if fs::metadata(copy).expect("a copy").len() > 0 || wal(copy).exists() {
            Store::read(copy).expect("it opens").list().expect("it can be read");
        }
        resumed += usize::from(go_on(&place, copy));
    }
    println!("{wanted} copies, {resumed} of them held an unfinished run and went on");
}

/// Holds the conductor, copies its store, and lets it go on; none before there is one.
fn copy(place: &Place, running: &Running, number: usize) -> Option<PathBuf> {
    let to = place.path.join(format!("copy{number}.stend"));
    signal(running.pid(), Signal::STOP);
    let held = until(LIMIT, || all_stopped(running.pid()));
    assert!(held.is_some(), "a thread of {} still runs", running.pid());
    let copied = fs::copy(store(place), &to).is_ok();
    if copied {
        let _ = fs::copy(wal(&store(place)), wal(&to));
    }
    signal(running.pid(), Signal::CONT);
    copied.then_some(to)
}

/// Whether no thread of a process runs any more: a signal to stop reaches each at its own time.
fn all_stopped(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state stands behind the name, which is in brackets: T stopped, Z dead.
        let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        state.is_empty() || state.starts_with(['T', 'Z', 'X'])
    })
}

fn wal(store: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", store.display()))
}
