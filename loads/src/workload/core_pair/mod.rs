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

use desk::record::Fault;
use rig::workload::Entry;

/// As every load of one machine.
const PLAIN: Entry = crate::engine::alone::entry!();

/// This workload's line in the list: it tells the figure of each pair, too.
pub const ENTRY: Entry = Entry {
    make: || Box::new(check::Pairs((PLAIN.make)())),
    model: Some(|scene, job| {
        let mut modelled = PLAIN.model.map(|model| model(scene, job)).transpose()?;
        modelled.iter_mut().for_each(|modelled| check::tell_pairs(&mut modelled.checked));
        modelled.ok_or_else(|| Fault::NotAvailable { what: "no model".into() })
    }),
    ..PLAIN
};
