//! Knows that a side of a real lab is held to its quota, that this shows in the readings, and that
//! no group stays, also after a kill. What needs root is skipped aloud.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::{Run, TrialRecord, Value};
use kill::{Place, until};
use rig::factor::{self, Mechanism};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);

/// Server free and held, in blocks that go on for as long as nobody ends them.
/// Tests of one process run at once; a load takes the CPU that another one is held to.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// BBR, where it is the system's own, may find a rate below the quota, and keep to it.
fn plan(blocks: u32, more: &str) -> String {
    format!(
        "title = \"quota\"\n[lab]\nclients = 1\n{more}[factors.server_quota]\n\
         levels = [\"off\", 0.2]\n[load.net]\nworkload = \"tcp_stream\"\n\
         congestion = \"cubic\"\n[method]\n\
         blocks = {blocks}\ndry = false\nsteady = \"noted\"\nsettle = \"100 ms\"\n\
         settle_max = \"100 ms\"\nwindow = \"200 ms\"\n"
    )
}

fn place(name: &str, plan: &str) -> Option<Place> {
    let tried = match factor::mechanism("server_quota") {
        Some(Mechanism::Quota(row)) => row.try_out(Path::new("/")).map_err(|e| e.to_string()),
        _ => Err("the factor holds no side".into()),
    };
    let root = rustix::process::geteuid().is_root();
    if let (false, _) | (_, Err(_)) = (root, &tried) {
        println!("skipped: needs root and control groups {}", tried.err().unwrap_or_default());
        return None;
    }
    let place = Place::new(name);
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    Some(place)
}

/// What the group of a host told, in the order of limit, use and throttled periods.
fn told(record: &TrialRecord, host: &str) -> Vec<f64> {
    let read = |key| record.reading("quota", host, key).map(|q| q.value);
    ["limit", "use", "throttled"].into_iter().filter_map(read).collect()
}

#[test]
fn a_held_server_shows_its_quota_and_a_free_one_none() {
    let _alone = alone();
    let Some(place) = place("quota", &plan(3, "client_quota = 1.5\n")) else { return };
    let output = moment::taken(|| place.stend(&["run", "plan.toml", "--out", "out"]));
    let words = String::from_utf8_lossy(&output.stderr);
    let text = fs::read_to_string(place.path.join("out/records.json")).expect("records");
    let run: Run = serde_json::from_str(&text).expect("a run");
    let good = run.records.iter().filter(|r| r.outcome.fault.is_none());
    let (held, free): (Vec<&TrialRecord>, Vec<_>) =
        good.partition(|r| matches!(r.observed["server_quota"], Value::Quantity(_)));
    assert!(!held.is_empty() && !free.is_empty(), "{words}");
    let held: Vec<Vec<f64>> = held.into_iter().map(|record| told(record, "sut")).collect();
    // A window of 20 periods does not end with one.
    let kept = |told: &Vec<f64>| (told[0] - 0.2).abs() < 1e-9 && told[1] < 1.5;
    assert!(held.iter().all(kept), "{held:?}");
    // A machine that others keep busy may leave a visit too little to reach its quota. Beside two
    // busy processes a visit used 0.91 of its quota and was throttled in half of the periods.
    assert!(held.iter().any(|told| told[1] > 0.5 && told[2] > 0.25), "{held:?}");
    for record in &free {
        assert_eq!(told(record, "sut"), Vec::<f64>::new());
        assert_eq!(record.observed["server_quota"], Value::Word("off".into()));
    }
    for record in run.records.iter().filter(|r| r.outcome.fault.is_none()) {
        let told = told(record, "c01");
        assert!(told.len() == 3 && (told[0] - 1.5).abs() < 1e-9, "{told:?}");
    }
}

#[test]
fn a_killed_run_leaves_no_group() {
    let _alone = alone();
    let Some(place) = place("quota-killed", &plan(900, "")) else { return };
    let running = place.start(&["run", "plan.toml", "--out", "out"]);
    let group = format!("stend-{}-sut", running.pid());
    let there = || {
        let found = place.left_by(running.pid());
        // In the hierarchy of `cpu`, or in the unified one.
        found.iter().any(|path| {
            let path = Path::new(path);
            let limited = ["cpu.cfs_quota_us", "cpu.max"].iter().any(|f| path.join(f).exists());
            path.ends_with(&group) && limited
        })
    };
    assert!(until(LIMIT, there).is_some(), "{:?}", place.left_by(running.pid()));
    let pid = running.kill();
    let gone = until(LIMIT, || place.left_by(pid).is_empty());
    assert!(gone.is_some(), "{:?}", place.left_by(pid));
}

#[test]
fn a_quota_that_cannot_be_is_refused_with_value_and_remedy() {
    let place = Place::new("quota-bad");
    for (level, words) in [
        ("0", &["'0 CPU'", "0.0100 CPU"][..]),
        ("\"half\"", &["'half'", "0.0100 CPU"]),
        ("\"0.5 GB\"", &["'GB'", "CPU"]),
        ("5000", &["'5000 CPU'", "1024 CPU"]),
    ] {
        fs::write(place.path.join("plan.toml"), plan(3, "").replace("0.2", level)).expect("a plan");
        let output = place.stend(&["plan", "plan.toml"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{level}: {told}");
        assert!(words.iter().all(|word| told.contains(word)), "{level}: {told}");
    }
    let few = plan(3, "").replace("server", "client").replace("0.2", "0.01");
    let few = few.replace("clients = 1", "clients = 20");
    fs::write(place.path.join("plan.toml"), few).expect("a plan");
    let output = place.stend(&["run", "plan.toml", "--out", "out"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{told}");
    let here = told.contains("0.001 CPU") && told.contains("'0.0100 CPU'");
    assert!(here || told.contains("cannot be set here"), "{told}");
}
