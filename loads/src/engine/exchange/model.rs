//! Knows what an exchange does in a simulated lab: requests of many connections queue before the
//! CPUs of a server, in simulated time. The times go through the same counting as real ones.
//!
//! Must not know how trials are judged.

use super::Recipe;
use super::bulk;
use super::check::{Evidence, check};
use super::order::{Order, ThreadPlan, Threads};
use super::part::{HostMark, ThreadCount, ThreadEnd};
use super::take::{Counted, Take};
use crate::engine::net::streams::shared_out;
use crate::engine::net::{Cpus, Life, ThreadMark, seconds};
use crate::engine::pace::Pacer;
use crate::engine::times::Moments;
use desk::record::{Fault, Settings};
use rig::lab::sim::{Scene, Spoilt};
use rig::metal::Span;
use rig::workload::{Job, Modelled};
use std::time::Duration;

/// Longest time before the window that is simulated: the queue has settled by then.
const BEFORE: Duration = Duration::from_millis(100);
/// System calls of one operation at one end.
const CALLS: f64 = 3.0;

/// What a workload of this recipe does in a simulated lab.
///
/// # Errors
/// The fault that the workload's own check finds.
pub fn model(recipe: &Recipe, scene: &Scene<'_>, job: &Job<'_>) -> Result<Modelled, Fault> {
    let order = Order::of(recipe, job, scene.clients, &[])?;
    if !order.beside.is_empty() {
        let what = "a simulated lab has no stream beside the operations; take beside = \"none\", \
                    or another lab";
        return Err(Fault::NotAvailable { what: what.into() });
    }
    let all: Vec<u32> = (0..scene.physics.machine.cores.max(1)).collect();
    let threads = Threads::of(
        recipe.spec,
        job,
        scene.clients,
        (Cpus { server: &all, all: &all }, recipe.kept, recipe.bulk.is_some()),
    );
    let bytes = order.request + order.response;
    #[expect(clippy::cast_precision_loss, reason = "at most 64")]
    let service = service(scene, recipe.packets, bytes) * order.each as f64;
    let (service, wire) = match &recipe.bulk {
        Some(bulk) => bulk::simulated(bulk, scene, (&order.params, &threads)),
        None => (service, 0.0),
    };
    let waited = if scene.steady { job.settle } else { job.settle_max };
    let opens_ns = scene.go_ns + nanoseconds(waited);
    let window = Span { opens_ns, closes_ns: opens_ns + nanoseconds(job.window) };
    let go_ns = opens_ns - nanoseconds(waited.min(BEFORE));
    let servers = threads.server.len().min(all.len());
    let rtt = whole(scene.link.rtt * 1e9);
    let queue = Queue::new(&threads.clients, (servers, rtt), window, go_ns);
    let ran = queue.run(|_| whole(service.max(wire) * 1e9));
    let busy = (ran.served as f64 * service / seconds(window.closes_ns - opens_ns))
        .min(f64::from(u32::try_from(servers).unwrap_or(1)));
    let moved = recipe.bulk.map_or(0, |bulk| (bulk.sizes)(&order.params).0);
    let evidence = evidence(scene, (job, &order, moved), threads, (&ran, window));
    let cores: Vec<f64> = (0..all.len())
        .map(|core| if core < servers { busy / servers as f64 } else { 0.0 })
        .collect();
    let softirq = cores.iter().map(|busy| busy / 3.0).collect();
    let clients = match scene.physics.clients_apart() {
        true => shared_out(busy, &order.params, scene.clients),
        false => Vec::new(),
    };
    Ok(Modelled { checked: check(recipe, &evidence)?, cores, softirq, clients })
}

/// CPU time of the server for an operation, seconds.
fn service(scene: &Scene<'_>, packets: f64, bytes: usize) -> f64 {
    let cost = &scene.physics.cost;
    #[expect(clippy::cast_precision_loss, reason = "at most 128 KiB")]
    let copied = cost.byte * bytes as f64;
    (CALLS * cost.call + packets * cost.packet + copied) / scene.hold.speed / scene.pace
}

/// What happened in simulated time.
pub(super) struct Ran {
    /// What each thread of clients counted.
    pub(super) taken: Vec<Take>,
    /// Operations of each that were due and never begun.
    unsent: Vec<u64>,
    /// Operations that were due in the window, of each.
    due: Vec<u64>,
    /// Operations that were complete in the window, of each.
    done: Vec<u64>,
    /// Operations that were served in the window, of each, with parts of them.
    parts: Vec<f64>,
    /// Operations that were complete in the window, of all.
    served: u64,
}

