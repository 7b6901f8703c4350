//! Knows what the two ends of an exchange are told: threads, the connections of each, sizes, pace.
//!
//! Must not know what a request is.

use super::datagrams::Carrier;
use super::{Recipe, beside, params};
use crate::engine::net::streams::taking_part;
use crate::engine::net::{Cpus, Secret};
use crate::engine::pace::{Pace, offered};
use desk::record::{Direction, Fault, ParamRole, Scope, Settings, Value, WorkloadSpec};
use rig::factor::spec;
use rig::lab::SUT;
use rig::workload::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// What all threads of a trial have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// What connections prove themselves with.
    pub secret: Secret,
    /// Every parameter of the workload, also those that all exchanges have.
    pub params: Settings,
    /// Seed of the trial.
    pub seed: u64,
    /// Seed of data sets, the same in all trials of a run.
    pub data_seed: u64,
    /// What a service was put up under: one that is kept is restarted where this differs.
    pub under: Settings,
    /// Bytes of a request; 1 where the workload has no such parameter.
    pub request: usize,
    /// Bytes of a response; 1 where the workload has no such parameter.
    pub response: usize,
    /// Requests of an operation.
    pub each: u64,
    /// Longest that the load may run after go.
    pub longest: Duration,
    /// CPUs that a service may use as the server; all where there are none.
    pub cpus: Vec<u32>,
    /// Numbers of the streams that run beside, of all clients.
    pub beside: Vec<u32>,
}

/// How long a service serves before it is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// One trial.
    Trial,
    /// Trials of one treatment, while no other one comes.
    Treatment,
    /// All trials of a run in which nothing of its host changes.
    Run,
}

impl Lifetime {
    /// Words of a plan.
    pub const WORDS: [&str; 3] = ["run", "treatment", "trial"];

    /// That which a load asks for.
    pub fn of(params: &Settings) -> Self {
        match params.get(params::LIFETIME.name).and_then(Value::word) {
            Some("run") => Self::Run,
            Some("treatment") => Self::Treatment,
            _ => Self::Trial,
        }
    }

    /// What has to be the same in a later trial. A program keeps what its host was when it started,
    /// as the congestion control of its socket; what is set on links is no matter.
    fn under(self, job: &Job) -> Settings {
        let is_of_links = |key: &String| {
            let scope = spec(key).map(|factor| factor.scope);
            matches!(scope, Some(Scope::Link | Scope::Path | Scope::Relay))
        };
        match self {
            Self::Trial => Settings::new(),
            Self::Treatment => job.settings.iter().chain(&job.trial.settings).map(own).collect(),
            Self::Run => {
                job.settings.iter().filter(|(key, _)| !is_of_links(key)).map(own).collect()
            }
        }
    }
}

fn own((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// One thread, at either end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadPlan {
    /// Index of its host.
    pub host: usize,
    /// Its CPU, where it is pinned.
    pub cpu: Option<u32>,
    /// Its connections, each with the server's thread that it goes to.
    pub connections: Vec<(u32, usize)>,
    /// When it begins operations, if not as soon as the last is complete.
    pub pace: Option<Pace>,
}

/// All threads of a trial.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// Index of the host that serves: the system under test, or the first of the clients between
    /// which the load goes.
    pub at: usize,
    /// Those of this host.
    pub server: Vec<ThreadPlan>,
    /// Those of the clients.
    pub clients: Vec<ThreadPlan>,
}

/// The parameter of a role of a workload.
fn of_role(spec: &WorkloadSpec, role: ParamRole) -> &'static str {
    spec.params.iter().find(|param| param.role == Some(role)).map_or("", |param| param.name)
}

impl Order {
    /// That of a trial.
    ///
    /// # Errors
    /// Where the kernel gives no chance.
    pub fn of(recipe: &Recipe, job: &Job, clients: u32, server: &[u32]) -> Result<Self, Fault> {
        let params = &job.trial.point.params;
        // An echo is what was sent.
        let answers = match recipe.datagrams {
            Some(Carrier::Icmp) => params::REQUEST_SIZE,
            _ => params::RESPONSE_SIZE,
        };
        let place = params.get(params::PLACEMENT.name).and_then(Value::word).unwrap_or_default();
        Ok(Self {
            secret: Secret::fresh()?,
            params: params.clone(),
            seed: job.trial.seed,
            data_seed: job.data_seed,
            under: Lifetime::of(params).under(job),
            request: bytes(params, params::REQUEST_SIZE.name),
            response: bytes(params, answers.name),
            each: Self::each(params),
            longest: job.settle_max + job.window + Duration::from_secs(10),
            cpus: if place == "none" { Vec::new() } else { server.to_vec() },
            beside: (1..=taking_part(params, clients) as usize)
                .flat_map(|at| beside::of_client(params, at))
                .collect(),
        })
    }

