//! Knows the figure of loads without a curve: under each condition a row a level, with every visit.

use super::{Drawn, numbered};
use crate::claim::{Kind, together};
use crate::figure::{Axis, Figure, FigureKind, Mark, Scale, Series};
use crate::report::compose::effect::{is_alone, level, metric_title};
use crate::report::compose::figures::{Hollow, WIDE, direction, hollow_note, mark};
use crate::report::compose::names::level_names;
use crate::report::compose::places::with_engine;
use crate::report::compose::ruling::{condition, shown};
use crate::report::compose::{Part, Said, Writer, say, states};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::unit::Unit;
use desk::verdict::Comparison;
use std::collections::BTreeSet;

/// What is drawn.
#[derive(Default)]
struct Rows {
    /// Names of the groups.
    names: Vec<String>,
    /// A series a level.
    series: Vec<Series>,
    /// Why points are hollow.
    hollow: BTreeSet<Hollow>,
}

/// Both levels of every comparison, at every point; nothing for no comparison.
pub fn groups(
    writer: &mut Writer,
    part: &Part<'_>,
    comparisons: &[&Comparison],
) -> Result<Option<Figure>, ReportError> {
    let Some(first) = comparisons.first() else { return Ok(None) };
    let Rows { names, series, hollow } = rows(part, comparisons);
    let metric = metric_title(part.run, first);
    let values = || series.iter().flat_map(|s| &s.marks).map(|m| m.centre);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let wide = least > 0.0 && most / least > WIDE;
    let drawn = Drawn {
        kind: FigureKind::Groups,
        title: title(writer, part, comparisons)?,
        subtitle: subtitle(writer, part, first)?,
        x: Axis {
            label: writer.label("groups-axis")?.text().into(),
            unit: Unit::Count,
            scale: Scale::Linear,
            direction: String::new(),
            names,
        },
        y: Axis {
            label: metric.into(),
            unit: first.points.first().map_or(Unit::Count, |p| p.base.centre.unit),
            scale: if wide { Scale::Log10 } else { Scale::Linear },
            direction: direction(writer, first.better)?,
            names: Vec::new(),
        },
        series,
        zones: Vec::new(),
        references: Vec::new(),
        roofs: Vec::new(),
        footnote: footnote(writer, part, (first, &hollow))?,
    };
    Ok(Some(numbered(writer, &part.run.id, drawn)))
}

/// A level that stands against several, as the baseline does, is drawn once.
fn rows(part: &Part<'_>, comparisons: &[&Comparison]) -> Rows {
    let Rows { mut names, mut series, mut hollow } = Rows::default();
    for c in comparisons {
        for point in &c.points {
            let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
            let group = Prose::join_with(&[condition(part.run, c), at], ", ");
            let group = if group.text().is_empty() { c.load.as_str() } else { group.text() };
            let known = names.iter().position(|name| name == group);
            let place = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(group.to_owned());
            }
            #[expect(clippy::cast_precision_loss, reason = "groups are few")]
            let x = place as f64;
            let sides = [
                (&c.base, (&point.base, point.base_runs.as_slice())),
                (&c.other, (&point.other, point.other_runs.as_slice())),
            ];
            for (name, (level, figure)) in level_names(part.run, c).into_iter().zip(sides) {
                let why = states::hollow(part, c, (level, point.at.as_ref()));
                hollow.extend(why);
                let mark = Mark { x, valid: why.is_none(), ..mark(None, figure) };
                match series.iter_mut().find(|s| s.name == name) {
                    Some(known) => match known.marks.iter_mut().find(|m| m.x.total_cmp(&x).is_eq())
                    {
                        // Filled where a verdict of any of its comparisons stands on it.
                        Some(drawn) => drawn.valid |= mark.valid,
                        None => known.marks.push(mark),
                    },
                    None => series.push(Series { name, marks: vec![mark] }),
                }
            }
        }
    }
    Rows { names, series, hollow }
}

/// What the comparisons found, where that is one sentence.
fn title(writer: &Writer, part: &Part<'_>, comparisons: &[&Comparison]) -> Said {
    let judged: Vec<_> = comparisons.iter().map(|c| (part.run, *c)).collect();
    match together(&judged) {
        Some(claim) if claim.kind == Kind::Split => say::title(writer, &claim),
        _ => {
            let metric = comparisons.first().map_or("", |c| metric_title(part.run, c));
            writer.say("groups-title", Args::new().name("metric", metric))
        }
    }
}

/// The metric and what the marks are.
fn subtitle(writer: &Writer, part: &Part<'_>, first: &Comparison) -> Said {
    let args = Args::new().name("metric", metric_title(part.run, first));
    let said = match first.points.first().filter(|p| !is_alone(&p.base)) {
        Some(point) => writer.say("groups-subtitle", args.quantity("level", level(&point.base)))?,
        None => writer.say("groups-subtitle-alone", args)?,
    };
    with_engine(writer, (part.run, first), said)
}

fn footnote(
    writer: &Writer,
    part: &Part<'_>,
    (first, hollow): (&Comparison, &BTreeSet<Hollow>),
) -> Said {
    let args = Args::new().name("run", &part.run.id);
    let whole = match is_alone(&first.overall) {
        true => writer.say("figure-footnote-alone", args)?,
        false => writer.say("groups-footnote", args.count("blocks", first.overall.n))?,
    };
    Ok(Prose::join(&[hollow_note(writer, hollow)?, whole]))
}
