//! Knows that a parameter of the load is switched as a factor, and that the system under test keeps
//! to the CPUs that it is given, on a real lab over loopback, which needs no right.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::record::{Run, TrialRecord, Value};
use std::fs;
use std::process::Command;

const METHOD: &str = "[method]\nblocks = 3\ndry = false\nsteady = \"noted\"\nsettle = \"50 ms\"\n\
                      settle_max = \"50 ms\"\nwindow = \"100 ms\"\n";

/// A short run over loopback, and what it said.
fn run(name: &str, plan: &str) -> (Option<Run>, String) {
    let path = std::env::temp_dir().join(format!("stend-load-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).expect("a directory");
    fs::write(path.join("plan.toml"), plan).expect("a plan");
    let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
    command.args(["run", "plan.toml", "--lab", "loopback", "--out", "out"]);
    command.current_dir(&path).env("XDG_STATE_HOME", path.join("state"));
    let output = command.output().expect("it starts");
    let text = fs::read_to_string(path.join("out/records.json")).ok();
    fs::remove_dir_all(&path).expect("it is ours");
    let run = text.map(|text| serde_json::from_str(&text).expect("a run"));
    (run, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn good(run: &Run) -> impl Iterator<Item = &TrialRecord> {
    run.records.iter().filter(|record| record.outcome.fault.is_none())
}

#[test]
fn a_parameter_of_the_load_is_switched_and_told_back() {
    let plan = format!(
        "title = \"t\"\n[lab]\nclients = 1\n[factors.placement]\nlevels = [\"same\", \"none\"]\n\
         [load.net]\nworkload = \"tcp_stream\"\n{METHOD}"
    );
    let (run, words) = run("placement", &plan);
    let run = run.expect(&words);
    let mut met = Vec::new();
    for record in good(&run) {
        let asked = &record.trial.settings["placement"];
        assert_eq!(record.outcome.made_with.get("placement"), Some(asked));
        assert_eq!(record.observed.get("placement"), Some(asked));
        met.push(asked.to_string());
    }
    assert!(met.iter().any(|m| m == "same") && met.iter().any(|m| m == "none"), "{words}");
}

#[test]
fn the_system_under_test_keeps_to_its_cpus() {
    let plan = format!(
        "title = \"t\"\n[lab]\nclients = 1\n[factors.cpus]\nlevels = [1, \"0-0\"]\n\
         [load.net]\nworkload = \"tcp_stream\"\nstreams = 2\n{METHOD}"
    );
    // A container may keep CPU 0 from us: then the refusal says which there are.
    let (run, words) = run("cpus", &plan);
    let Some(run) = run else {
        assert!(words.contains("CPU 0 is none of those that we may use"), "{words}");
        return;
    };
    let mut met = 0;
    for record in good(&run) {
        assert_eq!(record.observed.get("cpus"), record.trial.settings.get("cpus"));
        met += u32::from(record.observed["cpus"] == Value::Count(1));
    }
    assert!(met > 0, "{words}");
}

#[test]
fn more_cpus_than_there_are_and_what_no_load_hears_are_refused() {
    let load = "[load.net]\nworkload = \"tcp_stream\"\n";
    let plan = format!("title = \"t\"\n[lab]\nclients = 1\ncpus = 1024\n{load}{METHOD}");
    let (run, words) = self::run("many", &plan);
    assert!(run.is_none() && words.contains("1024 CPUs are asked for"), "{words}");
    let plan = format!(
        "title = \"t\"\n[lab]\nclients = 1\n[factors.openssl_ia32cap]\n\
         levels = [\"all\", \"plain\"]\n{load}{METHOD}"
    );
    let (_, words) = self::run("deaf", &plan);
    assert!(words.contains("load 'net' runs nothing that reads openssl_ia32cap"), "{words}");
}

#[test]
fn a_machine_is_left_idle_for_a_window_among_the_states_of_its_load() {
    let plan = format!(
        "title = \"t\"\n[lab]\nclients = 1\n[load.net]\nworkload = \"tcp_stream\"\n\
         search = {{ kind = \"states\" }}\n{METHOD}"
    );
    let (run, words) = run("states", &plan);
    let run = run.expect(&words);
    let load = &run.plan.loads[0];
    let (idle, busy): (Vec<&TrialRecord>, Vec<&TrialRecord>) =
        good(&run).partition(|record| load.is_idle(&record.trial.point.params));
    assert!(!idle.is_empty() && busy.len() >= idle.len(), "{words}");
    for record in idle {
        let outcome = &record.outcome;
        assert_eq!((outcome.samples.len(), outcome.work.sent_bytes), (0, 0));
        assert!((0.099..0.2).contains(&outcome.window.seconds()), "{:?}", outcome.window);
        assert!(record.readings.iter().any(|r| r.probe == "cpu" && r.key == "busy"), "{words}");
    }
    assert!(busy.iter().all(|record| record.outcome.work.sent_bytes > 0), "{words}");
}
