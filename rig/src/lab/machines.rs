//! Knows the machines of a lab: which hosts each has, and what is asked of it.
//!
//! Must not know how hosts are joined, nor what is measured in the lab.

use super::adapter::{self, Loan};
use super::error::LabError;
use super::machine::{Machine, Offset, Order, Raise, Reply};
use super::quota::Side;
use super::standing::SUT;
use super::topology::{Lab, LentAdapter, Seat};
use desk::record::{Fact, LabKind, LabPlan, LinkPlan};
use std::collections::BTreeSet;
use std::path::Path;

/// Name of the host that has the bridges, and the adapters that others share.
pub const SWITCH: &str = "switch";
/// Name of the machine of a lab that has one.
const ONLY: &str = "machine";

/// What stands on a machine: hosts by their place among those of the lab, and their adapters.
pub(super) type Raised = (Vec<(usize, Seat)>, Vec<LentAdapter>);

/// Names of the machines of a lab, in the order in which they are handed in.
#[must_use]
pub fn names(plan: &LabPlan) -> Vec<&str> {
    let names = plan.machines.iter().map(|at| at.machine.as_str());
    if plan.machines.is_empty() { vec![ONLY] } else { names.collect() }
}

/// Hosts of the lab on a machine by their place among all, without a switch.
fn hosts_on(plan: &LabPlan, machine: usize) -> Vec<(usize, String)> {
    let all = plan.host_names().into_iter().enumerate();
    match plan.machines.get(machine) {
        Some(placed) => all.filter(|(_, name)| placed.hosts.contains(name)).collect(),
        None => all.collect(),
    }
}

/// The adapters that hosts on a machine get, each with its link and the place of its host there.
/// One that several members share goes to the switch, where a macvlan for each stands on it.
fn loans(plan: &LabPlan, machine: usize) -> Vec<(usize, Loan)> {
    let hosts = hosts_on(plan, machine);
    let mut loans = Vec::new();
    for (number, link) in plan.links.iter().enumerate().filter(|(_, link)| link.is_real()) {
        let members = plan.members(link);
        let adapter = |name: &str| plan.adapter(link, name, machine);
        let here: Vec<(usize, &str)> = (0..)
            .zip(&hosts)
            .filter(|(_, (at, _))| members.contains(at))
            .map(|(place, (_, name))| (place, name.as_str()))
            .collect();
        let mut all: Vec<&str> = here.iter().filter_map(|(_, name)| adapter(name)).collect();
        all.sort_unstable();
        all.dedup();
        for own in all {
            let of: Vec<_> = here.iter().filter(|(_, name)| adapter(name) == Some(own)).collect();
            let (host, name) = match of.as_slice() {
                [(one, name)] if plan.machine.as_deref() == Some(name) => (*one, None),
                [(one, _)] => (*one, Some(link.name.clone())),
                _ => (hosts.len(), Some(shared_name(loans.len()))),
            };
            loans.push((number, Loan { adapter: own.to_owned(), host, name }));
        }
    }
    loans
}

/// Name of an adapter that members share, on the switch.
fn shared_name(number: usize) -> String {
    format!("a{number}")
}

/// Refuses adapters of a plan that are not on the machine below `root`, which has this place among
/// those of the lab, or that the machine uses itself.
///
/// # Errors
/// The first such adapter.
pub fn refuse_adapters(lab: &LabPlan, machine: usize, root: &Path) -> Result<(), LabError> {
    for (_, Loan { adapter, name, .. }) in loans(lab, machine) {
        let own = adapter::find(root, &adapter);
        let free = own.and_then(|own| adapter::refuse(root, &own, name.is_none()));
        free.map_err(|what| LabError::Adapter { adapter, what })?;
    }
    Ok(())
}

