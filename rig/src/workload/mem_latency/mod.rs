//! How long does a load take whose address is the result of the load before it?
//!
//! Knows: which chase a trial asks for, on which CPU, with which memory, and what disturbs it.
//! Gives: `ENTRY`. Never: how links are followed (`metal/chase` does).
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

use super::Entry;
use super::alone::{self, Alone, Recipe};

/// What makes it differ from other loads of one machine.
static RECIPE: Recipe = Recipe {
    spec: &spec::SPEC,
    ready: run::ready,
    figures: check::figures,
    nominal: check::nominal,
};

/// This workload's line in the list.
pub const ENTRY: Entry = Entry {
    spec: &spec::SPEC,
    readme: include_str!("README.md"),
    make: || Box::new(Alone::new(&RECIPE)),
    part: || alone::part(&RECIPE),
    model: |scene, job| alone::model(&RECIPE, scene, job),
};
