//! Knows how bars are drawn that go on where the one above ended.
//!
//! Knows no colours and no words around the panel.

use super::alt;
use super::braille::{heading, padded, right, rounded, wide};
use super::layout::Sheet;
use super::model::{Figure, Mark};
use super::plot::Words;
use super::projection::{Projection, ValueAxis, drawable};
use super::scales;
use super::scene::{Anchor, Glyph, Ink, Rect, Role, Shape};
use super::terminal::Page;
use super::words::{Args, label, say};
use desk::unit::Quantity;

/// Height of a bar, px.
const BAR: f64 = 18.0;
/// Height of a row beside its name, px.
const ROW: f64 = 34.0;
/// Between columns, px.
const GAP: f64 = 16.0;

/// A bar: its mark, and what it says.
struct Step<'a> {
    name: &'a str,
    mark: Option<&'a Mark>,
    /// True if it is the first or the last and stands on zero.
    whole: bool,
    value: String,
    range: String,
}

impl Step<'_> {
    /// The series whose colour it has: a whole, a part that goes up, one that goes down.
    fn hue(&self) -> usize {
        match self.mark {
            Some(m) if !self.whole && m.centre < m.x => 1,
            _ => 0,
        }
    }
}

fn axis(figure: &Figure) -> ValueAxis {
    let steps = figure.series.iter().filter_map(|s| s.marks.iter().find(|m| drawable(m)));
    let ends = steps.flat_map(|m| [m.x, m.centre, m.low, m.high]);
    let references = figure.drawn_references().map(|r| r.value);
    let (low, high) = scales::extent(ends.chain(references).chain([0.0]));
    let (divisor, unit) = desk::unit::axis_scale(Quantity::new(high.max(-low), figure.y.unit));
    let unit = if figure.y.unit == desk::unit::Unit::Ratio { String::new() } else { unit };
    // The values are written, so the axis needs no round ends: a whole fills the width.
    let high = if high > low { high } else { low + 1.0 };
    ValueAxis { log: false, domain: (low, high), ticks: Vec::new(), unit, divisor }
}

fn steps<'a>(figure: &'a Figure, axis: &ValueAxis) -> Vec<Step<'a>> {
    let mark = |i: usize| figure.series.get(i)?.marks.iter().find(|m| drawable(m));
    let last = figure.series.len().saturating_sub(1);
    let step = |(i, series): (usize, &'a super::model::Series)| {
        let own = mark(i);
        let whole = own.is_some_and(|m| m.x == 0.0) && (i == 0 || i == last);
        let (value, range) =
            own.filter(|m| m.valid).map_or_else(Default::default, |m| said_value(axis, m, whole));
        Step { name: &series.name, mark: own, whole, value, range }
    };
    figure.series.iter().enumerate().map(step).collect()
}

/// The level of a whole, the change of a part, in the prefix of the axis; and the interval, if any.
fn said_value(axis: &ValueAxis, mark: &Mark, whole: bool) -> (String, String) {
    let from = if whole { 0.0 } else { mark.x };
    let decimals = decimals(axis);
    let text = |v: f64| {
        let change = (v - from) / axis.divisor;
        let size = format!("{:.decimals$}", change.abs());
        let none = !size.contains(|c: char| c.is_ascii_digit() && c != '0');
        match (none, change < 0.0) {
            (true, _) => size,
            (false, true) => format!("−{size}"),
            (false, false) if whole => size,
            (false, false) => format!("+{size}"),
        }
    };
    let dash = if whole && mark.low >= 0.0 { "–" } else { " … " };
    let range = format!("{}{dash}{}", text(mark.low), text(mark.high));
    let range = if bounded(mark) { range } else { String::new() };
    (text(mark.centre), range)
}

/// As many decimals for all as give the largest value three digits, so that the column adds up.
fn decimals(axis: &ValueAxis) -> usize {
    let largest = axis.domain.1.max(-axis.domain.0) / axis.divisor;
    let digits = (2.0 - (largest * 1.0005).log10().floor()).clamp(0.0, 6.0);
    (0_u8..6).find(|d| f64::from(*d) >= digits).unwrap_or(6).into()
}

fn bounded(mark: &Mark) -> bool {
    mark.low < mark.centre || mark.high > mark.centre
}

/// The columns of the panel: names, tracks, values.
struct Columns {
    /// Names stand above the bars instead of beside them.
    stacked: bool,
    /// Right end of the names, px.
    name: f64,
    x: Projection,
}

