//! Knows the conductor's side of `tcp_stream`: stage, go, warm up, window, stop.
//!
//! Must not know factors or probes; it announces the edges of the window and no more.

use super::message::{Direction, FromPart, HostMark, StreamPlan, ToPart, Traffic};
use super::traffic;
use crate::workload::tcp_stream::check;
use crate::workload::tcp_stream::evidence::Evidence;
use crate::workload::tcp_stream::spec::SPEC;
use desk::record::{Fault, LabKind, Settings, Value};
use desk::search::{Reached, steady};
use rig::lab::wire::{Answer, Request};
use rig::lab::{Lab, LabError, SUT, clock, cpus};
use rig::workload::{Checked, Edge, Job, Workload};
use std::net::SocketAddrV4;
use std::time::Duration;

/// How far ahead an edge is announced, so that every host hears of it in time.
const AHEAD_NS: u64 = 6_000_000;
/// The same for every host that has to be told, nanoseconds.
const AHEAD_EACH_NS: u64 = 300_000;
/// How long receivers may read on after the window.
const DRAIN_MS: u64 = 200;
/// Pause between two looks at the rate while warming up.
const LOOK: Duration = Duration::from_millis(25);
/// Longest wait for an answer that is due at once.
const SOON: Duration = Duration::from_secs(10);

/// The conductor's side.
#[derive(Debug, Default)]
pub struct TcpStreams {
    evidence: Evidence,
    settle: Duration,
    settle_max: Duration,
    window: Duration,
    /// Hosts that take part, the system under test first.
    hosts: Vec<usize>,
}

impl Workload for TcpStreams {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        (self.settle, self.settle_max, self.window) = (job.settle, job.settle_max, job.window);
        let server = lab.cpus().map_err(LabError::into_fault)?;
        let cpus = Cpus { server: &server, all: &allowed_cpus() };
        let streams = plan_streams(&job.trial.point.params, lab.clients(), cpus);
        let one_way = streams.iter().map(|s| s.turn + 1).max().unwrap_or(1);
        let interface = if lab.kind == LabKind::Loopback { "lo" } else { job.link };
        let traffic = traffic::of(job, one_way, interface)?;
        self.hosts = std::iter::once(SUT).chain(lab.client_indexes()).collect();
        self.evidence = Evidence {
            host_names: self.hosts.iter().map(|at| lab.name(*at).to_owned()).collect(),
            asked: job.trial.point.params.clone(),
            call_requests: traffic.call_requests as u64,
            read_bytes: traffic.read_bytes as u64,
            streams,
            ..Evidence::default()
        };
        self.evidence.before = self.open(lab, job.link, &traffic).map_err(LabError::into_fault)?;
        Ok(())
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut dyn FnMut(Edge)) -> Result<(), Fault> {
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
        let ports = ask(lab, &[(SUT, listen)], |answer| match answer {
            FromPart::Listening(port) => Some(port),
            _ => None,
        })?;
        let port = ports.first().ok_or_else(|| confused(lab, SUT))?;
        let server = SocketAddrV4::new(address, *port);
        let mut requests = vec![(SUT, ToPart::Accept)];
        for client in lab.client_indexes() {
            let theirs = streams.iter().filter(|s| s.client == client).cloned().collect();
            requests.push((client, ToPart::Connect(server, theirs, traffic.clone())));
        }
        ask(lab, &requests, |answer| match answer {
            FromPart::Standing(mark) => Some(mark),
            _ => None,
        })
    }

    fn measure(&mut self, lab: &mut Lab, edges: &mut dyn FnMut(Edge)) -> Result<(), LabError> {
        let go_ns = clock::now_ns();
        ask(lab, &self.all(&ToPart::Go), ready)?;
        self.evidence.steady = self.warm_up(lab, go_ns)?;
        let opens_ns = clock::now_ns() + AHEAD_NS + AHEAD_EACH_NS * self.hosts.len() as u64;
        let closes_ns = opens_ns + u64::try_from(self.window.as_nanos()).unwrap_or(u64::MAX);
        self.evidence.settle_ns = opens_ns - go_ns;
        self.evidence.opened = self.mark(lab, Edge::Opens(opens_ns), edges)?;
        self.evidence.closed = self.mark(lab, Edge::Closes(closes_ns), edges)?;
        self.evidence.window_ns = (opens_ns, closes_ns);
        let stopped = ask(lab, &self.all(&ToPart::Stop(DRAIN_MS)), |answer| match answer {
            FromPart::Stopped(ends, refused, mark) => Some((ends, refused, mark)),
            _ => None,
        })?;
        for (ends, refused, mark) in stopped {
            self.evidence.ends.push(ends);
            self.evidence.refused += refused;
            self.evidence.after.push(mark);
        }
        Ok(())
    }

    /// Waits until the rate is level; says whether it was when the waiting ended.
    fn warm_up(&self, lab: &mut Lab, go_ns: u64) -> Result<bool, LabError> {
        let mut history = Vec::new();
        loop {
            clock::sleep_until(clock::now_ns() + u64::try_from(LOOK.as_nanos()).unwrap_or(0));
            let samples = ask(lab, &self.all(&ToPart::Sample), |answer| match answer {
                FromPart::Sampled(at_ns, bytes) => Some((at_ns, bytes)),
                _ => None,
            })?;
            history.push(reached(&samples, go_ns));
            let waited = Duration::from_nanos(clock::now_ns() - go_ns);
            // The first third of the settle time is the ramp; the test looks at what follows.
            let level = steady(&history, self.settle.as_secs_f64() * 2.0 / 3.0) == Some(true);
            if (level && waited >= self.settle) || waited >= self.settle_max {
                return Ok(level);
            }
        }
    }

    /// Reads every host at an edge of the window.
    fn mark(
        &self,
        lab: &mut Lab,
        edge: Edge,
        edges: &mut dyn FnMut(Edge),
    ) -> Result<Vec<HostMark>, LabError> {
        let (Edge::Opens(at_ns) | Edge::Closes(at_ns)) = edge;
        let requests = self.all(&ToPart::Mark(at_ns));
        let wrapped = wrap_all(&requests)?;
        lab.send(&wrapped)?;
        lab.wait_until(at_ns)?;
        edges(edge);
        let answers = lab.receive(&wrapped, SOON)?;
        unwrap_all(lab, &requests, answers, |answer| match answer {
            FromPart::Marked(mark) => Some(mark),
            _ => None,
        })
    }

    fn all(&self, request: &ToPart) -> Vec<(usize, ToPart)> {
        self.hosts.iter().map(|at| (*at, request.clone())).collect()
    }
}

