//! Knows what is kept at the end: every counted trial, every lost one, every fact read.

use super::names::{level_name, level_names, pair, setting};
use super::ruling::{condition, shown};
use super::{Part, Said, Writer, plot};
use crate::record::{Environment, Fault, Plan, TrialKind, TrialRecord};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::unit::Quantity;
use crate::verdict::Comparison;

/// The chapter.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    for part in parts {
        if let Some(figure) = plot::timeline(writer, part)? {
            let said = writer.shows(&figure, "timeline-shows", Args::new())?;
            body.extend([Node::Figure(figure), Node::Paragraph(said)]);
        }
    }
    body.push(faults(writer, parts)?);
    for part in parts {
        for comparison in &part.analysis.comparisons {
            body.push(Node::Table(runs(writer, part, (comparison, parts.len() > 1))?));
        }
    }
    if let Some(part) = parts.first() {
        body.push(Node::Table(facts(writer, &part.run.environment)?));
    }
    writer.section("appendix", "appendix-title", body)
}

fn headed(writer: &Writer, keys: &[&str]) -> Result<Vec<Column>, ReportError> {
    keys.iter().map(|key| Ok(Column { title: writer.label(key)?, numeric: false })).collect()
}

fn faults(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut rows = Vec::new();
    for (plan, record) in parts.iter().flat_map(|p| p.run.records.iter().map(|r| (&p.run.plan, r)))
    {
        if let Some(fault) = &record.outcome.fault {
            rows.push(fault_row(writer, plan, (record, fault))?);
        }
    }
    if rows.is_empty() {
        return Ok(Node::Paragraph(writer.label("appendix-no-faults")?));
    }
    let keys = [
        "appendix-trial",
        "appendix-attempt",
        "appendix-trial-block",
        "appendix-levels",
        "appendix-load",
        "appendix-fault",
        "appendix-seen",
    ];
    let columns = headed(writer, &keys)?;
    let caption = writer.label("appendix-left-out")?;
    Ok(Node::Table(Table {
        caption: writer.numbered(&caption)?,
        columns,
        rows,
        folded: false,
        notes: Vec::new(),
    }))
}

fn fault_row(
    writer: &Writer,
    plan: &Plan,
    (record, fault): (&TrialRecord, &Fault),
) -> Result<Vec<Prose>, ReportError> {
    let trial = &record.trial;
    let levels = trial.treatment.levels.iter();
    let levels: Vec<String> = levels.map(|(f, level)| level_name(plan, f, level)).collect();
    let params = trial.point.params.iter();
    let params: Vec<Prose> = params.map(|(key, value)| setting(key, &value.to_string())).collect();
    let block = match trial.kind {
        TrialKind::Dry => writer.label("word-dry")?,
        TrialKind::Counted => Prose::count(trial.block as usize),
    };
    Ok(vec![
        Prose::count(trial.id as usize),
        Prose::count(record.attempt as usize),
        block,
        Prose::verbatim(&levels.join(", ")),
        Prose::join_with(&params, ", "),
        fault_words(writer, fault)?,
        seen(record),
    ])
}

/// The figures of an invalid trial, which count for nothing.
fn seen(record: &TrialRecord) -> Prose {
    let samples = record.outcome.samples.iter();
    let all: Vec<String> = samples.map(|s| format!("{} {}", s.metric, s.quantity)).collect();
    if all.is_empty() { Prose::verbatim("–") } else { Prose::verbatim(&all.join(", ")) }
}

fn fault_words(writer: &Writer, fault: &Fault) -> Said {
    let args = Args::new();
    match fault {
        Fault::DeadHost { host } => writer.say("fault-dead-host", args.name("host", host)),
        Fault::Frozen { host } => writer.say("fault-frozen", args.name("host", host)),
        Fault::WrongWork { what } => writer.say("fault-wrong-work", args.name("what", what)),
        Fault::DeadStream { stream } => {
            writer.say("fault-dead-stream", args.name("stream", stream))
        }
        Fault::Factor { what } => writer.say("fault-factor", args.name("what", what)),
        Fault::Disturbed { host, what } => {
            writer.say("fault-disturbed", args.name("host", host).name("what", what))
        }
        Fault::Failed { host, what } => {
            writer.say("fault-failed", args.name("host", host).name("what", what))
        }
        Fault::Steal { share } => writer.say("fault-steal", args.quantity("share", *share)),
        Fault::Throttled { host, what } => {
            writer.say("fault-throttled", args.name("host", host).name("what", what))
        }
        Fault::LinkFlap { host, what } => {
            writer.say("fault-link-flap", args.name("host", host).name("what", what))
        }
        Fault::GeneratorLimit { host, what } => {
            writer.say("fault-generator", args.name("host", host).name("what", what))
        }
        Fault::NotSteady { what } => writer.say("fault-not-steady", args.name("what", what)),
        Fault::Cancelled => writer.label("fault-cancelled"),
    }
}

