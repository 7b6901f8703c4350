//! Knows a lab that exists only as physics: what things cost, how chance moves them, what breaks.
//!
//! Knows: the strict TOML of a physics, seeded chance, planted faults, what settings leave of the
//! resources, wrong clocks, heat.
//! Gives: [`Physics`], [`Scene`], [`Chance`], [`Planted`], [`Hold`], [`Clocks`], [`Warmth`],
//! [`Device`].
//! Never: what a load does with it (its workload's model says that), how trials are judged, a
//! clock, chance without a seed.
//! Start reading at `default.toml`, then `physics.rs`.

mod ceiling;
mod chance;
mod check;
mod clock;
mod device;
mod environment;
mod fault;
mod field;
mod hold;
mod keys;
mod physics;
mod power;
mod quota;
mod read;
mod resource;
mod scene;
#[cfg(test)]
mod tests;
mod warmth;

pub use ceiling::{ceilings, shapers};
pub use chance::{Chance, Drawn};
pub use clock::{Clocks, HostClock, clocks};
pub use device::{Device, QueueOrder};
pub use environment::environment;
pub use fault::{Planted, Spoil};
pub use hold::{Cpus, Hold, throttle};
pub use physics::{Boot, Cost, Drift, Link, Machine, Noise, Physics, Rare, Session, Step};
pub use power::{Power, meters};
pub use quota::quotas;
pub use read::SimError;
pub use resource::{
    Blend, Clients, Disk, Heat, Home, Limits, Memory, Probes, Resource, Sockets, Softirq, Tells,
    Through, WrongClock,
};
pub use scene::{LinkNow, Scene, Spoilt};
pub use warmth::Warmth;