/// Adds heading and bars.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let axis = axis(figure);
    sheet.heading(figure, &axis);
    sheet.space(8.0);
    let steps = steps(figure, &axis);
    let (columns, names) = columns(sheet, &steps, &axis);
    let marked: Vec<(f64, &str)> =
        figure.drawn_references().map(|r| (columns.x.place(r.value), r.name.as_str())).collect();
    sheet.remarks(&marked);
    let top = sheet.bottom + 2.0;
    sheet.bottom = top + 2.0;
    let mut rooms = Vec::new();
    let mut bars = Vec::new();
    for (step, name) in steps.iter().zip(&names) {
        let (room, middle) = row(sheet, &columns, name);
        name.write(sheet, &room, if columns.stacked { Anchor::Start } else { Anchor::End });
        rooms.push(room);
        bars.push((step, middle));
    }
    let bottom = sheet.bottom + 2.0;
    let rooms: &[Rect] = if columns.stacked { &rooms } else { &[] };
    let zero = columns.x.place(0.0);
    if steps.is_empty() {
        return;
    }
    upright(sheet, (zero, Ink::Base), (top, bottom), rooms);
    for (x, _) in &marked {
        upright(sheet, (*x, Ink::Reference), (top, bottom), rooms);
    }
    for pair in bars.windows(2) {
        if let (Some(above), Some(_)) = (pair[0].0.mark, pair[1].0.mark) {
            let x = columns.x.place(above.centre);
            let between = (pair[0].1 + BAR / 2.0, pair[1].1 - BAR / 2.0);
            upright(sheet, (x, Ink::Leader), between, rooms);
        }
    }
    for (step, middle) in &bars {
        bar(sheet, figure, step, (&columns.x, *middle));
    }
    sheet.bottom = bottom;
}

fn columns(sheet: &Sheet, steps: &[Step], axis: &ValueAxis) -> (Columns, Vec<Words>) {
    let ruler = sheet.ruler;
    let wide = |s: &Step| ruler.width(&s.value, Role::Value).max(ruler.width(&s.range, Role::Note));
    let value = steps.iter().map(wide).fold(0.0, f64::max);
    let names = |limit: f64| -> Vec<Words> {
        steps.iter().map(|s| Words::new(sheet, s.name, Role::Heading, limit)).collect()
    };
    let room = (sheet.width * 0.32).min(280.0);
    let mut all = names(room);
    let whole = |s: &Step| ruler.widest_word(s.name, Role::Heading) <= room;
    let fits = all.iter().all(|n| n.len() <= 2) && steps.iter().all(whole);
    let stacked = sheet.width < 480.0 || !fits;
    if stacked {
        all = names(sheet.width);
    }
    let widest = all.iter().map(|n| n.size().0).fold(0.0, f64::max);
    let (name, from) = if stacked { (0.0, 2.0) } else { (widest, widest + GAP) };
    let range = (from, sheet.width - value - GAP);
    (Columns { stacked, name, x: Projection { log: false, domain: axis.domain, range } }, all)
}

/// Makes room for a row; returns where its name and the middle of its bar stand.
fn row(sheet: &mut Sheet, columns: &Columns, name: &Words) -> (Rect, f64) {
    let (width, height) = name.size();
    let top = sheet.bottom;
    if columns.stacked {
        let middle = top + height + 19.0;
        sheet.bottom = middle + 22.0;
        return (name.room((0.0, top + 2.0)), middle);
    }
    let tall = ROW.max(height + 6.0);
    sheet.bottom += tall;
    let middle = top + tall / 2.0;
    (name.room((columns.name - width, middle - height / 2.0)), middle)
}

/// An upright line, broken where a name stands in its way.
fn upright(sheet: &mut Sheet, (x, ink): (f64, Ink), (top, bottom): (f64, f64), rooms: &[Rect]) {
    let mut from = top;
    for room in rooms.iter().filter(|r| r.left - 4.0 < x && x < r.right + 4.0) {
        // A stub of a line above a name says nothing.
        if room.top - 8.0 > from && from < bottom {
            let to = (room.top - 2.0).min(bottom);
            sheet.push(Shape::Line(ink, vec![(x, from), (x, to)]));
        }
        if room.bottom > from {
            from = room.bottom + 2.0;
        }
    }
    if from < bottom {
        sheet.push(Shape::Line(ink, vec![(x, from), (x, bottom)]));
    }
}