    /// Requests of an operation.
    pub(super) fn each(params: &Settings) -> u64 {
        params.get(params::PIPELINED.name).and_then(Value::count).unwrap_or(1)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 B to 64 KiB")]
fn bytes(params: &Settings, name: &str) -> usize {
    let size = params.get(name).and_then(Value::quantity).map_or(1.0, |size| size.value);
    (size as usize).max(1)
}

/// Connections of a CPU, of all clients, up to which each has a client thread where they are made
/// anew in a closed loop. Two threads that block made 1.4 times the connections of one that waits
/// for both where the server had another CPU, and 3 % fewer on its own (journal of 2026-11-23).
const FEW: usize = 2;

/// Threads of a client on one CPU, at the most.
fn lanes(connections: u64, cpus: usize, anew: bool) -> usize {
    if anew && connections <= (FEW * cpus) as u64 { FEW } else { 1 }
}

impl Threads {
    /// A thread for each CPU and host that connections are placed on; without placement as many of
    /// a host as the server has CPUs, and no more than it has connections. Where connections are
    /// few and made anew, the clients have a thread for each; where they are `apart`, both ends.
    #[must_use]
    pub fn of(
        spec: &WorkloadSpec,
        job: &Job,
        clients: u32,
        (cpus, anew, apart): (Cpus<'_>, bool, bool),
    ) -> Self {
        let params = &job.trial.point.params;
        let word = params.get(params::PLACEMENT.name).and_then(Value::word).unwrap_or_default();
        let each =
            params.get(of_role(spec, ParamRole::Concurrency)).and_then(Value::count).unwrap_or(1);
        let most = cpus.server.len().max(1);
        // All CPUs, so that a CPU limit of the server leaves the client threads alone.
        let anew = anew && offered(params).is_none();
        let way = params.get(of_role(spec, ParamRole::Direction)).and_then(Value::word);
        let is_between = way.and_then(Direction::of) == Some(Direction::Between);
        let serves_at = if is_between { SUT + 1 } else { SUT };
        let clients = taking_part(params, clients);
        let lanes = lanes(each * u64::from(clients), cpus.all.len(), anew);
        let mut all = Self { at: serves_at, ..Self::default() };
        let mut dealt: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        let mut known: [BTreeMap<(usize, u32, usize), usize>; 2] = Default::default();
        for host in serves_at + 1..=clients as usize {
            for _ in 0..each {
                let at: usize = all.clients.iter().map(|thread| thread.connections.len()).sum();
                let id = u32::try_from(at).unwrap_or(u32::MAX);
                let turn = u32::try_from(at % most).unwrap_or(0);
                let (server, client) = match word {
                    "none" => (None, None),
                    "same" => (Some(cpus.server(at)), Some(cpus.server(at))),
                    _ => (Some(cpus.server(at)), Some(cpus.neighbour(at))),
                };
                let before = dealt.entry((host, client.unwrap_or(turn))).or_default();
                let [serving, asking] = if apart { [at, at] } else { [0, *before % lanes] };
                let place = [(serves_at, server, serving), (host, client, asking)];
                *before += 1;
                let [serves, asks] = [0, 1].map(|side| {
                    let threads = if side == 0 { &mut all.server } else { &mut all.clients };
                    let (host, cpu, lane) = place[side];
                    *known[side].entry((host, cpu.unwrap_or(turn), lane)).or_insert_with(|| {
                        threads.push(ThreadPlan { host, cpu, connections: vec![], pace: None });
                        threads.len() - 1
                    })
                });
                all.server[serves].connections.push((id, serves));
                all.clients[asks].connections.push((id, serves));
            }
        }
        all.pace(job);
        all
    }

    /// One server in place of a thread for each of its CPUs: a program of its own has its threads
    /// itself, and one port.
    pub fn join_servers(&mut self) {
        let all = self.server.iter().flat_map(|thread| &thread.connections);
        let connections = all.map(|(id, _)| (*id, 0)).collect();
        self.server = vec![ThreadPlan { host: 0, cpu: None, connections, pace: None }];
        let theirs = self.clients.iter_mut().flat_map(|thread| &mut thread.connections);
        theirs.for_each(|(_, serves)| *serves = 0);
    }

    /// Shares the offered rate out among the threads of the clients by their connections.
    #[expect(clippy::cast_precision_loss, reason = "connections are few")]
    fn pace(&mut self, job: &Job) {
        let params = &job.trial.point.params;
        let Some(offered) = offered(params) else { return };
        let all: usize = self.clients.iter().map(|thread| thread.connections.len()).sum();
        let count = self.clients.len();
        for (turn, thread) in self.clients.iter_mut().enumerate() {
            let rate = offered * thread.connections.len() as f64 / all as f64;
            thread.pace = Some(Pace::of(params, rate, (turn, count), job.trial.seed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_connections_made_anew_have_a_thread_each_and_others_share_one() {
        assert_eq!(lanes(4, 2, true), FEW);
        assert_eq!(lanes(5, 2, true), 1, "more than two a CPU");
        assert_eq!(lanes(4, 2, false), 1, "kept, or an open loop");
    }
}
