//! Knows what a plan against itself is called, as its names become titles and levels of an article.

use super::Writer;
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::AaWords;
use desk::record::Plan;
use std::collections::BTreeMap;

/// The words for a plan against itself, with factors held at levels as
/// [`against_itself`](desk::plan::against_itself) holds them.
///
/// # Errors
/// Words that are missing.
pub fn aa_words(plan: &Plan, held: &BTreeMap<String, String>) -> Result<AaWords, ReportError> {
    let writer = Writer::new()?;
    let own = |key| Ok(writer.label(key)?.text().to_owned());
    let level: String = own("aa-level")?;
    let compared = plan.factors.iter().find(|f| f.name == plan.method.compare);
    let first = compared.and_then(|f| f.levels.first()).map_or(&level, |l| &l.name);
    let once = held.get(&plan.method.compare).unwrap_or(first);
    let said = |prose: Prose| prose.text().to_owned();
    Ok(AaWords {
        title: said(writer.say("aa-title", Args::new().name("title", &plan.title))?),
        question: own("aa-question")?,
        factor: own("aa-factor")?,
        again: said(writer.say("aa-again", Args::new().name("level", once))?),
        level,
    })
}
