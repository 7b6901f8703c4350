//! Knows the first rule of a list that each of many packets matches.
//!
//! Rules stand in at most four trees, by whether they say much of the source and of the
//! destination; the answer is the least index that a tree finds (decision 0079). Gives: [`Acl`].
//! Never: what is done with a packet.
//! Start reading here, then `tree.rs`, `cut.rs` and `block.rs`.

mod block;
mod cut;
mod entry;
mod span;
#[cfg(test)]
mod tests;
mod tree;

use super::rules::Rule;
use super::tuple::Tuple;
use entry::Entry;
use span::{Spans, spans};
use tree::Tree;

/// Said of a packet that no rule matches.
pub const NONE: u32 = block::NONE;
/// Most rules of a list.
pub const RULES_MAX: usize = super::rules::RULES_MAX;
/// Most bytes of all trees.
pub const BYTES_MAX: usize = 1 << 30;

/// Packets that are on their way through a tree at the same time.
const BATCH: usize = 64;

/// Why there is no classifier of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AclError {
    /// There are too many rules.
    #[error("{0} rules are more than {RULES_MAX}; take a shorter list")]
    TooMany(usize),
    /// Too many rules hold the same packets.
    #[error("{0} rules overlap so that no field tells them apart; take fewer that overlap")]
    Overlap(usize),
    /// The trees are too large.
    #[error("{0} B are more than the {BYTES_MAX} B of a list; take a shorter one")]
    TooLarge(usize),
}

/// A list of rules, made ready for many packets.
#[derive(Debug)]
pub struct Acl {
    trees: Vec<Tree>,
}

impl Acl {
    /// Makes a list ready.
    ///
    /// # Errors
    /// When it is too long, or too many of its rules overlap.
    pub fn build(rules: &[Rule]) -> Result<Self, AclError> {
        if rules.len() > RULES_MAX {
            return Err(AclError::TooMany(rules.len()));
        }
        let rows: Vec<(u32, Spans)> = (0..).zip(rules.iter().map(spans)).collect();
        let mut groups: Vec<Vec<(u32, Spans)>> = vec![Vec::new(); 4];
        for (rule, row) in rules.iter().zip(&rows) {
            let wide = |len: u8| usize::from(len < 8);
            groups[wide(rule.src.len) + 2 * wide(rule.dst.len)].push(*row);
        }
        groups.retain(|group| !group.is_empty());
        let trees = groups.iter().map(|group| Tree::build(group));
        let trees: Vec<Tree> = trees.collect::<Result<_, _>>().map_err(AclError::Overlap)?;
        let acl = Self { trees };
        match acl.bytes() {
            bytes if bytes > BYTES_MAX => Err(AclError::TooLarge(bytes)),
            _ => Ok(acl),
        }
    }

    /// For each packet the index of the first rule that it matches, [`NONE`] where there is none;
    /// as many as both slices have.
    pub fn classify(&self, tuples: &[Tuple], matched: &mut [u32]) {
        for (tuples, matched) in tuples.chunks(BATCH).zip(matched.chunks_mut(BATCH)) {
            matched.fill(NONE);
            for tree in &self.trees {
                let mut leaves = [Entry::default(); BATCH];
                for (packet, leaf) in tuples.iter().zip(&mut leaves) {
                    *leaf = tree.leaf(packet);
                }
                for ((packet, leaf), first) in tuples.iter().zip(leaves).zip(&mut *matched) {
                    *first = (*first).min(tree.first(leaf, packet));
                }
            }
        }
    }

    /// Bytes of its trees.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.trees.iter().map(Tree::bytes).sum()
    }
}
