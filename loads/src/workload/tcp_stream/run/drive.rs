//! Knows the conductor's side of `tcp_stream`: which streams there are, and how they are opened.
//!
//! Must not know factors or probes, nor the course of a trial.

use super::message::{FromPart, HostMark, ToPart, Traffic};
use super::part::Streams;
use super::traffic;
use crate::engine::net::streams::plan_streams;
use crate::engine::net::{Course, Cpus, cpus, opening};
use crate::workload::tcp_stream::check;
use crate::workload::tcp_stream::evidence::Evidence;
use crate::workload::tcp_stream::spec::SPEC;
use desk::record::Fault;
use rig::lab::{Lab, LabError, SUT};
use rig::workload::{Checked, Edges, Job, Workload};
use std::net::SocketAddrV4;

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
            streams,
            ..Evidence::default()
        };
        self.evidence.before = self.open(lab, job.link, &traffic).map_err(LabError::into_fault)?;
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
    /// Opens all streams; gives the counts of every host before anything is sent.
    fn open(
        &self,
        lab: &mut Lab,
        link: &str,
        traffic: &Traffic,
    ) -> Result<Vec<HostMark>, LabError> {
        let address = lab.sut_address(link);
        let streams = &self.evidence.streams;
        let listen = ToPart::Listen(address, streams.clone(), traffic.clone());
        let (listen, longest) = (vec![(SUT, listen)], opening::longest(0));
        let listening = self.course.stage::<Streams>(lab, listen, longest)?;
        let Some(FromPart::Listening(port)) = listening.first() else { return Ok(Vec::new()) };
        let server = SocketAddrV4::new(address, *port);
        let mut orders = vec![(SUT, ToPart::Accept)];
        for client in lab.client_indexes() {
            let theirs = streams.iter().filter(|s| s.client == client).cloned().collect();
            let interface = lab.interface(client, link);
            let traffic = Traffic { interface, ..traffic.clone() };
            orders.push((client, ToPart::Connect(server, theirs, traffic)));
        }
        let longest = opening::longest(streams.len());
        let standing = self.course.stage::<Streams>(lab, orders, longest)?.into_iter();
        let mark = |told| match told {
            FromPart::Standing(mark) => Some(mark),
            FromPart::Listening(_) => None,
        };
        Ok(standing.filter_map(mark).collect())
    }

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
