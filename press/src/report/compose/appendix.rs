//! Knows what is kept at the end: every counted trial, every lost one, every fact read.

use super::names::{level_name, level_names, pair, setting};
use super::places::is_of;
use super::ruling::{condition, shown};
use super::{Nodes, Part, Said, Writer, counted, measured, plot, quantiles, repeat};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{
    Environment, Fault, Plan, Replicate, Run, Trial, TrialKind, TrialRecord, Value,
};
use desk::stats::mean;
use desk::unit::Quantity;
use desk::verdict::Comparison;
use std::collections::{BTreeMap, BTreeSet};

/// The chapter.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    for part in parts {
        body.extend(visits(writer, part)?);
    }
    body.push(faults(writer, parts)?);
    for part in parts {
        for comparison in &part.analysis.comparisons {
            body.push(Node::Table(runs(writer, part, (comparison, parts.len() > 1))?));
        }
    }
    for part in parts {
        body.extend(quantiles::nodes(writer, part)?);
        body.extend(measured::further(writer, part)?);
        body.extend(counted::nodes(writer, part)?);
    }
    if let Some(part) = parts.first() {
        body.push(Node::Table(facts(writer, part.run.environment())?));
    }
    writer.section("appendix", "appendix-title", body)
}

/// Every visit of a run in the order of time, if there is a figure of them.
pub(super) fn visits(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let Some(figure) = plot::timeline(writer, part)? else { return Ok(Vec::new()) };
    let said = writer.shows(&figure, "timeline-shows", Args::new())?;
    Ok(vec![Node::Figure(figure), Node::Paragraph(said)])
}

