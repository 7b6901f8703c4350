//! Knows how a lab on one machine is put together: the system under test, clients, a switch, links.
//!
//! Must not know what is measured in it, nor which factor changes what.

use super::cgroup::ControlGroups;
use super::error::LabError;
use super::host::{self, Host, ProcessHost};
use super::ours::Ours;
use super::quota::Quotas;
use super::undo::{Intent, Journal, Kind};
use super::wire::{Answer, LinkAnswer, LinkRequest, Request};
use super::{clock, namespace};
use desk::record::{Fact, LabKind};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Which kind of place a person asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The best that the kernel grants.
    Best,
    /// This one or none.
    Only(LabKind),
}

/// What to build.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// Kind of place.
    pub wanted: Wanted,
    /// Number of clients, 1-64.
    pub clients: u32,
    /// Names of the links of the system under test.
    pub links: Vec<String>,
    /// The stend binary that hosts are executed from.
    pub binary: PathBuf,
}

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Index of the host.
    pub host: usize,
    /// Interface name there.
    pub name: String,
    /// What it is.
    pub role: EndRole,
}

/// What an interface is to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRole {
    /// An adapter of the system under test or of a client.
    Adapter,
    /// The switch's port towards the system under test.
    PortToSut,
    /// The switch's port towards a client.
    PortToClient,
    /// The bridge itself.
    Bridge,
}

/// A lab that stands: hosts and links. Everything goes when it is dropped.
#[derive(Debug)]
pub struct Lab {
    /// Where the hosts live.
    pub kind: LabKind,
    /// Why there, in words of the kernel; empty when it is the best kind.
    pub reason: String,
    /// Names of the links.
    pub links: Vec<String>,
    pub(super) hosts: Vec<ProcessHost>,
    clients: u32,
    /// Whether its namespaces have names, which others can see.
    named: bool,
    pub(super) groups: ControlGroups,
    pub(super) quotas: Quotas,
    /// Names and groups of this lab, as they stand in the journal.
    written: Option<(Journal, Vec<u64>)>,
}

/// Pause between two looks at the hosts while waiting, nanoseconds.
const LOOK_NS: u64 = 50_000_000;
/// A wait ends this long before its moment, so that what comes then is in time, nanoseconds.
const NEAR_NS: u64 = 4_000_000;

/// Longest wait for the ports of the switch.
const PORTS_MAX: Duration = Duration::from_secs(3);

/// Index of the system under test among the hosts.
pub const SUT: usize = 0;

impl Lab {
    /// Builds a lab, falling back from root's namespaces to a user's to loopback.
    ///
    /// # Errors
    /// When a host does not start, or when the wanted kind is refused.
    pub fn build(blueprint: &Blueprint, cancel: &'static AtomicBool) -> Result<Self, LabError> {
        let kinds: Vec<LabKind> = match blueprint.wanted {
            Wanted::Only(kind) => vec![kind],
            Wanted::Best if rustix::process::geteuid().is_root() => {
                vec![LabKind::RootNamespaces, LabKind::UserNamespaces, LabKind::Loopback]
            }
            Wanted::Best => vec![LabKind::UserNamespaces, LabKind::Loopback],
        };
        let mut reasons: Vec<String> = Vec::new();
        for kind in &kinds {
            match Self::build_kind(blueprint, *kind, cancel) {
                Ok(mut lab) => {
                    lab.reason = reasons.join("; ");
                    return Ok(lab);
                }
                Err(LabError::Cancelled) => return Err(LabError::Cancelled),
                Err(e) if kinds.last() == Some(kind) => return Err(e),
                Err(e) => reasons.push(e.to_string()),
            }
        }
        Err(LabError::Cancelled)
    }

    fn build_kind(
        blueprint: &Blueprint,
        kind: LabKind,
        cancel: &'static AtomicBool,
    ) -> Result<Self, LabError> {
        if kind == LabKind::RootNamespaces {
            namespace::remove_stale();
        }
        let named = kind == LabKind::RootNamespaces;
        Self::raise(blueprint, (kind, named, ControlGroups::find()), cancel)
    }

