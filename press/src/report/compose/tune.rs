//! Knows what the owner of a machine is told whose settings were tried: the largest gain, the
//! command that brings it, where it holds, and what was not tried.
//!
//! Must not know any setting: the record has what is said of one.

use super::effect::{effect, metric_title, short_effect};
use super::ruling::{count, news};
use super::say::sign;
use super::{Part, Said, Writer, brief};
use crate::claim::{Judged, Kind, decisive, grouped};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::{Barred, Holds, Looked, is_tuning, lasting};
use desk::record::{Environment, Run};
use desk::unit::{Quantity, Unit};
use desk::verdict::{Comparison, best_figure, largest_gain, tried};

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
    let Some(looked) = looked_at(parts) else { return Ok(None) };
    if let Some((run, best)) = largest_gain(runs(parts)) {
        return Ok(Some((Tone::Good, gain(writer, parts, (run, best))?)));
    }
    let all: Vec<&Comparison> = tried(runs(parts)).map(|(_, c)| c).collect();
    let open = all.iter().filter(|c| matches!(news(c), Tone::Open | Tone::Plain)).count();
    let args = Args::new().count("count", count(all.len())).count("open", count(open));
    let barred = looked.barred.iter().map(|(name, _)| name);
    let untried: Vec<&str> = looked.proposed.iter().chain(barred).map(String::as_str).collect();
    let names = untried.join(", ");
    Ok(Some(match (all.len(), names.as_str()) {
        (0, "") => (Tone::Even, writer.label("tune-usual")?),
        (0, names) => (Tone::Open, writer.say("tune-untried", Args::new().name("names", names))?),
        _ if open > 0 => (Tone::Open, writer.say("tune-open", args)?),
        _ => (Tone::Even, writer.say("tune-nothing", args)?),
    }))
}

