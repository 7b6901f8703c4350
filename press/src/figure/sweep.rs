//! Knows the panel of a sweep: curves over a position axis.
//!
//! Knows no colours and no words around it.

use super::layout::{Sheet, spread, thinned};
use super::model::{Figure, Mark, Reference, Zone};
use super::projection::{Projection, ValueAxis, drawable, positions};
use super::scene::{Anchor, Glyph, Ink, Point, Rect, Role, Shape, Text};

/// Half of a marker, px.
const MARKER: f64 = 3.8;
/// From the end of a line to its label, px.
const TO_LABEL: f64 = 14.0;
/// From the edge of the panel to the first and last point, px.
const INSET: f64 = 8.0;

/// The panel in px, with both axes.
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x: Projection,
    pub y: Projection,
}

/// Adds heading, curves, axes.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let height = (sheet.width * 0.46).clamp(200.0, 340.0);
    let axis = ValueAxis::of(figure, height / 62.0);
    let labels = end_labels(sheet, figure, height);
    sheet.heading(figure, &axis);
    if labels.is_none() {
        sheet.space(4.0);
        sheet.key(figure);
    }
    sheet.space(10.0);
    let mut frame = frame(sheet, figure, &axis, labels.as_deref());
    zones(sheet, figure, &mut frame, height);
    grid(sheet, &axis, &frame);
    let obstacles = curves(sheet, figure, &frame);
    let homeless = references(sheet, figure, &frame, &obstacles);
    if let Some(labels) = labels {
        place_labels(sheet, figure, &frame, &labels);
    }
    sheet.bottom = frame.bottom;
    position_axis(sheet, figure, &frame);
    for reference in homeless {
        let value = figure.value(reference.value);
        sheet.explain(Ink::Reference, &format!("{}, {value}", reference.name));
    }
}

/// The wrapped name of each series, if all of them find room beside the line ends.
pub(super) fn end_labels(sheet: &Sheet, figure: &Figure, height: f64) -> Option<Vec<Vec<String>>> {
    let room = sheet.width * if sheet.width < 480.0 { 0.30 } else { 0.26 };
    let mut all = Vec::new();
    let mut tall = 0.0;
    for (i, series) in figure.series.iter().enumerate() {
        let role = Role::Label(i);
        let lines = sheet.ruler.wrap(&series.name, role, room);
        if lines.len() > 3 || sheet.ruler.widest_word(&series.name, role) > room {
            return None;
        }
        tall += block(lines.len());
        all.push(lines);
    }
    (tall <= height).then_some(all)
}

/// Height of a label of so many lines, px.
fn block(lines: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "at most three lines")]
    let lines = lines as f64;
    lines * Role::Label(0).line() + 4.0
}

fn frame(
    sheet: &Sheet,
    figure: &Figure,
    axis: &ValueAxis,
    labels: Option<&[Vec<String>]>,
) -> Frame {
    let tick = |t: &str| sheet.ruler.width(t, Role::Tick);
    let gutter = axis.ticks.iter().map(|t| tick(&t.1)).fold(0.0, f64::max) + 8.0;
    let xs = figure.positions();
    let half = |x: Option<&f64>| x.map_or(0.0, |x| tick(&figure.x.tick_text(*x)) / 2.0);
    let left = gutter.max(half(xs.first()) - INSET);
    let overhang = half(xs.last()) - INSET;
    let wide = |l: &String| sheet.ruler.width(l, Role::Label(0));
    let label = labels
        .map_or(0.0, |all| all.iter().flatten().map(wide).fold(0.0, f64::max) + TO_LABEL - INSET);
    let right = sheet.width - label.max(overhang).max(0.0).ceil();
    let x = positions(figure, (left + INSET, right - INSET));
    let y = Projection { log: axis.log, domain: axis.domain, range: (0.0, 0.0) };
    Frame { left, right, top: 0.0, bottom: 0.0, x, y }
}

/// Shades the zones with their names above the panel, and so fixes where the panel begins.
pub(super) fn zones(sheet: &mut Sheet, figure: &Figure, frame: &mut Frame, height: f64) {
    let spans: Vec<(f64, f64)> = figure.drawn_zones().map(|z| span(figure, frame, z)).collect();
    let start = sheet.bottom;
    let names: Vec<(f64, &str)> = spans
        .iter()
        .zip(figure.drawn_zones())
        .map(|((a, b), z)| (f64::midpoint(*a, *b), z.name.as_str()))
        .collect();
    sheet.remarks(&names);
    let named = sheet.bottom > start;
    frame.top = sheet.bottom + if named { 8.0 } else { 6.0 };
    frame.bottom = frame.top + height;
    frame.y.range = (frame.bottom, frame.top);
    let top = if named { start - 3.0 } else { frame.top };
    for (i, ((a, b), zone)) in spans.iter().zip(figure.drawn_zones()).enumerate() {
        let corners = vec![(*a, top), (*b, top), (*b, frame.bottom), (*a, frame.bottom)];
        let ink = zone.leader.map_or(Ink::Zone(i), Ink::Lead);
        sheet.push(Shape::Area(ink, corners));
    }
}

