//! Knows whether a run may end at a look; never what it found.

use super::analyse::analyse;
use super::finding::Verdict;
use super::pairing::contests;
use crate::record::Run;

/// Whether every comparison of the primary metric is decided by the records of the first `blocks`
/// blocks, as an article on them would say: better, worse, equivalent, or two states, which more
/// blocks would not end.
///
/// The verdicts are at the level of a look. False if one comparison has no pair, or if there is
/// none.
#[must_use]
pub fn enough(run: &Run, blocks: u32) -> bool {
    let mut so_far = run.clone();
    so_far.records.retain(|record| record.trial.block <= blocks);
    let asked = contests(&so_far).len();
    let found = analyse(&so_far).comparisons;
    let decided = found.iter().all(|c| !matches!(c.verdict, Verdict::Undecided { .. }));
    decided && asked > 0 && found.len() == asked
}
