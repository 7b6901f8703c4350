//! Knows the forest figure: a row a ratio, its interval beside the line of no change, on a
//! logarithmic axis; what is undecided is hollow. Knows no colours.

use super::alt::doubted;
use super::braille::{cut, heading, padded, right, wide};
use super::layout::Sheet;
use super::model::{Figure, Mark, Reference, Series};
use super::projection::{Projection, ValueAxis, drawable, round_step};
use super::rows::{Columns, Row, Slot};
use super::scene::{Glyph, Ink, Point, Shape};
use super::track::{Track, tick_line};
use super::words::{Args, label, say};

/// Height of a track, px.
const TRACK: f64 = 24.0;
/// Half of a centre, px.
const CENTRE: f64 = 4.6;
/// Half the height of the arrow at an interval that goes on outside, px.
const ARROW: f64 = 4.0;
/// Axes of smaller ratios than this would blow up noise.
const NARROWEST: f64 = 1.06;

/// The one mark of a row, decided or not, if it has a place on an axis of ratios.
fn mark(series: &Series) -> Option<&Mark> {
    series.marks.iter().find(|m| placed(m))
}

fn placed(mark: &Mark) -> bool {
    drawable(mark) && mark.centre > 0.0
}

/// Adds heading, rows, axis.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let axis = axis(figure);
    sheet.heading(figure, &axis);
    sheet.space(8.0);
    let rows: Vec<Row> =
        figure.series.iter().map(|s| Row::of(figure, &axis, &s.name, mark(s))).collect();
    let columns = Columns::of(sheet, &rows);
    let x = columns.projection(&axis);
    remarks(sheet, figure, &x);
    let mut top = sheet.bottom + 5.0;
    let start = top;
    let slots: Vec<Slot> = rows
        .iter()
        .map(|row| {
            let slot = columns.slot(sheet.ruler, row, (top, TRACK));
            top = slot.bottom;
            slot
        })
        .collect();
    ground(sheet, figure, (&x, start), &slots);
    for (row, (slot, series)) in rows.iter().zip(slots.iter().zip(&figure.series)) {
        columns.write(sheet, row, slot);
        for mark in series.marks.iter().filter(|m| placed(m)) {
            interval(sheet, figure, (series, mark), (&x, slot.middle));
        }
    }
    sheet.bottom = top;
    columns.axis(sheet, &axis, &x);
}

/// Names of the line of no change, of the margin and of other lines, above the rows.
fn remarks(sheet: &mut Sheet, figure: &Figure, x: &Projection) {
    let zone = |z: &super::model::Zone| f64::midpoint(x.place(z.from), x.place(z.to));
    let zones = figure.drawn_zones().map(|z| (zone(z), z.name.as_str()));
    let lines = figure.drawn_references().map(|r| (x.place(r.value), r.name.as_str()));
    let names: Vec<(f64, &str)> = lines.chain(zones).filter(|n| !n.1.trim().is_empty()).collect();
    sheet.remarks(&names);
}

fn no_change(reference: &Reference) -> bool {
    (reference.value - 1.0).abs() < 1e-9
}

/// The margin as a light zone, a hairline above each row, upright lines where no name stands.
fn ground(sheet: &mut Sheet, figure: &Figure, (x, top): (&Projection, f64), slots: &[Slot]) {
    let bottom = slots.last().map_or(top, |s| s.bottom);
    for zone in figure.drawn_zones() {
        let (mut from, mut to) = (x.place(zone.from), x.place(zone.to));
        if to - from < 4.0 {
            let middle = f64::midpoint(from, to);
            (from, to) = (middle - 2.0, middle + 2.0);
        }
        let corners = vec![(from, top), (to, top), (to, bottom), (from, bottom)];
        sheet.push(Shape::Area(Ink::Zone(1), corners));
    }
    let mut edge = top;
    for slot in slots {
        sheet.push(Shape::Line(Ink::Grid, vec![(0.0, edge), (sheet.width, edge)]));
        edge = slot.bottom;
    }
    let upright = |sheet: &mut Sheet, ink: Ink, at: f64| {
        for Slot { tracks: (from, to), .. } in slots {
            sheet.push(Shape::Line(ink, vec![(at, *from), (at, *to)]));
        }
    };
    upright(sheet, Ink::Base, x.place(1.0));
    for reference in figure.drawn_references().filter(|r| !no_change(r)) {
        upright(sheet, Ink::Reference, x.place(reference.value));
    }
}

