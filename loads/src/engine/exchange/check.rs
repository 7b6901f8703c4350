//! Knows whether the work of an exchange was done, and what figures it gives. Pure.
//!
//! Must not know sockets or hosts; all it sees is the evidence.

use super::Recipe;
use super::client::Strays;
use super::datagrams::Carrier;
use super::order::{ThreadPlan, Threads};
use super::part::{HostMark, ThreadCount, ThreadEnd};
use super::{beside, bulk};
use crate::engine::net::life::{check_moments, series, starts};
use crate::engine::net::{Buffers, Life, TcpFacts, account, seconds};
use crate::engine::pace::{UNSENT, late, told};
use crate::engine::times::merged;
use desk::record::flow::{BUSY, Flow, Flows, OPERATIONS, RECEIVE_WINDOW, SEND_BUFFER};
use desk::record::{Fault, Outcome, Reading, Sample, Series, Settings, Value, Window, Work};
use desk::unit::{Quantity, Unit};
use rig::metal::{DIGEST, digest};
use rig::workload::Checked;
use std::collections::BTreeMap;

/// Fewer connections that wait to be accepted are no queue.
const QUEUE_LEAST: u64 = 8;

/// All that was read of a trial.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Names of the hosts that took part, the system under test first.
    pub host_names: Vec<String>,
    /// Parameters asked.
    pub asked: Settings,
    /// Threads as planned.
    pub threads: Threads,
    /// Bytes of a request and of a response.
    pub sizes: (u64, u64),
    /// Requests of an operation.
    pub each: u64,
    /// What a service says of its version.
    pub version: Option<String>,
    /// Whether the server tells no count: stend did not start it, or its kernel answers.
    pub is_silent: bool,
    /// What was found on the hosts while the trial was staged.
    pub found: Settings,
    /// What the hosts told.
    pub life: Option<Life<HostMark, Vec<ThreadEnd>>>,
}

/// One thread: its plan, its counts at both edges, its end.
struct Thread<'e> {
    plan: &'e ThreadPlan,
    opened: ThreadCount,
    closed: ThreadCount,
    end: &'e ThreadEnd,
    /// Time between the two reads, seconds.
    length: f64,
}

impl Thread<'_> {
    fn paced(&self) -> bool {
        self.plan.pace.is_some()
    }

    /// Operations that it began too late, and all that were due in the window.
    fn late(&self) -> (u64, u64) {
        let due = self.closed.due.saturating_sub(self.opened.due);
        (self.end.counted.late.unwrap_or(0), due)
    }

    #[expect(clippy::cast_precision_loss, reason = "operations of a window are below 2^53")]
    fn rate(&self) -> f64 {
        self.closed.done.saturating_sub(self.opened.done) as f64 / self.length
    }
}

impl Evidence {
    fn life(&self) -> Result<&Life<HostMark, Vec<ThreadEnd>>, Fault> {
        self.life.as_ref().ok_or_else(|| Fault::WrongWork { what: "nothing was driven".into() })
    }

    /// The threads of a host.
    fn of_host(&self, host: usize) -> Result<Vec<Thread<'_>>, Fault> {
        let life = self.life()?;
        let gone = || Fault::DeadHost { host: self.host_names[host].as_str().into() };
        let (a, b) = (life.opened.get(host), life.closed.get(host));
        let (a, b, ends) = (a.ok_or_else(gone)?, b.ok_or_else(gone)?, life.ended.get(host));
        let Threads { at, server, clients } = &self.threads;
        let all = if host == *at { server } else { clients };
        let plans: Vec<&ThreadPlan> = all.iter().filter(|plan| plan.host == host).collect();
        let ends = ends.ok_or_else(gone)?;
        let whole = [a.threads.len(), b.threads.len()] == [plans.len(); 2];
        if !whole || ends.len() < plans.len() {
            return Err(gone());
        }
        let length = seconds(b.at_ns.saturating_sub(a.at_ns)).max(1e-9);
        let all = plans.into_iter().enumerate().map(|(at, plan)| Thread {
            plan,
            opened: a.threads[at],
            closed: b.threads[at],
            end: &ends[at],
            length,
        });
        Ok(all.collect())
    }

    fn clients(&self) -> Result<Vec<Thread<'_>>, Fault> {
        let mut all = Vec::new();
        for host in self.threads.at + 1..self.host_names.len() {
            all.extend(self.of_host(host)?);
        }
        Ok(all)
    }
}

