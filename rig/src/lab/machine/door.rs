//! Knows the conductor's door to a machine: orders and messages go out, answers come in by channel.
//!
//! Must not know what an order is for.

use super::OWN;
use super::examined::Examined;
use super::lease::Lease;
use super::offset::Offset;
use super::order::{Order, Refusal, Reply, Said};
use super::transport::{KEEP_ALIVE, Transport};
use crate::lab::LabError;
use crate::lab::clock;
use crate::lab::version::VERSION;
use desk::record::{Environment, Fact};
use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a wait looks at the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait for the answer to an order.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Exchanges by which the clock is found when nothing runs, and beside a load.
const EXCHANGES: usize = 8;
const EXCHANGES_BESIDE: usize = 4;

/// What came on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The oldest message.
    Message(Vec<u8>),
    /// Nothing, in time.
    Nothing,
    /// Its host is gone.
    Gone,
}

/// A machine, over a connection to its agent.
pub struct Machine {
    name: String,
    /// None once the connection is closed.
    transport: Option<Box<dyn Transport>>,
    inbox: BTreeMap<u16, VecDeque<Vec<u8>>>,
    /// Number of the last order.
    given: u64,
    gone: BTreeSet<u16>,
    offset: Offset,
    cancel: &'static AtomicBool,
    lease: Option<Lease>,
    /// The agent, where it is a thread of this process.
    agent: Option<JoinHandle<()>>,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Machine {
    /// Greets the agent at the other end. `agent` is its thread, where it is one of this process.
    ///
    /// # Errors
    /// When it is of another version, does not answer, or the run is stopped.
    pub fn greet(
        name: &str,
        transport: Box<dyn Transport>,
        agent: Option<JoinHandle<()>>,
        cancel: &'static AtomicBool,
    ) -> Result<Self, LabError> {
        let lease = transport.keep_alive().map(Lease::begin).transpose();
        let lease = lease.map_err(|e| broken(name, e))?;
        let mut machine = Self {
            name: name.into(),
            transport: Some(transport),
            inbox: BTreeMap::new(),
            given: 0,
            gone: BTreeSet::new(),
            offset: Offset::NONE,
            cancel,
            lease,
            agent,
        };
        machine.order(&Order::Hello(VERSION.into()))?;
        machine.set_clock(EXCHANGES)?;
        Ok(machine)
    }

    /// Whether it is this machine: it has our clock.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.transport.as_ref().is_some_and(|transport| transport.shares_clock())
    }

    /// By how much its clock differs from ours.
    #[must_use]
    pub const fn offset(&self) -> Offset {
        self.offset
    }

    /// Finds its clock anew while nothing runs.
    ///
    /// # Errors
    /// As [`Self::order`]; when its clock has jumped since it was found last.
    pub fn find_clock(&mut self) -> Result<(), LabError> {
        self.set_clock(EXCHANGES)
    }

    /// Finds its clock anew beside a load, where round trips are long: the better of what was known
    /// and what is found counts.
    ///
    /// # Errors
    /// As [`Self::find_clock`].
    pub fn find_clock_beside_load(&mut self) -> Result<(), LabError> {
        self.set_clock(EXCHANGES_BESIDE)
    }

    fn set_clock(&mut self, exchanges: usize) -> Result<(), LabError> {
        if self.transport.as_ref().is_none_or(|transport| transport.shares_clock()) {
            return Ok(());
        }
        let mut seen = Vec::with_capacity(exchanges);
        for _ in 0..exchanges {
            let asked_ns = clock::now_ns();
            let Reply::Clock(theirs_ns) = self.order(&Order::Clock)? else {
                return Err(self.out_of_turn("no clock"));
            };
            seen.push((asked_ns, theirs_ns, clock::now_ns()));
        }
        let now_ns = clock::now_ns();
        let Some(found) = Offset::of(&seen) else { return Ok(()) };
        let known = self.offset;
        if known != Offset::NONE && !known.agrees(&found, now_ns) {
            self.offset = found;
            return Err(LabError::Clock { machine: self.name.clone() });
        }
        self.offset = if known == Offset::NONE { found } else { known.better(found, now_ns) };
        Ok(())
    }

    /// Gives an order and waits for the answer.
    ///
    /// # Errors
    /// What the agent refused; when it is gone or silent, or the run is stopped.
    pub fn order(&mut self, order: &Order) -> Result<Reply, LabError> {
        self.give(order)?;
        self.reply()
    }

    /// Gives an order without waiting.
    ///
    /// # Errors
    /// When the agent is gone.
    pub fn give(&mut self, order: &Order) -> Result<(), LabError> {
        self.given += 1;
        let body = serde_json::to_vec(&(self.given, order));
        let body = body.map_err(|e| broken(&self.name, e.into()))?;
        self.send(OWN, &body).map_err(|e| broken(&self.name, e))
    }

