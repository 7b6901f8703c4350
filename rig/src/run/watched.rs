//! Knows how the machines of a lab are watched while a load runs: their agents read, at both edges.
//!
//! Must not know what is read, but for whose it is.

use crate::lab::machine::{Order, Reply};
use crate::lab::{Lab, LabError, SUT};
use crate::workload::Edge;
use desk::record::{HostName, Reading, Track};

/// Name under which the probes of an agent tell of its machine.
const MACHINE: &str = "machine";
/// What of the CPUs of another machine is told for each of its hosts: how busy, and how many.
const OF_CPUS: [&str; 2] = ["busy", "cpus"];

/// Has all probes of all machines read at an edge of the window; what they gave is added to
/// `readings`.
///
/// # Errors
/// When the machine or a host is gone, or the run is stopped.
pub fn at_edge(lab: &mut Lab, edge: Edge, readings: &mut Vec<Reading>) -> Result<(), LabError> {
    let (Edge::Opens(at_ns) | Edge::Closes(at_ns)) = edge;
    let machines = lab.in_use();
    for at in &machines {
        let machine = lab.machine_at(*at);
        let theirs_ns = machine.offset().theirs(at_ns);
        machine.give(&match edge {
            Edge::Opens(_) => Order::Opens(theirs_ns),
            Edge::Closes(_) => Order::Closes(theirs_ns),
        })?;
    }
    lab.wait_until(at_ns)?;
    for at in machines {
        match lab.machine_at(at).reply()? {
            Reply::Readings(read) => readings.extend(told_by(lab, at, read)),
            other => return Err(lab.machine_at(at).out_of_turn(&format!("{other:?}"))),
        }
    }
    Ok(())
}

/// Notes the first machine that read too late, which makes the trial invalid and does not end it.
///
/// # Errors
/// Any other error.
pub fn note_late(e: LabError, first: &mut Option<LabError>) -> Result<(), LabError> {
    match e {
        late @ LabError::Late { .. } => {
            first.get_or_insert(late);
            Ok(())
        }
        other => Err(other),
    }
}

/// Readings of a machine as those of the lab. That of the system under test is the lab's own; of
/// another what is no host is named after it, and its CPUs are those of its hosts.
fn told_by(lab: &Lab, machine: usize, read: Vec<Reading>) -> Vec<Reading> {
    if lab.machine_of(SUT) == machine {
        return read;
    }
    let hosts: Vec<&str> = lab.hosts_of(machine).collect();
    let mut told = Vec::with_capacity(read.len());
    for reading in read {
        if hosts.contains(&reading.host.name()) {
            told.push(reading);
            continue;
        }
        let of_cpus = reading.probe == "cpu" && OF_CPUS.contains(&reading.key.as_str());
        if of_cpus && reading.host == MACHINE {
            let of = |host: &&str| Reading { host: (*host).into(), ..reading.clone() };
            told.extend(hosts.iter().map(of));
        }
        let host = HostName::on(lab.machine_name(machine), reading.host.name());
        told.push(Reading { host, ..reading });
    }
    told
}

/// Tells the machines that the load is over, well or not; gives what they read besides, and what
/// they sampled in the window.
///
/// # Errors
/// When the machine or a host is gone, or the run is stopped.
pub fn rest(lab: &mut Lab) -> Result<(Vec<Reading>, Vec<Track>), LabError> {
    let (mut all, mut sampled) = (Vec::new(), Vec::new());
    for at in lab.in_use() {
        let (readings, tracks) = match lab.machine_at(at).order(&Order::Rest)? {
            Reply::Rested(readings, tracks) => (readings, tracks),
            other => return Err(lab.machine_at(at).out_of_turn(&format!("{other:?}"))),
        };
        all.extend(told_by(lab, at, readings));
        // The course of a machine that only makes load is of no interest.
        if at == lab.machine_of(SUT) {
            sampled.extend(tracks);
        }
    }
    Ok((all, sampled))
}
