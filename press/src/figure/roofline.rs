//! Knows how points are drawn under the lines that none of them can be above. Within a zone no roof
//! binds: there roofs are marks of height, and no word says that a point is bound.
//!
//! Knows no colours and no words around the panel.

use super::alt;
use super::layout::Sheet;
use super::model::{Figure, Mark, Roof, Series, Zone};
use super::plot::{self, Clear, Words};
use super::projection::{ValueAxis, drawable};
use super::roofs::{axes, binds, knee, marks, stretches, under};
use super::scene::{Anchor, Glyph, Ink, Point, Rect, Role, Shape};
use super::sweep::Frame;
use super::terminal::{Page, Panel, sign};
use super::words::{Args, label, say};

/// Half of a marker, px.
const MARKER: f64 = 4.6;

/// Adds heading, roofs, points, axes.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let height = (sheet.width * 0.56).clamp(250.0, 420.0);
    let (x, y) = axes(figure, ((sheet.width / 110.0).min(7.0), height / 62.0));
    sheet.heading(figure, &y);
    let mut frame = plot::frame(sheet, &x, &y, 0.0);
    plot::stand(&mut frame, sheet.bottom, height);
    let keyed = labels(sheet, figure, &frame, (&x, &y)).points.is_none();
    if keyed {
        sheet.space(4.0);
        sheet.key(figure);
    }
    plot::stand(&mut frame, sheet.bottom + 14.0, height);
    let labels = labels(sheet, figure, &frame, (&x, &y));
    for (value, text) in &y.ticks {
        let height = frame.y.place(*value);
        sheet.push(Shape::Line(Ink::Grid, vec![(frame.left, height), (frame.right, height)]));
        sheet.text(text, Role::Tick, (frame.left - 8.0, height + 4.0), Anchor::End);
    }
    roofs(sheet, figure, &frame, (&x, &y));
    points(sheet, figure, &frame);
    for (words, room, anchor) in labels.points.into_iter().flatten().chain(labels.roofs) {
        words.write(sheet, &room, anchor);
    }
    plot::below(sheet, &figure.x, &x, &frame);
    for (sign, number) in labels.numbered.iter().enumerate() {
        let name = &figure.roofs[*number].name;
        sheet.numbered(sign + 1, name);
    }
    let ink = if figure.drawn_zones().next().is_some() { Ink::Reference } else { Ink::Roof };
    for number in labels.homeless {
        sheet.explain(ink, &figure.roofs[number].name);
    }
    for zone in figure.drawn_zones() {
        sheet.paragraph(&apart(figure, zone), Role::Remark);
    }
}

/// `16 B to 16 KiB: messages lie in the caches`, for a zone in which no roof binds.
fn apart(figure: &Figure, zone: &Zone) -> String {
    let [from, to] = [zone.from, zone.to].map(|x| figure.x.tick_text(x));
    format!("{}: {}", alt::span(from, to), zone.name.trim())
}

fn placed(frame: &Frame, p: (f64, f64)) -> Point {
    (frame.x.place(p.0), frame.y.place(p.1))
}

/// Draws the lowest stretches of the roofs whole, the others dashed.
fn roofs(sheet: &mut Sheet, figure: &Figure, frame: &Frame, axes: (&ValueAxis, &ValueAxis)) {
    for number in 0..figure.roofs.len() {
        for (lowest, ends) in stretches(figure, number, axes) {
            let ink = if lowest { Ink::Roof } else { Ink::Reference };
            sheet.push(Shape::Line(ink, ends.map(|p| placed(frame, p)).to_vec()));
        }
    }
}

/// The line from a point up to the roof that binds it, and its foot on the roof.
fn rise(figure: &Figure, frame: &Frame, mark: &Mark) -> Option<[Point; 2]> {
    let (_, height) = binds(figure, mark.x)?;
    let (from, to) = (placed(frame, (mark.x, mark.centre)), placed(frame, (mark.x, height)));
    (from.1 - to.1 > MARKER + 3.0).then_some([(from.0, from.1 - MARKER), to])
}

