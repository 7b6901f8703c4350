//! Knows that a run on a machine over TLS is the run that it is over a pair of sockets: same plan,
//! same figures, whatever the other clock says; and that an agent which loses its conductor ends
//! its load and brings everything back. Both machines are namespaces of this one, and are joined as
//! persons join them. What needs root is skipped aloud.
#![cfg(feature = "machines")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod joined;
#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::{LabKind, Run, TrialRecord};
use joined::{Joiner, LIMIT, errors, good, inside, ip, listens, must_be_equivalent, read, run};
use joined::{as_user, text};
use kill::{Place, Running, STEND, signal, until};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Output;
use std::time::Duration;

const CONDUCTOR: &str = "stend-conductor";
const AGENT: &str = "stend-machine";
const ADDRESS: &str = "198.19.254.2:7000";
const INVITES: &str = "198.19.254.1:7711";
/// An agent that hears nothing ends after 5 s; what it then undoes takes its time.
const LEASE_AND_UNDO: Duration = Duration::from_secs(15);

/// A load whose rate the plan sets, so that figures can be compared on a machine that others use.
const PACED: &str = r#"title = "Paced"
[lab]
clients = 2
[factors.tso]
levels = ["on", "off"]
[load.net]
workload = "tcp_stream"
offered_load = "200 Mbit/s"
[load.memory]
workload = "mem_copy"
[method]
blocks = 3
dry = false
steady = "noted"
settle = "200 ms"
settle_max = "200 ms"
window = "300 ms"
"#;

/// A run without end that switches settings which every namespace of the machine has.
const SWITCHING: &str = r#"title = "Switched"
[lab]
clients = 1
[factors.tuned]
key = "profile"
[factors.tuned.levels.one]
thp = "always"
autogroup = "off"
[factors.tuned.levels.two]
thp = "never"
autogroup = "off"
[load.stream]
workload = "tcp_stream"
[method]
blocks = 900
dry = false
settle = "50 ms"
settle_max = "100 ms"
window = "100 ms"
"#;

/// Two namespaces with a cable between them, for control alone.
struct Cable;

impl Cable {
    fn lay() -> Self {
        let cable = Self;
        Self::remove();
        let words = [
            format!("netns add {CONDUCTOR}"),
            format!("netns add {AGENT}"),
            format!(
                "link add stend-m0 netns {CONDUCTOR} type veth peer name stend-m1 netns {AGENT}"
            ),
            format!("-n {CONDUCTOR} address add 198.19.254.1/30 dev stend-m0"),
            format!("-n {AGENT} address add 198.19.254.2/30 dev stend-m1"),
            format!("-n {CONDUCTOR} link set stend-m0 up"),
            format!("-n {AGENT} link set stend-m1 up"),
        ];
        ip(&words);
        cable
    }

    fn remove() {
        joined::remove(&[CONDUCTOR, AGENT]);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        Self::remove();
    }
}

/// A place with a plan, and a lab that the agent has joined; none where namespaces cannot be had.
fn place(name: &str, plan: &str) -> Option<(Place, Cable)> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, for two namespaces with a cable");
        return None;
    }
    let place = Place::new(name);
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    let lab = format!("[machines.one]\naddress = \"{ADDRESS}\"\n[roles]\nsut = \"one\"\n");
    fs::write(place.path.join("lab.toml"), lab).expect("a lab file");
    let cable = Cable::lay();
    let made = run(&place, &inside(CONDUCTOR, &[STEND, "lab", "init", "--dir", "lab"]));
    assert_eq!(made.status.code(), Some(0), "{}", errors(&made));
    let (joined, invited) = join(&place, "one", "agent");
    assert_eq!(joined.status.code(), Some(0), "{}", errors(&joined));
    let (here, there) = (words(&invited), words(&String::from_utf8_lossy(&joined.stdout)));
    assert_eq!(here, there);
    assert!(invited.contains("machine 'one' has joined"), "{invited}");
    Some((place, cable))
}

