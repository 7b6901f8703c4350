//! Knows one host's side of an exchange: it listens or connects, runs the threads, reads counters.
//!
//! Must not know the other hosts; the conductor tells it all it needs.

use super::beside;
use super::bulk::Bulk;
use super::client::{Client, Counters, Operations, Shared, Strays};
use super::datagrams::{Carrier, echo_socket};
use super::order::{Lifetime, Order, ThreadPlan};
use super::take::{Counted, Take};
use crate::engine::net::account::own_number;
use crate::engine::net::admit::Admissions;
use crate::engine::net::datagram::{UdpCounts, socket_beside};
use crate::engine::net::opening::{self, Opening};
use crate::engine::net::{Account, At, Buffers, End, TcpFacts, ThreadMark, tcp_info};
use crate::engine::pace::Pacer;
use bytes::Bytes;
use desk::record::Settings;
use rig::lab::agent;
use rig::lab::{Urgent, clock, cpus};
use rig::metal::{Span, Stored, Unready};
use rig::probe::{accept_queue, tcp_counter};
use rig::service::{Kept, Wanted};
use rustix::net::Shutdown;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is looked whether all threads have ended after the stop.
const LOOK: Duration = Duration::from_millis(1);
/// A server that answered nothing for this long after the stop has answered all.
const QUIET: Duration = Duration::from_millis(10);
/// A program whose count did not change for this long has counted all: Apache counts a request
/// after its answer, and on a busy machine its thread may wait for a CPU in between.
const COUNTED: Duration = Duration::from_millis(100);

/// What travels: both ends of it.
pub trait Exchange: 'static {
    /// A thread of clients.
    type Client: Operations + Send + 'static;
    /// A thread of the server.
    type Server: Serve + Send + 'static;
    /// Whether connections are made before the go and kept; else the server's threads are handed
    /// a listener.
    const KEPT: bool;
    /// Whether each operation makes a connection of its own.
    const ANEW: bool = !Self::KEPT;
    /// What carries messages, where they are datagrams.
    const DATAGRAMS: Option<Carrier> = None;

    /// Whether its operations move many bytes, and how.
    const BULK: Option<Bulk> = None;

    /// Why this cannot be asked for, with the remedy.
    fn refuses(_: &Order) -> Option<String> {
        None
    }
    /// The server that answers in place of any of ours, and that stend did not start.
    fn external(_: &Order) -> Option<SocketAddr> {
        None
    }
    /// Whether no server of ours answers, so that it tells no count: stend did not start it, or a
    /// kernel answers.
    fn is_silent(order: &Order) -> bool {
        Self::external(order).is_some() || Self::DATAGRAMS == Some(Carrier::Icmp)
    }
    /// The service that answers in place of threads of ours.
    fn service(_: &Order) -> Option<String> {
        None
    }
    /// The key of the data set that is served, where it is one.
    fn data_set(_: &Order) -> Option<String> {
        None
    }
    /// What that service is told and given.
    fn program(_: &Order) -> Program {
        Program::default()
    }
    /// A thread of clients with its slots, and the digest of what it sends and expects.
    fn client(order: &Order, slots: Vec<Slot>) -> (Self::Client, u64);
    /// A thread of the server with its connections, or its listener.
    fn server(order: &Order, slots: Vec<Slot>, listener: &Arc<TcpListener>) -> Self::Server;
}

/// What a program under test is told, and its files below its run directory.
#[derive(Debug, Default)]
pub struct Program {
    /// Its settings.
    pub settings: BTreeMap<String, String>,
    /// Path and content of each.
    pub files: Vec<(String, Bytes)>,
}

/// A thread of the server.
pub trait Serve {
    /// Answers until all connections have ended, or somebody hangs up.
    ///
    /// # Errors
    /// What the socket says; a request that is not what it has to be.
    fn serve(&mut self, shared: &Shared, counters: &Arc<Counters>) -> io::Result<()>;
    /// Why it cannot begin, of what was prepared while it was made.
    fn lacks(&self) -> Option<Unready> {
        None
    }
    /// What was found while it was made.
    fn found(&self) -> Settings {
        Settings::new()
    }
}

