//! Knows what a reader needs to make the run again.

use super::{Part, Writer};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Run;
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
    let titles: BTreeSet<&str> = parts.iter().map(|p| p.run.plan.title.as_str()).collect();
    let mut told: Vec<&Run> = Vec::new();
    for run in parts.iter().map(|p| p.run) {
        if told.iter().any(|known| (&known.plan_text, &known.plan) == (&run.plan_text, &run.plan)) {
            continue;
        }
        // Two runs of one plan's name are told apart by their own.
        let name = match parts.len() {
            1 => "",
            _ if titles.len() < parts.len() => &run.id,
            _ => &run.plan.title,
        };
        body.push(plan(writer, run, name)?);
        told.push(run);
    }
    writer.section("reproduce", "reproduce-title", body)
}

fn plan(writer: &Writer, run: &Run, name: &str) -> Result<Node, ReportError> {
    let written = !run.plan_text.trim().is_empty();
    let caption = writer.label(if written { "reproduce-plan" } else { "reproduce-resolved" })?;
    let text = if written {
        run.plan_text.clone()
    } else {
        toml::to_string_pretty(&run.plan).map_err(|e| ReportError::Plan(e.to_string()))?
    };
    Ok(Node::Code { caption: Prose::join_with(&[Prose::verbatim(name), caption], " – "), text })
}
