//! How fast does this machine digest, encrypt, sign, verify and agree, by which engine?
//!
//! Knows: one loop a pinned thread, four engines. Gives: `ENTRY`. Never: what the figures mean.
//! Start reading at `README.md`, then `engine/mod.rs`.

mod answers;
mod check;
mod engine;
mod keys;
mod run;
mod spec;
mod task;
#[cfg(test)]
mod tests;

use super::Entry;
use super::alone::{self, Alone, Recipe};

static RECIPE: Recipe =
    Recipe { spec: &spec::SPEC, ready: run::ready, figures: check::figures, nominal: run::nominal };

/// This workload's line in the list.
pub const ENTRY: Entry = Entry {
    spec: &spec::SPEC,
    readme: include_str!("README.md"),
    make: || Box::new(Alone::new(&RECIPE)),
    part: || alone::part(&RECIPE),
    model: |scene, job| alone::model(&RECIPE, scene, job),
};