/// The kind of a fault without its figures, for the name of what is drawn.
pub(super) fn fault_kind(writer: &Writer, fault: &Fault) -> Said {
    writer.label(match fault {
        Fault::DeadHost { .. } => "invalid-dead-host",
        Fault::Frozen { .. } => "invalid-frozen",
        Fault::WrongWork { .. } => "invalid-wrong-work",
        Fault::DeadStream { .. } => "invalid-dead-stream",
        Fault::Factor { .. } => "invalid-factor",
        Fault::Disturbed { .. } => "invalid-disturbed",
        Fault::Failed { .. } => "invalid-failed",
        Fault::Steal { .. } => "invalid-steal",
        Fault::Throttled { .. } => "invalid-throttled",
        Fault::LinkFlap { .. } => "invalid-link-flap",
        Fault::GeneratorLimit { .. } => "invalid-generator",
        Fault::NotSteady { .. } => "invalid-not-steady",
        Fault::Cancelled => "invalid-cancelled",
    })
}

/// Two rows a point: the metric of each level in every block.
fn runs(
    writer: &mut Writer,
    part: &Part<'_>,
    (comparison, named): (&Comparison, bool),
) -> Result<Table, ReportError> {
    let lengths = comparison.points.iter().flat_map(|p| [p.base_runs.len(), p.other_runs.len()]);
    let blocks = lengths.max().unwrap_or(0);
    let mut columns = headed(writer, &["appendix-point", "limits-level"])?;
    for block in 1..=blocks {
        let args = Args::new().count("number", super::ruling::count(block));
        columns.push(Column { title: writer.say("appendix-block", args)?, numeric: true });
    }
    let mut rows = Vec::new();
    for point in &comparison.points {
        let at = match &point.at {
            Some(at) => Prose::verbatim(&shown(at)),
            None => writer.label("appendix-whole")?,
        };
        let [base, other] = level_names(part.run, comparison);
        let sides = [(base, &point.base_runs), (other, &point.other_runs)];
        rows.extend(sides.map(|(level, runs)| run_row(&at, &level, runs, blocks)));
    }
    let name = condition(writer, part.run, comparison)?;
    let pair = writer.say("pair-full", pair(part.run, comparison))?;
    let title = Prose::verbatim(if named { &part.run.plan.title } else { "" });
    let args = Args::new().prose("name", &Prose::join_with(&[title, name, pair], ", "));
    let caption = writer.say("appendix-runs", args)?;
    Ok(Table {
        caption: writer.numbered(&caption)?,
        columns,
        rows,
        folded: true,
        notes: Vec::new(),
    })
}

fn run_row(at: &Prose, level: &str, runs: &[Quantity], blocks: usize) -> Vec<Prose> {
    let mut row = vec![at.clone(), Prose::verbatim(level)];
    row.extend(runs.iter().map(|q| Prose::quantity(*q)));
    row.resize(blocks + 2, Prose::verbatim("–"));
    row
}

fn facts(writer: &mut Writer, env: &Environment) -> Result<Table, ReportError> {
    let columns = headed(writer, &["appendix-key", "appendix-value", "appendix-source"])?;
    let rows = env
        .facts
        .iter()
        .map(|f| vec![f.key.as_str(), f.value.as_str(), f.source.as_str()])
        .map(|row| row.into_iter().map(Prose::verbatim).collect())
        .collect();
    let caption = writer.label("appendix-facts")?;
    Ok(Table {
        caption: writer.numbered(&caption)?,
        columns,
        rows,
        folded: true,
        notes: Vec::new(),
    })
}