    /// Builds a lab of one kind that nobody else can see: no names, no control groups, and so
    /// nothing to write down before. What dead conductors left stays where it is.
    ///
    /// # Errors
    /// When this kind is refused, in the words in which [`Self::build`] is refused.
    pub fn try_out(
        blueprint: &Blueprint,
        kind: LabKind,
        cancel: &'static AtomicBool,
    ) -> Result<Self, LabError> {
        Self::raise(blueprint, (kind, false, ControlGroups::default()), cancel)
    }

    fn raise(
        blueprint: &Blueprint,
        (kind, named, groups): (LabKind, bool, ControlGroups),
        cancel: &'static AtomicBool,
    ) -> Result<Self, LabError> {
        let mut lab = Self {
            kind,
            reason: String::new(),
            links: blueprint.links.clone(),
            hosts: Vec::new(),
            clients: blueprint.clients,
            named,
            groups,
            quotas: Quotas::default(),
            written: None,
        };
        lab.start_hosts(&blueprint.binary, cancel)?;
        if kind != LabKind::Loopback {
            lab.lay_cables()?;
        }
        Ok(lab)
    }

    /// Starts all processes; the first enters first, since the others join its user namespace.
    fn start_hosts(&mut self, binary: &Path, cancel: &'static AtomicBool) -> Result<(), LabError> {
        let mut names = vec!["sut".to_owned()];
        names.extend((1..=self.clients).map(|n| format!("c{n:02}")));
        if self.kind != LabKind::Loopback {
            names.push("switch".to_owned());
        }
        for name in &names {
            self.hosts.push(ProcessHost::start(name, binary, cancel)?);
        }
        self.write_down(&names, binary)?;
        let named = self.named;
        let enter = |name: &str, join| {
            let name = if named { name.to_owned() } else { String::new() };
            Request::Enter { kind: self.kind, name, join }
        };
        let requests: Vec<Request> = names.iter().map(|name| enter(name, self.join())).collect();
        host::exec(&mut self.hosts[SUT], &enter("sut", None))?;
        for (at, request) in requests.iter().enumerate().skip(1) {
            self.hosts[at].send(request)?;
        }
        for host in &mut self.hosts[1..] {
            host.receive(Duration::from_secs(10))?;
        }
        // The switch only holds bridges: what they cost is not its process's.
        for host in self.hosts.iter().take(self.clients as usize + 1) {
            self.groups.add(host.name(), host.pid());
        }
        Ok(())
    }

    /// Names of namespaces and groups stand in the journal before they are made. A lab has no names
    /// without it; groups are a second opinion, which it can do without.
    fn write_down(&mut self, hosts: &[String], binary: &Path) -> Result<(), LabError> {
        let intent = |host: &String, kind, path| Intent {
            key: host.clone(),
            kind,
            path,
            new: "present".into(),
        };
        let mut intents = Vec::new();
        let named = self.named;
        for host in hosts.iter().filter(|_| named) {
            let path = namespace::path_of(std::process::id(), host);
            intents.push(intent(host, Kind::Namespace, path));
        }
        for host in hosts.iter().take(self.clients as usize + 1) {
            let path = self.groups.path_of(host);
            intents.extend(path.map(|path| intent(host, Kind::Group, path)));
        }
        if intents.is_empty() {
            return Ok(());
        }
        let written = Journal::of_this_process(binary)
            .and_then(|journal| Ok((journal.intend(intents)?, journal)));
        match written {
            Ok((entries, journal)) => self.written = Some((journal, entries)),
            Err(e) if named => return Err(e.into()),
            Err(e) => self.groups.give_up(e.to_string()),
        }
        Ok(())
    }

    fn join(&self) -> Option<u32> {
        (self.kind == LabKind::UserNamespaces).then(|| self.hosts[SUT].pid())
    }

