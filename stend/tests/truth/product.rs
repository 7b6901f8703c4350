//! Knows the way from the text of a plan to what stend says, all of it the product's own: reader,
//! order, conductor, simulated lab, analysis. Nothing here judges.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use crate::cell::Cell;
use crate::simulated;
use desk::record::{Plan, Run, TrialKind};
use desk::verdict::{Analysis, Comparison, Verdict, analyse};
use rig::lab::sim::Physics;

/// One plan: a noise, a planted truth, blocks, a seed.
#[derive(Clone, Copy)]
pub struct Asked<'c> {
    pub cell: &'c Cell,
    /// True ratio of the other level.
    pub truth: f64,
    pub blocks: u32,
    pub seed: u64,
}

/// The levels are two congestion controls, which the model carries alike: what they differ by is
/// planted, and stend does not know that they are alike.
fn plan(asked: Asked<'_>) -> Plan {
    let size = match asked.cell.points {
        1 => "request_size = \"64K\"",
        _ => "over = { request_size = \"16K..64K *2\" }",
    };
    let text = format!(
        "title = \"truth\"\n[lab]\nclients = 1\n[factors.congestion]\n\
         levels = [\"cubic\", \"bbr\"]\n[load.it]\nworkload = \"tcp_stream\"\n{size}\n[method]\n\
         blocks = {}\nseed = {}\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n",
        asked.blocks, asked.seed
    );
    simulated::plan(&text)
}

/// The line is the limit, so that the rate is what is planted and nothing else.
fn physics(asked: Asked<'_>) -> Physics {
    // Moments are spread evenly over the run: multiples of the golden ratio.
    let moment = (asked.seed as f64 * 0.618_033_988_749_895).fract();
    let text = format!(
        "seed = 1\nlink = {{ line_rate = \"1 Gbit/s\" }}\n\
         effects = {{ congestion = {{ bbr = {:.6} }} }}\n{}\n",
        asked.truth,
        asked.cell.noise.replace("STEP_AT", &format!("{:.2} %", 100.0 * moment))
    );
    simulated::physics(&text)
}

/// The whole run, in memory.
pub fn run(asked: Asked<'_>) -> Run {
    simulated::run(&plan(asked), &physics(asked))
}

/// What stend says of the one comparison of such a run.
pub fn told(run: &Run) -> Comparison {
    let Analysis { mut comparisons, .. } = analyse(run);
    assert_eq!(comparisons.len(), 1, "one comparison");
    comparisons.swap_remove(0)
}

/// Whether a verdict says that the levels differ.
pub const fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// A counted visit, as all who analyse it are given it.
#[derive(Clone, Copy)]
pub struct Seen {
    pub block: u32,
    /// Whether it is the other level's.
    pub other: bool,
    /// Log of the throughput.
    pub log: f64,
}

/// The counted visits of a run in the order in which they were made.
pub fn seen(run: &Run) -> Vec<Seen> {
    let counted = run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
    let seen = counted.map(|record| {
        assert_eq!(record.outcome.fault, None, "no fault is planted");
        let rate = record.outcome.metric("throughput").expect("a throughput");
        let level = &record.trial.treatment.levels["congestion"];
        Seen { block: record.trial.block, other: level == "bbr", log: rate.value.ln() }
    });
    seen.collect()
}
