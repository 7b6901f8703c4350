//! Knows the tables `[factors.NAME]`: levels, profiles, and which links a path may take.

use super::error::PlanError;
use super::lab::settable;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::value;
use crate::plan::Catalogue;
use crate::record::{FactorPlan, FactorSpec, LabPlan, Level, Scope, Settings};

pub(super) fn read(
    factors: &Section,
    lab: &LabPlan,
    catalogue: &Catalogue,
) -> Result<Vec<FactorPlan>, PlanError> {
    factors.entries.iter().map(|node| factor(node, lab, catalogue)).collect()
}

fn factor(node: &Node, lab: &LabPlan, catalogue: &Catalogue) -> Result<FactorPlan, PlanError> {
    let section = node.section()?;
    section.only(&["key", "levels", "reboot"])?;
    let named = section.get("key");
    let key = named.map_or(Ok(node.key.as_str()), Node::string)?;
    let spec = catalogue.factors.iter().find(|f| f.name == key).ok_or_else(|| {
        let known: Vec<&str> = catalogue.factors.iter().map(|f| f.name).collect();
        PlanError::UnknownName {
            line: named.unwrap_or(node).line,
            what: "factor",
            name: key.into(),
            remedy: remedy(key, &known),
        }
    })?;
    let levels_node = section.get("levels").ok_or(PlanError::Missing {
        line: node.line,
        what: "levels",
        remedy: "write levels = [...], the baseline first",
    })?;
    let levels = match spec.scope {
        Scope::Profile => profile(levels_node, catalogue)?,
        _ => plain(levels_node, spec, lab)?,
    };
    distinct(&node.key, levels_node.line, &levels, spec.scope)?;
    let reboot = section.get("reboot").map_or(Ok(false), Node::flag)?;
    Ok(FactorPlan { name: node.key.clone(), levels, reboot })
}

fn plain(node: &Node, spec: &FactorSpec, lab: &LabPlan) -> Result<Vec<Level>, PlanError> {
    let items = node.list().ok_or_else(|| node.wrong("a list of levels, the baseline first"))?;
    if spec.scope == Scope::Path && lab.links.len() == 1 {
        return Err(PlanError::OneLink { line: node.line });
    }
    if matches!(spec.scope, Scope::Path | Scope::Link) && lab.links.is_empty() {
        let (line, key) = (node.line, spec.name.to_owned());
        return Err(PlanError::NoClients { line, key });
    }
    let level = |item: &Node| {
        let name = item.written("a level in quotes")?.to_owned();
        if spec.scope == Scope::Path {
            known_link(item, &name, lab)?;
        }
        let settings = Settings::from([(spec.name.to_owned(), value(item, spec.kind)?)]);
        Ok(Level { name, settings })
    };
    items.iter().map(level).collect()
}

fn known_link(node: &Node, level: &str, lab: &LabPlan) -> Result<(), PlanError> {
    let links: Vec<&str> = lab.links.iter().map(|link| link.name.as_str()).collect();
    if links.contains(&level) {
        return Ok(());
    }
    let remedy = remedy(level, &links);
    Err(PlanError::NotALink { line: node.line, level: level.into(), remedy })
}

fn profile(node: &Node, catalogue: &Catalogue) -> Result<Vec<Level>, PlanError> {
    if !node.is_table() {
        return Err(node.wrong("a table of levels, levels = { plain = { tso = \"off\" }, ... }"));
    }
    let mut levels = Vec::new();
    for level in node.section()?.entries {
        let mut settings = Settings::new();
        for entry in level.section()?.entries {
            let scopes = [Scope::Link, Scope::Host, Scope::Machine, Scope::Side, Scope::Socket];
            let spec = settable(&entry, catalogue, &scopes)?;
            settings.insert(entry.key.clone(), value(&entry, spec.kind)?);
        }
        levels.push(Level { name: level.key.clone(), settings });
    }
    Ok(levels)
}

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
