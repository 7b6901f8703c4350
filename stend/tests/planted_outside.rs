//! Knows what holds a real load down, because it plants it from outside while stend measures: ten
//! causes by sysctl, tc and other programs, and eight loads beside which nothing is planted.
//!
//! stend hears of none of it. A cause must be named, or "none seen" be said; another name is a
//! failure, and so is a case that was not measured. What the kernel lacks is skipped aloud.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

use desk::record::Run;
use desk::verdict::{Analysis, Limit, LimitKind};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Causes of which so many must be named; none may be taken for another.
const NAMED_LEAST: usize = 7;
/// Cases with nothing planted.
const FREE: usize = 8;
/// A run that was disturbed is made once more; then it counts.
const RUNS_MOST: usize = 2;
/// CPUs that other programs may have beside a free load; more disturbs it.
const FOREIGN_MOST: f64 = 0.15;
/// A lab that does not stand after so long is none.
const PATIENCE: Duration = Duration::from_secs(20);
/// What is planted here, and must not be said of a free load.
const PLANTED: [LimitKind; 6] = [
    LimitKind::SetRate,
    LimitKind::Shaper,
    LimitKind::QueueDrops,
    LimitKind::OtherPrograms,
    LimitKind::ReceiveWindow,
    LimitKind::SendBuffer,
];

/// What `stend run --json` prints.
#[derive(Deserialize)]
struct Told {
    analysis: Analysis,
    run: Run,
}

/// A directory of the test, removed afterwards.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Programs beside the load, ended afterwards.
struct Hogs(Vec<Child>);

