//! Knows one host's side of `tcp_stream`: it listens or connects, runs the threads, reads counters.
//!
//! Must not know the other hosts; the conductor tells it all it needs.

use super::congestion;
use super::generator::{Counters, receive_requests, send_batches, send_requests};
use super::low_water;
use super::mark::{self, Interface, Watched};
use super::memory;
use super::message::{Engine, FromPart, HostMark, Sender, StreamEnd, ToPart, Traffic};
use super::paced::send_paced;
use super::receiver::{Take, receive_ring, receive_unseen};
use super::sender::Way;
use crate::engine::net::account::own_number;
use crate::engine::net::content::{PERIOD, Paged, content};
use crate::engine::net::lent::Lent;
use crate::engine::net::opening;
use crate::engine::net::schedule::Schedule;
use crate::engine::net::stage::{PlannedEnd, accept_all, connect_all};
use crate::engine::net::streams::StreamPlan;
use crate::engine::net::{Account, End, Gate};
use rig::lab::agent;
use rig::lab::{clock, cpus};
use rig::metal::{DIGEST, Span, digest};
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is looked whether all streams have ended after the stop.
const LOOK: Duration = Duration::from_millis(1);

/// One stream that stands.
struct Stream {
    id: u32,
    sends: bool,
    socket: Arc<TcpStream>,
    counters: Arc<Counters>,
    schedule: Option<Schedule>,
    account: Account,
    thread: Option<JoinHandle<io::Result<bool>>>,
    /// Of what it sends, if it does.
    digest: Option<u64>,
}

/// This host's end of all its streams.
#[derive(Default)]
pub struct Streams {
    gate: Arc<Gate>,
    listener: Option<TcpListener>,
    expected: Vec<StreamPlan>,
    traffic: Option<Traffic>,
    streams: Vec<Stream>,
    interface: Option<Interface>,
    refused: u64,
    /// How much memory each end works in beyond what a call needs, bytes.
    memory: usize,
}

impl End for Streams {
    type Stage = ToPart;
    type Staged = FromPart;
    type Mark = HostMark;
    /// What each stream did in all, openings refused, and everything after the end.
    type Ended = (Vec<StreamEnd>, u64, HostMark);

    fn stage(&mut self, order: ToPart) -> Result<FromPart, String> {
        match order {
            ToPart::Listen(address, expected, traffic) => {
                self.reset();
                self.listen(address, expected, traffic)
            }
            ToPart::Accept => self.accept(),
            ToPart::Connect(server, streams, traffic) => {
                self.reset();
                self.connect(server, &streams, traffic)
            }
        }
    }

    fn go(&mut self) {
        self.limit_time();
        self.gate.go();
    }

    fn done(&self) -> u64 {
        let receivers = self.streams.iter().filter(|s| !s.sends);
        receivers.map(|s| s.counters.bytes.load(Relaxed)).sum()
    }

    fn mark(&mut self, at_ns: u64, _: Span) -> Result<HostMark, String> {
        clock::sleep_until(at_ns);
        self.read()
    }

    fn stop(&mut self, drain: Duration) -> Result<Self::Ended, String> {
        self.gate.stop(clock::now_ns() + u64::try_from(drain.as_nanos()).unwrap_or(0));
        self.hang_up(Instant::now() + drain);
        let ends = self.streams.iter_mut().map(Stream::join).collect();
        // All threads have ended, all connections are still there.
        let mark = self.read();
        self.streams.clear();
        Ok((ends, self.refused, mark?))
    }
}

impl Streams {
    /// Ends whatever an earlier trial left.
    fn reset(&mut self) {
        if !self.streams.is_empty() {
            let _ = self.stop(Duration::ZERO);
        }
        *self = Self::default();
    }

    fn listen(
        &mut self,
        address: IpAddr,
        expected: Vec<StreamPlan>,
        traffic: Traffic,
    ) -> Result<FromPart, String> {
        let fail = |e: io::Error| format!("listen: {e}");
        let listener = opening::listen(address, expected.len()).map_err(fail)?;
        if let Some(name) = &traffic.congestion {
            // A name that cannot be had is refused before a single stream opens.
            congestion::set(&listener, name)?;
        }
        listener.set_nonblocking(true).map_err(fail)?;
        let port = listener.local_addr().map_err(fail)?.port();
        self.interface = Some(Interface::open(&traffic.interface)?);
        self.listener = Some(listener);
        self.memory = memory_of(&traffic, expected.len())?;
        self.expected = expected;
        self.traffic = Some(traffic);
        Ok(FromPart::Listening(port))
    }

