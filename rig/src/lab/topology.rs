//! Knows how a lab on one machine is put together: the system under test, clients, a switch, links.
//!
//! Must not know what is measured in it, nor which factor changes what.

use super::clock;
use super::error::LabError;
use super::machine::{Heard, Machine, Order, Raise, Reply};
use super::quota::Side;
use super::standing::SUT;
use super::wire::{Answer, LinkAnswer, LinkRequest, Request};
use desk::record::{Fact, LabKind, LabPlan, LinkPlan, Settings, Way};
use std::net::Ipv4Addr;
use std::path::Path;
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
    /// Which hosts there are, and on which links.
    pub lab: LabPlan,
}

impl Blueprint {
    /// So many clients, each on all of these links, which are bridges.
    #[must_use]
    pub fn of_all(wanted: Wanted, clients: u32, links: &[&str]) -> Self {
        let links = links.iter().map(|name| LinkPlan::of_all(name)).collect();
        let (client_rate, settings, hosts) = (None, Settings::new(), Vec::new());
        Self { wanted, lab: LabPlan { clients, client_rate, settings, links, hosts } }
    }
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
    /// Whether it is an end of the narrow place of its link: the adapter of the first member, or
    /// what faces it.
    pub narrow: bool,
}

/// What an interface is to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRole {
    /// An adapter of a member.
    Adapter,
    /// The switch's port towards a member.
    Port,
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
    machine: Machine,
    /// Every host; its channel on the machine is its index and one.
    hosts: Vec<Seat>,
    /// Which hosts there are, and on which links; the switch is not among them.
    plan: LabPlan,
}

/// A host, as the conductor knows it.
#[derive(Clone, Debug)]
struct Seat {
    name: String,
    /// Its process, as its machine numbers it.
    pid: u32,
}

/// Pause between two looks at the hosts while waiting, nanoseconds.
const LOOK_NS: u64 = 50_000_000;
/// A wait ends this long before its moment, so that what comes then is in time, nanoseconds.
const NEAR_NS: u64 = 4_000_000;

/// Longest wait for link operations on a host.
const LINKS_MAX: Duration = Duration::from_secs(20);
/// Longest wait for the ports of the switch.
const PORTS_MAX: Duration = Duration::from_secs(3);

impl Lab {
    /// Builds a lab on a machine, falling back from root's namespaces to a user's to loopback.
    ///
    /// # Errors
    /// When a host does not start, or when the wanted kind is refused.
    pub fn build(blueprint: &Blueprint, mut machine: Machine) -> Result<Self, LabError> {
        let kinds: Vec<LabKind> = match blueprint.wanted {
            Wanted::Only(kind) => vec![kind],
            Wanted::Best if rustix::process::geteuid().is_root() => {
                vec![LabKind::RootNamespaces, LabKind::UserNamespaces, LabKind::Loopback]
            }
            Wanted::Best => vec![LabKind::UserNamespaces, LabKind::Loopback],
        };
        let mut reasons: Vec<String> = Vec::new();
        for kind in &kinds {
            match raise(&mut machine, blueprint, (*kind, true)) {
                Ok(hosts) => return Self::lay(machine, blueprint, (*kind, hosts), &reasons),
                Err(LabError::Cancelled) => return Err(LabError::Cancelled),
                Err(e) if kinds.last() == Some(kind) => return Err(e),
                Err(e) => reasons.push(e.to_string()),
            }
        }
        Err(LabError::Cancelled)
    }

    /// Builds a lab of one kind that nobody else can see: no names, no control groups, and so
    /// nothing to write down before. What dead conductors left stays where it is.
    ///
    /// # Errors
    /// When this kind is refused, in the words in which [`Self::build`] is refused.
    pub fn try_out(
        blueprint: &Blueprint,
        kind: LabKind,
        mut machine: Machine,
    ) -> Result<Self, LabError> {
        let hosts = raise(&mut machine, blueprint, (kind, false))?;
        Self::lay(machine, blueprint, (kind, hosts), &[])
    }

    /// Joins hosts that have been raised.
    fn lay(
        machine: Machine,
        blueprint: &Blueprint,
        (kind, hosts): (LabKind, Vec<Seat>),
        reasons: &[String],
    ) -> Result<Self, LabError> {
        let (plan, reason) = (blueprint.lab.clone(), reasons.join("; "));
        let mut lab = Self { kind, reason, machine, hosts, plan };
        if kind != LabKind::Loopback {
            lab.lay_cables()?;
        }
        Ok(lab)
    }

