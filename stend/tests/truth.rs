//! Asks how often stend is wrong: plans whose truth is planted in the simulated lab go the whole
//! way from the text of the plan to the verdict, thousands of them under each noise.
//!
//! `./test` asks few plans of each kind and lets a bar be missed by as much as chance may.
//! `./test truth` asks 4,000 (`STEND_TRUTH_PLANS`) and prints the tables of METHODOLOGY.md; there a
//! bar is a bar. Start reading at `truth/cell.rs`.

#![expect(clippy::print_stdout, reason = "helpers of tests stand outside test functions")]

#[path = "truth/ask.rs"]
mod ask;
#[path = "truth/cell.rs"]
mod cell;
#[path = "truth/further.rs"]
mod further;
#[path = "truth/naive.rs"]
mod naive;
#[path = "truth/product.rs"]
mod product;
mod simulated;
#[path = "truth/table.rs"]
mod table;

use ask::{Equal, differing, equal};
use cell::{CELLS, QUIET};
use further::{Grown, further};
use std::time::Instant;
use table::{Bars, Row};

/// Least of equal pairs of 1 % noise and 20 blocks that are called equivalent, per cent.
const EQUIVALENT: f64 = 80.0;
/// Shares of the intervals of 80 % that may hold what was needed, per cent.
const HELD: [f64; 2] = [70.0, 90.0];
/// Plans of a kind, where all are asked.
const PLANS: u64 = 4000;
/// Plans of a kind, where it is to be quick; and the slack of chance, in standard deviations.
const FEW: u64 = 60;
const SLACK: f64 = 4.0;

/// Rows of all noises, at these numbers of blocks.
fn rows(equal_at: &[u32], differing_at: &[u32], plans: u64) -> Vec<Row<'static>> {
    let row = |cell| Row {
        cell,
        equal: equal_at.iter().map(|n| (*n, equal(cell, *n, plans))).collect(),
        differing: differing_at.iter().map(|n| (*n, differing(cell, *n, plans))).collect(),
    };
    let mut rows = Vec::new();
    for cell in &CELLS {
        let began = Instant::now();
        rows.push(row(cell));
        println!("{}: {:.1} s", cell.name, began.elapsed().as_secs_f64());
    }
    rows
}

fn equivalent(plans: u64, bars: Bars) -> Option<String> {
    let count = equal(&QUIET, 20, plans);
    let of = (count.share(Equal::Equivalent as usize), plans);
    println!("| an equal pair of 1 % noise is called equivalent, n = 20 | {:.1} % |", of.0);
    bars.at_least("equal, called equivalent", of, EQUIVALENT)
}

/// The share of foretold intervals that held what was needed.
fn foretold(first: u32, plans: u64, bars: Bars) -> Vec<String> {
    let count = further(first, plans);
    let asked = count.hits[Grown::Foretold as usize];
    let held = 100.0 * count.hits[Grown::Held as usize] as f64 / asked.max(1) as f64;
    println!(
        "| the 80 % interval of further blocks holds what was needed, told after {first} blocks \
         | {held:.1} % of {asked} |"
    );
    println!("({} of them undecided at the bound)", count.hits[Grown::Unended as usize]);
    assert!(asked > plans / 20, "{asked} of {plans} plans were undecided");
    let what = format!("further blocks told after {first}");
    let low = bars.at_least(&what, (held, asked), HELD[0]);
    low.into_iter().chain(bars.at_most(&what, (held, asked), HELD[1])).collect()
}

#[test]
fn equal_things_are_called_equal_and_planted_differences_are_found() {
    let bars = Bars { slack: SLACK };
    let rows = rows(&[5, 10], &[10], FEW);
    println!("{}\n{}", table::said(&rows), table::not_offered(&rows));
    let mut short = table::short(&rows, bars);
    short.extend(equivalent(FEW, bars));
    assert!(short.is_empty(), "{short:#?}");
}

/// What is not offered is wrong, on the same visits; or this test could not tell good from bad.
#[test]
fn what_is_not_offered_calls_equal_things_different() {
    let share = |name: &str, column: Equal| {
        let cell = CELLS.iter().find(|cell| cell.name.contains(name)).unwrap();
        equal(cell, 10, FEW).share(column as usize)
    };
    // Four standard deviations of chance off the shares in 400 plans: 38, 99, 43 and 6 %.
    assert!(share("AR(1)", Equal::Sequential) > 12.0);
    assert!(share("drift", Equal::Sequential) > 90.0);
    assert!(share("launches", Equal::Pooled) > 17.0);
    assert!(share("launches", Equal::ByTurns) < 17.0);
}

#[test]
fn further_blocks_are_foretold() {
    let short = foretold(5, FEW, Bars { slack: SLACK });
    assert!(short.is_empty(), "{short:#?}");
}

#[test]
#[ignore = "minutes: ./test truth"]
fn the_full_table() {
    let plans = std::env::var("STEND_TRUTH_PLANS").ok();
    let plans = plans.map_or(PLANS, |text| text.parse().expect("a number of plans"));
    let (began, bars) = (Instant::now(), Bars { slack: 0.0 });
    let rows = rows(&[5, 10, 20], &[3, 5, 10, 20], plans);
    println!("\n{}\n{}", table::said(&rows), table::not_offered(&rows));
    let mut short = table::short(&rows, bars);
    short.extend(equivalent(plans, bars));
    for first in [5, 10, 20] {
        short.extend(foretold(first, plans, bars));
    }
    println!("\n{}", table::besides(&rows));
    println!("{plans} plans of a kind in {:.0} s", began.elapsed().as_secs_f64());
    assert!(short.is_empty(), "{short:#?}");
}
