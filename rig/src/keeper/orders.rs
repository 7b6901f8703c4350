//! Knows how each order to a machine is carried out on this one.
//!
//! Must not know who gave it, nor over which transport.

use super::Ended;
use super::examine::examine;
use super::stolen::stolen;
use super::watch::{Edge, Watch};
use crate::factor::{self, FactorError, MachineSettings};
use crate::lab::machine::{Order, Refusal, Reply};
use crate::lab::version::same_version;
use crate::lab::{
    HostProcess, LabError, Standing, clock, cpus, environment, refuse_adapters, refuse_names, undo,
};
use crate::service;
use desk::record::{Environment, LabKind, Plan};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Waits beside hosts that stand until a moment, nanoseconds.
pub(super) type WaitBeside<'w> = dyn FnMut(&Standing, u64) -> Result<(), Ended> + 'w;

/// This machine, with all that was done to it by order.
pub(super) struct Orders {
    binary: PathBuf,
    root: PathBuf,
    standing: Standing,
    settings: MachineSettings,
    watch: Option<Watch>,
}

impl Orders {
    pub(super) fn new(binary: &Path) -> Self {
        Self {
            binary: binary.to_path_buf(),
            root: PathBuf::from("/"),
            standing: Standing::default(),
            settings: MachineSettings::new(binary),
            watch: None,
        }
    }

    pub(super) const fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(super) fn host(&mut self, at: usize) -> Option<&mut HostProcess> {
        self.standing.host(at)
    }

    /// Ends the load first, then brings everything back.
    pub(super) fn end(&mut self) {
        self.watch = None;
        self.standing.take_down();
        // What is left stands in the journal, and its guardian tries again.
        let _ = self.settings.undo_all();
    }

    /// Carries an order out. What does not work is an answer, too.
    ///
    /// # Errors
    /// When a wait ended early.
    pub(super) fn carry_out(
        &mut self,
        order: Order,
        wait: &mut WaitBeside<'_>,
    ) -> Result<Reply, Ended> {
        Ok(match order {
            Order::Baseline => {
                let standing = &self.standing;
                let watch = Watch::begin(standing.ours(), &mut |at_ns| wait(standing, at_ns))?;
                let facts = watch.facts();
                self.watch = Some(watch);
                Reply::Facts(facts)
            }
            Order::Prepare => match &mut self.watch {
                Some(watch) => {
                    let standing = &self.standing;
                    watch.prepare(standing.ours(), &mut |at_ns| wait(standing, at_ns))?;
                    Reply::Done
                }
                None => nothing_watches(),
            },
            Order::Stolen => {
                let standing = &self.standing;
                match stolen(&mut |at_ns| wait(standing, at_ns)) {
                    Ok(share) => Reply::Stolen(share?),
                    Err(e) => refuse_lab(e),
                }
            }
            order => self.at_once(order),
        })
    }

    /// Carries an order out that needs no wait.
    fn at_once(&mut self, order: Order) -> Reply {
        match order {
            Order::Hello(version) => done(same_version(&version), refuse_lab),
            Order::Clock => Reply::Clock(clock::now_ns()),
            Order::Examine(adapters, control) => {
                let found = examine(&self.binary, &self.root, &adapters, &control);
                Reply::Examined(Box::new(found))
            }
            Order::Environment => Reply::Environment(Box::new(self.environment())),
            Order::Refuse(plan, place) => self.refusal(&plan, place),
            Order::Facts(plan) => Reply::Facts(factor::facts(&plan, &self.root)),
            Order::Raise(raise) => match self.standing.raise(&raise, &self.binary) {
                Ok(()) => {
                    let pids = self.standing.hosts().iter().map(HostProcess::pid).collect();
                    Reply::Raised(pids, self.standing.adapters())
                }
                Err(e) => refuse_lab(not_raised(&e, raise.kind)),
            },
            Order::TakeDown => {
                self.standing.take_down();
                Reply::Done
            }
            Order::Groups => Reply::Facts(vec![self.standing.groups_fact()]),
            Order::AllCpus => Reply::Cpus(cpus::allowed(&self.root)),
            Order::Cpus => self.standing.cpus().map_or_else(refuse_lab, Reply::Cpus),
            Order::SetCpus(cpus) => done(self.standing.hold_cpus(&cpus), refuse_lab),
            Order::Soak(on) => self.soak(on),
            Order::Rest => {
                let sampled = self.watch.as_mut().map(Watch::rest).unwrap_or_default();
                Reply::Rested(sampled.readings, sampled.tracks)
            }
            order => self.set(order),
        }
    }

