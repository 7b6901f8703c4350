//! Knows how every load of one machine is staged, driven and checked: threads with hot loops on the
//! system under test, and no client.
//!
//! Gives: [`Recipe`], of which such a workload is made; [`Alone`], [`part`], [`model`].
//! Never: what a loop does, or what its figure means.
//! Start reading at `recipe.rs`, then `drive.rs`.

mod check;
mod drive;
mod model;
mod part;
mod recipe;
mod size;
#[cfg(test)]
mod tests;

pub use drive::Alone;
pub use model::model;
pub use part::part;
pub use recipe::{Order, Ready, Recipe, Taken};
pub use size::{SIZES, bytes_of, threads_of};
