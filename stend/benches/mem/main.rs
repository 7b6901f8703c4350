//! `benches/mem`: our memory loops, latency and core pairs beside other tools, interleaved.
//!
//! Ours is what a plan gets: the workloads `mem_bandwidth`, `mem_copy`, `mem_latency` and
//! `core_pair`, staged in this process. Peers run on the same CPU over as many bytes, in pages of
//! 2 MiB where they can. A round is one window of ours and one run of the peer, in turning order;
//! rounds in which either was disturbed are made again. A row is judged by the ratio within rounds:
//! from 8 rounds on its Hodges-Lehmann estimate with the signed-rank interval.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

mod cell;
#[path = "../ended/mod.rs"]
mod ended;
mod ours;
mod peer;
mod watch;

use cell::{Cell, Group};
use desk::stats::{Estimate, LEVEL, centre_of_blocks, median};
use desk::unit::{Quantity, Unit, ratio};
use ended::ended;
use ours::{Figure, Load};
use peer::Rival;
use rig::metal::Cpus;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Rounds are made until a cell is told apart, but at most so many times those that are wanted.
const AGAIN: usize = 6;
/// A cell is told apart whose interval is narrower than this factor, whatever it says.
const NARROW: f64 = 1.05;
/// Fewest undisturbed rounds from which anything is said.
const FEWEST: usize = 5;
/// An interval that is wider than this factor reaches any bar, and says nothing.
const WIDEST: f64 = 1.2;
/// What the geometric mean of all bandwidths must reach.
const MEAN_BAR: f64 = 1.03;

type Failed = Box<dyn Error>;

/// What came of all rows.
#[derive(Default)]
struct Tally {
    good: usize,
    counted: usize,
    /// Logarithms of the ratios of bandwidths; not of STREAM's, which its compiler made of base
    /// pages and stores through the caches.
    logs: Vec<f64>,
    /// Programs that are not here, and cells that were not measured for it.
    absent: Vec<(&'static str, usize)>,
}

/// The rounds of a cell that count: ours and the peer's.
#[derive(Default)]
struct Rounds {
    pairs: Vec<(f64, f64)>,
    /// Why the last one that does not count does not.
    disturbed: Option<String>,
}

impl Rounds {
    /// The ratio of ours to the peer's within rounds, with its interval.
    fn ratio(&self) -> Option<Estimate> {
        let logs: Vec<f64> = self.pairs.iter().map(|(a, b)| (a / b).ln()).collect();
        let mut estimate = centre_of_blocks(&logs, Unit::Count, LEVEL)?;
        for value in [&mut estimate.centre, &mut estimate.low, &mut estimate.high] {
            value.value = value.value.exp();
        }
        Some(estimate)
    }