    fn accept(&mut self) -> Result<FromPart, String> {
        let listener = self.listener.take().ok_or("nothing to accept: listen first")?;
        let traffic = self.traffic.clone().ok_or("nothing to accept: listen first")?;
        let expected = (&traffic.secret, std::mem::take(&mut self.expected));
        self.refused =
            accept_all(&listener, expected, |end, socket| self.begin(end, socket, &traffic))?;
        Ok(FromPart::Standing(self.read()?))
    }

    fn connect(
        &mut self,
        server: SocketAddr,
        streams: &[StreamPlan],
        traffic: Traffic,
    ) -> Result<FromPart, String> {
        self.interface = Some(Interface::open(&traffic.interface)?);
        self.memory = memory_of(&traffic, streams.len())?;
        let all = (&traffic.secret, streams);
        connect_all(server, all, |end, socket| self.begin(end, socket, &traffic))?;
        self.traffic = Some(traffic);
        Ok(FromPart::Standing(self.read()?))
    }

    /// Starts the thread of a stream; it waits at the gate.
    fn begin(
        &mut self,
        (plan, sends, cpu): PlannedEnd<'_>,
        socket: TcpStream,
        traffic: &Traffic,
    ) -> Result<(), String> {
        let id = plan.id;
        if let (true, Some(name)) = (sends, &traffic.congestion) {
            congestion::set(&socket, name)?;
        }
        let pace = traffic.pace.as_ref().filter(|_| sends);
        let schedule = pace.map(|pace| Schedule::of(pace, plan.turn));
        let fail = |e: io::Error| format!("stream {id}: {e}");
        if !sends {
            // A time-out would be a timer for every call that sleeps: 2 to 3 % at 64 KiB. At the
            // end a sleeper is woken by hanging up instead.
            socket.set_read_timeout(None).map_err(fail)?;
        }
        if !sends && traffic.engine == Engine::Batch && traffic.pace.is_none() {
            low_water::set(&socket).map_err(fail)?;
        }
        let socket = Arc::new(socket);
        let counters = Arc::new(Counters::default());
        let request = traffic.request_bytes;
        let mut content =
            content(traffic.seed, id, if sends { self.memory } else { 0 }.max(request));
        // What follows repeats it.
        let first = &content[..content.len().min(PERIOD + request.max(size_of::<u64>()))];
        let digest = sends.then(|| digest(DIGEST, first));
        if sends && agent::plants_wrong_data() {
            content[0] ^= 1;
        }
        let work = match sends {
            true => Work::Send(Way::of(traffic.sender, &socket, traffic.call_requests)?),
            false => Work::Receive(Take::of(traffic.receiver, traffic.read_bytes, self.memory)?),
        };
        let worker = Worker {
            socket: Arc::clone(&socket),
            counters: Arc::clone(&counters),
            gate: Arc::clone(&self.gate),
            content: Content::of(content, sends && traffic.sender.lends()).map_err(fail)?,
            traffic: traffic.clone(),
            memory: self.memory,
            schedule,
            work,
        };
        let thread = thread::Builder::new()
            .name(format!("stream {id}"))
            .stack_size(256 << 10)
            .spawn(move || worker.run(cpu))
            .map_err(fail)?;
        let (thread, account) = (Some(thread), Account::default());
        let stream = Stream { id, sends, socket, counters, schedule, account, thread, digest };
        self.streams.push(stream);
        Ok(())
    }

    /// Whatever happens to the conductor, the load ends.
    fn limit_time(&self) {
        let Some(traffic) = &self.traffic else { return };
        let gate = Arc::clone(&self.gate);
        let longest = Duration::from_millis(traffic.run_ms_max);
        thread::spawn(move || gate.limit(longest));
    }

    fn read(&mut self) -> Result<HostMark, String> {
        let interface =
            self.interface.as_mut().ok_or("nothing to read: listen or connect first")?;
        let mut streams: Vec<Watched> = self.streams.iter_mut().map(Stream::watched).collect();
        mark::read(&mut streams, interface, &self.gate)
    }

    /// Waits for the threads to end by themselves, and wakes those that sleep in a call after that.
    fn hang_up(&self, deadline: Instant) {
        while !self.streams.iter().all(Stream::has_ended) && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        for stream in self.streams.iter().filter(|s| !s.has_ended()) {
            let side = if stream.sends { Shutdown::Write } else { Shutdown::Read };
            // The other end may have closed it already, which wakes as well.
            let _ = stream.socket.shutdown(side);
        }
    }
}

