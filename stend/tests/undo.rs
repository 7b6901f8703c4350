//! Knows that the machine comes back to what it was, and that a setting is refused in time where it
//! cannot be made. What needs root is skipped aloud; kills at chance moments stand in `kills.rs`.

#![expect(clippy::print_stdout, reason = "helpers of tests stand outside test functions")]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::Run;
use kill::{Place, SETTINGS, STEND, guardian_of, signal, until};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(10);

fn root_with_settings() -> bool {
    let fit = rustix::process::geteuid().is_root()
        && SETTINGS
            .iter()
            .all(|path| rustix::fs::access(*path, rustix::fs::Access::WRITE_OK).is_ok());
    if !fit {
        println!("skipped: needs root and the settings {SETTINGS:?}");
    }
    fit
}

fn words(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

#[test]
fn an_agent_without_its_conductor_is_found_and_ended() {
    let place = Place::new("orphan");
    let (_ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a pair");
    let mut agent = Command::new(STEND)
        .arg0("stend-agent sut 1-1")
        .arg("agent")
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .spawn()
        .expect("it starts");
    let line = format!("agent {} (host sut)", agent.id());
    let seen = || words(&place.stend(&["doctor"])).contains(&line);
    let found = until(LIMIT, seen);
    let cleaned = words(&place.stend(&["doctor", "--clean"]));
    let ended = until(LIMIT, || !matches!(agent_state(agent.id()), Some(state) if state != 'Z'));
    let _ = agent.kill();
    agent.wait().expect("it ends");
    assert!(found.is_some() && ended.is_some(), "{cleaned}");
    assert!(cleaned.contains(&line) && cleaned.contains("removed"), "{cleaned}");
}

fn agent_state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[test]
fn what_somebody_else_has_set_since_is_left_and_told() {
    if !root_with_settings() {
        return;
    }
    let place = Place::new("foreign");
    let running = place.start(&["run", "plan.toml", "--out", "out"]);
    place.wait_switched();
    signal(guardian_of(running.pid()).expect("a guardian"), Signal::KILL);
    let pid = running.kill();
    fs::write("/proc/sys/net/core/netdev_budget", "777").expect("written");
    let restored = place.stend(&["factors", "restore"]);
    assert_eq!(restored.status.code(), Some(1), "{}", words(&restored));
    assert!(words(&restored).contains("somebody else made it 777"), "{}", words(&restored));
    assert_eq!(place.switched(), 1, "{:?}", place.left_by(pid));
    let status = words(&place.stend(&["factors", "status"]));
    assert!(status.contains("is 777, by somebody else"), "{status}");
    let forgotten = place.stend(&["factors", "restore", "--forget"]);
    assert_eq!(forgotten.status.code(), Some(0), "{}", words(&forgotten));
    assert_eq!(place.left_by(pid).len(), 1, "only the value that is not ours");
}

#[test]
fn the_guardian_hears_no_request_to_end_and_goes_with_its_conductor() {
    if !root_with_settings() {
        return;
    }
    let place = Place::new("guardian");
    let running = place.start(&["run", "plan.toml", "--out", "out"]);
    place.wait_switched();
    let (pid, guardian) = (running.pid(), guardian_of(running.pid()).expect("a guardian"));
    let session = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
        let (_, rest) = stat.rsplit_once(')').expect("a name");
        rest.split_whitespace().skip(2).take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let own = vec![guardian.to_string(), guardian.to_string()];
    assert_eq!(session(guardian), own, "a group and a session of its own");
    for number in [Signal::INT, Signal::TERM, Signal::HUP] {
        signal(guardian, number);
    }
    thread::sleep(Duration::from_millis(200));
    assert_eq!(guardian_of(pid), Some(guardian));
    assert_eq!(running.interrupt(), Some(130));
    assert_eq!(place.left_by(pid), Vec::<String>::new());
    assert_eq!(guardian_of(pid), None);
}

#[test]
fn on_loopback_the_machine_is_switched_read_back_and_put_back() {
    if !root_with_settings() {
        return;
    }
    let place = Place::new("loopback");
    place.plan("blocks = 900", "blocks = 3");
    let run = ["run", "plan.toml", "--lab", "loopback", "--out", "out"];
    moment::taken(|| place.stend(&run));
    assert_eq!((place.switched(), place.journals().len()), (0, 0));
    let text = fs::read_to_string(place.path.join("out/records.json")).expect("records");
    let run: Run = serde_json::from_str(&text).expect("a run");
    assert!(run.records.len() >= 6, "disturbed trials are visited again");
    for record in &run.records {
        assert!(moment::good_or_disturbed(record.outcome.fault.as_ref()), "{:?}", record.outcome);
        let read_back = |key: &str| record.observed.get(key).map(ToString::to_string);
        let two = record.trial.treatment.levels["tuned"] == "two";
        let expected = if two { ["never", "50 µs"] } else { ["always", "20 µs"] };
        assert_eq!(
            [read_back("thp"), read_back("busy_poll")],
            expected.map(|w| Some(w.to_owned()))
        );
        assert_eq!(read_back("autogroup").as_deref(), Some("off"));
    }
    let before = run.environment().facts.iter().filter(|f| f.key.starts_with("machine."));
    assert_eq!(before.count(), 5, "what each was before the run");
}

#[test]
fn what_cannot_be_set_here_is_refused_before_anything_is_measured() {
    let place = Place::new("refused");
    let list = words(&place.stend(&["factors", "list"]));
    for name in rig::factor::ALL.iter().map(|factor| factor.name) {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name} in {list}");
    }
    let refused = |words_of_run: &[&str], parts: &[&str]| {
        let output = place.run(words_of_run);
        assert_eq!(output.status.code(), Some(5), "{}", words(&output));
        for part in parts {
            assert!(words(&output).contains(part), "{part} in {}", words(&output));
        }
        assert!(!place.path.join("out").exists());
    };
    if Path::new("/sys/devices/system/cpu/cpu0/cpufreq").exists() {
        println!("skipped: this machine has governors");
    } else {
        place.plan("thp = \"always\"", "governor = \"performance\"");
        let text = fs::read_to_string(place.path.join("plan.toml")).expect("a plan");
        let text = text.replace("thp = \"never\"", "governor = \"powersave\"");
        fs::write(place.path.join("plan.toml"), text).expect("a plan");
        refused(&[STEND, "run", "plan.toml", "--out", "out"], &["'governor'", "is not there"]);
    }
    if !root_with_settings() {
        return;
    }
    place.plan("blocks = 900", "blocks = 3");
    // Beside `stend/`, the state directory.
    let binary = place.path.join("stend-of-all");
    fs::copy(STEND, &binary).expect("a copy");
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o777)).expect("open to all");
    let binary = binary.display().to_string();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", &binary];
    if place.run(&["setpriv", "--version"]).status.success() {
        // The store in the state directory is root's.
        let run = ["run", "plan.toml", "--out", "out", "--store", "theirs.stend"];
        refused(&[&user[..], &run].concat(), &["run as root"]);
    }
}