fn points(sheet: &mut Sheet, figure: &Figure, frame: &Frame) {
    let all = figure.series.iter().enumerate();
    let all = all.flat_map(|(i, s)| s.marks.iter().map(move |m| (i, m)));
    let all: Vec<(usize, &Mark)> =
        all.filter(|(_, m)| drawable(m) && m.x > 0.0 && m.centre > 0.0).collect();
    for (i, mark) in &all {
        if let Some(ends) = rise(figure, frame, mark) {
            sheet.push(Shape::Line(Ink::Thread(*i), ends.to_vec()));
            let hint = String::new();
            let (ink, glyph) = (Ink::Run(*i), Glyph::of(*i).filled());
            sheet.push(Shape::Marker { ink, glyph, at: ends[1], radius: 3.0, hint });
        }
    }
    for (i, mark) in all {
        let at = placed(frame, (mark.x, mark.centre));
        if mark.valid && mark.high > mark.low {
            let bar = [mark.low, mark.high].map(|v| placed(frame, (mark.x, v)));
            sheet.push(Shape::Line(Ink::Band(i), bar.to_vec()));
        }
        let glyph = Glyph::of(i);
        let (ink, glyph) =
            if mark.valid { (Ink::Marker(i), glyph) } else { (Ink::Invalid, glyph.outline()) };
        let hint = format!("{}: {}", figure.series[i].name, point(figure, mark));
        sheet.push(Shape::Marker { ink, glyph, at, radius: MARKER, hint });
    }
}

/// `3.2 Gbit/s at 4 KiB, bound by memory bandwidth`.
fn point(figure: &Figure, mark: &Mark) -> String {
    let point = alt::placed(plot::value(figure, mark), figure.x.tick_text(mark.x));
    match binds(figure, mark.x) {
        Some((roof, _)) => {
            let args = Args::new().name("point", point).name("roof", &figure.roofs[roof].name);
            say("drawn-bound", args)
        }
        None => point,
    }
}

type Named = (Words, Rect, Anchor);

/// Where every name stands.
struct Labels {
    /// None if a series finds no place: a key says them.
    points: Option<Vec<Named>>,
    roofs: Vec<Named>,
    /// Roofs of which only a number, counted from 1, stands in the panel.
    numbered: Vec<usize>,
    /// Roofs with nothing in the panel.
    homeless: Vec<usize>,
}

fn labels(sheet: &Sheet, figure: &Figure, frame: &Frame, axes: (&ValueAxis, &ValueAxis)) -> Labels {
    let mut clear = Clear::of(frame);
    for number in 0..figure.roofs.len() {
        for (_, ends) in stretches(figure, number, axes) {
            clear.line(&ends.map(|p| placed(frame, p)));
        }
    }
    for mark in marks(figure) {
        clear.marker(placed(frame, (mark.x, mark.centre)), MARKER * 1.25);
        if let Some(ends) = rise(figure, frame, mark) {
            clear.line(&ends);
            clear.marker(ends[1], 3.0);
        }
        clear.line(&[mark.low, mark.high].map(|v| placed(frame, (mark.x, v))));
    }
    let hairlines = axes.1.ticks.iter().map(|t| frame.y.place(t.0));
    let grid = hairlines.map(|y| ((frame.left, y), (frame.right, y))).collect();
    let grid = Clear { lines: grid, rooms: Vec::new(), within: clear.within };
    let points = beside_points(sheet, figure, frame, (&mut clear, &grid));
    let mut all = Labels { points, roofs: Vec::new(), numbered: Vec::new(), homeless: Vec::new() };
    for (number, roof) in figure.roofs.iter().enumerate() {
        let mut pieces = stretches(figure, number, axes);
        pieces.reverse();
        pieces.sort_by_key(|p| !p.0);
        let line: Vec<[Point; 2]> =
            pieces.into_iter().map(|(_, ends)| ends.map(|p| placed(frame, p))).collect();
        let mut strict = Clear { lines: Vec::new(), rooms: Vec::new(), within: clear.within };
        for other in (0..figure.roofs.len()).filter(|other| *other != number) {
            for (_, ends) in stretches(figure, other, axes) {
                strict.line(&ends.map(|p| placed(frame, p)));
            }
        }
        let limits = [0.55, 0.3, 0.18].map(|share| share * sheet.width);
        let full = limits.map(|limit| Words::new(sheet, &roof.name, Role::Remark, limit));
        let mut full = full.into_iter().filter(|w| w.len() <= 4);
        let found = full.find_map(|w| along(w, &line, (&clear, Some(&strict))));
        let short = || {
            let sign = (all.numbered.len() + 1).to_string();
            let words = || Words::new(sheet, &sign, Role::Remark, 40.0);
            let apart = along(words(), &line, (&clear, Some(&strict)));
            apart.or_else(|| along(words(), &line, (&clear, None)))
        };
        let named = match (found, line.is_empty()) {
            (Some(named), _) => Some(named),
            (None, false) => {
                let named = short();
                all.numbered.extend(named.is_some().then_some(number));
                named
            }
            (None, true) => None,
        };
        match named {
            Some(named) => {
                clear.rooms.push(named.1);
                all.roofs.push(named);
            }
            None => all.homeless.push(number),
        }
    }
    all
}

