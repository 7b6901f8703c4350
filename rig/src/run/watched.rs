//! Knows how the machines of a lab are watched while a load runs: their agents read, at both edges.
//!
//! Must not know what is read, but for whose it is.

use crate::lab::machine::{Offset, Order, Reply};
use crate::lab::{Lab, LabError, SUT};
use crate::workload::Edge;
use desk::record::{Fault, HostName, Reading, Track};

/// Name under which the probes of an agent tell of its machine.
const MACHINE: &str = "machine";
/// What of the CPUs of another machine is told for each of its hosts: how busy, and how many.
const OF_CPUS: [&str; 2] = ["busy", "cpus"];

/// A clock is known well enough to the window over this.
const CLOCK_SHARE: u64 = 100;

/// What is seen of the window of a trial besides readings.
#[derive(Debug, Default)]
pub struct Watch {
    /// The first machine that read too late, which makes the trial invalid and does not end it:
    /// the hosts answer all the same, and nobody may leave before they are heard.
    late: Option<LabError>,
    /// When the window opened and closed, nanoseconds.
    window: (u64, u64),
    /// The offsets of clocks by which its edges were announced.
    announced: Vec<Offset>,
}

impl Watch {
    /// Has all probes of all machines read at an edge of the window; what they gave is added to
    /// `readings`.
    ///
    /// # Errors
    /// When the machine or a host is gone, or the run is stopped.
    pub fn at_edge(
        &mut self,
        lab: &mut Lab,
        edge: Edge,
        readings: &mut Vec<Reading>,
    ) -> Result<(), LabError> {
        match edge {
            Edge::Opens(at_ns) => self.window.0 = at_ns,
            Edge::Closes(at_ns) => self.window.1 = at_ns,
        }
        self.announced = lab.offsets();
        match at_edge(lab, edge, readings) {
            Err(late @ LabError::Late { .. }) => {
                self.late.get_or_insert(late);
                Ok(())
            }
            read => read,
        }
    }

    /// The first machine that read too late, as a fault.
    ///
    /// # Errors
    /// That fault.
    pub fn in_time(&mut self) -> Result<(), Fault> {
        self.late.take().map_or(Ok(()), |late| Err(late.into_fault()))
    }

    /// Whether all machines had a common window, as their clocks tell that were found after it.
    ///
    /// # Errors
    /// The clock that was known to more than 1 % of the window.
    pub fn had_clocks(&self, lab: &Lab) -> Result<(), Fault> {
        let clocks = self.announced.iter().zip(lab.offsets());
        lab.in_use().iter().zip(clocks).try_for_each(|(at, (announced, now))| {
            let bound_ns = announced.bound_with_ns(&now, self.window.1);
            is_known(lab.machine_name(*at), bound_ns, self.window)
        })
    }
}

/// Whether the clock of a machine is known well enough, nanoseconds.
fn is_known(machine: &str, bound_ns: u64, (opened, closed): (u64, u64)) -> Result<(), Fault> {
    let most_ns = closed.saturating_sub(opened) / CLOCK_SHARE;
    if bound_ns <= most_ns {
        return Ok(());
    }
    let us = |ns: u64| ns.div_ceil(1000);
    let (bound, most) = (us(bound_ns), us(most_ns));
    let what =
        format!("its clock is known to {bound} us only, more than 1 % of the window, {most} us");
    Err(Fault::Disturbed { host: machine.into(), what })
}

fn at_edge(lab: &mut Lab, edge: Edge, readings: &mut Vec<Reading>) -> Result<(), LabError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_known_to_a_hundredth_of_the_window_or_there_was_none_in_common() {
        let window = (50_000_000, 150_000_000);
        assert_eq!(is_known("box", 1_000_000, window), Ok(()));
        let fault = is_known("box", 1_000_001, window).unwrap_err().to_string();
        assert!(fault.contains("box: its clock is known to 1001 us only"), "{fault}");
    }
}
