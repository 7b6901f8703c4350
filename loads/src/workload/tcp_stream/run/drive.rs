//! Knows the conductor's side of `tcp_stream`: which streams there are, and how they are opened.
//!
//! Must not know factors or probes, nor the course of a trial.

use super::message::Traffic;
use super::part::Streams;
use super::traffic;
use crate::engine::net::stage::open;
use crate::engine::net::streams::plan_streams;
use crate::engine::net::{Course, Cpus, cpus};
use crate::workload::tcp_stream::check;
use crate::workload::tcp_stream::evidence::Evidence;
use crate::workload::tcp_stream::spec::SPEC;
use desk::record::Fault;
use rig::lab::{Lab, LabError, SUT};
use rig::workload::{Checked, Edges, Job, Workload};

/// The conductor's side.
#[derive(Debug, Default)]
pub struct TcpStreams {
    evidence: Evidence,
    course: Course,
}

impl Workload for TcpStreams {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        self.course = Course::new(SPEC.name, lab, job);
        let [server, all] = cpus::of(lab).map_err(LabError::into_fault)?;
        let cpus = Cpus { server: &server, all: &all };
        let streams = plan_streams(&job.trial.point.params, lab.clients(), cpus);
        let one_way = streams.iter().map(|s| s.turn + 1).max().unwrap_or(1);
        let traffic = traffic::of(job, one_way, &lab.interface(SUT, job.link))?;
        self.evidence = Evidence {
            host_names: self.course.hosts.iter().map(|at| lab.name(*at).to_owned()).collect(),
            asked: job.trial.point.params.clone(),
            call_requests: traffic.call_requests as u64,
            read_bytes: traffic.read_bytes as u64,
            ip_header: lab.ip_version().header().into(),
            streams,
            ..Evidence::default()
        };
        let of_host = |lab: &Lab, host| Traffic {
            interface: lab.interface(host, job.link),
            ..traffic.clone()
        };
        let all = (job.link, &self.evidence.streams[..]);
        let before = open::<Streams, _, _>(&self.course, lab, all, of_host);
        self.evidence.before = before.map_err(LabError::into_fault)?;
        Ok(())
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        self.measure(lab, edges).map_err(LabError::into_fault)
    }

    fn check(&self) -> Result<Checked, Fault> {
        check::check(&self.evidence)
    }
}

impl TcpStreams {
    fn measure(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), LabError> {
        let life = self.course.run::<Streams>(lab, edges)?;
        let evidence = &mut self.evidence;
        (evidence.steady, evidence.settle_ns) = (life.steady, life.settle_ns);
        (evidence.window_ns, evidence.opened) = (life.window_ns, life.opened);
        evidence.late_ns = life.late_ns;
        (evidence.closed, evidence.course) = (life.closed, life.course);
        for (ends, refused, mark) in life.ended {
            evidence.ends.push(ends);
            evidence.refused += refused;
            evidence.after.push(mark);
        }
        Ok(())
    }
}