/// The comparisons without the one that the headline tells, where it tells of a gain.
pub(super) fn besides<'a>(parts: &[Part<'a>], asked: &[Judged<'a>]) -> Vec<Judged<'a>> {
    let best = largest_gain(runs(parts)).filter(|_| is_asked(parts));
    let told = |(_, c): &Judged<'_>| best.is_some_and(|(_, best)| std::ptr::eq(best, *c));
    let groups = grouped(asked).into_iter().filter(|group| !group.iter().any(told));
    groups.flatten().collect()
}

/// What the largest gain rests on, what was not tried and what holds the machine; nothing where no
/// settings were looked at.
pub(super) fn rulings(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Ruling>, ReportError> {
    let Some(looked) = looked_at(parts) else { return Ok(Vec::new()) };
    let mut rulings = vec![to_do(writer, parts)?];
    let best = largest_gain(runs(parts)).filter(|_| parts.len() > 1);
    if let Some(part) = best.and_then(|(run, _)| parts.iter().find(|p| p.run.id == run.id)) {
        rulings.extend(brief::lines(writer, part, &decisive(std::slice::from_ref(part)))?);
    }
    if !looked.usual.is_empty() {
        let settings = looked.usual.join(", ");
        let sentence = writer.say("tune-looked", Args::new().name("settings", &settings))?;
        let label = writer.label("tune-usual-label")?;
        rulings.push(Ruling { tone: Tone::Plain, label, sentence });
    }
    for sentence in not_tried(writer, &looked)? {
        rulings.push(Ruling { tone: Tone::Open, label: writer.label("tune-barred")?, sentence });
    }
    let machine = parts.first().map(|part| part.run.environment());
    if let Some(quota) = machine.and_then(Environment::quota) {
        let sentence = writer.say("tune-quota", Args::new().name("quota", quota))?;
        let label = writer.label("tune-quota-label")?;
        rulings.push(Ruling { tone: Tone::Bad, label, sentence });
    }
    Ok(rulings)
}

/// The command of the largest gain; where there is none, that nothing is to be done.
fn to_do(writer: &Writer, parts: &[Part<'_>]) -> Result<Ruling, ReportError> {
    let best = largest_gain(runs(parts)).and_then(|(run, _)| lasting(run.environment()));
    let sentence = match best {
        Some(made) => {
            let args = Args::new().prose("where", &place(writer, parts, made.holds)?);
            writer.say("tune-do", args.name("command", &made.command))?
        }
        None => writer.label("tune-do-nothing")?,
    };
    Ok(Ruling { tone: Tone::Plain, label: writer.label("tune-title")?, sentence })
}

/// The settings that were not tried, a sentence a reason.
fn not_tried(writer: &Writer, looked: &Looked) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for (why, key) in [
        (Barred::NotAllowed, "tune-barred-not-allowed"),
        (Barred::NoLinks, "tune-barred-no-links"),
        (Barred::Refused, "tune-barred-refused"),
        (Barred::Model, "tune-barred-model"),
    ] {
        let those = looked.barred.iter().filter(|(_, of)| *of == why);
        let names: Vec<&str> = those.map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            said.push(writer.say(key, Args::new().name("names", &names.join(", ")))?);
        }
    }
    Ok(said)
}

/// The lines of the card: the answer, what was not tried, and every other setting that was.
pub fn tune_lines(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let Some(looked) = looked_at(parts) else { return Ok(Vec::new()) };
    let mut lines = Vec::new();
    lines.extend(headline(writer, parts)?.map(|(_, said)| said));
    let best = largest_gain(runs(parts));
    for (run, c) in tried(runs(parts)) {
        if best.is_some_and(|(_, best)| std::ptr::eq(best, c)) {
            continue;
        }
        let args = Args::new()
            .prose("sign", &sign(writer, Kind::of_whole(c))?)
            .name("title", &run.plan.title)
            .name("then", &c.other)
            .name("now", &c.base)
            .prose("effect", &short_effect(writer, &c.overall)?);
        lines.push(writer.say("card-tried", args)?);
    }
    for said in not_tried(writer, &looked)? {
        lines.push(writer.say("card-barred", Args::new().prose("said", &said))?);
    }
    Ok(lines)
}

/// The section right behind the answer: the command of each gain, the largest first.
pub(super) fn section(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Node>, ReportError> {
    if !is_asked(parts) {
        return Ok(None);
    }
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
    if body.is_empty() {
        return Ok(None);
    }
    writer.section("tune", "tune-section", body).map(Some)
}

fn gain(writer: &Writer, parts: &[Part<'_>], (run, best): Judged<'_>) -> Said {
    let holds = lasting(run.environment()).map(|made| made.holds).unwrap_or_default();
    let args = Args::new()
        .name("title", &run.plan.title)
        .name("then", &best.other)
        .name("now", &best.base)
        .name("metric", metric_title(run, best))
        .prose("effect", &effect(writer, &best.overall)?)
        .prose("where", &place(writer, parts, holds)?);
    writer.say("tune-gain", args)
}

/// The shortest round trip that was measured over a link.
fn trip(parts: &[Part<'_>]) -> Option<Quantity> {
    let path = parts.iter().filter(|part| !part.run.plan.is_alone());
    let loads = path.flat_map(|part| part.run.plan.loads.iter().map(move |load| (part, load)));
    let figures = loads.filter_map(|(part, load)| best_figure(part.run, part.analysis, load));
    let times = figures.map(|figure| figure.estimate.centre);
    times.filter(|time| time.unit == Unit::Second).min_by(|a, b| a.value.total_cmp(&b.value))
}

/// Where a gain holds, to be set behind it.
fn place(writer: &Writer, parts: &[Part<'_>], holds: Holds) -> Said {
    writer.label(match holds {
        Holds::Everywhere => return Ok(Prose::default()),
        Holds::ShortPath => match trip(parts) {
            Some(trip) => {
                return writer.say("tune-where-trip", Args::new().quantity("trip", trip));
            }
            None => "tune-where-network",
        },
        Holds::VirtualLink => "tune-where-offload",
        Holds::UpToLine => "tune-where-line",
        Holds::LineUnknown => "tune-where-line-unknown",
        Holds::RandomMemory => "tune-where-memory",
        Holds::CpuWork => "tune-where-work",
    })
}

fn runs<'p, 'a>(
    parts: &'p [Part<'a>],
) -> impl Iterator<Item = (&'a Run, &'a desk::verdict::Analysis)> + use<'p, 'a> {
    parts.iter().map(|part| (part.run, part.analysis))
}

/// What came of the look at the settings, of a survey or a part of one.
fn looked_at(parts: &[Part<'_>]) -> Option<Looked> {
    let survey = parts.len() > 1 || parts.iter().any(|part| is_tuning(&part.run.plan));
    let mut machines = parts.iter().map(|part| part.run.environment()).filter(|_| survey);
    machines.find_map(desk::plan::looked_at)
}
