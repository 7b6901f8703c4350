//! Knows which levels are set. Sets those that the next trial wants, and undoes the others.
//!
//! Must not know how a level is set: its mechanism does.

use crate::factor::{self, FactorError, Mechanism, Undo};
use crate::lab::machine::Order;
use crate::lab::undo::UndoError;
use crate::lab::{Lab, LabError};
use desk::record::{Fault, Plan, SUT, Scope, Settings, Trial, Value};

/// A factor at a level; of those of links, on one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    link: String,
    key: String,
    value: Value,
}

/// A level that a trial wants, and how it is set.
struct Wanted {
    level: Setting,
    mechanism: Mechanism,
    /// Whether what is read back goes into the record.
    shown: bool,
}

/// What is set, in the order of setting, each with its way back.
#[derive(Debug, Default)]
pub struct Levels {
    set: Vec<(Setting, Undo)>,
    /// What could not be brought back, in words for the person.
    left: Vec<String>,
}

impl Levels {
    /// Sets the levels that a trial of a plan wants, undoes the others, and reads all back. Levels
    /// that are in force already stay untouched.
    ///
    /// # Errors
    /// When a level does not take, or one that is no longer wanted cannot be undone.
    pub fn bring_to(
        &mut self,
        lab: &mut Lab,
        (plan, trial): (&Plan, &Trial),
        observed: &mut Settings,
    ) -> Result<(), Fault> {
        let wanted = wanted(plan, trial);
        let sut = trial.settings.get(SUT).and_then(Value::word);
        if let Some(sut) = sut {
            if !lab.has_sut(sut) {
                // What is set is on the other machine, and on the links to it.
                self.undo_to(lab, 0)?;
                lab.take_sut(sut).map_err(LabError::into_fault)?;
            }
            observed.insert(SUT.into(), Value::Word(sut.into()));
        }
        let stays = |(set, _): &(Setting, Undo)| wanted.iter().any(|one| one.level == *set);
        let keep = self.set.iter().position(|one| !stays(one)).unwrap_or(self.set.len());
        self.undo_to(lab, keep)?;
        for Wanted { level, mechanism, .. } in &wanted {
            if !self.set.iter().any(|(set, _)| set == level) {
                let undo = mechanism.apply(lab, &level.link, &level.value);
                self.set.push((level.clone(), undo.map_err(into_fault)?));
            }
        }
        let path = link_of(plan, &trial.settings);
        lab.wait_for_adapters(&path).map_err(LabError::into_fault)?;
        // One level may change another: all are read after the last was set.
        for Wanted { level, mechanism, .. } in wanted.into_iter().filter(|one| one.shown) {
            let found = mechanism.observe(lab, &level.link, &level.value).map_err(into_fault)?;
            mechanism.must_be(&level.key, &level.value, &found).map_err(into_fault)?;
            observed.insert(level.key, found);
        }
        Ok(())
    }

    /// Undoes, last first, until so many are left.
    fn undo_to(&mut self, lab: &mut Lab, keep: usize) -> Result<(), Fault> {
        while self.set.len() > keep {
            let Some((_, undo)) = self.set.pop() else { break };
            self.undo(lab, &undo).map_err(into_fault)?;
        }
        Ok(())
    }

    fn undo(&mut self, lab: &mut Lab, undo: &Undo) -> Result<(), FactorError> {
        let done = undo.carry_out(lab);
        if let Err(FactorError::Undo(UndoError::Left(words))) = &done {
            self.left.push(words.clone());
        }
        done
    }

    /// Brings everything back; returns whether the lab is restored. Of a broken lab only the
    /// machine's settings are undone.
    #[must_use]
    pub fn undo_all(&mut self, lab: &mut Lab, mut whole: bool) -> bool {
        while let Some((_, undo)) = self.set.pop() {
            if whole || !undo.ends_with_lab() {
                let done = self.undo(lab, &undo);
                whole &= done.is_ok() || !undo.ends_with_lab();
            }
        }
        // Where the machine is gone, its agent has undone all.
        let _ = lab.tell_suts(&Order::Close);
        whole
    }

    /// The lab is gone, and with it what was set on it.
    pub fn forget_lab(&mut self) {
        self.set.retain(|(_, undo)| !undo.ends_with_lab());
    }

    /// What could not be brought back, in words for the person.
    #[must_use]
    pub fn left(&self) -> &[String] {
        &self.left
    }
}

/// Every level that a trial wants, in the order of setting: what the whole run has before what
/// changes from trial to trial, so that little is undone between two.
fn wanted(plan: &Plan, trial: &Trial) -> Vec<Wanted> {
    let settings = &trial.settings;
    let path = link_of(plan, settings);
    let mut all = Vec::new();
    let mut add = |link: &str, (key, value): (&String, &Value), links: bool, shown: bool| {
        let Some(mechanism) = factor::mechanism(key) else { return };
        if matches!(mechanism, Mechanism::Link(_)) == links {
            let level = Setting { link: link.into(), key: key.clone(), value: value.clone() };
            all.push(Wanted { level, mechanism, shown });
        }
    };
    for one in &in_force(plan, trial) {
        add("", one, false, true);
    }
    for (number, link) in plan.lab.links.iter().enumerate() {
        // A factor's level stands above what the plan sets for the whole run.
        let mut here = plan.lab.settings.clone();
        here.extend(link.settings.clone());
        here.extend(settings.clone());
        for (key, value) in &here {
            // Every link has the same hosts at its ends: theirs are set along with the first.
            let of_hosts = factor::spec(key).is_some_and(|spec| spec.scope == Scope::Host);
            if number == 0 || !of_hosts {
                add(&link.name, (key, value), true, of_hosts || link.name == path);
            }
        }
    }
    // A change of SMT changes which CPUs there are: they are held after it, and freed before it.
    let machine = |key: &String| matches!(factor::mechanism(key), Some(Mechanism::Machine(_)));
    let of_cpus = settings.keys().any(machine);
    all.sort_by_key(|Wanted { level, mechanism, .. }| {
        let with_machine = of_cpus && matches!(mechanism, Mechanism::Cpus(_));
        (settings.contains_key(&level.key) || with_machine, rank(*mechanism))
    });
    all
}

/// The machine comes before what stands on it.
const fn rank(mechanism: Mechanism) -> u8 {
    match mechanism {
        Mechanism::Machine(_) | Mechanism::Held(_) => 0,
        Mechanism::Link(_) => 1,
        Mechanism::Quota(_) => 2,
        Mechanism::Cpus(_) => 3,
        Mechanism::Path(_) | Mechanism::Device(_) => 4,
        // An MTU takes addresses of IPv6 away.
        Mechanism::Version(_) => 5,
    }
}

/// The link that carries the traffic: the level of `path`, else the first.
pub(super) fn link_of(plan: &Plan, settings: &Settings) -> String {
    let path = settings.get("path").and_then(Value::word).map(str::to_owned);
    path.or_else(|| plan.lab.links.first().map(|l| l.name.clone())).unwrap_or_default()
}

/// What the plan sets for the whole run, and above it the settings of the trial.
pub(super) fn in_force(plan: &Plan, trial: &Trial) -> Settings {
    let mut settings = plan.lab.settings.clone();
    settings.extend(trial.settings.clone());
    settings
}

/// What a setting that cannot be made means for the trial.
pub(super) fn into_fault(e: FactorError) -> Fault {
    match e {
        FactorError::Lab(e) => e.into_fault(),
        other => Fault::Factor { what: other.to_string() },
    }
}
