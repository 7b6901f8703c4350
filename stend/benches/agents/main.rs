//! `benches/agents`: what a lab of many machines costs: its conductor, and an agent that waits.
//!
//! Every agent is a process of the released program with a key of its own, reached by TLS over
//! loopback. A cell is at the bar when its figure is no more than the bar.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../ended/mod.rs"]
mod ended;

use desk::record::{Run, SUT, TrialRecord};
use desk::unit::{Quantity, Unit};
use ended::ended;
use rig::lab::clock;
use rig::lab::machine::{Machine, Order, Tls};
use rig::lab::trust::{self, Conductor, Invite};
use std::error::Error;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

type Failed = Box<dyn Error + Send + Sync>;

const STEND: &str = env!("CARGO_BIN_EXE_stend");
/// Agents of the lab.
const AGENTS: u8 = 200;
/// Clients that start together.
const CLIENTS: usize = 64;
const PLAN: &str = r#"title = "Start"
lab.clients = 64
load.net = { workload = "tcp_stream", offered_load = "64 Mbit/s", request_size = "1 KiB" }
method.blocks = 40
method.dry = false
method.steady = "noted"
method.settle = "50 ms"
method.settle_max = "50 ms"
method.window = "100 ms"
"#;
/// Fewest valid trials.
const FEWEST: usize = 20;
/// How long CPU time is counted, and how often each agent is asked meanwhile.
const COUNTED: Duration = Duration::from_secs(30);
const EVERY: Duration = Duration::from_secs(1);
/// Longest wait for a process that starts.
const START: Duration = Duration::from_secs(20);

static CANCEL: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    ended("agents", measure())
}

fn measure() -> Result<(usize, usize), Failed> {
    let place = Place::new()?;
    let mut lab = Lab::new(&place.0)?;
    println!("what | stend | bar | ");
    let (waiting, conductor) = lab.wait()?;
    let asking = lab.ask()?;
    let memory = lab.memory()?;
    drop(lab);
    let starts = starts(&place.0)?;
    let share = |value| Quantity::new(value, Unit::Share);
    let seconds = Quantity::seconds;
    let cells = [
        (
            format!("conductor, {AGENTS} agents asked once a second, CPU"),
            share(asking),
            share(0.05),
        ),
        (format!("conductor, {AGENTS} agents that wait, CPU"), share(conductor), share(0.05)),
        ("agent that waits, the busiest, CPU".into(), share(waiting), share(0.001)),
        ("agent that waits, the largest, memory".into(), memory, Quantity::bytes(12_000_000)),
        (start("median", &starts), seconds(starts[starts.len() / 2]), seconds(0.003)),
        (start("95 %", &starts), seconds(starts[starts.len() * 95 / 100]), seconds(0.003)),
    ];
    let mut good = 0;
    for (what, found, bar) in &cells {
        let ok = found.value <= bar.value;
        println!("{what} | {found} | {bar} | {}", if ok { "ok" } else { "short" });
        good += usize::from(ok);
    }
    Ok((good, cells.len()))
}

fn start(which: &str, of: &[f64]) -> String {
    format!("start of {CLIENTS} clients, first to last, {which} of {}", of.len())
}

/// A directory that goes with all that is in it.
struct Place(PathBuf);