/// Checks the work and makes the figures.
///
/// # Errors
/// The first thing that was wrong: content, counts that disagree, a connection that moved nothing.
pub fn check(recipe: &Recipe, evidence: &Evidence) -> Result<Checked, Fault> {
    let life = evidence.life()?;
    let read = |marks: &[HostMark]| marks.iter().map(|m| (m.at_ns, m.took_ns)).collect::<Vec<_>>();
    let edges = [read(&life.opened), read(&life.closed)];
    check_moments(&evidence.host_names, &edges, life.window_ns)?;
    let (server, clients) = (evidence.of_host(evidence.threads.at)?, evidence.clients()?);
    check_beside(evidence, life)?;
    let work = check_work((recipe, evidence), &server, &clients)?;
    let (rate, of_work) = match recipe.bulk {
        // The work that hosts tell is in bytes, and figures are in bits.
        Some(_) => (bulk::rate(life.opened.iter().zip(&life.closed)), 8.0),
        None => (clients.iter().map(Thread::rate).sum::<f64>() * each(evidence), each(evidence)),
    };
    let samples = (recipe.figures)(rate, sizes(evidence, &clients));
    let outcome = Outcome {
        window: Window { opened_ns: life.window_ns.0, closed_ns: life.window_ns.1 },
        series: course(&samples, of_work, life),
        samples,
        distributions: merged(clients.iter().flat_map(|t| &t.end.counted.distributions))?,
        flows: flows(recipe, evidence, &clients)?,
        work,
        made_with: made_with(evidence, &clients),
        steady: life.steady,
        settle: Some(Quantity::seconds(seconds(life.settle_ns))),
        fault: None,
        logs: Vec::new(),
    };
    let mut readings: Vec<Reading> = starts(&evidence.host_names, &life.late_ns).collect();
    for host in 0..evidence.host_names.len() {
        readings.extend(of_host(recipe, evidence, host)?);
        let bulk = recipe.bulk.as_ref();
        readings.extend(bulk.into_iter().flat_map(|bulk| bulk::stored(bulk, evidence, host)));
    }
    Ok(Checked { outcome, readings })
}

/// Every stream that ran beside went on to the stop, and brought something in the window.
fn check_beside(evidence: &Evidence, life: &Life<HostMark, Vec<ThreadEnd>>) -> Result<(), Fault> {
    for (host, name) in evidence.host_names.iter().enumerate() {
        let plans = evidence.of_host(host)?.len();
        let mut ends = life.ended.get(host).into_iter().flatten().skip(plans);
        if let Some(error) = ends.find_map(|end| end.error.as_ref()) {
            return Err(Fault::WrongWork { what: format!("{name}: a stream beside: {error}") });
        }
        let (server, client) = beside::arrives(&evidence.asked);
        let awaited = if host == evidence.threads.at { server } else { client };
        let ended = life.closed.get(host).is_some_and(|mark| mark.beside_ended);
        if ended || (awaited && brought(life, host) == 0) {
            return Err(Fault::DeadStream { stream: format!("{name}: the stream beside") });
        }
    }
    Ok(())
}

/// Bytes of streams beside that arrived at a host in the window.
fn brought(life: &Life<HostMark, Vec<ThreadEnd>>, host: usize) -> u64 {
    let of = |marks: &[HostMark]| marks.get(host).map_or(0, |mark| mark.beside);
    of(&life.closed).saturating_sub(of(&life.opened))
}

