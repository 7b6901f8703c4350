//! Knows the figure of pairs of CPUs: a row the one that sends, a column the one that answers.

use super::super::figures::direction;
use super::super::{Part, Writer};
use super::figures::footnote;
use crate::figure::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
use crate::record::Better;
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::unit::Unit;
use crate::verdict::MachineCell;
use std::collections::BTreeSet;

/// Fewest pairs that make a map.
const FEWEST: usize = 2;

/// The map of the first cell that tells pairs apart; nothing where fewer than two were told.
pub(super) fn matrix(
    writer: &mut Writer,
    part: &Part<'_>,
    cells: &[&MachineCell],
) -> Result<Option<Figure>, ReportError> {
    let Some(cell) = cells.iter().find(|cell| cell.pairs.len() >= FEWEST) else { return Ok(None) };
    let named = |(key, figure): (&String, &'_ Estimate)| {
        let (from, to) = key.split_once('-')?;
        Some(((from.parse().ok()?, to.parse().ok()?), figure.clone()))
    };
    let pairs: Vec<((u32, u32), Estimate)> = cell.pairs.iter().filter_map(named).collect();
    let mut ordered: Vec<&Estimate> = pairs.iter().map(|(_, figure)| figure).collect();
    ordered.sort_by(|a, b| a.centre.value.total_cmp(&b.centre.value));
    let Some(middle) = ordered.get(ordered.len() / 2) else { return Ok(None) };
    let subtitle = writer.say("matrix-subtitle", Args::new().estimate("middle", middle))?;
    let columns: BTreeSet<u32> = pairs.iter().map(|((_, to), _)| *to).collect();
    let columns: Vec<u32> = columns.into_iter().collect();
    let cpu = |cpu: u32| -> Result<String, ReportError> {
        let said = writer.say("matrix-cpu", Args::new().count("cpu", cpu))?;
        Ok(said.text().to_owned())
    };
    let mut series = Vec::new();
    for row in pairs.iter().map(|((from, _), _)| *from).collect::<BTreeSet<_>>() {
        let marks = pairs.iter().filter(|((from, _), _)| *from == row);
        let marks = marks.filter_map(|((_, to), figure)| {
            let at = columns.iter().position(|column| column == to)?;
            Some(over(at, figure, middle.centre.value))
        });
        let mut marks: Vec<Mark> = marks.collect();
        marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        series.push(Series { name: cpu(row)?, marks });
    }
    let names = columns.into_iter().map(cpu).collect::<Result<Vec<_>, _>>()?;
    let axis = |label: String, unit, direction, names| Axis {
        label,
        unit,
        scale: if unit == Unit::Ratio { Scale::Log10 } else { Scale::Linear },
        direction,
        names,
    };
    let label = |key| Ok::<_, ReportError>(writer.label(key)?.text().to_owned());
    let margin = part.run.plan.method.margin;
    let zone = writer.say("zone-margin", Args::new().quantity("margin", margin))?;
    let to = 1.0 + margin.value;
    let x = axis(label("matrix-axis")?, Unit::Count, String::new(), names);
    let y = axis(label("axis-ratio")?, Unit::Ratio, direction(writer, Better::Lower)?, Vec::new());
    let (title, reference) = (label("matrix-title")?, label("reference-equal")?);
    let footnote = [writer.label("matrix-footnote")?, footnote(writer, part, Some(middle))?];
    let footnote = crate::report::document::Prose::join(&footnote);
    let number = writer.next_figure();
    Ok(Some(Figure {
        id: format!("fig-{}-{number}", part.run.id),
        number,
        kind: FigureKind::Heatmap,
        title,
        subtitle: subtitle.text().into(),
        x,
        y,
        series,
        zones: vec![Zone { from: 1.0 / to, to, name: zone.text().into(), leader: None }],
        references: vec![Reference { value: 1.0, name: reference }],
        roofs: Vec::new(),
        footnote: footnote.text().into(),
    }))
}

/// A pair over the middle one.
#[expect(clippy::cast_precision_loss, reason = "CPUs are few")]
fn over(at: usize, figure: &Estimate, middle: f64) -> Mark {
    Mark {
        x: at as f64,
        centre: figure.centre.value / middle,
        low: figure.low.value / middle,
        high: figure.high.value / middle,
        runs: Vec::new(),
        valid: true,
    }
}