#[test]
fn the_unit_for_the_boot_is_written_checked_and_taken_away() {
    let place = Place::new("unit");
    let root = place.path.join("root").display().to_string();
    let installed = place.stend(&["factors", "install-unit", "--root", &root]);
    assert_eq!(installed.status.code(), Some(0), "{}", words(&installed));
    assert!(words(&installed).contains("--uninstall"), "{}", words(&installed));
    let units = place.path.join("root/etc/systemd/system");
    let (unit, link) = (
        units.join("stend-restore.service"),
        units.join("multi-user.target.wants/stend-restore.service"),
    );
    let text = fs::read_to_string(&link).expect("the link leads to the unit");
    assert!(text.contains(&format!("ExecStart=\"{STEND}\" factors restore")), "{text}");
    assert!(text.contains("Type=oneshot"), "{text}");
    if Path::new("/usr/bin/systemd-analyze").exists() {
        let checked = place.run(&["systemd-analyze", "verify", &unit.display().to_string()]);
        assert!(checked.status.success(), "{}", words(&checked));
        assert!(!words(&checked).contains("stend"), "{}", words(&checked));
    } else {
        println!("skipped: systemd-analyze is not installed");
    }
    for _ in 0..2 {
        let gone = place.stend(&["factors", "install-unit", "--root", &root, "--uninstall"]);
        assert_eq!(gone.status.code(), Some(0), "{}", words(&gone));
        assert!(!unit.exists() && link.symlink_metadata().is_err());
    }
}
