//! `benches/rr`: requests and responses of stend beside other tools, interleaved, in one lab.
//!
//! Same two namespaces, same bridge; each connection has its two ends on the same CPUs for all. A
//! cell is at the bar when the interval of the paired ratio lies above the bar less 0.03.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

mod peer;
#[path = "../net/process.rs"]
mod process;

use desk::plan::{Catalogue, order, read};
use desk::record::{LabKind, TrialKind, WorkloadSpec};
use desk::stats::{Estimate, EstimateMethod, LEVEL, median, ratio_t};
use desk::unit::{Quantity, Unit, ratio};
use peer::{ANEW, BYTES, KEPT, Peer};
use rig::factor;
use rig::lab::{Blueprint, Wanted, cpus};
use rig::run::Bench;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;

/// Interleaved rounds of a cell, at the least and at the most.
const ROUNDS: [usize; 2] = [7, 15];
/// Runs of each peer with which the best one is found.
const SCOUTS: usize = 2;
/// So far below its bar an interval may reach.
const SLACK: f64 = 0.03;
/// Attempts at a trial that the machine disturbs.
const ATTEMPTS: usize = 5;

type Failed = Box<dyn Error>;

#[derive(Clone, Copy)]
struct Cell {
    workload: &'static str,
    streams: u32,
    placement: &'static str,
    bar: f64,
}

impl Cell {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (workload, bars) in [("tcp_rr", [1.0, 1.1]), ("tcp_crr", [1.0, 1.0])] {
            for placement in ["same", "spread"] {
                for (streams, bar) in [1, 4].into_iter().zip(bars) {
                    all.push(Self { workload, streams, placement, bar });
                }
            }
        }
        all
    }

    fn name(self) -> String {
        format!("{} {} x{}", self.workload, self.placement, self.streams)
    }

    fn peers(self) -> &'static [Peer] {
        if self.workload == "tcp_rr" { KEPT } else { ANEW }
    }

    /// The CPUs of the two ends of each connection, the server's first, as the load deals them.
    fn ends(self, cpus: &[u32]) -> Vec<(u32, u32)> {
        let of = |at: u32| cpus[at as usize % cpus.len()];
        let beside = |at| if self.placement == "same" { of(at) } else { of(at + 1) };
        (0..self.streams).map(|at| (of(at), beside(at))).collect()
    }
}

#[derive(PartialEq)]
enum Mark {
    Ok,
    Short,
    Open,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    match compare(&words) {
        Ok((good, counted, short)) => {
            println!("{good} of {counted} cells at the bar");
            // Of ten cells one may be open.
            let open = counted - good - short;
            ExitCode::from(u8::from(short > 0 || open > counted / 10))
        }
        Err(e) => {
            println!("benches/rr: {e}");
            ExitCode::from(2)
        }
    }
}

/// Runs all cells whose name begins with one of the words, or all; gives cells at the bar, all
/// cells, and those that are short.
fn compare(words: &[String]) -> Result<(usize, usize, usize), Failed> {
    let (mut bench, hosts) = build()?;
    let cpus = cpus::mine()?;
    let wanted = |cell: &Cell| words.is_empty() || words.iter().any(|w| cell.name().starts_with(w));
    let (mut good, mut counted, mut short) = (0, 0, 0);
    println!("what | ours | best peer | ratio | bar | ");
    for cell in Cell::all().into_iter().filter(wanted) {
        let ends = cell.ends(&cpus);
        let Some(peer) = best(cell, hosts, &ends)? else { continue };
        let mark = rounds(&mut bench, (cell, peer), hosts, &ends)?;
        good += usize::from(mark == Mark::Ok);
        short += usize::from(mark == Mark::Short);
        counted += 1;
    }
    if counted == 0 {
        return Err("no cell was compared".into());
    }
    Ok((good, counted, short))
}

fn build() -> Result<(Bench, [u32; 2]), Failed> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stend"));
    let wanted = Wanted::Only(LabKind::RootNamespaces);
    let blueprint = Blueprint::of_all(wanted, 1, &["lan"]);
    let cancel: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let bench = Bench::build(&blueprint, loads::ALL, vec![rig::keeper::here(&binary, cancel)?])?;
    let hosts = [0, 1].map(|at| bench.lab.pid(at));
    // A connection an operation leaves states behind: more of them than a namespace keeps.
    for host in hosts {
        let done = Command::new("nsenter")
            .arg(format!("--net=/proc/{host}/ns/net"))
            .args(["sysctl", "-qw", "net.ipv4.ip_local_port_range=1025 65535"])
            .status()?;
        if !done.success() {
            return Err("the range of local ports cannot be set".into());
        }
    }
    Ok((bench, hosts))
}

