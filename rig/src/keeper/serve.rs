//! Knows how the agent of a machine listens: to its conductor, to its hosts, and to the clock.
//!
//! Must not know what an order means.

use super::Ended;
use super::orders::Orders;
use super::watch::Edge;
use crate::lab::machine::{
    Frame, KEEP_ALIVE, LEASE, Machine, Numbered, OWN, Order, Pair, Refusal, Reply, Said, Transport,
};
use crate::lab::{LabError, Standing, Urgent, clock};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{getpriority_process, setpriority_process};
use rustix::time::Timespec;
use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// From so long before an edge on the agent waits for nothing else, nanoseconds.
const NEAR_NS: u64 = 1_000_000;

/// A machine that is this one: its agent is a thread of this process, over a pair of sockets. Its
/// hosts are executed from `binary`.
///
/// # Errors
/// When there is no socket or thread to be had.
pub fn here(binary: &Path, cancel: &'static AtomicBool) -> Result<Machine, LabError> {
    let fail = |source| LabError::Wire { host: "machine".into(), source };
    let [ours, mut theirs] = Pair::new().map_err(fail)?;
    let binary = binary.to_path_buf();
    let work = move || {
        // The conductor hears of the end by the end of the connection.
        let _ = serve(&mut theirs, &binary);
    };
    let agent = thread::Builder::new().name("machine".into()).spawn(work).map_err(fail)?;
    Machine::greet("machine", Box::new(ours), Some(agent), cancel)
}

/// Serves conductors of the agent's lab, one after the other, or the first with a run `once`; hosts
/// are executed from `binary`. `told` hears of everybody who was refused, and of every connection
/// that broke.
///
/// # Errors
/// When nothing can listen there. With `once`, when the connection of the conductor breaks.
#[cfg(feature = "machines")]
pub fn listen(
    (address, once): (std::net::SocketAddr, bool),
    agent: &crate::lab::trust::Agent,
    binary: &Path,
    told: &mut dyn FnMut(&str),
) -> io::Result<()> {
    let listener = std::net::TcpListener::bind(address).map_err(|e| {
        let what = format!("{address}: {e}; another agent may listen there");
        io::Error::new(e.kind(), what)
    })?;
    told(&format!("listens on {}", listener.local_addr()?));
    loop {
        let (stream, from) = listener.accept()?;
        match crate::lab::machine::Tls::accept(stream, agent) {
            Ok(mut tls) => match serve(&mut tls, binary) {
                (Visit::Run, ended) if once => return ended,
                (_, Err(e)) => told(&format!("the run of {from} ended early: {e}")),
                (Visit::Run, Ok(())) => told(&format!("the run of {from} has ended")),
                (Visit::Look, Ok(())) => {}
            },
            // Whoever does not belong to the lab must not end its agent.
            Err(e) => told(&format!("refused {from}: {e}")),
        }
    }
}

/// What a conductor came for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// To look at the machine.
    Look,
    /// To make a run, or it did not say.
    Run,
}

/// Carries out the orders of the conductor at the other end until it goes away, says nothing for
/// the time of a lease, or breaks. Then all hosts have ended and all is undone. Says what it came
/// for, and whether the connection broke or the lease ended.
pub fn serve(transport: &mut dyn Transport, binary: &Path) -> (Visit, io::Result<()>) {
    let mut agent = Agent {
        leased: transport.keep_alive().is_some(),
        transport,
        orders: Orders::new(binary),
        edge: None,
        gone: BTreeSet::new(),
        heard: Instant::now(),
        urgent: None,
        visit: Visit::Run,
    };
    let nice = Nice::take();
    let ended = agent.work(&nice);
    agent.orders.end();
    (agent.visit, ended)
}

/// The nice value of the agent: the best while it listens, its own while it works, so that load
/// which it starts has that of stend.
struct Nice(Option<i32>);

impl Nice {
    fn take() -> Self {
        Self(getpriority_process(None).ok())
    }

