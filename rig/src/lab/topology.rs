//! Knows the lab as the conductor has it: hosts that are asked, and the messages to and from them.
//!
//! Must not know what is measured in it, nor which factor changes what. How hosts are joined stands
//! in `cables.rs`, what is asked of their machines in `machines.rs`.

use super::addresses::IpVersion;
use super::clock;
use super::error::LabError;
use super::machine::{Heard, Machine, Order};
use super::machines::raise;
use super::standing::SUT;
use super::wire::{Answer, LinkAnswer, LinkRequest, Request};
use desk::record::{BoxPlan, LabKind, LabPlan, LinkPlan};
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
    /// Machines in the order of the plan.
    pub(super) machines: Vec<Machine>,
    /// Every host, a switch of each machine last.
    pub(super) hosts: Vec<Seat>,
    /// The systems under test of all machines; the first host is one of them.
    pub(super) suts: Vec<Seat>,
    /// Adapters of machines that hosts have, those of every system under test among them.
    all_lent: Vec<LentAdapter>,
    /// Which hosts there are, and on which links; the switch is not among them.
    pub(super) plan: LabPlan,
    /// The version of IP that loads go over.
    pub(super) version: IpVersion,
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
    /// Place of its machine.
    pub(super) machine: usize,
    /// Its name there.
    pub(super) name: String,
}

/// A host, as the conductor knows it.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) name: String,
    /// Its process, as its machine numbers it.
    pub(super) pid: u32,
    /// Place of its machine.
    pub(super) machine: usize,
    /// Its channel there.
    pub(super) channel: u16,
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.take_down();
    }
}

/// Pause between two looks at the hosts while waiting, nanoseconds.
const LOOK_NS: u64 = 50_000_000;
/// A wait ends this long before its moment, so that what comes then is in time, nanoseconds.
const NEAR_NS: u64 = 4_000_000;

/// Longest wait for link operations on a host.
const LINKS_MAX: Duration = Duration::from_secs(20);

