//! Knows the conductor's side of `udp_stream`: which streams there are, and how they are opened.
//!
//! Must not know factors or probes, nor the course of a trial.

use super::part::Streams;
use super::traffic;
use crate::engine::net::stage::open;
use crate::engine::net::streams::plan_streams;
use crate::engine::net::{Course, Cpus, cpus};
use crate::workload::udp_stream::check;
use crate::workload::udp_stream::evidence::Evidence;
use crate::workload::udp_stream::spec::SPEC;
use desk::record::Fault;
use rig::lab::{Lab, LabError, SUT};
use rig::workload::{Checked, Edges, Job, Workload};

/// The conductor's side.
#[derive(Debug, Default)]
pub struct UdpStreams {
    evidence: Evidence,
    course: Course,
}

impl Workload for UdpStreams {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        self.course = Course::new(SPEC.name, lab, job);
        let [server, all] = cpus::of(lab).map_err(LabError::into_fault)?;
        let cpus = Cpus { server: &server, all: &all };
        let streams = plan_streams(&job.trial.point.params, lab.clients(), cpus);
        let one_way = streams.iter().map(|s| s.turn + 1).max().unwrap_or(1);
        let traffic = traffic::of(job, one_way)?;
        let hosts = &self.course.hosts;
        let here = lab.machine_of(SUT);
        self.evidence = Evidence {
            host_names: hosts.iter().map(|at| lab.name(*at).to_owned()).collect(),
            one_clock: hosts.iter().map(|at| lab.machine_of(*at) == here).collect(),
            asked: job.trial.point.params.clone(),
            datagram: traffic.datagram as u64,
            depth: traffic.depth as u64,
            streams,
            life: None,
        };
        let all = (job.link, &self.evidence.streams[..]);
        let stand = open::<Streams, _, _>(&self.course, lab, all, |_, _| traffic.clone());
        stand.map(drop).map_err(LabError::into_fault)
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        let life = self.course.run::<Streams>(lab, edges).map_err(LabError::into_fault)?;
        self.evidence.life = Some(life);
        Ok(())
    }

    fn check(&self) -> Result<Checked, Fault> {
        check::check(&self.evidence)
    }
}
