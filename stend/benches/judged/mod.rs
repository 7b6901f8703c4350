//! Knows how a cell is judged: rounds of ours and of the peer in turn, until the interval of their
//! ratio decides.
//!
//! A cell is at the bar when the interval lies above the bar less 0.03. Must not know what is
//! measured, nor by which tool.

use desk::stats::{Estimate, EstimateMethod, LEVEL, ratio_t};
use desk::unit::ratio;
use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Interleaved rounds of a cell, at the least and at the most.
const ROUNDS: [usize; 2] = [7, 15];
/// So far below its bar an interval may reach.
const SLACK: f64 = 0.03;

/// Why nothing could be measured.
pub type Failed = Box<dyn Error>;

/// What the interval of a cell says of its bar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// At the bar.
    Ok,
    /// Below it.
    Short,
    /// Either.
    Open,
}

/// Cells at the bar, all cells, and those that are short.
#[derive(Clone, Copy, Default)]
pub struct Count {
    good: usize,
    counted: usize,
    short: usize,
}

/// What a row of a cell says, and how one of its runs is read.
pub struct Cell<'c, T> {
    /// What it is.
    pub name: &'c str,
    /// The name of the peer.
    pub peer: &'c str,
    /// Ratio that is asked for.
    pub bar: f64,
    /// What is compared of a run.
    pub rate: fn(&T) -> f64,
    /// What is said of all runs of one side.
    pub told: fn(&[T]) -> String,
}

impl Count {
    /// Adds a cell.
    pub fn add(&mut self, mark: Mark) {
        self.good += usize::from(mark == Mark::Ok);
        self.short += usize::from(mark == Mark::Short);
        self.counted += 1;
    }
}

/// Prints the last line of a bench; its exit status. Of ten cells one may be open.
pub fn ended(bench: &str, count: Result<Count, Failed>) -> ExitCode {
    let (line, status) = match count {
        Ok(Count { counted: 0, .. }) => (format!("benches/{bench}: no cell was compared"), 2),
        Ok(Count { good, counted, short }) => {
            let open = counted - good - short;
            let is_short = short > 0 || open > counted / 10;
            (format!("{good} of {counted} cells at the bar"), u8::from(is_short))
        }
        Err(e) => (format!("benches/{bench}: {e}"), 2),
    };
    // The output may be closed; the status says the same.
    let _ = writeln!(io::stdout(), "{line}");
    ExitCode::from(status)
}

/// Runs of a cell, of ours where that is asked for, the order turned round by round, until the
/// interval decides or the rounds are used up; the mark, and the row.
///
/// # Errors
/// As the runs have them.
pub fn rounds<T>(
    cell: &Cell<'_, T>,
    mut run: impl FnMut(bool) -> Result<T, Failed>,
) -> Result<(Mark, String), Failed> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        for is_ours in [ours.len() % 2 == 0, ours.len() % 2 != 0] {
            let side = if is_ours { &mut ours } else { &mut theirs };
            side.push(run(is_ours)?);
        }
        if ours.len() < ROUNDS[0] {
            continue;
        }
        let found = estimate(cell.rate, &ours, &theirs)?;
        let mark = mark(&found, cell.bar);
        if mark != Mark::Open || ours.len() >= ROUNDS[1] {
            return Ok((mark, row(cell, (&ours, &theirs), (&found, mark))));
        }
    }
}

fn estimate<T>(rate: fn(&T) -> f64, ours: &[T], theirs: &[T]) -> Result<Estimate, Failed> {
    let logs: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| (rate(a) / rate(b)).ln()).collect();
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

fn row<T>(
    Cell { name, peer, bar, told, .. }: &Cell<'_, T>,
    (ours, theirs): (&[T], &[T]),
    (found, mark): (&Estimate, Mark),
) -> String {
    let [middle, from, to] =
        [found.centre, found.low, found.high].map(|quantity| ratio(quantity.value));
    let said = match mark {
        Mark::Ok => "ok",
        Mark::Short => "short",
        Mark::Open => "open",
    };
    format!(
        "{name} | {} | {} ({peer}) | {middle} ({from} to {to}, {} pairs) | {bar:.2} | {said}",
        told(ours),
        told(theirs),
        ours.len()
    )
}
