//! Knows how a figure is said in words to a reader who cannot see it. Knows no drawing.

use super::model::{Figure, FigureKind, Mark, Reference, Series};
use super::projection::drawable;
use super::{forest, groups, heatmap, percentile, roofline, timeline, waterfall};

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
            format!("{} to {}: {}.", at(figure, z.from), at(figure, z.to), z.name.trim())
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
    let direction = match figure.y.direction.as_str() {
        "" => String::new(),
        text => format!(", {text}"),
    };
    match figure.kind {
        FigureKind::Forest => format!("Ratios beside no change: {}{direction}.", figure.y.label),
        FigureKind::Heatmap => format!("Cells: {}{direction}.", figure.y.label),
        kind if kind.by_rows() => format!("Dots: {}{direction}.", figure.y.label),
        _ => {
            let xs = figure.positions();
            let ends = xs.first().zip(xs.last()).map_or_else(String::new, |(a, b)| {
                format!(" from {} to {}", at(figure, *a), at(figure, *b))
            });
            let (y, x) = (&figure.y.label, &figure.x.label);
            format!("Lines: {y} over {x}{ends}{direction}.")
        }
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
        return format!("{}: no valid point.", series.name);
    };
    let point = |m: &Mark| format!("{} at {}", figure.value(m.centre), at(figure, m.x));
    if marks.len() == 1 {
        return format!("{}: {}.", series.name, point(first));
    }
    let verb = if overlap(first, last) {
        "stays level"
    } else if last.centre > first.centre {
        "rises"
    } else {
        "falls"
    };
    let mut text = format!("{}: {verb} from {} to {}", series.name, point(first), point(last));
    let peak = marks.iter().copied().max_by(|a, b| a.centre.total_cmp(&b.centre));
    let floor = marks.iter().copied().min_by(|a, b| a.centre.total_cmp(&b.centre));
    let inner = |m: &&Mark| !overlap(m, first) && !overlap(m, last);
    if let Some(peak) = peak.filter(inner) {
        text.push_str(&format!(", highest {}", point(peak)));
    }
    if let Some(floor) = floor.filter(inner) {
        text.push_str(&format!(", lowest {}", point(floor)));
    }
    text + "."
}

fn overlap(a: &Mark, b: &Mark) -> bool {
    a.low <= b.high && b.low <= a.high
}

fn row(figure: &Figure, series: &Series) -> String {
    let Some(mark) = valid(series).first().copied() else {
        return format!("{}: no valid point.", series.name);
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
                let (from, to) = (at(figure, from), at(figure, to));
                said.push(format!("{} and {} cross between {from} and {to}.", a.name, b.name));
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
    match count {
        0 => None,
        1 => Some("1 invalid point is shown hollow.".into()),
        n => Some(format!("{n} invalid points are shown hollow.")),
    }
}
