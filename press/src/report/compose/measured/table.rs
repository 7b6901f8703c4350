//! Knows the tables of absolute figures: what stands in a cell, and what its marks mean.

use super::layout::Layout;
use super::{Load, points, title, value};
use crate::report::compose::appendix::fault_words;
use crate::report::compose::doubts::few;
use crate::report::compose::effect::{is_alone, level};
use crate::report::compose::names::key_words;
use crate::report::compose::ruling::count;
use crate::report::compose::{Said, Writer, repeat};
use crate::report::document::{Column, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Derivation, Derive};
use desk::stats::{Estimate, EstimateMethod};
use desk::verdict::{Lacking, MeasuredFigure, MeasuredPoint};
use std::collections::BTreeMap;

/// What stands where a point has other metrics, but not this one.
const NO_FIGURE: &str = "–";

/// The metric that decides.
pub(super) fn deciding(writer: &mut Writer, load: Load<'_, '_>) -> Result<Table, ReportError> {
    let primary = load.0.run.plan.primary(&load.1.name);
    made(writer, load, primary)
}

/// Another metric, folded away.
pub(super) fn further(
    writer: &mut Writer,
    load: Load<'_, '_>,
    metric: &str,
) -> Result<Table, ReportError> {
    Ok(Table { folded: true, ..made(writer, load, metric)? })
}

/// What is said below the table: each reason once, by its mark.
struct Reasons<'w> {
    writer: &'w Writer,
    said: Vec<Prose>,
}

impl Reasons<'_> {
    /// The cell of a point without a figure.
    fn cell(&mut self, lacking: &Lacking) -> Said {
        self.mark(self.reason(lacking)?)
    }

    fn mark(&mut self, reason: Prose) -> Said {
        let known = self.said.iter().position(|said| said.text() == reason.text());
        let at = known.unwrap_or(self.said.len());
        if known.is_none() {
            self.said.push(reason);
        }
        self.writer.say("measured-mark", Args::new().name("mark", &letters(at)))
    }

    fn reason(&self, lacking: &Lacking) -> Said {
        let writer = self.writer;
        match lacking {
            Lacking::NotAvailable { what } => {
                writer.say("fault-not-available", Args::new().name("what", what))
            }
            Lacking::Invalid { fault } => {
                let args = Args::new().prose("fault", &fault_words(writer, fault)?);
                writer.say("measured-reason-invalid", args)
            }
            Lacking::NotMeasured => writer.label("measured-reason-none"),
        }
    }

    fn notes(&self) -> Result<Vec<Prose>, ReportError> {
        let each = self.said.iter().enumerate().map(|(at, reason)| {
            let args = Args::new().name("mark", &letters(at)).prose("reason", reason);
            self.writer.say("measured-reason", args)
        });
        each.collect()
    }
}

/// a to z, aa to zz.
fn letters(at: usize) -> String {
    let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).unwrap_or(0));
    match at / 26 {
        0 => letter(at).to_string(),
        more => [letter(more - 1), letter(at)].iter().collect(),
    }
}

fn made(writer: &mut Writer, load: Load<'_, '_>, metric: &str) -> Result<Table, ReportError> {
    let (part, plan_of) = load;
    let layout = Layout::of(&part.run.plan, plan_of);
    let here: BTreeMap<Vec<String>, &MeasuredPoint> =
        points(part, plan_of).map(|point| (layout.key(point), point)).collect();
    let mut best = plan_of.asks(Derivation::Best).filter(|best| best.along == metric);
    let has = |best: &&Derive| here.values().any(|point| point.figure(&best.metric).is_some());
    let capability = best.find(has).filter(|_| layout.columns.is_none()).map(|best| &*best.metric);
    let columns = columns(writer, load, (&layout, metric, capability.is_some()))?;
    let mut reasons = Reasons { writer, said: Vec::new() };
    let mut rows = Vec::new();
    for (keys, mut row) in layout.lines() {
        if row.is_empty() {
            row.push(Prose::verbatim(&key_words(&plan_of.name)));
        }
        match &layout.columns {
            Some(axis) => {
                for (step, _) in axis.steps() {
                    let key = [keys.as_slice(), std::slice::from_ref(step)].concat();
                    row.push(cell(&mut reasons, here.get(&key).copied(), metric)?);
                }
            }
            None => {
                row.extend(alone(&mut reasons, here.get(&keys).copied(), (metric, capability))?)
            }
        }
        rows.push(row);
    }
    let mut notes = reasons.notes()?;
    let shown: Vec<&MeasuredPoint> = here.values().copied().collect();
    notes.extend(rule(writer, load, (&shown, metric))?);
    let left_out: u32 = shown.iter().map(|point| point.left_out).sum();
    if left_out > 0 {
        notes.push(writer.say("measured-left-out", Args::new().count("count", left_out))?);
    }
    let caption = caption(writer, load, (&layout, metric))?;
    Ok(Table { caption: writer.numbered(&caption)?, columns, rows, folded: false, notes })
}

