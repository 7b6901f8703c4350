//! Knows the lab on one machine as the conductor has it: hosts that are asked, and their machine.
//!
//! Must not know what is measured in it, nor which factor changes what. How hosts are joined stands
//! in `cables.rs`.

use super::adapter::{self, Loan};
use super::cables::loans;
use super::clock;
use super::error::LabError;
use super::machine::{Heard, Machine, Order, Raise, Reply};
use super::quota::Side;
use super::wire::{Answer, LinkAnswer, LinkRequest, Request};
use desk::record::{Fact, LabKind, LabPlan, LinkPlan};
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
        Self { wanted, lab: LabPlan { clients, links, ..LabPlan::default() } }
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
    /// An adapter of a member, or one that members share.
    Adapter,
    /// The switch's port towards a member.
    Port,
    /// The bridge itself.
    Bridge,
    /// A macvlan of a member, on an adapter that several share.
    Stacked,
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
    /// Adapters of the machine that hosts have.
    pub(super) lent: Vec<LentAdapter>,
    /// Which hosts there are, and on which links; the switch is not among them.
    pub(super) plan: LabPlan,
}

/// An adapter of the machine, as the conductor knows it.
#[derive(Clone, Debug)]
pub(super) struct LentAdapter {
    /// Place of its link among the links.
    pub(super) link: usize,
    /// As the plan writes it.
    pub(super) adapter: String,
    /// Place of the host that has it.
    pub(super) host: usize,
    /// Its name there.
    pub(super) name: String,
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
        (kind, (hosts, lent)): (LabKind, Raised),
        reasons: &[String],
    ) -> Result<Self, LabError> {
        let (plan, reason) = (blueprint.lab.clone(), reasons.join("; "));
        let mut lab = Self { kind, reason, machine, hosts, lent, plan };
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
        (self.hosts, self.lent) = raise(&mut self.machine, blueprint, (self.kind, true))?;
        if self.kind == LabKind::Loopback { Ok(()) } else { self.lay_cables() }
    }

    /// Members of a link, by index.
    pub(super) fn members(&self, number: usize) -> Vec<usize> {
        self.plan.links.get(number).map(|link| self.plan.members(link)).unwrap_or_default()
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
    pub(super) fn links_on(
        &mut self,
        at: usize,
        work: Vec<LinkRequest>,
    ) -> Result<Vec<LinkAnswer>, LabError> {
        Ok(self.ask_links(vec![(at, work)])?.pop().unwrap_or_default())
    }

    /// Link operations on several hosts at once, a list a host. What macvlans stand on is changed
    /// before they are.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_links(
        &mut self,
        work: Vec<(usize, Vec<LinkRequest>)>,
    ) -> Result<Vec<Vec<LinkAnswer>>, LabError> {
        if !self.lent.iter().any(|lent| self.is_switch(lent.host)) {
            return self.ask_links_at_once(work);
        }
        let mut lists = vec![Vec::new(); work.len()];
        let (below, above): (Vec<_>, Vec<_>) =
            work.into_iter().enumerate().partition(|(_, (at, _))| self.is_switch(*at));
        for wave in [below, above] {
            let (places, work): (Vec<usize>, Vec<_>) = wave.into_iter().unzip();
            for (place, list) in places.into_iter().zip(self.ask_links_at_once(work)?) {
                lists[place] = list;
            }
        }
        Ok(lists)
    }

    fn ask_links_at_once(
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

    /// Whether a host is the switch of the lab.
    #[must_use]
    pub const fn is_switch(&self, at: usize) -> bool {
        at == self.switch()
    }

    /// Index of the switch: the last host, where there are links.
    pub(super) const fn switch(&self) -> usize {
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

/// Refuses adapters of a plan that are not there, or that the machine below `root` uses itself.
///
/// # Errors
/// The first such adapter.
pub fn refuse_adapters(lab: &LabPlan, root: &Path) -> Result<(), LabError> {
    for (_, Loan { adapter, name, .. }) in loans(lab) {
        let own = adapter::find(root, &adapter);
        let free = own.and_then(|own| adapter::refuse(root, &own, name.is_none()));
        free.map_err(|what| LabError::Adapter { adapter, what })?;
    }
    Ok(())
}

/// Refuses a link under the name of an adapter of the machine below `root`, unless the plan says of
/// which kind it is. The link of a plan that names none is asked about by nobody.
///
/// # Errors
/// The first such link, with its remedies.
pub fn refuse_names(lab: &LabPlan, root: &Path) -> Result<(), LabError> {
    let unnamed = [LinkPlan::of_all("lan")];
    let named = lab.links.iter().filter(|link| link.kind.is_none() && lab.links != unnamed);
    let there = |link: &&LinkPlan| root.join("sys/class/net").join(&link.name).exists();
    match named.into_iter().find(there) {
        Some(link) => Err(LabError::Name { link: link.name.clone() }),
        None => Ok(()),
    }
}

/// What stands on the machine: hosts, and adapters that they have.
type Raised = (Vec<Seat>, Vec<LentAdapter>);

/// Starts the hosts of a blueprint, and lends them the adapters that their links are made of; not
/// in a lab that nobody sees.
fn raise(
    machine: &mut Machine,
    blueprint: &Blueprint,
    (kind, seen): (LabKind, bool),
) -> Result<Raised, LabError> {
    let mut names = blueprint.lab.host_names();
    let (clients, grouped) = (blueprint.lab.clients as usize, names.len());
    if kind != LabKind::Loopback {
        names.push("switch".to_owned());
    }
    machine.forget_hosts();
    let real = if kind == LabKind::Loopback { Vec::new() } else { loans(&blueprint.lab) };
    let loans = real.iter().map(|(_, loan)| loan.clone()).collect();
    let (hosts, stays) = (names.clone(), blueprint.lab.machine.clone());
    let raise = Raise { kind, hosts, clients, grouped, seen, machine: stays, loans };
    match machine.order(&Order::Raise(raise))? {
        Reply::Raised(pids, lent) if pids.len() == names.len() && lent.len() == real.len() => {
            let seats = names.into_iter().zip(pids).map(|(name, pid)| Seat { name, pid });
            let adapter = |((link, loan), name): (&(usize, Loan), String)| LentAdapter {
                link: *link,
                adapter: loan.adapter.clone(),
                host: loan.host,
                name,
            };
            Ok((seats.collect(), real.iter().zip(lent).map(adapter).collect()))
        }
        other => Err(machine.out_of_turn(&format!("{other:?}"))),
    }
}

/// The channel of a host on its machine.
fn channel(at: usize) -> u16 {
    u16::try_from(at + 1).unwrap_or(u16::MAX - 1)
}