impl Drop for Hogs {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What is planted.
enum Plant {
    /// A setting in the network namespaces of these hosts.
    Sysctl(&'static [&'static str], &'static str, &'static str),
    /// Commands of tc, `DEV` for the interface, in the namespace of a host; an empty end is the
    /// adapter, else the port that leads to that host.
    Tc(&'static str, &'static str, &'static [&'static str]),
    /// A program on each of these CPUs; all where none is named.
    Program(&'static [usize], &'static [&'static str]),
}

struct Cause {
    name: &'static str,
    load: &'static str,
    plant: Plant,
    right: LimitKind,
}

/// An endless loop, and a program that writes 64 MiB again and again.
const LOOP: &[&str] = &["sh", "-c", "while :; do :; done"];
const WRITER: &[&str] = &["dd", "if=/dev/zero", "of=/dev/null", "bs=64M"];

const CAUSES: [Cause; 10] = [
    Cause {
        name: "tcp_rmem of 2304 B at the clients",
        load: "",
        plant: Plant::Sysctl(&["c01"], "net.ipv4.tcp_rmem", "2304 2304 2304"),
        right: LimitKind::ReceiveWindow,
    },
    Cause {
        name: "tcp_wmem of 4096 B at the server",
        load: "",
        plant: Plant::Sysctl(&["sut"], "net.ipv4.tcp_wmem", "4096 4096 4096"),
        right: LimitKind::SendBuffer,
    },
    Cause {
        name: "tcp_wmem of 16384 B at the server, ends on two CPUs",
        load: "placement = \"spread\"",
        plant: Plant::Sysctl(&["sut"], "net.ipv4.tcp_wmem", "4096 16384 16384"),
        right: LimitKind::SendBuffer,
    },
    Cause {
        name: "HTB at a client",
        load: "direction = \"receive\"",
        plant: Plant::Tc(
            "c01",
            "",
            &[
                "qdisc replace dev DEV root handle 1: htb default 1",
                "class replace dev DEV parent 1: classid 1:1 htb rate 500mbit burst 64k",
            ],
        ),
        right: LimitKind::Shaper,
    },
    Cause {
        name: "TBF at a client",
        load: "direction = \"receive\"",
        plant: Plant::Tc(
            "c01",
            "",
            &["qdisc replace dev DEV root tbf rate 500mbit burst 64k latency 10ms"],
        ),
        right: LimitKind::SetRate,
    },
    Cause {
        name: "TBF at the switch's port to the client",
        load: "",
        plant: Plant::Tc(
            "switch",
            "c01",
            &["qdisc replace dev DEV root tbf rate 700mbit burst 64k latency 10ms"],
        ),
        right: LimitKind::SetRate,
    },
    Cause {
        name: "a queue of 4500 B at a client",
        load: "direction = \"receive\"",
        plant: Plant::Tc(
            "c01",
            "",
            &["qdisc replace dev DEV root tbf rate 10gbit burst 3200 limit 4500"],
        ),
        right: LimitKind::QueueDrops,
    },
    Cause {
        name: "an endless loop beside the server's CPU",
        load: "",
        plant: Plant::Program(&[0], LOOP),
        right: LimitKind::OtherPrograms,
    },
    Cause {
        name: "endless loops on all CPUs",
        load: "placement = \"spread\"",
        plant: Plant::Program(&[], LOOP),
        right: LimitKind::OtherPrograms,
    },
    Cause {
        name: "programs that write memory on all CPUs",
        load: "request_size = \"16 KiB\"",
        plant: Plant::Program(&[], WRITER),
        right: LimitKind::OtherPrograms,
    },
];

const FREE_LOADS: [(&str, &str); FREE] = [
    ("send", ""),
    ("take", "direction = \"receive\""),
    ("both", "direction = \"duplex\"\nrequest_size = \"16 KiB\""),
    ("small", "request_size = \"1 KiB\""),
    ("many", "request_size = \"8 KiB\"\nstreams = 4\ndirection = \"receive\""),
    ("batch", "request_size = \"64 B\"\nengine = \"batch\""),
    ("large", "request_size = \"256 KiB\"\nstreams = 2"),
    ("taken", "request_size = \"4 KiB\"\ndirection = \"receive\""),
];

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A plan of these loads, by name and lines.
fn plan(clients: usize, loads: &[(&str, &str)]) -> String {
    let size = |lines: &str| match lines.contains("request_size") {
        true => "",
        false => "request_size = \"64 KiB\"\n",
    };
    let load = |(name, lines): &(&str, &str)| {
        format!("[load.{name}]\nworkload = \"tcp_stream\"\n{}{lines}\n", size(lines))
    };
    let loads: String = loads.iter().map(load).collect();
    format!(
        "title = \"planted\"\n[lab]\nclients = {clients}\n[factors]\n\
         congestion = {{ levels = [\"cubic\", \"reno\"] }}\n{loads}[method]\nblocks = 3\n\
         dry = true\nsettle = \"100 ms\"\nsettle_max = \"250 ms\"\nsteady = \"noted\"\n\
         window = \"250 ms\"\n"
    )
}

/// Runs a command to its end.
fn call(words: &[&str]) -> Result<String, String> {
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output = output.map_err(|e| format!("{}: {e}", words[0]))?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(said),
    }
}

/// Waits for an interface of a namespace of a run: the adapter, or the port that leads to a host.
fn interface(namespace: &str, leads_to: &str) -> Result<String, String> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let listed = call(&["ip", "-n", namespace, "-o", "link"]).unwrap_or_default();
        let names = listed.lines().filter_map(|line| line.split(": ").nth(1));
        let mut names = names.filter_map(|name| name.split('@').next());
        if let Some(name) = names.find(|name| *name != "lo" && name.contains(leads_to)) {
            return Ok(name.to_owned());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Err(format!("no lab stood in {namespace} after {PATIENCE:?}"))
}

impl Plant {
    /// Programs start before the run.
    fn start(&self) -> Hogs {
        let Self::Program(on, words) = self else { return Hogs(Vec::new()) };
        let all: Vec<usize> = (0..cpus()).collect();
        let on = if on.is_empty() { &all } else { *on };
        let start = |cpu: &usize| {
            let mut command = Command::new("taskset");
            command.args(["-c", &cpu.to_string()]).args(*words);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().expect("taskset of util-linux")
        };
        Hogs(on.iter().map(start).collect())
    }

