//! Holds our statistics against figures that scipy, numpy and R made (`make.py`, `make.R`).

use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Golden<C> {
    made_by: BTreeMap<String, String>,
    cases: Vec<C>,
}

fn read<C: for<'d> Deserialize<'d>>(text: &str) -> Vec<C> {
    let golden: Golden<C> = serde_json::from_str(text).unwrap();
    assert!(!golden.made_by.is_empty() && !golden.cases.is_empty());
    golden.cases
}

/// Within a share of the reference, which may be 0.
fn close(ours: f64, theirs: f64, within: f64) {
    assert!((ours - theirs).abs() <= within * theirs.abs(), "{ours} is not {theirs}");
}

#[derive(Deserialize)]
struct Student {
    base: Vec<f64>,
    other: Vec<f64>,
    p: f64,
    intervals: Vec<[f64; 3]>,
    tost: Vec<[f64; 2]>,
}

#[test]
fn below_eight_blocks_all_figures_are_those_of_scipys_t_tests() {
    for case in read::<Student>(include_str!("t.json")) {
        let pairs = case.base.iter().zip(&case.other);
        let logs: Vec<f64> = pairs.map(|(a, b)| log_ratio(*a, *b).unwrap()).collect();
        close(difference_p(&logs).unwrap(), case.p, 1e-9);
        for [level, low, high] in case.intervals {
            let ours = ratio_of_blocks(&logs, level).unwrap();
            assert_eq!(ours.method, EstimateMethod::PairedLogT);
            close(ours.low.value, low, 1e-9);
            close(ours.high.value, high, 1e-9);
        }
        for [margin, p] in case.tost {
            close(equivalence_p(&logs, margin).unwrap(), p, 1e-9);
        }
    }
}

#[derive(Deserialize)]
struct Ranks {
    values: Vec<f64>,
    intervals: Vec<[f64; 3]>,
    centre: f64,
    /// From scipy.
    p: f64,
    /// From R.
    p_r: f64,
    p_above: f64,
    p_below: f64,
}

#[test]
fn signed_ranks_are_those_of_r_and_scipy_to_the_last_digits() {
    let mut seen = 0;
    for case in read::<Ranks>(include_str!("signed_rank.json")) {
        let walsh = Walsh::of(&case.values).unwrap();
        close(walsh.centre(), case.centre, 1e-12);
        close(walsh.p_differs(0.0), case.p, 1e-12);
        close(walsh.p_differs(0.0), case.p_r, 1e-12);
        close(walsh.p_above(0.02), case.p_above, 1e-12);
        close(walsh.p_below(0.02), case.p_below, 1e-12);
        for [level, low, high] in case.intervals {
            let ours = walsh.interval(level).unwrap();
            close(ours.0, low, 1e-12);
            close(ours.1, high, 1e-12);
            seen += 1;
        }
        if by_ranks(case.values.len()) {
            let estimate = ratio_of_blocks(&case.values, 0.95).unwrap();
            assert_eq!(estimate.method, EstimateMethod::HodgesLehmann);
            close(estimate.centre.value, case.centre.exp(), 1e-12);
        }
    }
    assert!(seen > 100, "{seen}");
}

#[derive(Deserialize)]
struct Stepped {
    ps: Vec<f64>,
    adjusted: Vec<f64>,
}

#[test]
fn holm_decides_as_the_adjusted_p_values_of_r_do() {
    for case in read::<Stepped>(include_str!("holm.json")) {
        for alpha in [0.001, 0.01, 0.0125, 0.05, 0.1, 0.3] {
            let ours: Vec<bool> = holm(&case.ps, alpha).iter().map(|s| s.rejected).collect();
            let theirs: Vec<bool> = case.adjusted.iter().map(|p| *p <= alpha).collect();
            assert_eq!(ours, theirs, "{:?} at {alpha}", case.ps);
        }
    }
}

#[derive(Deserialize)]
struct Flipped {
    /// A row a block, a column a point.
    rows: Vec<Vec<Option<f64>>>,
    alpha: f64,
    critical: f64,
    adjusted: Vec<f64>,
}

impl Flipped {
    fn points(&self) -> Vec<Vec<(u32, f64)>> {
        let of = |at: usize| {
            let rows = (1..).zip(&self.rows);
            rows.filter_map(|(block, row)| Some((block, row[at]?))).collect()
        };
        (0..self.adjusted.len()).map(of).collect()
    }
}

#[test]
fn sign_flips_are_those_of_an_enumeration_by_the_definition() {
    for case in read::<Flipped>(include_str!("max_t.json")) {
        let points = case.points();
        let points: Vec<&Blocks> = points.iter().map(Vec::as_slice).collect();
        let ours = max_t(&points, case.alpha, 1).unwrap();
        close(ours.critical, case.critical, 1e-8);
        for (ours, theirs) in ours.adjusted.iter().zip(&case.adjusted) {
            close(*ours, *theirs, 1e-12);
        }
    }
}

#[test]
fn drawn_flips_follow_from_the_seed_and_hardly_depend_on_it() {
    let cases = read::<Flipped>(include_str!("max_t.json"));
    let case = cases.iter().find(|c| c.rows.len() == 10).unwrap();
    let exact = case.points();
    // Twenty blocks are too many to look at every flip.
    let mut longer = exact.clone();
    for point in &mut longer {
        let repeat: Vec<(u32, f64)> = point.iter().map(|(b, log)| (b + 10, *log)).collect();
        point.extend(repeat);
    }
    let of = |points: &[Vec<(u32, f64)>], seed| {
        let points: Vec<&Blocks> = points.iter().map(Vec::as_slice).collect();
        max_t(&points, 0.05, seed).unwrap()
    };
    let (one, two) = (of(&longer, 1), of(&longer, 2));
    assert_ne!(one, two, "the seed counts");
    assert_eq!(one, of(&longer, 1), "and nothing but the seed");
    assert!((one.critical / two.critical - 1.0).abs() < 0.05);
    assert!(one.critical < of(&exact, 1).critical, "more blocks, lighter tails");
}
