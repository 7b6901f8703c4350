//! Knows how several comparisons are said as one ratio.

use super::effect::{effect, metric_name};
use super::names::level_name;
use super::ruling::count;
use super::{Part, Said, Writer};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::{Index, Verdict};

/// The section on all of them; nothing where a plan has one load and one stratum.
pub(super) fn section(writer: &Writer, part: &Part<'_>) -> Result<Option<Node>, ReportError> {
    let all = &part.analysis.indexes;
    if all.is_empty() {
        return Ok(None);
    }
    let mut said = Vec::new();
    for one in all {
        said.push(sentence(writer, part, one)?);
    }
    said.push(writer.label("index-scope")?);
    let id = format!("index-{}", part.run.id);
    let body = vec![Node::Paragraph(Prose::join(&said))];
    Ok(Some(Node::section(id, writer.label("index-title")?, body)))
}

fn sentence(writer: &Writer, part: &Part<'_>, one: &Index) -> Said {
    let name = |level: &str| level_name(&part.run.plan, &one.factor, level);
    let args = Args::new()
        .name("base", &name(&one.base))
        .name("other", &name(&one.other))
        .count("count", count(one.over.len()))
        .prose("metric", &metric_name(writer, part.run, &one.metric)?)
        .prose("effect", &effect(writer, &one.ratio)?);
    match one.verdict {
        Verdict::Better => writer.say("index-better", args),
        Verdict::Worse => writer.say("index-worse", args),
        Verdict::Equivalent => writer.say("index-equivalent", args),
        Verdict::TwoStates | Verdict::NotComparable | Verdict::Undecided { .. } => {
            writer.say("index-undecided", args)
        }
    }
}
