//! Knows how the machine comes back to what it was: a journal written before every change, and a
//! guardian process that reads it when the conductor is gone.
//!
//! Gives: [`Journal`], [`Story`], [`settle`], [`guard`], what dead conductors left.
//! Never: why something is changed, or which settings there are.
//! Start reading at `journal.rs`; how one entry is undone stands in `restore.rs`.

mod agents;
mod error;
mod guardian;
mod journal;
mod leftover;
mod owner;
pub mod register;
mod restore;
mod setting;
mod story;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_laws;

pub(super) use agents::name_of as agent_name;
pub use agents::{Agent, agents};
pub use error::UndoError;
pub use guardian::guard;
pub use journal::{Intent, Journal};
pub use leftover::{Leftover, left, leftovers};
pub use owner::Owner;
pub use restore::{Fate, Settled, forget, now, settle, settle_dead};
pub use setting::value_in;
pub(super) use story::pass_on;
pub use story::{Entry, Kind, Story, directory, journals, refuse};
