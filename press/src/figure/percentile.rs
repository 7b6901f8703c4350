//! Knows how shares of what is at most so large are drawn: steps of a distribution, or a curve.
//!
//! Knows no colours and no words around the panel.

use super::alt;
use super::layout::Sheet;
use super::model::{Figure, Mark, Series};
use super::plot::{self, Clear, Words};
use super::projection::{ValueAxis, drawable};
use super::scales::{self, Shares};
use super::scene::{Anchor, Glyph, Ink, Point, Rect, Role, Shape};
use super::sweep::{self, Frame};
use super::terminal::{Page, Panel, sign};
use super::words::{Args, label, say};

/// From a curve to its name, px.
const TO_LABEL: f64 = 9.0;
/// A series with more marks than this shows its shape only now and then.
const FEW: usize = 24;
/// Between the shapes on a curve of many marks, px.
const APART: f64 = 70.0;

/// A stretch of a series between invalid points: values and shares.
struct Course {
    line: Vec<(f64, f64)>,
    band: Vec<(f64, f64)>,
}

/// True if the marks are the steps of a distribution.
fn stepped(series: &Series) -> bool {
    let bare = |m: &Mark| m.low == m.centre && m.high == m.centre;
    series.marks.iter().filter(|m| drawable(m)).all(bare)
}

/// What is drawn of a series, in values and shares; `last` is the largest value of the axis.
fn courses(series: &Series, last: f64) -> Vec<Course> {
    let marks: Vec<&Mark> = series.marks.iter().filter(|m| drawable(m)).collect();
    let steps = stepped(series);
    let mut before = 0.0;
    let mut all = Vec::new();
    for run in marks.split(|m| !m.valid).filter(|r| !r.is_empty()) {
        let mut line = Vec::new();
        for mark in run {
            if steps {
                line.push((mark.x, before));
                before = mark.centre;
            }
            line.push((mark.x, mark.centre));
        }
        let mut band = Vec::new();
        if !steps {
            band.extend(run.iter().map(|m| (m.x, m.high)));
            band.extend(run.iter().rev().map(|m| (m.x, m.low)));
        }
        all.push(Course { line, band });
    }
    // All there is stays at most so large further on.
    if let (Some(course), true) = (all.last_mut(), steps && before > 1.0 - 1e-9) {
        course.line.push((last, before));
    }
    all
}

fn axes(figure: &Figure, steps: f64) -> (ValueAxis, Shares) {
    let extent = scales::extent(figure.positions().into_iter());
    let x = scales::trimmed(scales::quantities(&figure.x, extent, steps), extent);
    let centres = || marks(figure).map(|m| m.centre);
    let references = figure.drawn_references().map(|r| r.value);
    (x, Shares::of(&figure.y, centres().chain(references)))
}

fn marks(figure: &Figure) -> impl Iterator<Item = &Mark> {
    figure.series.iter().flat_map(|s| &s.marks).filter(|m| drawable(m))
}

/// Adds heading, curves, axes.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let height = (sheet.width * 0.46).clamp(220.0, 340.0);
    let (x, shares) = axes(figure, (sheet.width / 110.0).min(7.0));
    let y = shares.axis();
    sheet.heading(figure, &y);
    let mut frame = plot::frame(sheet, &x, &y, 0.0);
    plot::stand(&mut frame, sheet.bottom, height);
    let labelled = names(sheet, figure, (&frame, shares), &y).is_some();
    // A name beside its curve finds the same place wherever the panel stands.
    if !labelled {
        sheet.space(4.0);
        sheet.key(figure);
    }
    sheet.space(10.0);
    sweep::zones(sheet, figure, &mut frame, height);
    sweep::grid(sheet, &y, &frame);
    let mut stretches = curves(sheet, figure, &frame, shares);
    if labelled {
        let names = names(sheet, figure, (&frame, shares), &y);
        for (name, room, anchor) in names.into_iter().flatten() {
            stretches.extend(plot::sides(&room));
            name.write(sheet, &room, anchor);
        }
    }
    // The axis knows lifted shares only.
    let mut lifted = figure.clone();
    lifted.references.retain(|r| r.value.is_finite());
    for reference in &mut lifted.references {
        reference.value = shares.lift(reference.value);
    }
    let homeless = sweep::references(sheet, &lifted, &frame, &stretches);
    plot::below(sheet, &figure.x, &x, &frame);
    for name in homeless.into_iter().map(|r| &r.name) {
        for known in figure.references.iter().filter(|r| r.name == *name) {
            sheet.explain(Ink::Reference, &format!("{name}, {}", figure.value(known.value)));
        }
    }
}