/// One thread of clients.
struct Thread {
    pacer: Option<Pacer>,
    /// When each slot is free.
    free: Vec<u64>,
}

impl Thread {
    /// The slot that is free first, and when its next operation is due and begins.
    fn next(&self) -> (usize, u64, u64) {
        let first = (0..self.free.len()).min_by_key(|slot| self.free[*slot]).unwrap_or(0);
        let due = self.pacer.as_ref().map_or(self.free[first], Pacer::due_ns);
        (first, due, due.max(self.free[first]))
    }
}

/// Requests of many connections before one server, first come, first served.
pub(super) struct Queue {
    threads: Vec<Thread>,
    /// When each CPU of the server is free.
    servers: Vec<u64>,
    rtt: u64,
    window: Span,
    ran: Ran,
}

impl Queue {
    /// Threads of clients before so many CPUs, this far away, nanoseconds.
    pub(super) fn new(
        plans: &[ThreadPlan],
        (servers, rtt): (usize, u64),
        window: Span,
        go_ns: u64,
    ) -> Self {
        let thread = |plan: &ThreadPlan| Thread {
            pacer: plan.pace.map(|pace| Pacer::new(pace, go_ns)),
            free: vec![go_ns; plan.connections.len()],
        };
        let take = |plan: &ThreadPlan| {
            Take::new(plan.connections.len(), plan.pace.map(|pace| 1.0 / pace.rate))
        };
        let none = vec![0; plans.len()];
        let ran = Ran {
            taken: plans.iter().filter_map(take).collect(),
            unsent: none.clone(),
            due: none.clone(),
            done: none,
            parts: vec![0.0; plans.len()],
            served: 0,
        };
        let (threads, servers) = (plans.iter().map(thread).collect(), vec![go_ns; servers.max(1)]);
        Self { threads, servers, rtt, window, ran }
    }

    /// Runs until the window closes. `service` gives the service time of an operation from the
    /// moment at which the server begins it, both in nanoseconds.
    pub(super) fn run(mut self, mut service: impl FnMut(u64) -> u64) -> Ran {
        let opens = self.window.opens_ns;
        while let Some(at) =
            self.next().filter(|at| self.threads[*at].next().2 < self.window.closes_ns)
        {
            let (slot, intended, begun) = self.threads[at].next();
            let server = (0..self.servers.len()).min_by_key(|cpu| self.servers[*cpu]).unwrap_or(0);
            let started = self.servers[server].max(begun + self.rtt / 2);
            let ended = started + service(started);
            self.servers[server] = ended;
            let (free, done) = (self.threads[at].free[slot], ended + self.rtt / 2);
            let moments = Moments { intended, begun, free, done };
            self.ran.taken[at].add(slot, moments, self.window);
            let within = done >= opens && done < self.window.closes_ns;
            self.ran.done[at] += u64::from(within);
            self.ran.parts[at] += part(started, ended, self.window);
            self.ran.served += u64::from(within);
            self.ran.due[at] += u64::from(intended >= opens);
            self.threads[at].free[slot] = done;
            if let Some(pacer) = &mut self.threads[at].pacer {
                pacer.advance(self.window);
            }
        }
        for (at, thread) in self.threads.iter_mut().enumerate() {
            let Some(pacer) = &mut thread.pacer else { continue };
            self.ran.unsent[at] = pacer.left(self.window);
        }
        self.ran
    }

    /// The thread whose next operation begins first.
    fn next(&self) -> Option<usize> {
        (0..self.threads.len()).min_by_key(|at| self.threads[*at].next().2)
    }
}

/// The part of an operation that lies in the window.
#[expect(clippy::cast_precision_loss, reason = "times of a trial are below 2^53 ns")]
fn part(started: u64, ended: u64, window: Span) -> f64 {
    let within = ended.min(window.closes_ns).saturating_sub(started.max(window.opens_ns));
    within as f64 / ended.saturating_sub(started).max(1) as f64
}

/// What the hosts would have told.
struct Told<'t> {
    scene: &'t Scene<'t>,
    threads: &'t Threads,
    ran: &'t Ran,
    window: Span,
    seed: u64,
    /// Requests of an operation.
    each: u64,
    /// Bytes of a bulk operation.
    bytes: u64,
}