    /// Builds it anew on its machine: the same kind of place, or trials would not be comparable.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn rebuild(&mut self, blueprint: &Blueprint) -> Result<(), LabError> {
        self.machine.must(&Order::TakeDown)?;
        self.hosts = raise(&mut self.machine, blueprint, (self.kind, true))?;
        if self.kind == LabKind::Loopback { Ok(()) } else { self.lay_cables() }
    }

    /// Bridges, pairs, addresses and routes: one bridge or cable and one subnet a link, so that
    /// links share nothing. Who is no member of a link has no adapter on it.
    fn lay_cables(&mut self) -> Result<(), LabError> {
        let switch = self.switch();
        for at in 0..self.hosts.len() {
            self.quiet(at)?;
        }
        let bridged = self.cables();
        self.links_on(switch, bridged)?;
        for (number, link) in self.plan.links.clone().iter().enumerate() {
            if let (true, [one, other]) = (link.is_direct(), self.members(number).as_slice()) {
                let (name, pid) = (link.name.clone(), self.pid(*other));
                self.links_on(*one, vec![LinkRequest::AddVeth(name.clone(), name, pid)])?;
            }
        }
        for at in 0..switch {
            let mut work = vec![LinkRequest::Up("lo".into())];
            for (number, link) in self.plan.links.iter().enumerate() {
                if self.members(number).contains(&at) {
                    let name = link.name.clone();
                    work.push(LinkRequest::Address(name.clone(), address(number, at), 24));
                    work.push(LinkRequest::Up(name));
                }
            }
            work.extend(self.routes(at));
            self.links_on(at, work)?;
        }
        self.wait_for_ports()
    }

    /// What the switch makes: a bridge for each link that has one, and a port to each member.
    fn cables(&self) -> Vec<LinkRequest> {
        let mut work = Vec::new();
        let bridges = self.plan.links.iter().enumerate().filter(|(_, link)| !link.is_direct());
        for (number, link) in bridges {
            work.push(LinkRequest::AddBridge(bridge_name(number)));
            work.push(LinkRequest::Up(bridge_name(number)));
            for at in self.members(number) {
                let port = port_name(number, self.name(at));
                work.push(LinkRequest::AddVeth(port.clone(), link.name.clone(), self.pid(at)));
                work.push(LinkRequest::Master(port.clone(), bridge_name(number)));
                work.push(LinkRequest::Up(port));
            }
        }
        work
    }

    /// The routes of a host to links that it reaches over others, and whether it forwards itself.
    fn routes(&self, at: usize) -> Vec<LinkRequest> {
        let mut work = Vec::new();
        if at > self.plan.clients as usize {
            work.push(LinkRequest::SetSetting("ipv4/ip_forward".into(), "1".into()));
        }
        for (to, way) in self.plan.ways(at).into_iter().enumerate() {
            if let Way::Over { link, host } = way {
                work.push(LinkRequest::Route(network(to), 24, address(link, host)));
            }
        }
        work
    }

    /// Members of a link, by index.
    fn members(&self, number: usize) -> Vec<usize> {
        self.plan.links.get(number).map(|link| self.plan.members(link)).unwrap_or_default()
    }

    /// Waits until every port of the switch passes traffic: the kernel looks at carriers up to a
    /// second after they come, and what is sent before is lost.
    fn wait_for_ports(&mut self) -> Result<(), LabError> {
        let switch = self.switch();
        let mut ports = Vec::new();
        for (number, _) in self.plan.links.iter().enumerate().filter(|(_, l)| !l.is_direct()) {
            ports.extend(
                self.members(number).into_iter().map(|at| port_name(number, self.name(at))),
            );
        }
        let deadline = Instant::now() + PORTS_MAX;
        loop {
            let asked = ports.iter().cloned().map(LinkRequest::Info).collect();
            let answers = self.links_on(switch, asked)?;
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
        self.links_on(at, work).map(|_| ())
    }

    /// Number of clients.
    #[must_use]
    pub const fn clients(&self) -> u32 {
        self.plan.clients
    }

    /// Indexes of the clients among the hosts.
    #[must_use]
    pub const fn client_indexes(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.plan.clients as usize
    }

    /// Name of a host.
    #[must_use]
    pub fn name(&self, at: usize) -> &str {
        self.hosts.get(at).map_or("", |host| &host.name)
    }

    /// Address of the system under test on a link; on loopback always 127.0.0.1.
    #[must_use]
    pub fn sut_address(&self, link: &str) -> Ipv4Addr {
        if self.kind == LabKind::Loopback {
            return Ipv4Addr::LOCALHOST;
        }
        address(self.number(link).unwrap_or(0), SUT)
    }

    /// The interface by which a host reaches a link: its adapter there, or that towards the host
    /// that forwards; `lo` on loopback.
    #[must_use]
    pub fn interface(&self, at: usize, link: &str) -> String {
        if self.kind == LabKind::Loopback {
            return "lo".into();
        }
        let way = self.number(link).and_then(|number| self.plan.ways(at).into_iter().nth(number));
        match way {
            Some(Way::Over { link: first, .. }) => self.plan.links[first].name.clone(),
            _ => link.into(),
        }
    }

    fn number(&self, link: &str) -> Option<usize> {
        self.plan.links.iter().position(|one| one.name == link)
    }

    /// Every interface of a link; empty on loopback, where there are no links.
    #[must_use]
    pub fn ends(&self, link: &str) -> Vec<LinkEnd> {
        let Some(number) = self.number(link).filter(|_| self.kind != LabKind::Loopback) else {
            return Vec::new();
        };
        let (switch, direct) = (self.switch(), self.plan.links[number].is_direct());
        let mut ends = Vec::new();
        for (turn, at) in self.members(number).into_iter().enumerate() {
            // Of a cable both ends are adapters, and each faces the other.
            let (role, narrow) = (EndRole::Adapter, turn == 0 || direct);
            ends.push(LinkEnd { host: at, name: link.into(), role, narrow });
            if !direct {
                let (name, role) = (port_name(number, self.name(at)), EndRole::Port);
                ends.push(LinkEnd { host: switch, name, role, narrow });
            }
        }
        if !direct {
            let (name, role) = (bridge_name(number), EndRole::Bridge);
            ends.push(LinkEnd { host: switch, name, role, narrow: false });
        }
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
            self.machine.take_in()?;
            let lost = (0..self.hosts.len()).find(|at| self.machine.has_lost(channel(*at)));
            if let Some(at) = lost {
                return Err(self.gone(at));
            }
            let now_ns = clock::now_ns();
            if now_ns >= until_ns {
                return Ok(());
            }
            clock::sleep_until(until_ns.min(now_ns + LOOK_NS));
        }
    }

    fn gone(&self, at: usize) -> LabError {
        LabError::Gone(self.name(at).into())
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
        self.machine.take_in()?;
        for (at, request) in requests {
            let wire = |source| LabError::Wire { host: self.name(*at).into(), source };
            let body = serde_json::to_vec(request).map_err(|e| wire(e.into()))?;
            if self.machine.has_lost(channel(*at))
                || self.machine.send(channel(*at), &body).is_err()
            {
                return Err(self.gone(*at));
            }
        }
        Ok(())
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
        let answers: Vec<_> = asked.iter().map(|(at, _)| self.answer(*at, left())).collect();
        answers.into_iter().collect()
    }

    /// The answer of a host to the oldest question.
    fn answer(&mut self, at: usize, within: Duration) -> Result<Answer, LabError> {
        let host = self.name(at).to_owned();
        let body = match self.machine.hear(channel(at), within)? {
            Heard::Message(body) => body,
            Heard::Nothing => {
                return Err(LabError::Silent { host, seconds: within.as_secs() });
            }
            Heard::Gone => return Err(self.gone(at)),
        };
        match serde_json::from_slice(&body) {
            Ok(Answer::Refused(what)) => Err(LabError::Refused { host, what }),
            Ok(answer) => Ok(answer),
            Err(e) => Err(LabError::Wire { host, source: e.into() }),
        }
    }

    /// Link operations on one host.
    fn links_on(&mut self, at: usize, work: Vec<LinkRequest>) -> Result<Vec<LinkAnswer>, LabError> {
        Ok(self.ask_links(vec![(at, work)])?.pop().unwrap_or_default())
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
        let answers = self.ask(&requests, LINKS_MAX)?;
        let mut lists = Vec::new();
        for ((at, _), answer) in requests.iter().zip(answers) {
            match answer {
                Answer::Links(list) => lists.push(list),
                other => {
                    let (host, what) = (self.name(*at).into(), format!("{other:?}"));
                    return Err(LabError::OutOfTurn { host, what });
                }
            }
        }
        Ok(lists)
    }

    /// Index of the switch: the last host, where there are links.
    const fn switch(&self) -> usize {
        1 + self.plan.clients as usize + self.plan.hosts.len()
    }
}

