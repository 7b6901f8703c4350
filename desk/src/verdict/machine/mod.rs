//! Knows what loads of the system under test alone gave, point by point, and what follows from it.
//!
//! Knows: cells, derived facts.
//! Gives: [`MachineCell`], [`DerivedFact`].
//! Never: which level of a factor is better.
//! Start reading at `cells.rs`.

mod cells;
mod derived;
mod levels;

pub use cells::MachineCell;
pub use derived::{DerivedFact, DerivedKind};
pub use levels::WITHIN as PLATEAU;

pub(super) use cells::cells;
pub(super) use derived::derived;