/// Draws bands, then lines, then shapes; returns every stretch of line.
fn curves(
    sheet: &mut Sheet,
    figure: &Figure,
    frame: &Frame,
    shares: Shares,
) -> Vec<(Point, Point)> {
    let at = |p: &(f64, f64)| (frame.x.place(p.0), frame.y.place(shares.lift(p.1)));
    let mut front = Vec::new();
    let mut stretches = Vec::new();
    for (i, series) in figure.series.iter().enumerate() {
        for course in courses(series, frame.x.domain.1) {
            if course.band.len() > 2 {
                sheet.push(Shape::Area(Ink::Band(i), course.band.iter().map(at).collect()));
            }
            let line: Vec<Point> = course.line.iter().map(at).collect();
            stretches.extend(line.windows(2).map(|w| (w[0], w[1])));
            if line.len() > 1 {
                front.push(Shape::Line(Ink::Curve(i), line));
            }
        }
    }
    front.into_iter().for_each(|s| sheet.push(s));
    for (i, series) in figure.series.iter().enumerate() {
        for (mark, place) in shown(series, |m| at(&(m.x, m.centre))) {
            sheet.push(marker(figure, i, mark, place));
        }
    }
    stretches
}

/// The marks that carry a shape: all of a few, else some that stand apart, and the invalid ones.
fn shown(series: &Series, at: impl Fn(&Mark) -> Point) -> Vec<(&Mark, Point)> {
    let marks: Vec<&Mark> = series.marks.iter().filter(|m| drawable(m)).collect();
    let few = marks.len() <= FEW;
    let mut kept: Vec<(&Mark, Point)> = Vec::new();
    for mark in marks {
        let place = at(mark);
        let far = |k: &(&Mark, Point)| (k.1.0 - place.0).hypot(k.1.1 - place.1) >= APART;
        if few || !mark.valid || kept.last().is_none_or(far) {
            kept.push((mark, place));
        }
    }
    kept
}

fn marker(figure: &Figure, series: usize, mark: &Mark, at: Point) -> Shape {
    let glyph = Glyph::of(series);
    let (ink, glyph) =
        if mark.valid { (Ink::Marker(series), glyph) } else { (Ink::Invalid, glyph.outline()) };
    let name = &figure.series[series].name;
    let hint = format!("{name}: {}", at_most(figure, mark));
    Shape::Marker { ink, glyph, at, radius: 3.6, hint }
}

/// `90 % at most 1.2 ms`.
fn at_most(figure: &Figure, mark: &Mark) -> String {
    let (share, value) = (plot::value(figure, mark), figure.x.tick_text(mark.x));
    say("drawn-at-most", Args::new().name("share", share).name("value", value))
}

type Named = (Words, Rect, Anchor);

/// The name of every series beside its curve; none if one of them finds no place.
fn names(
    sheet: &Sheet,
    figure: &Figure,
    (frame, shares): (&Frame, Shares),
    axis: &ValueAxis,
) -> Option<Vec<Named>> {
    let lines: Vec<Vec<Vec<Point>>> =
        figure.series.iter().map(|s| outline(s, frame, shares)).collect();
    let mut clear = obstacles(figure, frame, shares, &lines);
    let hairlines = axis.ticks.iter().map(|t| frame.y.place(t.0));
    let grid = hairlines.map(|y| ((frame.left, y), (frame.right, y))).collect();
    let grid = Clear { lines: grid, rooms: Vec::new(), within: clear.within };
    let limit = sheet.width * if sheet.width < 480.0 { 0.34 } else { 0.26 };
    let mut all: Vec<Named> = Vec::new();
    for (i, series) in figure.series.iter().enumerate() {
        let name = Words::new(sheet, &series.name, Role::Label(i), limit);
        if name.len() > 3 {
            return None;
        }
        let others: Vec<&Vec<Point>> =
            lines.iter().enumerate().filter(|(n, _)| *n != i).flat_map(|(_, l)| l).collect();
        let apart = |room: &Rect, by: f64| {
            let wide = room.grown(by);
            !others.iter().any(|l| l.windows(2).any(|w| wide.crossed_by(w[0], w[1])))
        };
        // No other curve may come between a name and its own.
        let free = |p: &&(Rect, Anchor)| {
            clear.free(p.0, 3.0) && grid.free(p.0, 0.0) && apart(&p.0, TO_LABEL + 1.0)
        };
        let places = beside(&lines[i], frame, &name);
        let free: Vec<&(Rect, Anchor)> = places.iter().filter(free).collect();
        let far = |p: &&&(Rect, Anchor)| apart(&p.0, 2.5 * TO_LABEL);
        let (room, anchor) = **free.iter().find(far).or_else(|| free.first())?;
        clear.rooms.push(room.grown(2.0));
        all.push((name, room, anchor));
    }
    Some(all)
}

/// The lines of a series with the edges of its bands.
fn outline(series: &Series, frame: &Frame, shares: Shares) -> Vec<Vec<Point>> {
    let at = |p: &(f64, f64)| (frame.x.place(p.0), frame.y.place(shares.lift(p.1)));
    let courses = courses(series, frame.x.domain.1);
    let lines = courses.iter().flat_map(|c| [&c.line, &c.band]);
    lines.map(|l| l.iter().map(at).collect::<Vec<_>>()).filter(|l| l.len() > 1).collect()
}