impl Stream {
    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn join(&mut self) -> StreamEnd {
        let gone = || Err(io::Error::other("panicked"));
        let outcome = self.thread.take().map_or_else(gone, |t| t.join().unwrap_or_else(|_| gone()));
        StreamEnd {
            id: self.id,
            sends: self.sends,
            bytes: self.counters.bytes.load(Relaxed),
            checks: self.counters.checks.load(Relaxed),
            zero_copy: [&self.counters.told, &self.counters.copied].map(|of| of.load(Relaxed)),
            complete: matches!(outcome, Ok(true)),
            error: outcome.err().map(|e| e.to_string()),
            digest: self.digest,
        }
    }

    fn watched(&mut self) -> Watched<'_> {
        Watched {
            id: self.id,
            sends: self.sends,
            socket: &self.socket,
            counters: &self.counters,
            schedule: self.schedule.as_ref(),
            account: &mut self.account,
        }
    }
}

/// How much memory each of so many ends of a host works in beyond what a call needs, bytes.
fn memory_of(traffic: &Traffic, ends: usize) -> Result<usize, String> {
    let call = traffic.read_bytes.max(traffic.request_bytes * traffic.call_requests);
    if traffic.cold { memory::cold(ends, call) } else { Ok(0) }
}

/// What is sent, or what is compared with it.
enum Content {
    /// Bytes that are read while a call lasts.
    Own(Paged),
    /// Bytes that the kernel may read after it.
    Lent(Lent),
}

impl Content {
    fn of(bytes: Paged, lends: bool) -> io::Result<Self> {
        if lends { Lent::copy_of(&bytes).map(Self::Lent) } else { Ok(Self::Own(bytes)) }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(bytes) => bytes,
        }
    }
}

/// What the thread of a stream does.
enum Work {
    Send(Way),
    Receive(Take),
}

/// What the thread of a stream owns.
struct Worker {
    socket: Arc<TcpStream>,
    counters: Arc<Counters>,
    gate: Arc<Gate>,
    content: Content,
    traffic: Traffic,
    memory: usize,
    schedule: Option<Schedule>,
    work: Work,
}

impl Worker {
    fn run(mut self, cpu: Option<u32>) -> io::Result<bool> {
        self.counters.thread.store(own_number(), Relaxed);
        // The host's own thread may stand above the generators; they stand where stend was started.
        agent::take_started_nice()?;
        if let Some(cpu) = cpu {
            cpus::pin(cpu)?;
        }
        if matches!(self.work, Work::Send(_)) {
            // Receivers already wait in the kernel: a late one would find its window full.
            self.gate.wait();
        }
        match self.work() {
            // After the stop an end whose drain time is over hangs up; that is no fault.
            Err(e) if self.gate.stopped() && e.kind() != io::ErrorKind::InvalidData => Ok(false),
            done => done,
        }
    }

    fn work(&mut self) -> io::Result<bool> {
        let Self { socket, counters, content, traffic, gate, memory, schedule, work } = self;
        let (content, limits) = (content.bytes(), (&**gate, traffic.bytes_max));
        match work {
            Work::Send(way) => {
                let sent = send((socket, way), content, (traffic, *schedule), counters, limits);
                let settled = way.settle(socket, counters);
                sent.and(settled)?;
                socket.shutdown(Shutdown::Write)?;
                Ok(true)
            }
            Work::Receive(Take::Copy) => {
                let sizes = (traffic.read_bytes, *memory);
                receive_requests(socket, content, sizes, counters, limits)
            }
            Work::Receive(Take::Ring(ring)) => {
                receive_ring((socket, ring), content, counters, limits)
            }
            Work::Receive(take) => {
                receive_unseen((socket, take), content, traffic.read_bytes, counters, limits)
            }
        }
    }
}

/// Sends until the gate stops it.
fn send(
    (socket, way): (&TcpStream, &mut Way),
    content: &[u8],
    (traffic, schedule): (&Traffic, Option<Schedule>),
    counters: &Counters,
    limits: (&Gate, u64),
) -> io::Result<()> {
    let (request, calls) = (traffic.request_bytes, traffic.call_requests);
    match (schedule, traffic.engine, traffic.sender) {
        (Some(schedule), ..) => {
            send_paced((socket, way), content, (request, calls, &schedule), counters, limits)
        }
        (None, Engine::Sys, Sender::Write) => {
            send_requests(socket, content, request, counters, limits)
        }
        (None, ..) => send_batches((socket, way), content, (request, calls), counters, limits),
    }
}
