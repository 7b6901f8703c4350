//! Knows how the blocks of a comparison show, in the order in which they ran, that they are no
//! independent draws of one ratio.
//!
//! Never: a veto. A diagnosis is a reason to doubt, and its absence proves nothing: below 8 blocks
//! nothing is looked at, and at 10 most of what there is stays unseen.
//!
//! What is looked at are ratios within blocks. A drift that both levels share is in none of them,
//! and is no fault of the ratio.

use super::finding::{Caveat, Comparison};
use super::winner::Judged;
use crate::record::Run;
use crate::stats::{
    Apart, DIAGNOSED_FROM, Estimate, EstimateMethod, LEVEL, Neighbours, Trend, apart,
    holm_adjusted, neighbours, trend,
};
use crate::unit::{Quantity, Unit};

/// What a test says of a comparison.
enum Found {
    Moved(Trend),
    Alike(Neighbours),
    Apart(Apart),
}

impl Found {
    const fn p(&self) -> f64 {
        match self {
            Self::Moved(trend) => trend.p,
            Self::Alike(neighbours) => neighbours.p,
            Self::Apart(apart) => apart.p,
        }
    }

    /// Whether its size is of interest to a plan with this margin. How far neighbours hang
    /// together has none: it makes an interval wrong, whatever its width.
    fn matters(&self, blocks: usize, margin: f64) -> bool {
        let size = match self {
            Self::Moved(trend) => trend.slope * steps(blocks),
            Self::Apart(apart) => apart.off,
            Self::Alike(_) => return true,
        };
        size.abs() > margin.ln_1p()
    }
}

/// A diagnosis with the comparison it is of and its p value among all.
struct Diagnosis<'j> {
    judged: &'j Judged,
    found: Found,
    p: f64,
}

/// At most one caveat of each kind, of the comparison in which it is surest.
///
/// Every comparison of [`DIAGNOSED_FROM`] blocks or more (rounds, where n counts boots) is tested
/// for a trend, for neighbours that resemble each other and for a block apart. All these tests of a
/// run are one family, judged by Holm's step-down at 5 %: whatever holds besides, at most 5 % of
/// runs without a fault of that kind have any such caveat.
pub(super) fn diagnoses(run: &Run, judged: &[Judged]) -> Vec<Caveat> {
    let looked_at: Vec<&Judged> = judged.iter().filter(|j| is_looked_at(j)).collect();
    let seed = run.plan.method.seed;
    let all = looked_at.iter().flat_map(|j| of_one(j, seed).map(move |found| (*j, found)));
    let all: Vec<(&Judged, Found)> = all.collect();
    let ps: Vec<f64> = all.iter().map(|(_, found)| found.p()).collect();
    let sure = |(judged, found, p): &(&Judged, Found, f64)| {
        let margin = judged.comparison.margin.value;
        *p <= 1.0 - LEVEL && found.matters(judged.blocks.len(), margin)
    };
    let together = all.into_iter().zip(holm_adjusted(&ps)).map(|((j, found), p)| (j, found, p));
    let mut sure: Vec<Diagnosis<'_>> =
        together.filter(sure).map(|(judged, found, p)| Diagnosis { judged, found, p }).collect();
    sure.sort_by(|a, b| a.found.p().total_cmp(&b.found.p()));
    let told = |kind: fn(&Found) -> bool| {
        let mut alike = sure.iter().filter(|one| kind(&one.found));
        let first = alike.next()?;
        Some(caveat(run, first, [1 + alike.count(), looked_at.len()]))
    };
    let kinds: [fn(&Found) -> bool; 3] = [
        |found| matches!(found, Found::Moved(_)),
        |found| matches!(found, Found::Alike(_)),
        |found| matches!(found, Found::Apart(_)),
    ];
    kinds.into_iter().filter_map(told).collect()
}

fn is_looked_at(judged: &Judged) -> bool {
    !judged.comparison.verdict.is_barred() && judged.blocks.len() >= DIAGNOSED_FROM
}

fn of_one(judged: &Judged, seed: u64) -> impl Iterator<Item = Found> {
    let logs: Vec<f64> = judged.blocks.iter().map(|(_, log)| *log).collect();
    let moved = trend(&logs, LEVEL).map(Found::Moved);
    let alike = neighbours(&logs, seed).map(Found::Alike);
    let apart = apart(&logs).map(Found::Apart);
    moved.into_iter().chain(alike).chain(apart)
}

fn caveat(run: &Run, one: &Diagnosis<'_>, counts: [usize; 2]) -> Caveat {
    let first = in_words(run, &one.judged.comparison);
    let share = |value| Quantity::new(value, Unit::Share);
    let [seen, of] = counts.map(|count| Quantity::count(count as u64));
    let p = share(one.p);
    match &one.found {
        Found::Moved(trend) => {
            let change = change(trend, one.judged.blocks.len());
            Caveat::RatioMoved { first, change, p, seen, of }
        }
        Found::Alike(neighbours) => {
            let follows = share(1.0 - 0.5 * neighbours.ratio);
            Caveat::NeighboursAlike { first, follows, p, seen, of }
        }
        Found::Apart(apart) => {
            let number = one.judged.blocks.get(apart.place).map_or(0, |(number, _)| *number);
            Caveat::BlockApart {
                first,
                block: Quantity::count(number.into()),
                off: Estimate::exact(Quantity::new(apart.off.exp(), Unit::Ratio)),
                share: share(apart.share),
                p,
                seen,
                of,
            }
        }
    }
}

/// The ratio in the last of so many blocks over that in the first.
fn change(trend: &Trend, blocks: usize) -> Estimate {
    let ratio = |slope: f64| Quantity::new((slope * steps(blocks)).exp(), Unit::Ratio);
    Estimate {
        centre: ratio(trend.slope),
        low: ratio(trend.low),
        high: ratio(trend.high),
        level: LEVEL,
        n: u32::try_from(blocks).unwrap_or(u32::MAX),
        method: EstimateMethod::MedianSlope,
    }
}

/// From the first block to the last.
fn steps(blocks: usize) -> f64 {
    f64::from(u32::try_from(blocks.saturating_sub(1)).unwrap_or(u32::MAX))
}

/// `path pro1000 against onboard, offload on, direction transmit`.
pub(super) fn in_words(run: &Run, comparison: &Comparison) -> String {
    let Comparison { factor, base, other, stratum, fixed, load, .. } = comparison;
    let mut parts = vec![format!("{factor} {other} against {base}")];
    if run.plan.loads.len() > 1 {
        parts.push(load.clone());
    }
    parts.extend(stratum.iter().map(|(key, level)| format!("{key} {level}")));
    parts.extend(fixed.iter().map(|(key, value)| format!("{key} {value}")));
    parts.join(", ")
}
