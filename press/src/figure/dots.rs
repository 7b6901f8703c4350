//! Knows the panel of a dot figure: one row a series over a value axis. Knows no colours.

use super::layout::{Sheet, thinned};
use super::model::{Figure, Mark, Series};
use super::projection::{Projection, ValueAxis, drawable};
use super::scene::{Anchor, Glyph, Ink, Role, Shape};
use desk::unit::{Unit, plain};

/// Height of the track of a row, px.
const TRACK: f64 = 36.0;
/// Between columns, px.
const GAP: f64 = 16.0;

/// What stands in a row, and how much room it takes.
struct Row<'a> {
    series: &'a Series,
    name: Vec<String>,
    value: String,
    range: String,
}

/// The columns of the panel: names, tracks, values.
struct Columns {
    /// Names stand above the tracks instead of beside them.
    stacked: bool,
    /// Width of the names; zero if they are stacked.
    name: f64,
    /// First and last px of the tracks.
    track: (f64, f64),
}

/// Adds heading, rows, axis.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let axis = ValueAxis::of(figure, (sheet.width / 130.0).min(6.0));
    sheet.heading(figure, &axis);
    sheet.space(10.0);
    let (columns, rows) = columns(sheet, figure, &axis);
    let edge = 8.0;
    let (from, to) = columns.track;
    let range = (from + edge, to - edge);
    let x = Projection { log: axis.log, domain: axis.domain, range };
    let names: Vec<(f64, &str)> =
        figure.drawn_references().map(|r| (x.place(r.value), r.name.as_str())).collect();
    sheet.remarks(&names);
    let top = sheet.bottom + 2.0;
    let bottom = rows.iter().map(|r| height(r, &columns)).sum::<f64>() + top + 4.0;
    let stretches = stretches(&rows, &columns, (top, bottom));
    for (from, to) in stretches {
        for (value, _) in &axis.ticks {
            let x = x.place(*value);
            sheet.push(Shape::Line(Ink::Grid, vec![(x, from), (x, to)]));
        }
        for (at, _) in &names {
            sheet.push(Shape::Line(Ink::Reference, vec![(*at, from), (*at, to)]));
        }
    }
    sheet.bottom = top + 2.0;
    for (i, row) in rows.iter().enumerate() {
        draw(sheet, figure, (i, row), (&columns, &x));
    }
    sheet.bottom = bottom;
    ticks(sheet, &axis, &x);
}

/// Rows of ratios, and many rows, are one thing measured often: one colour, names in plain ink.
fn look(figure: &Figure, row: usize) -> (usize, Role) {
    let one = figure.y.unit == Unit::Ratio || figure.series.len() > 4;
    if one { (0, Role::Heading) } else { (row, Role::Label(row)) }
}

fn columns<'a>(sheet: &Sheet, figure: &'a Figure, axis: &ValueAxis) -> (Columns, Vec<Row<'a>>) {
    let ruler = sheet.ruler;
    let role = Role::Label(0);
    let mut rows: Vec<Row> = figure.series.iter().map(|s| row(figure, axis, s)).collect();
    let wide = |r: &Row| ruler.width(&r.value, Role::Value).max(ruler.width(&r.range, Role::Note));
    let value = rows.iter().map(wide).fold(0.0, f64::max);
    let room = (sheet.width * 0.34).min(300.0);
    for row in &mut rows {
        row.name = ruler.wrap(&row.series.name, role, room);
    }
    let fits = |r: &Row| r.name.len() <= 2 && ruler.widest_word(&r.series.name, role) <= room;
    let stacked = sheet.width < 480.0 || !rows.iter().all(fits);
    let widest = |r: &Row| r.name.iter().map(|l| ruler.width(l, role)).fold(0.0, f64::max);
    let name = if stacked { 0.0 } else { rows.iter().map(widest).fold(0.0, f64::max) };
    if stacked {
        for row in &mut rows {
            row.name = ruler.wrap(&row.series.name, role, sheet.width);
        }
    }
    let from = if stacked { 0.0 } else { name + GAP };
    let to = sheet.width - value - GAP;
    (Columns { stacked, name, track: (from, to) }, rows)
}

fn row<'a>(figure: &Figure, axis: &ValueAxis, series: &'a Series) -> Row<'a> {
    let mark = series.marks.iter().find(|m| m.valid && drawable(m));
    let value = mark.map_or_else(String::new, |m| axis.beside(figure, m));
    let range = mark.map_or_else(String::new, |m| interval(figure, axis, m));
    Row { series, name: Vec::new(), value, range }
}