/// What is asked of the machine that the hosts stand on.
impl Lab {
    /// The process of a host, as its machine numbers it; 0 where there is no such host.
    #[must_use]
    pub fn pid(&self, at: usize) -> u32 {
        self.hosts.get(at).map_or(0, |host| host.pid)
    }

    /// The machine.
    pub const fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// A moment of ours on the clock of a host, nanoseconds.
    #[must_use]
    pub const fn on_clock_of(&self, _host: usize, ours_ns: u64) -> u64 {
        self.machine.offset().theirs(ours_ns)
    }

    /// A moment on the clock of a host on ours, nanoseconds.
    #[must_use]
    pub const fn from_clock_of(&self, _host: usize, theirs_ns: u64) -> u64 {
        self.machine.offset().ours(theirs_ns)
    }

    /// Where the control groups of the hosts are, or why there are none.
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn groups_facts(&mut self) -> Result<Vec<Fact>, LabError> {
        self.machine.facts(&Order::Groups)
    }

    /// Gives every host of these sides a group of its own, without a limit yet, so that a limit is
    /// all that differs from then on.
    ///
    /// # Errors
    /// When groups are refused, with the reason; then no host has one.
    pub fn hold(&mut self, sides: &[Side]) -> Result<(), LabError> {
        if sides.is_empty() { Ok(()) } else { self.machine.must(&Order::Hold(sides.to_vec())) }
    }

