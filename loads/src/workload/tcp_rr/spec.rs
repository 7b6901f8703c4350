//! Knows the parameters and figures of `tcp_rr` as data; knows nothing of sockets.

use crate::engine::exchange::{PARAMS_KEPT, TRANSACTIONS, metrics};
use crate::engine::times::PERCENTILES;
use desk::record::{Place, WorkloadSpec};

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "tcp_rr",
    question: "how many requests a second a server answers, and how long each waits",
    place: Place::Path,
    revision: 1,
    params: PARAMS_KEPT,
    metrics: &metrics(TRANSACTIONS),
    quantiles: PERCENTILES,
    derives: &[],
};
