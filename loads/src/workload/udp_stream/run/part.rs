//! Knows one host's side of `udp_stream`: it listens or connects, runs the threads, reads counters.
//!
//! Each stream has a connection, over which both ends tell their ports, and at the end its sender
//! how many datagrams it sent. Must not know the other hosts; the conductor tells it all it needs.

use super::mail;
use super::message::{Engine, FromPart, HostMark, StreamEnd, StreamMark, ToPart, Traffic};
use super::receive::receive;
use super::send::{Sending, send};
use super::tally::Tally;
use crate::engine::exchange::Shared;
use crate::engine::net::account::own_number;
use crate::engine::net::datagram::{Datagrams, UdpCounts, socket_beside};
use crate::engine::net::opening;
use crate::engine::net::schedule::Schedule;
use crate::engine::net::stage::{PlannedEnd, accept_all, connect_all};
use crate::engine::net::streams::StreamPlan;
use crate::engine::net::{Account, End};
use rig::lab::{IpVersion, Urgent, agent, clock, cpus};
use rig::metal::{DIGEST, Span, digest};
use rustix::net::{Shutdown, sockopt};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is looked whether all has come after the stop.
const LOOK: Duration = Duration::from_millis(1);
/// What has not come for so long after its sender's end is lost.
const QUIET: Duration = Duration::from_millis(20);
/// Header of UDP, bytes (RFC 768).
const UDP: usize = 8;

/// Counts of one stream; one writer, on a separate cache line.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct Counters {
    /// Datagrams sent, or received for the first time.
    pub moved: AtomicU64,
    /// Calls begun.
    pub calls: AtomicU64,
    /// Calls begun too late.
    pub late: AtomicU64,
    /// The thread's number in the kernel; 0 until it runs.
    pub thread: AtomicU32,
    /// Whether nothing more is received.
    pub hung_up: AtomicBool,
}

/// One stream that stands.
struct Stream {
    id: u32,
    sends: bool,
    connection: TcpStream,
    socket: Arc<UdpSocket>,
    counters: Arc<Counters>,
    schedule: Option<Schedule>,
    account: Account,
    thread: Option<JoinHandle<StreamEnd>>,
    digest: Option<u64>,
}

/// This host's end of all its streams.
#[derive(Default)]
pub struct Streams {
    shared: Option<Arc<Shared>>,
    listener: Option<TcpListener>,
    expected: Vec<StreamPlan>,
    traffic: Option<Traffic>,
    streams: Vec<Stream>,
    refused: u64,
}

impl End for Streams {
    type Stage = ToPart;
    type Staged = FromPart;
    type Mark = HostMark;
    /// What each stream did in all, and openings refused.
    type Ended = (Vec<StreamEnd>, u64);

    fn stage(&mut self, order: ToPart) -> Result<FromPart, String> {
        match order {
            ToPart::Listen(address, expected, traffic) => {
                self.reset(traffic)?;
                let listener = opening::listen(address, expected.len());
                let listener = listener.map_err(|e| format!("listen: {e}"))?;
                listener.set_nonblocking(true).map_err(|e| format!("listen: {e}"))?;
                let port = listener.local_addr().map_err(|e| format!("listen: {e}"))?.port();
                (self.listener, self.expected) = (Some(listener), expected);
                Ok(FromPart::Listening(port))
            }
            ToPart::Accept => self.accept(),
            ToPart::Connect(server, streams, traffic) => {
                self.reset(traffic.clone())?;
                self.connect(server, &streams, &traffic)
            }
        }
    }

    fn go(&mut self) {
        let (Some(shared), Some(traffic)) = (&self.shared, &self.traffic) else { return };
        shared.gate.go();
        // Whatever happens to the conductor, the load ends.
        let (shared, longest) = (Arc::clone(shared), Duration::from_millis(traffic.run_ms_max));
        thread::spawn(move || shared.gate.limit(longest));
    }

    fn done(&self) -> u64 {
        let receivers = self.streams.iter().filter(|s| !s.sends);
        receivers.map(|s| s.counters.moved.load(Relaxed)).sum()
    }

    fn mark(&mut self, at_ns: u64, window: Span) -> Result<HostMark, String> {
        if let Some(shared) = &self.shared {
            shared.announce(window);
        }
        clock::sleep_until(at_ns);
        Ok(self.read())
    }

    fn stop(&mut self, drain: Duration) -> Result<Self::Ended, String> {
        let Some(shared) = self.shared.clone() else { return Ok((Vec::new(), 0)) };
        shared.gate.stop(clock::now_ns() + u64::try_from(drain.as_nanos()).unwrap_or(0));
        let deadline = Instant::now() + drain;
        let all = std::mem::take(&mut self.streams).into_iter();
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = all.partition(|stream| stream.sends);
        // Receivers wait for what senders tell at their end.
        let mut ends: Vec<StreamEnd> = senders.iter_mut().map(Stream::join).collect();
        receivers.iter().for_each(|stream| stream.drain(deadline));
        ends.extend(receivers.iter_mut().map(Stream::join));
        let refused = self.refused;
        *self = Self::default();
        Ok((ends, refused))
    }
}

