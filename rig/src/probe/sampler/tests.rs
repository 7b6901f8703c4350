//! Tests of the sampler over file trees, a fixture of a controller, and this machine.

use super::super::fixture::{Mortal, Tree};
use super::super::ipmi::Meter;
use super::super::ipmi::tests::{CAPTURED, Fixture};
use super::*;
use desk::unit::Quantity;
use std::fmt::Write as _;

fn pause(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

/// What is sampled in a window in which this happens.
fn over(sampler: &mut Sampler, within: impl FnOnce()) -> Sampled {
    sampler.open(clock::now_ns());
    within();
    sampler.close(clock::now_ns());
    sampler.take()
}

fn track<'s>(sampled: &'s Sampled, key: &str) -> Option<&'s Track> {
    sampled.tracks.iter().find(|track| track.key == key)
}

/// `/proc/stat` of so many CPUs, each idle for so many ticks.
fn stat(idle: &[u64]) -> String {
    let mut text = String::from("cpu  0 0 0 0 0 0 0 0 0 0\n");
    for (cpu, idle) in idle.iter().enumerate() {
        writeln!(text, "cpu{cpu} 1 2 3 {idle} 0 0 0 0 0 0").unwrap();
    }
    text + "intr 5 6 7\nctxt 9\n"
}

fn adapter(tree: &Tree, bytes: u64) {
    let folder = "sys/class/net/eth1";
    tree.directory(&format!("{folder}/device"));
    for file in ["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"] {
        tree.file(&format!("{folder}/statistics/{file}"), &format!("{bytes}\n"));
    }
}

fn package(tree: &Tree, energy: u64) {
    let folder = "sys/class/powercap/intel-rapl:0";
    tree.file(&format!("{folder}/name"), "package-0\n");
    tree.file(&format!("{folder}/max_energy_range_uj"), "262143328850\n");
    tree.file(&format!("{folder}/energy_uj"), &format!("{energy}\n"));
}

