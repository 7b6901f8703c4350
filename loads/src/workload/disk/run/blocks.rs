//! Knows which block comes next, which are under way, and which version of each was written last.
//!
//! Must not know files, nor how long anything takes.

use crate::engine::net::content::{GOLDEN, mix};

/// Reads of a hundred operations of a mix.
const MIX_READS: u64 = 70;

/// What is done to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is read, and compared.
    Read,
    /// A new version of it is written.
    Write,
}

/// In which order blocks are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Any, each as likely as another.
    Random,
    /// One after another, and again from the first.
    Sequential,
}

/// Which operations a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Reads of a hundred operations.
    pub reads: u64,
    /// In which order.
    pub pattern: Pattern,
    /// After how many writes one is followed by an fsync; 0 for never.
    pub sync_every: u64,
}

impl Plan {
    /// Reads of a hundred operations of a word of the parameter `operation`.
    #[must_use]
    pub fn reads_of(word: &str) -> u64 {
        match word {
            "write" => 0,
            "mix" => MIX_READS,
            _ => 100,
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Block of the file.
    pub block: u64,
    /// What is done to it.
    pub kind: Kind,
    /// The version that it has, or is to have.
    pub version: u32,
    /// Whether it is complete only after an fsync.
    pub sync: bool,
}

/// The blocks of one thread, which are its alone.
#[derive(Debug)]
pub struct Blocks {
    first: u64,
    plan: Plan,
    versions: Vec<u32>,
    under_way: Vec<bool>,
    cursor: usize,
    writes: u64,
    state: u64,
}

impl Blocks {
    /// So many blocks of the file from one on, all of version 0. None where the memory for their
    /// versions cannot be had.
    #[must_use]
    pub fn new((first, count): (u64, usize), plan: Plan, seed: u64) -> Option<Self> {
        let (mut versions, mut under_way) = (Vec::new(), Vec::new());
        versions.try_reserve_exact(count).ok()?;
        under_way.try_reserve_exact(count).ok()?;
        versions.resize(count, 0);
        under_way.resize(count, false);
        let state = mix(seed ^ mix(first));
        Some(Self { first, plan, versions, under_way, cursor: 0, writes: 0, state })
    }

    /// The first of them.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The next operation; its block is under way until [`Self::end`]. Of the blocks at most half
    /// may be under way, or this takes long.
    pub fn begin(&mut self) -> Op {
        let at = loop {
            let at = self.take();
            if !self.under_way[at] {
                break at;
            }
        };
        self.under_way[at] = true;
        let block = self.first + at as u64;
        if self.draw(100) < self.plan.reads {
            return Op { block, kind: Kind::Read, version: self.versions[at], sync: false };
        }
        self.writes += 1;
        let every = self.plan.sync_every;
        let sync = every > 0 && self.writes.is_multiple_of(every);
        Op { block, kind: Kind::Write, version: self.versions[at].wrapping_add(1), sync }
    }

    /// The operation is complete; what it wrote is there.
    pub fn end(&mut self, op: Op) {
        let at = self.place(op.block);
        self.under_way[at] = false;
        if op.kind == Kind::Write {
            self.versions[at] = op.version;
        }
    }

    /// Up to so many blocks with the version of each, those that were written first.
    #[must_use]
    pub fn sample(&self, most: usize) -> Vec<(u64, u32)> {
        let named = |at: usize| (self.first + at as u64, self.versions[at]);
        let all = 0..self.versions.len();
        let is_written = |at: &usize| self.versions[*at] > 0;
        let count = all.clone().filter(is_written).count();
        let spread = |count: usize| count.div_ceil(most.max(1)).max(1);
        let written = all.clone().filter(is_written).step_by(spread(count));
        let rest = all.step_by(spread(self.versions.len())).filter(|at| !is_written(at));
        written.chain(rest).take(most).map(named).collect()
    }

    /// From now on blocks are only read.
    #[cfg(test)]
    pub fn read_from_now_on(&mut self) {
        self.plan.reads = 100;
    }

    #[expect(clippy::cast_possible_truncation, reason = "a place in a list of blocks")]
    fn place(&self, block: u64) -> usize {
        (block - self.first) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "below the number of blocks")]
    fn take(&mut self) -> usize {
        match self.plan.pattern {
            Pattern::Random => self.draw(self.versions.len() as u64) as usize,
            Pattern::Sequential => {
                let at = self.cursor;
                self.cursor = (at + 1) % self.versions.len();
                at
            }
        }
    }

    /// A number below `bound`, each as likely but for 2^-64 (Lemire 2019).
    fn draw(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        ((u128::from(mix(self.state)) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn blocks(count: usize, reads: u64, pattern: Pattern, sync_every: u64) -> Blocks {
        Blocks::new((100, count), Plan { reads, pattern, sync_every }, 5).unwrap()
    }

    #[test]
    fn a_block_under_way_is_never_taken_again() {
        for pattern in [Pattern::Random, Pattern::Sequential] {
            let mut blocks = blocks(64, 50, pattern, 0);
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
    fn a_version_counts_from_its_end_on() {
        let mut blocks = blocks(4, 0, Pattern::Sequential, 3);
        let ops: Vec<Op> = (0..9)
            .map(|_| {
                let op = blocks.begin();
                blocks.end(op);
                op
            })
            .collect();
        assert_eq!(
            ops.iter().map(|op| op.block - 100).collect::<Vec<_>>(),
            [0, 1, 2, 3, 0, 1, 2, 3, 0]
        );
        assert_eq!((ops[0].version, ops[4].version, ops[8].version), (1, 2, 3));
        let syncs: Vec<bool> = ops.iter().map(|op| op.sync).collect();
        assert_eq!(syncs, [false, false, true, false, false, true, false, false, true]);
        assert_eq!(blocks.sample(2), [(100, 3), (102, 2)]);
        assert_eq!(blocks.sample(9).len(), 4);
    }

    #[test]
    fn a_mix_has_seven_reads_of_ten_and_blocks_are_taken_alike() {
        let mut blocks = blocks(10, Plan::reads_of("mix"), Pattern::Random, 0);
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
}
