//! Knows the ranks of the levels of a factor: shared where their intervals overlap.
//!
//! Never: a rank for a level with two states, whose ratio compares how often each was met, nor for
//! one of a single block, which has no interval.

use super::Part;
use super::effect::is_alone;
use crate::record::{Better, Run};
use crate::verdict::{Comparison, Verdict};

/// The best and the worst rank that a level can have, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rank {
    pub best: usize,
    pub worst: usize,
}

impl Rank {
    /// `1`, or `1–2` where it is shared.
    pub(super) fn text(self) -> String {
        match self.best == self.worst {
            true => self.best.to_string(),
            false => format!("{}–{}", self.best, self.worst),
        }
    }
}

/// A level with the ends of its ratio to the baseline, turned so that more is better.
struct Standing<'a> {
    level: &'a str,
    low: f64,
    high: f64,
}

/// Comparisons that differ in nothing but their level.
pub(super) fn alike<'a>(run: &Run, a: &Comparison, of: &'a [Comparison]) -> Vec<&'a Comparison> {
    let factor = run.plan.factors.iter().find(|f| f.name == a.factor);
    let known = |c: &Comparison| {
        factor.is_none_or(|f| f.levels.is_empty() || f.levels.iter().any(|l| l.name == c.other))
    };
    let same = |c: &&Comparison| {
        (&c.factor, &c.base, &c.stratum, &c.fixed, &c.load, &c.metric)
            == (&a.factor, &a.base, &a.stratum, &a.fixed, &a.load, &a.metric)
    };
    of.iter().filter(same).filter(|c| known(c)).collect()
}

/// The ranks of the baseline and of every other level under the condition of a comparison.
pub(super) fn ranks(part: &Part<'_>, of: &Comparison) -> Vec<(String, Option<Rank>)> {
    let all = alike(part.run, of, &part.analysis.comparisons);
    let turned = |c: &Comparison| {
        let (low, high) = (c.overall.low.value, c.overall.high.value);
        match c.better {
            Better::Higher => (low, high),
            Better::Lower => (1.0 / high, 1.0 / low),
        }
    };
    let mut standings = vec![Standing { level: &of.base, low: 1.0, high: 1.0 }];
    let has_interval = |c: &&&Comparison| c.verdict != Verdict::TwoStates && !is_alone(&c.overall);
    for c in all.iter().filter(has_interval) {
        let (low, high) = turned(c);
        standings.push(Standing { level: &c.other, low, high });
    }
    let levels = std::iter::once(&of.base).chain(all.iter().map(|c| &c.other));
    levels.map(|level| (level.clone(), rank(level, &standings))).collect()
}

fn rank(level: &str, standings: &[Standing<'_>]) -> Option<Rank> {
    let own = standings.iter().find(|s| s.level == level)?;
    let better = standings.iter().filter(|s| s.low > own.high).count();
    let worse = standings.iter().filter(|s| s.high < own.low).count();
    // Alone, as no rival has an interval, it has nobody to be ranked against.
    (standings.len() > 1).then_some(Rank { best: better + 1, worst: standings.len() - worse })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Role, fixture};

    fn ranked(levels: &[(&str, f64)]) -> Vec<String> {
        let (run, mut analysis) = fixture::single("Ranks", 1.0);
        let one = |(name, ratio): &(&str, f64)| {
            let mut c = fixture::single("Ranks", *ratio).1.comparisons.remove(0);
            c.other = (*name).into();
            c
        };
        analysis.comparisons = levels.iter().map(one).collect();
        let mut run = run;
        run.plan.factors.clear();
        let part = Part { role: Role::Duel, run: &run, analysis: &analysis };
        let all = ranks(&part, &analysis.comparisons[0]);
        all.into_iter().map(|(l, p)| format!("{l} {}", p.map_or("-".into(), Rank::text))).collect()
    }

    // The intervals of the fixture are 0.8 % to each side.
    #[test]
    fn levels_whose_intervals_overlap_share_a_rank() {
        assert_eq!(ranked(&[("b", 1.3)]), ["onboard 2", "b 1"]);
        assert_eq!(ranked(&[("b", 1.001)]), ["onboard 1–2", "b 1–2"]);
        assert_eq!(
            ranked(&[("b", 1.3), ("c", 1.305), ("d", 0.5)]),
            ["onboard 3", "b 1–2", "c 1–2", "d 4"]
        );
    }

    #[test]
    fn a_single_block_gives_no_rank() {
        let (run, mut analysis) = fixture::single("Ranks", 1.3);
        let c = &mut analysis.comparisons[0];
        c.overall = crate::stats::Estimate::exact(c.overall.centre);
        let part = Part { role: Role::Duel, run: &run, analysis: &analysis };
        let all = ranks(&part, &analysis.comparisons[0]);
        assert!(all.iter().all(|(_, rank)| rank.is_none()), "{all:?}");
    }
}
