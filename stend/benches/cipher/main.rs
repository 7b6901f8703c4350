//! `benches/cipher`: what the workload `cipher` says, beside `openssl speed -evp` on the same CPU.
//!
//! Two bars. The built-in engine is at least as fast as `openssl speed`: the interval of the paired
//! ratio reaches 1. And our row of `openssl speed` is what it prints by itself, within 1 %: the
//! interval reaches into 0.99 to 1.01. One run of each a round, in an order that turns. A run of
//! `openssl speed` is a mean over a second of wall time; ours is that of the undisturbed samples of
//! a second, and the workload checks its results.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../ended/mod.rs"]
mod ended;
#[path = "../mem/ours.rs"]
#[expect(dead_code, reason = "the quickest sample, and times, are not asked for here")]
mod ours;
#[path = "../mem/watch.rs"]
#[expect(dead_code, reason = "of memory and of other ways of timing nothing is asked here")]
mod watch;

use desk::plan::{Catalogue, order, read};
use desk::record::{TrialKind, WorkloadSpec};
use desk::stats::{Estimate, EstimateMethod, LEVEL, median, ratio_t};
use desk::unit::{Quantity, Unit, ratio};
use ended::ended;
use ours::{Figure, Load};
use rig::factor;
use rig::lab::{Blueprint, Wanted};
use rig::run::Bench;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;

/// Interleaved rounds of a cell: at least, and at most where its interval stays wide.
const ROUNDS: [usize; 2] = [7, 21];
/// Block sizes of `openssl speed` itself, bytes.
const SIZES: [u32; 6] = [16, 64, 256, 1024, 8192, 16384];
/// A trial that was disturbed is run again so often.
const AGAIN: usize = 5;
/// An interval that is wider than this factor says nothing.
const WIDEST: f64 = 1.2;
/// Rounds are made until it is narrower than this factor.
const NARROW: f64 = 1.04;

type Failed = Box<dyn Error>;

/// One place of the bench.
#[derive(Clone, Copy)]
struct Cell {
    algorithm: &'static str,
    bytes: u32,
}

/// Bytes a second of each round.
#[derive(Default)]
struct Runs {
    /// The engine of this binary.
    ours: Vec<f64>,
    /// `openssl speed`, by our engine `openssl_cli`.
    row: Vec<f64>,
    /// `openssl speed` by itself.
    peer: Vec<f64>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("cipher", compare(&words))
}

impl Cell {
    fn all() -> Vec<Self> {
        let of = |algorithm| SIZES.map(|bytes| Self { algorithm, bytes });
        [of("sha256"), of("aes-256-cbc")].concat()
    }

    fn name(self) -> String {
        format!("{} {}", self.algorithm, Quantity::bytes(self.bytes.into()))
    }
}

fn compare(words: &[String]) -> Result<(usize, usize), Failed> {
    let version = Command::new("openssl").arg("version").output()?.stdout;
    let version = String::from_utf8_lossy(&version);
    let peer = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    println!("peer: openssl speed -elapsed -evp, {peer}");
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stend"));
    let blueprint = Blueprint::of_all(Wanted::Best, 0, &[]);
    let cancel: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let mut bench =
        Bench::build(&blueprint, loads::ALL, vec![rig::keeper::here(&binary, cancel)?])?;
    let wanted = |cell: &Cell| words.is_empty() || words.iter().any(|w| cell.name().starts_with(w));
    let (mut good, mut counted) = (0, 0);
    println!("what | ours | peer | ratio | bar | ");
    for cell in Cell::all().into_iter().filter(wanted) {
        let name = cell.name();
        let runs = match rounds(&mut bench, cell) {
            Ok(runs) => runs,
            Err(why) => {
                // Both its rows miss their bars; the others are still worth their time.
                println!("{name} | - | - | {why} | | not measured");
                counted += 2;
                continue;
            }
        };
        let at = |low: f64, high: f64| (low, high);
        for (what, ours, bar, (low, high)) in [
            (format!("{name} aws_lc"), &runs.ours, ">= 1.00", at(1.0, f64::INFINITY)),
            (format!("{name} openssl_cli"), &runs.row, "0.99 to 1.01", at(0.99, 1.01)),
        ] {
            good += usize::from(show(&what, (ours, &runs.peer, &peer), bar, (low, high))?);
            counted += 1;
        }
    }
    if counted == 0 {
        return Err("no cell is named so".into());
    }
    Ok((good, counted))
}

/// Prints a row; whether its interval reaches the bar.
fn show(
    what: &str,
    (ours, theirs, peer): (&[f64], &[f64], &str),
    bar: &str,
    (low, high): (f64, f64),
) -> Result<bool, Failed> {
    let estimate = estimate(ours, theirs).ok_or("too few rounds")?;
    // A wide interval reaches any bar, and says nothing.
    let narrow = estimate.high.value <= WIDEST * estimate.low.value;
    let reaches = narrow && estimate.high.value >= low && estimate.low.value <= high;
    let rate =
        |all: &[f64]| Quantity::new(median(all).unwrap_or(0.0), Unit::BytePerSecond).to_string();
    let [middle, from, to] =
        [estimate.centre, estimate.low, estimate.high].map(|quantity| ratio(quantity.value));
    let mark = match (reaches, narrow) {
        (true, _) => "ok",
        (false, true) => "short",
        (false, false) => "too wide",
    };
    println!(
        "{what} | {} | {} ({peer}) | {middle} ({from} to {to}, {} pairs) | {bar} | {mark}",
        rate(ours),
        rate(theirs),
        ours.len()
    );
    Ok(reaches)
}

