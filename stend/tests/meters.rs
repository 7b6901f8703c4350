//! Knows that what meters and adapters count reaches the article: energy from the files of a meter
//! by the probe, pause frames from what `rig/src/probe/counts.rs` reads of a simulated kernel.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::record::{Reading, Run};
use desk::unit::{Quantity, Unit};
use desk::verdict::analyse;
use press::report::{Bundle, compose, text};
use rig::lab::Ours;
use rig::probe::{Moment, PowerProbe, Probe};
use std::fs;
use std::time::Duration;

const RUN: &str = include_str!("../../rig/src/store/golden/run-3.json");
const PAUSE: &str = include_str!("../../rig/src/probe/golden/pause.json");

/// What the probe reads of a package that takes 1 J within the window.
fn energy() -> Vec<Reading> {
    let root = std::env::temp_dir().join(format!("stend-meters-{}", std::process::id()));
    let zone = root.join("sys/class/powercap/intel-rapl:0");
    fs::create_dir_all(&zone).expect("a directory");
    let set = |file: &str, text: &str| fs::write(zone.join(file), text).expect("a file");
    set("name", "package-0\n");
    set("max_energy_range_uj", "262143328850\n");
    set("energy_uj", "262143328000\n");
    let moment = Moment { ours: &Ours::default(), soaker: &[] };
    let mut probe = PowerProbe::new(&root);
    probe.prepare(&Ours::default());
    probe.begin(&moment);
    std::thread::sleep(Duration::from_millis(20));
    set("energy_uj", "999150\n");
    let readings = probe.end(&moment);
    fs::remove_dir_all(&root).expect("it was there");
    readings
}

fn article(run: &Run) -> String {
    text(&compose(run, &analyse(run)).expect("an article"), 200, true)
}

#[test]
fn energy_and_pause_frames_are_in_the_article_and_in_the_one_that_its_file_makes_again() {
    let mut run: Run = serde_json::from_str(RUN).expect("a run");
    let before = article(&run);
    assert!(!before.contains("pause frames") && !before.contains("energy.package-0"), "{before}");
    let mut readings: Vec<Reading> = serde_json::from_str(PAUSE).expect("readings");
    readings.extend(energy());
    assert_eq!(readings.len(), 5, "3 of the adapter, joules and watts: {readings:?}");
    readings.push(Reading {
        probe: "probe".into(),
        host: "machine".into(),
        key: "cost".into(),
        quantity: Quantity::new(0.004, Unit::Share),
    });
    run.records.iter_mut().for_each(|record| record.readings.retain(|r| r.probe != "probe"));
    run.records.iter_mut().for_each(|record| record.readings.extend(readings.clone()));
    let said = article(&run);
    for words in ["The adapter eth7 sent ", " pause frames and received 0, in "] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let row = |name: &str| {
        let line = said.lines().find(|line| line.contains(name));
        line.unwrap_or_else(|| panic!("no row {name} in {said}"))
    };
    assert!(row("power energy.package-0").contains("1 J"), "{said}");
    assert!(row("power watts.package-0").contains(" W"), "{said}");
    assert!(row("nic tx_pause.eth7").contains("1000"), "{said}");
    assert!(row("nic fcs_errors.eth7").contains('2'), "{said}");
    assert!(row("Cost of the probes").contains("0.400 % of a core"), "{said}");
    let again = Bundle::of_run(&run).document().expect("an article");
    assert_eq!(text(&again, 200, true), said);
}