#[test]
fn a_window_has_a_course_of_each_source_that_was_there_and_its_sum_is_that_of_the_edges() {
    let tree = Tree::new("sampler");
    tree.file("proc/stat", &stat(&[100; 2]));
    tree.file("proc/net/softnet_stat", "00000001 ffffffff 0\n00000001 00000000 0\n");
    tree.file("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:      2048 kB\n");
    tree.file("proc/net/snmp", "Tcp: A RetransSegs\nTcp: 1 2\n");
    tree.file("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    tree.file("sys/class/thermal/thermal_zone0/temp", "45000\n");
    tree.file("sys/class/thermal/thermal_zone1/type", "acpitz\n");
    tree.file("sys/class/thermal/thermal_zone1/temp", "99000\n");
    adapter(&tree, 4_294_967_000);
    package(&tree, 262_143_328_000);
    let mut sampler = Sampler::new(tree.root());
    sampler.prepare(false, &Ours::default()).unwrap();
    let opened_ns = clock::now_ns();
    let sampled = over(&mut sampler, || {
        pause(150);
        adapter(&tree, 704);
        package(&tree, 1_000_000 - 850);
        tree.file("proc/stat", &stat(&[105, 100]));
        pause(150);
    });
    let length = quantity(clock::now_ns() - opened_ns).value;
    let bytes = track(&sampled, "rx_bytes.eth1").unwrap();
    assert_eq!((bytes.probe.as_str(), bytes.unit), ("nic", Unit::BytePerSecond));
    assert!(bytes.values.len() >= 3 && bytes.step == Quantity::seconds(0.1), "{bytes:?}");
    let sum: f64 = bytes.values.iter().map(|rate| rate * 0.1).sum();
    assert!((900.0..1400.0).contains(&sum), "1,000 past a wrap: {bytes:?}");
    let watts = track(&sampled, "watts.package-0").unwrap();
    let joules: f64 = watts.values.iter().map(|watts| watts * 0.1).sum();
    assert!((0.9..1.4).contains(&joules), "1 J past the range: {watts:?}");
    let (busy, busiest) = (track(&sampled, "busy").unwrap(), track(&sampled, "busiest").unwrap());
    let mean = |track: &Track| track.values.iter().sum::<f64>() / track.values.len() as f64;
    assert!(mean(busiest) > mean(busy) && mean(busy) > 0.5, "50 of 600 ms idle, in {length} s");
    assert_eq!(track(&sampled, "available").unwrap().values, [2_097_000.0], "four digits");
    assert_eq!(track(&sampled, "packages").unwrap().values, [45.0]);
    assert_eq!(track(&sampled, "softnet.dropped"), None, "none were dropped");
    assert!(sampled.readings.is_empty(), "there is no controller");
}

#[test]
fn a_source_that_fails_vanishes_or_was_reset_has_no_course_and_the_others_have() {
    let tree = Tree::new("sampler-eio");
    let device = Mortal::new();
    tree.eio("proc/stat");
    tree.file("proc/meminfo", "MemAvailable: 1 kB\n");
    adapter(&tree, 5_000);
    tree.link("sys/class/net/eth1/statistics/tx_bytes", &device.file());
    let mut sampler = Sampler::new(tree.root());
    sampler.prepare(false, &Ours::default()).unwrap();
    let sampled = over(&mut sampler, || {
        pause(50);
        tree.file("sys/class/net/eth1/statistics/rx_bytes", "10\n");
        tree.file("sys/class/net/eth1/statistics/rx_packets", "6000\n");
        device.end();
    });
    let keys: Vec<&str> = sampled.tracks.iter().map(|track| track.key.as_str()).collect();
    assert_eq!(keys, ["rx_packets.eth1", "available"]);
}

#[test]
fn five_hundred_and_twelve_cpus_are_two_courses() {
    let tree = Tree::new("sampler-512");
    tree.file("proc/stat", &stat(&[7; 512]));
    let mut sampler = Sampler::new(tree.root());
    sampler.prepare(false, &Ours::default()).unwrap();
    let sampled = over(&mut sampler, || pause(120));
    assert_eq!(sampled.tracks.len(), 2, "{:?}", sampled.tracks);
    assert!(sampled.tracks.iter().all(|track| track.values.iter().all(|busy| *busy == 1.0)));
    // Beside a soaker CPUs are never idle.
    sampler.prepare(true, &Ours::default()).unwrap();
    assert!(over(&mut sampler, || pause(20)).tracks.is_empty());
}

#[test]
fn a_controller_is_asked_and_its_power_becomes_the_boards_energy() {
    let tree = Tree::new("sampler-ipmi");
    let answer = || Ok(Some(CAPTURED.to_vec()));
    let fixture = Fixture::new(vec![answer(), Ok(None), answer(), answer()]);
    let mut feed = Feed::of_meter(Meter::by(Box::new(fixture)));
    feed.every = 1;
    let mut sampler = Sampler::new(tree.root());
    sampler.start(vec![feed]).unwrap();
    let sampled = over(&mut sampler, || pause(550));
    let watts = track(&sampled, "watts.board").unwrap();
    assert!(watts.values.iter().all(|watts| (watts - 187.0).abs() < 0.5), "{watts:?}");
    let of = |key: &str| sampled.readings.iter().find(|r| r.key == key).unwrap().quantity;
    assert!((of("watts.board").value - 187.0).abs() < 1e-6);
    let joules = of("energy.board");
    assert!(joules.unit == Unit::Joule && (100.0..187.0).contains(&joules.value), "{joules:?}");
}

#[test]
fn a_controller_that_refuses_or_goes_has_no_course() {
    let gone = || Err(io::Error::from_raw_os_error(libc::ENODEV));
    for answers in [vec![Ok(Some(vec![0xc1]))], vec![Ok(Some(CAPTURED.to_vec())), gone()]] {
        let mut feed = Feed::of_meter(Meter::by(Box::new(Fixture::new(answers))));
        feed.every = 1;
        let mut sampler = Sampler::new(Path::new("/nonexistent"));
        sampler.start(vec![feed]).unwrap();
        assert_eq!(over(&mut sampler, || pause(350)), Sampled::default());
    }
}

#[test]
fn a_load_that_fails_leaves_no_thread_behind_and_no_course() {
    let mut sampler = Sampler::new(Path::new("/"));
    assert_eq!(sampler.cpu_ns(), 0);
    sampler.prepare(false, &Ours::default()).unwrap();
    assert_eq!(sampler.take(), Sampled::default(), "it never opened");
    sampler.prepare(false, &Ours::default()).unwrap();
    sampler.open(clock::now_ns());
    assert_eq!(sampler.take(), Sampled::default(), "it never closed");
    sampler.prepare(false, &Ours::default()).unwrap();
    sampler.prepare(false, &Ours::default()).unwrap();
    let here = over(&mut sampler, || pause(120));
    assert!(track(&here, "busy").is_some() && track(&here, "available").is_some(), "{here:?}");
}
