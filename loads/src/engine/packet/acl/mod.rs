//! Knows the first rule of a list that each of many packets matches.
//!
//! Rules stand in at most four trees, by whether they say much of the source and of the
//! destination; the answer is the least index that a tree finds (decision 0079). Gives: [`Acl`].
//! Never: what is done with a packet.
//! Start reading here, then `tree.rs`, `cut.rs` and `block.rs`.

mod block;
mod cut;
mod entry;
mod form;
mod group;
#[cfg(target_arch = "x86_64")]
mod half;
mod key;
mod keys;
mod span;
#[cfg(test)]
mod tests;
mod tree;
#[cfg(target_arch = "x86_64")]
mod wide;

use super::rules::Rule;
use super::tuple::Tuple;
use form::Form;
use keys::{BATCH, Keys};
use span::{Spans, spans};
use tree::Tree;

/// Said of a packet that no rule matches.
pub const NONE: u32 = block::NONE;
/// Most rules of a list.
pub const RULES_MAX: usize = super::rules::RULES_MAX;
/// Most bytes of all trees.
pub const BYTES_MAX: usize = 1 << 30;

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
    form: Form,
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
        let trees = group::trees(&rows).map_err(AclError::Overlap)?;
        let form = Form::all().pop().unwrap_or(Form::Plain);
        let acl = Self { trees, form };
        match acl.bytes() {
            bytes if bytes > BYTES_MAX => Err(AclError::TooLarge(bytes)),
            _ => Ok(acl),
        }
    }

    /// The same list with other instructions.
    #[cfg(test)]
    fn with(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// For each packet the index of the first rule that it matches, [`NONE`] where there is none;
    /// as many as both slices have.
    pub fn classify(&self, tuples: &[Tuple], matched: &mut [u32]) {
        let mut keys = Keys::EMPTY;
        for (tuples, matched) in tuples.chunks(BATCH).zip(matched.chunks_mut(BATCH)) {
            let count = tuples.len().min(matched.len());
            let (tuples, matched) = (&tuples[..count], &mut matched[..count]);
            keys.take(tuples);
            matched.fill(NONE);
            for tree in &self.trees {
                self.form.classify(tree, &keys, matched);
            }
        }
    }

    /// The instructions that packets are classified with: `AVX-512`, `AVX2` or `plain`.
    #[must_use]
    pub const fn instructions(&self) -> &'static str {
        self.form.name()
    }

    /// How many trees every packet goes through, 0 to 4.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Bytes of its trees.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.trees.iter().map(Tree::bytes).sum()
    }
}
