//! Knows which blocks come next, and which are under way.
//!
//! Must not know files, nor how long anything takes.

use super::places::{Chance, Locality, Places};
use super::steps::{Plan, Step, Writing};
use super::versions::{TRIMMED, Versions};
use crate::engine::net::content::mix;
use std::ops::Range;
use std::sync::Arc;

/// What is done to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They are read, and compared.
    Read,
    /// A new version of them is written.
    Write,
    /// They are given back: what is read of them from then on is zeros.
    Trim,
}

impl Kind {
    /// What its times are called.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The first block of the file that it is of.
    pub block: u64,
    /// How many there are.
    pub blocks: usize,
    /// What is done to them.
    pub kind: Kind,
    /// The version that a write gives them: no other write of the thread has it. 0 of a read.
    pub version: u32,
    /// Whether it is complete only after an fsync.
    pub sync: bool,
    /// Whether the file is made empty before.
    pub empties: bool,
}

impl Op {
    /// Its blocks.
    pub fn all(&self) -> Range<u64> {
        self.block..self.block + self.blocks as u64
    }
}

/// The blocks of one thread, which are its alone.
#[derive(Debug)]
pub struct Blocks {
    first: u64,
    plan: Plan,
    versions: Arc<Versions>,
    under_way: Vec<bool>,
    cursor: usize,
    writes: u64,
    places: Places,
    chance: Chance,
}

impl Blocks {
    /// So many blocks of the file from one on, of which these are the versions. None where the
    /// memory for them cannot be had.
    #[must_use]
    pub fn new(
        (first, count): (u64, usize),
        versions: &Arc<Versions>,
        plan: Plan,
        seed: u64,
    ) -> Option<Self> {
        let (mut under_way, versions) = (Vec::new(), Arc::clone(versions));
        under_way.try_reserve_exact(count).ok()?;
        under_way.resize(count, false);
        let seed = mix(seed ^ mix(first));
        let places = Places::new(Locality::Uniform, &plan, count, seed);
        let chance = Chance(seed);
        Some(Self { first, plan, versions, under_way, cursor: 0, writes: 0, places, chance })
    }

    /// They, with random places by this locality.
    #[must_use]
    pub fn located(mut self, locality: Locality) -> Self {
        let seed = mix(self.chance.0);
        self.places = Places::new(locality, &self.plan, self.under_way.len(), seed);
        self
    }

