//! Knows which share of the CPUs' time the hypervisor takes from a load.
//!
//! An idle CPU is stolen from nobody, so that a look needs work: a soaker's, on every CPU. Must not
//! know what follows from the share.

use super::Ended;
use super::watch::Wait;
use crate::lab::{Ours, clock};
use crate::probe::{CpuProbe, Moment, Probe as _, Soaker};
use std::io;
use std::path::Path;

/// Length of a look, nanoseconds: on two CPUs what makes a trial invalid is 2 1/2 ticks of it.
const LOOK_NS: u64 = 250_000_000;

/// The share, 0-1, within a quarter of a second; none where nobody counts it.
///
/// # Errors
/// When no soaker can be had; inside, when the wait ends early.
pub fn stolen(wait: &mut Wait<'_>) -> io::Result<Result<Option<f64>, Ended>> {
    let soaker = Soaker::start()?;
    let mut probe = CpuProbe::new(Path::new("/"));
    let nobody = Ours::default();
    let moment = Moment { ours: &nobody, soaker: &[] };
    soaker.work();
    probe.begin(&moment);
    let waited = wait(clock::now_ns() + LOOK_NS);
    let seen = probe.end(&moment);
    soaker.rest();
    let steal = seen.iter().find(|row| row.key == "steal").map(|row| row.quantity.value);
    Ok(waited.map(|()| steal))
}
