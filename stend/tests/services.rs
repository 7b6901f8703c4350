//! Knows that a program under test serves a run, counts what it has served, and is gone after the
//! run and after any kill. What needs root or nginx is skipped aloud.
#![expect(clippy::print_stdout, reason = "helpers of tests stand outside test functions")]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::Run;
use kill::{Place, kills, until};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);

const PLAN: &str = r#"title = "Web"
lab.clients = 1
factors.server.levels = ["builtin", "nginx"]
load.web = { workload = "http", concurrency = 4, over = { response_size = ["1 B", "256 KiB"] } }
method.blocks = 3
method.dry = false
method.steady = "noted"
method.settle = "100 ms"
method.settle_max = "100 ms"
method.window = "200 ms"
"#;

/// Whether nginx is here, and root to look for what it leaves.
fn has_nginx() -> bool {
    let there = ["/usr/sbin/nginx", "/usr/bin/nginx"].iter().any(|path| Path::new(path).exists());
    let root = rustix::process::geteuid().is_root();
    if !there || !root {
        println!("skipped: needs root and nginx, of the package nginx-light");
    }
    there && root
}

/// Processes of services, and of their keepers.
fn left() -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.starts_with("stend-service") || line.contains("/tmp/stend/nginx.conf"))
            .then_some(line)
    });
    lines.collect()
}

#[test]
fn a_service_serves_a_run_and_is_gone_after_it() {
    let place = Place::new("services");
    if !has_nginx() {
        return;
    }
    fs::write(place.path.join("plan.toml"), PLAN).expect("a plan");
    let run = place.stend(&["run", "plan.toml", "--out", "out"]);
    let records = fs::read_to_string(place.path.join("out/records.json"));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let run: Run = serde_json::from_str(&records.expect(&said)).expect("a run");
    let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
    assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
    let of = |server: &str| {
        let is_it =
            |value: Option<&desk::record::Value>| value.and_then(|v| v.word()) == Some(server);
        let good = run.records.iter().filter(|record| record.outcome.fault.is_none());
        good.filter(|r| is_it(r.trial.settings.get("server"))).collect::<Vec<_>>()
    };
    let (builtin, nginx) = (of("builtin"), of("nginx"));
    assert!(!builtin.is_empty() && !nginx.is_empty(), "{said}");
    for record in nginx {
        let version = record.outcome.made_with["version"].to_string();
        assert!(version.contains("nginx/"), "{version}");
        let cpu = |host: &str| {
            let mut all = record.readings.iter();
            let found = all.find(|r| r.host == host && r.probe == "process" && r.key == "cpu");
            found.map_or(0.0, |reading| reading.quantity.value)
        };
        assert!(cpu("sut") > 0.05, "the CPU of its processes is the server's: {}", cpu("sut"));
    }
    assert_eq!(left(), Vec::<String>::new());
}

#[test]
fn a_killed_run_leaves_no_service() {
    let place = Place::new("services-killed");
    if !has_nginx() {
        return;
    }
    let plan = PLAN.replace("\"builtin\", \"nginx\"", "\"nginx\", \"builtin\"");
    fs::write(place.path.join("plan.toml"), plan.replace("blocks = 3", "blocks = 300"))
        .expect("a plan");
    for turn in 0..kills("STEND_KILLS", 5) {
        let running = place.start(&["run", "plan.toml", "--out", &format!("out{turn}")]);
        assert!(until(LIMIT, || !left().is_empty()).is_some(), "no service was put up");
        std::thread::sleep(kill::chance(Duration::from_secs(1)));
        let pid = running.kill();
        let gone = until(LIMIT, || left().is_empty() && place.left_by(pid).is_empty());
        assert!(gone.is_some(), "{:?} {:?}", left(), place.left_by(pid));
    }
}
