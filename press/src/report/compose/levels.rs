//! Knows what stands behind the names that a person gave to levels.

use super::names::{PATH, setting};
use super::ruling::shown;
use super::{Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Level, LinkPlan, Plan, Settings};

/// `plain: tso off; offload: tso on`, if the names of the compared levels do not say it
/// themselves, and only what they are apart in.
pub(super) fn line(writer: &Writer, plan: &Plan) -> Result<Option<Prose>, ReportError> {
    let Some(factor) = plan.factors.iter().find(|f| f.name == plan.method.compare) else {
        return Ok(None);
    };
    let behind: Vec<Settings> = factor.levels.iter().map(|level| settings(plan, level)).collect();
    let mut said = Vec::new();
    for (level, own) in factor.levels.iter().zip(&behind) {
        let apart = |key: &str| behind.iter().any(|other| other.get(key) != own.get(key));
        let told: Vec<Prose> = own
            .iter()
            .filter(|(key, value)| apart(key) && value.to_string() != level.name)
            .map(|(key, value)| setting(key, &shown(value)))
            .collect();
        if !told.is_empty() {
            said.push(one(writer, level, &Prose::join_with(&told, ", "))?);
        }
    }
    if said.is_empty() {
        return Ok(None);
    }
    let levels = Prose::join_with(&said, "; ");
    writer.say("box-levels-said", Args::new().prose("levels", &levels)).map(Some)
}

fn one(writer: &Writer, level: &Level, settings: &Prose) -> Said {
    writer.say("level-means", Args::new().name("level", &level.name).prose("settings", settings))
}

/// What a level sets; of a link what the link is set to.
fn settings(plan: &Plan, level: &Level) -> Settings {
    let path = level.settings.get(PATH).and_then(|value| value.word());
    let link = plan.lab.links.iter().find(|link: &&LinkPlan| Some(link.name.as_str()) == path);
    let mut all = link.map(|link| link.settings.clone()).unwrap_or_default();
    all.extend(level.settings.clone().into_iter().filter(|(key, _)| key != PATH));
    all
}
