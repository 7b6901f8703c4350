//! Knows how a figure is said in words to a reader who cannot see it. Knows no drawing.

use super::model::{Axis, Figure, FigureKind, Mark, Reference, Series};
use super::projection::drawable;
use super::words::{Args, label, say};
use super::{forest, groups, heatmap, percentile, roofline, timeline, waterfall};
use std::fmt::Display;

/// The figure in words: what is plotted, how each series runs, where lines cross, zones,
/// references.
#[must_use]
pub fn alt_text(figure: &Figure) -> String {
    let mut said = vec![sentence(&figure.title), sentence(&figure.subtitle)];
    said.extend(match figure.kind {
        FigureKind::Percentile => percentile::said(figure),
        FigureKind::Timeline => timeline::said(figure),
        FigureKind::Waterfall => waterfall::said(figure),
        FigureKind::Roofline => roofline::said(figure),
        _ => drawing(figure),
    });
    if figure.kind == FigureKind::Sweep {
        said.extend(crossings(figure));
        said.extend(figure.drawn_zones().map(|z| {
            format!("{}: {}.", span(at(figure, z.from), at(figure, z.to)), z.name.trim())
        }));
    }
    let reference = |r: &Reference| format!("{}: {}.", r.name, figure.value(r.value));
    said.extend(figure.drawn_references().map(reference));
    said.extend(invalid(figure));
    said.retain(|s| !s.is_empty());
    said.join(" ")
}

/// What is plotted, then each series.
fn drawing(figure: &Figure) -> Vec<String> {
    let series = match figure.kind {
        FigureKind::Forest => forest::words(figure),
        FigureKind::Groups => groups::words(figure),
        FigureKind::Heatmap => heatmap::words(figure),
        kind if kind.by_rows() => figure.series.iter().map(|s| row(figure, s)).collect(),
        _ => figure.series.iter().map(|s| course(figure, s)).collect(),
    };
    std::iter::once(plotted(figure)).chain(series).collect()
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    let closed = text.ends_with(['.', '!', '?', '。', '…']);
    if text.is_empty() || closed { text.into() } else { format!("{text}.") }
}

fn plotted(figure: &Figure) -> String {
    let values = figure.y.label.clone();
    match figure.kind {
        FigureKind::Forest => shown("drawn-ratios", values, &figure.y),
        FigureKind::Heatmap => shown("drawn-cells", values, &figure.y),
        kind if kind.by_rows() => shown("drawn-dots", values, &figure.y),
        _ => {
            let xs = figure.positions();
            let ends = |(a, b): (&f64, &f64)| {
                let args = axes(figure).name("first", at(figure, *a)).name("last", at(figure, *b));
                say("drawn-over-from", args)
            };
            let ends = xs.first().zip(xs.last()).map(ends);
            shown("drawn-lines", ends.unwrap_or_else(|| over(figure)), &figure.y)
        }
    }
}

/// A message of what is plotted, and which direction of an axis is better.
pub(super) fn shown(key: &str, plotted: String, axis: &Axis) -> String {
    let plotted = match axis.direction.trim() {
        "" => plotted,
        direction => {
            let args = Args::new().name("plotted", plotted).name("direction", direction);
            say("drawn-directed", args)
        }
    };
    say(key, Args::new().name("plotted", plotted))
}

/// `throughput over size`.
pub(super) fn over(figure: &Figure) -> String {
    say("drawn-over", axes(figure))
}

fn axes(figure: &Figure) -> Args {
    Args::new().name("values", &figure.y.label).name("positions", &figure.x.label)
}

/// `64 B to 1 KiB`.
pub(super) fn span(from: String, end: String) -> String {
    say("drawn-to", Args::new().name("from", from).name("end", end))
}

/// `9.4 Gbit/s at 1 KiB`.
pub(super) fn placed(value: impl Display, position: String) -> String {
    say("drawn-at", Args::new().name("value", value).name("position", position))
}

