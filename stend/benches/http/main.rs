//! `benches/http`: the client of the workload `http` beside other clients, interleaved, in one lab
//! on loopback, for which its bars were set; veth and a bridge add the same work to each client.
//!
//! The server is nginx with one worker on the first CPU, each client is on the second. A cell is at
//! the bar when the interval of the paired ratio lies above the bar less 0.03, or, of a cost, below
//! the bar and 0.03.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../ended/mod.rs"]
mod ended;
#[path = "../one/mod.rs"]
mod one;
mod peer;
#[path = "../net/process.rs"]
mod process;

use desk::record::{LabKind, TrialRecord};
use desk::stats::{Estimate, EstimateMethod, LEVEL, median, ratio_t};
use ended::ended;
use peer::{Got, PEERS, Peer, Server};
use rig::lab::{Blueprint, Wanted, cpus};
use rig::run::Bench;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Interleaved rounds of a cell.
const ROUNDS: usize = 7;
/// So far beyond its bar an interval may reach.
const SLACK: f64 = 0.03;
/// Attempts at a trial that the machine disturbs.
const ATTEMPTS: usize = 5;
/// Length of a run, seconds.
const SECONDS: u32 = 2;
const SMALL: u64 = 1;
const LARGE: u64 = 10 << 20;

type Failed = Box<dyn Error>;

/// What is compared.
#[derive(Clone, Copy, PartialEq)]
enum Figure {
    /// Responses for each CPU second of the client, beside the best peer.
    PerCpu,
    /// Responses a second, beside the peer of the fastest run.
    Rate,
    /// CPU time of the client for each response, beside wrk: a cost.
    Cost,
}

#[derive(Clone, Copy)]
struct Cell {
    bytes: u64,
    connections: u32,
    figure: Figure,
    bar: f64,
}

const CELLS: [Cell; 7] = [
    Cell { bytes: SMALL, connections: 10, figure: Figure::PerCpu, bar: 1.30 },
    Cell { bytes: SMALL, connections: 100, figure: Figure::PerCpu, bar: 1.30 },
    Cell { bytes: SMALL, connections: 10, figure: Figure::Rate, bar: 1.0 },
    Cell { bytes: SMALL, connections: 100, figure: Figure::Rate, bar: 1.0 },
    Cell { bytes: LARGE, connections: 1, figure: Figure::Cost, bar: 0.55 },
    Cell { bytes: LARGE, connections: 10, figure: Figure::Cost, bar: 0.25 },
    Cell { bytes: LARGE, connections: 100, figure: Figure::Cost, bar: 0.20 },
];

impl Cell {
    fn name(self) -> String {
        let what = match self.figure {
            Figure::PerCpu => "responses per client CPU second",
            Figure::Rate => "responses per second",
            Figure::Cost => "client CPU per response",
        };
        format!("{} B c={} {what}", self.bytes, self.connections)
    }

    fn of(self, got: Got) -> f64 {
        match self.figure {
            Figure::PerCpu => 1.0 / got.cost,
            Figure::Rate => got.rate,
            Figure::Cost => got.cost,
        }
    }

    fn peers(self) -> impl Iterator<Item = &'static Peer> {
        let all = self.figure != Figure::Cost;
        PEERS.iter().filter(move |peer| all || peer.name == "wrk")
    }

    fn is_met(self, found: &Estimate) -> bool {
        match self.figure {
            Figure::Cost => found.high.value < self.bar + SLACK,
            _ => found.low.value > self.bar - SLACK,
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("http", compare(&words))
}

/// Runs all cells whose name begins with one of the words, or all; gives cells at the bar and all.
fn compare(words: &[String]) -> Result<(usize, usize), Failed> {
    let cpus = cpus::mine()?;
    let [first, second, ..] = cpus[..] else { return Err("needs two CPUs".into()) };
    let mut bench = build()?;
    let mut server = None;
    let wanted = |cell: &Cell| words.is_empty() || words.iter().any(|w| cell.name().starts_with(w));
    let (mut good, mut counted) = (0, 0);
    println!("what | ours | peer | ratio | bar | ");
    for cell in CELLS.into_iter().filter(wanted) {
        let peer = best(cell, place(&bench, &mut server, (first, second))?)?;
        let theirs = &mut |bench: &Bench| {
            let place = place(bench, &mut server, (first, second))?;
            Ok(cell.of(peer.run(place, (cell.connections, cell.bytes), SECONDS)?))
        };
        good += usize::from(rounds(&mut bench, (cell, peer), theirs, first)?);
        counted += 1;
    }
    if counted == 0 { Err("no cell was compared".into()) } else { Ok((good, counted)) }
}

/// Where a peer runs, with the server that it asks: a lab that was built anew has other hosts.
fn place(
    bench: &Bench,
    server: &mut Option<Server>,
    (first, second): (u32, u32),
) -> Result<(u32, u32), Failed> {
    let [host, client] = [0, 1].map(|at| bench.lab.pid(at));
    if server.as_ref().is_none_or(|server| server.host != host) {
        // One that is gone takes its files along.
        *server = None;
        *server = Some(Server::start(host, first, &[SMALL, LARGE])?);
    }
    Ok((client, second))
}

fn build() -> Result<Bench, Failed> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stend"));
    let blueprint = Blueprint::of_all(Wanted::Only(LabKind::Loopback), 1, &["lan"]);
    let cancel: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    Ok(Bench::build(&blueprint, loads::ALL, vec![rig::keeper::here(&binary, cancel)?])?)
}

