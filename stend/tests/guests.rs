//! Knows that two machines in software emulation join a lab and serve runs, and that the drivers of
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
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Two guests boot in a quarter of a minute on two CPUs.
const BOOT: Duration = Duration::from_secs(240);
/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);

/// A load on one guest, whose adapters are joined to each other.
const PLAN: &str = r#"title = "Guest"
[lab]
clients = 1
[lab.links.lan]
kind = "adapter"
adapters = { sut = "eth1", clients = "eth2" }
[factors.FACTOR]
levels = LEVELS
[load.net]
workload = "tcp_stream"
[method]
blocks = 3
dry = false
steady = "noted"
settle = "200 ms"
settle_max = "200 ms"
window = "500 ms"
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

fn boot(place: &Place, kernel: &Path) -> Running {
    let made = place.stend(&["lab", "init", "--dir", "lab"]);
    assert!(made.status.success(), "{}", said(&made));
    let (kernel, adapters) = (kernel.to_string_lossy(), "e1000-82540em,e1000-82545em");
    let words =
        ["lab", "guests", "--dir", "lab", "--inside", "--kernel", &kernel, "--adapters", adapters];
    let guests = place.start(&words);
    let joined = until(BOOT, || place.path.join("lab.toml").exists());
    let log = || fs::read_to_string(place.path.join("log")).unwrap_or_default();
    assert!(joined.is_some(), "{}", log());
    guests
}

/// The address of the first guest.
fn address(place: &Place) -> String {
    let text = fs::read_to_string(place.path.join("lab.toml")).expect("a lab file");
    let lab: toml::Table = text.parse().expect("TOML");
    lab["machines"]["guest1"]["address"].as_str().expect("an address").to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run on the first guest, with these levels of a factor.
fn run(place: &Place, factor: &str, levels: &str) -> Output {
    let plan = PLAN.replace("FACTOR", factor).replace("LEVELS", levels);
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    let machine = format!("STEND_MACHINE={}", address(place));
    let words = ["env", &machine, "STEND_LAB_DIR=lab", STEND, "run", "plan.toml", "--out", factor];
    // Between two runs nobody listens for as long as an agent takes to start.
    let early = |output: &Output| said(output).contains("the lab cannot be built");
    let mut tries = (0..20).map(|_| {
        std::thread::sleep(Duration::from_millis(500));
        place.run(&words)
    });
    tries.find(|output| !early(output)).expect("an agent that listens")
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
fn a_guest_serves_runs_and_its_drivers_take_or_refuse_settings() {
    let Some(kernel) = kernel() else { return };
    let place = Place::new("guests");
    let guests = boot(&place, &kernel);
    assert_eq!(emulators(&place).len(), 2);
    let taken = run(&place, "rx_ring", "[128, 256]");
    let records = fs::read_to_string(place.path.join("rx_ring/records.json"));
    assert!(records.is_ok(), "{}", said(&taken));
    let records: Run = serde_json::from_str(&records.expect("records")).expect("a run");
    let cpu = &records.environment().cpu;
    assert_eq!(cpu.hypervisor.as_deref(), Some("QEMU software emulation (TCG)"));
    let of = |name: &str| {
        let adapters = &records.environment().adapters;
        let adapter = adapters.iter().find(|adapter| adapter.name == name).expect(name);
        (adapter.driver.clone(), adapter.device_id.clone(), adapter.bus.is_some())
    };
    assert_eq!(of("eth1"), (Some("e1000".into()), Some("8086:100e".into()), true));
    assert_eq!(of("eth2"), (Some("e1000".into()), Some("8086:100f".into()), true));
    let good: Vec<_> = records.records.iter().filter(|r| r.outcome.fault.is_none()).collect();
    assert!(!good.is_empty(), "{}", said(&taken));
    for record in good {
        let set = record.trial.settings.get("rx_ring").map(ToString::to_string);
        let read = record.observed.get("rx_ring").map(ToString::to_string);
        assert!(set.is_some() && set == read, "{set:?}, {read:?}");
    }
    let refused = run(&place, "rx_usecs", "[\"10 us\", \"100 us\"]");
    let words = said(&refused);
    assert_ne!(refused.status.code(), Some(0));
    assert!(words.contains("factor 'rx_usecs' cannot be set here"), "{words}");
    assert!(words.contains("the driver of sut:lan does not have it"), "{words}");
    guests.kill();
    let gone = until(LIMIT, || emulators(&place).is_empty());
    assert!(gone.is_some(), "{:?}", emulators(&place));
}