/// One connection of a thread.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its number.
    pub id: u32,
    /// Where the server listens for it.
    pub server: SocketAddr,
    /// The connection, where it is kept.
    pub socket: Option<Arc<TcpStream>>,
    /// The socket of datagrams, where messages are datagrams.
    pub datagrams: Option<Arc<UdpSocket>>,
}

/// To a part, while the trial is staged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToPart {
    /// Server: listen, for these threads.
    Listen(IpAddr, Vec<ThreadPlan>, Order),
    /// Server: accept all connections that are kept.
    Accept,
    /// Client: make the connections of these threads, to these ports.
    Connect(IpAddr, Vec<u16>, Vec<ThreadPlan>, Order),
}

/// From a part, while the trial is staged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromPart {
    /// Listening on these ports; what a service says of its version.
    Listening(Vec<u16>, Option<String>),
    /// Everything stands; what was found on the host.
    Standing(Settings),
    /// The host lacks something for good.
    Lacks(String),
}

/// One host at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostMark {
    /// When it was read, nanoseconds.
    pub at_ns: u64,
    /// Time from the first count to the last, nanoseconds.
    pub took_ns: u64,
    /// CPU that the host's process had used, and its programs under test, nanoseconds.
    pub cpu_ns: u64,
    /// The part of each program under test.
    pub programs: BTreeMap<String, u64>,
    /// Its threads.
    pub threads: Vec<ThreadCount>,
    /// What the kernel's TCP says of the clients' connections that are kept.
    pub tcp: Vec<(u32, TcpFacts)>,
    /// Buffers of these, of bulk operations.
    pub buffers: Option<Buffers>,
    /// Acknowledgements that the kernel sent because its timer ended (`DelayedACKs`).
    pub delayed_acks: Option<u64>,
    /// Connections that the server had not accepted yet, and requests that waited in it for a
    /// worker, where it tells.
    pub queue: Option<u64>,
    /// Bytes that block devices served, of bulk operations.
    pub stored: Option<Stored>,
    /// What the kernel counts of all datagrams of the host, where messages are datagrams.
    pub udp: Option<UdpCounts>,
    /// Bytes of streams beside that arrived here.
    pub beside: u64,
    /// Whether one of them has ended.
    pub beside_ended: bool,
}

impl At for HostMark {
    fn at_ns(&mut self) -> &mut u64 {
        &mut self.at_ns
    }
}

/// One thread at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCount {
    /// Operations that were complete, or answered.
    pub done: u64,
    /// Operations that were due, in an open loop.
    pub due: u64,
    /// Bytes of responses, where they are counted; of bulk operations all that arrived here.
    pub received: u64,
    /// Of bulk operations, bytes that were sent from here.
    pub sent: u64,
    /// Time in calls on files, nanoseconds.
    pub filed_ns: u64,
    /// Datagrams that were no message that was waited for.
    pub strays: Strays,
    /// Its account, where the kernel keeps one.
    pub account: Option<ThreadMark>,
}

/// One thread over the whole trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ThreadEnd {
    /// Operations that were complete, or answered.
    pub done: u64,
    /// Bytes of responses, where they are counted; of bulk operations all that arrived here.
    pub received: u64,
    /// Of bulk operations, bytes that were sent from here.
    pub sent: u64,
    /// Operations that were due in the window and not begun.
    pub unsent: u64,
    /// What a thread of clients counted.
    pub counted: Counted,
    /// What ended it before its time.
    pub error: Option<String>,
}

struct Running {
    counters: Arc<Counters>,
    number: Arc<AtomicU32>,
    account: Account,
    thread: Option<JoinHandle<Finished>>,
}

/// A connection that is kept, and the socket of datagrams beside it.
type Sockets = (Arc<TcpStream>, Option<Arc<UdpSocket>>);

/// What a thread comes to: operations that were never begun, what it counted, what ended it.
type Finished = (io::Result<u64>, Counted);

