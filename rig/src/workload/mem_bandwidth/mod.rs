//! How many bytes a second do loads and stores move, by level of the memory hierarchy?
//!
//! Knows: operations, instruction sets and kinds of store as words, and which loop they mean.
//! Gives: `ENTRY`. Never: how a loop is written; that is `metal::kernel`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

use super::Entry;
use super::alone::{self, Alone, Recipe};

/// This workload's line in the list.
pub const ENTRY: Entry = Entry {
    spec: &spec::SPEC,
    readme: include_str!("README.md"),
    make: || Box::new(Alone::new(&RECIPE)),
    part: || alone::part(&RECIPE),
    model: |scene, job| alone::model(&RECIPE, scene, job),
};

static RECIPE: Recipe = Recipe {
    spec: &spec::SPEC,
    ready: run::ready,
    figures: check::figures,
    nominal: run::nominal,
};
