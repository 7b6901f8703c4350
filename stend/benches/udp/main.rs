//! `benches/udp`: the datagrams of stend beside other tools, interleaved, in one lab.
//!
//! Same two namespaces, same bridge, the kernel's own receive buffer, sender and receiver on two
//! neighbouring CPUs for all. One method watches every tool from outside: see `watch.rs`.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../judged/mod.rs"]
mod judged;
#[path = "../one/mod.rs"]
mod one;
mod peer;
#[path = "../net/process.rs"]
mod process;
mod watch;

use desk::record::LabKind;
use desk::stats::median;
use desk::unit::{Quantity, Unit};
use judged::{Count, Failed, ended, rounds};
use peer::{GSRO, IPERF2, IPERF3, Peer};
use rig::lab::{Blueprint, Wanted, cpus};
use rig::run::Bench;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::thread;
use watch::{Seen, watch};

/// Datagrams of a call of the engines that have many: as many as Linux cuts from 6.10 on.
const DEPTH: u32 = 128;
/// Attempts at a trial that the machine disturbs.
const ATTEMPTS: usize = 5;

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

/// The hosts of a load with a CPU of each, the receiver's first.
type Ends = [(u32, u32); 2];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("udp", compare(&words))
}

/// Runs all cells whose name begins with one of the words, or all.
fn compare(words: &[String]) -> Result<Count, Failed> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stend"));
    let blueprint = Blueprint::of_all(Wanted::Only(LabKind::RootNamespaces), 1, &["lan"]);
    let cancel: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let mut bench =
        Bench::build(&blueprint, loads::ALL, vec![rig::keeper::here(&binary, cancel)?])?;
    let cpus = cpus::mine()?;
    let cpu = |at: usize| cpus[at % cpus.len()];
    let ends: Ends = [(bench.lab.pid(0), cpu(0)), (bench.lab.pid(1), cpu(1))];
    let wanted = |cell: &Cell| words.is_empty() || words.iter().any(|w| cell.name().starts_with(w));
    let mut count = Count::default();
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
        let (name, peer) = (&*cell.name(), cell.peer.name);
        let rate = |seen: &Seen| seen.bit_per_s;
        let judged = judged::Cell { name, peer, bar: cell.bar, rate, told };
        let (mark, row) = rounds(&judged, |is_ours| match is_ours {
            true => own(&mut bench, cell, ends[1].0),
            false => Ok(cell.peer.run(ends, cell.size)?),
        })?;
        println!("{row}");
        count.add(mark);
    }
    Ok(count)
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
    let (plan, trials) = one::trial(&text)?;
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