/// Names of the adapters that a plan wants of the machine below `root`, which has this place among
/// those of the lab, each with the place of its link.
///
/// # Errors
/// The first that is not there.
pub fn wanted_adapters(
    lab: &LabPlan,
    machine: usize,
    root: &Path,
) -> Result<Vec<(usize, String)>, LabError> {
    let named = |(link, Loan { adapter, .. }): (usize, Loan)| {
        let own = adapter::find(root, &adapter);
        Ok((link, own.map_err(|what| LabError::Adapter { adapter, what })?))
    };
    loans(lab, machine).into_iter().map(named).collect()
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

/// Starts the hosts of a machine, and lends them the adapters that their links are made of; where
/// the lab is not `seen`, it is only asked whether they could be had.
///
/// # Errors
/// When a host does not start, or this kind of place is refused.
pub(super) fn raise(
    machine: &mut Machine,
    (plan, number): (&LabPlan, usize),
    (kind, seen): (LabKind, bool),
) -> Result<Raised, LabError> {
    let mut hosts = hosts_on(plan, number);
    let is_client = |at: usize| (1..=plan.clients as usize).contains(&at);
    let clients = hosts.iter().filter(|(at, _)| is_client(*at)).count();
    let relay = hosts.iter().position(|(at, _)| Some(*at) == plan.relay());
    let grouped = hosts.len();
    if kind != LabKind::Loopback {
        hosts.push((plan.host_names().len() + number, SWITCH.to_owned()));
    }
    machine.forget_hosts();
    let real = if kind == LabKind::Loopback { Vec::new() } else { loans(plan, number) };
    let raise = Raise {
        kind,
        hosts: hosts.iter().map(|(_, name)| name.clone()).collect(),
        clients,
        relay,
        grouped,
        seen,
        machine: plan.machine.clone(),
        loans: real.iter().map(|(_, loan)| loan.clone()).collect(),
    };
    match machine.order(&Order::Raise(raise))? {
        Reply::Raised(pids, lent) if pids.len() == hosts.len() && lent.len() == real.len() => {
            let adapter = |((link, loan), name): (&(usize, Loan), String)| LentAdapter {
                link: *link,
                adapter: loan.adapter.clone(),
                host: hosts.get(loan.host).map_or(SUT, |(at, _)| *at),
                machine: number,
                name,
            };
            let lent = real.iter().zip(lent).map(adapter).collect();
            let seats =
                hosts.into_iter().zip(pids).enumerate().map(|(place, ((at, name), pid))| {
                    let channel = u16::try_from(place + 1).unwrap_or(u16::MAX - 1);
                    (at, Seat { name, pid, machine: number, channel })
                });
            Ok((seats.collect(), lent))
        }
        other => Err(machine.out_of_turn(&format!("{other:?}"))),
    }
}

/// What is asked of the machines that the hosts stand on.
impl Lab {
    /// The process of a host, as its machine numbers it; 0 where there is no such host.
    #[must_use]
    pub fn pid(&self, at: usize) -> u32 {
        self.hosts.get(at).map_or(0, |host| host.pid)
    }

    /// The place of the machine of a host among those of the lab.
    #[must_use]
    pub fn machine_of(&self, at: usize) -> usize {
        self.hosts.get(at).map_or(0, |host| host.machine)
    }

    /// The machine of the system under test.
    pub fn machine(&mut self) -> &mut Machine {
        let at = self.machine_of(SUT);
        &mut self.machines[at]
    }

    /// A machine by its place.
    pub fn machine_at(&mut self, at: usize) -> &mut Machine {
        &mut self.machines[at]
    }

    /// Places of the machines that have a part in a trial, that of the system under test first.
    #[must_use]
    pub fn in_use(&self) -> Vec<usize> {
        let (first, loaded) = (self.machine_of(SUT), self.hosts.iter().take(self.switch()));
        let others: BTreeSet<usize> = loaded.map(|host| host.machine).collect();
        std::iter::once(first).chain(others.into_iter().filter(|at| *at != first)).collect()
    }

    /// Hosts that are on a machine, without its switch.
    pub fn hosts_of(&self, machine: usize) -> impl Iterator<Item = &str> {
        let here = self.hosts.iter().take(self.switch());
        here.filter(move |host| host.machine == machine).map(|host| host.name.as_str())
    }

    /// Name of a machine in the lab file; that of the only one otherwise.
    #[must_use]
    pub fn machine_name(&self, at: usize) -> &str {
        names(&self.plan).get(at).copied().unwrap_or(ONLY)
    }

    /// How many machines the lab has.
    #[must_use]
    pub const fn machine_count(&self) -> usize {
        self.machines.len()
    }

    /// Makes the system under test of this machine the one that is measured.
    ///
    /// # Errors
    /// When this machine has none.
    pub fn take_sut(&mut self, machine: &str) -> Result<(), LabError> {
        let is_it = |seat: &&Seat| self.machine_name(seat.machine) == machine;
        let Some(seat) = self.suts.iter().find(is_it).cloned() else {
            let what = "it has no system under test in this lab; see roles.sut of the lab file";
            return Err(LabError::Refused { host: machine.into(), what: what.into() });
        };
        self.hosts[SUT] = seat;
        Ok(())
    }

    /// Whether the system under test of this machine is the one that is measured.
    #[must_use]
    pub fn has_sut(&self, machine: &str) -> bool {
        self.machine_name(self.machine_of(SUT)) == machine
    }

    /// Finds the clocks of all machines that have a part, while nothing runs.
    ///
    /// # Errors
    /// When one is gone, or its clock has jumped.
    pub fn find_clocks(&mut self) -> Result<(), LabError> {
        self.in_use().into_iter().try_for_each(|at| self.machines[at].find_clock())
    }

    /// Finds them anew beside a load, where round trips are long.
    ///
    /// # Errors
    /// As [`Self::find_clocks`].
    pub fn find_clocks_beside_load(&mut self) -> Result<(), LabError> {
        self.in_use().into_iter().try_for_each(|at| self.machines[at].find_clock_beside_load())
    }

    /// By how much the clocks of the machines that have a part differ from ours, in the order of
    /// [`Self::in_use`].
    #[must_use]
    pub fn offsets(&self) -> Vec<Offset> {
        self.in_use().into_iter().map(|at| self.machines[at].offset()).collect()
    }

    /// A moment of ours on the clock of a host, nanoseconds.
    #[must_use]
    pub fn on_clock_of(&self, host: usize, ours_ns: u64) -> u64 {
        self.machines[self.machine_of(host)].offset().theirs(ours_ns)
    }

    /// A moment on the clock of a host on ours, nanoseconds.
    #[must_use]
    pub fn from_clock_of(&self, host: usize, theirs_ns: u64) -> u64 {
        self.machines[self.machine_of(host)].offset().ours(theirs_ns)
    }

    /// Where the control groups of the hosts of a machine are, or why there are none.
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn groups_facts(&mut self, machine: usize) -> Result<Vec<Fact>, LabError> {
        self.machines[machine].facts(&Order::Groups)
    }

    /// Gives every host of these sides a group of its own, without a limit yet, so that a limit is
    /// all that differs from then on. A relay that is held gives way to all other threads from then
    /// on: no quota holds one that goes before them.
    ///
    /// # Errors
    /// When groups are refused, with the reason; then no host has one.
    pub fn hold(&mut self, sides: &[Side]) -> Result<(), LabError> {
        if sides.contains(&Side::Relay) {
            self.relay_goes_first(false)?;
        }
        if sides.is_empty() { Ok(()) } else { self.tell_suts(&Order::Hold(sides.to_vec())) }
    }

    /// Gives an order to the machine of every system under test, that of the first one first.
    ///
    /// # Errors
    /// The first machine that refuses or is gone; those after it are asked all the same.
    pub fn tell_suts(&mut self, order: &Order) -> Result<(), LabError> {
        let mut first = Ok(());
        for at in self.suts.iter().map(|sut| sut.machine) {
            first = first.and(self.machines[at].must(order));
        }
        first
    }

    /// Moves all hosts out of these groups and removes them.
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn release(&mut self) -> Result<(), LabError> {
        let released = self.tell_suts(&Order::Release);
        // A relay that is gone has no thread that could go first.
        let _ = self.relay_goes_first(true);
        released
    }

    /// Holds a side to so many CPUs together, or to none.
    ///
    /// # Errors
    /// When the kernel refuses; the groups must have been made before.
    pub fn set_quota(&mut self, side: Side, cpus: Option<f64>) -> Result<(), LabError> {
        self.machine().must(&Order::SetQuota(side, cpus))
    }

    /// What the kernel says that a side is held to, CPUs together; none for no limit.
    ///
    /// # Errors
    /// When a limit cannot be read, or its hosts disagree.
    pub fn quota(&mut self, side: Side) -> Result<Option<f64>, LabError> {
        match self.machine().order(&Order::Quota(side))? {
            Reply::Quota(cpus) => Ok(cpus),
            other => Err(self.machine().out_of_turn(&format!("{other:?}"))),
        }
    }

    /// Holds the system under test to these CPUs.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn hold_cpus(&mut self, cpus: &[u32]) -> Result<(), LabError> {
        self.machine().must(&Order::SetCpus(cpus.to_vec()))
    }

    /// The CPUs that the system under test may use, by number.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cpus(&mut self) -> Result<Vec<u32>, LabError> {
        self.machine().cpus(&Order::Cpus)
    }

    /// The CPUs that hosts may use, one thread of each core first.
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn all_cpus(&mut self) -> Result<Vec<u32>, LabError> {
        self.machine().cpus(&Order::AllCpus)
    }
}