/// This host's end of all its threads.
pub struct Side<E> {
    shared: Option<Arc<Shared>>,
    order: Option<Order>,
    plans: Vec<ThreadPlan>,
    listeners: Vec<Arc<TcpListener>>,
    kept: Vec<(u32, Arc<TcpStream>)>,
    datagrams: Vec<Arc<UdpSocket>>,
    running: Vec<Running>,
    /// Threads of streams beside.
    beside: Vec<Running>,
    serves: bool,
    /// Where it listens.
    ports: Vec<u16>,
    service: Option<Arc<Mutex<Kept>>>,
    /// A service of the trial before, which may serve the next one.
    spare: Option<Kept>,
    exchange: PhantomData<fn() -> E>,
}

impl<E> Default for Side<E> {
    fn default() -> Self {
        Self {
            shared: None,
            order: None,
            plans: Vec::new(),
            listeners: Vec::new(),
            kept: Vec::new(),
            datagrams: Vec::new(),
            running: Vec::new(),
            beside: Vec::new(),
            serves: false,
            ports: Vec::new(),
            service: None,
            spare: None,
            exchange: PhantomData,
        }
    }
}

impl<E: Exchange> End for Side<E> {
    type Stage = ToPart;
    type Staged = FromPart;
    type Mark = HostMark;
    type Ended = Vec<ThreadEnd>;

    fn stage(&mut self, order: ToPart) -> Result<FromPart, String> {
        match order {
            ToPart::Listen(address, threads, order) => self.listen(address, threads, order),
            ToPart::Accept => lacked(self.accept_all(), || "accept".to_owned()),
            ToPart::Connect(address, ports, threads, order) => {
                let connected = self.connect((address, &ports), threads, order);
                lacked(connected, || format!("connect to {address}"))
            }
        }
    }

    fn go(&mut self) {
        if let (Some(shared), Some(order)) = (&self.shared, &self.order) {
            let (shared, longest) = (Arc::clone(shared), order.longest);
            shared.gate.go();
            // Whatever happens to the conductor, the load ends.
            thread::spawn(move || {
                shared.gate.limit(longest);
                shared.wake();
            });
        }
    }

    fn done(&self) -> u64 {
        if E::BULK.is_some() {
            return self
                .running
                .iter()
                .map(|running| running.counters.received.load(Relaxed))
                .sum();
        }
        let clients = self.running.iter().filter(|_| !self.serves);
        clients.map(|running| running.counters.done.load(Relaxed)).sum()
    }

    fn mark(&mut self, at_ns: u64, window: Span) -> Result<HostMark, String> {
        if let Some(shared) = &self.shared {
            shared.announce(window);
        }
        clock::sleep_until(at_ns);
        Ok(self.read())
    }

    fn stop(&mut self, drain: Duration) -> Result<Vec<ThreadEnd>, String> {
        let Some(shared) = self.shared.clone() else { return Ok(Vec::new()) };
        shared.gate.stop(clock::now_ns() + u64::try_from(drain.as_nanos()).unwrap_or(0));
        shared.wake();
        let deadline = Instant::now() + drain;
        self.wait_for_threads(deadline);
        self.hang_up();
        shared.wake();
        let all = self.running.iter_mut().chain(&mut self.beside);
        let ends: Vec<ThreadEnd> = all.map(Running::join).collect();
        let spare = self.spare_of(&ends);
        *self = Self { spare, ..Self::default() };
        Ok(ends)
    }
}

impl<E: Exchange> Side<E> {
    /// The service of a trial without errors, where it may serve the next one.
    fn spare_of(&mut self, ends: &[ThreadEnd]) -> Option<Kept> {
        let lasts = |order: &Order| Lifetime::of(&order.params) != Lifetime::Trial;
        let is_good = ends.iter().all(|end| end.error.is_none());
        let service = self.service.take().filter(|_| is_good)?;
        self.order.as_ref().filter(|order| lasts(order))?;
        Arc::into_inner(service)?.into_inner().ok()
    }

    /// Ends whatever an earlier trial left.
    fn reset(&mut self, order: Order, plans: Vec<ThreadPlan>) -> io::Result<()> {
        let _ = self.stop(Duration::ZERO);
        *self = Self::default();
        self.shared = Some(Arc::new(Shared::new()?));
        (self.order, self.plans) = (Some(order), plans);
        Ok(())
    }

