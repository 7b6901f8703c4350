//! Knows what loads of the system under test alone gave, point by point, and what follows from it.
//!
//! Knows: cells, what the machine could not do, derived facts.
//! Gives: [`machine`], [`MachineCell`], [`NotAvailable`], [`DerivedFact`].
//! Never: which level of a factor is better.
//! Start reading at `cells.rs`.

mod cells;
mod derived;
mod levels;

pub use cells::{MachineCell, NotAvailable};
pub use derived::{DerivedFact, DerivedKind};

pub(super) use cells::{cells, not_available};
pub(super) use derived::derived;