    /// Waits for the answer to the last order. Answers to those before, for which a trial that
    /// failed did not wait, count no more.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn reply(&mut self) -> Result<Reply, LabError> {
        let deadline = Instant::now() + ANSWER_MAX;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Heard::Message(body) = self.hear(OWN, left)? else {
                let (host, seconds) = (self.name.clone(), ANSWER_MAX.as_secs());
                return Err(LabError::Silent { host, seconds });
            };
            match serde_json::from_slice(&body) {
                Ok(Said::Reply(number, _)) if number < self.given => {}
                Ok(Said::Reply(_, Reply::Refused(why))) => return Err(self.refused(why)),
                Ok(Said::Reply(_, reply)) => return Ok(reply),
                _ => return Err(self.out_of_turn("no answer to an order")),
            }
        }
    }

    fn refused(&self, why: Refusal) -> LabError {
        match why {
            Refusal::Factor(what) => LabError::Factor(what),
            Refusal::Quota(what) => LabError::NoQuota(what),
            Refusal::Gone(host) => LabError::Gone(host),
            Refusal::Late(late) => LabError::Late { machine: self.name.clone(), late },
            Refusal::Lab(what) => LabError::Machine(what),
        }
    }

    /// Gives an order that is answered with nothing but success.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn must(&mut self, order: &Order) -> Result<(), LabError> {
        match self.order(order)? {
            Reply::Done => Ok(()),
            other => Err(self.out_of_turn(&format!("{other:?}"))),
        }
    }

    /// What it is, before a lab stands on it.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn environment(&mut self) -> Result<Environment, LabError> {
        match self.order(&Order::Environment)? {
            Reply::Environment(environment) => Ok(*environment),
            other => Err(self.out_of_turn(&format!("{other:?}"))),
        }
    }

    /// What can be done there, what these adapters are, and what killed runs left; see
    /// [`Order::Examine`].
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn examine(
        &mut self,
        adapters: Vec<String>,
        control: Vec<IpAddr>,
    ) -> Result<Examined, LabError> {
        match self.order(&Order::Examine(adapters, control))? {
            Reply::Examined(examined) => Ok(*examined),
            other => Err(self.out_of_turn(&format!("{other:?}"))),
        }
    }

    /// The facts that an order asks for.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn facts(&mut self, order: &Order) -> Result<Vec<Fact>, LabError> {
        match self.order(order)? {
            Reply::Facts(facts) => Ok(facts),
            other => Err(self.out_of_turn(&format!("{other:?}"))),
        }
    }

    /// The CPUs that an order asks for.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub fn cpus(&mut self, order: &Order) -> Result<Vec<u32>, LabError> {
        match self.order(order)? {
            Reply::Cpus(cpus) => Ok(cpus),
            other => Err(self.out_of_turn(&format!("{other:?}"))),
        }
    }

    /// The error for an answer of the wrong kind.
    #[must_use]
    pub fn out_of_turn(&self, what: &str) -> LabError {
        LabError::OutOfTurn { host: self.name.clone(), what: what.into() }
    }

    /// Sends a message to the host on a channel.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn send(&mut self, channel: u16, body: &[u8]) -> io::Result<()> {
        let closed = || io::Error::from(io::ErrorKind::NotConnected);
        self.transport.as_mut().ok_or_else(closed)?.send(channel, body)
    }

    /// Waits for a message on a channel, at most `within`.
    ///
    /// # Errors
    /// When the machine is gone, or the run is stopped.
    pub fn hear(&mut self, channel: u16, within: Duration) -> Result<Heard, LabError> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(body) = self.inbox.get_mut(&channel).and_then(VecDeque::pop_front) {
                return Ok(Heard::Message(body));
            }
            if self.gone.contains(&channel) {
                return Ok(Heard::Gone);
            }
            if self.cancel.load(Ordering::Relaxed) {
                return Err(LabError::Cancelled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if !self.pump(left.min(LOOK))? && left.is_zero() {
                return Ok(Heard::Nothing);
            }
        }
    }

    /// Takes in what has come, without waiting.
    ///
    /// # Errors
    /// When the machine is gone, or the run is stopped.
    pub fn take_in(&mut self) -> Result<(), LabError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(LabError::Cancelled);
        }
        while self.pump(Duration::ZERO)? {}
        Ok(())
    }

    /// Whether the host on a channel is gone, by what was taken in.
    #[must_use]
    pub fn has_lost(&self, channel: u16) -> bool {
        self.gone.contains(&channel)
    }

    /// All hosts are new, and nothing that the old ones said counts.
    pub fn forget_hosts(&mut self) {
        self.inbox.retain(|channel, _| *channel == OWN);
        self.gone.clear();
    }

    /// Takes in a frame, waiting for it at most `within`; says whether one came.
    fn pump(&mut self, within: Duration) -> Result<bool, LabError> {
        let name = &self.name;
        let Some(transport) = &mut self.transport else {
            return Err(LabError::Lost(name.clone()));
        };
        let wait = Timespec {
            tv_sec: i64::try_from(within.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(within.subsec_nanos()),
        };
        let socket = transport.socket();
        match rustix::event::poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&wait)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(false),
            Ok(_) => {}
            Err(e) => return Err(broken(name, e.into())),
        }
        let frame = transport.receive().map_err(|e| broken(name, e))?;
        match (frame.channel, serde_json::from_slice(&frame.body)) {
            (KEEP_ALIVE, _) => {}
            (OWN, Ok(Said::Gone(channel))) => {
                self.gone.insert(channel);
            }
            (channel, _) => self.inbox.entry(channel).or_default().push_back(frame.body),
        }
        Ok(true)
    }

    /// Closes the connection. The agent ends all hosts and undoes all, wherever it is.
    fn close(&mut self) {
        self.lease = None;
        self.transport = None;
        if let Some(agent) = self.agent.take() {
            // A panic of its is told on standard error.
            let _ = agent.join();
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.close();
    }
}

