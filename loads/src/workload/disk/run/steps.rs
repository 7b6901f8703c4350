//! Knows which accesses a thread does, in blocks: the lines of a specification as steps.
//!
//! Must not know files, nor which block comes next.

use crate::engine::access::{Access, Line};
use std::sync::Arc;

/// One line of a specification, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Operations of a hundred that are of this step.
    pub share: u64,
    /// Blocks of an operation.
    pub blocks: usize,
    /// Every operation begins at a multiple of so many blocks.
    pub align: usize,
    /// Reads of a hundred operations.
    pub reads: u64,
    /// Of a hundred operations, those at a random place; the others follow the one before.
    pub random: u64,
}

/// What writes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// They go over what is there.
    Over,
    /// A block that holds something is trimmed, and one that was trimmed is written.
    Trims,
    /// They make the file longer; at its greatest length it is empty again.
    Appends,
}

impl Writing {
    /// That of an operation of a plan.
    #[must_use]
    pub fn of(operation: &str) -> Self {
        match operation {
            "trim" => Self::Trims,
            "append" => Self::Appends,
            _ => Self::Over,
        }
    }
}

/// Which operations a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Their shares are 100 together.
    pub steps: Arc<[Step]>,
    /// After how many writes one is followed by an fsync; 0 for never.
    pub sync_every: u64,
    /// What its writes are.
    pub writing: Writing,
}

impl Plan {
    /// Operations of one block each.
    #[cfg(test)]
    pub fn one(reads: u64, random: u64, sync_every: u64) -> Self {
        let step = Step { share: 100, blocks: 1, align: 1, reads, random };
        Self { steps: Arc::new([step]), sync_every, writing: Writing::Over }
    }

    /// The accesses of a specification in blocks of so many bytes, see [`block_of`].
    #[must_use]
    pub fn of(access: &Access, block: u64, (sync_every, writing): (u64, Writing)) -> Self {
        let blocks = |bytes: u64| usize::try_from(bytes / block.max(1)).unwrap_or(usize::MAX);
        let step = |line: &Line| Step {
            share: line.share,
            blocks: blocks(line.size).max(1),
            align: blocks(line.aligned()).max(1),
            reads: line.reads,
            random: line.random,
        };
        Self { steps: access.lines.iter().map(step).collect(), sync_every, writing }
    }

    /// Most blocks of an operation.
    #[must_use]
    pub fn most(&self) -> usize {
        self.steps.iter().map(|step| step.blocks).max().unwrap_or(1)
    }

    /// Fewest blocks of an operation.
    #[must_use]
    pub fn fewest(&self) -> usize {
        self.steps.iter().map(|step| step.blocks).min().unwrap_or(1)
    }

    /// What the first block of every operation is a multiple of: the greatest common divisor of
    /// what the steps are aligned to.
    #[must_use]
    pub fn unit(&self) -> usize {
        self.steps.iter().fold(0, |unit, step| gcd(unit, step.align as u64)).max(1) as usize
    }

    /// Blocks that a thread needs for each operation under way: with two of every place that it
    /// may take, half are free. Operations that overlap others take two places of each.
    #[must_use]
    pub fn least(&self) -> usize {
        let widest = self.steps.iter().map(|step| step.blocks.max(step.align)).max().unwrap_or(1);
        let overlap = self.steps.iter().any(|step| step.blocks != widest || step.align != widest);
        widest.saturating_mul(if overlap { 4 } else { 2 })
    }

    /// What the first block of every thread is a multiple of, so that each step is aligned in the
    /// file: the least common multiple of what they are aligned to.
    #[must_use]
    pub fn grain(&self) -> usize {
        let with = |grain: usize, step: &Step| {
            (grain / gcd(grain as u64, step.align as u64) as usize).saturating_mul(step.align)
        };
        self.steps.iter().fold(1, with)
    }
}

/// Bytes of a block, which has one version: of every size and alignment of a specification a
/// divisor, and the greatest.
#[must_use]
pub fn block_of(access: &Access) -> u64 {
    access.lines.iter().fold(0, |block, line| gcd(gcd(block, line.size), line.aligned()))
}

/// The greatest common divisor (Euclid).
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_becomes_steps_of_its_largest_block() {
        let server = Access::preset("file_server").unwrap();
        let block = block_of(&server);
        let plan = Plan::of(&server, block, (0, Writing::Over));
        assert_eq!((block, plan.most(), plan.least(), plan.grain()), (512, 128, 512, 1));
        assert_eq!(plan.steps[3], Step { share: 60, blocks: 8, align: 1, reads: 80, random: 100 });
        let lines = [(8192, 50, 4096), (12288, 50, 12288)];
        let line = |(size, share, align)| Line { align, ..Line::new(size, share, (0, 0)) };
        let odd = Access { name: "odd".into(), lines: lines.map(line).into() };
        let plan = Plan::of(&odd, block_of(&odd), (0, Writing::Over));
        assert_eq!((block_of(&odd), plan.most(), plan.least(), plan.grain()), (4096, 3, 12, 3));
        assert_eq!((plan.steps[0].blocks, plan.steps[1].align), (2, 3));
        assert_eq!(Plan::one(100, 0, 0).least(), 2);
    }
}