/// How a row is drawn: by the side of no change it lies on, neutral if its interval includes no
/// change or lies within the margin.
fn look(figure: &Figure, mark: &Mark) -> (Ink, Ink, Glyph) {
    let inside = |z: &super::model::Zone| z.from <= mark.low && mark.high <= z.to;
    let open = mark.low <= 1.0 && 1.0 <= mark.high;
    if !mark.valid {
        return (Ink::Invalid, Ink::Invalid, Glyph::OpenSquare);
    }
    if open || figure.drawn_zones().any(inside) {
        return (Ink::Neutral, Ink::Neutral, Glyph::Dot);
    }
    let hue = usize::from(mark.centre < 1.0);
    (Ink::Whisker(hue), Ink::Marker(hue), Glyph::Square)
}

fn interval(
    sheet: &mut Sheet,
    figure: &Figure,
    (series, mark): (&Series, &Mark),
    (x, y): (&Projection, f64),
) {
    let (line, centre, glyph) = look(figure, mark);
    let (from, to) = (x.place(mark.low), x.place(mark.high));
    sheet.push(Shape::Line(line, vec![(from, y), (to, y)]));
    let mut arrow = |tip: f64, back: f64| {
        let points: Vec<Point> = vec![(back, y - ARROW), (tip, y), (back, y + ARROW)];
        sheet.push(Shape::Line(line, points));
    };
    if mark.low < x.domain.0 {
        arrow(from, from + ARROW);
    }
    if mark.high > x.domain.1 {
        arrow(to, to - ARROW);
    }
    let hint = format!("{}: {}", series.name, said(figure, mark));
    let at = (x.place(mark.centre), y);
    sheet.push(Shape::Marker { ink: centre, glyph, at, radius: CENTRE, hint });
}

/// `1.31× (1.24–1.38×)`, and whether that decides anything.
fn said(figure: &Figure, mark: &Mark) -> String {
    let range = desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    let centre = desk::unit::show_centre(figure.value(mark.centre), (mark.low, mark.high));
    let said = if mark.low < mark.high { format!("{centre} ({range})") } else { centre };
    doubted(said, (!mark.valid).then_some("drawn-undecided"))
}

/// The logarithmic axis of ratios. It holds no change, every centre, line and zone, and every
/// interval that decides something; one that does not may go on outside, for it would press the
/// others together.
pub fn axis(figure: &Figure) -> ValueAxis {
    let marks = || figure.series.iter().flat_map(|s| &s.marks).filter(|m| placed(m));
    let decided = marks().any(|m| m.valid);
    let mut wanted = vec![1.0];
    wanted.extend(figure.drawn_references().map(|r| r.value));
    wanted.extend(figure.drawn_zones().flat_map(|z| [z.from, z.to]));
    for mark in marks() {
        wanted.push(mark.centre);
        if mark.valid || !decided {
            wanted.extend([mark.low, mark.high]);
        }
    }
    let ends = |values: &[f64]| {
        let places = values.iter().filter(|v| **v > 0.0).map(|v| v.ln());
        places.fold((0.0_f64, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)))
    };
    let (low, high) = ends(&wanted);
    let open: Vec<f64> = marks().flat_map(|m| [m.low, m.high]).collect();
    let (outer_low, outer_high) = ends(&open);
    let span = (high - low).max(NARROWEST.ln());
    let low = low.min(outer_low.max(low - span / 2.0)).min(-NARROWEST.ln() / 2.0);
    let high = high.max(outer_high.min(high + span / 2.0)).max(NARROWEST.ln() / 2.0);
    let pad = 0.03 * (high - low);
    let domain = ((low - pad).exp(), (high + pad).exp());
    ValueAxis { log: true, domain, ticks: ticks(domain), unit: String::new(), divisor: 1.0 }
}