    /// What is done to them.
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        let some = |is: fn(&Step) -> bool| self.plan.steps.iter().any(is);
        let has = [
            (Kind::Read, some(|step| step.reads > 0)),
            (Kind::Write, some(|step| step.reads < 100)),
            (Kind::Trim, self.plan.writing == Writing::Trims),
        ];
        has.into_iter().filter_map(|(kind, has)| has.then_some(kind)).collect()
    }

    /// The first of them.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The next operation; its blocks are under way until [`Self::end`]. Of the places that it may
    /// take at most half may be under way ([`Plan::least`]), or this takes long.
    pub fn begin(&mut self) -> Op {
        let step = self.step();
        let at = if self.chance(step.random) { self.anywhere(step) } else { self.following(step) };
        self.under_way[at..at + step.blocks].fill(true);
        let (block, blocks) = (self.first + at as u64, step.blocks);
        let plain = Op { block, blocks, kind: Kind::Read, version: 0, sync: false, empties: false };
        if self.chance(step.reads) {
            return plain;
        }
        let is_full = |block: u64| self.versions.of(block) != TRIMMED;
        if self.plan.writing == Writing::Trims && plain.all().any(is_full) {
            return Op { kind: Kind::Trim, version: TRIMMED, ..plain };
        }
        let empties = self.plan.writing == Writing::Appends && at == 0;
        if empties {
            let all = self.first..self.first + self.under_way.len() as u64;
            all.for_each(|block| self.versions.set(block, 0));
        }
        self.writes += 1;
        let every = self.plan.sync_every;
        let sync = every > 0 && self.writes.is_multiple_of(every);
        #[expect(clippy::cast_possible_truncation, reason = "they repeat after 2^32 writes")]
        let version = (self.writes % u64::from(TRIMMED)) as u32;
        Op { kind: Kind::Write, version, sync, empties, ..plain }
    }

    /// The operation is complete; what it wrote is there.
    pub fn end(&mut self, op: Op) {
        let at = self.place(op.block);
        self.under_way[at..at + op.blocks].fill(false);
        if op.kind != Kind::Read {
            op.all().for_each(|block| self.versions.set(block, op.version));
        }
    }

    /// Up to so many blocks, those that were written first. Of a file that grows no others are
    /// there.
    #[must_use]
    pub fn sample(&self, most: usize) -> Vec<u64> {
        let all = self.first..self.first + self.under_way.len() as u64;
        let is_written = |block: &u64| self.versions.of(*block) > 0;
        let count = all.clone().filter(is_written).count();
        let spread = |count: usize| count.div_ceil(most.max(1)).max(1);
        let written = all.clone().filter(is_written).step_by(spread(count));
        let every = spread(self.under_way.len());
        let others = self.plan.writing != Writing::Appends;
        let rest = all.step_by(every).filter(|block| others && !is_written(block));
        written.chain(rest).take(most).collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "a place in a list of blocks")]
    fn place(&self, block: u64) -> usize {
        (block - self.first) as usize
    }

    /// One of the steps, by their shares.
    fn step(&mut self) -> Step {
        let one = self.plan.steps.len() == 1;
        let mut draw = if one { 0 } else { self.draw(100) };
        let steps = self.plan.steps.iter();
        let mut left = steps.skip_while(|step| {
            let later = draw >= step.share;
            draw = draw.saturating_sub(step.share);
            later
        });
        // Shares are 100 together: there always is one.
        left.next().copied().unwrap_or(self.plan.steps[0])
    }

    /// Whether something happens that does so many times of a hundred.
    fn chance(&mut self, of_hundred: u64) -> bool {
        match of_hundred {
            0 => false,
            100.. => true,
            some => self.draw(100) < some,
        }
    }

    /// A random place for such an operation.
    fn anywhere(&mut self, step: Step) -> usize {
        let Self { places, chance, under_way, .. } = self;
        let at = places.pick(step, chance, |at| is_free(under_way, at, step));
        self.cursor = at + step.blocks;
        at
    }

    /// The next place for such an operation after the last one, which is the first where the rest
    /// is too short.
    fn following(&mut self, step: Step) -> usize {
        let last = self.under_way.len().saturating_sub(step.blocks);
        loop {
            let at = self.cursor.next_multiple_of(step.align);
            let at = if at > last { 0 } else { at };
            self.cursor = at + step.blocks;
            if is_free(&self.under_way, at, step) {
                return at;
            }
        }
    }

    /// A number below `bound`, each as likely.
    fn draw(&mut self, bound: u64) -> u64 {
        self.chance.draw(bound)
    }
}

