//! Knows the cells of the bench, their bars, and how pairs of runs become a row.
//!
//! Must not know how a run is made.

use super::watch::Seen;
use desk::stats::{Estimate, EstimateMethod, LEVEL, Summary, median, ratio_t};
use desk::unit::{Quantity, Unit, ratio};

/// Requests outstanding in a call of engine `batch`.
pub const QUEUE_DEPTH: u32 = 64;
/// Runs are in one state when their packets differ by no more than this factor.
const SAME_STATE: f64 = 1.03;
/// Below this request size streams have two states.
const TWO_STATES_BELOW: u32 = 64 << 10;
/// Fewest matched pairs from which anything is said.
const FEWEST: usize = 3;
/// Largest spread of the runs of `batch`: standard deviation over mean.
const SPREAD: f64 = 0.10;

/// One place of the bench.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Bytes a request.
    pub size: u32,
    /// Connections.
    pub streams: u32,
}

/// All runs of a cell, in the order of their rounds.
#[derive(Default)]
pub struct Runs {
    /// Ours, one call a request.
    pub sys: Vec<Seen>,
    /// Ours, many requests a call; empty where no bar asks for it.
    pub batch: Vec<Seen>,
    /// The best peer's.
    pub peer: Vec<Seen>,
}

/// How a row ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The interval of the ratio reaches the bar.
    Ok,
    /// It does not.
    Short,
    /// No runs in the same state.
    NotComparable,
}

/// A row as printed.
pub struct Row {
    /// What was compared.
    pub what: String,
    /// Our centre.
    pub ours: String,
    /// The peer's centre.
    pub peer: String,
    /// Ratio with its interval.
    pub ratio: String,
    /// The bar.
    pub bar: String,
    /// The end of it.
    pub mark: Mark,
}

impl Cell {
    /// All cells of the bench.
    pub fn all() -> Vec<Self> {
        let sizes = [64, 1 << 10, 8 << 10, 64 << 10, 256 << 10];
        let with = |streams| sizes.map(|size| Self { size, streams });
        [with(1), with(4)].concat()
    }

    /// Those in which our sender copies nothing, with their bars.
    pub fn lent() -> [(Self, f64); 2] {
        [(1, 1.15), (4, 1.3)].map(|(streams, bar)| (Self { size: 256 << 10, streams }, bar))
    }

    /// `1 KiB x 4`.
    pub fn name(self) -> String {
        format!("{} x {}", Quantity::bytes(self.size.into()), self.streams)
    }

    /// `256 KiB x 4 splice throughput`.
    pub fn lent_name(self) -> String {
        format!("{} splice throughput", self.name())
    }

    /// How often the best peer's throughput `batch` must reach; none where it is not asked for.
    pub const fn batch_bar(self) -> Option<f64> {
        match self.size {
            64 => Some(4.0),
            1024 => Some(2.5),
            8192 => Some(1.8),
            _ => None,
        }
    }

    /// The rows of a cell, `peer` being the name and version of the best one.
    pub fn rows(self, runs: &Runs, peer: &str) -> Vec<Row> {
        let mut rows = Vec::new();
        if self.size >= TWO_STATES_BELOW {
            let pairs: Vec<_> = runs.sys.iter().copied().zip(runs.peer.iter().copied()).collect();
            rows.push(self.throughput("sys", &pairs, 0.97, peer));
            rows.push(self.cost("sys", &pairs, 1.03, peer));
        } else {
            rows.push(self.throughput("sys", &matched(&runs.sys, &runs.peer), 0.95, peer));
        }
        if let Some(bar) = self.batch_bar() {
            let pairs: Vec<_> = runs.batch.iter().copied().zip(runs.peer.iter().copied()).collect();
            rows.push(self.throughput("batch", &pairs, bar, peer));
            rows.push(self.cost("batch", &pairs, 0.55, peer));
            rows.extend(self.spread(&runs.batch));
        }
        rows
    }

