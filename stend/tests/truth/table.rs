//! Knows the table of what was counted: its Markdown, and which of its figures miss their bar.

use crate::ask::{Differing, Equal, OfDiffering, OfEqual};
use crate::cell::Cell;
use std::fmt::Write as _;

/// Most of equal pairs called different, per cent: in any cell, and in all together.
const FALSE_IN_A_CELL: f64 = 7.0;
const FALSE_IN_ALL: f64 = 5.5;
/// All cells together may miss their bar by no more standard deviations of chance.
const SLACK_OF_ALL: f64 = 2.0;
/// Least of the intervals that hold the planted effect, per cent.
const COVERED: f64 = 93.0;
/// Blocks at which power is held against that of the simulation, and how far it may be below.
const POWER_AT: u32 = 10;
const POWER_BELOW: f64 = 3.0;

/// A noise, and what was counted under it by number of blocks.
pub struct Row<'c> {
    pub cell: &'c Cell,
    pub equal: Vec<(u32, OfEqual)>,
    pub differing: Vec<(u32, OfDiffering)>,
}

/// Bars, and by how many standard deviations of chance a count may miss one: by none in the full
/// table.
#[derive(Clone, Copy)]
pub struct Bars {
    pub slack: f64,
}

impl Bars {
    /// What is wrong with a share that may be no more than this, in per cent.
    pub fn at_most(self, what: &str, (share, plans): (f64, u64), bar: f64) -> Option<String> {
        (share > bar + self.chance(bar, plans))
            .then(|| format!("{what}: {share:.2} % of {plans}, at most {bar} % is the bar"))
    }

    /// What is wrong with a share that may be no less.
    pub fn at_least(self, what: &str, (share, plans): (f64, u64), bar: f64) -> Option<String> {
        (share < bar - self.chance(bar, plans))
            .then(|| format!("{what}: {share:.2} % of {plans}, at least {bar} % is the bar"))
    }

    fn chance(self, bar: f64, plans: u64) -> f64 {
        self.slack * (bar * (100.0 - bar) / plans.max(1) as f64).sqrt()
    }
}

/// Every bar that the rows miss, in words.
pub fn short(rows: &[Row<'_>], bars: Bars) -> Vec<String> {
    let mut all = Vec::new();
    for row in rows {
        for (blocks, count) in &row.equal {
            let what = format!("{}, n = {blocks}: equal, called different", row.cell.name);
            let of = (count.share(Equal::Different as usize), count.plans);
            all.extend(bars.at_most(&what, of, FALSE_IN_A_CELL));
        }
        for (blocks, count) in &row.differing {
            let what = format!("{}, n = {blocks}: planted effect covered", row.cell.name);
            let of = (count.share(Differing::Covered as usize), count.plans);
            all.extend(bars.at_least(&what, of, COVERED));
            let power = row.cell.power.iter().find(|(n, _)| *n == *blocks && *n == POWER_AT);
            if let Some((_, power)) = power {
                let what = format!("{}, n = {blocks}: planted effect found", row.cell.name);
                let of = (count.share(Differing::Better as usize), count.plans);
                all.extend(bars.at_least(&what, of, power - POWER_BELOW));
            }
        }
    }
    let whole = whole(rows);
    let of = (whole.share(Equal::Different as usize), whole.plans);
    let together = Bars { slack: bars.slack.min(SLACK_OF_ALL) };
    all.extend(together.at_most("all cells: equal, called different", of, FALSE_IN_ALL));
    all
}

/// All counts of equal levels together.
fn whole(rows: &[Row<'_>]) -> OfEqual {
    let none = OfEqual { plans: 0, hits: [0; 9] };
    rows.iter().flat_map(|row| &row.equal).fold(none, |all, (_, count)| all.and(count))
}

/// Shares of one column, by number of blocks, as in `5.1 / 4.8`.
fn shares<const K: usize>(counts: &[(u32, crate::ask::Count<K>)], column: usize) -> String {
    let each = counts.iter().map(|(_, count)| format!("{:.1}", count.share(column)));
    each.collect::<Vec<_>>().join(" / ")
}

fn blocks<const K: usize>(counts: &[(u32, crate::ask::Count<K>)]) -> String {
    counts.iter().map(|(n, _)| n.to_string()).collect::<Vec<_>>().join(" / ")
}

/// The shares of repeats taken for trials; a dash where the visits do not make two turns a level.
fn pooled(row: &Row<'_>, column: Equal) -> String {
    let share = |(n, count): &(u32, OfEqual)| {
        let visits = 2 * *n as usize * row.cell.points;
        if visits / row.cell.repeats / 2 < 2 {
            return "-".to_owned();
        }
        format!("{:.1}", count.share(column as usize))
    };
    row.equal.iter().map(share).collect::<Vec<_>>().join(" / ")
}

/// What stend says, as Markdown.
pub fn said(rows: &[Row<'_>]) -> String {
    let mut text = String::new();
    let Some(first) = rows.first() else { return text };
    let (equal, differing) = (blocks(&first.equal), blocks(&first.differing));
    let _ = writeln!(
        text,
        "| noise of a trial | equal, called different, n = {equal} | +3 % in the interval, \
         n = {differing} | +3 % found, n = {differing} | found by the simulation | two states |\n\
         |---|---|---|---|---|---|"
    );
    for row in rows {
        let power = row.cell.power.iter().map(|(n, share)| format!("{share} (n = {n})"));
        let power: Vec<String> = power.collect();
        let states = row.equal.iter().map(|(_, c)| c.hits[Equal::TwoStates as usize]);
        let more = row.differing.iter().map(|(_, c)| c.hits[Differing::TwoStates as usize]);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.cell.name,
            shares(&row.equal, Equal::Different as usize),
            shares(&row.differing, Differing::Covered as usize),
            shares(&row.differing, Differing::Better as usize),
            if power.is_empty() { "-".into() } else { power.join(", ") },
            states.chain(more).sum::<u64>(),
        );
    }
    let whole = whole(rows);
    let share = whole.share(Equal::Different as usize);
    let _ = writeln!(text, "| all, {} equal pairs | {share:.2} | | | | |", whole.plans);
    text
}

/// What other analyses say of the same equal pairs, as Markdown.
pub fn not_offered(rows: &[Row<'_>]) -> String {
    let mut text = String::new();
    let Some(first) = rows.first() else { return text };
    let _ = writeln!(
        text,
        "| equal, called different, n = {} | stend | A-A-A-B-B-B | repeats as trials | by their \
         means | bootstrap | until significant |\n|---|---|---|---|---|---|---|",
        blocks(&first.equal)
    );
    for row in rows {
        let column = |column: Equal| shares(&row.equal, column as usize);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            row.cell.name,
            column(Equal::Different),
            column(Equal::Sequential),
            pooled(row, Equal::Pooled),
            pooled(row, Equal::ByTurns),
            column(Equal::Bootstrap),
            column(Equal::Stopped),
        );
    }
    text
}

/// What the table has no column for, one line each.
pub fn besides(rows: &[Row<'_>]) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(
            text,
            "{}: equal called equivalent {}, worse although +3 % {}",
            row.cell.name,
            shares(&row.equal, Equal::Equivalent as usize),
            shares(&row.differing, Differing::Worse as usize),
        );
        if row.cell.points > 1 {
            let anywhere = shares(&row.equal, Equal::Anywhere as usize);
            let _ = writeln!(text, "  different as a whole or at any point: {anywhere}");
        }
    }
    text
}