fn bar(sheet: &mut Sheet, figure: &Figure, step: &Step, (x, y): (&Projection, f64)) {
    let right = sheet.width;
    let Some(mark) = step.mark else {
        sheet.text("–", Role::Value, (right, y + 4.5), Anchor::End);
        return;
    };
    let hue = step.hue();
    let ink = match (mark.valid, step.whole) {
        (false, _) => Ink::Invalid,
        (true, true) => Ink::Bar(hue),
        (true, false) => Ink::Part(hue),
    };
    let (a, b) = (x.place(mark.x), x.place(mark.centre));
    let (a, b) = (a.min(b), a.max(b).max(a.min(b) + 1.0));
    let (top, bottom) = (y - BAR / 2.0, y + BAR / 2.0);
    sheet.push(Shape::Area(ink, vec![(a, top), (b, top), (b, bottom), (a, bottom)]));
    let end = x.place(mark.centre);
    if mark.valid && bounded(mark) {
        let (low, high) = (x.place(mark.low), x.place(mark.high));
        sheet.push(Shape::Line(Ink::Span, vec![(low, y), (high, y)]));
        for cap in [low, high] {
            sheet.push(Shape::Line(Ink::Span, vec![(cap, y - 4.0), (cap, y + 4.0)]));
        }
    }
    let (ink, glyph) =
        if mark.valid { (Ink::Marker(hue), Glyph::Dot) } else { (Ink::Invalid, Glyph::OpenDot) };
    let hint = hint(figure, step, mark);
    sheet.push(Shape::Marker { ink, glyph, at: (end, y), radius: 3.2, hint });
    let baseline = if step.range.is_empty() { y + 4.5 } else { y - 1.0 };
    if !step.value.is_empty() {
        sheet.text(&step.value, Role::Value, (right, baseline), Anchor::End);
    }
    if !step.range.is_empty() {
        sheet.text(&step.range, Role::Note, (right, y + 13.0), Anchor::End);
    }
}

/// `part: 9.4 to 6.3 Gbit/s (6.1–6.5 Gbit/s)`.
fn hint(figure: &Figure, step: &Step, mark: &Mark) -> String {
    let value = super::plot::value(figure, mark);
    let name = step.name;
    if step.whole {
        return format!("{name}: {value}");
    }
    format!("{name}: {}", alt::span(figure.value(mark.x).to_string(), value))
}

/// The figure as lines of characters.
pub fn characters(figure: &Figure, page: &Page) -> Vec<String> {
    let axis = axis(figure);
    let steps = steps(figure, &axis);
    let widest = steps.iter().map(|s| wide(&s.value)).max().unwrap_or(0);
    let longest = steps.iter().map(|s| wide(s.name)).max().unwrap_or(0);
    let stacked = longest > page.columns / 3;
    let name = if stacked { 0 } else { longest };
    let width = page.columns.saturating_sub(name + widest + 3).max(8);
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let x = Projection { log: false, domain: axis.domain, range: (0.0, width as f64) };
    let mut lines = heading(figure, &axis, page.columns);
    for step in &steps {
        let track = track(step, (&x, width), page.unicode);
        let value = right(if step.value.is_empty() { "-" } else { &step.value }, widest);
        if stacked {
            lines.push(step.name.to_owned());
            lines.push(format!("  {track} {value}"));
        } else {
            lines.push(format!("{}  {track} {value}", padded(step.name, name)));
        }
    }
    lines
}

/// One row: the bar, and its interval over it where it is wider than a cell.
fn track(step: &Step, (x, width): (&Projection, usize), unicode: bool) -> String {
    let [full, part, hollow, left, dash, right] = if unicode {
        ['█', '▒', '░', '├', '─', '┤']
    } else {
        ['#', '=', '?', '|', '-', '|']
    };
    let mut row = vec![' '; width];
    let Some(mark) = step.mark else { return row.into_iter().collect() };
    let cell = |v: f64| rounded((x.place(v), 0.0)).0;
    let (a, b) = (cell(mark.x), cell(mark.centre));
    let (a, b) = (a.min(b), a.max(b));
    let ink = match (mark.valid, step.whole) {
        (false, _) => hollow,
        (true, true) => full,
        (true, false) => part,
    };
    let a = a.min(width - 1);
    row[a..b.clamp(a + 1, width)].fill(ink);
    let (low, high) = (cell(mark.low).min(width - 1), cell(mark.high).min(width - 1));
    if mark.valid && high > low {
        row[low..=high].fill(dash);
        (row[low], row[high]) = (left, right);
    }
    row.into_iter().collect()
}

/// The figure in sentences: every step with its change and where it ends.
pub fn said(figure: &Figure) -> Vec<String> {
    let axis = axis(figure);
    let mut all = vec![alt::shown("drawn-steps", figure.y.label.clone(), &figure.y)];
    for step in steps(figure, &axis) {
        let words = match step.mark.filter(|m| m.valid) {
            None => format!("{}: {}", step.name, label("drawn-no-point")),
            Some(m) if step.whole || m.x == 0.0 => hint(figure, &Step { whole: true, ..step }, m),
            Some(m) => {
                let key = if m.centre < m.x { "drawn-down" } else { "drawn-up" };
                let args = Args::new().name("from", figure.value(m.x));
                let said = say(key, args.name("end", super::plot::value(figure, m)));
                format!("{}: {said}", step.name)
            }
        };
        all.push(format!("{words}."));
    }
    all
}
