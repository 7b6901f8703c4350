//! How long does a line of cache take from one CPU to another, and how fast do blocks follow?
//!
//! Knows: which pairs a trial asks for, by which method, and where the line between them is.
//! Gives: `ENTRY`. Never: how two threads hand over (`metal/pair` does).
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

use super::Entry;
use super::alone::{self, Recipe};

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
    make: || Box::new(check::Pairs::new(&RECIPE)),
    part: || alone::part(&RECIPE),
    model: |scene, job| {
        let mut modelled = alone::model(&RECIPE, scene, job)?;
        check::tell_pairs(&mut modelled.checked);
        Ok(modelled)
    },
};
