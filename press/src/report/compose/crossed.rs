//! Knows how it is said what a factor does that the plan crosses but does not compare.

use super::effect::metric_title;
use super::names::{key_words, pair};
use super::{Part, Said, Writer, glance, most, ranks};
use crate::claim::{Judged, grouped};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Replicate;
use desk::verdict::{Comparison, was_carried};

/// Up to this many levels of the compared factor are told apart.
const SIDES: usize = 3;

/// One sentence for each level of each other factor: where it does most under each level of the
/// compared one. None of comparisons without a ratio.
pub(super) fn sentences(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    let rated: Vec<Judged<'_>> =
        all(part).into_iter().filter(|(_, c)| !c.verdict.has_no_ratio()).collect();
    for group in grouped(&rated) {
        said.push(sentence(writer, part, &group)?);
    }
    Ok(said)
}

/// The section: the sentences, and every ratio.
pub(super) fn section(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Node>, ReportError> {
    let all = all(part);
    if all.is_empty() {
        return Ok(None);
    }
    let compared = key_words(&part.run.plan.method.compare);
    let args = Args::new().name("compared", &compared);
    let mut lead = vec![writer.say("others-intro", args)?];
    lead.extend(replicates(writer, part)?);
    lead.extend(sentences(writer, part)?);
    let table = glance::table(writer, "others-caption", (&all, false))?;
    let mut body = vec![Node::Paragraph(Prose::join(&lead)), Node::Table(table)];
    body.extend(ranks::nodes(writer, part, false)?);
    let id = format!("others-{}", part.run.id);
    Ok(Some(Node::section(id, writer.label("others-title")?, body)))
}

/// What n counts in a split plot, where it is not the same for every factor.
fn replicates(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let plan = &part.run.plan;
    let mut others: Vec<(&str, Replicate)> = Vec::new();
    for (_, c) in all(part) {
        let one = (c.factor.as_str(), plan.replicate_of(&[&c.factor]));
        if !others.contains(&one) {
            others.push(one);
        }
    }
    let mut said = Vec::new();
    for (replicate, key) in [(Replicate::Boot, "others-boots"), (Replicate::Block, "others-blocks")]
    {
        let names: Vec<String> = others
            .iter()
            .filter(|(_, counted)| *counted == replicate)
            .map(|(name, _)| key_words(name))
            .collect();
        if !names.is_empty() && plan.method.boots > 0 {
            said.push(writer.say(key, Args::new().name("factors", &names.join(", ")))?);
        }
    }
    Ok(said)
}

/// The comparisons over other factors, but for those under loads that both levels just carried.
fn all<'a>(part: &Part<'a>) -> Vec<Judged<'a>> {
    let asked = &part.analysis.comparisons;
    let free = |c: &&Comparison| !was_carried(&part.analysis.limits, &c.id);
    let any_free = asked.iter().any(|c| free(&c));
    let under = |c: &Comparison, one: &Comparison| one.load == c.load && one.fixed == c.fixed;
    let counts =
        |c: &Comparison| asked.iter().any(|one| under(c, one) && (!any_free || free(&one)));
    let others = part.analysis.others.iter().filter(|c| counts(c));
    others.map(|c| (part.run, c)).collect()
}

fn sentence(writer: &Writer, part: &Part<'_>, group: &[Judged<'_>]) -> Said {
    let (run, first) = group[0];
    let compared = &part.run.plan.method.compare;
    let mut sides = Vec::new();
    for factor in run.plan.factors.iter().filter(|f| f.name == *compared) {
        for (level, side) in most::under(factor, group).into_iter().take(SIDES) {
            sides.push(most::in_short(writer, &side, (compared, level))?);
        }
    }
    let args = pair(run, first)
        .name("metric", metric_title(run, first))
        .prose("sides", &Prose::join_with(&sides, "; "));
    writer.say("others-said", args)
}