/// The name of every series beside one of its points.
fn beside_points(
    sheet: &Sheet,
    figure: &Figure,
    frame: &Frame,
    (clear, grid): (&mut Clear, &Clear),
) -> Option<Vec<Named>> {
    let taken = clear.rooms.len();
    let mut all = Vec::new();
    for (i, series) in figure.series.iter().enumerate() {
        let marks = series.marks.iter().filter(|m| drawable(m) && m.x > 0.0 && m.centre > 0.0);
        let marks: Vec<Point> = marks.map(|m| placed(frame, (m.x, m.centre))).collect();
        let found = [0.3, 0.2].into_iter().find_map(|share| {
            let words = Words::new(sheet, &series.name, Role::Label(i), sheet.width * share);
            let (width, height) = words.size();
            let spots = marks.iter().rev().flat_map(|at| around(*at, (width, height)));
            let free = spots.into_iter().map(|(corner, anchor)| (words.room(corner), anchor));
            let fits = |room: Rect| clear.free(room, 2.5) && grid.free(room, 0.0);
            let (room, anchor) = free.into_iter().find(|(room, _)| fits(*room))?;
            (words.len() <= 3).then_some((words, room, anchor))
        });
        let Some(named) = found else {
            clear.rooms.truncate(taken);
            return None;
        };
        clear.rooms.push(named.1.grown(5.0));
        all.push(named);
    }
    Some(all)
}

/// Upper left corners for a name of a size around a point: right, left, below, above, diagonals.
fn around((x, y): Point, (width, height): (f64, f64)) -> Vec<(Point, Anchor)> {
    let away = MARKER + 5.0;
    let (right, left) = (x + away, x - away - width);
    let (middle, centre) = (y - height / 2.0, x - width / 2.0);
    let (above, below) = (y - away - height, y + away);
    let (start, end) = (Anchor::Start, Anchor::End);
    vec![
        ((right, middle), start),
        ((left, middle), end),
        ((centre, below), Anchor::Middle),
        ((right, y - 2.0), start),
        ((left, y - 2.0), end),
        ((right, y - height + 2.0), start),
        ((left, y - height + 2.0), end),
        ((centre, above), Anchor::Middle),
    ]
}

/// A place above or below a roof, from the right end of its pieces to their left, where it binds
/// first; apart from other roofs, so that nobody reads it as the name of one of those.
fn along(
    words: Words,
    pieces: &[[Point; 2]],
    (clear, others): (&Clear, Option<&Clear>),
) -> Option<Named> {
    const OFF: f64 = 5.0;
    let (width, height) = words.size();
    let mut spots: Vec<(Point, Anchor)> = Vec::new();
    for piece in pieces {
        let sloped = (piece[0].1 - piece[1].1).abs() >= 0.5;
        for above in [true, false] {
            for step in 0..=20 {
                let share = f64::from(step) / 20.0;
                let x = piece[1].0 + share * (piece[0].0 - piece[1].0);
                let y = piece[1].1 + share * (piece[0].1 - piece[1].1);
                spots.push(match (sloped, above) {
                    (true, true) => ((x - OFF - width, y - height - 2.0), Anchor::End),
                    (true, false) => ((x + OFF, y + 2.0), Anchor::Start),
                    (false, true) => ((x - width, y - height - 3.5), Anchor::End),
                    (false, false) => ((x - width, y + 3.5), Anchor::End),
                });
            }
        }
    }
    let (room, anchor) = spots
        .into_iter()
        .map(|(corner, anchor)| (words.room(corner), anchor))
        .find(|(room, _)| {
            clear.free(*room, 2.0) && others.is_none_or(|others| others.free(*room, 9.0))
        })?;
    Some((words, room, anchor))
}

