//! Knows how many blocks an undecided plan really needed, beside what stend had foretold.

use crate::ask::{Count, count};
use crate::cell::Cell;
use crate::product::{Asked, run, seen, told};
use desk::record::Run;
use desk::stats::MoreBlocks;
use desk::verdict::{Verdict, enough};
use std::mem;

/// Blocks up to which a plan grows.
const MOST: u32 = 320;
/// Seeds of the plans; no other test has them.
const FIRST_SEED: u64 = 1 << 60;

/// The noises of these plans: log ratios scatter by 2, 3 and 4 %.
const NOISES: [Cell; 3] = [
    quiet("noise = { sd = \"1.4 %\", ar = 0.0 }"),
    quiet("noise = { sd = \"2.1 %\", ar = 0.0 }"),
    quiet("noise = { sd = \"2.8 %\", ar = 0.0 }"),
];

const fn quiet(noise: &'static str) -> Cell {
    Cell { name: "further blocks", noise, points: 1, repeats: 1, power: &[] }
}

/// What came of a plan.
#[derive(Clone, Copy)]
pub enum Grown {
    /// It was undecided, and an interval was foretold.
    Foretold,
    /// The interval held the blocks that it then needed.
    Held,
    /// It was not decided at the bound; held only by an interval that reaches beyond.
    Unended,
}

/// Plans with true differences of 0 to 4 %, of so many blocks at first.
pub fn further(first: u32, plans: u64) -> Count<3> {
    count(plans, |plan| {
        let asked = Asked {
            cell: &NOISES[(plan / 5 % 3) as usize],
            truth: 1.0 + 0.01 * (plan % 5) as f64,
            blocks: first,
            seed: FIRST_SEED + (u64::from(first) << 32) + plan,
        };
        let begun = run(asked);
        let Verdict::Undecided { more_blocks: Some(MoreBlocks { low, high }) } =
            told(&begun).verdict
        else {
            return [false; 3];
        };
        match needed(asked, begun) {
            Some(needed) => [true, low <= needed && high.is_none_or(|high| needed <= high), false],
            None => [true, high.is_none_or(|high| high > MOST - first), true],
        }
    })
}

/// Further blocks until the plan is decided, if that is before the bound. A longer plan of the same
/// seed begins with the very visits of a shorter one.
fn needed(asked: Asked<'_>, begun: Run) -> Option<u32> {
    let mut shorter = begun;
    while shorter.plan.method.blocks < MOST {
        let known = shorter.plan.method.blocks;
        let mut longer = run(Asked { blocks: MOST.min(2 * known), ..asked });
        let records = mem::take(&mut longer.records);
        let mut coming = records.into_iter().peekable();
        for blocks in 0..=longer.plan.method.blocks {
            while let Some(record) = coming.next_if(|r| r.trial.block <= blocks) {
                longer.records.push(record);
            }
            if blocks == known {
                let logs = |run: &Run| seen(run).iter().map(|s| s.log).collect::<Vec<_>>();
                assert_eq!(logs(&longer), logs(&shorter), "another beginning");
            }
            if blocks > known && enough(&longer, blocks) {
                return Some(blocks - asked.blocks);
            }
        }
        shorter = longer;
    }
    None
}