fn broken(name: &str, source: io::Error) -> LabError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::NotConnected
        | io::ErrorKind::ConnectionReset => LabError::Lost(name.into()),
        _ => LabError::Wire { host: name.into(), source },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pair;
    use super::*;
    use std::thread;

    static RUNS: AtomicBool = AtomicBool::new(false);
    static STOPPED: AtomicBool = AtomicBool::new(true);

    /// An agent that says this to each order, and then hangs up.
    fn agent(replies: Vec<Vec<Said>>) -> (Box<dyn Transport>, JoinHandle<()>) {
        let [ours, mut theirs] = Pair::new().unwrap();
        let serve = move || {
            for said in replies {
                theirs.receive().unwrap();
                for word in said {
                    theirs.send(OWN, &serde_json::to_vec(&word).unwrap()).unwrap();
                }
            }
        };
        (Box::new(ours), thread::spawn(serve))
    }

    fn greeted(mut replies: Vec<Vec<Said>>) -> Result<Machine, LabError> {
        replies.insert(0, vec![Said::Reply(1, Reply::Done)]);
        let (transport, agent) = agent(replies);
        Machine::greet("m", transport, Some(agent), &RUNS)
    }

    #[test]
    fn an_agent_that_refuses_says_why_and_one_that_ends_is_gone() {
        let refused = Reply::Refused(Refusal::Lab("of version 9".into()));
        let (transport, thread) = agent(vec![vec![Said::Reply(1, refused)]]);
        let said = Machine::greet("m", transport, Some(thread), &RUNS).unwrap_err();
        assert_eq!(said.to_string(), "of version 9");
        let mut machine = greeted(Vec::new()).unwrap();
        let gone = machine.order(&Order::Cpus).unwrap_err();
        assert!(matches!(gone, LabError::Lost(ref name) if name == "m"), "{gone}");
    }

    #[test]
    fn a_machine_that_read_late_has_disturbed_the_trial() {
        let late = Refusal::Late(Duration::from_millis(812));
        let mut machine = greeted(vec![vec![Said::Reply(2, Reply::Refused(late))]]).unwrap();
        let said = machine.order(&Order::Closes(1)).unwrap_err();
        assert_eq!(
            said.into_fault().to_string(),
            "host m: its agent read the probes 812 ms late; was it stopped, or the machine?"
        );
    }

    #[test]
    fn a_host_that_ends_is_known_without_asking() {
        let late = Said::Reply(1, Reply::Done);
        let said = vec![Said::Gone(2), late, Said::Reply(2, Reply::Cpus(vec![1]))];
        let mut machine = greeted(vec![said]).unwrap();
        assert_eq!(machine.order(&Order::Cpus).unwrap(), Reply::Cpus(vec![1]));
        assert_eq!(machine.hear(2, Duration::from_secs(9)).unwrap(), Heard::Gone);
        machine.forget_hosts();
        assert!(!machine.has_lost(2));
    }

    #[test]
    fn a_run_that_is_stopped_waits_for_nobody() {
        let [ours, _theirs] = Pair::new().unwrap();
        let said = Machine::greet("m", Box::new(ours), None, &STOPPED).unwrap_err();
        assert!(matches!(said, LabError::Cancelled), "{said}");
    }
}