/// The ends of a zone in px. One of a series holds points, so it reaches half-way to the next.
fn span(figure: &Figure, frame: &Frame, zone: &Zone) -> (f64, f64) {
    let (a, b) = (frame.x.place(zone.from), frame.x.place(zone.to));
    if zone.leader.is_none() {
        // A zone of one moment would be invisible: give it the width of a marker.
        return if b - a < 10.0 { (a - 6.0, b + 6.0) } else { (a, b) };
    }
    let places: Vec<f64> = figure.positions().into_iter().map(|x| frame.x.place(x)).collect();
    let before = places.iter().rfind(|x| **x < a - 0.5).map(|x| f64::midpoint(*x, a) + 0.5);
    let after = places.iter().find(|x| **x > b + 0.5).map(|x| f64::midpoint(*x, b) - 0.5);
    (before.unwrap_or(a - INSET), after.unwrap_or(b + INSET))
}

pub(super) fn grid(sheet: &mut Sheet, axis: &ValueAxis, frame: &Frame) {
    for (i, (value, text)) in axis.ticks.iter().enumerate() {
        let y = frame.y.place(*value);
        let base = i == 0 || *value == 0.0;
        let ink = if base { Ink::Base } else { Ink::Grid };
        sheet.push(Shape::Line(ink, vec![(frame.left, y), (frame.right, y)]));
        sheet.text(text, Role::Tick, (frame.left - 8.0, y + 4.0), Anchor::End);
    }
}

/// Draws bands, then lines, then markers of all series; returns every drawn stretch of line.
fn curves(sheet: &mut Sheet, figure: &Figure, frame: &Frame) -> Vec<(Point, Point)> {
    let at = |m: &Mark, v: f64| (frame.x.place(m.x), frame.y.place(v));
    let mut front = Vec::new();
    let mut stretches = Vec::new();
    for (i, series) in figure.series.iter().enumerate() {
        let marks: Vec<&Mark> = series.marks.iter().filter(|m| drawable(m)).collect();
        // A line is broken at an invalid point: joining its neighbours would invent a course.
        for run in marks.split(|m| !m.valid).filter(|r| !r.is_empty()) {
            let mut edge: Vec<Point> = run.iter().map(|m| at(m, m.high)).collect();
            edge.extend(run.iter().rev().map(|m| at(m, m.low)));
            let line: Vec<Point> = run.iter().map(|m| at(m, m.centre)).collect();
            if let [only] = run {
                sheet.push(Shape::Line(Ink::Band(i), edge));
                stretches.push((at(only, only.low), at(only, only.high)));
                continue;
            }
            sheet.push(Shape::Area(Ink::Band(i), edge));
            stretches.extend(line.windows(2).map(|w| (w[0], w[1])));
            front.push(Shape::Line(Ink::Curve(i), line));
        }
    }
    front.into_iter().for_each(|s| sheet.push(s));
    for (i, series) in figure.series.iter().enumerate() {
        for mark in series.marks.iter().filter(|m| drawable(m)) {
            sheet.push(marker(figure, i, mark, at(mark, mark.centre)));
        }
    }
    stretches
}

fn marker(figure: &Figure, series: usize, mark: &Mark, at: Point) -> Shape {
    let (ink, glyph) = if mark.valid {
        (Ink::Marker(series), Glyph::of(series))
    } else {
        (Ink::Invalid, Glyph::of(series).outline())
    };
    let range = desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    let name = &figure.series[series].name;
    let hint =
        format!("{name}, {}: {} ({range})", figure.x.tick_text(mark.x), figure.value(mark.centre));
    Shape::Marker { ink, glyph, at, radius: MARKER, hint }
}

