//! Knows the map of a ratio over two swept dimensions: conditions down, the curve across.

use super::{Drawn, equal, margin, numbered, ratio_axis};
use crate::figure::{Axis, Figure, FigureKind, Mark, Scale, Series};
use crate::report::compose::effect::metric_title;
use crate::report::compose::figures::{alone_mark, direction};
use crate::report::compose::names::{key_words, pair};
use crate::report::compose::ruling::{short_condition, shown};
use crate::report::compose::{Part, Writer, states};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Value;
use desk::unit::Unit;
use desk::verdict::{Comparison, PointResult};

/// The curves that share a map: several of one pair of levels, along one parameter.
pub fn mapped<'a>(part: &Part<'a>) -> Vec<Vec<&'a Comparison>> {
    let mut groups: Vec<Vec<&Comparison>> = Vec::new();
    let key = |c: &Comparison| {
        let places: Vec<Option<Value>> = c.points.iter().map(|p| p.at.clone()).collect();
        let pair = (c.factor.clone(), c.base.clone(), c.other.clone());
        (pair, c.metric.clone(), c.curve.clone(), places)
    };
    let curves = part.analysis.comparisons.iter();
    for c in curves.filter(|c| c.curve.is_some() && c.points.len() > 1 && !c.aa) {
        match groups.iter_mut().find(|g| key(g[0]) == key(c)) {
            Some(group) => group.push(c),
            None => groups.push(vec![c]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// The map of such a group.
#[expect(clippy::cast_precision_loss, reason = "places of a curve are few")]
pub fn heatmap(
    writer: &mut Writer,
    part: &Part<'_>,
    group: &[&Comparison],
) -> Result<Figure, ReportError> {
    let first = group[0];
    let mut series = Vec::new();
    for c in group {
        let cell = |(at, point): (usize, &PointResult)| Mark {
            x: at as f64,
            valid: is_sound(part, c, point),
            ..alone_mark(&point.ratio)
        };
        let name = short_condition(part.run, c);
        let marks = c.points.iter().enumerate().map(cell).collect();
        series.push(Series { name: name.text().into(), marks });
    }
    let curve = key_words(first.curve.as_deref().unwrap_or_default());
    let names = first.points.iter().map(|p| p.at.as_ref().map(shown).unwrap_or_default());
    let x = Axis {
        label: curve.clone(),
        unit: Unit::Count,
        scale: Scale::Linear,
        direction: String::new(),
        names: names.collect(),
    };
    let args = pair(part.run, first).name("metric", metric_title(part.run, first));
    let hollow = group.iter().any(|c| c.points.iter().any(|p| !is_sound(part, c, p)));
    let mut footnote = vec![writer.label("heatmap-footnote")?];
    if hollow {
        let alone = part.run.plan.is_alone();
        let key = if alone { "heatmap-footnote-barred" } else { "heatmap-footnote-hollow" };
        footnote.push(writer.label(key)?);
    }
    let drawn = Drawn {
        kind: FigureKind::Heatmap,
        title: writer.say("heatmap-title", args)?,
        subtitle: writer.say("heatmap-subtitle", Args::new().name("curve", &curve))?,
        x,
        y: ratio_axis(writer, direction(writer, first.better)?, Scale::Log10)?,
        series,
        zones: vec![margin(writer, first.margin)?],
        references: vec![equal(writer)?],
        roofs: Vec::new(),
        footnote: Prose::join(&footnote),
    };
    Ok(numbered(writer, &part.run.id, drawn))
}

/// Whether a ratio is one of the systems under test and not of chance or of the clients.
fn is_sound(part: &Part<'_>, c: &Comparison, point: &PointResult) -> bool {
    let at = point.at.as_ref();
    let hollow = |level: &str| states::hollow(part, c, (level, at)).is_some();
    !point.verdict.is_barred() && !hollow(&c.base) && !hollow(&c.other)
}