/// The peer with the fastest run of a few; none where none is here.
fn best(cell: Cell, hosts: [u32; 2], ends: &[(u32, u32)]) -> Result<Option<&'static Peer>, Failed> {
    let mut best: Option<(f64, &'static Peer)> = None;
    let mut report = Vec::new();
    for peer in cell.peers() {
        match (peer.is_there(), peer.package) {
            (false, Some(package)) => {
                return Err(format!("{} is missing; install package {package}", peer.name).into());
            }
            (false, None) => {
                println!("not on PATH, not counted: {}", peer.name);
                continue;
            }
            (true, _) => {}
        }
        let mut most = 0.0_f64;
        for _ in 0..SCOUTS {
            match peer.run(hosts, ends) {
                Ok(rate) => most = most.max(rate),
                Err(e) => println!("{}: {} left out: {e}", cell.name(), peer.name),
            }
        }
        report.push(format!("{} {:.1}", peer.name, most / 1e3));
        if most > 0.0 && best.is_none_or(|(known, _)| most > known) {
            best = Some((most, peer));
        }
    }
    if best.is_none() && !report.is_empty() {
        return Err(format!("{}: no tool that is here could be run", cell.name()).into());
    }
    println!("{}: best of {SCOUTS} runs, kop/s: {}", cell.name(), report.join(", "));
    Ok(best.map(|(_, peer)| peer))
}

/// Interleaved runs, the order turned round by round, until the interval decides or the rounds are
/// used up.
fn rounds(
    bench: &mut Bench,
    (cell, peer): (Cell, &Peer),
    hosts: [u32; 2],
    ends: &[(u32, u32)],
) -> Result<Mark, Failed> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    while ours.len() < ROUNDS[1] {
        if ours.len() % 2 == 0 {
            ours.push(own(bench, cell)?);
            theirs.push(peer.run(hosts, ends)?);
        } else {
            theirs.push(peer.run(hosts, ends)?);
            ours.push(own(bench, cell)?);
        }
        if ours.len() >= ROUNDS[0] && mark(&estimate(&ours, &theirs)?, cell.bar) != Mark::Open {
            break;
        }
    }
    let found = estimate(&ours, &theirs)?;
    let mark = mark(&found, cell.bar);
    let rate = |all: &[f64]| {
        let middle = median(all).unwrap_or(0.0);
        Quantity::new(middle, Unit::OperationPerSecond).to_string()
    };
    let [middle, from, to] =
        [found.centre, found.low, found.high].map(|quantity| ratio(quantity.value));
    let said = match mark {
        Mark::Ok => "ok",
        Mark::Short => "short",
        Mark::Open => "open",
    };
    println!(
        "{} | {} | {} ({}) | {middle} ({from} to {to}, {} pairs) | {:.2} | {said}",
        cell.name(),
        rate(&ours),
        rate(&theirs),
        peer.name,
        ours.len(),
        cell.bar
    );
    Ok(mark)
}

fn estimate(ours: &[f64], theirs: &[f64]) -> Result<Estimate, Failed> {
    let logs: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| (a / b).ln()).collect();
    ratio_t(&logs, LEVEL, EstimateMethod::PairedLogT).ok_or_else(|| "too few rounds".into())
}

fn mark(found: &Estimate, bar: f64) -> Mark {
    if found.low.value > bar - SLACK {
        Mark::Ok
    } else if found.high.value < bar {
        Mark::Short
    } else {
        Mark::Open
    }
}

/// Operations a second of one trial, which compared every answer; a disturbed trial is made again.
fn own(bench: &mut Bench, cell: Cell) -> Result<f64, Failed> {
    let text = format!(
        "title = \"bench\"\n[lab]\nclients = 1\n[load.it]\nworkload = \"{}\"\nstreams = {}\n\
         placement = \"{}\"\nrequest_size = \"{BYTES} B\"\nresponse_size = \"{BYTES} B\"\n\
         [method]\nblocks = 3\ndry = false\nsteady = \"noted\"\nsettle = \"0.3 s\"\n\
         settle_max = \"0.3 s\"\nwindow = \"1.6 s\"\n",
        cell.workload, cell.streams, cell.placement
    );
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|w| w.spec).collect();
    let plan = read(&text, &Catalogue { workloads: &workloads, factors: factor::ALL })?;
    let mut trials = order(&plan);
    trials.retain(|t| t.kind == TrialKind::Counted);
    trials.truncate(1);
    let mut last = String::from("no trial ran");
    for _ in 0..ATTEMPTS {
        let visited = bench.run(&plan, trials.clone(), &mut |_| ())?;
        for record in &visited.records {
            match (&record.outcome.fault, record.outcome.samples.first()) {
                (None, Some(sample)) => return Ok(sample.quantity.value),
                (fault, _) => last = fault.as_ref().map(ToString::to_string).unwrap_or_default(),
            }
        }
    }
    Err(format!("{}: {last}", cell.name()).into())
}
