//! Knows the figure of every visit in the order of time: drift, states and faults show there.

use super::{Drawn, equal, numbered, ratio_axis, single};
use crate::figure::{Axis, Figure, FigureKind, Scale, Series, Zone};
use crate::report::compose::appendix::fault_kind;
use crate::report::compose::names::level_name;
use crate::report::compose::ruling::count;
use crate::report::compose::{Part, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Fault;
use desk::unit::Unit;
use desk::verdict::{Visit, pauses, visits};

/// More marks than these on one sheet hide each other, and make a page heavy.
const MARKS: usize = 400;
/// Ratios further apart than this need a logarithmic axis.
const WIDE: f64 = 10.0;

/// The figure; nothing where no visit gave a figure.
pub fn timeline(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Figure>, ReportError> {
    let mut all = visits(part.run);
    all.retain(|visit| !matches!(visit.fault(), Some(Fault::NotAvailable { .. })));
    let invalid = all.iter().filter(|v| v.fault().is_some()).count();
    let title = Args::new().count("count", count(all.len())).count("invalid", count(invalid));
    let (drawn, left): (Vec<Visit<'_>>, Vec<Visit<'_>>) =
        all.into_iter().partition(|visit| visit.ratio.is_some());
    if drawn.is_empty() {
        return Ok(None);
    }
    let (faulty, whole): (Vec<_>, Vec<_>) = drawn.iter().partition(|v| v.fault().is_some());
    // Thinned apart: the few that are invalid must not go down with the many that are not.
    let every = [&whole, &faulty].map(|visits| visits.len().div_ceil(MARKS).max(1));
    let mut series = series(writer, part, &whole, every[0])?;
    series.extend(self::series(writer, part, &faulty, every[1])?);
    // What counts comes first, so that levels have the colours that they have elsewhere.
    series.sort_by_key(|s| !s.marks.iter().any(|m| m.valid));
    let values = || drawn.iter().filter_map(|v| v.ratio);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    let scale = if least > 0.0 && most / least > WIDE { Scale::Log10 } else { Scale::Linear };
    let x = Axis {
        label: writer.label("axis-time")?.text().into(),
        unit: Unit::Second,
        scale: Scale::Linear,
        direction: String::new(),
        names: Vec::new(),
    };
    let mut footnote = vec![writer.label("timeline-footnote")?];
    let keys = ["timeline-footnote-thinned", "timeline-footnote-thinned-invalid"];
    for (key, every) in keys.into_iter().zip(every).filter(|(_, every)| *every > 1) {
        footnote.push(writer.say(key, Args::new().count("every", count(every)))?);
    }
    if !left.is_empty() {
        let args = Args::new().count("count", count(left.len()));
        footnote.push(writer.say("timeline-footnote-left", args)?);
    }
    let drawn = Drawn {
        kind: FigureKind::Timeline,
        title: writer.say("timeline-title", title)?,
        subtitle: writer.label("timeline-subtitle")?,
        x,
        y: ratio_axis(writer, String::new(), scale)?,
        series,
        zones: breaks(writer, part)?,
        references: vec![equal(writer)?],
        roofs: Vec::new(),
        footnote: Prose::join(&footnote),
    };
    let mut figure = numbered(writer, &part.run.id, drawn);
    figure.y.label = writer.label("axis-like")?.text().into();
    figure.references[0].name = writer.label("reference-like")?.text().into();
    Ok(Some(figure))
}

/// The stretches in which nothing was visited, where the lines break.
fn breaks(writer: &Writer, part: &Part<'_>) -> Result<Vec<Zone>, ReportError> {
    let name = writer.label("timeline-pause")?;
    let zone = |pause: &desk::verdict::Pause| Zone {
        from: pause.from_s,
        to: pause.to_s,
        name: name.text().into(),
        leader: None,
    };
    Ok(pauses(part.run).iter().map(zone).collect())
}

/// A series a kind of visit, of each kind the first of so many: of all alike, so that no level is
/// thinned away by the order of a block.
fn series(
    writer: &Writer,
    part: &Part<'_>,
    visits: &[&Visit<'_>],
    every: usize,
) -> Result<Vec<Series>, ReportError> {
    let mut series: Vec<Series> = Vec::new();
    for visit in visits {
        let name = name(writer, part, visit)?;
        let mark = single(visit.record.started_s, visit.ratio.unwrap_or(1.0), visit.counts());
        match series.iter_mut().find(|s| s.name == name.text()) {
            Some(series) => series.marks.push(mark),
            None => series.push(Series { name: name.text().into(), marks: vec![mark] }),
        }
    }
    for series in &mut series {
        let marks = std::mem::take(&mut series.marks);
        series.marks = marks.into_iter().step_by(every).collect();
    }
    Ok(series)
}

/// The level of a visit that counts, else why it does not.
fn name(writer: &Writer, part: &Part<'_>, visit: &Visit<'_>) -> Result<Prose, ReportError> {
    if let Some(fault) = visit.fault() {
        return fault_kind(writer, fault);
    }
    if !visit.counts() {
        return writer.label("visit-dry");
    }
    let plan = &part.run.plan;
    let level = visit.record.trial.treatment.levels.get(&plan.method.compare);
    match level {
        Some(level) => Ok(Prose::verbatim(&level_name(plan, &plan.method.compare, level))),
        None => writer.label("visit-counted"),
    }
}