/// Lines, shapes and references: what no name may stand on.
fn obstacles(figure: &Figure, frame: &Frame, shares: Shares, lines: &[Vec<Vec<Point>>]) -> Clear {
    let mut clear = Clear::of(frame);
    lines.iter().flatten().for_each(|line| clear.line(line));
    let at = |m: &Mark| (frame.x.place(m.x), frame.y.place(shares.lift(m.centre)));
    for series in &figure.series {
        shown(series, at).iter().for_each(|(_, place)| clear.marker(*place, 4.4));
    }
    for reference in figure.drawn_references() {
        let y = frame.y.place(shares.lift(reference.value));
        clear.line(&[(frame.left, y), (frame.right, y)]);
    }
    clear
}

/// Rooms right below and left above a curve, from its middle outwards.
fn beside(lines: &[Vec<Point>], frame: &Frame, name: &Words) -> Vec<(Rect, Anchor)> {
    let (width, height) = name.size();
    let mut all = Vec::new();
    for step in 0_i32..=16 {
        let away = f64::from((step + 1) / 2) / 16.0 * if step % 2 == 0 { 1.0 } else { -1.0 };
        let y = frame.bottom - (0.5 + away * 0.94) * (frame.bottom - frame.top);
        let stretches = lines.iter().flat_map(|l| l.windows(2));
        let across = stretches.filter_map(|w| {
            let (from, to) = (w[0].1.max(w[1].1), w[0].1.min(w[1].1));
            let share = if from > to { (w[0].1 - y) / (w[0].1 - w[1].1) } else { 0.5 };
            (to <= y && y <= from).then_some(w[0].0 + share * (w[1].0 - w[0].0))
        });
        let Some((first, last)) =
            across.map(|x| (x, x)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        else {
            continue;
        };
        for top in [y - height / 2.0, y, y - height] {
            all.push((name.room((last + TO_LABEL, top)), Anchor::Start));
            all.push((name.room((first - TO_LABEL - width, top)), Anchor::End));
        }
    }
    all
}

/// The figure as lines of characters.
pub fn characters(figure: &Figure, page: &Page) -> Vec<String> {
    let (x, shares) = axes(figure, 4.0);
    let y = shares.axis();
    let mut panel = Panel::new(figure, page, (&x, &y));
    for (i, series) in figure.series.iter().enumerate() {
        let dash = i % 4 + 1;
        for course in courses(series, x.domain.1) {
            let line: Vec<(f64, f64)> =
                course.line.iter().map(|p| (p.0, shares.lift(p.1))).collect();
            for pair in line.windows(2) {
                panel.stroke(pair[0], pair[1], (dash, sign(page, i)));
            }
        }
    }
    // A shape on each line tells them apart: at another height for each, where they are apart.
    for (i, series) in figure.series.iter().enumerate() {
        let wish = [0.5, 0.35, 0.65, 0.8][i % 4];
        let marks = series.marks.iter().filter(|m| m.valid && drawable(m));
        if let Some(mark) =
            marks.min_by(|a, b| (a.centre - wish).abs().total_cmp(&(b.centre - wish).abs()))
        {
            panel.put((mark.x, shares.lift(mark.centre)), sign(page, i));
        }
        for mark in series.marks.iter().filter(|m| !m.valid && drawable(m)) {
            panel.put((mark.x, shares.lift(mark.centre)), if page.unicode { '○' } else { '?' });
        }
    }
    let mut lines = panel.lines(&plot::name(&figure.x, &x));
    let key = |(i, s): (usize, &Series)| format!("  {} {}", sign(page, i), s.name);
    lines.extend(figure.series.iter().enumerate().map(key));
    lines
}

/// The figure in sentences: the smallest value that half, 90 % and 99 % are at most, and the last.
pub fn said(figure: &Figure) -> Vec<String> {
    let mut all = vec![alt::shown("drawn-shares", alt::over(figure), &figure.x)];
    for series in &figure.series {
        let marks: Vec<&Mark> = series.marks.iter().filter(|m| m.valid && drawable(m)).collect();
        let mut told: Vec<&Mark> = Vec::new();
        let levels = [0.5, 0.9, 0.99, 0.999].into_iter();
        let reached = levels.filter_map(|s| marks.iter().find(|m| m.centre >= s - 1e-9));
        for mark in reached.chain(marks.last()) {
            if !told.iter().any(|t| std::ptr::eq(*t, *mark)) {
                told.push(mark);
            }
        }
        let said: Vec<String> = told.iter().map(|m| at_most(figure, m)).collect();
        let said = if said.is_empty() { label("drawn-no-point") } else { said.join(", ") };
        all.push(format!("{}: {said}.", series.name));
    }
    all
}
