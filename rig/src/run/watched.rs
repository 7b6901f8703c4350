//! Knows how the machine of a lab is watched while a load runs: its agent reads, at both edges.
//!
//! Must not know what is read.

use crate::lab::machine::{Order, Reply};
use crate::lab::{Lab, LabError};
use crate::workload::Edge;
use desk::record::{Reading, Track};

/// Has all probes read at an edge of the window; what they gave is added to `readings`.
///
/// # Errors
/// When the machine or a host is gone, or the run is stopped.
pub fn at_edge(lab: &mut Lab, edge: Edge, readings: &mut Vec<Reading>) -> Result<(), LabError> {
    let (Edge::Opens(at_ns) | Edge::Closes(at_ns)) = edge;
    let theirs_ns = lab.machine().offset().theirs(at_ns);
    lab.machine().give(&match edge {
        Edge::Opens(_) => Order::Opens(theirs_ns),
        Edge::Closes(_) => Order::Closes(theirs_ns),
    })?;
    lab.wait_until(at_ns)?;
    match lab.machine().reply()? {
        Reply::Readings(read) => {
            readings.extend(read);
            Ok(())
        }
        other => Err(lab.machine().out_of_turn(&format!("{other:?}"))),
    }
}

/// Tells the machine that the load is over, well or not; gives what it read besides, and what it
/// sampled in the window.
///
/// # Errors
/// When the machine or a host is gone, or the run is stopped.
pub fn rest(lab: &mut Lab) -> Result<(Vec<Reading>, Vec<Track>), LabError> {
    match lab.machine().order(&Order::Rest)? {
        Reply::Rested(readings, tracks) => Ok((readings, tracks)),
        other => Err(lab.machine().out_of_turn(&format!("{other:?}"))),
    }
}