impl Lab {
    /// Builds a lab on machines, in the order in which the plan has them. On one it falls back from
    /// root's namespaces to a user's to loopback; links between several need those of root.
    ///
    /// # Errors
    /// When a host does not start, or when the wanted kind is refused.
    pub fn build(blueprint: &Blueprint, machines: Vec<Machine>) -> Result<Self, LabError> {
        let mut lab = Self::empty(blueprint, machines);
        let kinds = lab.kinds(blueprint.wanted);
        let mut reasons: Vec<String> = Vec::new();
        for kind in &kinds {
            match lab.stand(*kind, true) {
                Ok(()) => {
                    lab.reason = reasons.join("; ");
                    lab.lay()?;
                    return Ok(lab);
                }
                // Neither is a refusal of the kernel.
                Err(e @ (LabError::Cancelled | LabError::Silent { .. })) => return Err(e),
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
        machine: Machine,
    ) -> Result<Self, LabError> {
        let mut lab = Self::empty(blueprint, vec![machine]);
        lab.stand(kind, false)?;
        lab.lay()?;
        Ok(lab)
    }

    /// A lab without hosts.
    pub(super) fn empty(blueprint: &Blueprint, machines: Vec<Machine>) -> Self {
        let (kind, plan) = (LabKind::Loopback, blueprint.lab.clone());
        let (hosts, suts, all_lent, reason) = Default::default();
        let version = IpVersion::default();
        Self { kind, reason, machines, hosts, suts, all_lent, plan, version }
    }

    /// Kinds of place to try, the best first.
    fn kinds(&self, wanted: Wanted) -> Vec<LabKind> {
        let away = self.machines.iter().any(|machine| !machine.is_here());
        match wanted {
            Wanted::Only(kind) => vec![kind],
            Wanted::Best if self.machines.len() > 1 => vec![LabKind::RootNamespaces],
            Wanted::Best if away || rustix::process::geteuid().is_root() => {
                vec![LabKind::RootNamespaces, LabKind::UserNamespaces, LabKind::Loopback]
            }
            Wanted::Best => vec![LabKind::UserNamespaces, LabKind::Loopback],
        }
    }

    /// Raises the hosts of every machine; the first of several systems under test is measured.
    fn stand(&mut self, kind: LabKind, seen: bool) -> Result<(), LabError> {
        let (mut hosts, mut suts, mut all_lent) = (Vec::new(), Vec::new(), Vec::new());
        let several = self.machines.len() > 1;
        for (number, machine) in self.machines.iter_mut().enumerate() {
            let raised = raise(machine, (&self.plan, number), (kind, seen));
            // One machine alone needs no name.
            let name = self.plan.machines.get(number).filter(|_| several);
            let (seats, lent) = raised.map_err(|e| match (e, name) {
                (LabError::Machine(what), Some(at)) => {
                    LabError::Machine(format!("machine '{}': {what}", at.machine))
                }
                (e, _) => e,
            })?;
            suts.extend(seats.iter().filter(|(at, _)| *at == SUT).map(|(_, seat)| seat.clone()));
            let first = suts.len() == 1;
            hosts.extend(seats.into_iter().filter(|(at, _)| *at != SUT || first));
            all_lent.extend(lent);
        }
        hosts.sort_by_key(|(at, _)| *at);
        self.hosts = hosts.into_iter().map(|(_, seat)| seat).collect();
        (self.kind, self.suts, self.all_lent) = (kind, suts, all_lent);
        Ok(())
    }

    /// Joins hosts that have been raised.
    fn lay(&mut self) -> Result<(), LabError> {
        if self.kind == LabKind::Loopback { Ok(()) } else { self.lay_cables() }
    }

    /// Builds it anew on its machines: the same kind of place, or trials would not be comparable.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn rebuild(&mut self) -> Result<(), LabError> {
        for machine in &mut self.machines {
            machine.must(&Order::TakeDown)?;
        }
        let sut = self.machine_of(SUT);
        self.version = IpVersion::default();
        self.stand(self.kind, true)?;
        self.lay()?;
        // What is set on its machine is undone there.
        self.suts.iter().filter(|seat| seat.machine == sut).for_each(|seat| {
            self.hosts[SUT] = seat.clone();
        });
        Ok(())
    }

    /// Has every machine take its hosts down and waits until their adapters are back, so that the
    /// next run finds them. One that is gone does it by itself.
    fn take_down(&mut self) {
        for machine in self.machines.iter_mut().filter(|machine| !machine.is_here()) {
            let _ = machine.give(&Order::TakeDown);
        }
        for machine in self.machines.iter_mut().filter(|machine| !machine.is_here()) {
            let _ = machine.reply();
        }
    }

    /// Adapters that hosts have, without those of systems under test that wait.
    pub(super) fn lent(&self) -> impl Iterator<Item = &LentAdapter> {
        let sut = self.machine_of(SUT);
        self.all_lent.iter().filter(move |lent| lent.host != SUT || lent.machine == sut)
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

    /// The external box on the cable of a link.
    #[must_use]
    pub fn external_box(&self, link: &str) -> Option<&BoxPlan> {
        self.plan.boxes.iter().find(|of| of.link == link)
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
            self.take_in()?;
            let lost = (0..self.hosts.len()).find(|at| self.has_lost(*at));
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

    /// Takes in what has come from all machines, without waiting.
    fn take_in(&mut self) -> Result<(), LabError> {
        self.machines.iter_mut().try_for_each(Machine::take_in)
    }

    /// Whether a host is gone, by what was taken in.
    fn has_lost(&self, at: usize) -> bool {
        let lost = |host: &Seat| self.machines[host.machine].has_lost(host.channel);
        self.hosts.get(at).is_some_and(lost)
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
        self.take_in()?;
        for (at, request) in requests {
            let wire = |source| LabError::Wire { host: self.name(*at).into(), source };
            let body = serde_json::to_vec(request).map_err(|e| wire(e.into()))?;
            let seat = self.hosts.get(*at).filter(|_| !self.has_lost(*at));
            let (machine, channel) = match seat {
                Some(seat) => (seat.machine, seat.channel),
                None => return Err(self.gone(*at)),
            };
            if self.machines[machine].send(channel, &body).is_err() {
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
        let seat = self.hosts.get(at).map(|seat| (seat.machine, seat.channel));
        let (machine, channel) = seat.ok_or_else(|| self.gone(at))?;
        let body = match self.machines[machine].hear(channel, within)? {
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
        if !self.lent().any(|lent| self.is_switch(lent.host)) {
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

    /// Whether a host is the switch of a machine.
    #[must_use]
    pub const fn is_switch(&self, at: usize) -> bool {
        at >= self.switch()
    }

    /// Index of the switch of the first machine, where there are links; those of others follow.
    pub(super) const fn switch(&self) -> usize {
        1 + self.plan.clients as usize + self.plan.hosts.len()
    }
}