fn estimate(ours: &[f64], theirs: &[f64]) -> Option<Estimate> {
    let logs: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| (a / b).ln()).collect();
    ratio_t(&logs, LEVEL, EstimateMethod::PairedLogT)
}

impl Runs {
    fn are_enough(&self) -> bool {
        let narrow = |ours: &[f64]| {
            estimate(ours, &self.peer).is_some_and(|e| e.high.value <= NARROW * e.low.value)
        };
        self.peer.len() >= ROUNDS[0] && narrow(&self.ours) && narrow(&self.row)
    }
}

/// Runs of all three, the order turned round by round.
fn rounds(bench: &mut Bench, cell: Cell) -> Result<Runs, Failed> {
    let mut runs = Runs::default();
    let mut cpu = 0;
    for round in 0..ROUNDS[1] {
        if runs.are_enough() {
            break;
        }
        for turn in 0..3 {
            match (round + turn) % 3 {
                // The first of all: it tells where the others shall run.
                0 => {
                    let (rate, on) = built_in(cell)?;
                    runs.ours.push(rate);
                    cpu = on;
                }
                1 => runs.row.push(row(bench, cell)?),
                _ => runs.peer.push(alone(cell, cpu)?),
            }
        }
    }
    Ok(runs)
}

/// Lines of a plan for an engine.
fn load(cell: Cell, engine: &str) -> String {
    format!(
        "workload = \"cipher\"\nalgorithm = \"{}\"\nblock_size = \"{} B\"\nengine = \"{engine}\"\n",
        cell.algorithm, cell.bytes
    )
}

/// Bytes a second of the engine of this binary, and the CPU that it ran on.
fn built_in(cell: Cell) -> Result<(f64, u32), Failed> {
    let mut load = Load::stage(&load(cell, "aws_lc"))?;
    let mut last = String::new();
    for _ in 0..AGAIN {
        let taken = load.measure(1000)?;
        let cpu = taken.cpus.first().copied().ok_or("it ran on no CPU")?;
        match &taken.disturbed {
            None => return Ok((taken.figure(Figure::Rate), cpu)),
            Some(why) => last.clone_from(why),
        }
    }
    Err(format!("{} aws_lc: {last}", cell.name()).into())
}

/// Bytes a second of one trial of our engine `openssl_cli`, as a plan gets it.
fn row(bench: &mut Bench, cell: Cell) -> Result<f64, Failed> {
    let text = format!(
        "title = \"bench\"\n[load.it]\n{}[method]\nblocks = 3\ndry = false\nsteady = \"noted\"\n\
         settle = \"0.2 s\"\nsettle_max = \"0.2 s\"\nwindow = \"1 s\"\n",
        load(cell, "openssl_cli")
    );
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|w| w.spec).collect();
    let plan = read(&text, &Catalogue { workloads: &workloads, factors: factor::ALL })?;
    let mut last = "no trial ran".to_owned();
    for _ in 0..AGAIN {
        let mut trials = order(&plan);
        trials.retain(|t| t.kind == TrialKind::Counted);
        trials.truncate(1);
        let visited = bench.run(&plan, trials, &mut |_| ())?;
        let Some(outcome) = visited.records.last().map(|record| &record.outcome) else { continue };
        // An answer that was not checked is not shown.
        match (&outcome.fault, outcome.metric("rate")) {
            (None, Some(rate)) => return Ok(rate.value),
            (fault, _) => last = fault.as_ref().map_or("no rate".into(), ToString::to_string),
        }
    }
    Err(format!("{} openssl_cli: {last}", cell.name()).into())
}

/// What `openssl speed` prints by itself on a CPU, bytes a second; disturbed runs are made again,
/// as those of ours are.
fn alone(cell: Cell, cpu: u32) -> Result<f64, Failed> {
    let words =
        format!("speed -elapsed -mr -seconds 1 -bytes {} -evp {}", cell.bytes, cell.algorithm);
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let cpus = [cpu];
    let mut last = String::new();
    for _ in 0..AGAIN {
        watch::wait_for_calm(&cpus);
        let (words, program) = (words.clone(), "openssl");
        // As long as -seconds says.
        let timed = watch::Timed::Last(|_| Ok(1.0));
        let job = watch::Job { program, words, cpus: &cpus, huge: false, look: false, timed };
        let ran = job.run()?;
        if let Some(why) = ran.disturbed {
            last = why;
            continue;
        }
        let line = ran.text.lines().find_map(|line| line.strip_prefix("+F:"));
        let figure =
            line.and_then(|line| line.rsplit(':').next()).ok_or("no figure of openssl speed")?;
        return Ok(figure.trim().parse()?);
    }
    Err(format!("{} of openssl speed: {last}", cell.name()).into())
}