/// The peer with the best run of one each.
fn best(cell: Cell, place: (u32, u32)) -> Result<&'static Peer, Failed> {
    let mut found: Vec<(f64, &'static Peer)> = Vec::new();
    for peer in cell.peers() {
        match (peer.is_there(), peer.package) {
            (false, Some(package)) => {
                return Err(format!("{} is missing; install package {package}", peer.name).into());
            }
            (false, None) => println!("not on PATH, not counted: {}", peer.name),
            (true, _) => {
                let got = peer.run(place, (cell.connections, cell.bytes), SECONDS)?;
                found.push((cell.of(got), peer));
            }
        }
    }
    let told = found.iter().map(|(value, peer)| format!("{} {value:.4e}", peer.name));
    let told: Vec<String> = told.collect();
    println!("{}: {}", cell.name(), told.join(", "));
    let best = found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, peer)| peer).ok_or_else(|| "no peer is here".into())
}

/// Interleaved runs, the order turned round by round; whether the cell is at the bar.
fn rounds(
    bench: &mut Bench,
    (cell, peer): (Cell, &Peer),
    other: &mut dyn FnMut(&Bench) -> Result<f64, Failed>,
    server: u32,
) -> Result<bool, Failed> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            ours.push(cell.of(own(bench, cell, server)?));
            theirs.push(other(bench)?);
        } else {
            theirs.push(other(bench)?);
            ours.push(cell.of(own(bench, cell, server)?));
        }
    }
    let pairs = ours.iter().zip(&theirs);
    let logs: Vec<f64> = pairs.map(|(a, b): (&f64, &f64)| (a / b).ln()).collect();
    let found = ratio_t(&logs, LEVEL, EstimateMethod::PairedLogT).ok_or("too few rounds")?;
    let is_met = cell.is_met(&found);
    println!(
        "{} | {:.4e} | {:.4e} ({}) | {:.2} ({:.2} to {:.2}, {} pairs) | {:.2} | {}",
        cell.name(),
        median(&ours).unwrap_or(0.0),
        median(&theirs).unwrap_or(0.0),
        peer.name,
        found.centre.value,
        found.low.value,
        found.high.value,
        ours.len(),
        cell.bar,
        if is_met { "ok" } else { "short" }
    );
    Ok(is_met)
}

/// One trial, which checked every response; a disturbed one is made again.
fn own(bench: &mut Bench, cell: Cell, server: u32) -> Result<Got, Failed> {
    let text = format!(
        "title = \"bench\"\n[lab]\nclients = 1\ncpus = \"{server}-{server}\"\n[load.it]\n\
         workload = \"http\"\nserver = \"nginx\"\nconcurrency = {}\n\
         response_size = \"{} B\"\nplacement = \"spread\"\n[method]\n\
         \nblocks = 3\ndry = false\nsteady = \"noted\"\nsettle = \"0.3 s\"\n\
         settle_max = \"0.3 s\"\nwindow = \"{SECONDS} s\"\n",
        cell.connections, cell.bytes
    );
    let (plan, trials) = one::trial(&text)?;
    let mut last = String::from("no trial ran");
    for _ in 0..ATTEMPTS {
        for record in &bench.run(&plan, trials.clone(), &mut |_| ())?.records {
            match &record.outcome.fault {
                None => return got(record).ok_or_else(|| "a figure is missing".into()),
                Some(fault) => last = fault.to_string(),
            }
        }
    }
    Err(format!("{}: {last}", cell.name()).into())
}

fn got(record: &TrialRecord) -> Option<Got> {
    let rate = record.outcome.samples.first()?.quantity.value;
    let is_client = |r: &&desk::record::Reading| r.host == "c01" && r.probe == "process";
    let used = record.readings.iter().filter(is_client).find(|r| r.key == "cpu")?.quantity.value;
    Some(Got { rate, cost: used / rate })
}
