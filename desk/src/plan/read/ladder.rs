//! Knows the ladder of a factor: rungs of which each takes one part of the path out and leaves what
//! went out before it out.

use super::error::PlanError;
use super::factor::{Known, setting};
use super::node::{Node, Section};
use super::param;
use crate::record::{FactorPlan, Level, Settings};

/// The ladder of a factor, its levels written out: each has what the first rung says, and what the
/// rungs up to its own have changed.
pub(super) fn read(
    node: &Node,
    (section, rungs): (&Section, &Node),
    known: &Known,
) -> Result<FactorPlan, PlanError> {
    section.only(&["ladder"])?;
    let name = &node.key;
    if known.factor(name).is_some() || param::anywhere(name, known) {
        let remedy = format!("a ladder switches several settings: write [factors.{name}_ladder]");
        let (line, key) = (rungs.line, name.clone());
        return Err(PlanError::WrongPlace { line, key, remedy });
    }
    if !rungs.is_table() {
        return Err(rungs.wrong(
            "a table of rungs, { \"as it is\" = { mtu = \"1500 B\" }, \"large frames\" = { mtu = \
             \"9000 B\" } }",
        ));
    }
    let mut levels: Vec<Level> = Vec::new();
    for rung in rungs.section()?.entries {
        let mut settings = Settings::new();
        for entry in &rung.section()?.entries {
            settings.insert(entry.key.clone(), setting(entry, known)?);
        }
        if let [first, ..] = &levels[..] {
            let before = levels.last().map_or(&first.settings, |level| &level.settings);
            settings = taken_out(&rung, settings, (&first.settings, before))?;
        }
        levels.push(Level { name: rung.key.clone(), settings });
    }
    if levels.len() < 2 {
        let (line, factor, levels) = (rungs.line, name.clone(), levels.len());
        return Err(PlanError::FewLevels { line, factor, levels });
    }
    Ok(FactorPlan { ladder: true, ..FactorPlan::new(name, levels) })
}

/// The settings of a rung: those before it, with what it says in their place.
fn taken_out(
    rung: &Node,
    changes: Settings,
    (first, before): (&Settings, &Settings),
) -> Result<Settings, PlanError> {
    let (line, key) = (rung.line, rung.key.clone());
    if let Some(open) = changes.keys().find(|key| !first.contains_key(*key)) {
        let remedy = format!("the first rung does not say '{open}'; say there what it is at first");
        return Err(PlanError::WrongPlace { line, key: open.clone(), remedy });
    }
    let mut settings = before.clone();
    settings.extend(changes);
    if settings == *before {
        let remedy = "it changes nothing that the rung before it has left".into();
        return Err(PlanError::WrongPlace { line, key, remedy });
    }
    Ok(settings)
}
