//! Knows how a machine of a test joins a lab: in a namespace, by the commands that a person types.

pub mod machines;

use super::kill::{Place, STEND};
use super::moment;
use desk::record::{Run, TrialRecord};
use desk::stats::{equivalence_p, log_ratio};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for what takes milliseconds on a machine that is not busy.
pub const LIMIT: Duration = Duration::from_secs(20);

/// A machine that joins: its name, its namespace, and the directory for its key.
pub struct Joiner<'j> {
    pub name: &'j str,
    pub namespace: &'j str,
    pub dir: &'j str,
}

/// Invites a machine at an address of the conductor's namespace and joins it: what `stend agent
/// join` gave, and what `stend lab invite` said.
pub fn join(
    place: &Place,
    (conductor, address): (&str, &str),
    of: &Joiner<'_>,
) -> (Output, String) {
    let invite = [STEND, "lab", "invite", of.name, "--address", address, "--yes", "--dir", "lab"];
    let invite = inside(conductor, &invite);
    let mut command = Command::new(&invite[0]);
    command.args(&invite[1..]).current_dir(&place.path).stdout(Stdio::piped());
    let mut invites = command.spawn().expect("it starts");
    let mut lines = BufReader::new(invites.stdout.take().expect("a pipe")).lines();
    let mut said = String::new();
    let code = loop {
        let line = lines.next().expect("a line with the code").expect("text");
        said.push_str(&line);
        if let Some((_, code)) = line.split_once("agent join ") {
            break code.to_owned();
        }
    };
    let words = [STEND, "agent", "join", &code, "--dir", of.dir];
    let joined = run(place, &inside(of.namespace, &words));
    for line in lines {
        said.push('\n');
        said.push_str(&line.expect("text"));
    }
    assert!(invites.wait().expect("it ends").success(), "{said}");
    (joined, said)
}

/// Words that run a program in a namespace, or here where it has no name.
pub fn inside<'w>(namespace: &'w str, words: &[&'w str]) -> Vec<String> {
    let enter = ["nsenter".to_owned(), format!("--net=/run/netns/{namespace}")];
    let enter = enter.into_iter().filter(|_| !namespace.is_empty()).chain(["env".to_owned()]);
    enter.chain(words.iter().map(|word| (*word).to_owned())).collect()
}

/// What `stend lab doctor --json` says in the namespace of a conductor, by its published schema; it
/// ends with this status, within the time that it gives a machine which says nothing.
pub fn doctor(place: &Place, conductor: &str, status: i32) -> Value {
    let words = [STEND, "lab", "doctor", "--json", "--dir", "lab"];
    let begun = Instant::now();
    let output = run(place, &inside(conductor, &words));
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(status), "{}", errors(&output));
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema/lab-doctor.schema.json");
    let schema = serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(&said).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    said
}

/// The text at a place of an answer of the doctor.
pub fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

/// How much of a capability the doctor says a machine has.
pub fn state<'v>(machine: &'v Value, name: &str) -> &'v str {
    let all = machine["capabilities"].as_array().expect("a list");
    let one = all.iter().find(|one| one["name"] == name).expect("a capability");
    one["state"].as_str().expect("a word")
}

/// An ordinary user: no account is needed to be one.
const USER: u32 = 12_345;

/// Words that run stend as an ordinary user with a home of its own, which gets this directory.
pub fn as_user(place: &Place, dir: &str) -> Vec<String> {
    // Not `stend`: that is the directory of the store.
    let binary = place.path.join("stend-of-all");
    if !binary.exists() {
        let linked = fs::hard_link(STEND, &binary);
        linked.or_else(|_| fs::copy(STEND, &binary).map(drop)).expect("a binary for all");
    }
    fs::create_dir_all(place.path.join("home")).expect("a home");
    let owner = format!("{USER}:{USER}");
    let mut chown = Command::new("chown");
    let owned = chown.args(["-R", &owner, dir, "home"]).current_dir(&place.path).status();
    assert!(owned.expect("coreutils").success());
    let (user, home) = (USER.to_string(), format!("HOME={}", place.path.join("home").display()));
    let words = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "env"];
    let own = ["-u", "STEND_JOURNAL", "-u", "XDG_STATE_HOME", &home];
    let words = words.into_iter().chain(own).map(str::to_owned);
    words.chain([binary.display().to_string()]).collect()
}

/// Runs a program to its end.
pub fn run(place: &Place, words: &[String]) -> Output {
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What a program said of its errors.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Carries out lines of `ip`.
pub fn ip(lines: &[String]) {
    for line in lines {
        let made = Command::new("ip").args(line.split(' ')).status().expect("iproute2");
        assert!(made.success(), "ip {line}");
    }
}

/// Whether an agent listens in a namespace.
pub fn listens(namespace: &str) -> bool {
    let sockets = ["netns", "exec", namespace, "cat", "/proc/net/tcp"];
    let sockets = Command::new("ip").args(sockets).output().expect("iproute2");
    // Port 7000, in the state of listening: proc(5).
    String::from_utf8_lossy(&sockets.stdout).contains(":1B58 00000000:0000 0A")
}

/// Removes namespaces, with all that is in them.
pub fn remove(namespaces: &[&str]) {
    for name in namespaces {
        let _ = Command::new("ip").args(["netns", "delete", name]).output();
    }
}

/// The run whose records are in a directory.
pub fn read(place: &Place, out: &str) -> Run {
    let text = fs::read_to_string(place.path.join(out).join("records.json")).expect("records");
    serde_json::from_str(&text).expect("a run")
}

/// Its valid trials; the others are invalid by events of the machine alone.
pub fn good(run: &Run) -> Vec<&TrialRecord> {
    let machine = |r: &TrialRecord| r.outcome.fault.as_ref().is_none_or(moment::of_the_machine);
    assert!(run.records.iter().all(machine), "{:?}", run.records.iter().map(|r| &r.outcome.fault));
    let good: Vec<_> = run.records.iter().filter(|r| r.outcome.fault.is_none()).collect();
    assert!(good.len() >= 6, "{} good visits", good.len());
    good
}

/// Whether rates are equivalent within a margin of 5 %, by two one-sided tests over what both have.
pub fn must_be_equivalent<K: Ord>(ours: &BTreeMap<K, f64>, theirs: &BTreeMap<K, f64>, what: &str) {
    let log = |(at, rate): (&K, &f64)| log_ratio(*rate, *theirs.get(at)?);
    let logs: Vec<f64> = ours.iter().filter_map(log).collect();
    let p = equivalence_p(&logs, 0.05);
    assert!(p.is_some_and(|p| p < 0.05), "{what}: p {p:?} of {logs:?}");
}