/// The figure as lines of characters.
pub fn characters(figure: &Figure, page: &Page) -> Vec<String> {
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let (x, y) = axes(figure, (4.0, (page.rows as f64 / 3.0).clamp(2.0, 5.0)));
    let mut panel = Panel::new(figure, page, (&x, &y));
    let number = |i: usize| char::from(b'1' + u8::try_from(i % 9).unwrap_or(0));
    for i in 0..figure.roofs.len() {
        for (lowest, [from, to]) in stretches(figure, i, (&x, &y)) {
            let letter = if page.unicode { ' ' } else { '.' };
            panel.stroke(from, to, (if lowest { 1 } else { 4 }, letter));
        }
    }
    // The number of a roof stands at the middle of the part that bounds most, or of what is shown.
    for i in 0..figure.roofs.len() {
        let pieces = stretches(figure, i, (&x, &y));
        let wide = |p: &&(bool, [(f64, f64); 2])| p.1[1].0 / p.1[0].0;
        let widest = |lowest: bool| {
            let some = pieces.iter().filter(move |p| p.0 == lowest);
            some.max_by(|a, b| wide(a).total_cmp(&wide(b)))
        };
        if let Some((_, [from, to])) = widest(true).or_else(|| widest(false)) {
            let middle = (from.0 * to.0).sqrt();
            let height = under(&figure.roofs[i], middle).unwrap_or(from.1);
            panel.put((middle, height), number(i));
        }
    }
    for (i, series) in figure.series.iter().enumerate() {
        for mark in series.marks.iter().filter(|m| drawable(m) && m.x > 0.0 && m.centre > 0.0) {
            let hollow = if page.unicode { '○' } else { '?' };
            panel.put((mark.x, mark.centre), if mark.valid { sign(page, i) } else { hollow });
        }
    }
    let mut lines = panel.lines(&plot::name(&figure.x, &x));
    for (i, roof) in figure.roofs.iter().enumerate() {
        lines.push(format!("  {} {}", number(i), roof.name));
    }
    for (i, series) in figure.series.iter().enumerate() {
        let bound = |s: &Series| {
            let last = s.marks.iter().rev().find(|m| drawable(m))?;
            let (roof, _) = binds(figure, last.x)?;
            let args = Args::new().name("name", &s.name).name("roof", number(roof));
            Some(say("drawn-under", args))
        };
        let said = bound(series).unwrap_or_else(|| series.name.clone());
        lines.push(format!("  {} {said}", sign(page, i)));
    }
    lines.extend(figure.drawn_zones().map(|zone| format!("  {}", apart(figure, zone))));
    lines
}

/// The figure in sentences: every roof, where none binds, then every point and the roof that binds
/// it.
pub fn said(figure: &Figure) -> Vec<String> {
    let beside = figure.drawn_zones().next().is_some();
    let key = if beside { "drawn-beside-roofs" } else { "drawn-under-roofs" };
    let mut all = vec![alt::shown(key, alt::over(figure), &figure.y)];
    all.extend(figure.roofs.iter().map(|roof| said_roof(figure, roof)));
    let unbound = |zone| say("drawn-unbound", Args::new().name("apart", apart(figure, zone)));
    all.extend(figure.drawn_zones().map(unbound));
    for series in &figure.series {
        let valid = series.marks.iter().filter(|m| m.valid && drawable(m));
        let said: Vec<String> = valid.map(|m| point(figure, m)).collect();
        let said = if said.is_empty() { label("drawn-no-point") } else { said.join("; ") };
        all.push(format!("{}: {said}.", series.name));
    }
    all
}

/// How a roof runs.
fn said_roof(figure: &Figure, roof: &Roof) -> String {
    let name = Args::new().name("name", &roof.name);
    match (roof.ceiling.map(|level| figure.value(level)), knee(roof)) {
        (Some(level), Some(bend)) => {
            let args = name.name("level", level).name("position", figure.x.tick_text(bend));
            say("drawn-roof-bends", args)
        }
        (Some(level), None) => say("drawn-roof-level", name.name("level", level)),
        (None, _) => say("drawn-roof-rises", name.name("positions", &figure.x.label)),
    }
}
