//! Knows a lab that exists only as physics: what things cost, how chance moves them, what breaks.
//!
//! Knows: the strict TOML of a physics, seeded chance, planted faults.
//! Gives: [`Physics`], [`Scene`], [`Chance`], [`Planted`].
//! Never: what a load does with it (its workload's model says that), how trials are judged, a
//! clock, chance without a seed.
//! Start reading at `default.toml`, then `physics.rs`.

mod chance;
mod environment;
mod fault;
mod physics;
mod read;
mod scene;
#[cfg(test)]
mod tests;

pub use chance::{Chance, Drawn};
pub use environment::environment;
pub use fault::{Planted, Spoil};
pub use physics::{Boot, Clients, Cost, Drift, Link, Machine, Noise, Physics, Rare, Step};
pub use read::SimError;
pub use scene::{LinkNow, Scene, Spoilt};