    /// What of a plan cannot be had here, the machine with this place in it.
    fn refusal(&self, plan: &Plan, place: usize) -> Reply {
        let lent = !self.standing.adapters().is_empty();
        let root = &self.root;
        let adapters = if lent { Ok(()) } else { refuse_adapters(&plan.lab, place, root) };
        let services = if has_sut(plan, place) { service::refuse(plan) } else { Ok(()) };
        if let Err(e) = refuse_names(&plan.lab, root).and(adapters).and(services) {
            return refuse_lab(e);
        }
        let links = if lent { Ok(()) } else { factor::refuse_on_adapters(plan, place, root) };
        // Settings of the machine are those of one under test.
        let own = || if has_sut(plan, place) { factor::refuse(plan, root) } else { Ok(()) };
        done(links.and_then(|()| own()), refuse_factor)
    }

    /// Carries out an order of quotas or of settings of the machine.
    fn set(&mut self, order: Order) -> Reply {
        match order {
            Order::Hold(sides) => done(self.standing.hold(&sides, &self.binary), refuse_quota),
            Order::Release => {
                self.standing.release();
                Reply::Done
            }
            Order::SetQuota(side, cpus) => done(self.standing.set_quota(side, cpus), refuse_quota),
            Order::Quota(side) => self.standing.quota(side).map_or_else(refuse_quota, Reply::Quota),
            Order::Set(name, level) => {
                self.settings.set(&name, &level).map_or_else(refuse_factor, Reply::Set)
            }
            Order::Level(name) => {
                self.settings.level(&name).map_or_else(refuse_factor, Reply::Level)
            }
            Order::LetGo(name) => {
                self.settings.let_go(&name);
                Reply::Done
            }
            Order::Undo(entries) => Reply::Undone(self.settings.undo(&entries)),
            Order::Close => {
                self.settings.close();
                Reply::Done
            }
            other => refuse_lab(format!("the agent has no answer to {other:?}")),
        }
    }

    /// Reads all probes at an edge.
    pub(super) fn at_edge(&mut self, at: (Edge, u64)) -> Reply {
        let Some(watch) = &mut self.watch else { return nothing_watches() };
        match watch.at_edge(at) {
            Ok(readings) => Reply::Readings(readings),
            Err(late) => Reply::Refused(Refusal::Late(late)),
        }
    }

    fn soak(&mut self, on: bool) -> Reply {
        match &mut self.watch {
            Some(watch) if on => done(watch.soak(), refuse_lab),
            Some(watch) => {
                watch.end_soaker();
                Reply::Done
            }
            None if on => nothing_watches(),
            None => Reply::Done,
        }
    }

    /// What the machine is. What dead conductors left switched is not taken for its own.
    fn environment(&self) -> Environment {
        if let Ok(journals) = undo::directory() {
            // What cannot be brought back stays in its journal, where `stend factors` shows it.
            let _ = undo::settle_dead(&journals, &self.root);
        }
        environment::here()
    }
}

/// Whether the machine with this place in a plan has a system under test.
fn has_sut(plan: &Plan, place: usize) -> bool {
    let machines = &plan.lab.machines;
    machines.get(place).is_none_or(|at| at.hosts.iter().any(|host| host == desk::record::SUT))
}

/// Why hosts do not stand, with what helps where only root may raise them.
fn not_raised(why: &LabError, kind: LabKind) -> String {
    let user = rustix::process::geteuid();
    if kind != LabKind::RootNamespaces || user.is_root() {
        return why.to_string();
    }
    format!("{why}; the agent runs as user {}: start it as root", user.as_raw())
}

fn done<E>(result: Result<(), E>, refuse: impl FnOnce(E) -> Reply) -> Reply {
    result.map_or_else(refuse, |()| Reply::Done)
}

fn nothing_watches() -> Reply {
    refuse_lab("nothing watches the machine yet")
}

fn refuse_lab(why: impl Display) -> Reply {
    Reply::Refused(Refusal::Lab(why.to_string()))
}

fn refuse_factor(why: FactorError) -> Reply {
    Reply::Refused(Refusal::Factor(why.to_string()))
}

fn refuse_quota(why: LabError) -> Reply {
    let what = match why {
        LabError::NoQuota(what) => what,
        other => other.to_string(),
    };
    Reply::Refused(Refusal::Quota(what))
}