impl Place {
    fn new() -> Result<Self, Failed> {
        let path = std::env::temp_dir().join(format!("stend-agents-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that is killed when this is dropped.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A lab with all its agents. Connections go before the agents do.
struct Lab {
    machines: Vec<Machine>,
    agents: Vec<Agent>,
}

impl Lab {
    fn new(path: &Path) -> Result<Self, Failed> {
        let conductor = Conductor::init(&path.join("lab"))?;
        let (mut machines, mut agents) = (Vec::new(), Vec::new());
        for at in 1..=AGENTS {
            let name = format!("m{at}");
            join(&conductor, &name, path)?;
            let address = SocketAddr::from((Ipv4Addr::new(127, 77, 0, at), 7000));
            agents.push(listen(address, &path.join(&name))?);
            machines.push(greet(address, &name, &conductor)?);
        }
        Ok(Self { machines, agents })
    }

    /// CPU time of each agent so far, nanoseconds.
    fn cpu_ns(&self) -> Result<Vec<u64>, Failed> {
        let of = |agent: &Agent| clock::cpu_ns_of(agent.0.id()).ok_or("an agent has ended");
        Ok(self.agents.iter().map(of).collect::<Result<_, _>>()?)
    }

    /// Shares of a CPU while nothing but keep-alive frames are sent: of the busiest agent, and of
    /// the conductor.
    fn wait(&self) -> Result<(f64, f64), Failed> {
        let (before, own_ns) = (self.cpu_ns()?, clock::process_cpu_ns());
        thread::sleep(COUNTED);
        let own_ns = clock::process_cpu_ns() - own_ns;
        let used = self.cpu_ns()?.into_iter().zip(before).map(|(after, before)| after - before);
        Ok((share(used.max().unwrap_or_default()), share(own_ns)))
    }

    /// Share of a CPU of the conductor while it asks every agent once a second.
    fn ask(&mut self) -> Result<f64, Failed> {
        let (begun, own_ns) = (Instant::now(), clock::process_cpu_ns());
        while begun.elapsed() < COUNTED {
            let round = Instant::now();
            for machine in &mut self.machines {
                machine.order(&Order::Clock)?;
            }
            thread::sleep(EVERY.saturating_sub(round.elapsed()));
        }
        Ok(share(clock::process_cpu_ns() - own_ns))
    }

    /// Resident memory of the largest agent.
    fn memory(&self) -> Result<Quantity, Failed> {
        let mut most = 0;
        for agent in &self.agents {
            let status = fs::read_to_string(format!("/proc/{}/status", agent.0.id()))?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no VmRSS")?;
            most = most.max(kib.trim().parse::<u64>()? * 1024);
        }
        Ok(Quantity::bytes(most))
    }
}

/// Has a machine join, both sides in this process.
fn join(conductor: &Conductor, name: &str, path: &Path) -> Result<(), Failed> {
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let invite = Invite::open(conductor, name, anywhere, START)?;
    let (code, path) = (invite.code(), path.join(name));
    let joins = thread::spawn(move || trust::join(&code, &path, &mut |_| {}).map(drop));
    invite.wait(&mut |_| true, &mut |_| {})?;
    Ok(joins.join().map_err(|_| "the thread that joins panicked")??)
}

fn listen(address: SocketAddr, path: &Path) -> Result<Agent, Failed> {
    let mut command = Command::new(STEND);
    command.args(["agent", "listen", &address.to_string(), "--dir"]).arg(path);
    command.env("STEND_JOURNAL", path.join("journal"));
    Ok(Agent(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?))
}

/// Connects as soon as the agent listens.
fn greet(address: SocketAddr, name: &str, conductor: &Conductor) -> Result<Machine, Failed> {
    let begun = Instant::now();
    loop {
        match Tls::connect(address, name, conductor, START) {
            Ok(tls) => return Ok(Machine::greet(name, Box::new(tls), None, &CANCEL)?),
            Err(e) if begun.elapsed() > START => return Err(e.into()),
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// How long after the first client the last one of a lab of [`CLIENTS`] on this machine began to
/// send, seconds, sorted; of each trial that nothing disturbed.
fn starts(path: &Path) -> Result<Vec<f64>, Failed> {
    fs::write(path.join("plan.toml"), PLAN)?;
    let mut command = Command::new(STEND);
    command.args(["run", "plan.toml", "--out", "out", "--store", "lab.stend"]).current_dir(path);
    command.env("STEND_JOURNAL", path.join("journal")).stdout(Stdio::null());
    let status = command.status()?;
    let text = fs::read_to_string(path.join("out/records.json"));
    let run: Run = serde_json::from_str(&text.map_err(|e| format!("{status}: {e}"))?)?;
    let valid = run.records.iter().filter(|record| record.outcome.fault.is_none());
    let late = |record: &TrialRecord| {
        let late = record.readings.iter().filter(|reading| reading.probe == "start");
        let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
        for reading in late.filter(|reading| reading.host.name() != SUT) {
            (first, last) = (first.min(reading.quantity.value), last.max(reading.quantity.value));
        }
        last - first
    };
    let mut spreads: Vec<f64> = valid.map(late).collect();
    spreads.sort_by(f64::total_cmp);
    if spreads.len() < FEWEST {
        Err(format!("{} valid trials", spreads.len()).into())
    } else {
        Ok(spreads)
    }
}

/// CPU time as a share of what one CPU had, while it was counted.
fn share(used_ns: u64) -> f64 {
    seconds(used_ns) / COUNTED.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "below 2^53 ns")]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
