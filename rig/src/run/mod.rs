//! Knows how a plan becomes records: what to visit next, and the hands that do it.
//!
//! Gives: [`conduct`], [`Stand`], [`Bench`], [`Rehearsal`], [`Simulated`], [`refuse_boots`],
//! [`refuse_untold`], [`serve_agent`].
//! Never: judges a figure.
//! Start reading at `conductor.rs`.

mod attrition;
mod calm;
mod conduct;
mod conductor;
mod hands;
mod idle;
mod levels;
mod rehearse;
mod simulated;
mod stand;
mod throttles;
mod watched;

pub use conduct::conduct;
pub use hands::Bench;
pub use rehearse::Rehearsal;
pub use simulated::Simulated;
pub use stand::{Orders, Progress, RunError, Stand, Tally, Visited, refuse_boots, refuse_untold};
pub use throttles::throttles;

use crate::workload::Entries;
use std::io;

/// Serves as a host of the lab, with these workloads, over standard input until the conductor goes
/// away.
///
/// # Errors
/// When the control socket breaks.
pub fn serve_agent(entries: Entries) -> io::Result<()> {
    let parts: Vec<_> = entries.iter().map(|entry| (entry.spec.name, entry.part)).collect();
    crate::lab::agent::serve(&parts)
}