    fn listen(
        &mut self,
        address: IpAddr,
        threads: Vec<ThreadPlan>,
        order: Order,
    ) -> Result<FromPart, String> {
        let fail = |e: io::Error| format!("listen: {e}");
        if let Some(why) = E::refuses(&order) {
            return Err(why);
        }
        if E::is_silent(&order) {
            let port = E::external(&order).map(|external| external.port());
            self.reset(order, threads).map_err(fail)?;
            return Ok(FromPart::Listening(port.into_iter().collect(), None));
        }
        if let Some(service) = E::service(&order) {
            return self.put_up(address, service, (threads, order));
        }
        let count = if E::KEPT { 1 } else { threads.len() };
        let connections = threads.iter().map(|thread| thread.connections.len()).sum();
        self.reset(order, threads).map_err(fail)?;
        self.serves = true;
        let mut ports = Vec::new();
        for _ in 0..count {
            let listener = opening::listen(address, connections).map_err(fail)?;
            ports.push(listener.local_addr().map_err(fail)?.port());
            self.listeners.push(Arc::new(listener));
        }
        self.ports.clone_from(&ports);
        Ok(FromPart::Listening(ports, None))
    }

    /// Puts a program under test up, which listens.
    fn put_up(
        &mut self,
        address: IpAddr,
        service: String,
        (threads, order): (Vec<ThreadPlan>, Order),
    ) -> Result<FromPart, String> {
        let Program { settings, files } = E::program(&order);
        let wanted = Wanted { service, address, settings, cpus: order.cpus.clone() };
        let (spare, under) = (self.spare.take(), order.under.clone());
        self.reset(order, threads).map_err(|e| e.to_string())?;
        self.serves = true;
        let files: Vec<(String, &[u8])> =
            files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])).collect();
        let kept = Kept::put_up(spare, (wanted, under), &files)?;
        let (port, version) = (kept.port(), kept.version().to_owned());
        self.service = Some(Arc::new(Mutex::new(kept)));
        self.ports = vec![port];
        Ok(FromPart::Listening(vec![port], Some(version)))
    }

    /// A thread that counts for a program under test once the load is over.
    fn attend(&mut self, service: Arc<Mutex<Kept>>) -> io::Result<FromPart> {
        for plan in self.plans.clone() {
            let service = Arc::clone(&service);
            self.spawn(&plan, move |shared, counters| {
                (count_after(&service, shared, counters).map(|()| 0), Counted::default())
            })?;
        }
        Ok(FromPart::Standing(Settings::new()))
    }

    /// Accepts every connection that is kept; one that does not prove itself is closed.
    fn accept_all(&mut self) -> io::Result<FromPart> {
        if let Some(service) = self.service.clone() {
            return self.attend(service);
        }
        if self.order.as_ref().is_some_and(E::is_silent) {
            return Ok(FromPart::Standing(Settings::new()));
        }
        let (order, plans) = (self.order()?, self.plans.clone());
        let mut slots: Vec<Vec<Slot>> = vec![Vec::new(); plans.len()];
        let listener = self.listeners.first().cloned();
        let listener = listener.ok_or_else(|| io::Error::other("listen first"))?;
        let server = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let all =
            plans.iter().map(|plan| plan.connections.len()).sum::<usize>() + order.beside.len();
        let mut admissions = Admissions::of(&listener, &order.secret, all)?;
        listener.set_nonblocking(E::KEPT)?;
        while E::KEPT && self.kept.len() < all {
            let Some((socket, (id, _))) = admissions.admit()? else {
                let (missing, within) = (all - self.kept.len(), admissions.within.as_secs());
                let what = format!("{missing} did not open within {within} s");
                return Err(io::Error::other(what));
            };
            let place = plans.iter().position(|p| p.connections.iter().any(|(n, _)| *n == id));
            let is_beside = order.beside.contains(&id);
            if self.kept.iter().any(|(n, _)| *n == id) || (place.is_none() && !is_beside) {
                continue;
            }
            opening::accept(&socket)?;
            let Some(place) = place else {
                self.stream((id, socket), beside::is_sent_by_server(id), &order)?;
                continue;
            };
            let (socket, datagrams) = self.keep(id, socket)?;
            self.datagrams.extend(datagrams.clone());
            slots[place].push(Slot { id, server, socket: Some(socket), datagrams });
        }
        let mut found = Settings::new();
        let serving = plans.iter().zip(slots).enumerate();
        for (at, (plan, slots)) in serving {
            let listener = if E::KEPT { &listener } else { &self.listeners[at] };
            let mut server = E::server(&order, slots, listener);
            refuse(server.lacks())?;
            found.extend(server.found());
            self.spawn(plan, move |shared, counters| {
                (server.serve(shared, counters).map(|()| 0), Counted::default())
            })?;
        }
        Ok(FromPart::Standing(found))
    }

    fn connect(
        &mut self,
        (address, ports): (IpAddr, &[u16]),
        threads: Vec<ThreadPlan>,
        order: Order,
    ) -> io::Result<FromPart> {
        opening::refuse_stranger(address)?;
        self.reset(order.clone(), threads.clone())?;
        let mut found = Settings::new();
        for plan in &threads {
            let mut slots = Vec::new();
            for (id, thread) in &plan.connections {
                let port = ports.get(*thread).or(ports.first()).copied().unwrap_or(0);
                let server = SocketAddr::new(address, port);
                let kept = if E::KEPT { Some(self.open(*id, server, &order)?) } else { None };
                let (socket, datagrams) = kept.unzip();
                let datagrams = match E::DATAGRAMS {
                    Some(Carrier::Icmp) => Some(Arc::new(echo_socket(address)?)),
                    _ => datagrams.flatten(),
                };
                self.datagrams.extend(datagrams.clone());
                slots.push(Slot { id: *id, server, socket, datagrams });
            }
            let (mut operations, digest) = E::client(&order, slots);
            refuse(operations.lacks())?;
            found.extend(operations.found());
            let pace = plan.pace;
            let interval = pace.map(|pace| 1.0 / pace.rate);
            let slots = operations.slots();
            self.spawn(plan, move |shared, counters| {
                let Some(take) = Take::new(slots, interval) else {
                    let none = io::Error::other("no memory for histograms");
                    return (Err(none), Counted::default());
                };
                operations.count_in(counters);
                shared.gate.wait();
                let pacer = pace.map(|pace| Pacer::new(pace, shared.gate.went_ns()));
                let mut client = Client::new(operations, (shared, counters), take);
                let ended = client.run(pacer);
                let ended = ended.and_then(|unsent| client.operations.review().map(|()| unsent));
                (ended, Counted { digest, ..client.take.counted() })
            })?;
        }
        let own = threads.first().map_or(0, |plan| plan.host);
        for id in beside::of_client(&order.params, own) {
            let server = SocketAddr::new(address, ports.first().copied().unwrap_or(0));
            let socket = Self::dial(id, server, &order)?;
            self.stream((id, socket), !beside::is_sent_by_server(id), &order)?;
        }
        Ok(FromPart::Standing(found))
    }

    /// Keeps a stream that runs beside, and its thread, which waits for go.
    fn stream(
        &mut self,
        (id, socket): (u32, TcpStream),
        sends: bool,
        order: &Order,
    ) -> io::Result<()> {
        socket.set_read_timeout(None)?;
        let (socket, seed) = (Arc::new(socket), order.seed);
        self.kept.push((id, Arc::clone(&socket)));
        let running = self.start(None, move |shared, counters| {
            let ended = beside::run(&socket, sends, (seed, id), (shared, counters));
            (ended.map(|()| 0), Counted::default())
        })?;
        self.beside.extend(running);
        Ok(())
    }

    /// Makes a connection that is kept.
    fn open(&mut self, id: u32, server: SocketAddr, order: &Order) -> io::Result<Sockets> {
        let socket = Self::dial(id, server, order)?;
        self.keep(id, socket)
    }

    /// Connects, and waits until the server has accepted the opening.
    fn dial(id: u32, server: SocketAddr, order: &Order) -> io::Result<TcpStream> {
        let socket = TcpStream::connect_timeout(&server, opening::LONGEST)?;
        socket.set_read_timeout(Some(opening::LONGEST))?;
        (&socket).write_all(&Opening::of(id, 0, &order.secret).0)?;
        opening::accepted(&socket)?;
        Ok(socket)
    }

    /// Keeps a connection and, where messages are datagrams, makes the socket of them beside it.
    fn keep(&mut self, id: u32, socket: TcpStream) -> io::Result<Sockets> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(opening::LONGEST))?;
        let is_udp = E::DATAGRAMS == Some(Carrier::Udp);
        let datagrams = if is_udp { Some(Arc::new(socket_beside(&socket)?)) } else { None };
        socket.set_read_timeout(None)?;
        let socket = Arc::new(socket);
        self.kept.push((id, Arc::clone(&socket)));
        Ok((socket, datagrams))
    }

    fn order(&self) -> io::Result<Order> {
        self.order.clone().ok_or_else(|| io::Error::other("listen first"))
    }

    fn spawn(
        &mut self,
        plan: &ThreadPlan,
        work: impl FnOnce(&Shared, &Arc<Counters>) -> Finished + Send + 'static,
    ) -> io::Result<()> {
        let running = self.start(plan.cpu, work)?;
        self.running.extend(running);
        Ok(())
    }

    /// A thread on its CPU, if it has one; none where nothing is staged.
    fn start(
        &self,
        cpu: Option<u32>,
        work: impl FnOnce(&Shared, &Arc<Counters>) -> Finished + Send + 'static,
    ) -> io::Result<Option<Running>> {
        let Some(shared) = self.shared.clone() else { return Ok(None) };
        let (counters, number) = (Arc::new(Counters::default()), Arc::new(AtomicU32::new(0)));
        let (own, told) = (Arc::clone(&counters), Arc::clone(&number));
        let thread = thread::Builder::new().stack_size(256 << 10).spawn(move || {
            told.store(own_number(), Relaxed);
            let pinned = agent::take_started_nice().and_then(|()| cpu.map_or(Ok(()), cpus::pin));
            // What is closed in a table of its own stays open in the other: files would pile up.
            let apart = || if E::BULK.is_some() { Ok(()) } else { agent::own_descriptors() };
            let ready = pinned.and_then(|()| apart());
            match ready {
                Ok(()) => work(&shared, &own),
                Err(e) => (Err(e), Counted::default()),
            }
        })?;
        let (thread, account) = (Some(thread), Account::default());
        Ok(Some(Running { counters, number, account, thread }))
    }

    /// The counts come first and close together, then what may be read at ease.
    fn read(&mut self) -> HostMark {
        let at_ns = clock::now_ns();
        let of_service = |service: &Arc<Mutex<Kept>>| Some(service.lock().ok()?.cpu_ns());
        let programs = self.service.as_ref().and_then(of_service).unwrap_or_default();
        let cpu_ns = clock::process_cpu_ns() + programs.values().sum::<u64>();
        let count = |running: &Running| ThreadCount {
            done: running.counters.done.load(Relaxed),
            due: running.counters.due.load(Relaxed),
            received: running.counters.received.load(Relaxed),
            sent: running.counters.sent.load(Relaxed),
            filed_ns: running.counters.filed_ns.load(Relaxed),
            strays: running.counters.strays.now(),
            account: None,
        };
        let mut threads: Vec<ThreadCount> = self.running.iter().map(count).collect();
        let beside = self.beside.iter().map(|stream| stream.counters.received.load(Relaxed)).sum();
        let took_ns = clock::now_ns() - at_ns;
        let stored = E::BULK.and_then(|_| Stored::now());
        Urgent::give_way();
        for (mark, running) in threads.iter_mut().zip(&mut self.running) {
            mark.account = running.account.read(running.number.load(Relaxed));
        }
        let within = |service: &Arc<Mutex<Kept>>| service.lock().ok()?.waiting();
        let within = self.service.as_ref().map_or(Some(0), within);
        let queue =
            accept_queue(&self.ports).filter(|_| !E::KEPT && E::DATAGRAMS.is_none()).zip(within);
        // Of datagrams the connection beside them says nothing; of bulk either end may send.
        let tells = (!self.serves || E::BULK.is_some()) && E::DATAGRAMS.is_none();
        let kept = self.kept.iter().filter(|_| tells);
        let sockets = kept.clone().map(|(_, socket)| (&**socket, [true; 2]));
        let buffers = E::BULK.map(|_| Buffers::of(sockets));
        let tcp = kept.filter_map(|(id, socket)| Some((*id, tcp_info::read(socket).ok()?)));
        HostMark {
            at_ns,
            took_ns,
            cpu_ns,
            programs,
            threads,
            tcp: tcp.collect(),
            buffers,
            delayed_acks: tcp_counter("DelayedACKs").filter(|_| E::DATAGRAMS.is_none()),
            queue: queue.map(|(before, within)| before + within),
            stored,
            udp: (E::DATAGRAMS == Some(Carrier::Udp)).then(UdpCounts::now),
            beside,
            beside_ended: self.beside.iter().any(Running::has_ended),
        }
    }

    /// Waits for the threads to end by themselves. Those of a server that has a listener or
    /// datagrams do not: they have answered all when they answer no more.
    fn wait_for_threads(&self, deadline: Instant) {
        let answered = || -> u64 {
            self.running.iter().map(|running| running.counters.done.load(Relaxed)).sum()
        };
        let (mut before, mut since) = (answered(), Instant::now());
        while !self.running.iter().all(Running::has_ended) && Instant::now() < deadline {
            thread::sleep(LOOK);
            let now = answered();
            if now != before {
                (before, since) = (now, Instant::now());
            }
            if self.serves && (!E::KEPT || E::DATAGRAMS.is_some()) && since.elapsed() >= QUIET {
                return;
            }
        }
    }

    /// Wakes those that still sleep in a call; the other end may have closed it already.
    fn hang_up(&self) {
        for (_, socket) in &self.kept {
            let _ = rustix::net::shutdown(socket, Shutdown::Both);
        }
        for socket in &self.datagrams {
            let _ = rustix::net::shutdown(socket, Shutdown::Both);
        }
        for listener in &self.listeners {
            let _ = rustix::net::shutdown(listener, Shutdown::Both);
        }
    }
}