/// All receivers together, at the mean of the moments at which they were read.
#[expect(clippy::cast_precision_loss, reason = "times and bytes of a warm-up are below 2^53")]
fn reached(samples: &[(u64, u64)], go_ns: u64) -> Reached {
    let since_go: f64 = samples.iter().map(|(at, _)| at.saturating_sub(go_ns) as f64 / 1e9).sum();
    let done: u64 = samples.iter().map(|(_, bytes)| bytes).sum();
    Reached { at_s: since_go / samples.len().max(1) as f64, done: done as f64 }
}

/// CPUs on which the ends of streams may run.
#[derive(Clone, Copy, Debug)]
pub struct Cpus<'c> {
    /// Those of the system under test, some of all.
    pub server: &'c [u32],
    /// Those that this process may use.
    pub all: &'c [u32],
}

impl Cpus<'_> {
    /// The CPU of the server's end of a stream, dealt in turn.
    fn server(&self, at: usize) -> u32 {
        self.server.get(at % self.server.len().max(1)).copied().unwrap_or(0)
    }

    /// The CPU behind that of the server's end.
    fn neighbour(&self, at: usize) -> u32 {
        let server = self.server(at);
        let place = self.all.iter().position(|cpu| *cpu == server).unwrap_or(at);
        self.all.get((place + 1) % self.all.len().max(1)).copied().unwrap_or(server)
    }
}