    /// Bridges, pairs and addresses: one bridge and one subnet a link, so that links share nothing.
    fn lay_cables(&mut self) -> Result<(), LabError> {
        let switch = self.switch();
        for at in 0..self.hosts.len() {
            self.quiet(at)?;
        }
        let mut work = Vec::new();
        for (number, link) in self.links.iter().enumerate() {
            work.push(LinkRequest::AddBridge(bridge_name(number)));
            work.push(LinkRequest::Up(bridge_name(number)));
            for at in 0..switch {
                let port = port_name(number, self.hosts[at].name());
                let pid = self.hosts[at].pid();
                work.push(LinkRequest::AddVeth(port.clone(), link.clone(), pid));
                work.push(LinkRequest::Master(port.clone(), bridge_name(number)));
                work.push(LinkRequest::Up(port));
            }
        }
        host::links(&mut self.hosts[switch], work)?;
        for at in 0..switch {
            let mut work = vec![LinkRequest::Up("lo".into())];
            for (number, link) in self.links.iter().enumerate() {
                work.push(LinkRequest::Address(link.clone(), address(number, at), 24));
                work.push(LinkRequest::Up(link.clone()));
            }
            host::links(&mut self.hosts[at], work)?;
        }
        self.wait_for_ports()
    }

    /// Waits until every port of the switch passes traffic: the kernel looks at carriers up to a
    /// second after they come, and what is sent before is lost.
    fn wait_for_ports(&mut self) -> Result<(), LabError> {
        let switch = self.switch();
        let mut ports = Vec::new();
        for number in 0..self.links.len() {
            ports.extend(self.hosts[..switch].iter().map(|h| port_name(number, h.name())));
        }
        let deadline = Instant::now() + PORTS_MAX;
        loop {
            let asked = ports.iter().cloned().map(LinkRequest::Info).collect();
            let answers = host::links(&mut self.hosts[switch], asked)?;
            let runs = |a: &LinkAnswer| matches!(a, LinkAnswer::Info(info) if info.running);
            // A port that stays silent shows in the first trial, as a stream that does not open.
            if answers.iter().all(runs) || Instant::now() > deadline {
                return Ok(());
            }
            clock::sleep_until(clock::now_ns() + 5_000_000);
        }
    }

    /// Kernel settings without which other things than the link would be measured.
    fn quiet(&mut self, at: usize) -> Result<(), LabError> {
        // Address detection of IPv6 would send packets into the first trials; the bridge must not
        // show our frames to iptables (costs about a seventh without segmentation offload).
        let settings = [
            ("ipv6/conf/all/disable_ipv6", "1"),
            ("ipv6/conf/default/disable_ipv6", "1"),
            ("bridge/bridge-nf-call-iptables", "0"),
            // What one connection learnt of a path must not shape the next trial's.
            ("ipv4/tcp_no_metrics_save", "1"),
        ];
        let mut work = Vec::new();
        for (path, value) in settings {
            work.push(LinkRequest::SetSettingIfThere(path.into(), value.into()));
        }
        host::links(&mut self.hosts[at], work).map(|_| ())
    }

    /// Number of clients.
    #[must_use]
    pub const fn clients(&self) -> u32 {
        self.clients
    }

    /// Indexes of the clients among the hosts.
    #[must_use]
    pub const fn client_indexes(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.clients as usize
    }

    /// A host by index: [`SUT`], then the clients.
    #[must_use]
    pub fn host(&mut self, at: usize) -> &mut dyn Host {
        &mut self.hosts[at]
    }

    /// Name of a host.
    #[must_use]
    pub fn name(&self, at: usize) -> &str {
        self.hosts[at].name()
    }

    /// Which processes and control groups of the machine are this lab's.
    #[must_use]
    pub fn ours(&self) -> Ours {
        let hosts = self.hosts.iter().map(|host| (host.name().to_owned(), host.pid())).collect();
        Ours { hosts, groups: self.groups.readable(), quotas: self.quotas.groups() }
    }

    /// Says where the hosts' control groups are, or why there are none.
    #[must_use]
    pub fn groups_fact(&self) -> Fact {
        self.groups.fact()
    }

    /// Address of the system under test on a link; on loopback always 127.0.0.1.
    #[must_use]
    pub fn sut_address(&self, link: &str) -> Ipv4Addr {
        if self.kind == LabKind::Loopback {
            return Ipv4Addr::LOCALHOST;
        }
        address(self.links.iter().position(|l| l == link).unwrap_or(0), SUT)
    }