    fn are_enough(&self, wanted: usize) -> bool {
        let narrow = |e: Estimate| e.high.value <= NARROW * e.low.value;
        self.pairs.len() >= wanted && self.ratio().is_some_and(narrow)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("mem", compare(&words).map(|tally| (tally.good, tally.counted)))
}

fn compare(words: &[String]) -> Result<Tally, Failed> {
    let machine = Cpus::read(Path::new("/"));
    let cpus = machine.order();
    let (first, last) = match cpus.as_slice() {
        [first, .., last] => (*first, *last),
        _ => {
            return Err("two CPUs are needed: one is measured, from the other peers are run".into());
        }
    };
    let mut tally = Tally::default();
    println!("what | ours | best peer | ratio | bar | ");
    for mut group in cell::all(&machine, first, &format!("{first}-{last}"))? {
        let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.starts_with(w));
        group.cells.retain(|cell| wanted(&cell.name));
        match group.peer.program().filter(|_| !group.peer.is_here()) {
            _ if group.cells.is_empty() => {}
            Some(program) => tally.absent.push((program, group.cells.len())),
            None => {
                let names: Vec<String> = group.cells.iter().map(|cell| cell.name.clone()).collect();
                if let Err(why) = measure(group, &cpus, &mut tally) {
                    names
                        .iter()
                        .for_each(|name| println!("{name} | - | - | {why} | - | not comparable"));
                }
            }
        }
    }
    for (program, cells) in &tally.absent {
        println!("{program} is not on PATH: {cells} cells are not measured and not counted");
    }
    println!("tinymembench is not run: its tests cannot be chosen, so nothing can be interleaved");
    if tally.counted == 0 {
        return Err("no cell was compared: none is named so, or all were disturbed".into());
    }
    tally.mean(words.is_empty());
    Ok(tally)
}

/// Measures the cells of a group and prints a row for each.
fn measure(group: Group, cpus: &[u32], tally: &mut Tally) -> Result<(), Failed> {
    let Group { cells, peer, rounds: wanted, window_ms, fresh, longest } = group;
    let mut rival = peer.ready(cpus)?;
    let text = |cell: &Cell| {
        let bytes = rival.bytes.get(cell.nth).map_or_else(String::new, u64::to_string);
        cell.load.replace("{bytes}", &bytes)
    };
    let texts: Vec<String> = cells.iter().map(text).collect();
    let stage = || texts.iter().map(|text| Load::stage(text)).collect::<Result<Vec<_>, Failed>>();
    let mut loads = stage()?;
    let mut rounds: Vec<Rounds> = cells.iter().map(|_| Rounds::default()).collect();
    let began = Instant::now();
    for turn in 0..wanted * AGAIN {
        let done = rounds.iter().all(|one| one.are_enough(wanted));
        if done || began.elapsed() > longest {
            break;
        }
        if fresh && turn > 0 {
            loads.clear();
            loads = stage()?;
            rival.stage_anew()?;
        }
        watch::wait_for_calm(cpus);
        let early = if turn % 2 == 0 { None } else { Some(rival.run(window_ms)?) };
        if let Some(why) = early.as_ref().and_then(|seen| seen.disturbed.clone()) {
            rounds.iter_mut().for_each(|one| one.disturbed = Some(why.clone()));
            continue;
        }
        let taken = loads.iter_mut().map(|load| load.measure(window_ms));
        let taken = taken.collect::<Result<Vec<_>, Failed>>()?;
        let seen = early.map_or_else(|| rival.run(window_ms), Ok)?;
        if let Some(other) = taken.iter().find(|taken| taken.cpus != rival.cpus) {
            let (ours, theirs) = (&other.cpus, &rival.cpus);
            return Err(format!("ours ran on CPUs {ours:?}, the peer on {theirs:?}").into());
        }
        for ((cell, taken), rounds) in cells.iter().zip(&taken).zip(&mut rounds) {
            match seen.disturbed.as_ref().or(taken.disturbed.as_ref()) {
                Some(why) => rounds.disturbed = Some(why.clone()),
                None => rounds.pairs.push((taken.figure(cell.figure), seen.figures[cell.nth])),
            }
        }
    }
    for ((cell, load), rounds) in cells.iter().zip(&loads).zip(&rounds) {
        tally.row(cell, load, rounds, &rival);
    }
    Ok(())
}

impl Tally {
    /// Judges a cell and prints its row.
    fn row(&mut self, cell: &Cell, load: &Load, rounds: &Rounds, rival: &Rival) {
        let pairs = &rounds.pairs;
        let (name, bar, peer) = (&cell.name, cell.bar.text(), &rival.name);
        let says = |e: &Estimate| pairs.len() >= FEWEST && e.high.value <= WIDEST * e.low.value;
        let Some(Estimate { centre, low, high, .. }) = rounds.ratio().filter(says) else {
            let why = match pairs.len() {
                FEWEST.. => "they differ too much",
                _ => rounds.disturbed.as_deref().unwrap_or("too few in the time"),
            };
            println!(
                "{name} | - | - ({peer}) | {} rounds: {why} | {bar} | not comparable",
                pairs.len()
            );
            return;
        };
        let reached = cell.bar.reached(low.value, high.value);
        let unit = if cell.figure == Figure::Time { Unit::Second } else { Unit::BytePerSecond };
        let show =
            |values: Vec<f64>| Quantity::new(median(&values).unwrap_or(0.0), unit).to_string();
        let [ours, theirs] =
            [pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect()].map(show);
        let [centre_text, low, high] = [centre.value, low.value, high.value].map(ratio);
        let made = load.word("loop");
        let made = if made.is_empty() { String::new() } else { format!(" ({made})") };
        let mark = if reached { "ok" } else { "short" };
        let count = pairs.len();
        println!(
            "{name} | {ours}{made} | {theirs} ({peer}) | {centre_text} ({low} to {high}, {count} \
             pairs) | {bar} | {mark}"
        );
        self.counted += 1;
        self.good += usize::from(reached);
        if unit == Unit::BytePerSecond && !rival.is_plain() {
            self.logs.push(centre.value.ln());
        }
    }

    /// The geometric mean of all bandwidths; it is a cell where all of them were measured.
    fn mean(&mut self, all: bool) {
        if self.logs.is_empty() {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "some hundred cells")]
        let mean = (self.logs.iter().sum::<f64>() / self.logs.len() as f64).exp();
        let mark = match mean >= MEAN_BAR {
            _ if !all => "a part of the cells, not counted",
            true => "ok",
            false => "short",
        };
        let (count, mean_text) = (self.logs.len(), ratio(mean));
        println!(
            "geometric mean of {count} bandwidths, STREAM's left out | - | - | {mean_text} | \
             >= {MEAN_BAR:.2} | {mark}"
        );
        if all {
            self.counted += 1;
            self.good += usize::from(mean >= MEAN_BAR);
        }
    }
}
