//! Knows what the owner of a machine is told whose settings were tried: the largest gain, the
//! command that brings it, and where it holds.

use super::effect::{effect, metric_title};
use super::ruling::count;
use super::{Part, Said, Writer};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::{is_tuning, lasting};
use desk::record::Run;
use desk::verdict::{Comparison, largest_gain, tried};

/// Fact of the quota of CPU time, and what it says of none.
const QUOTA: (&str, &str) = ("cgroup.cpu_quota", "none");

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
    let said = match tried(runs(parts)).count() {
        0 => writer.label("tune-usual")?,
        several => writer.say("tune-nothing", Args::new().count("count", count(several)))?,
    };
    Ok(Some((Tone::Even, said)))
}

/// What holds the machine and was not switched; nothing where no settings were looked at.
pub(super) fn rulings(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Ruling>, ReportError> {
    let machine = parts.first().filter(|_| is_asked(parts));
    let quota = machine.and_then(|part| part.run.environment().fact(QUOTA.0));
    let Some(quota) = quota.filter(|quota| *quota != QUOTA.1) else { return Ok(Vec::new()) };
    let sentence = writer.say("tune-quota", Args::new().name("quota", quota))?;
    Ok(vec![Ruling { tone: Tone::Bad, label: writer.label("tune-quota-label")?, sentence }])
}

/// The section right behind the answer: the command of each gain, the largest first.
pub(super) fn section(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Node>, ReportError> {
    let Some(settings) = looked_at(parts) else { return Ok(None) };
    let mut body = Vec::new();
    let mut left: Vec<&Part<'_>> = parts.iter().filter(|part| is_tuning(&part.run.plan)).collect();
    while let Some((run, _)) = largest_gain(left.iter().map(|part| (part.run, part.analysis))) {
        left.retain(|part| part.run.id != run.id);
        let Some(made) = lasting(run.environment()) else { continue };
        let caption = writer.say("tune-command", Args::new().name("title", &run.plan.title))?;
        body.push(Node::Code { caption, text: made.command });
        body.push(Node::Paragraph(match made.file.as_str() {
            "" => writer.label("tune-by-hand")?,
            file => {
                let args = Args::new().name("line", &made.line).name("file", file);
                writer.say("tune-keep", args)?
            }
        }));
    }
    let looked = writer.say("tune-looked", Args::new().name("settings", settings))?;
    body.push(Node::Paragraph(looked));
    writer.section("tune", "tune-title", body).map(Some)
}

fn gain(writer: &Writer, run: &Run, best: &Comparison) -> Said {
    let holds = lasting(run.environment()).map(|made| made.holds).unwrap_or_default();
    let holds = match holds.as_str() {
        "network" => writer.label("tune-where-network")?,
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

/// The settings that were looked at.
fn looked_at<'a>(parts: &[Part<'a>]) -> Option<&'a str> {
    parts.iter().find_map(|part| desk::plan::looked_at(part.run.environment()))
}
