//! Knows how a record tells that a setting of a machine was tried, and what brings it for good.
//!
//! Must not know any setting.

use crate::record::{Environment, Fact, KeyClass, Plan};

/// End of the name of a level that is the machine as it was found.
pub const AS_SET: &str = " (as set)";

/// Facts of a run: the settings with nothing to try, and with something; the command that brings
/// the level that was tried; the file that keeps it, and the line in it; where its gain holds.
const USUAL: &str = "tune.usual";
const PROPOSED: &str = "tune.proposed";
const COMMAND: &str = "tune.command";
const FILE: &str = "tune.file";
const LINE: &str = "tune.line";
const HOLDS: &str = "tune.holds";

/// A setting as its owner makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasting {
    /// The command that sets it now, as root.
    pub command: String,
    /// Where a line keeps it over a boot. Empty where something has only to be left out.
    pub file: String,
    /// The line.
    pub line: String,
    /// Where the gain holds: `network`, `offload`, `line`, `memory`, or `work` of a CPU; or empty.
    pub holds: String,
}

/// Whether a plan tries a setting against the machine as it was found.
#[must_use]
pub fn is_tuning(plan: &Plan) -> bool {
    let compared = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    compared.is_some_and(|f| f.levels.len() == 2 && f.levels[0].name.ends_with(AS_SET))
}

/// What the record of such a run has besides: the settings with nothing to try and with something,
/// and how the level is made to last; of a run that describes the machine only the former.
#[must_use]
pub fn tune_facts([usual, proposed]: [&str; 2], lasting: Option<&Lasting>) -> Vec<Fact> {
    let fact = |key: &str, value: &str| Fact {
        key: key.into(),
        value: value.into(),
        class: KeyClass::Info,
        source: "stend survey --tune".into(),
    };
    let mut facts = vec![fact(USUAL, usual), fact(PROPOSED, proposed)];
    if let Some(Lasting { command, file, line, holds }) = lasting {
        let told = [(COMMAND, command), (FILE, file), (LINE, line), (HOLDS, holds)];
        facts.extend(told.map(|(key, value)| fact(key, value)));
    }
    facts
}

/// The settings with nothing to try, and with something; none in a run that did not look.
#[must_use]
pub fn looked_at(machine: &Environment) -> Option<[&str; 2]> {
    Some([machine.fact(USUAL)?, machine.fact(PROPOSED)?])
}

/// How the level that was tried is made to last.
#[must_use]
pub fn lasting(machine: &Environment) -> Option<Lasting> {
    let told = |key| machine.fact(key).map(str::to_owned);
    let [command, file, line, holds] = [COMMAND, FILE, LINE, HOLDS].map(told);
    Some(Lasting { command: command?, file: file?, line: line?, holds: holds? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_setting_comes_back() {
        let [command, line, holds] = ["a -b", "c", "work"].map(String::from);
        let made = Lasting { command, file: String::new(), line, holds };
        let facts = tune_facts(["x, y", "z"], Some(&made));
        let machine = Environment { facts, ..Environment::default() };
        assert_eq!((looked_at(&machine), lasting(&machine)), (Some(["x, y", "z"]), Some(made)));
        let machine = Environment { facts: tune_facts(["x", ""], None), ..Environment::default() };
        assert_eq!((looked_at(&machine), lasting(&machine)), (Some(["x", ""]), None));
        assert_eq!(looked_at(&Environment::default()), None);
    }
}