/// Bytes of a request and of a response: the mean of those that came in the window, where they are
/// counted, and else what was asked.
#[expect(clippy::cast_precision_loss, reason = "bytes of a window are below 2^53")]
fn sizes(evidence: &Evidence, clients: &[Thread<'_>]) -> (f64, f64) {
    let (mut bytes, mut operations) = (0, 0);
    for thread in clients {
        bytes += thread.closed.received.saturating_sub(thread.opened.received);
        operations += thread.closed.done.saturating_sub(thread.opened.done);
    }
    let (request, response) = evidence.sizes;
    let counted = bytes as f64 / (operations as f64 * each(evidence)).max(1.0);
    (request as f64, if bytes == 0 { response as f64 } else { counted })
}

/// Requests of an operation.
#[expect(clippy::cast_precision_loss, reason = "at most 64")]
const fn each(evidence: &Evidence) -> f64 {
    evidence.each as f64
}

/// The first figure in steps of the window; `each` is how much of it a piece of work is.
fn course(samples: &[Sample], each: f64, life: &Life<HostMark, Vec<ThreadEnd>>) -> Vec<Series> {
    samples.first().map_or_else(Vec::new, |sample| {
        series(&life.course, life.window_ns, (&sample.metric, sample.quantity.unit, each))
    })
}

/// Every thread ran to its end, every connection that is kept moved something, and the server
/// answered as many requests as clients saw answered, and no more than one operation beyond for
/// each connection.
fn check_work(
    (recipe, evidence): (&Recipe, &Evidence),
    server: &[Thread<'_>],
    clients: &[Thread<'_>],
) -> Result<Work, Fault> {
    // A client that ends early ends the server's connections, too.
    for thread in clients.iter().chain(server) {
        if let Some(error) = &thread.end.error {
            let host = &evidence.host_names[thread.plan.host];
            return Err(Fault::WrongWork { what: format!("{host}: {error}") });
        }
    }
    let mut work = Work::default();
    let mut sum = DIGEST;
    for thread in clients {
        let counted = &thread.end.counted;
        if is_dead(recipe, thread) {
            let stream = evidence.host_names[thread.plan.host].clone();
            return Err(Fault::DeadStream { stream });
        }
        for (class, count) in &counted.errors {
            *work.errors.entry(class.clone()).or_default() += count;
        }
        if thread.end.unsent > 0 {
            *work.errors.entry(UNSENT.into()).or_default() += thread.end.unsent;
        }
        work.operations += thread.end.done * evidence.each;
        sum = digest(sum, &counted.digest.to_le_bytes());
    }
    let answered: u64 = match evidence.is_silent {
        true => work.operations,
        false => server.iter().map(|thread| thread.end.done).sum(),
    };
    let connections: usize = clients.iter().map(|thread| thread.plan.connections.len()).sum();
    let failed: u64 = clients.iter().flat_map(|t| t.end.counted.errors.values()).sum();
    let beyond = (connections as u64 + failed) * evidence.each;
    if answered < work.operations || answered > work.operations + beyond {
        let what = format!(
            "the server answered {answered} requests, and the clients saw {} answered",
            work.operations
        );
        return Err(Fault::WrongWork { what });
    }
    let (request, response) = evidence.sizes;
    let counted: u64 = clients.iter().map(|thread| thread.end.received).sum();
    let of = |operations: u64| {
        operations * request
            + match counted {
                0 => operations * response,
                counted => counted,
            }
    };
    work.sent_bytes = of(answered);
    work.received_bytes = of(work.operations);
    let checked = if evidence.is_silent { 0 } else { answered };
    work.content_checks = checked + work.operations;
    work.digest = Some(Work::folded(sum));
    if recipe.bulk.is_some() {
        count_bytes(&mut work, server.iter().chain(clients))?;
    }
    Ok(work)
}

/// Whether a connection of a thread of clients moved nothing that it should have moved.
fn is_dead(recipe: &Recipe, thread: &Thread<'_>) -> bool {
    let end = thread.end;
    if recipe.bulk.is_some() {
        return end.sent + end.received == 0;
    }
    // Connections that are made in the trial and wait in vain are counted errors, as are datagrams
    // that are lost.
    let sure = recipe.kept && recipe.datagrams.is_none();
    let silent = sure && !thread.paced() && end.counted.silent > 0;
    silent || (end.done == 0 && (!thread.paced() || thread.closed.due > 0))
}

/// Takes the bytes that both ends counted; no more can arrive than were sent.
fn count_bytes<'t>(
    work: &mut Work,
    threads: impl Iterator<Item = &'t Thread<'t>> + Clone,
) -> Result<(), Fault> {
    work.sent_bytes = threads.clone().map(|thread| thread.end.sent).sum();
    work.received_bytes = threads.map(|thread| thread.end.received).sum();
    if work.received_bytes > work.sent_bytes {
        let (sent, received) = (work.sent_bytes, work.received_bytes);
        let what = format!("{sent} B sent but {received} B received");
        return Err(Fault::WrongWork { what });
    }
    Ok(())
}

/// What is known of a connection over the window: requests that were answered, and where it was
/// kept its segments that were sent again and its smoothed round-trip time, both of the client's
/// end.
const COLUMNS: [(&str, Unit); 3] =
    [(OPERATIONS, Unit::Count), ("retransmitted", Unit::Count), ("rtt", Unit::Second)];

/// What TCP tells beside that of bulk operations: times of both ends together.
const TIMES: [(&str, Unit); 3] =
    [(BUSY, Unit::Second), (RECEIVE_WINDOW, Unit::Second), (SEND_BUFFER, Unit::Second)];

#[expect(clippy::cast_precision_loss, reason = "operations of a window are below 2^53")]
fn flows(recipe: &Recipe, evidence: &Evidence, clients: &[Thread<'_>]) -> Result<Flows, Fault> {
    let life = evidence.life()?;
    let of_host = |marks: &[HostMark], host: usize, id: u32| {
        let tcp = marks.get(host).and_then(|mark| mark.tcp.iter().find(|(n, _)| *n == id));
        tcp.map(|(_, facts)| *facts)
    };
    let both = |host, id| {
        let opened = of_host(&life.opened, host, id)?;
        Some((opened, of_host(&life.closed, host, id)?))
    };
    let times = if recipe.bulk.is_some() { &TIMES[..] } else { &[] };
    let mut all = Vec::new();
    for thread in clients {
        let (host, plan) = (thread.plan.host, thread.plan);
        for ((id, serves), done) in plan.connections.iter().zip(&thread.end.counted.slots) {
            let client = both(host, *id);
            let again = client.map(|(a, b)| b.retransmitted.wrapping_sub(a.retransmitted));
            let mut figures = vec![
                Some(*done as f64 * each(evidence)),
                again.map(f64::from),
                client.map(|(_, facts)| f64::from(facts.rtt_us) / 1e6),
            ];
            let ends: Vec<_> = client.into_iter().chain(both(evidence.threads.at, *id)).collect();
            let sums = spent(&ends).into_iter().zip(times);
            figures.extend(sums.map(|(sum, _)| (!ends.is_empty()).then_some(sum)));
            all.push(Flow {
                name: format!("{}.{id}", evidence.host_names[host]),
                sender: evidence.host_names[host].clone(),
                receiver: evidence.host_names[evidence.threads.at].clone(),
                sender_cpu: plan.cpu,
                receiver_cpu: match recipe.datagrams {
                    // Where a virtual link delivers, the kernel answers: on the CPU that sends.
                    Some(Carrier::Icmp) => plan.cpu,
                    _ => evidence.threads.server.get(*serves).and_then(|server| server.cpu),
                },
                words: [].into(),
                figures,
            });
        }
    }
    Ok(Flows::new(&[&COLUMNS[..], times].concat(), all))
}

/// The [`TIMES`] that passed at these ends in the window, each told at both edges; seconds.
#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 us")]
fn spent(ends: &[(TcpFacts, TcpFacts)]) -> [f64; 3] {
    let of: [fn(&TcpFacts) -> u64; 3] = [
        |facts| facts.busy_us,
        |facts| facts.receive_window_limited_us,
        |facts| facts.send_buffer_limited_us,
    ];
    of.map(|time| {
        let passed = ends.iter().map(|(opened, closed)| time(closed).saturating_sub(time(opened)));
        passed.sum::<u64>() as f64 / 1e6
    })
}

/// How the load was made, as it really was.
fn made_with(evidence: &Evidence, clients: &[Thread<'_>]) -> Settings {
    let mut made = evidence.asked.clone();
    let paced = clients.iter().any(Thread::paced);
    made.extend([told(paced)]);
    made.extend(evidence.found.clone());
    if let Some(version) = &evidence.version {
        made.insert("version".into(), Value::Word(version.clone()));
    }
    let connections: usize = clients.iter().map(|thread| thread.plan.connections.len()).sum();
    made.insert("streams_total".into(), Value::Count(connections as u64));
    made.insert("client_threads".into(), Value::Count(clients.len() as u64));
    made
}

/// Datagrams of the window that were no message that the threads of a host waited for.
fn strays(threads: &[Thread<'_>]) -> impl Iterator<Item = (&'static str, u64)> {
    let sum = |of: fn(&Strays) -> u64| -> u64 {
        let gained = |t: &Thread<'_>| of(&t.closed.strays).saturating_sub(of(&t.opened.strays));
        threads.iter().map(gained).sum()
    };
    let all = [
        ("late", sum(|strays| strays.late)),
        ("doubled", sum(|strays| strays.doubled)),
        ("foreign", sum(|strays| strays.foreign)),
    ];
    all.into_iter()
}

/// What the load itself cost on a host, whether its threads were held back, how often its kernel
/// acknowledged late, and what became of datagrams.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are below 2^53")]
fn of_host(recipe: &Recipe, evidence: &Evidence, host: usize) -> Result<Vec<Reading>, Fault> {
    let life = evidence.life()?;
    let threads = evidence.of_host(host)?;
    let name = &evidence.host_names[host];
    let mut all = Vec::new();
    let mut add = |probe: &str, key: &str, value: f64, unit| {
        let (probe, host, key) = (probe.into(), name.as_str().into(), key.into());
        all.push(Reading { probe, host, key, quantity: Quantity::new(value, unit) });
    };
    let (a, b) = (&life.opened[host], &life.closed[host]);
    let wall = seconds(b.at_ns.saturating_sub(a.at_ns)).max(1e-9);
    add("process", "cpu", seconds(b.cpu_ns.saturating_sub(a.cpu_ns)) / wall, Unit::Cpu);
    let spent = |thread: &Thread<'_>| Some(thread.closed.account?.since(thread.opened.account?));
    for (name, used_ns) in &b.programs {
        let before = a.programs.get(name).copied().unwrap_or_default();
        let used = seconds(used_ns.saturating_sub(before));
        add("process", &format!("cpu.{name}"), used / wall, Unit::Cpu);
    }
    if let Some((runnable, cpu)) = account::busiest(threads.iter().filter_map(spent), wall) {
        add("thread", "runnable", runnable, Unit::Share);
        add("thread", "cpu", cpu, Unit::Share);
    }
    let paced = threads.iter().filter(|thread| thread.paced());
    if let Some(late) = late(paced.map(Thread::late)) {
        add("pace", "late", late, Unit::Share);
    }
    let counted = a.udp.zip(b.udp).into_iter().flat_map(|(a, b)| a.until(b));
    let (probe, lossy) = match recipe.datagrams {
        Some(Carrier::Icmp) => ("icmp", host != evidence.threads.at),
        carrier => ("udp", carrier.is_some()),
    };
    for (key, count) in counted.chain(strays(&threads).filter(|_| lossy)) {
        add(probe, key, count as f64, Unit::Count);
    }
    if b.beside > 0 {
        add("beside", "throughput", brought(life, host) as f64 * 8.0 / wall, Unit::BitPerSecond);
    }
    if let Some(acks) = a.delayed_acks.zip(b.delayed_acks) {
        add("tcp", "delayed_acks", acks.1.saturating_sub(acks.0) as f64, Unit::Count);
    }
    let buffers = b.buffers.into_iter().flat_map(Buffers::rows);
    buffers.for_each(|(key, size)| add("tcp", key, size, Unit::Byte));
    if let Some(waiting) = a.queue.zip(b.queue) {
        let all: usize = evidence.threads.clients.iter().map(|plan| plan.connections.len()).sum();
        // A few are those that came just then.
        let waiting = Some(waiting.0.min(waiting.1)).filter(|waiting| *waiting >= QUEUE_LEAST);
        let share = waiting.unwrap_or(0) as f64 / all.max(1) as f64;
        add("accept", "queue", share.min(1.0), Unit::Share);
    }
    let mut cpus: BTreeMap<u32, f64> = BTreeMap::new();
    for thread in &threads {
        let (Some(cpu), Some(spent)) = (thread.plan.cpu, spent(thread)) else { continue };
        *cpus.entry(cpu).or_default() += seconds(spent.cpu_ns) / wall;
    }
    for (cpu, share) in cpus {
        add("thread", &format!("cpu.cpu{cpu}"), share, Unit::Share);
    }
    Ok(all)
}