    /// Moves all hosts out of these groups and removes them.
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn release(&mut self) -> Result<(), LabError> {
        self.machine.must(&Order::Release)
    }

    /// Holds a side to so many CPUs together, or to none.
    ///
    /// # Errors
    /// When the kernel refuses; the groups must have been made before.
    pub fn set_quota(&mut self, side: Side, cpus: Option<f64>) -> Result<(), LabError> {
        self.machine.must(&Order::SetQuota(side, cpus))
    }

    /// What the kernel says that a side is held to, CPUs together; none for no limit.
    ///
    /// # Errors
    /// When a limit cannot be read, or its hosts disagree.
    pub fn quota(&mut self, side: Side) -> Result<Option<f64>, LabError> {
        match self.machine.order(&Order::Quota(side))? {
            Reply::Quota(cpus) => Ok(cpus),
            other => Err(self.machine.out_of_turn(&format!("{other:?}"))),
        }
    }

    /// Holds the system under test to these CPUs.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn hold_cpus(&mut self, cpus: &[u32]) -> Result<(), LabError> {
        self.machine.must(&Order::SetCpus(cpus.to_vec()))
    }

    /// The CPUs that the system under test may use, by number.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cpus(&mut self) -> Result<Vec<u32>, LabError> {
        self.machine.cpus(&Order::Cpus)
    }

    /// The CPUs that hosts may use, one thread of each core first.
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn all_cpus(&mut self) -> Result<Vec<u32>, LabError> {
        self.machine.cpus(&Order::AllCpus)
    }
}

/// Refuses a link under the name of an adapter of the machine below `root`, unless the plan says of
/// which kind it is. The link of a plan that names none is asked about by nobody.
///
/// # Errors
/// The first such link, with both remedies.
pub fn refuse_names(lab: &LabPlan, root: &Path) -> Result<(), LabError> {
    let unnamed = [LinkPlan::of_all("lan")];
    let named = lab.links.iter().filter(|link| link.kind.is_none() && lab.links != unnamed);
    let there = |link: &&LinkPlan| root.join("sys/class/net").join(&link.name).exists();
    match named.into_iter().find(there) {
        Some(link) => Err(LabError::Name { link: link.name.clone() }),
        None => Ok(()),
    }
}

/// Starts the hosts of a blueprint.
fn raise(
    machine: &mut Machine,
    blueprint: &Blueprint,
    (kind, seen): (LabKind, bool),
) -> Result<Vec<Seat>, LabError> {
    let mut names = blueprint.lab.host_names();
    let (clients, grouped) = (blueprint.lab.clients as usize, names.len());
    if kind != LabKind::Loopback {
        names.push("switch".to_owned());
    }
    machine.forget_hosts();
    let order = Order::Raise(Raise { kind, hosts: names.clone(), clients, grouped, seen });
    match machine.order(&order)? {
        Reply::Raised(pids) if pids.len() == names.len() => {
            let seat = |(name, pid)| Seat { name, pid };
            Ok(names.into_iter().zip(pids).map(seat).collect())
        }
        other => Err(machine.out_of_turn(&format!("{other:?}"))),
    }
}

/// The channel of a host on its machine.
fn channel(at: usize) -> u16 {
    u16::try_from(at + 1).unwrap_or(u16::MAX - 1)
}

fn bridge_name(link: usize) -> String {
    format!("br{link}")
}

fn port_name(link: usize, host: &str) -> String {
    format!("p{link}-{host}")
}

/// Addresses of the benchmarking range (RFC 2544 C.2.2): one /24 a link.
fn address(link: usize, host: usize) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, octet(link), if host == SUT { 1 } else { octet(host + 9) })
}

/// The network of a link.
fn network(link: usize) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, octet(link), 0)
}

fn octet(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}
