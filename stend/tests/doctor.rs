//! Knows that the doctor foretells: in six profiles of a machine every test that it calls possible
//! runs, and every other fails with the reason that it gave; and that it changes nothing.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

mod moment;

use desk::plan::{Catalogue, order, read};
use desk::record::{Fault, LabKind, Plan, Run, SteadyRule, TrialKind, TrialRecord, WorkloadSpec};
use desk::unit::{Quantity, Unit};
use moment::{full, good_or_disturbed, taken, visits};
use rig::factor;
use rig::lab::sim::Physics;
use rig::lab::{Blueprint, Wanted};
use rig::run::{Bench, Orders, Simulated, Stand, conduct};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

const STEND: &str = env!("CARGO_BIN_EXE_stend");
/// Names the file with the visits that a copy of this test is to make.
const VISITS: &str = "STEND_TEST_VISITS";

/// The shortest times that a plan may have, seconds; and times in which a packet that a busy
/// machine lost is sent again (TCP waits 0.2 s for that).
const SHORT_S: f64 = 0.05;
const LONG_S: f64 = 0.6;

/// Labs are heavy: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static NEVER: AtomicBool = AtomicBool::new(false);

fn lock() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A directory that everybody may write to, with copies of the programs that everybody may execute.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-doc-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("open to all");
        fs::copy(STEND, path.join("stend")).expect("a copy");
        let own = std::env::current_exe().expect("this test");
        fs::copy(own, path.join("visitor")).expect("a copy");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn stend(&self) -> String {
        self.path("stend")
    }

    /// Runs words in a profile; the state and the journal of that profile are its own.
    fn run(&self, profile: &Profile, words: &[&str], visits: Option<&str>) -> Output {
        let all: Vec<&str> = profile.words.iter().copied().chain(words.iter().copied()).collect();
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).current_dir(&self.0).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.0.join(profile.name));
        command.env("STEND_JOURNAL", self.0.join(profile.name).join("journal"));
        command.env_remove("COLUMNS");
        if let Some(file) = visits {
            command.env(VISITS, file);
        }
        command.output().expect("it starts")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a machine may be like, made by the words before a command.
struct Profile {
    name: &'static str,
    words: Vec<&'static str>,
}

/// In a user namespace of its own that may have none below it, without a capability.
const NO_USER_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv \
                                  --bounding-set=-all --inh-caps=-all --no-new-privs \"$@\"";
/// Every hierarchy of control groups is read-only.
const NO_GROUPS: &str = "for at in $(awk '$3 ~ /^cgroup/ {print $2}' /proc/self/mounts); do \
                         mount -o remount,bind,ro \"$at\" || exit 99; done; exec \"$@\"";
const READ_ONLY_SYS: &str = "mount -o remount,bind,ro /sys || exit 99; exec \"$@\"";