impl Told<'_> {
    /// Threads of clients of a host, by their place in the list.
    fn of_host(&self, host: usize) -> impl Iterator<Item = usize> {
        let clients = self.threads.clients.iter().enumerate();
        clients.filter(move |(_, plan)| plan.host == host).map(|(at, _)| at)
    }

    fn done(&self, at: usize) -> u64 {
        let still = matches!(self.scene.spoilt, Some(Spoilt::Still(_)));
        if still { 0 } else { self.ran.done[at] }
    }

    /// Bytes of bulk operations that a thread moved.
    fn moved(&self, at: usize) -> u64 {
        let still = matches!(self.scene.spoilt, Some(Spoilt::Still(_)));
        #[expect(clippy::cast_precision_loss, reason = "a file is below 2^53 B")]
        let moved = whole(self.ran.parts[at] * self.bytes as f64);
        if still { 0 } else { moved }
    }

    fn length(&self) -> u64 {
        self.window.closes_ns - self.window.opens_ns
    }

    /// Of each thread of a host what it had done when the window closed.
    fn closed(&self, host: usize) -> Vec<ThreadCount> {
        let account = Some(ThreadMark { cpu_ns: self.length() / 2, waited_ns: 0 });
        if host == self.threads.at {
            let of = |at| self.done(at) * self.each;
            let all: u64 = (0..self.threads.clients.len()).map(of).sum();
            let threads = self.threads.server.len().max(1) as u64;
            let moved: u64 = (0..self.threads.clients.len()).map(|at| self.moved(at)).sum();
            let (done, sent) = (all.div_ceil(threads), moved.div_ceil(threads));
            return vec![
                ThreadCount { done, sent, account, ..Default::default() };
                self.threads.server.len()
            ];
        }
        let count = |at| ThreadCount {
            done: self.done(at),
            due: self.ran.due[at],
            received: self.moved(at),
            account,
            ..Default::default()
        };
        self.of_host(host).map(count).collect()
    }

    fn mark(&self, host: usize, closed: bool) -> HostMark {
        let mut threads = self.closed(host);
        if !closed {
            threads
                .fill(ThreadCount { account: Some(ThreadMark::default()), ..Default::default() });
        }
        HostMark {
            at_ns: if closed { self.window.closes_ns } else { self.window.opens_ns },
            took_ns: 1000,
            cpu_ns: if closed { self.length() / 2 } else { 0 },
            threads,
            ..HostMark::default()
        }
    }

    fn ended(&self, host: usize) -> Vec<ThreadEnd> {
        if host == self.threads.at {
            let answered = self.closed(host).into_iter();
            let end =
                |ThreadCount { done, sent, .. }| ThreadEnd { done, sent, ..Default::default() };
            return answered.map(end).collect();
        }
        let wrong = matches!(self.scene.spoilt, Some(Spoilt::Content(_)));
        let end = |at: usize| ThreadEnd {
            done: self.done(at),
            received: self.moved(at),
            sent: 0,
            unsent: self.ran.unsent[at],
            counted: Counted { digest: self.seed, ..self.ran.taken[at].counted() },
            error: wrong.then(|| "content is not what was sent".to_owned()),
        };
        self.of_host(host).map(end).collect()
    }
}

fn evidence(
    scene: &Scene<'_>,
    (job, order, bytes): (&Job<'_>, &Order, u64),
    threads: Threads,
    (ran, window): (&Ran, Span),
) -> Evidence {
    let (seed, each) = (order.seed, order.each);
    let told = Told { scene, threads: &threads, ran, window, seed, each, bytes };
    let hosts = 0..=scene.clients as usize;
    let life = Life {
        steady: scene.steady,
        settle_ns: window.opens_ns - scene.go_ns,
        late_ns: Vec::new(),
        window_ns: (window.opens_ns, window.closes_ns),
        opened: hosts.clone().map(|host| told.mark(host, false)).collect(),
        closed: hosts.clone().map(|host| told.mark(host, true)).collect(),
        course: Vec::new(),
        ended: hosts.clone().map(|host| told.ended(host)).collect(),
    };
    let name = |at: usize| if at == 0 { "sut".to_owned() } else { format!("c{at:02}") };
    Evidence {
        version: None,
        is_silent: false,
        host_names: hosts.map(name).collect(),
        asked: job.trial.point.params.clone(),
        sizes: (order.request as u64, order.response as u64),
        each,
        found: Settings::new(),
        threads,
        life: Some(life),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
const fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
impl Ran {
    /// Operations that were due and never begun, of all threads.
    pub(super) fn unsent(&self) -> u64 {
        self.unsent.iter().sum()
    }
}
