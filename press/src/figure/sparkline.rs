//! Knows the sparkline: one small line without axes, for a table or a line of text.
//!
//! Knows no colours. Nothing is written in it: the words beside it are those of the table.

use super::braille::{cut, wide};
use super::model::{Figure, Mark, Series};
use super::projection::{Projection, ValueAxis, drawable, positions};
use super::scene::{Glyph, Ink, Point, Scene, Shape};

/// The widest sparkline, px.
const WIDTH: f64 = 120.0;
/// The narrowest one, px.
const NARROWEST: f64 = 40.0;
/// Its height, px.
const HEIGHT: f64 = 24.0;
/// Room for markers at every edge, px.
const INSET: f64 = 4.0;

/// The line with its last point, `width` px wide but at most 120.
pub fn scene(figure: &Figure, width: u32) -> Scene {
    let width = f64::from(width).clamp(NARROWEST, WIDTH);
    let x = positions(figure, (INSET, width - INSET));
    let y = values(figure, (HEIGHT - INSET, INSET));
    let mut shapes = Vec::new();
    for reference in figure.drawn_references() {
        let at = y.place(reference.value);
        shapes.push(Shape::Line(Ink::Reference, vec![(0.0, at), (width, at)]));
    }
    let at = |m: &Mark| -> Point { (x.place(m.x), y.place(m.centre)) };
    for (i, series) in figure.series.iter().enumerate() {
        let marks: Vec<&Mark> = series.marks.iter().filter(|m| drawable(m)).collect();
        for run in marks.split(|m| !m.valid).filter(|r| r.len() > 1) {
            let line = run.iter().map(|m| at(m)).collect();
            shapes.push(Shape::Line(Ink::Curve(i), line));
        }
        let last = marks.len().saturating_sub(1);
        let shown = |(n, m): &(usize, &&Mark)| *n == last || !m.valid;
        for (_, mark) in marks.iter().enumerate().filter(shown) {
            let (ink, glyph) = match mark.valid {
                true => (Ink::Marker(i), Glyph::of(i)),
                false => (Ink::Invalid, Glyph::of(i).outline()),
            };
            let hint = hint(figure, series, mark);
            shapes.push(Shape::Marker { ink, glyph, at: at(mark), radius: 2.6, hint });
        }
    }
    Scene { width, height: HEIGHT, shapes }
}

fn hint(figure: &Figure, series: &Series, mark: &Mark) -> String {
    format!("{}, {}: {}", series.name, figure.x.tick_text(mark.x), figure.value(mark.centre))
}

/// Values over the whole height: what a sparkline shows is the course, not the size.
fn values(figure: &Figure, range: (f64, f64)) -> Projection {
    let marks = figure.series.iter().flat_map(|s| &s.marks).filter(|m| drawable(m));
    let lines = figure.drawn_references().map(|r| r.value);
    let all: Vec<f64> = marks.map(|m| m.centre).chain(lines).collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log = ValueAxis::of(figure, 2.0).log && low > 0.0;
    let domain = if low <= high { (low, high) } else { (0.0, 0.0) };
    Projection { log, domain, range }
}

/// A line of blocks a series, its last value beside it.
pub fn text(figure: &Figure, columns: usize, unicode: bool) -> Vec<String> {
    let levels: &[char] = if unicode {
        &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    } else {
        &['_', '.', '-', '=', '^']
    };
    let hollow = if unicode { '○' } else { '?' };
    #[expect(clippy::cast_precision_loss, reason = "eight levels")]
    let y = values(figure, (0.0, (levels.len() - 1) as f64));
    let mut lines = Vec::new();
    for series in &figure.series {
        let marks: Vec<&Mark> = series.marks.iter().filter(|m| drawable(m)).collect();
        let value = marks.iter().rev().find(|m| m.valid).map(|m| figure.value(m.centre));
        let value = value.map_or_else(String::new, |v| v.to_string());
        let name = match figure.series.len() {
            1 => String::new(),
            _ => cut(&series.name, columns / 3) + " ",
        };
        let room = columns.saturating_sub(wide(&name) + wide(&value) + 1).max(1);
        // More points than cells: every cell shows the last point that falls on it.
        let cells = marks.len().min(room);
        let of_cell = |c: usize| marks[((c + 1) * marks.len()).div_ceil(cells) - 1];
        let drawn: String = (0..cells)
            .map(of_cell)
            .map(|m| if m.valid { level(levels, y.place(m.centre)) } else { hollow })
            .collect();
        lines.push(format!("{name}{drawn} {value}"));
    }
    lines
}

fn level(levels: &[char], place: f64) -> char {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "eight levels")]
    let place = place.round().max(0.0) as usize;
    levels[place.min(levels.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, FigureKind, Scale};
    use super::*;
    use desk::unit::Unit;

    fn line(centres: &[f64]) -> Figure {
        let axis = |label: &str, unit, scale| Axis {
            label: label.into(),
            unit,
            scale,
            direction: String::new(),
            names: Vec::new(),
        };
        let mark = |(i, centre): (u32, &f64)| Mark {
            x: f64::from(i),
            centre: *centre,
            low: *centre,
            high: *centre,
            runs: Vec::new(),
            valid: true,
        };
        Figure {
            id: "spark".into(),
            number: 1,
            kind: FigureKind::Sparkline,
            title: "Throughput of each block".into(),
            subtitle: String::new(),
            x: axis("block", Unit::Count, Scale::Linear),
            y: axis("throughput", Unit::BitPerSecond, Scale::Linear),
            series: vec![Series {
                name: "a".into(),
                marks: (0..).zip(centres).map(mark).collect(),
            }],
            zones: Vec::new(),
            references: Vec::new(),
            roofs: Vec::new(),
            footnote: String::new(),
        }
    }

    #[test]
    fn it_is_small_and_writes_nothing() {
        let drawn = scene(&line(&[1e9, 2e9, 1.5e9]), 760);
        assert_eq!((drawn.width, drawn.height), (120.0, 24.0));
        assert!(!drawn.shapes.iter().any(|s| matches!(s, Shape::Text(_))));
    }

    #[test]
    fn blocks_rise_with_the_values() {
        assert_eq!(text(&line(&[1e9, 1.5e9, 2e9]), 40, true), ["▁▅█ 2 Gbit/s"]);
        assert_eq!(text(&line(&[1e9, 1.5e9, 2e9]), 40, false), ["_-^ 2 Gbit/s"]);
    }

    #[test]
    fn many_points_keep_the_last_and_the_width() {
        let all: Vec<f64> = (1..=200).map(|i| f64::from(i) * 1e7).collect();
        let said = text(&line(&all), 24, true);
        assert!(wide(&said[0]) <= 24 && said[0].ends_with("█ 2 Gbit/s"), "{said:?}");
    }
}