/// The six, in the order of the issue; the mount namespaces and the change of user need root.
fn profiles() -> Vec<Profile> {
    let profile = |name, words: &[&'static str]| Profile { name, words: words.to_vec() };
    vec![
        profile("root", &["env"]),
        profile("user", &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]),
        profile("no-userns", &["unshare", "-Ur", "sh", "-c", NO_USER_NAMESPACES, "sh"]),
        profile("no-groups", &["unshare", "-m", "sh", "-c", NO_GROUPS, "sh"]),
        profile("read-only-sys", &["unshare", "-m", "sh", "-c", READ_ONLY_SYS, "sh"]),
        profile("no-bpf", &["setpriv", "--bounding-set=-bpf,-sys_admin", "--inh-caps=-all"]),
    ]
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What the doctor says in a profile; none, aloud, where this machine cannot make the profile.
fn doctor(place: &Place, profile: &Profile) -> Option<Value> {
    if !place.run(profile, &["true"], None).status.success() {
        println!("skipped: profile {} cannot be made here", profile.name);
        return None;
    }
    let output = place.run(profile, &[&place.stend(), "doctor", "--json", "--no-noise"], None);
    assert_eq!(output.status.code(), Some(0), "{}: {}", profile.name, stderr(&output));
    Some(serde_json::from_slice(&output.stdout).expect("json"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn tests(said: &Value) -> &Vec<Value> {
    said["tests"].as_array().expect("tests")
}

/// State and evidence of an item.
fn item<'v>(said: &'v Value, name: &str) -> (&'v str, &'v str) {
    let all = said["capabilities"].as_array().expect("capabilities");
    let found = all.iter().find(|item| text(item, "name") == name).expect(name);
    (text(found, "state"), text(found, "evidence"))
}

/// The reason that the doctor gave for a test in a lab; empty if it is possible.
fn reason<'v>(said: &'v Value, id: &str, lab: &str) -> &'v str {
    let test = tests(said).iter().find(|t| text(t, "id") == id && text(t, "lab") == lab);
    test.map_or("there is no such test", |test| text(test, "reason"))
}

/// Every test that is called impossible is run as a person would, and refused in those words. Of
/// those that a lab refuses for one reason, in whatever profile, the first stands for all, but with
/// 1 visit in 1.
fn impossible_fail(
    (place, profile): (&Place, &Profile),
    said: &Value,
    seen: &mut BTreeSet<(String, String)>,
) -> usize {
    let mut failed = 0;
    for test in looked_at(said, false) {
        let (id, lab, why) = (text(test, "id"), text(test, "lab"), text(test, "reason"));
        // Factors that an adapter lacks alike fail alike.
        let kind = if why.contains("does not have it") { "lacking" } else { why };
        if !seen.insert((lab.into(), kind.into())) && !full() {
            continue;
        }
        let file = place.path("plan.toml");
        fs::write(&file, text(test, "plan")).expect("a plan");
        let out = place.path(&format!("{}-out", profile.name));
        let words = [&place.stend(), "run", &file, "--lab", lab, "--out", &out];
        let output = place.run(profile, &words, None);
        let told = stderr(&output);
        assert!(!output.status.success(), "{}: {id} in {lab} runs", profile.name);
        assert!(!why.is_empty() && told.contains(why), "{}: {id}: {why}\n{told}", profile.name);
        failed += 1;
    }
    failed
}

/// Of the tests that are called possible in a profile one in this many is visited; with 1 also
/// every test that fails as others do. Each factor is set and undone by the contract, too.
fn one_in(profile: &Profile) -> usize {
    visits().unwrap_or(if profile.name == "root" { 90 } else { 108 })
}

/// Settings of the kernel are set alike, by one row: of their tests one in this many is looked at,
/// but with 1 visit in 1 all.
const ALIKE: usize = 10;

/// The tests of one answer that are looked at.
fn looked_at(said: &Value, possible: bool) -> impl Iterator<Item = &Value> {
    let all = tests(said).iter().filter(move |test| test["possible"] == json!(possible));
    let (settings, others): (Vec<_>, Vec<_>) = all.partition(|test| text(test, "id").contains('.'));
    let step = if full() { 1 } else { ALIKE };
    others.into_iter().chain(settings.into_iter().step_by(step))
}

/// Tests that are called possible are visited once, in a lab of that kind in that profile.
fn possible_run(place: &Place, profile: &Profile, said: &Value) -> usize {
    let mut by_lab: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for test in looked_at(said, true) {
        by_lab.entry(text(test, "lab")).or_default().push(test);
    }
    let mut ran = 0;
    for (lab, tests) in by_lab {
        let tests: Vec<&Value> = tests.into_iter().step_by(one_in(profile)).collect();
        let file = place.path(&format!("{}-{lab}.json", profile.name));
        let visits = json!({ "lab": lab, "binary": place.stend(), "tests": tests });
        fs::write(&file, visits.to_string()).expect("visits");
        let visitor = place.path("visitor");
        let words = [&visitor, "--exact", "a_visitor_makes_its_visits", "--nocapture"];
        let output = place.run(profile, &words, Some(&file));
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{} {lab}: {told}{}", profile.name, stderr(&output));
        let begin = |words: &str| told.lines().filter(|line| line.contains(words)).count();
        let (done, skipped) = (begin("visited "), begin("left out: "));
        assert_eq!(done + skipped, tests.len(), "{} {lab}: {told}", profile.name);
        assert!(skipped <= 1, "{} {lab}: {told}", profile.name);
        if skipped > 0 {
            println!("skipped: no visit to factor smt in {} {lab}", profile.name);
        }
        ran += done;
    }
    ran
}

fn parse(text: &str) -> Plan {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    read(text, &Catalogue { workloads: &workloads, factors: factor::ALL }).expect("a plan")
}

/// A plan with these times only; what it sets and loads stays.
fn shortened(plan: &Plan, seconds: f64) -> Plan {
    let mut plan = plan.clone();
    let short = Quantity::new(seconds, Unit::Second);
    let method = &mut plan.method;
    (method.settle, method.settle_max, method.window) = (short, short, short);
    (method.dry, method.steady) = (false, SteadyRule::Noted);
    plan
}

/// The lab of a kind, with every link that any of these plans names; of a plan with hosts between
/// links, which is alone, that of the plan.
fn stand(job: &Value, plans: &[(&str, Plan)]) -> Box<dyn Stand> {
    let kind = match text(job, "lab") {
        "sim" => {
            let physics = Physics::read("").expect("the built-in physics");
            return Box::new(Simulated::new(physics, loads::ALL, &NEVER));
        }
        "root" => LabKind::RootNamespaces,
        "user" => LabKind::UserNamespaces,
        _ => LabKind::Loopback,
    };
    let mut links: Vec<String> = Vec::new();
    for link in plans.iter().flat_map(|(_, plan)| &plan.lab.links) {
        if !links.contains(&link.name) {
            links.push(link.name.clone());
        }
    }
    let binary = PathBuf::from(text(job, "binary"));
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let wanted = Wanted::Only(kind);
    let blueprint = match plans {
        [(_, plan)] if !plan.lab.hosts.is_empty() => Blueprint { wanted, lab: plan.lab.clone() },
        _ => Blueprint::of_all(wanted, 1, &links),
    };
    let machine = rig::keeper::here(&binary, &NEVER).expect("an agent");
    Box::new(Bench::build(&blueprint, loads::ALL, vec![machine]).expect("a lab"))
}

/// Visits the first trial of a plan; gives the fault of the last visit to it.
fn visit(stand: &mut dyn Stand, plan: &Plan) -> Option<Fault> {
    let mut trials = order(plan);
    trials.retain(|trial| trial.kind == TrialKind::Counted);
    let trials = trials.into_iter().take(1).map(|trial| (trial, 1)).collect();
    let (keep, enough) = (&mut |_: &TrialRecord| Ok(()), &mut |_| false);
    let orders = Orders { plan, trials, kept: &[], before_s: 0.0, keep, enough, tell: &mut |_| () };
    let visited = conduct(stand, orders).expect("visits");
    visited.records.last().expect("a record").outcome.fault.clone()
}

/// Not a test of its own: the others start it in a profile.
#[test]
fn a_visitor_makes_its_visits() {
    let Some(file) = std::env::var_os(VISITS) else { return };
    let job: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let tests = job["tests"].as_array().unwrap();
    let plans: Vec<(&str, Plan)> =
        tests.iter().map(|t| (text(t, "id"), parse(text(t, "plan")))).collect();
    let (own, shared): (Vec<_>, Vec<_>) =
        plans.into_iter().partition(|(_, plan)| !plan.lab.hosts.is_empty());
    for plans in own.chunks(1).chain([&*shared].into_iter().filter(|shared| !shared.is_empty())) {
        let mut stand = stand(&job, plans);
        for (id, plan) in plans {
            visit_possible(stand.as_mut(), (id, plan));
        }
    }
}

/// Visits what is called possible, once more and longer where it came to nothing.
fn visit_possible(stand: &mut dyn Stand, (id, plan): (&str, &Plan)) {
    // Switching siblings on again brings back CPUs that somebody has taken away.
    if id == "factor smt" {
        println!("left out: {id}");
        return;
    }
    let mut fault = visit(stand, &shortened(plan, SHORT_S));
    // A run is not refused for it: it says of every cell what the machine lacks.
    if let Some(Fault::NotAvailable { what }) = &fault {
        println!("visited {id}, which says: {what}");
        return;
    }
    if !good_or_disturbed(fault.as_ref()) {
        println!("{id}: {fault:?}, once more and longer");
        fault = visit(stand, &shortened(plan, LONG_S));
    }
    assert!(good_or_disturbed(fault.as_ref()), "{id}: {fault:?}");
    println!("visited {id}");
}

#[test]
fn tests_called_possible_run_and_every_other_fails_with_the_reason_given() {
    let _lock = lock();
    if !is_root() {
        println!("skipped: needs root, to make the profiles");
        return;
    }
    let place = Place::new("profiles");
    let mut seen = BTreeSet::new();
    for profile in profiles() {
        fs::create_dir_all(place.0.join(profile.name)).expect("a directory");
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(place.0.join(profile.name), open).expect("open to all");
        let begun = std::time::Instant::now();
        let Some(said) = doctor(&place, &profile) else { continue };
        is_what_it_is_called(profile.name, &said);
        let failed = impossible_fail((&place, &profile), &said, &mut seen);
        let ran = possible_run(&place, &profile, &said);
        let seconds = begun.elapsed().as_secs();
        println!("{}: {ran} ran, {failed} failed as foretold, {seconds} s", profile.name);
        if profile.name == "no-groups" {
            groups_are_told_alike(&place, &profile, &said);
        }
    }
}

/// The profile has what its name says, or the test would show nothing.
fn is_what_it_is_called(profile: &str, said: &Value) {
    let refused = |id: &str, lab: &str, words: &str| {
        let why = reason(said, id, lab);
        assert!(why.contains(words), "{profile}: {id} in {lab}: {why}");
    };
    let anything = "workload tcp_stream (sys)";
    match profile {
        "user" => {
            refused(anything, "root", "unshare(CLONE_NEWNET): Operation not permitted");
            refused("factor swappiness", "loopback", "run as root");
        }
        "no-userns" => {
            refused(anything, "user", "unshare(CLONE_NEWUSER");
            refused("plan aa", "user", "unshare(CLONE_NEWUSER");
            assert_eq!(reason(said, anything, "loopback"), "");
        }
        "no-groups" => {
            let (state, evidence) = item(said, "control groups");
            assert_eq!(state, "absent", "{evidence}");
            assert_eq!(reason(said, anything, "root"), "");
        }
        "read-only-sys" => {
            refused("factor thp", "loopback", "Read-only file system");
            assert_eq!(reason(said, "factor netdev_budget", "loopback"), "");
        }
        "no-bpf" => {
            assert_eq!(item(said, "BPF").0, "absent", "{}", item(said, "BPF").1);
            refused(anything, "root", "Operation not permitted");
            // Its file may be opened, and the write is refused all the same.
            if Path::new("/proc/sys/kernel/numa_balancing").exists() {
                refused("factor numa_balancing", "loopback", "run as root");
            }
        }
        _ => assert_eq!(reason(said, anything, "root"), ""),
    }
}

/// What a run says of its control groups is what the doctor said.
fn groups_are_told_alike(place: &Place, profile: &Profile, said: &Value) {
    let test = tests(said).iter().find(|t| text(t, "id") == "factor congestion").expect("a test");
    let (file, out) = (place.path("groups.toml"), place.path("groups"));
    fs::write(&file, text(test, "plan")).expect("a plan");
    taken(|| place.run(profile, &[&place.stend(), "run", &file, "--out", &out], None));
    let records = fs::read_to_string(Path::new(&out).join("records.json")).expect("records");
    let run: Run = serde_json::from_str(&records).expect("a run");
    let told = run.environment().fact("lab.control_groups").expect("a fact");
    let why = told.strip_prefix("none: ").expect("a reason");
    let evidence = item(said, "control groups").1;
    assert!(evidence.contains(why), "{why} not in {evidence}");
    assert!(!run.records.iter().flat_map(|r| &r.readings).any(|r| r.probe == "cgroup"));
}

fn writable(entry: &fs::DirEntry) -> bool {
    entry.metadata().is_ok_and(|file| file.permissions().mode() & 0o200 != 0)
}

/// Every setting below `/proc/sys` that can be read, and the settings of the machine below `/sys`.
fn settings() -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![PathBuf::from("/proc/sys")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                // What nobody may write is a counter and no setting.
                Ok(kind) if kind.is_file() && writable(&entry) => {
                    let bytes = fs::read(entry.path());
                    found.extend(bytes.ok().map(|bytes| (entry.path(), bytes)));
                }
                _ => {}
            }
        }
    }
    // Every new process moves it, whoever starts it.
    found.remove(Path::new("/proc/sys/kernel/ns_last_pid"));
    for path in [
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/devices/system/cpu/smt/control",
        "/sys/devices/system/cpu/online",
    ] {
        found.extend(fs::read(path).ok().map(|bytes| (path.into(), bytes)));
    }
    found
}

