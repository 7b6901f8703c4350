//! Knows whether a run may end at a look; never what it found.

use super::barred::bars;
use super::finding::Verdict;
use super::pairing::contests;
use super::winner::{Rule, judge};
use crate::record::Run;

/// Whether every comparison of the primary metric is decided by the records of the first `blocks`
/// blocks: better, worse, equivalent, or two states, which more blocks would not end.
///
/// The verdicts are at the level of a look. False if one comparison has no pair, or if there is
/// none.
#[must_use]
pub fn enough(run: &Run, blocks: u32) -> bool {
    let mut so_far = run.clone();
    so_far.records.retain(|record| record.trial.block <= blocks);
    let contests = contests(&so_far);
    let decided = contests.iter().all(|contest| {
        let Some(rule) = Rule::of(run, &contest.load.name) else { return false };
        let judged = judge(contest, rule, &bars(run, contest).barred);
        judged.is_some_and(|j| !matches!(j.comparison.verdict, Verdict::Undecided { .. }))
    });
    decided && !contests.is_empty()
}