    /// Plants the rest as soon as the lab of this conductor stands.
    fn put(&self, conductor: u32) -> Result<(), String> {
        let space = |host: &str| format!("stend-{conductor}-{host}");
        match self {
            Self::Program(..) => Ok(()),
            Self::Sysctl(hosts, key, value) => hosts.iter().try_for_each(|host| {
                interface(&space(host), "")?;
                let net = format!("--net=/run/netns/{}", space(host));
                let text = format!("{key}={value}");
                call(&["nsenter", &net, "sysctl", "-q", "-w", &text]).map(drop)
            }),
            Self::Tc(host, leads_to, commands) => {
                let device = interface(&space(host), leads_to)?;
                commands.iter().try_for_each(|command| {
                    let text = command.replace("DEV", &device);
                    let name = space(host);
                    let mut words = vec!["tc", "-n", &name];
                    words.extend(text.split(' '));
                    call(&words).map(drop)
                })
            }
        }
    }
}

/// What came of a run beside a plant.
enum Came {
    Measured(Box<Told>),
    /// The kernel has no such thing.
    Lacking(String),
    Nothing(String),
}

/// Time that all CPUs together were not idle, of all their time, since the machine started: ticks
/// of the first line of `/proc/stat` (proc(5)).
fn ticks() -> (f64, f64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let all: f64 = ticks.iter().sum();
    (all - ticks.iter().skip(3).take(2).sum::<f64>(), all)
}

/// Waits until other programs leave the machine alone, for some seconds at most.
fn wait_for_calm() {
    for _ in 0..15 {
        let before = ticks();
        std::thread::sleep(Duration::from_secs(1));
        let after = ticks();
        if after.0 - before.0 < 0.1 * (after.1 - before.1) {
            return;
        }
    }
    println!("other programs keep the machine busy");
}

