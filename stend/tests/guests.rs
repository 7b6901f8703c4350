//! Knows that machines in software emulation join a lab and serve runs, and that the drivers of
//! the published adapters take or refuse settings there. What QEMU or a kernel is missing for is
//! skipped aloud.
#![cfg(feature = "machines")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;

use desk::record::Run;
use kill::{Place, Running, STEND, until};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Two guests boot in a quarter of a minute on two CPUs.
const BOOT: Duration = Duration::from_secs(240);
/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);

/// A load over the first adapters of servers that take turns, with these levels of a factor.
const PLAN: &str = r#"title = "Guests"
factors.sut.levels = ["server1", "server2"]
factors.FACTOR.levels = LEVELS
lab.clients = 1
load.net = { workload = "tcp_stream" }
method.compare = "sut"
method.blocks = 3
method.dry = false
method.steady = "noted"
method.settle = "200 ms"
method.settle_max = "200 ms"
method.window = "500 ms"
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

/// Two servers with different adapters, and the guest with the clients.
fn boot(place: &Place, kernel: &Path) -> Running {
    let made = place.stend(&["lab", "init", "--dir", "lab"]);
    assert!(made.status.success(), "{}", said(&made));
    let kernel = kernel.to_string_lossy();
    let words = ["lab", "guests", "--dir", "lab", "--kernel", &kernel];
    let servers = ["--server", "e1000-82540em", "--server", "e1000e-82574l"];
    let guests = place.start(&[&words[..], &servers].concat());
    let joined = until(BOOT, || place.path.join("lab.toml").exists());
    let log = || fs::read_to_string(place.path.join("log")).unwrap_or_default();
    assert!(joined.is_some(), "{}", log());
    guests
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run on the guests, with these levels of a factor.
fn run(place: &Place, factor: &str, levels: &str) -> Output {
    let plan = PLAN.replace("FACTOR", factor).replace("LEVELS", levels);
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
    let guests = boot(&place, &kernel);
    assert_eq!(emulators(&place).len(), 3);
    let taken = run(&place, "rx_ring", "[128, 256]");
    let records = fs::read_to_string(place.path.join("rx_ring/records.json"));
    assert!(records.is_ok(), "{}", said(&taken));
    let records: Run = serde_json::from_str(&records.expect("records")).expect("a run");
    let of = |machine: &str| {
        let found = records.environments.get(machine).expect(machine);
        assert_eq!(found.cpu.hypervisor.as_deref(), Some("QEMU software emulation (TCG)"));
        let eth1 = found.adapters.iter().find(|adapter| adapter.name == "eth1").expect("eth1");
        (eth1.driver.clone(), eth1.device_id.clone(), eth1.bus.is_some())
    };
    assert_eq!(of("local"), (Some("e1000".into()), Some("8086:100e".into()), true));
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
    let refused = run(&place, "rx_usecs", "[\"10 us\", \"100 us\"]");
    let words = said(&refused);
    assert_ne!(refused.status.code(), Some(0));
    assert!(words.contains("factor 'rx_usecs' cannot be set here"), "{words}");
    assert!(words.contains(":lan1 does not have it"), "{words}");
    guests.kill();
    let gone = until(LIMIT, || emulators(&place).is_empty());
    assert!(gone.is_some(), "{:?}", emulators(&place));
}
