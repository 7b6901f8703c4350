//! `benches/udp`: the datagrams of stend beside other tools, interleaved, in one lab.
//!
//! Same two namespaces, same bridge, the kernel's own receive buffer, sender and receiver on two
//! neighbouring CPUs for all. One method watches every tool from outside: see `watch.rs`. A cell is
//! at the bar when the interval of the paired ratio lies above the bar less 0.03.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

mod peer;
#[path = "../net/process.rs"]
mod process;
mod watch;

use desk::plan::{Catalogue, order, read};
use desk::record::{LabKind, TrialKind, WorkloadSpec};
use desk::stats::{Estimate, EstimateMethod, LEVEL, median, ratio_t};
use desk::unit::{Quantity, Unit, ratio};
use peer::{GSRO, IPERF2, IPERF3, Peer};
use rig::factor;
use rig::lab::{Blueprint, Wanted, cpus};
use rig::run::Bench;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::thread;
use watch::{Seen, watch};

/// Interleaved rounds of a cell, at the least and at the most.
const ROUNDS: [usize; 2] = [7, 15];
/// So far below its bar an interval may reach.
const SLACK: f64 = 0.03;
/// Datagrams of a call of the engines that have many: as many as every kernel cuts.
const DEPTH: u32 = 64;
/// Attempts at a trial that the machine disturbs.
const ATTEMPTS: usize = 5;

type Failed = Box<dyn Error>;

#[derive(Clone, Copy)]
struct Cell {
    engine: &'static str,
    size: u32,
    peer: &'static Peer,
    bar: f64,
}

impl Cell {
    fn all() -> Vec<Self> {
        let of = |(engine, peer, bar)| {
            [64, 1472].map(|size| Self { engine, size, peer, bar }).into_iter()
        };
        let engines: [(_, &'static Peer, _); 3] =
            [("call", &IPERF3, 1.0), ("batch", &IPERF2, 2.0), ("segment", &GSRO, 1.15)];
        engines.into_iter().flat_map(of).collect()
    }

    fn name(self) -> String {
        format!("{} {} B", self.engine, self.size)
    }
}

#[derive(PartialEq)]
enum Mark {
    Ok,
    Short,
    Open,
}

/// The hosts of a load with a CPU of each, the receiver's first.
type Ends = [(u32, u32); 2];

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
            println!("benches/udp: {e}");
            ExitCode::from(2)
        }
    }
}

/// Runs all cells whose name begins with one of the words, or all; gives cells at the bar, all
/// cells, and those that are short.
fn compare(words: &[String]) -> Result<(usize, usize, usize), Failed> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stend"));
    let blueprint = Blueprint::of_all(Wanted::Only(LabKind::RootNamespaces), 1, &["lan"]);
    let cancel: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let mut bench =
        Bench::build(&blueprint, loads::ALL, vec![rig::keeper::here(&binary, cancel)?])?;
    let cpus = cpus::mine()?;
    let cpu = |at: usize| cpus[at % cpus.len()];
    let ends = [(bench.lab.pid(0), cpu(0)), (bench.lab.pid(1), cpu(1))];
    let wanted = |cell: &Cell| words.is_empty() || words.iter().any(|w| cell.name().starts_with(w));
    let (mut good, mut counted, mut short) = (0, 0, 0);
    println!("what | ours, lost | peer, lost | ratio | bar | ");
    for cell in Cell::all().into_iter().filter(wanted) {
        match (cell.peer.is_there(), cell.peer.package) {
            (false, Some(package)) => {
                let name = cell.peer.name;
                return Err(format!("{name} is missing; install package {package}").into());
            }
            (false, None) => {
                println!("{}: not on PATH, not counted: {}", cell.name(), cell.peer.file);
                continue;
            }
            (true, _) => {}
        }
        let mark = rounds(&mut bench, cell, ends)?;
        good += usize::from(mark == Mark::Ok);
        short += usize::from(mark == Mark::Short);
        counted += 1;
    }
    if counted == 0 {
        return Err("no cell was compared".into());
    }
    Ok((good, counted, short))
}

/// Interleaved runs, the order turned round by round, until the interval decides or the rounds are
/// used up.
fn rounds(bench: &mut Bench, cell: Cell, ends: Ends) -> Result<Mark, Failed> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    while ours.len() < ROUNDS[1] {
        if ours.len() % 2 == 0 {
            ours.push(own(bench, cell, ends[1].0)?);
            theirs.push(cell.peer.run(ends, cell.size)?);
        } else {
            theirs.push(cell.peer.run(ends, cell.size)?);
            ours.push(own(bench, cell, ends[1].0)?);
        }
        if ours.len() >= ROUNDS[0] && mark(&estimate(&ours, &theirs)?, cell.bar) != Mark::Open {
            break;
        }
    }
    let found = estimate(&ours, &theirs)?;
    let mark = mark(&found, cell.bar);
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
        told(&ours),
        told(&theirs),
        cell.peer.name,
        ours.len(),
        cell.bar
    );
    Ok(mark)
}

/// What runs delivered, and the share that was lost, in the middle of them.
fn told(all: &[Seen]) -> String {
    let middle = |of: fn(&Seen) -> f64, unit| {
        let values: Vec<f64> = all.iter().map(of).collect();
        Quantity::new(median(&values).unwrap_or(0.0), unit).to_string()
    };
    let rate = middle(|seen| seen.bit_per_s, Unit::BitPerSecond);
    format!("{rate}, {}", middle(|seen| seen.lost, Unit::Share))
}

fn estimate(ours: &[Seen], theirs: &[Seen]) -> Result<Estimate, Failed> {
    let log = |(a, b): (&Seen, &Seen)| (a.bit_per_s / b.bit_per_s).ln();
    let logs: Vec<f64> = ours.iter().zip(theirs).map(log).collect();
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

/// One trial, which compared every datagram; a disturbed one is made again. The system under test
/// sends, for a client that sends at full pace is at its own limit.
fn own(bench: &mut Bench, cell: Cell, receiver: u32) -> Result<Seen, Failed> {
    let text = format!(
        "title = \"bench\"\n[lab]\nclients = 1\n[load.it]\nworkload = \"udp_stream\"\n\
         direction = \"transmit\"\nengine = \"{}\"\ndatagram = \"{} B\"\nplacement = \"spread\"\n\
         queue_depth = {DEPTH}\n[method]\nblocks = 3\ndry = false\nsteady = \"noted\"\n\
         settle = \"0.3 s\"\nsettle_max = \"0.3 s\"\nwindow = \"1.6 s\"\n",
        cell.engine, cell.size
    );
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|w| w.spec).collect();
    let plan = read(&text, &Catalogue { workloads: &workloads, factors: factor::ALL })?;
    let mut trials = order(&plan);
    trials.retain(|t| t.kind == TrialKind::Counted);
    trials.truncate(1);
    let mut last = String::from("no trial ran");
    for _ in 0..ATTEMPTS {
        let watcher = thread::spawn(move || watch(receiver));
        let visited = bench.run(&plan, trials.clone(), &mut |_| ())?;
        let seen = watcher.join().map_err(|_| "the watcher panicked")?;
        match visited.records.first().map(|record| &record.outcome.fault) {
            Some(None) => return Ok(seen?),
            Some(Some(fault)) => last = fault.to_string(),
            None => {}
        }
    }
    Err(format!("{}: {last}", cell.name()).into())
}
