//! Knows what a reader needs to make the run again.

use super::{Part, Writer};
use crate::record::Run;
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use std::collections::BTreeSet;

/// The chapter: command and seed, then the plan of every part.
pub(super) fn chapter(writer: &Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let seeds: BTreeSet<String> =
        parts.iter().map(|p| p.run.plan.method.seed.to_string()).collect();
    let seeds: Vec<Prose> = seeds.iter().map(|s| Prose::verbatim(s)).collect();
    let args = Args::new().prose("seed", &Prose::join_with(&seeds, ", "));
    let mut body = vec![Node::Paragraph(writer.say("reproduce-intro", args)?)];
    let commands: BTreeSet<&str> = parts.iter().map(|p| p.run.command.as_str()).collect();
    for command in commands {
        body.push(Node::Code { caption: writer.label("reproduce-command")?, text: command.into() });
    }
    for part in parts {
        body.push(plan(writer, part.run, parts.len() > 1)?);
    }
    writer.section("reproduce", "reproduce-title", body)
}

fn plan(writer: &Writer, run: &Run, named: bool) -> Result<Node, ReportError> {
    let written = !run.plan_text.trim().is_empty();
    let caption = writer.label(if written { "reproduce-plan" } else { "reproduce-resolved" })?;
    let title = if named { Prose::verbatim(&run.plan.title) } else { Prose::default() };
    let text = if written {
        run.plan_text.clone()
    } else {
        toml::to_string_pretty(&run.plan).map_err(|e| ReportError::Plan(e.to_string()))?
    };
    Ok(Node::Code { caption: Prose::join_with(&[title, caption], " – "), text })
}
