//! Asks how often a comparison across sessions is wrong: runs whose truth and whose spread between
//! sessions are planted in the simulated lab, each a session with a seed of its own.
//!
//! It asks 400 pairs of each kind and prints the table of docs/statistics.md.

#![expect(clippy::print_stdout, reason = "helpers of tests stand outside test functions")]
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::record::{Plan, Run};
use desk::stats::Welch;
use desk::verdict::{Comparison, Sides, Verdict, Wanted, compare_sessions};
use rig::lab::sim::Physics;

/// Sessions 2 % apart, trials within them 1 %, and CPUs alone as the limit.
const NOISE: &str = "noise = { sd = \"1 %\", ar = 0.0, session = { sd = \"2 %\" } }\n\
                     link = { line_rate = \"400 Gbit/s\" }\n";
/// Pairs of a kind.
const PAIRS: u64 = 400;
/// Seeds of one side of a pair: more than it has sessions.
const SEEDS: u64 = 16;

fn plan(seed: u64) -> Plan {
    simulated::plan(&format!(
        "title = \"Session\"\n[load.stream]\nworkload = \"tcp_stream\"\n[method]\nblocks = 5\n\
         dry = false\nseed = {seed}\n"
    ))
}

fn physics(factor: f64) -> Physics {
    simulated::physics(&format!("{NOISE}[effects.launch]\n1 = {factor:?}\n"))
}

/// So many sessions of one side, 0 or 1, of a pair.
fn sessions(physics: &Physics, (pair, side): (u64, u64), many: u64) -> Vec<Run> {
    let seed = |at| (2 * pair + side) * SEEDS + at + 1;
    (0..many).map(|at| simulated::run(&plan(seed(at)), physics)).collect()
}

/// What became of so many pairs.
#[derive(Default)]
struct Count {
    pairs: u32,
    better: u32,
    worse: u32,
    equivalent: u32,
    undecided: u32,
    /// Intervals of 95 % that hold the truth.
    covered: u32,
    /// Pairs that are called different where every block counts as though it were a session.
    by_blocks: u32,
    /// Sum of the log ratios.
    logs: f64,
}

impl Count {
    fn different(&self) -> u32 {
        self.better + self.worse
    }

    fn add(&mut self, found: &Comparison, by_blocks: bool, truth: f64) {
        self.pairs += 1;
        match found.verdict {
            Verdict::Better => self.better += 1,
            Verdict::Worse => self.worse += 1,
            Verdict::Equivalent => self.equivalent += 1,
            _ => self.undecided += 1,
        }
        let ratio = &found.overall;
        let holds = (ratio.low.value..=ratio.high.value).contains(&truth);
        self.covered += u32::from(holds);
        self.by_blocks += u32::from(by_blocks);
        self.logs += ratio.centre.value.ln();
    }

    fn share(&self, of: u32) -> f64 {
        100.0 * f64::from(of) / f64::from(self.pairs)
    }

    fn row(&self, what: &str) {
        let shares = [self.different(), self.equivalent, self.undecided, self.covered];
        let [different, equivalent, undecided, covered] = shares.map(|of| self.share(of));
        println!(
            "| {what} | {different:.1} | {equivalent:.1} | {undecided:.1} | {covered:.1} | {:.1} |",
            self.share(self.by_blocks)
        );
    }
}

/// The logs of all trials of the first session of a side.
fn logs(side: &[Run]) -> Vec<f64> {
    let records = side[0].records.iter();
    let figures = records.filter_map(|r| r.outcome.metric("throughput"));
    figures.map(|figure| figure.value.ln()).collect()
}

/// Pairs of so many sessions a side, the second side times a factor.
fn pairs(many: u64, sessions_a_side: u64, factor: f64) -> Count {
    let physics = [physics(1.0), physics(factor)];
    let mut count = Count::default();
    for pair in 0..many {
        let [a, b] = [0, 1].map(|side: u64| {
            let physics = &physics[usize::from(side == 1)];
            sessions(physics, (pair, side), sessions_a_side)
        });
        let by_blocks = Welch::of(&logs(&a), &logs(&b)).expect("two samples").p() < 0.05;
        let [a, b] = [&a, &b].map(|side| side.iter().collect::<Vec<_>>());
        let sides = Sides { a: &a, b: &b, others: &[] };
        let found = compare_sessions(sides, Wanted::default()).expect("a comparison");
        assert_eq!(found.comparisons.len(), 1);
        count.add(&found.comparisons[0], by_blocks, factor);
    }
    count
}

#[test]
fn equal_sessions_are_seldom_different_and_a_tenth_is_found_with_five_a_side() {
    let equal = pairs(PAIRS, 5, 1.0);
    equal.row("equal, 5 sessions a side");
    assert!(equal.share(equal.different()) <= 8.0);
    assert!(equal.share(equal.covered) >= 92.0);
    // The spread is there: whoever takes blocks for sessions invents differences.
    assert!(equal.share(equal.by_blocks) >= 50.0);
    let planted = pairs(PAIRS, 5, 1.1);
    planted.row("+10 %, 5 sessions a side");
    assert!(planted.share(planted.better) >= 80.0);
    assert_eq!(planted.worse, 0);
    assert!((planted.logs / f64::from(planted.pairs) - 1.1_f64.ln()).abs() < 0.01);
    for (what, factor) in [("equal, 1 session a side", 1.0), ("+10 %, 1 session a side", 1.1)] {
        let single = pairs(PAIRS, 1, factor);
        single.row(what);
        assert_eq!(single.undecided, single.pairs, "{what}");
        assert!(single.share(single.covered) >= 95.0, "{what}");
    }
}
