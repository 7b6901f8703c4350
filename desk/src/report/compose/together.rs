//! Knows which differences a headline over several comparisons may name: those that hold among all
//! of them, for the largest of many is large by chance too.
//!
//! Never: what the lines, tables and figures below say; each comparison stands there by itself.

use super::answer::Judged;
use super::ruling::count;
use crate::verdict::{Comparison, Verdict, holds_together};
use std::collections::BTreeSet;

/// The comparisons as the headline takes them: a difference that does not hold is undecided, and no
/// stretch of its curve is ahead. With it, how many those are.
pub(super) fn for_headline(asked: &[Judged<'_>]) -> (Vec<Comparison>, u32) {
    let runs: BTreeSet<&str> = asked.iter().map(|(run, _)| run.id.as_str()).collect();
    let runs = count(runs.len());
    let mut open = 0;
    let mut all = Vec::new();
    for (run, comparison) in asked {
        let mut told = (*comparison).clone();
        let differs = matches!(told.verdict, Verdict::Better | Verdict::Worse);
        if differs && !holds_together(&run.plan, comparison, runs) {
            told.verdict = Verdict::Undecided { more_blocks: None };
            told.regions.clear();
            open += 1;
        }
        all.push(told);
    }
    (all, open)
}