/// An error of what cannot begin.
fn refuse(lacks: Option<Unready>) -> io::Result<()> {
    lacks.map_or(Ok(()), |why| Err(io::Error::other(why)))
}

/// What a host lacks for good is an answer, and all else that went wrong an error.
fn lacked(told: io::Result<FromPart>, doing: impl Fn() -> String) -> Result<FromPart, String> {
    told.or_else(|e| match e.get_ref().and_then(|why| why.downcast_ref()) {
        Some(Unready::NotAvailable(what)) => Ok(FromPart::Lacks(what.clone())),
        _ => Err(format!("{}: {e}", doing())),
    })
}

/// Waits for the stop, and until a program under test has served all: its count is level.
fn count_after(service: &Mutex<Kept>, shared: &Shared, counters: &Counters) -> io::Result<()> {
    shared.gate.wait_until(u64::MAX);
    let mut before = None;
    loop {
        let mut service = service.lock().map_err(|_| io::Error::other("panicked"))?;
        let served = service.served().map_err(io::Error::other)?;
        drop(service);
        counters.done.store(served, Relaxed);
        if before == Some(served) {
            return Ok(());
        }
        before = Some(served);
        thread::sleep(COUNTED);
    }
}

impl Running {
    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn join(&mut self) -> ThreadEnd {
        let gone = || (Err(io::Error::other("panicked")), Counted::default());
        let (ended, counted) =
            self.thread.take().map_or_else(gone, |t| t.join().unwrap_or_else(|_| gone()));
        let Counters { done, received, sent, .. } = &*self.counters;
        let [done, received, sent] = [done, received, sent].map(|count| count.load(Relaxed));
        let unsent = ended.as_ref().copied().unwrap_or(0);
        let error = ended.err().map(|e| e.to_string());
        ThreadEnd { done, received, sent, unsent, counted, error }
    }
}
