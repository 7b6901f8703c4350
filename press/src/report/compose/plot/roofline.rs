//! Knows the roofs over a curve: what a request costs and what a byte costs.

use super::{Drawn, numbered};
use crate::figure::{Axis, Figure, FigureKind, Mark, Roof, Scale, Series};
use crate::report::compose::effect::metric_title;
use crate::report::compose::figures::{alone_mark, direction, place};
use crate::report::compose::limits::kind_word;
use crate::report::compose::names::{key_words, level_name, level_names};
use crate::report::compose::places::engine;
use crate::report::compose::ruling::{condition, shown};
use crate::report::compose::{Part, Writer, states};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::unit::Unit;
use desk::verdict::{Comparison, PointResult, Roofs};

/// Bits of a byte.
const BITS: f64 = 8.0;

/// The figure of the curve that reaches highest of those that lie along both roofs; nothing if none
/// does.
pub fn roofline(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Figure>, ReportError> {
    match highest(part) {
        Some(curve) => Ok(Some(of_curve(writer, part, curve)?)),
        None => Ok(None),
    }
}

/// The same as a line for the card, of the first part that has one.
pub fn roof_line(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Prose>, ReportError> {
    let Some((part, (c, found))) = parts.iter().find_map(|p| Some((p, highest(p)?))) else {
        return Ok(None);
    };
    let args = Args::new()
        .name("level", &level_name(&part.run.plan, &c.factor, &found.level))
        .quantity("requests", found.requests.centre)
        .name("size", &shown(&found.meet))
        .quantity("rate", found.throughput.centre);
    Ok(Some(writer.say("card-roof", args)?))
}

fn highest<'a>(part: &Part<'a>) -> Option<(&'a Comparison, &'a Roofs)> {
    let top = |r: &Roofs| r.throughput.centre.value;
    let highest = part.analysis.roofs.iter().max_by(|a, b| top(a).total_cmp(&top(b)))?;
    Some((part.analysis.comparisons.iter().find(|c| c.id == highest.comparison)?, highest))
}

fn of_curve(
    writer: &mut Writer,
    part: &Part<'_>,
    (c, found): (&Comparison, &Roofs),
) -> Result<Figure, ReportError> {
    let (requests, top) = (&found.requests, &found.throughput);
    let per_request = writer.say("roof-request", Args::new().estimate("rate", requests))?;
    let per_byte = writer.say("roof-byte", Args::new().estimate("rate", top))?;
    let roof = |slope, ceiling, name: &Prose| Roof { slope, ceiling, name: name.text().into() };
    let mut roofs = vec![
        roof(Some(requests.centre.value * BITS), None, &per_request),
        roof(None, Some(top.centre.value), &per_byte),
    ];
    for top in &found.ceilings {
        let args = Args::new().prose("limit", &kind_word(writer, top.kind)?);
        let name = writer.say("roof-ceiling", args.estimate("rate", &top.throughput))?;
        roofs.push(roof(None, Some(top.throughput.centre.value), &name));
    }
    let mut series = Vec::new();
    for (side, name) in level_names(part.run, c).into_iter().enumerate() {
        let level = if side == 0 { &c.base } else { &c.other };
        let mark = |p: &PointResult| Mark {
            x: place(p).map_or(0.0, |q| q.value),
            valid: states::hollow(part, c, (level, p.at.as_ref())).is_none(),
            ..alone_mark(if side == 0 { &p.base } else { &p.other })
        };
        series.push(Series { name, marks: c.points.iter().map(mark).collect() });
    }
    let curve = key_words(c.curve.as_deref().unwrap_or_default());
    let metric = metric_title(part.run, c);
    let condition = [condition(part.run, c), engine(writer, part.run, c)?];
    let level = level_name(&part.run.plan, &c.factor, &found.level);
    let title = Args::new().name("level", &level).name("size", &shown(&found.meet));
    let title = writer.say("roof-title", title)?;
    let subtitle =
        writer.say("roof-subtitle", Args::new().name("metric", metric).name("curve", &curve))?;
    let drawn = Drawn {
        kind: FigureKind::Roofline,
        title,
        subtitle: Prose::join_with(&[subtitle, Prose::join_with(&condition, ", ")], ", "),
        x: axis(&curve, Unit::Byte, (Scale::Log2, String::new())),
        y: axis(metric, Unit::BitPerSecond, (Scale::Log10, direction(writer, c.better)?)),
        series,
        zones: Vec::new(),
        references: Vec::new(),
        roofs,
        footnote: writer.label(if found.ceilings.is_empty() {
            "roof-footnote"
        } else {
            "roof-footnote-ceilings"
        })?,
    };
    Ok(numbered(writer, &part.run.id, drawn))
}

fn axis(label: &str, unit: Unit, (scale, direction): (Scale, String)) -> Axis {
    Axis { label: label.into(), unit, scale, direction, names: Vec::new() }
}
