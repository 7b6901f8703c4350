//! Knows into which trees a list of rules is best parted.
//!
//! A rule that says nothing of an address is in all parts of a cut by that address. So rules that
//! say much of an address may stand in a tree apart from those that say little of it. Every
//! packet goes through every tree. Must not know how a tree is cut.

use super::key::Key;
use super::span::{Span, Spans};
use super::tree::Tree;
use std::collections::BTreeMap;

/// A rule with its index.
type Row = (u32, Spans);

/// A prefix shorter than so many bits says little of its address.
const WIDE: [u32; 2] = [8, 17];
/// Ways to part rules: for each tree the classes that are in it. Class 0 says much of both
/// addresses, 1 little of the source, 2 little of the destination, 3 little of both.
const WAYS: [&[&[usize]]; 7] = [
    &[&[0, 1, 2, 3]],
    &[&[0, 1], &[2, 3]],
    &[&[0, 2], &[1, 3]],
    &[&[0, 1, 2], &[3]],
    &[&[0, 1], &[2], &[3]],
    &[&[0, 2], &[1], &[3]],
    &[&[0], &[1], &[2], &[3]],
];
/// Rules by which a way is chosen, at most.
const SAMPLE: usize = 16_384;
/// Rules whose packets are tried, at most.
const TRIED: usize = 256;

/// What the parts of a way through a tree cost, about: ns on a Zen 5 with AVX-512 (decision 0079).
/// Only their ratios count.
const STEP: f64 = 0.7;
const BLOCK: f64 = 1.1;
/// What it costs to have a megabyte of trees: blocks come from the second cache or the third.
const MEGABYTE: f64 = 4.0;

/// The trees of the way that costs least; of a very long list, by a part of its rules.
///
/// # Errors
/// The rules of a leaf, where they are more than one can hold.
pub fn trees(rows: &[Row]) -> Result<Vec<Tree>, usize> {
    let some: Vec<Row> = rows.iter().step_by(rows.len().div_ceil(SAMPLE).max(1)).copied().collect();
    let mut costs: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    let mut best: Option<(f64, u32, &[&[usize]])> = None;
    for (wide, way) in WIDE.iter().flat_map(|wide| WAYS.map(|way| (*wide, way))) {
        let mut sum = 0.0;
        for part in parts(&some, wide, way) {
            let indices: Vec<u32> = part.iter().map(|(index, _)| *index).collect();
            let cost = match costs.get(&indices) {
                Some(cost) => *cost,
                None => cost(&Tree::build(&part)?, &some),
            };
            costs.insert(indices, cost);
            sum += cost;
            if best.is_some_and(|(least, ..)| sum >= least) {
                break;
            }
        }
        if best.is_none_or(|(least, ..)| sum < least) {
            best = Some((sum, wide, way));
        }
    }
    let parts = best.map(|(_, wide, way)| parts(rows, wide, way)).unwrap_or_default();
    parts.iter().map(|part| Tree::build(part)).collect()
}

/// The rules of each tree; trees without rules are left out.
fn parts(rows: &[Row], wide: u32, way: &[&[usize]]) -> Vec<Vec<Row>> {
    let says_little = |span: &Span| usize::from((span.low ^ span.high).leading_zeros() < wide);
    let class = |spans: &Spans| says_little(&spans[0]) + 2 * says_little(&spans[1]);
    let part = |classes: &&[usize]| -> Vec<Row> {
        rows.iter().filter(|(_, spans)| classes.contains(&class(spans))).copied().collect()
    };
    way.iter().map(part).filter(|part| !part.is_empty()).collect()
}

/// What a way through a tree costs a packet, on average over packets of all rules.
#[expect(clippy::cast_precision_loss, reason = "rules and bytes are far below 2^53")]
fn cost(tree: &Tree, rows: &[Row]) -> f64 {
    let tried = rows.iter().step_by(rows.len().div_ceil(TRIED).max(1));
    let of = |(_, spans): &Row| {
        let key = Key::from(spans.map(|span| span.low));
        tree.blocks(tree.leaf(&key)).len()
    };
    let blocks: Vec<usize> = tried.map(of).collect();
    let mean = blocks.iter().sum::<usize>() as f64 / blocks.len().max(1) as f64;
    let megabytes = tree.bytes() as f64 / f64::from(1 << 20);
    STEP * f64::from(tree.depth) + BLOCK * mean + MEGABYTE * megabytes
}
