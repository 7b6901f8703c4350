//! `benches/rr`: requests and responses of stend beside other tools, interleaved, in one lab.
//!
//! Same two namespaces, same bridge; each connection has its two ends on the same CPUs for all.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../judged/mod.rs"]
mod judged;
#[path = "../one/mod.rs"]
mod one;
mod peer;
#[path = "../net/process.rs"]
mod process;

use desk::record::LabKind;
use desk::stats::median;
use desk::unit::{Quantity, Unit};
use judged::{Count, Failed, ended, rounds};
use peer::{ANEW, BYTES, KEPT, Peer};
use rig::lab::{Blueprint, Wanted, cpus};
use rig::run::Bench;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;

/// Runs of each peer with which the best one is found.
const SCOUTS: usize = 2;
/// Attempts at a trial that the machine disturbs.
const ATTEMPTS: usize = 5;

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

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("rr", compare(&words))
}

/// Runs all cells whose name begins with one of the words, or all.
fn compare(words: &[String]) -> Result<Count, Failed> {
    let (mut bench, hosts) = build()?;
    let cpus = cpus::mine()?;
    let wanted = |cell: &Cell| words.is_empty() || words.iter().any(|w| cell.name().starts_with(w));
    let mut count = Count::default();
    println!("what | ours | best peer | ratio | bar | ");
    for cell in Cell::all().into_iter().filter(wanted) {
        let ends = cell.ends(&cpus);
        let Some(peer) = best(cell, hosts, &ends)? else { continue };
        let name = &*cell.name();
        let judged =
            judged::Cell { name, peer: peer.name, bar: cell.bar, rate: |rate| *rate, told };
        let (mark, row) = rounds(&judged, |is_ours| match is_ours {
            true => own(&mut bench, cell),
            false => Ok(peer.run(hosts, &ends)?),
        })?;
        println!("{row}");
        count.add(mark);
    }
    Ok(count)
}

/// The rate in the middle of runs.
fn told(all: &[f64]) -> String {
    Quantity::new(median(all).unwrap_or(0.0), Unit::OperationPerSecond).to_string()
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

/// Operations a second of one trial, which compared every answer; a disturbed trial is made again.
fn own(bench: &mut Bench, cell: Cell) -> Result<f64, Failed> {
    let text = format!(
        "title = \"bench\"\n[lab]\nclients = 1\n[load.it]\nworkload = \"{}\"\nstreams = {}\n\
         placement = \"{}\"\nrequest_size = \"{BYTES} B\"\nresponse_size = \"{BYTES} B\"\n\
         [method]\nblocks = 3\ndry = false\nsteady = \"noted\"\nsettle = \"0.3 s\"\n\
         settle_max = \"0.3 s\"\nwindow = \"1.6 s\"\n",
        cell.workload, cell.streams, cell.placement
    );
    let (plan, trials) = one::trial(&text)?;
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
