//! The hot loops over memory: one row a loop, as it is assembled and what it needs of the CPU.
//!
//! Knows: operations, instruction sets, how stores are made, in which order an array is walked.
//! Gives: [`rows`], [`find`], [`Row::run`], the safe door to a loop; [`spread`], one on its CPUs,
//! of several the quickest; [`reference`] says what a loop must have left behind. Never: sizes of
//! caches, nor what a time of a loop means.

mod arrays;
mod code;
mod door;
mod load;
mod plain;
pub mod reference;
mod row;
mod trial;

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

pub use arrays::{Layout, Loop};
pub use door::{Arrays, Refused};
pub use load::{CORE_CLOCK, spread};
pub use row::{Feature, Isa, Operation, Row, Store, Walk};

/// The loops that are written here, for one kind of processor.
#[cfg(target_arch = "x86_64")]
const WRITTEN: &[&[Row]] = x86::ROWS;
#[cfg(not(target_arch = "x86_64"))]
const WRITTEN: &[&[Row]] = &[];

/// All loops of this build, those that the CPU at hand lacks included.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    plain::ROWS.iter().chain(WRITTEN.iter().copied().flatten())
}

/// The loop that does this, if there is one in this build.
#[must_use]
pub fn find(operation: Operation, isa: Isa, store: Store, walk: Walk) -> Option<&'static Row> {
    let fits =
        |row: &&Row| (row.operation, row.isa, row.store, row.walk) == (operation, isa, store, walk);
    rows().find(fits)
}