    fn throughput(self, engine: &str, pairs: &[(Seen, Seen)], bar: f64, peer: &str) -> Row {
        let show = |v: f64| Quantity::new(v, Unit::BitPerSecond).to_string();
        let what = format!("{} {engine} throughput", self.name());
        let asked = (what, peer, format!(">= {bar:.2}"));
        row(asked, pairs, |s| s.bit_per_s, (&show, &|e: &Estimate| e.high.value >= bar))
    }

    fn cost(self, engine: &str, pairs: &[(Seen, Seen)], bar: f64, peer: &str) -> Row {
        let show = |v: f64| Quantity::new(v, Unit::SecondPerGigabyte).to_string();
        let what = format!("{} {engine} CPU/GB", self.name());
        let asked = (what, peer, format!("<= {bar:.2}"));
        row(asked, pairs, |s| s.s_per_gb, (&show, &|e: &Estimate| e.low.value <= bar))
    }

    fn spread(self, runs: &[Seen]) -> Option<Row> {
        let rates: Vec<f64> = runs.iter().map(|s| s.bit_per_s).collect();
        let summary = Summary::of(&rates)?;
        let spread = summary.sd / summary.mean;
        Some(Row {
            what: format!("{} batch spread of {} runs", self.name(), rates.len()),
            ours: Quantity::new(spread, Unit::Share).to_string(),
            peer: "-".into(),
            ratio: "-".into(),
            bar: format!("<= {}", Quantity::new(SPREAD, Unit::Share)),
            mark: if spread <= SPREAD { Mark::Ok } else { Mark::Short },
        })
    }
}

/// How a figure is shown, and whether an interval of the ratio reaches the bar.
type Judge<'a> = (&'a dyn Fn(f64) -> String, &'a dyn Fn(&Estimate) -> bool);

fn row(
    (what, peer, bar): (String, &str, String),
    pairs: &[(Seen, Seen)],
    pick: fn(&Seen) -> f64,
    (show, reaches): Judge<'_>,
) -> Row {
    let ours = middle(pairs.iter().map(|(a, _)| pick(a)));
    let theirs = middle(pairs.iter().map(|(_, b)| pick(b)));
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (pick(a) / pick(b)).ln()).collect();
    let estimate = ratio_t(&logs, LEVEL, EstimateMethod::PairedLogT);
    let Some(estimate) = estimate.filter(|_| pairs.len() >= FEWEST) else {
        return Row {
            what,
            ours: "-".into(),
            peer: format!("- ({peer})"),
            ratio: format!("{} pairs in one state", pairs.len()),
            bar,
            mark: Mark::NotComparable,
        };
    };
    let [low, high] = [estimate.low, estimate.high].map(|q| ratio(q.value));
    let middle = ratio(middle(logs.iter().map(|l| l.exp())));
    let mark = if reaches(&estimate) { Mark::Ok } else { Mark::Short };
    let pairs = pairs.len();
    Row {
        what,
        ours: show(ours),
        peer: format!("{} ({peer})", show(theirs)),
        ratio: format!("{middle} ({low} to {high}, {pairs} pairs)"),
        bar,
        mark,
    }
}

/// Each of our runs with the peer's run of the nearest packet size, if they are in one state; no
/// run is used twice.
fn matched(ours: &[Seen], theirs: &[Seen]) -> Vec<(Seen, Seen)> {
    let distance = |a: &Seen, b: &Seen| (a.packet / b.packet).ln().abs();
    let mut left = theirs.to_vec();
    let mut pairs = Vec::new();
    for run in ours {
        let near = (0..left.len())
            .min_by(|a, b| distance(run, &left[*a]).total_cmp(&distance(run, &left[*b])));
        if let Some(at) = near.filter(|at| distance(run, &left[*at]) <= SAME_STATE.ln()) {
            pairs.push((*run, left.swap_remove(at)));
        }
    }
    pairs
}

/// The median; 0 of none.
pub fn middle(values: impl Iterator<Item = f64>) -> f64 {
    median(&values.collect::<Vec<_>>()).unwrap_or(0.0)
}