    /// Every interface of a link; empty on loopback, where there are no links.
    #[must_use]
    pub fn ends(&self, link: &str) -> Vec<LinkEnd> {
        let Some(number) = self.links.iter().position(|l| l == link) else { return Vec::new() };
        if self.kind == LabKind::Loopback {
            return Vec::new();
        }
        let switch = self.switch();
        let mut ends = Vec::new();
        for at in 0..switch {
            let name = port_name(number, self.hosts[at].name());
            let role = if at == SUT { EndRole::PortToSut } else { EndRole::PortToClient };
            ends.push(LinkEnd { host: at, name: link.into(), role: EndRole::Adapter });
            ends.push(LinkEnd { host: switch, name, role });
        }
        ends.push(LinkEnd { host: switch, name: bridge_name(number), role: EndRole::Bridge });
        ends
    }

    /// Waits until just before a moment of the monotonic clock; looks 20 times a second whether the
    /// run is stopped or a host is gone.
    ///
    /// # Errors
    /// When it is.
    pub fn wait_until(&mut self, at_ns: u64) -> Result<(), LabError> {
        let until_ns = at_ns.saturating_sub(NEAR_NS);
        loop {
            for host in &mut self.hosts {
                host.check()?;
            }
            let now_ns = clock::now_ns();
            if now_ns >= until_ns {
                return Ok(());
            }
            clock::sleep_until(until_ns.min(now_ns + LOOK_NS));
        }
    }

    /// Asks several hosts at once and waits for all; their answers come in the order of asking.
    ///
    /// # Errors
    /// The first failure, after every host that was asked has answered or failed.
    pub fn ask(
        &mut self,
        requests: &[(usize, Request)],
        within: Duration,
    ) -> Result<Vec<Answer>, LabError> {
        self.send(requests)?;
        self.receive(requests, within)
    }

    /// Asks several hosts without waiting.
    ///
    /// # Errors
    /// The first host that is gone; hosts asked before it then owe an answer.
    pub fn send(&mut self, requests: &[(usize, Request)]) -> Result<(), LabError> {
        requests.iter().try_for_each(|(at, request)| self.hosts[*at].send(request))
    }

    /// Waits for the answers to [`Self::send`], all of them within one time.
    ///
    /// # Errors
    /// The first failure, after every host that was asked has answered or failed.
    pub fn receive(
        &mut self,
        asked: &[(usize, Request)],
        within: Duration,
    ) -> Result<Vec<Answer>, LabError> {
        let deadline = Instant::now() + within;
        let left = || deadline.saturating_duration_since(Instant::now());
        let answers: Vec<_> = asked.iter().map(|(at, _)| self.hosts[*at].receive(left())).collect();
        answers.into_iter().collect()
    }

    /// Link operations on several hosts at once, a list a host.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_links(
        &mut self,
        work: Vec<(usize, Vec<LinkRequest>)>,
    ) -> Result<Vec<Vec<LinkAnswer>>, LabError> {
        let requests: Vec<(usize, Request)> =
            work.into_iter().map(|(at, list)| (at, Request::Links(list))).collect();
        let answers = self.ask(&requests, Duration::from_secs(20))?;
        let mut lists = Vec::new();
        for ((at, _), answer) in requests.iter().zip(answers) {
            match answer {
                Answer::Links(list) => lists.push(list),
                other => return Err(host::out_of_turn(&self.hosts[*at], &other)),
            }
        }
        Ok(lists)
    }

    const fn switch(&self) -> usize {
        self.clients as usize + 1
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.take_down();
    }
}

impl Lab {
    /// Ends all hosts; their namespaces, links and sockets go with them.
    pub fn take_down(&mut self) {
        if self.named {
            for host in &self.hosts {
                namespace::remove_name(std::process::id(), host.name());
            }
        }
        self.hosts.clear();
        self.quotas.release();
        self.groups.remove();
        if let Some((journal, entries)) = self.written.take() {
            // All is gone by now; what is not, the guardian tries again.
            let _ = journal.undo(&entries);
        }
    }
}

fn bridge_name(link: usize) -> String {
    format!("br{link}")
}

fn port_name(link: usize, host: &str) -> String {
    format!("p{link}-{host}")
}

/// Addresses of the benchmarking range (RFC 2544 C.2.2): one /24 a link.
fn address(link: usize, host: usize) -> Ipv4Addr {
    let octet = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
    Ipv4Addr::new(198, 18, octet(link), if host == SUT { 1 } else { octet(host + 9) })
}
