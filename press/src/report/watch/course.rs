//! Knows the line of the trials: the primary metric of every level in the order of time.

use super::ink::{Ink, Span};
use super::{Pane, PaneKind};
use crate::figure::{Axis, Figure, FigureKind, Mark, Scale, Series, braille};
use crate::report::compose::Writer;
use crate::report::document::unbroken;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Fault, Run, TrialKind, TrialRecord};
use desk::unit::Unit;
use desk::verdict::{Visit, visits};
use std::collections::BTreeSet;

/// The narrowest line.
const NARROWEST: u16 = 24;

/// A line of blocks a level; nothing before the first figure.
///
/// Where all trials of a level are of one load it is the figure itself; else loads would be seen
/// and not the course, so it is the figure over the mean of its like.
pub fn pane(
    writer: &Writer,
    run: &Run,
    (columns, unicode): (u16, bool),
) -> Result<Option<Pane>, ReportError> {
    let mut all = visits(run);
    all.retain(|visit| visit.record.trial.kind == TrialKind::Counted && visit.ratio.is_some());
    all.retain(|visit| !matches!(visit.fault(), Some(Fault::NotAvailable { .. })));
    let cells: BTreeSet<String> = all.iter().map(|visit| cell(run, visit.record)).collect();
    let metric = all.first().and_then(|visit| run.deciding(&visit.record.trial.point.load));
    let metric = metric.filter(|_| cells.len() == 1);
    let series = series(writer, run, &all, metric.is_some())?;
    if series.is_empty() {
        return Ok(None);
    }
    let title = match metric {
        Some(metric) => writer.say("watch-course", Args::new().name("metric", &metric.title))?,
        None => writer.label("watch-course-ratio")?,
    };
    let unit = metric.map_or(Unit::Ratio, |metric| metric.unit);
    let places: Vec<usize> = series.iter().map(|(at, _)| *at).collect();
    let drawn = figure(unit, series.into_iter().map(|(_, series)| series).collect());
    let text = braille(&drawn, columns.max(NARROWEST), 3, unicode);
    let line = |(text, at): (&str, usize)| vec![Span { text: text.into(), ink: Ink::Level(at) }];
    let lines = text.lines().zip(places).map(line).collect();
    Ok(Some(Pane { kind: PaneKind::Course, title: title.text().into(), lines }))
}

/// What trials have in common besides the level that is compared.
fn cell(run: &Run, record: &TrialRecord) -> String {
    let trial = &record.trial;
    let others =
        trial.treatment.levels.iter().filter(|(name, _)| **name != run.plan.method.compare);
    let others: Vec<_> = others.collect();
    format!("{:?} {:?} {others:?}", trial.point.load, trial.point.params)
}

/// The marks of every level that is compared, with its place, names of one width.
fn series(
    writer: &Writer,
    run: &Run,
    visits: &[Visit<'_>],
    absolute: bool,
) -> Result<Vec<(usize, Series)>, ReportError> {
    let plan = &run.plan;
    let factor = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    let levels = factor.map(|factor| &factor.levels[..]).unwrap_or_default();
    let names: Vec<String> = match levels {
        [] => vec![writer.label("watch-all")?.text().into()],
        levels => levels.iter().map(|level| level.name.clone()).collect(),
    };
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut all = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let is_its = |visit: &&Visit<'_>| {
            let level = visit.record.trial.treatment.levels.get(&plan.method.compare);
            levels.is_empty() || level == Some(name)
        };
        let marks: Vec<Mark> = visits
            .iter()
            .filter(is_its)
            .filter_map(|visit| {
                let figure = run.figure(visit.record).map(|figure| figure.value);
                let value = if absolute { figure } else { visit.ratio }?;
                let (x, valid) = (visit.record.started_s, visit.counts());
                Some(Mark { x, centre: value, low: value, high: value, runs: Vec::new(), valid })
            })
            .collect();
        if !marks.is_empty() {
            let name = unbroken(&format!("{name:<width$}"));
            all.push((at, Series { name, marks }));
        }
    }
    Ok(all)
}

fn figure(unit: Unit, series: Vec<Series>) -> Figure {
    let axis = |unit| Axis {
        label: String::new(),
        unit,
        scale: Scale::Linear,
        direction: String::new(),
        names: Vec::new(),
    };
    Figure {
        id: String::new(),
        number: 0,
        kind: FigureKind::Sparkline,
        title: String::new(),
        subtitle: String::new(),
        x: axis(Unit::Second),
        y: axis(unit),
        series,
        zones: Vec::new(),
        references: Vec::new(),
        roofs: Vec::new(),
        footnote: String::new(),
    }
}