/// Draws the dashed lines, each name where no curve crosses it; returns those without such a place.
pub(super) fn references<'a>(
    sheet: &mut Sheet,
    figure: &'a Figure,
    frame: &Frame,
    stretches: &[(Point, Point)],
) -> Vec<&'a Reference> {
    let heights: Vec<(f64, &'a Reference)> =
        figure.drawn_references().map(|r| (frame.y.place(r.value), r)).collect();
    for (y, _) in &heights {
        let ends = vec![(frame.left, *y), (frame.right, *y)];
        sheet.push(Shape::Line(Ink::Reference, ends));
    }
    let mut taken: Vec<Rect> = Vec::new();
    let mut homeless = Vec::new();
    for (y, reference) in &heights {
        let free = |t: &Text| {
            let room = t.bounds();
            // Markers stick out of their line, so the name keeps clear by as much.
            let wide = room.grown(MARKER);
            !stretches.iter().any(|(a, b)| wide.crossed_by(*a, *b))
                && !heights.iter().any(|h| room.top < h.0 && h.0 < room.bottom)
                && !taken.iter().any(|o| o.overlaps(&room))
                && room.top >= frame.top - 8.0
                && room.bottom <= frame.bottom
        };
        let place = candidates(sheet, &reference.name, frame, *y).into_iter().find(free);
        if let Some(text) = place {
            taken.push(text.bounds());
            sheet.push(Shape::Text(text));
        } else {
            homeless.push(*reference);
        }
    }
    homeless
}

/// Places for the name of a dashed line: above it, then below, from the left to the right.
fn candidates(sheet: &Sheet, name: &str, frame: &Frame, y: f64) -> Vec<Text> {
    let free = frame.right - frame.left - 8.0 - sheet.ruler.width(name, Role::Remark);
    let mut all = Vec::new();
    if free < 0.0 {
        return all;
    }
    for baseline in [y - 5.0, y + 13.0] {
        for step in 0..=12 {
            let x = frame.left + 4.0 + free * f64::from(step) / 12.0;
            all.push(sheet.measured(name, Role::Remark, (x, baseline), Anchor::Start));
        }
    }
    all
}

/// Writes each name beside the end of its line; a name that had to move gets a thin leader.
fn place_labels(sheet: &mut Sheet, figure: &Figure, frame: &Frame, labels: &[Vec<String>]) {
    let ends: Vec<(usize, Point)> = figure
        .series
        .iter()
        .enumerate()
        .filter_map(|(i, s)| {
            let last = s.marks.iter().rev().find(|m| drawable(m))?;
            Some((i, (frame.x.place(last.x), frame.y.place(last.centre))))
        })
        .collect();
    let wishes: Vec<(f64, f64)> =
        ends.iter().map(|(i, at)| (at.1, block(labels[*i].len()))).collect();
    let centres = spread(&wishes, frame.top - 6.0, frame.bottom + 6.0);
    let x = frame.right - INSET + TO_LABEL;
    for ((i, end), centre) in ends.iter().zip(centres) {
        let role = Role::Label(*i);
        let lines = &labels[*i];
        let far = (centre - end.1).abs() > 9.0 || x - end.0 > TO_LABEL + 1.0;
        if far {
            let from = (end.0 + MARKER + 2.0, end.1);
            sheet.push(Shape::Line(Ink::Leader, vec![from, (x - 2.0, centre)]));
        }
        let first = centre - (block(lines.len()) - 4.0) / 2.0 + role.size();
        for (n, line) in lines.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "at most three lines")]
            let y = first + n as f64 * role.line();
            sheet.text(line, role, (x, y), Anchor::Start);
        }
    }
}

/// A tick at every measured position, text at as many as find room, then the name of the axis.
fn position_axis(sheet: &mut Sheet, figure: &Figure, frame: &Frame) {
    let xs = figure.positions();
    let places: Vec<f64> = xs.iter().map(|x| frame.x.place(*x)).collect();
    let texts: Vec<String> = xs.iter().map(|x| figure.x.tick_text(*x)).collect();
    let half: Vec<f64> = texts.iter().map(|t| sheet.ruler.width(t, Role::Tick) / 2.0).collect();
    let y = frame.bottom;
    for x in &places {
        sheet.push(Shape::Line(Ink::Base, vec![(*x, y), (*x, y + 4.0)]));
    }
    for i in thinned(&places, &half, 12.0) {
        let x = places[i].clamp(half[i], (sheet.width - half[i]).max(half[i]));
        sheet.text(&texts[i], Role::Tick, (x, y + 18.0), Anchor::Middle);
    }
    sheet.bottom = y + 22.0;
    let name = figure.x.label.trim();
    if sheet.ruler.width(name, Role::Tick) > frame.right {
        sheet.paragraph(name, Role::Tick);
    } else if !name.is_empty() {
        sheet.bottom += Role::Tick.line();
        let at = (frame.right, sheet.bottom - 3.0);
        sheet.text(name, Role::Tick, at, Anchor::End);
    }
}
