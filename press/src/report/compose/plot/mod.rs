//! Knows how findings become the figures that are no curves: forest, ranks, groups, heatmap,
//! distribution, visits, where the CPU time goes, roofs.
//!
//! Gives: one function a kind, none where the data do not carry it. Never: computes a statistic.
//! Start reading at `forest.rs`.

mod forest;
mod groups;
mod heatmap;
mod percentile;
mod ranks;
mod roofline;
mod timeline;
mod waterfall;

pub(super) use forest::forest;
pub(super) use groups::groups;
pub(super) use heatmap::{heatmap, mapped};
pub(super) use percentile::percentiles;
pub(super) use ranks::ranks;
pub(in crate::report) use roofline::roof_line;
pub(super) use roofline::roofline;
pub(super) use timeline::timeline;
pub(super) use waterfall::waterfall;

use super::Writer;
use crate::figure::{Axis, Figure, FigureKind, Mark, Reference, Roof, Scale, Series, Zone};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::unit::{Quantity, Unit};

/// What is drawn and said; number and anchor come with the page.
struct Drawn {
    kind: FigureKind,
    title: Prose,
    subtitle: Prose,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    zones: Vec<Zone>,
    references: Vec<Reference>,
    roofs: Vec<Roof>,
    footnote: Prose,
}

/// The next figure of the article.
fn numbered(writer: &mut Writer, run: &str, drawn: Drawn) -> Figure {
    let number = writer.next_figure();
    Figure {
        id: format!("fig-{run}-{number}"),
        number,
        kind: drawn.kind,
        title: drawn.title.text().into(),
        subtitle: drawn.subtitle.text().into(),
        x: drawn.x,
        y: drawn.y,
        series: drawn.series,
        zones: drawn.zones,
        references: drawn.references,
        roofs: drawn.roofs,
        footnote: drawn.footnote.text().into(),
    }
}

/// A position that was looked at once and has no interval.
const fn single(x: f64, value: f64, valid: bool) -> Mark {
    Mark { x, centre: value, low: value, high: value, runs: Vec::new(), valid }
}

/// The margin, within which a ratio is no change.
fn margin(writer: &Writer, margin: Quantity) -> Result<Zone, ReportError> {
    let name = writer.say("zone-margin", Args::new().quantity("margin", margin))?;
    let to = 1.0 + margin.value;
    Ok(Zone { from: 1.0 / to, to, name: name.text().into(), leader: None })
}

/// The axis of a ratio.
fn ratio_axis(writer: &Writer, direction: String, scale: Scale) -> Result<Axis, ReportError> {
    let label = writer.label("axis-ratio")?.text().into();
    Ok(Axis { label, unit: Unit::Ratio, scale, direction, names: Vec::new() })
}

/// The line of no difference.
fn equal(writer: &Writer) -> Result<Reference, ReportError> {
    Ok(Reference { value: 1.0, name: writer.label("reference-equal")?.text().into() })
}
