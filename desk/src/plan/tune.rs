//! Knows how a record tells that a setting of a machine was tried, and what brings it for good.
//!
//! Must not know any setting.

use crate::record::{Environment, Fact, KeyClass, Plan};

/// End of the name of a level that is the machine as it was found.
pub const AS_SET: &str = " (as set)";

/// Facts of a run: the settings with nothing to try, with something, and with something that could
/// not be tried; the command that brings the level that was tried; the file that keeps it, and the
/// line in it; where its gain holds.
const USUAL: &str = "tune.usual";
const PROPOSED: &str = "tune.proposed";
const BARRED: &str = "tune.barred";
const COMMAND: &str = "tune.command";
const FILE: &str = "tune.file";
const LINE: &str = "tune.line";
const HOLDS: &str = "tune.holds";

/// Where the gain of a setting holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// Wherever the machine does such work.
    #[default]
    Everywhere,
    /// On paths with almost no round-trip time.
    ShortPath,
    /// On a virtual link; an adapter gains the CPU time.
    VirtualLink,
    /// Up to the line rate of the adapter, which is known.
    UpToLine,
    /// Up to the line rate of the adapter, which is not known.
    LineUnknown,
    /// In much memory that is read at random.
    RandomMemory,
    /// In work that fills a CPU.
    CpuWork,
}

const HOLDS_WORDS: [(Holds, &str); 7] = [
    (Holds::Everywhere, ""),
    (Holds::ShortPath, "network"),
    (Holds::VirtualLink, "offload"),
    (Holds::UpToLine, "line"),
    (Holds::LineUnknown, "line-unknown"),
    (Holds::RandomMemory, "memory"),
    (Holds::CpuWork, "work"),
];

/// The word of a value in its table.
fn word_of<T: PartialEq>(table: &[(T, &'static str)], value: T) -> &'static str {
    table.iter().find(|(known, _)| *known == value).map_or("", |(_, word)| word)
}

/// The value of a word; none of a word that the table has not.
fn value_of<T: Copy>(table: &[(T, &'static str)], word: &str) -> Option<T> {
    table.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}

impl Holds {
    fn word(self) -> &'static str {
        word_of(&HOLDS_WORDS, self)
    }

    /// Whether the machine itself bounds the gain: not where a link of the lab stands for a line of
    /// unknown rate.
    #[must_use]
    pub fn is_bounded(self) -> bool {
        self != Self::LineUnknown
    }
}

/// Why a setting with something to try was not tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barred {
    /// The user may not choose the level.
    NotAllowed,
    /// The lab has no links of its own.
    NoLinks,
    /// The machine refuses to have it switched.
    Refused,
    /// The lab is a model.
    Model,
}

const BARRED_WORDS: [(Barred, &str); 4] = [
    (Barred::NotAllowed, "not-allowed"),
    (Barred::NoLinks, "no-links"),
    (Barred::Refused, "refused"),
    (Barred::Model, "model"),
];

/// What came of a look at the settings of a machine, each by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// With nothing to try.
    pub usual: Vec<String>,
    /// With something that is tried.
    pub proposed: Vec<String>,
    /// With something that is not tried, and why.
    pub barred: Vec<(String, Barred)>,
}

/// A setting as its owner makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasting {
    /// The command that sets it now, as root.
    pub command: String,
    /// Where a line keeps it over a boot. Empty where something has only to be left out.
    pub file: String,
    /// The line.
    pub line: String,
    /// Where the gain holds.
    pub holds: Holds,
}

/// Whether a plan tries a setting against the machine as it was found.
#[must_use]
pub fn is_tuning(plan: &Plan) -> bool {
    let compared = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    compared.is_some_and(|f| f.levels.len() == 2 && f.levels[0].name.ends_with(AS_SET))
}

/// What the record of such a run has besides: what came of the look, and how the level is made to
/// last; of a run that describes the machine only the former.
#[must_use]
pub fn tune_facts(looked: &Looked, lasting: Option<&Lasting>) -> Vec<Fact> {
    let fact = |key: &str, value: &str| Fact {
        key: key.into(),
        value: value.into(),
        class: KeyClass::Info,
        source: "stend survey --tune".into(),
    };
    let barred =
        |(name, why): &(String, Barred)| format!("{name}={}", word_of(&BARRED_WORDS, *why));
    let barred: Vec<String> = looked.barred.iter().map(barred).collect();
    let mut facts = vec![
        fact(USUAL, &looked.usual.join(BETWEEN)),
        fact(PROPOSED, &looked.proposed.join(BETWEEN)),
        fact(BARRED, &barred.join(BETWEEN)),
    ];
    if let Some(Lasting { command, file, line, holds }) = lasting {
        let told = [(COMMAND, &**command), (FILE, file), (LINE, line), (HOLDS, holds.word())];
        facts.extend(told.map(|(key, value)| fact(key, value)));
    }
    facts
}

/// What stands between two names.
const BETWEEN: &str = ", ";

/// What came of the look at the settings; none of a run that did not look.
#[must_use]
pub fn looked_at(machine: &Environment) -> Option<Looked> {
    let names = |said: &str| -> Vec<String> {
        said.split(BETWEEN).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let barred = |said: &String| {
        let (name, word) = said.split_once('=')?;
        Some((name.to_owned(), value_of(&BARRED_WORDS, word)?))
    };
    let not_tried = names(machine.fact(BARRED).unwrap_or_default());
    Some(Looked {
        usual: names(machine.fact(USUAL)?),
        proposed: names(machine.fact(PROPOSED)?),
        barred: not_tried.iter().filter_map(barred).collect(),
    })
}

/// How the level that was tried is made to last.
#[must_use]
pub fn lasting(machine: &Environment) -> Option<Lasting> {
    let told = |key| machine.fact(key).map(str::to_owned);
    let [command, file, line] = [COMMAND, FILE, LINE].map(told);
    let holds = value_of(&HOLDS_WORDS, machine.fact(HOLDS)?).unwrap_or_default();
    Some(Lasting { command: command?, file: file?, line: line?, holds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(looked: &Looked, made: Option<&Lasting>) -> (Option<Looked>, Option<Lasting>) {
        let facts = tune_facts(looked, made);
        let machine = Environment { facts, ..Environment::default() };
        (looked_at(&machine), lasting(&machine))
    }

    #[test]
    fn what_is_kept_of_a_setting_comes_back() {
        let [command, line] = ["a -b", "c"].map(String::from);
        let barred = vec![("w".into(), Barred::NotAllowed), ("v".into(), Barred::NoLinks)];
        let [usual, proposed] = [vec!["x".into(), "y".into()], vec!["z".into()]];
        let looked = Looked { usual, proposed, barred };
        for (holds, _) in HOLDS_WORDS {
            let (command, line) = (command.clone(), line.clone());
            let made = Lasting { command, file: String::new(), line, holds };
            assert_eq!(read_back(&looked, Some(&made)), (Some(looked.clone()), Some(made)));
        }
        let nothing = Looked::default();
        assert_eq!(read_back(&nothing, None), (Some(nothing.clone()), None));
        assert_eq!(looked_at(&Environment::default()), None);
    }
}