impl Streams {
    /// Ends whatever an earlier trial left.
    fn reset(&mut self, traffic: Traffic) -> Result<(), String> {
        let _ = self.stop(Duration::ZERO);
        *self = Self::default();
        self.shared = Some(Arc::new(Shared::new().map_err(|e| format!("threads: {e}"))?));
        self.traffic = Some(traffic);
        Ok(())
    }

    fn accept(&mut self) -> Result<FromPart, String> {
        let listener = self.listener.take().ok_or("nothing to accept: listen first")?;
        let traffic = self.traffic.clone().ok_or("nothing to accept: listen first")?;
        let expected = (&traffic.secret, std::mem::take(&mut self.expected));
        self.refused = accept_all(&listener, expected, |end, connection| {
            self.begin(end, connection, &traffic)
        })?;
        Ok(FromPart::Standing(()))
    }

    fn connect(
        &mut self,
        server: SocketAddr,
        streams: &[StreamPlan],
        traffic: &Traffic,
    ) -> Result<FromPart, String> {
        let all = (&traffic.secret, streams);
        connect_all(server, all, |end, connection| self.begin(end, connection, traffic))?;
        Ok(FromPart::Standing(()))
    }

    /// Makes the socket of a stream and starts its thread, which waits at the gate if it sends.
    fn begin(
        &mut self,
        (plan, sends, cpu): PlannedEnd<'_>,
        connection: TcpStream,
        traffic: &Traffic,
    ) -> Result<(), String> {
        let shared = self.shared.clone().ok_or("nothing to begin")?;
        let id = plan.id;
        let fail = |e: io::Error| format!("stream {id}: {e}");
        connection.set_read_timeout(Some(opening::LONGEST)).map_err(fail)?;
        let socket = Arc::new(socket_beside(&connection).map_err(fail)?);
        prepare(&socket, sends, traffic).map_err(fail)?;
        let (counters, account) = (Arc::new(Counters::default()), Account::default());
        let schedule =
            traffic.pace.as_ref().filter(|_| sends).map(|pace| Schedule::of(pace, plan.turn));
        let at_once = if sends { traffic.depth } else { 1 };
        let source = (traffic.seed, id);
        let mut datagrams = Datagrams::of(&traffic.secret, source, traffic.datagram, at_once);
        let digest = sends.then(|| digest(DIGEST, datagrams.content()));
        if sends && agent::plants_wrong_data() {
            datagrams.spoil();
        }
        let (own, counts) = (Arc::clone(&socket), Arc::clone(&counters));
        let Traffic { engine, depth, most, .. } = *traffic;
        let sending = Sending { engine, depth, schedule, most };
        let work = move || {
            counts.thread.store(own_number(), Relaxed);
            let both = (&*shared, &*counts);
            match sends {
                true => run_sender(&own, (&mut datagrams, cpu), &sending, both),
                false => run_receiver(&own, (&datagrams, cpu), &sending, both),
            }
        };
        let thread = thread::Builder::new().name(format!("stream {id}")).stack_size(256 << 10);
        let thread = Some(thread.spawn(work).map_err(fail)?);
        self.streams.push(Stream {
            id,
            sends,
            connection,
            socket,
            counters,
            schedule,
            account,
            thread,
            digest,
        });
        Ok(())
    }

    /// The counts come first and close together, then what may be read at ease.
    fn read(&mut self) -> HostMark {
        let at_ns = clock::now_ns();
        let cpu_ns = clock::process_cpu_ns();
        let mut streams: Vec<StreamMark> = self.streams.iter().map(Stream::counts).collect();
        let took_ns = clock::now_ns() - at_ns;
        Urgent::give_way();
        let went_ns = self.shared.as_ref().map_or(0, |shared| shared.gate.went_ns());
        for (mark, stream) in streams.iter_mut().zip(&mut self.streams) {
            let Counters { calls, late, thread, .. } = &*stream.counters;
            mark.thread = stream.account.read(thread.load(Relaxed));
            let so_far = (calls.load(Relaxed), late.load(Relaxed));
            let since = clock::now_ns() - went_ns;
            mark.pace = stream.schedule.map(|schedule| schedule.mark(since, so_far));
            let buffer = sockopt::socket_recv_buffer_size(&stream.socket);
            mark.buffer = buffer.map_or(0, |bytes| bytes as u64);
        }
        let kernel = UdpCounts::now();
        HostMark { at_ns, took_ns, cpu_ns, kernel, streams }
    }
}

