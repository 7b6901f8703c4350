//! `benches/disk`: the workload `disk` beside fio with io_uring, interleaved, on one CPU.
//!
//! fio compares nothing; ours compares each block that it reads. Response times are the total ones
//! of fio (`lat`): ours count from before the call that hands an operation over, too. CPU time of
//! ours is that of the process in the window, and that of fio that of its job alone.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

mod cell;
#[path = "../ended/mod.rs"]
mod ended;
mod ours;
mod peer;

use cell::{Access, DISK, Figure, Got, MEMORY, Mark, Place};
use desk::stats::{EstimateMethod, LEVEL, median, ratio_t};
use ended::ended;
use ours::Load;
use peer::Fio;
use std::error::Error;
use std::process::ExitCode;

/// Interleaved rounds of a cell.
const ROUNDS: usize = 7;
/// Length of a run, nanoseconds and seconds.
const WINDOW_NS: u64 = 2_000_000_000;
const SECONDS: f64 = 2.0;

type Failed = Box<dyn Error>;

/// Cells at the bar, open ones, and all.
#[derive(Default)]
struct Tally {
    good: usize,
    open: usize,
    counted: usize,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("disk", compare(&words).map(|tally| (tally.good, tally.counted)))
}

/// Runs all cells whose name begins with one of the words, or all.
fn compare(words: &[String]) -> Result<Tally, Failed> {
    let disk = std::env::var_os("STEND_BENCH_DISK").unwrap_or_else(|| "/var/tmp".into());
    let places: [(Place, &[Access]); 2] = [
        (Place { name: "ext4", directory: disk.into(), direct: true }, &DISK),
        (Place { name: "tmpfs", directory: "/dev/shm".into(), direct: false }, &MEMORY),
    ];
    let peer = Fio::version()?;
    let mut tally = Tally::default();
    println!("what | ours | peer ({peer}) | ratio | bar | ");
    for (place, all) in &places {
        let name = |access: &Access| format!("{} {}", place.name, access.name);
        let asked = |access: &&Access| {
            words.is_empty() || words.iter().any(|word| name(access).starts_with(word))
        };
        let asked: Vec<Access> = all.iter().filter(asked).copied().collect();
        if asked.is_empty() {
            continue;
        }
        let fio = Fio::fill(place)?;
        for access in asked {
            let pairs = rounds(place, access, &fio)?;
            for figure in Figure::all(place) {
                tally.row(&name(&access), figure, &pairs)?;
            }
        }
    }
    if tally.counted == 0 {
        return Err("no cell was compared".into());
    }
    if tally.open * 10 <= tally.counted {
        tally.good += tally.open;
    }
    Ok(tally)
}

/// Interleaved runs, the order turned round by round: ours and fio's.
fn rounds(place: &Place, access: Access, fio: &Fio) -> Result<Vec<(Got, Got)>, Failed> {
    let mut load = Load::stage(place, access)?;
    let (_, cpu) = load.measure(WINDOW_NS / 4)?;
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        let theirs = || fio.run(place, access, (cpu, SECONDS));
        pairs.push(if round % 2 == 0 {
            let ours = load.measure(WINDOW_NS)?.0;
            (ours, theirs()?)
        } else {
            let theirs = theirs()?;
            (load.measure(WINDOW_NS)?.0, theirs)
        });
    }
    Ok(pairs)
}

impl Tally {
    /// Judges a figure and prints its row.
    fn row(&mut self, name: &str, figure: Figure, pairs: &[(Got, Got)]) -> Result<(), Failed> {
        let (ours, theirs): (Vec<f64>, Vec<f64>) =
            pairs.iter().map(|(ours, theirs)| (figure.of(*ours), figure.of(*theirs))).unzip();
        let logs: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| (a / b).ln()).collect();
        let found = ratio_t(&logs, LEVEL, EstimateMethod::PairedLogT).ok_or("too few rounds")?;
        let [a, b] = [&ours, &theirs].map(|all| median(all).unwrap_or(0.0));
        let mark = figure.judge(&found, a - b);
        println!(
            "{name} {} | {a:.4e} | {b:.4e} | {:.3} ({:.3} to {:.3}, {} pairs) | {} | {}",
            figure.name(),
            found.centre.value,
            found.low.value,
            found.high.value,
            pairs.len(),
            figure.bar(),
            match mark {
                Mark::Ok => "ok",
                Mark::Short => "short",
                Mark::Open => "open",
            }
        );
        self.counted += 1;
        self.good += usize::from(mark == Mark::Ok);
        self.open += usize::from(mark == Mark::Open);
        Ok(())
    }
}
