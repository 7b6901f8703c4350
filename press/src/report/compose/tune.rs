//! Knows what the owner of a machine is told whose settings were tried: the largest gain, the
//! command that brings it, and where it holds.
//!
//! Must not know any setting: the record has what is said of one.

use super::effect::{effect, metric_title};
use super::ruling::{count, news};
use super::{Part, Said, Writer};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::{is_tuning, lasting};
use desk::record::{Environment, Run};
use desk::verdict::{Comparison, largest_gain, tried};

/// Whether settings were tried, so that the answer is about them.
pub(super) fn is_asked(parts: &[Part<'_>]) -> bool {
    looked_at(parts).is_some()
}

/// Message of the question that a survey answers.
pub(super) fn question(parts: &[Part<'_>]) -> &'static str {
    if is_asked(parts) { "survey-question-tune" } else { "survey-question" }
}

/// The headline; none where no settings were looked at.
pub(super) fn headline(
    writer: &Writer,
    parts: &[Part<'_>],
) -> Result<Option<(Tone, Prose)>, ReportError> {
    if !is_asked(parts) {
        return Ok(None);
    }
    if let Some((run, best)) = largest_gain(runs(parts)) {
        return Ok(Some((Tone::Good, gain(writer, run, best)?)));
    }
    let all: Vec<&Comparison> = tried(runs(parts)).map(|(_, c)| c).collect();
    let open = all.iter().filter(|c| matches!(news(c), Tone::Open | Tone::Plain)).count();
    let args = Args::new().count("count", count(all.len())).count("open", count(open));
    let [_, proposed] = looked_at(parts).unwrap_or_default();
    Ok(Some(match (all.len(), proposed) {
        (0, "") => (Tone::Even, writer.label("tune-usual")?),
        (0, names) => (Tone::Open, writer.say("tune-untried", Args::new().name("names", names))?),
        _ if open > 0 => (Tone::Open, writer.say("tune-open", args)?),
        _ => (Tone::Even, writer.say("tune-nothing", args)?),
    }))
}

/// What holds the machine and was not switched; nothing where no settings were looked at.
pub(super) fn rulings(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Ruling>, ReportError> {
    let machine = parts.first().filter(|_| is_asked(parts)).map(|part| part.run.environment());
    let Some(quota) = machine.and_then(Environment::quota) else { return Ok(Vec::new()) };
    let sentence = writer.say("tune-quota", Args::new().name("quota", quota))?;
    Ok(vec![Ruling { tone: Tone::Bad, label: writer.label("tune-quota-label")?, sentence }])
}

/// The section right behind the answer: the command of each gain, the largest first.
pub(super) fn section(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Node>, ReportError> {
    let Some([settings, _]) = looked_at(parts) else { return Ok(None) };
    let mut body = Vec::new();
    let mut left: Vec<&Part<'_>> = parts.iter().filter(|part| is_tuning(&part.run.plan)).collect();
    while let Some((run, _)) = largest_gain(left.iter().map(|part| (part.run, part.analysis))) {
        left.retain(|part| part.run.id != run.id);
        let Some(made) = lasting(run.environment()) else { continue };
        let caption = writer.say("tune-command", Args::new().name("title", &run.plan.title))?;
        body.push(Node::Code { caption, text: made.command });
        match made.file.as_str() {
            "" => body.push(Node::Paragraph(writer.label("tune-by-hand")?)),
            file => {
                let caption = writer.say("tune-keep", Args::new().name("file", file))?;
                body.push(Node::Code { caption, text: made.line });
            }
        }
    }
    if !settings.is_empty() {
        let looked = writer.say("tune-looked", Args::new().name("settings", settings))?;
        body.push(Node::Paragraph(looked));
    }
    writer.section("tune", "tune-title", body).map(Some)
}

fn gain(writer: &Writer, run: &Run, best: &Comparison) -> Said {
    let holds = lasting(run.environment()).map(|made| made.holds).unwrap_or_default();
    let holds = match holds.as_str() {
        "network" => writer.label("tune-where-network")?,
        "offload" => writer.label("tune-where-offload")?,
        "line" => writer.label("tune-where-line")?,
        "memory" => writer.label("tune-where-memory")?,
        "work" => writer.label("tune-where-work")?,
        _ => Prose::default(),
    };
    let args = Args::new()
        .name("title", &run.plan.title)
        .name("then", &best.other)
        .name("now", &best.base)
        .name("metric", metric_title(run, best))
        .prose("effect", &effect(writer, &best.overall)?)
        .prose("where", &holds);
    writer.say("tune-gain", args)
}

fn runs<'p, 'a>(
    parts: &'p [Part<'a>],
) -> impl Iterator<Item = (&'a Run, &'a desk::verdict::Analysis)> + use<'p, 'a> {
    parts.iter().map(|part| (part.run, part.analysis))
}

/// The settings with nothing to try, and with something.
fn looked_at<'a>(parts: &[Part<'a>]) -> Option<[&'a str; 2]> {
    let survey = parts.len() > 1 || parts.iter().any(|part| is_tuning(&part.run.plan));
    let mut machines = parts.iter().map(|part| part.run.environment()).filter(|_| survey);
    machines.find_map(desk::plan::looked_at)
}