/// The interval in the prefix of the axis: `9.38–9.44`.
fn interval(figure: &Figure, axis: &ValueAxis, mark: &Mark) -> String {
    if figure.y.unit == Unit::Ratio {
        return desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    }
    format!("{}–{}", plain(mark.low / axis.divisor), plain(mark.high / axis.divisor))
}

fn names_height(row: &Row) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let lines = row.name.len() as f64;
    lines * Role::Label(0).line()
}

fn height(row: &Row, columns: &Columns) -> f64 {
    if columns.stacked {
        names_height(row) + TRACK + 4.0
    } else {
        names_height(row).max(TRACK) + 6.0
    }
}

/// From where to where upright lines run: past all rows, or only where no name stands in the way.
fn stretches(rows: &[Row], columns: &Columns, (top, bottom): (f64, f64)) -> Vec<(f64, f64)> {
    if !columns.stacked {
        return vec![(top, bottom)];
    }
    let mut next = top + 2.0;
    let mut all = Vec::new();
    for row in rows {
        all.push((next + names_height(row), next + height(row, columns) - 2.0));
        next += height(row, columns);
    }
    all
}

fn draw(
    sheet: &mut Sheet,
    figure: &Figure,
    (number, row): (usize, &Row),
    (columns, x): (&Columns, &Projection),
) {
    let top = sheet.bottom;
    let (hue, role) = look(figure, number);
    let whole = height(row, columns);
    let names = names_height(row);
    let (first, middle) = if columns.stacked {
        (top + role.size(), top + names + TRACK / 2.0 - 2.0)
    } else {
        (top + (whole - names) / 2.0 + role.size() - 1.0, top + whole / 2.0)
    };
    let (at, anchor) =
        if columns.stacked { (0.0, Anchor::Start) } else { (columns.name, Anchor::End) };
    for (n, line) in row.name.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let y = first + n as f64 * role.line();
        sheet.text(line, role, (at, y), anchor);
    }
    for mark in row.series.marks.iter().filter(|m| drawable(m)) {
        track(sheet, figure, (hue, mark), (x, middle));
    }
    let right = sheet.width;
    sheet.text(&row.value, Role::Value, (right, middle - 1.0), Anchor::End);
    sheet.text(&row.range, Role::Note, (right, middle + 13.5), Anchor::End);
    sheet.bottom = top + whole;
}

/// The interval thick, the centre on it, every run as a small dot below.
fn track(
    sheet: &mut Sheet,
    figure: &Figure,
    (hue, mark): (usize, &Mark),
    (x, y): (&Projection, f64),
) {
    let (bar, run) = (y - 4.0, y + 9.0);
    for value in mark.runs.iter().filter(|v| v.is_finite()) {
        let ink = if mark.valid { Ink::Run(hue) } else { Ink::Invalid };
        let at = (x.place(*value), run);
        let hint = String::new();
        sheet.push(Shape::Marker { ink, glyph: Glyph::Dot, at, radius: 2.4, hint });
    }
    let ends = vec![(x.place(mark.low), bar), (x.place(mark.high), bar)];
    let (ink, centre, glyph) = if mark.valid {
        (Ink::Interval(hue), Ink::Marker(hue), Glyph::Dot)
    } else {
        (Ink::Invalid, Ink::Invalid, Glyph::OpenDot)
    };
    sheet.push(Shape::Line(ink, ends));
    let range = desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    let hint = format!("{} ({range})", figure.value(mark.centre));
    let at = (x.place(mark.centre), bar);
    sheet.push(Shape::Marker { ink: centre, glyph, at, radius: 5.0, hint });
}

fn ticks(sheet: &mut Sheet, axis: &ValueAxis, x: &Projection) {
    let places: Vec<f64> = axis.ticks.iter().map(|t| x.place(t.0)).collect();
    let half: Vec<f64> =
        axis.ticks.iter().map(|t| sheet.ruler.width(&t.1, Role::Tick) / 2.0).collect();
    for i in thinned(&places, &half, 12.0) {
        let at = places[i].clamp(half[i], (sheet.width - half[i]).max(half[i]));
        let y = sheet.bottom + 14.0;
        sheet.text(&axis.ticks[i].1, Role::Tick, (at, y), Anchor::Middle);
    }
    sheet.bottom += 20.0;
}