/// Names of namespaces and control groups of the machine that a process of this number gave.
fn named_by(pid: u32) -> Vec<PathBuf> {
    let prefix = format!("stend-{pid}-");
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/run/netns"), PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn the_doctor_leaves_the_machine_as_it_was() {
    let _lock = lock();
    let place = Place::new("nothing");
    let changed = || {
        let (first, second) = (settings(), settings());
        let child = Command::new(STEND)
            .args(["doctor", "--json"])
            .current_dir(&place.0)
            .env("XDG_STATE_HOME", place.0.join("state"))
            .env("STEND_JOURNAL", place.0.join("journal"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let pid = child.id();
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(named_by(pid), Vec::<PathBuf>::new());
        let after = settings();
        // What the kernel counts by itself differs between two looks already.
        let steady = first.iter().filter(|(path, value)| second.get(*path) == Some(value));
        let differs = steady.filter(|(path, value)| after.get(*path) != Some(value));
        differs.map(|(path, _)| path.clone()).collect::<Vec<_>>()
    };
    // Others may change a setting meanwhile, and some counters move seldom; what the doctor
    // changed it would change every time.
    let mut always = changed();
    for _ in 0..4 {
        if always.is_empty() {
            break;
        }
        let again = changed();
        always.retain(|path| again.contains(path));
    }
    assert_eq!(always, Vec::<PathBuf>::new());
    let mut left: Vec<String> = fs::read_dir(&place.0)
        .expect("the place")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["stend", "visitor"], "neither state nor journal was made");
}

#[test]
fn where_nothing_can_be_kept_nothing_can_be_measured_and_the_status_says_so() {
    let _lock = lock();
    let (place, profile) = (Place::new("none"), Profile { name: "none", words: vec!["env"] });
    let nowhere = &place.path("stend/lab.stend");
    let words = [&place.stend(), "doctor", "--json", "--no-noise", "--store", nowhere];
    let output = place.run(&profile, &words, None);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let said: Value = serde_json::from_slice(&output.stdout).expect("json");
    assert_eq!(said["can_measure"], json!(false));
    assert_eq!(item(&said, "disk for the store").0, "absent");
    let why = reason(&said, "plan aa", "sim");
    let run = [&place.stend(), "run", "aa", "--lab", "sim", "--store", nowhere];
    let refused = place.run(&profile, &run, None);
    assert!(!why.is_empty() && stderr(&refused).contains(why), "{why}: {}", stderr(&refused));
}

#[test]
fn a_store_that_a_run_could_not_open_is_foretold() {
    let _lock = lock();
    let (place, profile) = (Place::new("foreign"), Profile { name: "none", words: vec!["env"] });
    fs::write(place.0.join("README.md"), "# no store").expect("a file");
    for store in [place.0.display().to_string(), place.path("README.md")] {
        let words = [&place.stend(), "doctor", "--json", "--no-noise", "--store", &store];
        let output = place.run(&profile, &words, None);
        assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
        let said: Value = serde_json::from_slice(&output.stdout).expect("json");
        let why = reason(&said, "plan aa", "sim");
        let run = [&place.stend(), "run", "aa", "--lab", "sim", "--store", &store];
        let refused = place.run(&profile, &run, None);
        assert_eq!(refused.status.code(), Some(1));
        assert!(!why.is_empty() && stderr(&refused).contains(why), "{why}: {}", stderr(&refused));
    }
}

#[test]
fn the_text_fits_its_columns_and_says_what_can_be_trusted() {
    let _lock = lock();
    let (place, profile) = (Place::new("text"), Profile { name: "text", words: vec!["env"] });
    for columns in ["80", "120"] {
        let set = format!("COLUMNS={columns}");
        let words = ["env", &set, &place.stend(), "doctor", "--no-noise"];
        let output = place.run(&profile, &words, None);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let most: usize = columns.parse().expect("a number");
        for line in text.lines() {
            assert!(line.chars().count() <= most, "{columns}: {line}");
        }
        for part in ["You can trust: ", "You cannot: ", "lab loopback", "plan nic-duel", "effect: "]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        for spec in factor::ALL {
            assert!(text.contains(spec.name), "{} in {text}", spec.name);
        }
    }
}

#[test]
fn explain_lists_the_workloads_and_tells_of_each() {
    let (place, profile) = (Place::new("explain"), Profile { name: "x", words: vec!["env"] });
    let all = place.run(&profile, &[&place.stend(), "explain"], None);
    assert_eq!(all.status.code(), Some(0));
    let all = String::from_utf8_lossy(&all.stdout).into_owned();
    for entry in loads::ALL {
        assert!(all.contains(entry.spec.name) && all.contains(entry.spec.question), "{all}");
        let one = place.run(&profile, &[&place.stend(), "explain", entry.spec.name], None);
        assert_eq!(String::from_utf8_lossy(&one.stdout), entry.readme);
    }
}