/// Sets the options of a socket.
fn prepare(socket: &UdpSocket, sends: bool, traffic: &Traffic) -> io::Result<()> {
    if sends && traffic.engine == Engine::Segment {
        let (most, ip) = match socket.local_addr()?.is_ipv6() {
            true => (sockopt::ipv6_mtu(socket)?, IpVersion::Six.header()),
            false => (sockopt::ip_mtu(socket)?, IpVersion::Four.header()),
        };
        let (most, headers) = (most as usize, UDP + ip as usize);
        if traffic.datagram + headers > most {
            let what = format!(
                "a datagram of {} B and its headers of {headers} B do not fit a packet of {most} \
                 B, and the kernel cuts a call into whole packets; lower datagram or raise the MTU",
                traffic.datagram
            );
            return Err(io::Error::other(what));
        }
        return mail::cut(socket, traffic.datagram);
    }
    if sends {
        return Ok(());
    }
    if traffic.engine == Engine::Segment {
        mail::merge(socket)?;
    }
    let Some(asked) = traffic.socket_buffer else { return Ok(()) };
    // Who may not go beyond the limit of the machine gets what lies below.
    if sockopt::set_socket_recv_buffer_size_force(socket, asked).is_err() {
        sockopt::set_socket_recv_buffer_size(socket, asked)?;
    }
    // The kernel grants twice what is asked for, for its own records (socket(7)).
    let granted = sockopt::socket_recv_buffer_size(socket)? / 2;
    if granted < asked {
        let what = format!(
            "socket_buffer: asked {asked} B, the kernel grants {granted} B; raise \
             net.core.rmem_max or run as root"
        );
        return Err(io::Error::other(what));
    }
    Ok(())
}

fn ready(cpu: Option<u32>) -> io::Result<()> {
    // The host's own thread may stand above the generators; they stand where stend was started.
    agent::take_started_nice()?;
    cpu.map_or(Ok(()), cpus::pin)
}

fn run_sender(
    socket: &UdpSocket,
    (datagrams, cpu): (&mut Datagrams, Option<u32>),
    how: &Sending,
    (shared, counters): (&Shared, &Counters),
) -> StreamEnd {
    let sent = ready(cpu).and_then(|()| {
        shared.gate.wait();
        send(socket, datagrams, how, (shared, counters))
    });
    let mut end = StreamEnd { sends: true, ..StreamEnd::default() };
    match sent {
        Ok((moved, counted)) => (end.moved, end.counted) = (moved, counted),
        Err(e) => end.error = Some(e.to_string()),
    }
    end
}

fn run_receiver(
    socket: &UdpSocket,
    (datagrams, cpu): (&Datagrams, Option<u32>),
    how: &Sending,
    (shared, counters): (&Shared, &Counters),
) -> StreamEnd {
    let Some(mut tally) = Tally::new() else {
        let error = Some("no memory for a histogram".into());
        return StreamEnd { error, ..StreamEnd::default() };
    };
    let how = (how.engine, how.depth);
    let received = ready(cpu).and_then(|()| receive(socket, datagrams, how, counters, &mut tally));
    let mut end = tally.end();
    // After the stop a socket may say that its sender is gone; that is no fault.
    end.error = received
        .err()
        .filter(|e| !shared.gate.stopped() || e.kind() == io::ErrorKind::InvalidData)
        .map(|e| e.to_string());
    end
}

impl Stream {
    fn counts(&self) -> StreamMark {
        StreamMark {
            id: self.id,
            moved: self.counters.moved.load(Relaxed),
            dropped: mail::dropped(&self.socket).unwrap_or(0),
            ..StreamMark::default()
        }
    }

    /// Waits until all that was sent has come, or no more comes, and hangs up.
    fn drain(&self, deadline: Instant) {
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut sent = [0; 8];
        let wait = left().max(LOOK);
        let told = self.connection.set_read_timeout(Some(wait));
        let told = told.and_then(|()| (&self.connection).read_exact(&mut sent));
        let sent = told.map_or(u64::MAX, |()| u64::from_le_bytes(sent));
        let count = || self.counters.moved.load(Relaxed);
        let (mut before, mut since) = (count(), Instant::now());
        while before < sent && since.elapsed() < QUIET && !left().is_zero() {
            thread::sleep(LOOK);
            if count() != before {
                (before, since) = (count(), Instant::now());
            }
        }
        self.counters.hung_up.store(true, Relaxed);
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Read);
    }

    fn join(&mut self) -> StreamEnd {
        let gone = || StreamEnd { error: Some("panicked".into()), ..StreamEnd::default() };
        let end = self.thread.take().map_or_else(gone, |t| t.join().unwrap_or_else(|_| gone()));
        if self.sends {
            // The other end may be gone.
            let _ = (&self.connection).write_all(&end.moved.to_le_bytes());
        }
        let dropped = mail::dropped(&self.socket).unwrap_or(0);
        StreamEnd { id: self.id, sends: self.sends, dropped, digest: self.digest, ..end }
    }
}
