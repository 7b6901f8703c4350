//! Knows the figure of a survey: a load whose figures lie along one axis, a row a place.
//!
//! Must not know which load it is: the first in the plan that has enough places.

use super::layout::Layout;
use super::{Load, capital, count, points, title};
use crate::figure::{Axis, Figure, Scale, Series};
use crate::report::compose::effect::{is_alone, level};
use crate::report::compose::figures::{direction, mark};
use crate::report::compose::names::key_words;
use crate::report::compose::{Said, Writer};
use crate::report::document::Node;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::Estimate;

/// Fewer places are a sentence, and no figure.
const FEWEST: usize = 3;
/// Above this ratio of largest to smallest a linear axis hides the small ones.
const WIDE: f64 = 10.0;

/// The figure of the first load that has enough places; none where no load has.
pub(super) fn first(
    writer: &mut Writer,
    loads: &[Load<'_, '_>],
) -> Result<Option<Node>, ReportError> {
    let enough = |load: &&Load<'_, '_>| rows(**load).len() >= FEWEST;
    let Some(load) = loads.iter().find(enough) else { return Ok(None) };
    let number = writer.next_figure();
    drawn(writer, *load, number).map(|figure| figure.map(Node::Figure))
}

/// Every place of a load with the deciding figure there.
fn rows<'p>((part, load): Load<'p, '_>) -> Vec<(String, &'p Estimate)> {
    let primary = part.run.plan.primary(&load.name);
    let layout = Layout::of(&part.run.plan, load);
    let row = |point| Some((layout.place(point).text().to_owned(), point));
    let named = points(part, load).filter_map(row);
    named.filter_map(|(name, point)| Some((name, &point.figure(primary)?.estimate))).collect()
}

fn drawn(
    writer: &Writer,
    (part, load): Load<'_, '_>,
    number: u32,
) -> Result<Option<Figure>, ReportError> {
    let rows = rows((part, load));
    let Some(metric) = part.run.metric(&load.name, part.run.plan.primary(&load.name)) else {
        return Ok(None);
    };
    let centres = rows.iter().map(|(_, estimate)| estimate.centre.value);
    let (least, most) =
        centres.fold((f64::INFINITY, 0.0_f64), |(a, b), value| (a.min(value), b.max(value)));
    let wide = least > 0.0 && most / least > WIDE;
    let axis = Axis {
        label: metric.title.clone(),
        unit: metric.unit,
        scale: if wide { Scale::Log10 } else { Scale::Linear },
        direction: direction(writer, metric.better)?,
        names: Vec::new(),
    };
    let series = rows.iter().map(|(name, estimate)| Series {
        name: name.clone(),
        marks: vec![mark(None, (estimate, &[]))],
    });
    let args = Args::new()
        .name("load", &capital(&key_words(&load.name)))
        .prose("metric", &title((part, load), &metric.name));
    Ok(Some(Figure {
        title: writer.say("measured-of", args)?.text().into(),
        subtitle: subtitle(writer, &rows)?.text().into(),
        ..Figure::dots((&part.run.id, number), axis, series.collect())
    }))
}

/// What dots and bars are, and what n is at the least.
fn subtitle(writer: &Writer, rows: &[(String, &Estimate)]) -> Said {
    let fewest = rows.iter().min_by_key(|(_, estimate)| estimate.n);
    match fewest.filter(|(_, estimate)| !is_alone(estimate)) {
        Some((_, of)) => {
            let args = Args::new().count("blocks", count(of.n as usize));
            writer.say("measured-figure", args.quantity("level", level(of)))
        }
        None => writer.label("measured-figure-alone"),
    }
}
