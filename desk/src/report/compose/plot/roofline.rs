//! Knows the roofs over a curve: what a request costs and what a byte costs.

use super::{Drawn, numbered};
use crate::figure::{Axis, Figure, FigureKind, Mark, Roof, Scale, Series};
use crate::report::compose::effect::metric_title;
use crate::report::compose::figures::{alone_mark, direction, place};
use crate::report::compose::names::{key_words, level_names};
use crate::report::compose::places::engine;
use crate::report::compose::ruling::condition;
use crate::report::compose::{Part, Writer, states};
use crate::report::document::{Prose, Source};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::unit::{Quantity, Unit};
use crate::verdict::{Comparison, PointResult};

/// Bits of a byte.
const BITS: f64 = 8.0;

/// The figure of the curve that reaches highest; nothing unless it is of bits by bytes.
pub fn roofline(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Figure>, ReportError> {
    let fits = |c: &&Comparison| {
        c.points.len() > 2
            && c.points.iter().all(|p| place(p).is_some_and(|q| q.unit == Unit::Byte))
            && c.points.iter().all(|p| p.base.centre.unit == Unit::BitPerSecond)
    };
    let top = |c: &Comparison| highest(c).map_or(0.0, |e| e.centre.value);
    let curves = part.analysis.comparisons.iter().filter(fits);
    let Some(curve) = curves.max_by(|a, b| top(a).total_cmp(&top(b))) else { return Ok(None) };
    of_curve(writer, part, curve)
}

fn both(c: &Comparison) -> impl Iterator<Item = (&PointResult, &Estimate)> {
    c.points.iter().flat_map(|p| [(p, &p.base), (p, &p.other)])
}

fn highest(c: &Comparison) -> Option<&Estimate> {
    both(c).map(|(_, e)| e).max_by(|a, b| a.centre.value.total_cmp(&b.centre.value))
}

/// Most requests a second at any point: throughput over the bits of a request.
fn requests(c: &Comparison) -> Option<Quantity> {
    let of = |(p, e): (&PointResult, &Estimate)| {
        let size = place(p).filter(|size| size.value > 0.0)?;
        Some(e.centre.value / (BITS * size.value))
    };
    let most = both(c).filter_map(of).max_by(f64::total_cmp)?;
    Some(Quantity::new(most, Unit::OperationPerSecond))
}

fn of_curve(
    writer: &mut Writer,
    part: &Part<'_>,
    c: &Comparison,
) -> Result<Option<Figure>, ReportError> {
    let (Some(requests), Some(top)) = (requests(c), highest(c)) else { return Ok(None) };
    let per_request = writer.say("roof-request", Args::new().quantity("rate", requests))?;
    let per_byte = writer.say("roof-byte", Args::new().estimate("rate", top))?;
    let roof = |slope, ceiling, name: &Prose| Roof { slope, ceiling, name: name.text().into() };
    let roofs = vec![
        roof(Some(requests.value * BITS), None, &per_request),
        roof(None, Some(top.centre.value), &per_byte),
    ];
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
    let condition = [condition(writer, part.run, c)?, engine(writer, part.run, c)?];
    let size = Quantity::new(top.centre.value / (BITS * requests.value), Unit::Byte);
    let meet = Prose::from_source(nearest(c, size), Source::Name);
    let title = writer.say("roof-title", Args::new().prose("size", &meet))?;
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
        footnote: writer.label("roof-footnote")?,
    };
    Ok(Some(numbered(writer, &part.run.id, drawn)))
}

/// The measured point that is nearest to where the roofs meet, by ratio.
fn nearest(c: &Comparison, size: Quantity) -> String {
    let off =
        |p: &PointResult| place(p).map_or(f64::INFINITY, |q| (q.value / size.value).ln().abs());
    let near = c.points.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
    near.and_then(|p| p.at.as_ref()).map(super::super::ruling::shown).unwrap_or_default()
}

fn axis(label: &str, unit: Unit, (scale, direction): (Scale, String)) -> Axis {
    Axis { label: label.into(), unit, scale, direction, names: Vec::new() }
}