/// What stands down the page, then a column a step, or the figure with how many blocks it is of.
fn columns(
    writer: &Writer,
    (part, load): Load<'_, '_>,
    (layout, metric, best): (&Layout<'_>, &str, bool),
) -> Result<Vec<Column>, ReportError> {
    let column = |title, numeric| Column { title, numeric };
    let mut columns: Vec<Column> = layout.down().map(|a| column(a.title(), false)).collect();
    if columns.is_empty() {
        columns.push(column(writer.label("measured-load")?, false));
    }
    match &layout.columns {
        Some(axis) => {
            columns.extend(axis.steps().iter().map(|(_, shown)| column(shown.clone(), true)));
        }
        None => {
            columns.push(column(title((part, load), metric), true));
            if best {
                columns.push(column(writer.label("measured-best-column")?, true));
            }
            columns.push(column(writer.label("table-blocks")?, true));
        }
    }
    Ok(columns)
}

/// The figure, the best of all trials where the workload has that, and the number of blocks.
fn alone(
    reasons: &mut Reasons<'_>,
    point: Option<&MeasuredPoint>,
    (metric, best): (&str, Option<&str>),
) -> Result<Vec<Prose>, ReportError> {
    let mut row = vec![cell(reasons, point, metric)?];
    let none = || Prose::verbatim(NO_FIGURE);
    if let Some(best) = best {
        let best = point.and_then(|point| point.figure(best)?.best);
        row.push(best.map_or_else(none, Prose::quantity));
    }
    let n = point.and_then(|point| Some(point.figure(metric)?.estimate.n as usize));
    row.push(n.map_or_else(none, Prose::count));
    Ok(row)
}

fn cell(reasons: &mut Reasons<'_>, point: Option<&MeasuredPoint>, metric: &str) -> Said {
    let Some(point) = point else { return Ok(Prose::verbatim(NO_FIGURE)) };
    if let Some(too_few) = point.too_few.get(metric) {
        let args = few(Args::new(), too_few);
        return reasons.mark(reasons.writer.say("measured-reason-too-few", args)?);
    }
    match (point.figure(metric), &point.lacking) {
        (Some(MeasuredFigure { best: Some(best), .. }), _) => Ok(Prose::quantity(*best)),
        (Some(figure), _) => value(reasons.writer, &figure.estimate),
        (None, Some(lacking)) => reasons.cell(lacking),
        (None, None) => Ok(Prose::verbatim(NO_FIGURE)),
    }
}

/// What centre and interval of the figures are, a sentence a rule; nothing for a best value.
fn rule(
    writer: &Writer,
    (part, _): Load<'_, '_>,
    (shown, metric): (&[&MeasuredPoint], &str),
) -> Result<Vec<Prose>, ReportError> {
    let figures = shown.iter().filter_map(|point| point.figure(metric));
    let all: Vec<&Estimate> =
        figures.filter(|f| f.best.is_none()).map(|figure| &figure.estimate).collect();
    let mut said = Vec::new();
    for (method, key) in [
        (EstimateMethod::MeanT, "measured-note-mean"),
        (EstimateMethod::LogMeanT, "measured-note-geometric"),
        (EstimateMethod::SignedRank, "measured-note-ranks"),
        (EstimateMethod::MergedQuantile, "measured-note-quantile"),
    ] {
        let of = || all.iter().filter(|estimate| estimate.method == method);
        let Some(first) = of().next() else { continue };
        let ends = [of().map(|e| e.n).min(), of().map(|e| e.n).max()];
        let mut n: Vec<Prose> = ends.iter().flatten().map(|n| Prose::count(*n as usize)).collect();
        n.dedup_by(|a, b| a.text() == b.text());
        let args = Args::new()
            .repeat(repeat(part.run.plan.replicate()))
            .prose("n", &Prose::join_with(&n, "–"))
            .quantity("level", level(first));
        said.push(writer.say(key, args)?);
    }
    if all.iter().any(|estimate| is_alone(estimate)) {
        let args = Args::new().repeat(repeat(part.run.plan.replicate()));
        said.push(writer.say("measured-note-single", args)?);
    }
    Ok(said)
}

/// `bandwidth of it by isa and operation`.
fn caption(
    writer: &Writer,
    (part, load): Load<'_, '_>,
    (layout, metric): (&Layout<'_>, &str),
) -> Said {
    let args = Args::new()
        .prose("metric", &title((part, load), metric))
        .name("load", &key_words(&load.name));
    let what = writer.say("measured-of", args)?;
    let axes: Vec<Prose> = layout.all().map(super::layout::Axis::title).collect();
    let what = match count(axes.len()) {
        0 => what,
        _ => {
            let axes = Prose::join_with(&axes, ", ");
            writer.say("measured-by", Args::new().prose("what", &what).prose("axes", &axes))?
        }
    };
    match load.asks(Derivation::Best).any(|best| best.metric == metric) {
        true => writer.say("measured-best", Args::new().prose("what", &what)),
        false => Ok(what),
    }
}
