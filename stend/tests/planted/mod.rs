//! Knows how something that holds a load down is planted from outside while stend measures, and how
//! what stend says of the load is judged: named, "none seen", or wrong.
//!
//! Must not know which causes there are.

use desk::record::Run;
use desk::verdict::{Analysis, Limit, LimitKind};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run that was disturbed is made once more; then it counts.
const RUNS_MOST: usize = 2;
/// CPUs that other programs may have beside a free load; more disturbs it.
const FOREIGN_MOST: f64 = 0.15;
/// A lab that does not stand after so long is none.
const PATIENCE: Duration = Duration::from_secs(20);

/// What `stend run --json` prints.
#[derive(Deserialize)]
struct Told {
    analysis: Analysis,
    run: Run,
}

/// A directory of the test, removed afterwards.
pub struct Place(PathBuf);

impl Place {
    /// None where this machine lets nothing be planted, which is said.
    pub fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root may plant in the namespaces of the lab");
            return None;
        }
        let path = std::env::temp_dir().join(format!("stend-planted-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Some(Self(path))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What stands beside a run, and goes with this: programs, control groups, which are empty by then.
#[derive(Default)]
struct Beside {
    programs: Vec<Child>,
    groups: Vec<PathBuf>,
}

impl Drop for Beside {
    fn drop(&mut self) {
        for child in &mut self.programs {
            let _ = child.kill();
            let _ = child.wait();
        }
        for group in &self.groups {
            let _ = fs::remove_dir(group);
        }
    }
}

/// What is planted.
pub enum Plant {
    /// Settings in the network namespaces of these hosts, as sysctl(8) takes them.
    Sysctl(&'static [&'static str], &'static [&'static str]),
    /// Commands of tc, `DEV` for the interface, in the namespace of a host; an empty end is the
    /// adapter, else the port that leads to that host.
    Tc(&'static str, &'static str, &'static [&'static str]),
    /// So many filters for received packets, none of which fits, at an end that is named as with
    /// `Tc`: the kernel looks at them one by one, on this CPU.
    Filters(&'static str, &'static str, u32, usize),
    /// A program on each of these CPUs; all where none is named.
    Program(&'static [usize], &'static [&'static str]),
    /// A control group around a host that may use so many CPUs.
    Quota(&'static str, f64),
    /// A control group of the block layer around all of a run: `read` or `write`, and bytes a
    /// second of the disk of `/var/tmp`.
    Disk(&'static str, u32),
}

/// What holds a load of these lines down, and what stend has to name.
pub struct Cause {
    pub name: &'static str,
    /// Settings of a relay between both ends; none without one.
    pub path: Option<&'static str>,
    pub load: &'static str,
    pub plant: Plant,
    pub right: LimitKind,
}

/// BBR, where it is the system's own, sends on in spite of losses, and leaves gaps.
pub const RENO: &str = "net.ipv4.tcp_congestion_control=reno";

/// An endless loop, and a program that writes 64 MiB again and again.
pub const LOOP: &[&str] = &["sh", "-c", "while :; do :; done"];
pub const WRITER: &[&str] = &["dd", "if=/dev/zero", "of=/dev/null", "bs=64M"];

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A relay between the server and the client.
const RELAY: &str = "[lab.hosts.relay]\nrole = \"relay\"\n\
     [lab.links.far]\nkind = \"direct\"\nmembers = [\"sut\", \"relay\"]\n\
     [lab.links.near]\nkind = \"direct\"\nmembers = [\"relay\", \"c01\"]\n";

/// A plan of these loads, by name and lines; streams of TCP where they name no workload. What it
/// compares holds none of them down.
fn plan(clients: usize, path: Option<&str>, loads: &[(&str, &str)]) -> String {
    let rest = |lines: &str| match lines {
        lines if lines.contains("workload") => "",
        lines if lines.contains("request_size") => "workload = \"tcp_stream\"\n",
        _ => "workload = \"tcp_stream\"\nrequest_size = \"64 KiB\"\n",
    };
    let load = |(name, lines): &(&str, &str)| format!("[load.{name}]\n{}{lines}\n", rest(lines));
    let factor = match loads.iter().any(|(_, lines)| lines.contains("workload")) {
        true => "mtu = { levels = [\"1500 B\", \"1480 B\"] }",
        false => "congestion = { levels = [\"cubic\", \"reno\"] }",
    };
    let loads: String = loads.iter().map(load).collect();
    // A far receiver widens its window for some 20 round trips.
    let times = match path {
        Some(_) => "settle = \"500 ms\"\nsettle_max = \"1 s\"\nwindow = \"500 ms\"\n",
        None => "settle = \"100 ms\"\nsettle_max = \"250 ms\"\nwindow = \"250 ms\"\n",
    };
    let path = path.map(|settings| format!("{settings}\n{RELAY}")).unwrap_or_default();
    format!(
        "title = \"planted\"\n[lab]\nclients = {clients}\n{path}[factors]\n\
         {factor}\n{loads}[method]\nblocks = 3\n\
         dry = true\nsteady = \"noted\"\n{times}"
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

/// Makes a control group of this controller and writes its files; none where it is not there.
fn group(controller: &str, files: &[(&str, String)]) -> Result<PathBuf, String> {
    let name = format!("planted-{}", std::process::id());
    let group = PathBuf::from("/sys/fs/cgroup").join(controller).join(name);
    let fail = |e: std::io::Error| format!("{LACKS}: {}: {e}", group.display());
    fs::create_dir(&group).map_err(fail)?;
    for (file, text) in files {
        if let Err(e) = fs::write(group.join(file), text) {
            let _ = fs::remove_dir(&group);
            return Err(fail(e));
        }
    }
    Ok(group)
}

/// How a refusal begins where this machine lacks what is to be planted.
const LACKS: &str = "not here";
/// Period of a planted quota, microseconds.
const PERIOD_US: f64 = 10_000.0;

impl Plant {
    /// Whether a run ended without a figure, and gave this plant as the reason: clients held by a
    /// quota are no measure of the system under test.
    fn is_refused_for(&self, why: &str) -> bool {
        let Self::Quota(host, cpus) = self else { return false };
        let last = why.lines().last().unwrap_or_default();
        last.contains(&format!("host {host} was at its limit as a generator"))
            && last.ends_with(&format!("a quota holds it to {cpus} CPU"))
    }

    /// Programs and a slow disk stand before the run.
    fn start(&self) -> Result<Beside, String> {
        let mut beside = Beside::default();
        match self {
            Self::Program(on, words) => {
                let all: Vec<usize> = (0..cpus()).collect();
                for cpu in if on.is_empty() { &all } else { *on } {
                    let mut command = Command::new("taskset");
                    command.args(["-c", &cpu.to_string()]).args(*words);
                    command.stdout(Stdio::null()).stderr(Stdio::null());
                    beside.programs.push(command.spawn().expect("taskset of util-linux"));
                }
            }
            Self::Disk(what, rate) => {
                let number = disk_number().ok_or_else(|| format!("{LACKS}: no disk"))?;
                let file = format!("blkio.throttle.{what}_bps_device");
                beside.groups.push(group("blkio", &[(&file, format!("{number} {rate}"))])?);
            }
            _ => {}
        }
        Ok(beside)
    }

    /// Plants the rest as soon as the lab of this conductor stands.
    fn put(&self, conductor: u32, beside: &mut Beside) -> Result<(), String> {
        let space = |host: &str| format!("stend-{conductor}-{host}");
        match self {
            Self::Program(..) | Self::Disk(..) => Ok(()),
            Self::Sysctl(hosts, settings) => hosts.iter().try_for_each(|host| {
                interface(&space(host), "")?;
                let net = format!("--net=/run/netns/{}", space(host));
                call(&[&["nsenter", &net, "sysctl", "-q", "-w"], *settings].concat()).map(drop)
            }),
            Self::Tc(host, leads_to, commands) => {
                let device = interface(&space(host), leads_to)?;
                let line = |command: &&str| command.replace("DEV", &device);
                tc(&space(host), &commands.iter().map(line).collect::<Vec<_>>())
            }
            Self::Filters(host, leads_to, count, cpu) => {
                Self::Sysctl(&["sut", "c01"], &[RENO]).put(conductor, beside)?;
                let (space, device) = (space(host), interface(&space(host), leads_to)?);
                // Receive packet steering (Documentation/networking/scaling.rst); /sys shows the
                // devices of the namespace that mounts it.
                let net = format!("--net=/run/netns/{space}");
                let queue = format!("/sys/class/net/{device}/queues/rx-0/rps_cpus");
                let mask = 1_u64 << cpu;
                let steer = format!("mount -t sysfs none /sys && echo {mask:x} > {queue}");
                call(&["nsenter", &net, "unshare", "--mount", "sh", "-c", &steer])?;
                // The kernel walks through all filters of a priority before it adds one.
                let filter = |at: u32| {
                    let (address, prio) =
                        (format!("203.0.{}.{}", at / 250, at % 250), at % 100 + 1);
                    format!(
                        "filter add dev {device} ingress protocol ip prio {prio} u32 match ip src \
                         {address} classid 1:1"
                    )
                };
                let first = std::iter::once(format!("qdisc add dev {device} clsact"));
                tc(&space, &first.chain((0..*count).map(filter)).collect::<Vec<_>>())
            }
            Self::Quota(host, cpus) => {
                interface(&space(host), "")?;
                let inside = call(&["ip", "netns", "pids", &space(host)])?;
                let quota = (cpus * PERIOD_US).round().to_string();
                let limits =
                    [("cpu.cfs_period_us", PERIOD_US.to_string()), ("cpu.cfs_quota_us", quota)];
                let group = group("cpu", &limits)?;
                beside.groups.push(group.clone());
                inside.lines().try_for_each(|process| {
                    fs::write(group.join("cgroup.procs"), process).map_err(|e| e.to_string())
                })
            }
        }
    }
}

/// Has tc carry out these lines in a namespace.
fn tc(space: &str, lines: &[String]) -> Result<(), String> {
    let mut command = Command::new("tc");
    command.args(["-n", space, "-batch", "-"]).stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("tc: {e}"))?;
    let mut input = child.stdin.take().ok_or("tc takes no lines")?;
    // What it refuses, it says when it ends.
    let _ = input.write_all(format!("{}\n", lines.join("\n")).as_bytes());
    drop(input);
    let output = child.wait_with_output().map_err(|e| format!("tc: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// Number of the whole disk behind `/var/tmp`; none where there is no such thing.
fn disk_number() -> Option<String> {
    let device = fs::metadata("/var/tmp").ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let at = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let whole = if at.join("partition").exists() { at.parent()?.to_owned() } else { at };
    fs::read_to_string(whole.join("dev")).ok().map(|text| text.trim().to_owned())
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
    let beside = plant.map_or_else(|| Ok(Beside::default()), Plant::start);
    let mut beside = match beside {
        Ok(beside) => beside,
        Err(why) => return Came::Lacking(why),
    };
    // What is planted around all of a run is there before it.
    let around =
        beside.groups.iter().map(|group| format!("echo $$ > {}/cgroup.procs; ", group.display()));
    let script = format!("{}exec \"$@\"", around.collect::<String>());
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_stend")]);
    command.args(["run", "--lab", "root", "--json", "--out"]).arg(place.0.join("out")).arg(&file);
    command.env("XDG_STATE_HOME", &place.0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    let planted = plant.map_or(Ok(()), |plant| plant.put(child.id(), &mut beside));
    let output = child.wait_with_output().expect("it ends");
    drop(beside);
    if let Err(why) = planted {
        // Older kernels have no name for a kind that they lack.
        let lacks = ["kind is unknown", "RTNETLINK answers: No such file or directory", LACKS]
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
        // Where too few trials are valid the limit is all that is said.
        compared.is_none_or(|c| c.load == load)
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
    let text = plan(1, cause.path, &[("it", cause.load)]);
    let mut answer = Answer::NotMeasured;
    for _ in 0..RUNS_MOST {
        match run(place, &text, Some(&cause.plant)) {
            Came::Lacking(why) => {
                println!("skipped: {}: the kernel lacks it: {why}", cause.name);
                return Answer::Skipped;
            }
            Came::Nothing(why) if cause.plant.is_refused_for(&why) => {
                println!("Right {}: every trial was refused for it", cause.name);
                answer = Answer::Right;
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

/// Asks for all causes, of which so many must be named; none may be taken for another.
pub fn ask_all(place: &Place, causes: &[Cause], named_least: usize) {
    let answers: Vec<Answer> = causes.iter().map(|cause| ask(place, cause)).collect();
    let count = |wanted: Answer| answers.iter().filter(|answer| **answer == wanted).count();
    let [right, unseen, skipped] = [Answer::Right, Answer::NoneSeen, Answer::Skipped].map(count);
    println!("{right} of {} causes named, {unseen} none seen, {skipped} skipped", causes.len());
    assert_eq!(
        right + unseen + skipped,
        causes.len(),
        "named wrongly or not measured: {answers:?}"
    );
    assert!(right >= named_least, "{right} causes named: {answers:?}");
}

/// How many of these loads, beside which nothing is planted, were measured and said to be held down
/// by none of these.
pub fn free(place: &Place, all: &[(&str, &str)], planted: &[LimitKind]) -> usize {
    let mut good = 0;
    for loads in all.chunks(4) {
        let text = plan(2, None, loads);
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
                let is_planted = |limit: &&Limit| limit.named().any(|kind| planted.contains(&kind));
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