/// Every stream of the trial with the CPUs of its ends: the server's dealt in turn from those that
/// it may use, the client's the same or the next.
pub fn plan_streams(params: &Settings, clients: u32, cpus: Cpus<'_>) -> Vec<StreamPlan> {
    let word = |key: &str| params.get(key).and_then(Value::word).unwrap_or_default().to_owned();
    let directions: &[Direction] = match word("direction").as_str() {
        "transmit" => &[Direction::Transmit],
        "receive" => &[Direction::Receive],
        _ => &[Direction::Transmit, Direction::Receive],
    };
    let placement = word("placement");
    let per_client = params.get("streams").and_then(Value::count).unwrap_or(1);
    let mut streams: Vec<StreamPlan> = Vec::new();
    for host in 1..=clients as usize {
        for _ in 0..per_client {
            for direction in directions {
                let at = streams.len();
                let turn = at / directions.len();
                let pinned = placement != "none";
                let client = if placement == "same" { cpus.server(at) } else { cpus.neighbour(at) };
                streams.push(StreamPlan {
                    id: u32::try_from(at).unwrap_or(u32::MAX),
                    client: host,
                    direction: *direction,
                    server_cpu: pinned.then(|| cpus.server(at)),
                    client_cpu: pinned.then_some(client),
                    turn: u32::try_from(turn).unwrap_or(u32::MAX),
                });
            }
        }
    }
    streams
}

/// CPUs that this process may use.
fn allowed_cpus() -> Vec<u32> {
    cpus::mine().ok().filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| vec![0])
}

fn wrap(request: &ToPart) -> Result<Request, LabError> {
    let body = serde_json::to_value(request)
        .map_err(|e| LabError::Wire { host: "conductor".into(), source: e.into() })?;
    Ok(Request::Work { workload: SPEC.name.into(), body })
}

/// Asks parts and waits for all of them; `pick` takes what each answer must be.
fn ask<T>(
    lab: &mut Lab,
    requests: &[(usize, ToPart)],
    pick: impl Fn(FromPart) -> Option<T>,
) -> Result<Vec<T>, LabError> {
    let wrapped = wrap_all(requests)?;
    let answers = lab.ask(&wrapped, SOON)?;
    unwrap_all(lab, requests, answers, pick)
}

fn wrap_all(requests: &[(usize, ToPart)]) -> Result<Vec<(usize, Request)>, LabError> {
    requests.iter().map(|(at, request)| Ok((*at, wrap(request)?))).collect()
}

fn unwrap_all<T>(
    lab: &Lab,
    requests: &[(usize, ToPart)],
    answers: Vec<Answer>,
    pick: impl Fn(FromPart) -> Option<T>,
) -> Result<Vec<T>, LabError> {
    let mut picked = Vec::new();
    for ((at, _), answer) in requests.iter().zip(answers) {
        let Answer::Work(body) = answer else { return Err(confused(lab, *at)) };
        let answer = serde_json::from_value(body).map_err(|_| confused(lab, *at))?;
        picked.push(pick(answer).ok_or_else(|| confused(lab, *at))?);
    }
    Ok(picked)
}

fn ready(answer: FromPart) -> Option<()> {
    matches!(answer, FromPart::Ready).then_some(())
}

fn confused(lab: &Lab, at: usize) -> LabError {
    LabError::OutOfTurn { host: lab.name(at).into(), what: "not a tcp_stream answer".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_ends_keep_to_its_cpus_and_the_clients_are_beside_them() {
        let of = |placement: &str, server: &[u32]| -> Vec<(Option<u32>, Option<u32>)> {
            let word = |text: &str| Value::Word(text.into());
            let params = Settings::from([
                ("placement".to_owned(), word(placement)),
                ("direction".to_owned(), word("transmit")),
                ("streams".to_owned(), Value::Count(3)),
            ]);
            let cpus = Cpus { server, all: &[0, 1, 4, 5] };
            let streams = plan_streams(&params, 1, cpus);
            streams.iter().map(|s| (s.server_cpu, s.client_cpu)).collect()
        };
        let pair = |server, client| (Some(server), Some(client));
        assert_eq!(of("same", &[0, 1, 4, 5]), [pair(0, 0), pair(1, 1), pair(4, 4)]);
        assert_eq!(of("spread", &[0, 1, 4, 5]), [pair(0, 1), pair(1, 4), pair(4, 5)]);
        assert_eq!(of("same", &[4]), [pair(4, 4); 3]);
        assert_eq!(of("spread", &[1, 5]), [pair(1, 4), pair(5, 0), pair(1, 4)]);
        assert_eq!(of("none", &[4]), [(None, None); 3]);
    }
}