/// Whether no block of such an operation at a place is under way.
fn is_free(under_way: &[bool], at: usize, step: Step) -> bool {
    !under_way[at..at + step.blocks].iter().any(|busy| *busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::access::Access;
    use std::collections::BTreeSet;

    fn blocks(count: usize, plan: Plan) -> Blocks {
        let versions = Arc::new(Versions::new(100 + count).unwrap());
        Blocks::new((100, count), &versions, plan, 5).unwrap()
    }

    #[test]
    fn a_block_under_way_is_never_taken_again() {
        for random in [100, 0, 50] {
            let mut blocks = blocks(64, Plan::one(50, random, 0));
            let mut under_way: Vec<Op> = (0..32).map(|_| blocks.begin()).collect();
            for at in 0..10_000 {
                let distinct: BTreeSet<u64> = under_way.iter().map(|op| op.block).collect();
                assert_eq!(distinct.len(), 32);
                assert!(distinct.iter().all(|block| (100..164).contains(block)));
                // The first stays under way for ever.
                let op = under_way.remove(1 + at * 7 % 31);
                blocks.end(op);
                under_way.push(blocks.begin());
            }
        }
    }

    #[test]
    fn hot_blocks_under_way_are_never_taken_again() {
        let hot = Locality::Hot { share: 90, places: 50 };
        for locality in [hot, Locality::Zipf { skew: 300 }] {
            for random in [100, 50] {
                let mut blocks = blocks(128, Plan::one(50, random, 0)).located(locality);
                let mut under_way: Vec<Op> = (0..32).map(|_| blocks.begin()).collect();
                for at in 0..5_000 {
                    let distinct: BTreeSet<u64> = under_way.iter().map(|op| op.block).collect();
                    assert_eq!(distinct.len(), 32, "{locality:?}");
                    blocks.end(under_way.remove(at * 7 % 32));
                    under_way.push(blocks.begin());
                }
            }
        }
    }

    #[test]
    fn a_version_counts_from_its_end_on() {
        let mut blocks = blocks(4, Plan::one(0, 0, 3));
        let ops: Vec<Op> = (0..9)
            .map(|_| {
                let op = blocks.begin();
                assert_ne!(blocks.versions.of(op.block), op.version);
                blocks.end(op);
                assert_eq!(blocks.versions.of(op.block), op.version);
                op
            })
            .collect();
        assert_eq!(
            ops.iter().map(|op| op.block - 100).collect::<Vec<_>>(),
            [0, 1, 2, 3, 0, 1, 2, 3, 0]
        );
        assert_eq!((ops[0].version, ops[4].version, ops[8].version), (1, 5, 9));
        let syncs: Vec<bool> = ops.iter().map(|op| op.sync).collect();
        assert_eq!(syncs, [false, false, true, false, false, true, false, false, true]);
        assert_eq!(blocks.sample(2), [100, 102]);
        assert_eq!(blocks.sample(9).len(), 4);
    }

    #[test]
    fn a_mix_has_seven_reads_of_ten_and_blocks_are_taken_alike() {
        let mut blocks = blocks(10, Plan::one(70, 100, 0));
        let (mut reads, mut taken) = (0, [0; 10]);
        for _ in 0..100_000 {
            let op = blocks.begin();
            blocks.end(op);
            reads += u32::from(op.kind == Kind::Read);
            taken[(op.block - 100) as usize] += 1;
        }
        assert!((69_000..71_000).contains(&reads), "{reads}");
        assert!(taken.iter().all(|times| (9_500..10_500).contains(times)), "{taken:?}");
    }

    #[test]
    fn operations_of_many_sizes_have_their_shares_and_share_no_block() {
        for (name, reads) in [("file_server", 80.0), ("web_server", 100.0), ("workstation", 80.0)] {
            let access = Access::preset(name).unwrap();
            let plan = Plan::of(&access, 512, (0, Writing::Over));
            let (steps, count) = (Arc::clone(&plan.steps), 128 * plan.least());
            let mut blocks = blocks(count, plan);
            let mut under_way: Vec<Op> = (0..16).map(|_| blocks.begin()).collect();
            let (mut seen, mut read, mut followed) = ([0.0; 10], 0.0, 0.0);
            let mut last = under_way[15];
            for at in 0..4_000 {
                if at % 20 == 0 {
                    let all: u64 = under_way.iter().map(|op| op.blocks as u64).sum();
                    let distinct: BTreeSet<u64> = under_way.iter().flat_map(Op::all).collect();
                    assert_eq!(distinct.len() as u64, all, "{name}");
                }
                blocks.end(under_way.remove(at * 7 % 16));
                let op = blocks.begin();
                assert!(op.block >= 100 && op.all().end <= 100 + count as u64);
                let step = steps.iter().position(|step| step.blocks == op.blocks).unwrap();
                seen[step] += 1.0 / 40.0;
                read += f64::from(u8::from(op.kind == Kind::Read)) / 40.0;
                followed += f64::from(u8::from(op.block == last.all().end)) / 40.0;
                under_way.push(op);
                last = op;
            }
            for (step, seen) in steps.iter().zip(seen) {
                assert!((seen - step.share as f64).abs() < 3.0, "{name} {step:?}: {seen} %");
            }
            assert!((read - reads).abs() < 3.0, "{name}: {read} % reads");
            let random = steps[0].random as f64;
            assert!((followed - (100.0 - random)).abs() < 3.0, "{name}: {followed} % follow");
        }
    }

    #[test]
    fn places_are_aligned_and_the_last_one_is_taken_too() {
        let step = Step { share: 100, blocks: 2, align: 3, reads: 0, random: 100 };
        let mut blocks =
            blocks(14, Plan { steps: Arc::new([step]), sync_every: 0, writing: Writing::Over });
        let mut seen = BTreeSet::new();
        for _ in 0..1000 {
            let op = blocks.begin();
            blocks.end(op);
            seen.insert(op.block - 100);
        }
        assert_eq!(seen, BTreeSet::from([0, 3, 6, 9, 12]));
    }
}
