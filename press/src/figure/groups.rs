//! Knows the figure of groups: under the name of each group a row a series, in it every run as a
//! dot, the centre and its interval. Knows no colours.

use super::alt::doubted;
use super::braille::{cut, heading, padded, right, wide};
use super::layout::Sheet;
use super::model::{Figure, Mark, Series};
use super::projection::{Projection, ValueAxis, drawable};
use super::rows::{Columns, Row, Slot, shortened};
use super::scene::{Anchor, Glyph, Ink, Role, Shape};
use super::track::{Track, tick_line};
use super::words::{Args, say};

/// Radius of the dot of a run, px.
const RUN: f64 = 2.4;
/// From one lane of runs to the next, px.
const LANE: f64 = 5.0;
/// Runs that lie closer than a dot take another lane, up to so many.
const LANES: usize = 3;
/// From the middle of the bar to the first lane, px.
const TO_RUNS: f64 = 10.0;
/// Above and below what is drawn on a track, px.
const PAD: f64 = 7.0;

/// One row: whose it is, and what was measured.
struct Entry<'a> {
    number: usize,
    series: &'a Series,
    mark: &'a Mark,
}

/// The groups in order, each with its name and its rows.
fn groups(figure: &Figure) -> Vec<(String, Vec<Entry<'_>>)> {
    let group = |x: f64| {
        let mut entries = Vec::new();
        for (number, series) in figure.series.iter().enumerate() {
            let here = |m: &&Mark| drawable(m) && m.x.total_cmp(&x).is_eq();
            let marks = series.marks.iter().filter(here);
            entries.extend(marks.map(|mark| Entry { number, series, mark }));
        }
        (figure.x.tick_text(x), entries)
    };
    figure.positions().into_iter().map(group).filter(|g| !g.1.is_empty()).collect()
}

/// Adds heading, groups, axis.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let axis = ValueAxis::of(figure, (sheet.width / 130.0).min(6.0));
    sheet.heading(figure, &axis);
    sheet.space(8.0);
    let groups = groups(figure);
    let entries: Vec<&Entry> = groups.iter().flat_map(|g| &g.1).collect();
    let rows: Vec<Row> = entries.iter().map(|e| row(figure, &axis, e)).collect();
    let columns = Columns::of(sheet, &rows);
    let x = columns.projection(&axis);
    let names: Vec<(f64, &str)> =
        figure.drawn_references().map(|r| (x.place(r.value), r.name.as_str())).collect();
    sheet.remarks(&names);
    sheet.space(5.0);
    let most = entries.iter().map(|e| lanes(e.mark, &x).1).max().unwrap_or(1);
    #[expect(clippy::cast_precision_loss, reason = "a few lanes")]
    let deep = if most == 0 { 0.0 } else { TO_RUNS + (most - 1) as f64 * LANE };
    let mut left = rows.iter();
    for (name, entries) in &groups {
        headline(sheet, name);
        for (entry, row) in entries.iter().zip(left.by_ref()) {
            let slot = columns.slot(sheet.ruler, row, (sheet.bottom, 2.0 * PAD + deep));
            for (at, _) in &names {
                let (from, to) = slot.tracks;
                sheet.push(Shape::Line(Ink::Reference, vec![(*at, from), (*at, to)]));
            }
            columns.write(sheet, row, &slot);
            draw(sheet, figure, (name, entry), (&x, &slot, deep));
            sheet.bottom = slot.bottom;
        }
        sheet.space(4.0);
    }
    columns.axis(sheet, &axis, &x);
}

fn row<'a>(figure: &Figure, axis: &ValueAxis, entry: &Entry<'a>) -> Row<'a> {
    let mark = Some(entry.mark).filter(|m| m.valid);
    let row = Row::of(figure, axis, &entry.series.name, mark);
    Row { role: Role::Label(entry.number), ..row }
}

/// A hairline, and the name of the group below it.
fn headline(sheet: &mut Sheet, name: &str) {
    let role = Role::Heading;
    sheet.push(Shape::Line(Ink::Grid, vec![(0.0, sheet.bottom), (sheet.width, sheet.bottom)]));
    sheet.space(5.0);
    for line in shortened(sheet.ruler, name, role, sheet.width) {
        sheet.text(&line, role, (0.0, sheet.bottom + role.size() * 0.95), Anchor::Start);
        sheet.bottom += role.line();
    }
}

/// The place of every run with its lane, and how many lanes that takes.
fn lanes(mark: &Mark, x: &Projection) -> (Vec<(f64, usize)>, usize) {
    let mut places: Vec<f64> =
        mark.runs.iter().filter(|v| v.is_finite()).map(|v| x.place(*v)).collect();
    places.sort_by(f64::total_cmp);
    let mut ends = [f64::NEG_INFINITY; LANES];
    let mut all = Vec::new();
    for place in places {
        let free = ends.iter().position(|end| place - end >= 2.0 * RUN);
        // Where all are taken, the lane whose last dot lies farthest back.
        let back = (0..LANES).min_by(|a, b| ends[*a].total_cmp(&ends[*b])).unwrap_or(0);
        let lane = free.unwrap_or(back);
        ends[lane] = place;
        all.push((place, lane));
    }
    let most = all.iter().map(|r| r.1 + 1).max().unwrap_or(0);
    (all, most)
}