pub(super) fn faults(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut rows = Vec::new();
    for (part, record) in parts.iter().flat_map(|p| p.run.records.iter().map(move |r| (p, r))) {
        match &record.outcome.fault {
            // What this machine lacks is told where its figure would be.
            Some(Fault::NotAvailable { .. }) if !part.analysis.measured.is_empty() => {}
            Some(fault) => rows.push(fault_row(writer, &part.run.plan, (record, fault))?),
            None => {}
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
    let columns = writer.headed(&keys)?;
    let caption = writer.label("appendix-left-out")?;
    writer.table(&caption, columns, rows).map(Node::Table)
}

fn fault_row(
    writer: &Writer,
    plan: &Plan,
    (record, fault): (&TrialRecord, &Fault),
) -> Result<Vec<Prose>, ReportError> {
    let trial = &record.trial;
    let levels = trial.treatment.levels.iter();
    let levels: Vec<String> = levels.map(|(f, level)| level_name(plan, f, level)).collect();
    let block = match trial.kind {
        TrialKind::Dry => writer.label("word-dry")?,
        TrialKind::Counted => Prose::count(trial.block as usize),
    };
    Ok(vec![
        Prose::count(trial.id as usize),
        Prose::count(record.attempt as usize),
        block,
        Prose::verbatim(&levels.join(", ")),
        load(plan, trial),
        fault_words(writer, fault)?,
        seen(record),
    ])
}

/// The load of a trial by its name, and what is swept or sought of it.
fn load(plan: &Plan, trial: &Trial) -> Prose {
    let point = &trial.point;
    let fixed = |(key, value): &(&String, &Value)| {
        plan.load(&point.load).is_some_and(|load| load.fixed.get(*key) == Some(*value))
    };
    let params = point.params.iter().filter(|param| !fixed(param));
    let params = params.map(|(key, value)| setting(key, &value.to_string()));
    let words: Vec<Prose> = std::iter::once(Prose::verbatim(&point.load)).chain(params).collect();
    Prose::join_with(&words, ", ")
}

/// The figures of an invalid trial, which count for nothing.
fn seen(record: &TrialRecord) -> Prose {
    let samples = record.outcome.samples.iter();
    let all: Vec<String> = samples.map(|s| format!("{} {}", s.metric, s.quantity)).collect();
    if all.is_empty() { Prose::none() } else { Prose::verbatim(&all.join(", ")) }
}

pub(super) fn fault_words(writer: &Writer, fault: &Fault) -> Said {
    let args = Args::new();
    let args = match fault {
        Fault::DeadHost { host } | Fault::Frozen { host } => args.name("host", &host.to_string()),
        Fault::DeadStream { stream } => args.name("stream", stream),
        Fault::Steal { share } => args.quantity("share", *share),
        Fault::Disturbed { host, what }
        | Fault::Failed { host, what }
        | Fault::Throttled { host, what }
        | Fault::LinkFlap { host, what }
        | Fault::GeneratorLimit { host, what } => {
            args.name("host", &host.to_string()).name("what", what)
        }
        Fault::WrongWork { what }
        | Fault::Factor { what }
        | Fault::NotAvailable { what }
        | Fault::NotSteady { what } => args.name("what", what),
        Fault::Cancelled => args,
    };
    writer.pick("fault-*", fault, args)
}

/// The kind of a fault without its figures, for the name of what is drawn.
pub(super) fn fault_kind(writer: &Writer, fault: &Fault) -> Said {
    writer.pick("invalid-*", fault, Args::new())
}

/// Two rows a point: the metric of each level in every block, be the trial in a pair or not; in
/// every round of boots where the factor needs a reboot.
fn runs(
    writer: &mut Writer,
    part: &Part<'_>,
    (comparison, named): (&Comparison, bool),
) -> Result<Table, ReportError> {
    let trials = || part.run.records.iter().filter(|r| is_counted(r) && is_of(r, comparison));
    let replicate = part.run.plan.replicate_of(&[&comparison.factor]);
    let numbers: BTreeSet<u32> = trials().map(|r| number(r, replicate)).collect();
    let mut columns = writer.headed(&["appendix-point", "limits-level"])?;
    for number in &numbers {
        let args = Args::new().repeat(repeat(replicate)).count("number", *number);
        columns.push(Column { title: writer.say("appendix-block", args)?, numeric: true });
    }
    let mut rows = Vec::new();
    for at in places(part, comparison) {
        let name = match &at {
            Some(at) => Prose::verbatim(&shown(at)),
            None => writer.label("appendix-whole")?,
        };
        let levels = [&comparison.base, &comparison.other];
        for (level, shown) in levels.into_iter().zip(level_names(part.run, comparison)) {
            let here: Vec<&TrialRecord> =
                trials().filter(|r| is_at(r, comparison, (at.as_ref(), level))).collect();
            let figures = figures(part.run, (&here, &comparison.metric), replicate);
            let mut row = vec![name.clone(), Prose::verbatim(&shown)];
            row.extend(numbers.iter().map(|number| {
                let figure = figures.get(number).copied();
                figure.map_or_else(|| Prose::verbatim(NO_FIGURE), Prose::quantity)
            }));
            rows.push(row);
        }
    }
    let gaps = rows.iter().flatten().any(|cell| cell.text() == NO_FIGURE);
    let name = condition(part.run, comparison);
    let pair = writer.say("pair-full", pair(part.run, comparison))?;
    let title = Prose::verbatim(if named { &part.run.plan.title } else { "" });
    let counted = || Args::new().repeat(repeat(replicate));
    let args = counted().prose("name", &Prose::join_with(&[title, name, pair], ", "));
    let caption = writer.say("appendix-runs", args)?;
    let gaps = if gaps { vec![writer.say("appendix-gaps", counted())?] } else { Vec::new() };
    Ok(Table { folded: true, notes: gaps, ..writer.table(&caption, columns, rows)? })
}

/// Number of the block of a trial, or of its round of boots.
const fn number(record: &TrialRecord, replicate: Replicate) -> u32 {
    match replicate {
        Replicate::Block => record.trial.block,
        Replicate::Boot => record.trial.round,
    }
}

fn is_counted(record: &TrialRecord) -> bool {
    record.trial.kind == TrialKind::Counted
}

fn is_at(
    record: &TrialRecord,
    comparison: &Comparison,
    (at, level): (Option<&Value>, &String),
) -> bool {
    let (trial, curve) = (&record.trial, comparison.curve.as_ref());
    trial.treatment.levels.get(&comparison.factor) == Some(level)
        && curve.is_none_or(|curve| trial.point.params.get(curve) == at)
}

/// The points of the plan, be they measured or not; those of the comparison where it has none.
fn places(part: &Part<'_>, comparison: &Comparison) -> Vec<Option<Value>> {
    let load = part.run.plan.load(&comparison.load);
    let swept = load.and_then(|load| {
        load.over.iter().find(|(name, _)| Some(name) == comparison.curve.as_ref())
    });
    match swept {
        Some((_, values)) => values.iter().cloned().map(Some).collect(),
        None => comparison.points.iter().map(|point| point.at.clone()).collect(),
    }
}

/// What stands in a cell whose trial gave no figure.
const NO_FIGURE: &str = "–";

/// The figure of every block, which is that of its first good visit; of every round the exponential
/// of the mean log over the blocks of its boot.
fn figures(
    run: &Run,
    (trials, metric): (&[&TrialRecord], &str),
    replicate: Replicate,
) -> BTreeMap<u32, Quantity> {
    let mut all: BTreeMap<u32, BTreeMap<u32, Quantity>> = BTreeMap::new();
    for record in trials.iter().filter(|r| r.outcome.fault.is_none()) {
        if let Some(figure) = run.value(record, metric) {
            let blocks = all.entry(number(record, replicate)).or_default();
            blocks.entry(record.trial.block).or_insert(figure);
        }
    }
    let centre = |(number, blocks): (u32, BTreeMap<u32, Quantity>)| {
        let first = *blocks.values().next()?;
        if blocks.len() == 1 {
            return Some((number, first));
        }
        let logs = blocks.values().map(|figure| figure.value.ln());
        let logs: Vec<f64> = logs.filter(|log| log.is_finite()).collect();
        let mean = Quantity::new(mean(&logs).exp(), first.unit);
        (!logs.is_empty()).then_some((number, mean))
    };
    all.into_iter().filter_map(centre).collect()
}

pub(super) fn facts(writer: &mut Writer, env: &Environment) -> Result<Table, ReportError> {
    let columns = writer.headed(&["appendix-key", "appendix-value", "appendix-source"])?;
    let rows = env
        .facts
        .iter()
        .map(|f| vec![f.key.as_str(), f.value.as_str(), f.source.as_str()])
        .map(|row| row.into_iter().map(Prose::verbatim).collect())
        .collect();
    let caption = writer.label("appendix-facts")?;
    Ok(Table { folded: true, ..writer.table(&caption, columns, rows)? })
}
