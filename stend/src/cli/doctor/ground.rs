//! Knows every kind of place on this machine, and refuses a plan there in the words in which a run
//! of it would be refused.
//!
//! Must not know which plans there are.

use super::items;
use crate::cli::error::CliError;
use crate::cli::place;
use desk::plan::order;
use desk::plan::refuse_unbound;
use desk::record::{LabKind, Plan, Scope, Settings, Trial, Value};
use rig::factor::{self, Mechanism};
use rig::lab::undo;
use rig::probe::Soaker;
use rig::run::{Rehearsal, RunError, refuse_boots};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Nobody stops the doctor but with a signal.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The place that measures nothing.
pub const SIMULATED: &str = "sim";

/// A kind of place.
pub struct Ground {
    /// As `--lab` calls it.
    pub name: &'static str,
    /// The kind.
    pub kind: LabKind,
    /// The lab on which things are tried, or why there is none; nothing for the simulated one.
    standing: Option<Result<Rehearsal, String>>,
    /// What was tried already: none if it worked, else why not.
    tried: BTreeMap<String, Option<String>>,
}

/// What holds in every kind of place.
pub struct Common {
    /// Why no run can be kept.
    pub store: Option<String>,
    journal: Option<String>,
    soaker: Option<String>,
}

impl Common {
    /// Looks at the places where runs and undos are kept, and at the soaker.
    pub fn look(store: &Result<PathBuf, CliError>) -> Self {
        let store = items::refused(store);
        let journal = undo::directory().and_then(|at| undo::refuse(&at)).err();
        let journal = journal.map(|e| e.to_string());
        let soaker = Soaker::start().err().map(|e| RunError::Soaker(e.to_string()).to_string());
        Self { store, journal, soaker }
    }
}

/// All kinds of place, each built once to see whether it stands.
pub fn all(binary: &Path) -> Vec<Ground> {
    let rows = [
        ("root", LabKind::RootNamespaces),
        ("user", LabKind::UserNamespaces),
        ("loopback", LabKind::Loopback),
        (SIMULATED, LabKind::Simulated),
    ];
    let ground = |(name, kind)| {
        let real = kind != LabKind::Simulated;
        let standing = real.then(|| build(kind, binary));
        Ground { name, kind, standing, tried: BTreeMap::new() }
    };
    rows.into_iter().map(ground).collect()
}

fn build(kind: LabKind, binary: &Path) -> Result<Rehearsal, String> {
    Rehearsal::build(kind, binary, &NEVER).map_err(|e| e.to_string())
}

impl Ground {
    /// Why a plan cannot run here, wherever runs are kept; none if it can. In the order in which a
    /// run finds out.
    pub fn refusal(&mut self, plan: &Plan, common: &Common, binary: &Path) -> Option<String> {
        if let Err(e) = refuse_unbound(plan) {
            return Some(e.to_string());
        }
        if let Err(e) = place::refuse_without_links(plan, self.kind, "") {
            return Some(e.to_string());
        }
        if self.kind == LabKind::Simulated {
            return None;
        }
        if let Err(e) = refuse_boots(plan) {
            return Some(CliError::from(e).to_string());
        }
        if let Err(e) = place::refuse(plan) {
            return Some(CliError::from(e).to_string());
        }
        let written = self.kind == LabKind::RootNamespaces || sets_machine(plan);
        if let (true, Some(why)) = (written, &common.journal) {
            return Some(why.clone());
        }
        if let Some(Err(why)) = &self.standing {
            return Some(why.clone());
        }
        if let (true, Some(why)) = (plan.method.displaced_work, &common.soaker) {
            return Some(why.clone());
        }
        let levels = settings(plan).flat_map(Settings::iter);
        let refused = levels.into_iter().find_map(|(key, level)| {
            let what = format!("{key} {level}");
            self.once(what, binary, |lab| lab.set(key, level).map_err(|e| e.to_string()))
        });
        refused.or_else(|| self.staged(plan, binary))
    }

    /// Why the loads of a plan cannot be staged here: one trial for each way of making its sockets.
    /// Loads of the machine alone are refused by no run: what it lacks is said of each cell.
    fn staged(&mut self, plan: &Plan, binary: &Path) -> Option<String> {
        let trials = order(plan);
        let mut over_links = trials.iter().filter(|trial| !plan.runs_alone(&trial.point.load));
        over_links.find_map(|trial| {
            let what = sockets(trial);
            self.once(what, binary, |lab| {
                lab.stage(loads::ALL, plan, trial).map_err(|e| e.to_string())
            })
        })
    }

    /// Tries a thing that was not tried before. After a refusal the lab may be in any state: the
    /// next thing gets a new one.
    fn once(
        &mut self,
        what: String,
        binary: &Path,
        attempt: impl FnOnce(&mut Rehearsal) -> Result<(), String>,
    ) -> Option<String> {
        if let Some(known) = self.tried.get(&what) {
            return known.clone();
        }
        let refused = match &mut self.standing {
            Some(Ok(lab)) => attempt(lab).err(),
            Some(Err(why)) => Some(why.clone()),
            None => None,
        };
        if refused.is_some() {
            // The old one goes first, with its hosts.
            self.standing = None;
            self.standing = Some(build(self.kind, binary));
        }
        self.tried.insert(what, refused.clone());
        refused
    }
}

/// Everything that a plan sets anywhere.
pub fn settings(plan: &Plan) -> impl Iterator<Item = &Settings> {
    let levels = plan.factors.iter().flat_map(|f| &f.levels).map(|level| &level.settings);
    levels.chain(plan.lab.links.iter().map(|link| &link.settings)).chain([&plan.lab.settings])
}

/// Whether it sets anything of the machine itself, or makes control groups there.
pub fn sets_machine(plan: &Plan) -> bool {
    let of_machine = |mechanism| matches!(mechanism, Mechanism::Machine(_) | Mechanism::Quota(_));
    factor::levels(plan).any(|(.., mechanism)| of_machine(mechanism))
}

/// What of a trial decides how its sockets are made: every word of load and treatment that is set
/// on one, or says by which calls it is served.
fn sockets(trial: &Trial) -> String {
    let of_socket = |key: &str| factor::spec(key).is_some_and(|f| f.scope == Scope::Socket);
    let mut all = trial.point.params.clone();
    all.extend(trial.settings.clone());
    let switched =
        |key: &String| trial.settings.contains_key(key) && trial.point.params.contains_key(key);
    all.retain(|key, value| {
        of_socket(key) || switched(key) || key == "engine" && matches!(value, Value::Word(_))
    });
    let words: Vec<String> = all.iter().map(|(key, value)| format!("{key} {value}")).collect();
    format!("{}: {}", trial.point.workload, words.join(", "))
}
