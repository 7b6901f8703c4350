//! Knows every load of requests and responses: clients that ask, a server that answers, how long
//! each operation takes.
//!
//! Gives: `entry`, which makes such a workload's line of its modules; [`Exchange`], what travels;
//! [`Operations`] and [`Serve`], its two ends; [`answer_all`], a server of kept connections;
//! [`PARAMS`], the parameters that all have.
//! Never: what a request is, or what its figures mean.
//! Start reading at `part.rs`, then `client.rs`.

mod beside;
mod bulk;
mod check;
mod client;
pub mod datagrams;
pub mod dial;
mod drive;
mod gather;
mod kept;
mod model;
mod order;
mod params;
mod part;
mod take;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub mod trial;

use desk::record::{Sample, WorkloadSpec};

pub use beside::BESIDE;
pub use bulk::{Bulk, Storing};
pub use client::{Counters, EVENTS, Operations, Shared, Strays, set, wait};
pub use datagrams::Carrier;
pub use drive::Exchanges;
pub use kept::{Answers, answer_all, watch};
pub use model::model;
pub use order::Order;
pub use params::{
    LIFETIME, PARAMS, PARAMS_KEPT, PIPELINED, PLACEMENT, REQUEST_SIZE, RESPONSE_SIZE, STREAMS,
    TRANSACTIONS, metrics, percentile,
};
pub use part::{Exchange, Program, Serve, Side, Slot};

/// What a workload says of itself beside its two ends.
#[derive(Debug)]
pub struct Recipe {
    /// What it is, as data.
    pub spec: &'static WorkloadSpec,
    /// Its figures, of requests a second and of the mean bytes of a request and of a response; of
    /// [`Bulk`] operations of the bytes a second.
    pub figures: fn(f64, (f64, f64)) -> Vec<Sample>,
    /// Packets of an operation, by which a simulated lab counts.
    pub packets: f64,
    /// Whether connections are kept.
    pub kept: bool,
    /// What carries messages that are datagrams, any of which may be lost.
    pub datagrams: Option<Carrier>,
    /// Whether its operations move many bytes.
    pub bulk: Option<Bulk>,
}

/// The entry of a workload, of its README, of its modules `spec` (`SPEC`) and `check` (`figures`),
/// of what travels, and of the packets of an operation.
macro_rules! entry {
    ($exchange:ty, $packets:expr) => {{
        static RECIPE: $crate::engine::exchange::Recipe = $crate::engine::exchange::Recipe {
            spec: &spec::SPEC,
            figures: check::figures,
            packets: $packets,
            kept: <$exchange as $crate::engine::exchange::Exchange>::KEPT,
            datagrams: <$exchange as $crate::engine::exchange::Exchange>::DATAGRAMS,
            bulk: <$exchange as $crate::engine::exchange::Exchange>::BULK,
        };
        rig::workload::Entry {
            spec: &spec::SPEC,
            readme: include_str!("README.md"),
            hears: &[],
            make: || Box::new($crate::engine::exchange::Exchanges::<$exchange>::new(&RECIPE)),
            part: $crate::engine::net::life::make_part::<$crate::engine::exchange::Side<$exchange>>,
            model: Some(|scene, job| $crate::engine::exchange::model(&RECIPE, scene, job)),
        }
    }};
}
pub(crate) use entry;