/// What is said, and behind it why it is in doubt.
pub(super) fn doubted(said: String, doubt: Option<&str>) -> String {
    match doubt {
        Some(key) => format!("{said}, {}", label(key)),
        None => said,
    }
}

fn at(figure: &Figure, x: f64) -> String {
    figure.x.tick_text(x)
}

fn valid(series: &Series) -> Vec<&Mark> {
    series.marks.iter().filter(|m| m.valid && drawable(m)).collect()
}

/// Direction, ends and the extreme that is not at an end.
fn course(figure: &Figure, series: &Series) -> String {
    let marks = valid(series);
    let (Some(first), Some(last)) = (marks.first(), marks.last()) else {
        return format!("{}: {}.", series.name, label("drawn-no-point"));
    };
    let point = |m: &Mark| placed(figure.value(m.centre), at(figure, m.x));
    if marks.len() == 1 {
        return format!("{}: {}.", series.name, point(first));
    }
    let key = if overlap(first, last) {
        "drawn-level"
    } else if last.centre > first.centre {
        "drawn-rises"
    } else {
        "drawn-falls"
    };
    let mut text = say(key, Args::new().name("first", point(first)).name("last", point(last)));
    let peak = marks.iter().copied().max_by(|a, b| a.centre.total_cmp(&b.centre));
    let floor = marks.iter().copied().min_by(|a, b| a.centre.total_cmp(&b.centre));
    let inner = |m: &&Mark| !overlap(m, first) && !overlap(m, last);
    for (key, extreme) in [("drawn-highest", peak), ("drawn-lowest", floor)] {
        if let Some(mark) = extreme.filter(inner) {
            text = say(key, Args::new().name("course", text).name("point", point(mark)));
        }
    }
    format!("{}: {text}.", series.name)
}

fn overlap(a: &Mark, b: &Mark) -> bool {
    a.low <= b.high && b.low <= a.high
}

fn row(figure: &Figure, series: &Series) -> String {
    let Some(mark) = valid(series).first().copied() else {
        return format!("{}: {}.", series.name, label("drawn-no-point"));
    };
    let (low, high) = (figure.value(mark.low), figure.value(mark.high));
    let range = desk::unit::show_range(low, high);
    format!("{}: {} ({range}).", series.name, figure.value(mark.centre))
}

/// Where the order of two lines changes, judged at the positions that both have.
fn crossings(figure: &Figure) -> Vec<String> {
    let mut said = Vec::new();
    for (i, a) in figure.series.iter().enumerate() {
        for b in &figure.series[i + 1..] {
            for (from, to) in changes_of_order(a, b) {
                let names = Args::new().name("one", &a.name).name("other", &b.name);
                let args = names.name("from", at(figure, from)).name("end", at(figure, to));
                said.push(say("drawn-cross", args));
            }
        }
    }
    said
}

fn changes_of_order(a: &Series, b: &Series) -> Vec<(f64, f64)> {
    let right = valid(b);
    let gaps: Vec<(f64, f64)> = valid(a)
        .iter()
        .filter_map(|m| {
            let other = right.iter().find(|o| o.x.total_cmp(&m.x).is_eq())?;
            // Lines whose intervals overlap have no order there.
            (!overlap(m, other)).then_some((m.x, m.centre - other.centre))
        })
        .collect();
    gaps.windows(2).filter(|w| w[0].1 * w[1].1 < 0.0).map(|w| (w[0].0, w[1].0)).collect()
}

fn invalid(figure: &Figure) -> Option<String> {
    // These say what is hollow or hatched in their own words.
    if matches!(figure.kind, FigureKind::Forest | FigureKind::Heatmap) {
        return None;
    }
    let count = figure.series.iter().flat_map(|s| &s.marks).filter(|m| !m.valid).count();
    (count > 0).then(|| say("drawn-hollow-points", Args::new().count("count", count)))
}
