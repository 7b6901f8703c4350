//! Knows the tables `[factors.NAME]`: levels, profiles, and which links a path may take.

use super::error::PlanError;
use super::lab::{read_only, settable};
use super::ladder;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::param;
use super::stored::AS_PLAN;
use super::value::{outside, quantity, value};
use crate::plan::{Catalogue, THROTTLED};
use crate::record::{
    FactorPlan, FactorSpec, LabPlan, Level, LoadPlan, Scope, Settings, Value, WorkloadSpec,
};
use crate::unit::Kind;

/// Longest name of a level that a person sets, characters.
const LONGEST: usize = 40;

/// What the levels of a factor may be about.
pub(super) struct Known<'k, 'a> {
    /// The lab of the plan.
    pub lab: &'k LabPlan,
    /// Its loads.
    pub loads: &'k [LoadPlan],
    /// The workload of each.
    pub specs: &'k [&'a WorkloadSpec],
    /// What this build has.
    pub catalogue: &'k Catalogue<'a>,
}

impl<'a> Known<'_, 'a> {
    pub(super) fn factor(&self, key: &str) -> Option<&'a FactorSpec> {
        self.catalogue.factors.iter().find(|f| f.name == key)
    }

    /// Every key that could be meant.
    fn names(&self) -> Vec<&'a str> {
        let all = self.catalogue.factors.iter().map(|f| f.name);
        let mut all: Vec<&str> = all.chain(param::common(self)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

pub(super) fn read(factors: &Section, known: &Known) -> Result<Vec<FactorPlan>, PlanError> {
    factors.entries.iter().map(|node| factor(node, known)).collect()
}

fn factor(node: &Node, known: &Known) -> Result<FactorPlan, PlanError> {
    let section = node.section()?;
    section.only(&["key", "ladder", "levels", "manual", "reboot"])?;
    if let Some(rungs) = section.get("ladder") {
        return ladder::read(node, (&section, rungs), known);
    }
    let levels_node = section.get("levels").ok_or(PlanError::Missing {
        line: node.line,
        what: "levels",
        remedy: "write levels = [...], the baseline first",
    })?;
    if section.get("manual").map_or(Ok(false), Node::flag)? {
        return manual(node, (&section, levels_node), known);
    }
    let named = section.get("key");
    let key = named.map_or(Ok(node.key.as_str()), Node::string)?;
    let (levels, scope) = match known.factor(key) {
        Some(spec) if spec.scope == Scope::Profile => (profile(levels_node, known)?, spec.scope),
        Some(spec) => (plain(levels_node, spec, known)?, spec.scope),
        None if param::anywhere(key, known) => (of_load(levels_node, key, known)?, Scope::Socket),
        None => {
            let line = named.unwrap_or(node).line;
            return Err(read_only(line, key).unwrap_or_else(|| PlanError::UnknownName {
                line,
                what: "factor",
                name: key.into(),
                remedy: remedy(key, &known.names()),
            }));
        }
    };
    distinct(&node.key, levels_node.line, &levels, scope)?;
    let reboot = section.get("reboot").map_or(Ok(false), Node::flag)?;
    Ok(FactorPlan { reboot, ..FactorPlan::new(&node.key, levels) })
}

/// Holds the levels of a factor of a record to what those of a file may set; `node` holds a table
/// of settings a level.
pub(super) fn stored(node: &Node, stored: &FactorPlan, known: &Known) -> Result<(), PlanError> {
    let levels = node.section()?.entries;
    if levels.is_empty() {
        return Err(PlanError::FewLevels { line: node.line, factor: node.key.clone(), levels: 0 });
    }
    for (level, of) in levels.iter().zip(&stored.levels) {
        for entry in &level.section()?.entries {
            let value = match known.factor(&entry.key) {
                None if stored.manual && is_own(node, entry, known) => Value::Word(told(entry)?),
                None if stored.name == THROTTLED && is_simulated(&entry.key) => part_left(entry)?,
                _ => setting(entry, known)?,
            };
            if of.settings.get(&entry.key) != Some(&value) {
                return Err(outside(entry, &value.to_string(), AS_PLAN));
            }
        }
    }
    Ok(())
}

/// Whether a factor that a person sets has its own name, which no parameter has.
fn is_own(node: &Node, entry: &Node, known: &Known) -> bool {
    node.key == entry.key && !param::anywhere(&entry.key, known)
}

/// Whether a resource is one that only a simulated lab can take down; it is no factor of a plan.
fn is_simulated(key: &str) -> bool {
    key == "cpu_speed" || key.starts_with("sim_")
}

/// What is left of such a resource: a share above 0, up to 1.
fn part_left(entry: &Node) -> Result<Value, PlanError> {
    let left = quantity(entry, Kind::Share)?;
    if left.value > 0.0 && left.value <= 1.0 {
        return Ok(Value::Quantity(left));
    }
    Err(outside(entry, &left.to_string(), "more than 0 %, up to 100 %"))
}

/// A setting of any scope, as a level of a factor that is no profile or as a part of one.
pub(super) fn setting(entry: &Node, known: &Known) -> Result<Value, PlanError> {
    let spec = known.factor(&entry.key);
    if spec.is_none() && !param::anywhere(&entry.key, known) {
        return Err(PlanError::UnknownName {
            line: entry.line,
            what: "factor",
            name: entry.key.clone(),
            remedy: remedy(&entry.key, &known.names()),
        });
    }
    match spec.filter(|spec| matches!(spec.scope, Scope::Path | Scope::Sut)) {
        None => part(entry, known),
        Some(spec) if spec.scope == Scope::Sut => value(entry, spec.kind),
        Some(spec) => {
            known_link(entry, entry.written("a level in quotes")?, known.lab)?;
            value(entry, spec.kind)
        }
    }
}

/// A factor that a person sets, by a name and levels of his own.
fn manual(
    node: &Node,
    (section, levels): (&Section, &Node),
    known: &Known,
) -> Result<FactorPlan, PlanError> {
    let name = &node.key;
    for key in ["key", "reboot"] {
        if let Some(extra) = section.get(key) {
            return Err(PlanError::WrongPlace {
                line: extra.line,
                key: key.into(),
                remedy:
                    "a factor with manual = true has one level for a whole run, and its own name"
                        .into(),
            });
        }
    }
    if known.factor(name).is_some() || param::anywhere(name, known) {
        return Err(PlanError::ManualKnown { line: node.line, name: name.clone() });
    }
    let level = |item: &Node| {
        let level = told(item)?;
        let settings = Settings::from([(name.clone(), Value::Word(level.clone()))]);
        Ok(Level { name: level, settings })
    };
    let items = levels.list().ok_or_else(|| levels.wrong(LIST))?;
    let all: Vec<Level> = items.iter().map(level).collect::<Result<_, _>>()?;
    distinct(name, levels.line, &all, Scope::Machine)?;
    Ok(FactorPlan { manual: true, ..FactorPlan::new(name, all) })
}

/// The name of a level that a person sets.
fn told(item: &Node) -> Result<String, PlanError> {
    let level = item.written("a level in quotes")?;
    let fits = level.trim() == level && !level.chars().any(char::is_control);
    if fits && (1..=LONGEST).contains(&level.chars().count()) {
        return Ok(level.into());
    }
    let allowed = format!("1 to {LONGEST} characters without blanks around them");
    Err(outside(item, level, &allowed))
}

const LIST: &str = "a list of levels, the baseline first";

fn plain(node: &Node, spec: &FactorSpec, known: &Known) -> Result<Vec<Level>, PlanError> {
    let items = node.list().ok_or_else(|| node.wrong(LIST))?;
    if spec.scope == Scope::Path && known.lab.links.len() == 1 {
        return Err(PlanError::OneLink { line: node.line });
    }
    if matches!(spec.scope, Scope::Path | Scope::Link) && known.lab.links.is_empty() {
        let (line, key) = (node.line, spec.name.to_owned());
        return Err(PlanError::NoClients { line, key });
    }
    stands((node.line, spec), known.lab)?;
    let level = |item: &Node| {
        let name = item.written("a level in quotes")?.to_owned();
        if spec.scope == Scope::Path {
            known_link(item, &name, known.lab)?;
        }
        if spec.scope == Scope::Socket {
            param::of_all(item, spec.name, known)?;
        }
        let settings = Settings::from([(spec.name.to_owned(), value(item, spec.kind)?)]);
        Ok(Level { name, settings })
    };
    items.iter().map(level).collect()
}

/// What a relay keeps needs one; packets need a link.
pub(super) fn stands((line, spec): (u32, &FactorSpec), lab: &LabPlan) -> Result<(), PlanError> {
    let key = || spec.name.to_owned();
    match spec.scope {
        Scope::Relay if lab.relay().is_none() => Err(PlanError::NoRelay { line, key: key() }),
        Scope::Network if lab.links.is_empty() => Err(PlanError::NoClients { line, key: key() }),
        _ => Ok(()),
    }
}

/// The levels of a factor that is a parameter of every load.
fn of_load(node: &Node, key: &str, known: &Known) -> Result<Vec<Level>, PlanError> {
    let items = node.list().ok_or_else(|| node.wrong(LIST))?;
    let level = |item: &Node| {
        let name = item.written("a level in quotes")?.to_owned();
        let settings = Settings::from([(key.to_owned(), param::value(item, key, known)?)]);
        Ok(Level { name, settings })
    };
    items.iter().map(level).collect()
}

fn known_link(node: &Node, level: &str, lab: &LabPlan) -> Result<(), PlanError> {
    let paths = lab.links.iter().filter(|link| lab.carries(link));
    let links: Vec<&str> = paths.map(|link| link.name.as_str()).collect();
    if links.contains(&level) {
        return Ok(());
    }
    let remedy = remedy(level, &links);
    Err(PlanError::NotALink { line: node.line, level: level.into(), remedy })
}

fn profile(node: &Node, known: &Known) -> Result<Vec<Level>, PlanError> {
    if !node.is_table() {
        return Err(node.wrong("a table of levels, levels = { plain = { tso = \"off\" }, ... }"));
    }
    let mut levels = Vec::new();
    for level in node.section()?.entries {
        let mut settings = Settings::new();
        for entry in level.section()?.entries {
            settings.insert(entry.key.clone(), part(&entry, known)?);
        }
        levels.push(Level { name: level.key.clone(), settings });
    }
    Ok(levels)
}

/// One setting of a profile.
fn part(entry: &Node, known: &Known) -> Result<Value, PlanError> {
    if known.factor(&entry.key).is_none() && param::anywhere(&entry.key, known) {
        return param::value(entry, &entry.key, known);
    }
    let spec = settable(entry, known.catalogue, &PARTS)?;
    stands((entry.line, spec), known.lab)?;
    if spec.scope == Scope::Socket {
        param::of_all(entry, spec.name, known)?;
    }
    value(entry, spec.kind)
}

/// What a profile may set, besides parameters of all loads.
pub(in crate::plan) const PARTS: [Scope; 8] = [
    Scope::Link,
    Scope::Host,
    Scope::Machine,
    Scope::Side,
    Scope::Network,
    Scope::Relay,
    Scope::Program,
    Scope::Socket,
];

/// A comparison needs two levels that differ, and every level must say all that another one says:
/// what it left out would be whatever the level before it had set. Two profiles under two names may
/// set the same: that is how a set-up is compared with itself.
fn distinct(factor: &str, line: u32, levels: &[Level], scope: Scope) -> Result<(), PlanError> {
    if levels.len() < 2 {
        return Err(PlanError::FewLevels { line, factor: factor.into(), levels: levels.len() });
    }
    for (i, level) in levels.iter().enumerate() {
        for other in &levels[..i] {
            if level.settings == other.settings && scope != Scope::Profile {
                return Err(PlanError::EqualLevels {
                    line,
                    factor: factor.into(),
                    first: other.name.clone(),
                    second: level.name.clone(),
                });
            }
            complete(factor, line, level, other)?;
            complete(factor, line, other, level)?;
        }
    }
    Ok(())
}

fn complete(factor: &str, line: u32, level: &Level, other: &Level) -> Result<(), PlanError> {
    match other.settings.keys().find(|key| !level.settings.contains_key(*key)) {
        None => Ok(()),
        Some(key) => Err(PlanError::UnequalProfile {
            line,
            factor: factor.into(),
            level: level.name.clone(),
            key: key.clone(),
            other: other.name.clone(),
        }),
    }
}
