//! Knows what was compared: the levels by name, what stands behind names that a person gave, and
//! which of them is the baseline.

use super::names::{PATH, level_name, setting};
use super::ruling::{count, shown};
use super::{Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{FactorPlan, Level, LinkPlan, Plan, Settings};

/// Up to this many levels are named.
const NAMED: usize = 6;

/// `plain (the baseline: tso off), offload (tso on)`, only with what the levels are apart in.
pub(super) fn line(writer: &Writer, plan: &Plan) -> Result<Option<Prose>, ReportError> {
    let Some(factor) = plan.factors.iter().find(|f| f.name == plan.method.compare) else {
        return Ok(None);
    };
    let behind: Vec<Settings> = factor.levels.iter().map(|level| settings(plan, level)).collect();
    let mut said = Vec::new();
    for (level, own) in factor.levels.iter().zip(&behind).take(NAMED) {
        let apart = |key: &str| behind.iter().any(|other| other.get(key) != own.get(key));
        let told: Vec<Prose> = own
            .iter()
            .filter(|(key, value)| apart(key) && !level.name.starts_with(&value.to_string()))
            .map(|(key, value)| setting(key, &shown(value)))
            .collect();
        let base = factor.levels[0].name == level.name;
        said.push(one(writer, (plan, factor, level), (&Prose::join_with(&told, ", "), base))?);
    }
    if let Some(more) = factor.levels.len().checked_sub(NAMED).filter(|more| *more > 0) {
        said.push(writer.say("level-more", Args::new().count("count", count(more)))?);
    }
    let levels = Prose::join_with(&said, ", ");
    writer.say("box-levels-said", Args::new().prose("levels", &levels)).map(Some)
}

fn one(
    writer: &Writer,
    (plan, factor, level): (&Plan, &FactorPlan, &Level),
    (settings, base): (&Prose, bool),
) -> Said {
    let args = Args::new()
        .name("level", &level_name(plan, &factor.name, &level.name))
        .prose("settings", settings);
    match (settings.text().is_empty(), base) {
        (true, false) => Ok(Prose::verbatim(&level_name(plan, &factor.name, &level.name))),
        (true, true) => writer.say("level-baseline", args),
        (false, true) => writer.say("level-means-baseline", args),
        (false, false) => writer.say("level-means", args),
    }
}

/// What a level sets; of a link what the link is set to.
fn settings(plan: &Plan, level: &Level) -> Settings {
    let path = level.settings.get(PATH).and_then(|value| value.word());
    let link = plan.lab.links.iter().find(|link: &&LinkPlan| Some(link.name.as_str()) == path);
    let mut all = link.map(|link| link.settings.clone()).unwrap_or_default();
    all.extend(level.settings.clone().into_iter().filter(|(key, _)| key != PATH));
    all
}