fn run(place: &Place, text: &str, plant: Option<&Plant>) -> Came {
    wait_for_calm();
    let file = place.0.join("plan.toml");
    fs::write(&file, text).expect("a plan");
    let hogs = plant.map(Plant::start);
    let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
    command.args(["run", "--lab", "root", "--json", "--out"]).arg(place.0.join("out")).arg(&file);
    command.env("XDG_STATE_HOME", &place.0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    let planted = plant.map_or(Ok(()), |plant| plant.put(child.id()));
    let output = child.wait_with_output().expect("it ends");
    drop(hogs);
    if let Err(why) = planted {
        // Older kernels have no name for a kind that they lack.
        let lacks = ["kind is unknown", "RTNETLINK answers: No such file or directory"]
            .iter()
            .any(|said| why.contains(said));
        return if lacks { Came::Lacking(why) } else { Came::Nothing(why) };
    }
    match serde_json::from_slice(&output.stdout) {
        Ok(told) => Came::Measured(Box::new(told)),
        Err(_) => Came::Nothing(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// What other programs had, in CPUs, at most in a trial.
fn foreign(told: &Told) -> f64 {
    let read = told.run.records.iter().filter_map(|r| r.reading("foreign", "machine", "cpu"));
    read.map(|quantity| quantity.value).fold(0.0, f64::max)
}

fn limits<'t>(told: &'t Told, load: &str) -> Vec<&'t Limit> {
    let its = |limit: &&Limit| {
        let compared = told.analysis.comparisons.iter().find(|c| c.id == limit.comparison);
        compared.is_some_and(|c| c.load == load)
    };
    told.analysis.limits.iter().filter(its).collect()
}

fn words(limits: &[&Limit]) -> String {
    let word = |limit: &&Limit| {
        let named: Vec<LimitKind> = limit.named().collect();
        let rivals = limit.rivals.iter().map(|r| format!("{:?} {}", r.kind, r.utilisation.centre));
        let rivals: Vec<String> = rivals.collect();
        let (share, place) = (limit.evidence.centre, &limit.place);
        format!("      {named:?} {share} {place:?} (not {})", rivals.join(", "))
    };
    let all: BTreeSet<String> = limits.iter().map(word).collect();
    all.into_iter().collect::<Vec<_>>().join("\n")
}

/// How a cause was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Right,
    NoneSeen,
    Wrong,
    NotMeasured,
    Skipped,
}

fn judge(limits: &[&Limit], right: LimitKind) -> Answer {
    let named: BTreeSet<LimitKind> = limits.iter().flat_map(|limit| limit.named()).collect();
    let known = |kind: &LimitKind| *kind == right || *kind == LimitKind::NoneSeen;
    match named.len() {
        0 => Answer::NotMeasured,
        _ if !named.iter().all(known) => Answer::Wrong,
        1 if named.contains(&right) => Answer::Right,
        _ => Answer::NoneSeen,
    }
}

fn ask(place: &Place, cause: &Cause) -> Answer {
    let text = plan(1, &[("it", cause.load)]);
    let mut answer = Answer::NotMeasured;
    for _ in 0..RUNS_MOST {
        match run(place, &text, Some(&cause.plant)) {
            Came::Lacking(why) => {
                println!("skipped: {}: the kernel lacks it: {why}", cause.name);
                return Answer::Skipped;
            }
            Came::Nothing(why) => println!("{}: nothing was measured: {why}", cause.name),
            Came::Measured(told) => {
                let limits = limits(&told, "it");
                answer = judge(&limits, cause.right);
                println!("{answer:?} {}\n{}", cause.name, words(&limits));
            }
        }
        if answer != Answer::NotMeasured {
            break;
        }
    }
    answer
}

/// How many of the free loads were measured, and said to be held down by none of what is planted.
fn free(place: &Place) -> usize {
    let mut good = 0;
    for loads in FREE_LOADS.chunks(4) {
        let text = plan(2, loads);
        let mut found = 0;
        for _ in 0..RUNS_MOST {
            let told = match run(place, &text, None) {
                Came::Measured(told) => told,
                Came::Lacking(why) | Came::Nothing(why) => {
                    println!("free loads: nothing was measured: {why}");
                    continue;
                }
            };
            found = 0;
            for (name, _) in loads {
                let limits = limits(&told, name);
                let is_planted = |limit: &&Limit| limit.named().any(|kind| PLANTED.contains(&kind));
                let right = !limits.is_empty() && !limits.iter().any(is_planted);
                println!(
                    "free {name}: {}\n{}",
                    if right { "right" } else { "WRONG" },
                    words(&limits)
                );
                found += usize::from(right);
            }
            let others = foreign(&told);
            println!("others had up to {others:.2} CPUs beside these");
            if found == loads.len() || others <= FOREIGN_MOST {
                break;
            }
        }
        good += found;
    }
    good
}

#[test]
#[ignore = "a minute and a half: ./test full"]
fn what_was_planted_from_outside_is_named_or_none_is_seen() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root may plant in the namespaces of the lab");
        return;
    }
    let place = Place(std::env::temp_dir().join(format!("stend-planted-{}", std::process::id())));
    fs::create_dir_all(&place.0).expect("a directory");
    let answers: Vec<Answer> = CAUSES.iter().map(|cause| ask(&place, cause)).collect();
    let count = |wanted: Answer| answers.iter().filter(|answer| **answer == wanted).count();
    let [right, unseen, skipped] = [Answer::Right, Answer::NoneSeen, Answer::Skipped].map(count);
    let free = free(&place);
    println!("{right} of {} causes named, {unseen} none seen, {skipped} skipped", CAUSES.len());
    println!("{free} of {FREE} free loads without a planted cause");
    assert_eq!(
        right + unseen + skipped,
        CAUSES.len(),
        "named wrongly or not measured: {answers:?}"
    );
    assert!(right >= NAMED_LEAST, "{right} causes named: {answers:?}");
    assert_eq!(free, FREE, "a free load was not measured or has a planted cause");
}