/// The interval thick, the centre on it, every run as a small dot below.
fn draw(
    sheet: &mut Sheet,
    figure: &Figure,
    (group, entry): (&str, &Entry),
    (x, slot, deep): (&Projection, &Slot, f64),
) {
    let (mark, number) = (entry.mark, entry.number);
    let bar = slot.middle - deep / 2.0;
    for (at, lane) in lanes(mark, x).0 {
        let ink = if mark.valid { Ink::Run(number) } else { Ink::Invalid };
        #[expect(clippy::cast_precision_loss, reason = "a few lanes")]
        let at = (at, bar + TO_RUNS + lane as f64 * LANE);
        let hint = String::new();
        sheet.push(Shape::Marker { ink, glyph: Glyph::Dot, at, radius: RUN, hint });
    }
    let (line, ink, glyph) = if mark.valid {
        (Ink::Interval(number), Ink::Marker(number), Glyph::of(number))
    } else {
        (Ink::Invalid, Ink::Invalid, Glyph::of(number).outline())
    };
    let ends = vec![(x.place(mark.low), bar), (x.place(mark.high), bar)];
    sheet.push(Shape::Line(line, ends));
    let hint = format!("{}, {group}: {}", entry.series.name, said(figure, mark));
    let at = (x.place(mark.centre), bar);
    sheet.push(Shape::Marker { ink, glyph, at, radius: 4.6, hint });
}

/// `9.41 Gbit/s (9.38–9.44 Gbit/s)`.
fn said(figure: &Figure, mark: &Mark) -> String {
    let range = desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    let said = format!("{} ({range})", figure.value(mark.centre));
    doubted(said, (!mark.valid).then_some("drawn-invalid"))
}

/// The groups as text: a name, then a row a series.
pub fn text(figure: &Figure, columns: usize, unicode: bool) -> Vec<String> {
    let axis = ValueAxis::of(figure, 4.0);
    let groups = groups(figure);
    let entries: Vec<&Entry> = groups.iter().flat_map(|g| &g.1).collect();
    let rows: Vec<Row> = entries.iter().map(|e| row(figure, &axis, e)).collect();
    let value = rows.iter().map(|r| wide(&r.value)).max().unwrap_or(0);
    let longest = rows.iter().map(|r| wide(r.name)).max().unwrap_or(0);
    let stacked = longest > columns / 3;
    let name = if stacked { 0 } else { longest };
    let width = columns.saturating_sub(name + value + 5).max(8);
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let x = Projection { log: axis.log, domain: axis.domain, range: (0.0, (width - 1) as f64) };
    let mut lines = heading(figure, &axis, columns);
    let mut left = rows.iter();
    for (group, entries) in &groups {
        lines.push(cut(group, columns));
        for (entry, row) in entries.iter().zip(left.by_ref()) {
            let mut track = Track::new(&x, width, unicode);
            let line = if unicode { '┊' } else { ':' };
            figure.drawn_references().for_each(|r| track.set(r.value, line));
            if entry.mark.valid {
                track.whiskers(entry.mark);
            }
            track.runs(entry.mark);
            track.centre(entry.mark);
            let (track, said) = (track.finish(), right(&row.value, value));
            if stacked {
                lines.push(format!("  {}", cut(row.name, columns - 2)));
                lines.push(format!("    {track} {said}"));
            } else {
                lines.push(format!("  {}  {track} {said}", padded(row.name, name)));
            }
        }
    }
    let ends = axis.ticks.first().into_iter().chain(axis.ticks.last()).chain(&axis.ticks);
    let ticks: Vec<(f64, &str)> = ends.map(|(v, t)| (x.place(*v), t.as_str())).collect();
    lines.push(format!("{}{}", " ".repeat(name + 4), tick_line(&ticks, width)));
    lines
}

/// Every group in words.
pub fn words(figure: &Figure) -> Vec<String> {
    let entry = |e: &Entry| match e.mark.valid {
        true => format!("{} {}", e.series.name, said(figure, e.mark)),
        false => say("drawn-is-invalid", Args::new().name("name", &e.series.name)),
    };
    let group = |(name, entries): &(String, Vec<Entry>)| {
        let all: Vec<String> = entries.iter().map(entry).collect();
        format!("{name}: {}.", all.join(", "))
    };
    groups(figure).iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_runs_are_all_seen_in_lanes_of_their_own() {
        let x = Projection { log: false, domain: (0.0, 10.0), range: (0.0, 100.0) };
        let runs = vec![5.0, 5.0, 5.0, 9.0];
        let mark = Mark { x: 0.0, centre: 5.0, low: 4.0, high: 9.0, runs, valid: true };
        let (places, most) = lanes(&mark, &x);
        assert_eq!(most, 3);
        assert_eq!(places.iter().map(|p| p.1).collect::<Vec<_>>(), [0, 1, 2, 0]);
    }
}
