//! Knows every load of requests and responses: clients that ask, a server that answers, how long
//! each operation takes.
//!
//! Gives: `entry`, which makes such a workload's line of its modules; [`Exchange`], what travels;
//! [`Operations`] and [`Serve`], its two ends; [`params`], the parameters that all have.
//! Never: what a request is, or what its figures mean.
//! Start reading at `part.rs`, then `client.rs`.

mod check;
mod client;
mod drive;
mod model;
mod order;
pub mod params;
mod part;
mod take;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub mod trial;

pub use client::{Counters, EVENTS, Operations, Shared, wait};
pub use drive::Exchanges;
pub use model::model;
pub use order::Order;
pub use params::{PERCENTILES, RATE_LIMIT, percentile};
pub use part::{Exchange, Serve, Side, Slot};
pub use take::{LATENESS, RESPONSE, SERVICE};

/// The entry of a workload, of its README, of its module `spec` (`SPEC`), of what travels, and of
/// the packets of an operation, by which a simulated lab counts.
macro_rules! entry {
    ($exchange:ty, $packets:expr) => {
        rig::workload::Entry {
            spec: &spec::SPEC,
            readme: include_str!("README.md"),
            hears: &[],
            make: || Box::new($crate::engine::exchange::Exchanges::<$exchange>::new(&spec::SPEC)),
            part: $crate::engine::net::life::make_part::<$crate::engine::exchange::Side<$exchange>>,
            model: Some(|scene, job| {
                $crate::engine::exchange::model((&spec::SPEC, $packets), scene, job)
            }),
        }
    };
}
pub(crate) use entry;