/// Joins a machine under a name, with its key in a directory.
fn join(place: &Place, name: &str, dir: &str) -> (Output, String) {
    joined::join(place, (CONDUCTOR, INVITES), &Joiner { name, namespace: AGENT, dir })
}

/// The six words.
fn words(said: &str) -> String {
    let line = said.lines().find(|line| line.starts_with("the words of"));
    line.and_then(|line| line.split_once(": ")).expect("six words").1.to_owned()
}

/// An agent whose clock is planted, once it listens.
fn agent(place: &Place, clock: &str) -> Running {
    let clock = format!("STEND_TEST_CLOCK={clock}");
    let words =
        inside(AGENT, &[&clock, STEND, "agent", "listen", ADDRESS, "--once", "--dir", "agent"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let agent = place.start_logged(&words, "agent.log");
    assert!(until(LIMIT, || listens(AGENT)).is_some(), "{}", log(place));
    agent
}

fn log(place: &Place) -> String {
    fs::read_to_string(place.path.join("agent.log")).unwrap_or_default()
}

/// The words of a run whose machine is the agent.
fn over_tls(lab: &str, out: &str) -> Vec<String> {
    let lab = format!("STEND_LAB_DIR={lab}");
    let words = [&lab, STEND, "run", "plan.toml", "--machines", "lab.toml", "--out", out];
    inside(CONDUCTOR, &words)
}

/// What a run tells, without the figures: metrics and readings with their units, facts.
fn told(run: &Run) -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    for record in good(run) {
        let load = &record.trial.point.load;
        for sample in &record.outcome.samples {
            told.insert(format!("{load} {} {:?}", sample.metric, sample.quantity.unit));
        }
        for reading in &record.readings {
            let (probe, host, key) = (&reading.probe, &reading.host, &reading.key);
            // What other probes tell is not in every run: disks, queues, pressure.
            let always = ["cpu", "process", "probe", "flap", "ceiling"].contains(&probe.as_str());
            // A thread of the kernel is read where it ran at all.
            if always && !key.starts_with("ksoftirqd") {
                told.insert(format!("{load} {probe} {host} {key} {:?}", reading.quantity.unit));
            }
        }
        told.extend(record.observed.keys().map(|key| format!("{load} observed {key}")));
    }
    told.extend(run.environment().facts.iter().map(|fact| format!("fact {}", fact.key)));
    told
}

/// Rate of the paced load at a level, bit/s, by block.
fn rates(run: &Run, level: &str) -> BTreeMap<u32, f64> {
    let at = |record: &&&TrialRecord| {
        let tso = record.trial.settings.get("tso").map(ToString::to_string);
        record.trial.point.load == "net" && tso.as_deref() == Some(level)
    };
    let records = good(run);
    let of = |record: &&TrialRecord| (record.trial.block, record.outcome.samples[0].quantity.value);
    records.iter().filter(at).map(of).collect()
}

#[test]
fn a_run_over_tls_tells_what_one_over_sockets_tells_whatever_the_other_clock_says() {
    let Some((place, _cable)) = place("tls", PACED) else { return };
    // In the namespace of the agent: facts of the network are those of where it runs.
    let words = inside(AGENT, &[STEND, "run", "plan.toml", "--out", "pair"]);
    moment::taken(|| run(&place, &words));
    let pair = read(&place, "pair");
    for (out, clock) in [("ahead", "3,100"), ("behind", "-3,-100")] {
        moment::taken(|| {
            let agent = agent(&place, clock);
            let output = run(&place, &over_tls("lab", out));
            assert_eq!(agent.wait(), Some(0), "{}", log(&place));
            output
        });
        let tls = read(&place, out);
        let (a, b) = (told(&pair), told(&tls));
        assert_eq!(
            a.symmetric_difference(&b).collect::<Vec<_>>(),
            Vec::<&String>::new(),
            "{clock}"
        );
        for level in ["on", "off"] {
            must_be_equivalent(&rates(&pair, level), &rates(&tls, level), clock);
        }
    }
}

#[test]
fn an_agent_that_loses_its_conductor_ends_its_load_and_brings_everything_back() {
    let Some((place, _cable)) = place("lease", SWITCHING) else { return };
    for (word, ends) in [(Signal::KILL, LIMIT), (Signal::STOP, LEASE_AND_UNDO)] {
        let agent = agent(&place, "0,0");
        let pid = agent.pid();
        let words = over_tls("lab", "out");
        let conductor =
            place.start_logged(&words.iter().map(String::as_str).collect::<Vec<_>>(), "log");
        let switched = until(LIMIT, || place.switched() == 2);
        assert!(switched.is_some(), "{}", log(&place));
        signal(conductor.pid(), word);
        let back = until(ends, || place.left_by(pid).is_empty());
        assert!(back.is_some(), "{word:?}: {:?}", place.left_by(pid));
        let status = agent.wait();
        // A stopped conductor holds its end open: the lease has ended, which is an error.
        assert_eq!(status == Some(0), word == Signal::KILL, "{word:?}: {}", log(&place));
    }
}

#[test]
fn a_conductor_of_another_lab_is_refused_nothing_is_raised_and_the_agent_serves_on() {
    let Some((place, _cable)) = place("other-lab", PACED) else { return };
    let made = run(&place, &inside(CONDUCTOR, &[STEND, "lab", "init", "--dir", "other"]));
    assert_eq!(made.status.code(), Some(0), "{}", errors(&made));
    let agent = agent(&place, "0,0");
    let output = run(&place, &over_tls("other", "out"));
    assert_ne!(output.status.code(), Some(0));
    assert!(errors(&output).contains("another lab"), "{}", errors(&output));
    assert!(until(LIMIT, || log(&place).contains("another lab")).is_some(), "{}", log(&place));
    assert_eq!(place.left_by(agent.pid()), Vec::<String>::new());
    let output = run(&place, &over_tls("lab", "out"));
    // How many of its trials are valid depends on what else this machine does.
    assert!(!read(&place, "out").records.is_empty(), "{}", errors(&output));
    assert_eq!(agent.wait(), Some(0), "{}", log(&place));
}

#[test]
fn a_machine_that_was_removed_is_refused_until_it_joins_anew() {
    let Some((place, _cable)) = place("removed", PACED) else { return };
    let hosts = || {
        let output = run(&place, &inside(CONDUCTOR, &[STEND, "lab", "hosts", "--dir", "lab"]));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(hosts().starts_with("one  ") && !hosts().contains("removed"), "{}", hosts());
    let agent = agent(&place, "0,0");
    let gone = run(&place, &inside(CONDUCTOR, &[STEND, "lab", "remove", "one", "--dir", "lab"]));
    assert_eq!(gone.status.code(), Some(0), "{}", errors(&gone));
    assert!(hosts().contains(", removed 20"), "{}", hosts());
    let output = run(&place, &over_tls("lab", "out"));
    let said = errors(&output);
    assert_ne!(output.status.code(), Some(0));
    assert!(said.contains("removed from the lab") && said.contains("stend lab invite"), "{said}");
    let told = until(LIMIT, || log(&place).contains("removed from the lab"));
    assert!(told.is_some(), "{}", log(&place));
    assert_eq!(place.left_by(agent.pid()), Vec::<String>::new());
    drop(agent);
    let (joined, _) = join(&place, "one", "again");
    assert_eq!(joined.status.code(), Some(0), "{}", errors(&joined));
    assert_eq!(hosts().lines().count(), 2, "{}", hosts());
}

#[test]
fn an_agent_that_ends_leaves_the_conductor_with_faults_and_no_hang() {
    let Some((place, _cable)) = place("agent-ends", PACED) else { return };
    let agent = agent(&place, "0,0");
    let pid = agent.pid();
    let words = over_tls("lab", "out");
    let conductor =
        place.start_logged(&words.iter().map(String::as_str).collect::<Vec<_>>(), "log");
    // From the first change on, the agent has a guardian.
    let named = |left: &String| left.starts_with("/run/netns");
    let raised = until(LIMIT, || place.left_by(pid).iter().any(named));
    assert!(raised.is_some(), "{}", log(&place));
    agent.kill();
    assert_ne!(conductor.wait(), Some(0));
    // The agent's guardian removes what its journal holds.
    let gone = until(LIMIT, || place.left_by(pid).is_empty());
    assert!(gone.is_some(), "{:?}", place.left_by(pid));
}

/// A plan that switches one setting of the machine, which it may do at most this often.
fn switching(factor: &str, levels: &str, blocks: u32) -> String {
    let plan = PACED.replace("factors.tso", &format!("factors.{factor}"));
    let plan = plan.replace("[\"on\", \"off\"]", levels);
    plan.replace("[load.memory]\nworkload = \"mem_copy\"\n", "")
        .replace("blocks = 3", &format!("blocks = {blocks}"))
}

/// The agent as an ordinary user, on a machine that gives this user one setting to write: a file
/// in place of that of the kernel, in mounts of its own.
fn agent_of_user(place: &Place) -> Running {
    let mut words: Vec<String> = ["ip", "netns", "exec", AGENT, "sh", "-c"].map(Into::into).into();
    let own = format!("mount --bind home/setting {SWAPPINESS}; exec \"$@\"");
    words.extend([own, "sh".into()]);
    words.extend(as_user(place, "agent"));
    words.extend(["agent", "listen", ADDRESS, "--once", "--dir", "agent"].map(Into::into));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let agent = place.start_logged(&words, "agent.log");
    assert!(until(LIMIT, || listens(AGENT)).is_some(), "{}", log(place));
    agent
}

const SWAPPINESS: &str = "/proc/sys/vm/swappiness";

#[test]
fn an_agent_of_an_ordinary_user_serves_what_it_may_and_keeps_its_journal_at_home() {
    let levels = "[11, 12]";
    let Some((place, _cable)) = place("user", &switching("swappiness", levels, 3)) else { return };
    fs::create_dir_all(place.path.join("home")).expect("a home");
    let (setting, journals) =
        (place.path.join("home/setting"), place.path.join("home/.local/state/stend/journal"));
    fs::write(&setting, "60\n").expect("a setting");
    let now = || fs::read_to_string(&setting).unwrap_or_default().trim().to_owned();
    let kept = || fs::read_dir(&journals).into_iter().flatten().count();
    moment::taken(|| {
        let agent = agent_of_user(&place);
        let output = run(&place, &over_tls("lab", "out"));
        let ended = agent.ends(LIMIT);
        assert_eq!(ended, Some(0), "{} {}", log(&place), errors(&output));
        output
    });
    let done = read(&place, "out");
    let kind = done.environment().lab.as_ref().map(|(kind, _)| *kind);
    assert_eq!(kind, Some(LabKind::UserNamespaces), "{}", log(&place));
    for record in good(&done) {
        let level = &record.trial.settings["swappiness"];
        assert_eq!(record.observed["swappiness"].to_string(), level.to_string());
    }
    assert_eq!((now().as_str(), kept()), ("60", 0));
    // What is not this user's to write is refused with the reason, and the agent serves on.
    let refused = |factor: &str, levels: &str, why: &str| {
        fs::write(place.path.join("plan.toml"), switching(factor, levels, 3)).expect("a plan");
        let agent = agent_of_user(&place);
        let output = run(&place, &over_tls("lab", "refused"));
        assert_ne!(output.status.code(), Some(0));
        assert!(errors(&output).contains(why), "{}", errors(&output));
        assert_eq!(agent.ends(LIMIT), Some(0), "{}", log(&place));
    };
    refused("thp", "[\"always\", \"never\"]", "is not ours to write (Permission denied");
    // Killed while a level is set, its guardian brings the setting back by the journal at home.
    fs::write(place.path.join("plan.toml"), switching("swappiness", levels, 99)).expect("a plan");
    let agent = agent_of_user(&place);
    let words = over_tls("lab", "killed");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let conductor = place.start_logged(&words, "log");
    // A file that is none of the kernel's is empty for an instant while it is written.
    assert!(until(LIMIT, || ["11", "12"].contains(&now().as_str())).is_some(), "{}", log(&place));
    assert_eq!(kept(), 1, "{}", journals.display());
    agent.kill();
    assert!(until(LIMIT, || now() == "60" && kept() == 0).is_some(), "{} {}", now(), kept());
    assert_ne!(conductor.ends(LIMIT), Some(0));
}

#[test]
fn the_doctor_of_a_lab_uses_no_agent_up_and_waits_for_none_that_serves_a_run() {
    let Some((place, _cable)) = place("asked", SWITCHING) else { return };
    // An agent of one run, whose clock is ahead.
    let agent = agent(&place, "3,100");
    let said = joined::doctor(&place, CONDUCTOR, 0);
    let clock = &said["machines"][0]["clock"];
    let (offset, bound) = (&clock["offset"]["value"], &clock["bound"]["value"]);
    let (offset, bound) = (offset.as_f64().expect("s"), bound.as_f64().expect("s"));
    // Planted are 3 s, and 100 ppm of the time since the boot.
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_sec as f64;
    let off = (offset - (3.0 + 100e-6 * now)).abs();
    assert!(off <= bound + 1e-3 && bound < 0.1, "{off} s off, bound {bound} s");
    let words = over_tls("lab", "out");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let conductor = place.start_logged(&words, "log");
    assert!(until(LIMIT, || place.switched() == 2).is_some(), "{}", log(&place));
    let said = joined::doctor(&place, CONDUCTOR, 5);
    let one = &said["machines"][0];
    assert_eq!(text(one, "/state"), "silent", "{one}");
    assert!(text(one, "/problems/0").contains("does it serve another run"), "{one}");
    // Between two levels fewer are switched. A run that was disturbed too often ends by itself.
    let told = || fs::read_to_string(place.path.join("log")).unwrap_or_default();
    let goes_on = || place.switched() == 2 || told().contains(moment::GAVE_UP);
    assert!(until(LIMIT, goes_on).is_some(), "{}", told());
    conductor.interrupt();
    assert!(agent.ends(LIMIT).is_some(), "{}", log(&place));
}

#[test]
fn the_unit_of_an_agent_ends_it_alone_so_that_its_guardian_undoes() {
    let place = Place::new("agent_unit");
    let words = ["agent", "install-unit", "127.0.0.1:7070", "--dir", "key", "--root", "root"];
    let unit = place.path.join("root/etc/systemd/system/stend-agent.service");
    let refused = place.stend(&words);
    assert_ne!(refused.status.code(), Some(0));
    assert!(!unit.exists(), "{}", errors(&refused));
    assert!(place.stend(&["lab", "init", "--dir", "lab"]).status.success());
    let machine = Joiner { name: "m", namespace: "", dir: "key" };
    let (joined, said) = joined::join(&place, ("", "127.0.0.9:7713"), &machine);
    assert!(joined.status.success(), "{said}\n{}", errors(&joined));
    let installed = place.stend(&words);
    assert_eq!(installed.status.code(), Some(0), "{}", errors(&installed));
    let text = fs::read_to_string(&unit).expect("a unit");
    let key = place.path.join("key");
    let line = format!("\"{STEND}\" agent listen 127.0.0.1:7070 --dir \"{}\"", key.display());
    assert!(text.contains(&format!("ExecStart={line}\n")), "{text}");
    assert!(text.contains("KillMode=process\n") && text.contains("Delegate=yes\n"), "{text}");
    if std::path::Path::new("/usr/bin/systemd-analyze").exists() {
        let checked = place.run(&["systemd-analyze", "verify", &unit.display().to_string()]);
        assert!(checked.status.success(), "{}", errors(&checked));
        assert!(!errors(&checked).contains("stend"), "{}", errors(&checked));
    } else {
        println!("skipped: systemd-analyze is not installed");
    }
    let gone = place.stend(&[&words[..], &["--uninstall"]].concat());
    assert_eq!(gone.status.code(), Some(0), "{}", errors(&gone));
    assert!(!unit.exists());
}