    /// Where the kernel refuses, orders are heard late; hosts that hear late are found out.
    fn listen(&self) {
        let _ = self.0.map(|_| setpriority_process(None, -20));
    }

    fn work(&self) {
        let _ = self.0.map(|nice| setpriority_process(None, nice));
    }
}

struct Agent<'t> {
    transport: &'t mut dyn Transport,
    /// Whether the conductor has to say that it is there.
    leased: bool,
    orders: Orders,
    /// The next edge of the window: number of its order, which one, its moment in nanoseconds.
    edge: Option<(u64, Edge, u64)>,
    /// Hosts that have ended, by index.
    gone: BTreeSet<usize>,
    heard: Instant,
    /// While a load runs.
    urgent: Option<Urgent>,
    visit: Visit,
}

impl Agent<'_> {
    fn work(&mut self, nice: &Nice) -> io::Result<()> {
        loop {
            nice.listen();
            let near = |(_, _, at_ns): &(u64, Edge, u64)| clock::now_ns() + NEAR_NS >= *at_ns;
            if let Some((number, edge, at_ns)) = self.edge.filter(near) {
                self.edge = None;
                let reply = self.orders.at_edge((edge, at_ns));
                self.say(&Said::Reply(number, reply))?;
            }
            let (conductor, hosts) = self.ready(self.patience())?;
            for at in hosts {
                self.hear_host(at)?;
            }
            if conductor {
                if !self.hear_conductor(nice)? {
                    return Ok(());
                }
            } else if self.leased && self.heard.elapsed() >= LEASE {
                let what = format!("no word of the conductor for {} s", LEASE.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
        }
    }

    /// How long nothing needs to be done of its own accord; none for ever.
    fn patience(&self) -> Option<Duration> {
        let lease = self.leased.then(|| LEASE.saturating_sub(self.heard.elapsed()));
        let until =
            |at_ns: u64| Duration::from_nanos(at_ns.saturating_sub(clock::now_ns() + NEAR_NS));
        let edge = self.edge.map(|(_, _, at_ns)| until(at_ns));
        lease.into_iter().chain(edge).min()
    }

    /// Waits until somebody speaks: whether the conductor does, and which hosts do.
    fn ready(&self, patience: Option<Duration>) -> io::Result<(bool, Vec<usize>)> {
        let standing = self.orders.standing();
        let alive: Vec<usize> =
            (0..standing.hosts().len()).filter(|at| !self.gone.contains(at)).collect();
        let conductor = self.transport.socket();
        let mut polled = vec![PollFd::from_borrowed_fd(conductor, PollFlags::IN)];
        let host =
            |at: &usize| PollFd::from_borrowed_fd(standing.hosts()[*at].socket(), PollFlags::IN);
        polled.extend(alive.iter().map(host));
        let patience = patience.map(timespec);
        match rustix::event::poll(&mut polled, patience.as_ref()) {
            Err(rustix::io::Errno::INTR) => return Ok((false, Vec::new())),
            other => other?,
        };
        let spoke = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let hosts = alive.into_iter().zip(&polled[1..]);
        let hosts = hosts.filter(|(_, fd)| spoke(fd)).map(|(at, _)| at).collect();
        Ok((spoke(&polled[0]), hosts))
    }

    /// Passes a message of a host on, or tells that it is gone.
    fn hear_host(&mut self, at: usize) -> io::Result<()> {
        let channel = channel(at);
        match self.orders.host(at).map(crate::lab::HostProcess::take) {
            Some(Ok(body)) => self.transport.send(channel, &body),
            _ => {
                self.gone.insert(at);
                self.say(&Said::Gone(channel))
            }
        }
    }

    /// Takes a frame of the conductor; false when it has gone away.
    fn hear_conductor(&mut self, nice: &Nice) -> io::Result<bool> {
        let Frame { channel, body } = match self.transport.receive() {
            Ok(frame) => frame,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => return Ok(false),
            Err(e) => return Err(e),
        };
        self.heard = Instant::now();
        match channel {
            KEEP_ALIVE => {}
            OWN => {
                let (number, order): Numbered = serde_json::from_slice(&body)?;
                nice.work();
                self.take_turn(&order);
                if !self.carry_out((number, order))? {
                    return Ok(false);
                }
            }
            of_host => {
                let at = usize::from(of_host) - 1;
                let passed = self.orders.host(at).map(|host| host.pass(&body));
                if !matches!(passed, Some(Ok(()))) && self.gone.insert(at) {
                    self.say(&Said::Gone(of_host))?;
                }
            }
        }
        Ok(true)
    }

    /// From before the load until it is over the agent hears and reads before the load runs.
    fn take_turn(&mut self, order: &Order) {
        match order {
            Order::Prepare => self.urgent = Some(Urgent::begin()),
            Order::Rest | Order::Raise(_) | Order::TakeDown => {
                // An edge that is still to come is that of a load which has failed.
                (self.urgent, self.edge) = (None, None);
            }
            _ => {}
        }
    }

    /// Carries an order out and answers it; false when the conductor has gone away meanwhile.
    fn carry_out(&mut self, (number, order): Numbered) -> io::Result<bool> {
        match order {
            Order::Opens(at_ns) => self.edge = Some((number, Edge::Opens, at_ns)),
            Order::Closes(at_ns) => self.edge = Some((number, Edge::Closes, at_ns)),
            mut order => {
                match &mut order {
                    Order::Examine(_, control) => {
                        self.visit = Visit::Look;
                        control.extend(address_of(&*self.transport));
                    }
                    Order::Raise(_) => self.visit = Visit::Run,
                    _ => {}
                }
                if matches!(order, Order::Raise(_) | Order::TakeDown) {
                    self.gone.clear();
                }
                let transport = &*self.transport;
                let mut wait = |standing: &Standing, at_ns| wait(transport, standing, at_ns);
                match self.orders.carry_out(order, &mut wait) {
                    Ok(reply) => self.say(&Said::Reply(number, reply))?,
                    Err(Ended::Host(host)) => {
                        let why = Refusal::Gone(host);
                        self.say(&Said::Reply(number, Reply::Refused(why)))?;
                    }
                    Err(Ended::Conductor) => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    fn say(&mut self, said: &Said) -> io::Result<()> {
        self.transport.send(OWN, &serde_json::to_vec(said)?)
    }
}

/// Waits until a moment unless the conductor or a host goes away.
fn wait(transport: &dyn Transport, standing: &Standing, at_ns: u64) -> Result<(), Ended> {
    loop {
        let left = at_ns.saturating_sub(clock::now_ns());
        if left <= NEAR_NS {
            clock::sleep_until(at_ns);
            return Ok(());
        }
        let hosts = standing.hosts();
        let mut polled = vec![PollFd::from_borrowed_fd(transport.socket(), PollFlags::RDHUP)];
        polled.extend(hosts.iter().map(|h| PollFd::from_borrowed_fd(h.socket(), PollFlags::RDHUP)));
        let left = timespec(Duration::from_nanos(left - NEAR_NS));
        let Ok(1..) = rustix::event::poll(&mut polled, Some(&left)) else { continue };
        let ended = |fd: &PollFd<'_>| fd.revents().intersects(PollFlags::RDHUP | PollFlags::HUP);
        if ended(&polled[0]) {
            return Err(Ended::Conductor);
        }
        if let Some(at) = polled[1..].iter().position(ended) {
            return Err(Ended::Host(hosts[at].name().into()));
        }
    }
}

/// Our address in a connection over a network.
fn address_of(transport: &dyn Transport) -> Option<IpAddr> {
    let address = rustix::net::getsockname(transport.socket()).ok()?;
    Some(std::net::SocketAddr::try_from(address).ok()?.ip())
}

fn channel(at: usize) -> u16 {
    u16::try_from(at + 1).unwrap_or(KEEP_ALIVE - 1)
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