/// Round ratios inside the domain, always with 1; equal steps where ratios lie close to it.
fn ticks((low, high): (f64, f64)) -> Vec<(f64, String)> {
    const BETWEEN: [f64; 15] =
        [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0];
    let wide = high / low;
    let mut values: Vec<f64> = if wide <= 2.0 {
        let step = round_step((high - low) / 6.0);
        (-30..=30).map(|i| 1.0 + f64::from(i) * step).collect()
    } else if wide <= 6.0 {
        BETWEEN.to_vec()
    } else {
        let digits: &[f64] = if wide > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decade = |d: i32| digits.iter().map(move |digit| digit * 10_f64.powi(d));
        (-300..=300).flat_map(decade).collect()
    };
    values.retain(|v| (low..=high).contains(v));
    let text = |v: f64| format!("{}×", (v * 1e9).round() / 1e9);
    values.into_iter().map(|v| (v, text(v))).collect()
}

/// The rows as text: name, track, value, interval.
pub fn text(figure: &Figure, columns: usize, unicode: bool) -> Vec<String> {
    let axis = axis(figure);
    let rows: Vec<Row> =
        figure.series.iter().map(|s| Row::of(figure, &axis, &s.name, mark(s))).collect();
    let most = |f: fn(&Row) -> usize| rows.iter().map(f).max().unwrap_or(0);
    let (value, range) = (most(|r| wide(&r.value)), most(|r| wide(&r.range)));
    let longest = most(|r| wide(r.name));
    let ranged = columns >= 44 + range;
    let words = value + if ranged { range + 1 } else { 0 };
    let stacked = longest > columns / 3;
    let name = if stacked { 0 } else { longest };
    let width = columns.saturating_sub(name + words + 3).max(8);
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let x = Projection { log: true, domain: axis.domain, range: (0.0, (width - 1) as f64) };
    let mut lines = heading(figure, &axis, columns);
    for (row, series) in rows.iter().zip(&figure.series) {
        let track = track(figure, series, (&x, width), unicode);
        let mut said = right(&row.value, value);
        if ranged {
            said = format!("{said} {}", right(&row.range, range));
        }
        if stacked {
            lines.push(cut(row.name, columns));
            lines.push(format!("  {track} {said}"));
        } else {
            lines.push(format!("{}  {track} {said}", padded(row.name, name)));
        }
    }
    let ticks: Vec<(f64, &str)> =
        by_one(&axis.ticks).map(|(v, t)| (x.place(*v), t.as_str())).collect();
    lines.push(format!("{}{}", " ".repeat(name + 2), tick_line(&ticks, width)));
    lines
}

/// The ticks, that of no change first: what stands first is written first.
fn by_one(ticks: &[(f64, String)]) -> impl Iterator<Item = &(f64, String)> {
    let one = |t: &&(f64, String)| (t.0 - 1.0).abs() < 1e-9;
    let ends = ticks.first().into_iter().chain(ticks.last());
    ticks.iter().filter(one).chain(ends).chain(ticks)
}

/// The margin, the lines, the interval and the centre over them.
fn track(
    figure: &Figure,
    series: &Series,
    (x, width): (&Projection, usize),
    unicode: bool,
) -> String {
    let [zone, one, line] = if unicode { ['░', '│', '┊'] } else { [' ', '|', ':'] };
    let mut ink = Track::new(x, width, unicode);
    for z in figure.drawn_zones() {
        ink.fill(z.from, z.to, zone);
    }
    figure.drawn_references().for_each(|r| ink.set(r.value, line));
    ink.set(1.0, one);
    for mark in series.marks.iter().filter(|m| placed(m)) {
        ink.whiskers(mark);
        ink.centre(mark);
    }
    ink.finish()
}

/// What the rows say, and where the margin lies.
pub fn words(figure: &Figure) -> Vec<String> {
    let row = |s: &Series| match mark(s) {
        Some(m) => format!("{}: {}.", s.name, said(figure, m)),
        None => format!("{}: {}.", s.name, label("drawn-no-ratio")),
    };
    let mut all: Vec<String> = figure.series.iter().map(row).collect();
    all.extend(figure.drawn_zones().map(|z| {
        let range = desk::unit::show_range(figure.value(z.from), figure.value(z.to));
        format!("{}: {range}.", z.name.trim())
    }));
    let open = figure.series.iter().filter_map(mark).filter(|m| !m.valid).count();
    all.extend((open > 0).then(|| say("drawn-hollow-rows", Args::new().count("count", open))));
    all
}
