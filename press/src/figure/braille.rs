//! Knows how a figure is drawn with characters. Knows no pixels.
//!
//! A braille cell holds 2 x 4 dots; without Unicode a cell holds one letter of its series instead.

use super::measure::cells;
use super::model::{Figure, FigureKind, Mark, Series};
use super::projection::{Projection, ValueAxis, drawable, positions};
use super::terminal::Page;
use super::{forest, groups, heatmap, percentile, roofline, sparkline, timeline, waterfall};

/// The narrowest drawing that still says something, cells.
const NARROWEST: usize = 24;

/// The figure as text: no line is wider than `columns` cells (at least 24), and the drawing area of
/// a sweep is `rows` lines high (at least 3); heading, axis and key come in addition.
///
/// A dot figure has one line a series whatever `rows` says. Without `unicode` every character is
/// ASCII.
#[must_use]
pub fn braille(figure: &Figure, columns: u16, rows: u16, unicode: bool) -> String {
    let columns = usize::from(columns).max(NARROWEST);
    let plain = if unicode { None } else { Some(in_ascii(figure)) };
    let figure = plain.as_ref().unwrap_or(figure);
    let page = Page { columns, rows: usize::from(rows).max(3), unicode };
    let lines = match figure.kind {
        FigureKind::Forest => forest::text(figure, columns, unicode),
        FigureKind::Groups => groups::text(figure, columns, unicode),
        FigureKind::Heatmap => heatmap::text(figure, columns, unicode),
        FigureKind::Sparkline => sparkline::text(figure, columns, unicode),
        FigureKind::Percentile => percentile::characters(figure, &page),
        FigureKind::Timeline => timeline::characters(figure, &page),
        FigureKind::Waterfall => waterfall::characters(figure, &page),
        FigureKind::Roofline => roofline::characters(figure, &page),
        kind if kind.by_rows() => dots(figure, columns, unicode),
        _ => sweep(figure, columns, usize::from(rows).max(3), unicode),
    };
    let mut out = String::new();
    for line in lines {
        let line = if unicode { line } else { ascii(&line) };
        out.push_str(cut(&line, columns).trim_end());
        out.push('\n');
    }
    out
}

/// The figure with names in ASCII, so that they are measured as they are written.
fn in_ascii(figure: &Figure) -> Figure {
    let mut plain = figure.clone();
    plain.series.iter_mut().for_each(|s| s.name = ascii(&s.name));
    plain.x.names.iter_mut().for_each(|n| *n = ascii(n));
    plain
}

/// Width of a text in terminal cells.
pub(super) fn wide(text: &str) -> usize {
    text.chars().map(cells).sum()
}

/// A text that fits, its end given up for an ellipsis where it is too long.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if wide(text) <= columns {
        return text.to_owned();
    }
    let mark = if text.is_ascii() { "..." } else { "…" };
    let room = columns.saturating_sub(wide(mark));
    let mut used = 0;
    let fits = |c: &char| {
        used += cells(*c);
        used <= room
    };
    text.chars().take_while(fits).collect::<String>() + mark
}

pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let gap = columns - wide(&text);
    text + &" ".repeat(gap)
}

pub(super) fn right(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(wide(text))) + text
}

/// The nearest ASCII; what has none becomes `?`.
pub(super) fn ascii(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '×' => out.push('x'),
            'µ' | 'μ' => out.push('u'),
            '–' | '—' | '−' => out.push('-'),
            '…' => out.push_str("..."),
            '\u{a0}' | '\u{202f}' => out.push(' '),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

/// Quantity, unit and direction, on two lines where one is too short.
pub(super) fn heading(figure: &Figure, axis: &ValueAxis, columns: usize) -> Vec<String> {
    let (heading, direction) = (axis.heading(figure), figure.y.direction.trim());
    let both = format!("{heading}, {direction}");
    match direction {
        "" => vec![heading],
        _ if wide(&both) <= columns => vec![both],
        direction => vec![heading, direction.to_owned()],
    }
}

/// The name that stands beside a line: its own if it is short, else a letter that the key explains.
fn tag(series: &Series, number: usize, room: usize) -> String {
    if wide(&series.name) <= room { series.name.clone() } else { letter(number).to_string() }
}

pub(super) fn letter(number: usize) -> char {
    let letters = "abcdefghijklmnopqrstuvwxyz";
    letters.chars().nth(number % letters.len()).unwrap_or('a')
}

/// The figure with nothing but its lines: a band takes no room where it cannot be drawn.
fn without_bands(figure: &Figure) -> Figure {
    let mut bare = figure.clone();
    for mark in bare.series.iter_mut().flat_map(|s| &mut s.marks) {
        (mark.low, mark.high) = (mark.centre, mark.centre);
    }
    bare
}

fn sweep(figure: &Figure, columns: usize, rows: usize, unicode: bool) -> Vec<String> {
    let figure = &without_bands(figure);
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let axis = ValueAxis::of(figure, (rows as f64 / 3.0).clamp(2.0, 5.0));
    let gutter = axis.ticks.iter().map(|t| wide(&t.1)).max().unwrap_or(0);
    let room = columns / 4;
    // Without braille the points are drawn as letters, so the key must explain every one.
    let keyed = |s: &Series| !unicode || wide(&s.name) > room;
    let any = figure.series.iter().any(keyed);
    let tags: Vec<String> = figure
        .series
        .iter()
        .enumerate()
        .map(|(i, s)| tag(s, i, if any { 0 } else { room }))
        .collect();
    let label = tags.iter().map(|t| wide(t)).max().unwrap_or(0) + 1;
    let area = (columns.saturating_sub(gutter + 2 + label).max(8), rows);
    let (canvas, x, y) = drawn(figure, &axis, area, unicode);
    let mut sides = vec![String::new(); rows];
    for (row, number) in label_rows(figure, &y, rows, if unicode { 4.0 } else { 1.0 }) {
        sides[row].clone_from(&tags[number]);
    }
    let mut lines = heading(figure, &axis, columns);
    let shown = tick_rows(&axis, &y, rows, if unicode { 4.0 } else { 1.0 });
    for (row, drawing) in canvas.lines().into_iter().enumerate() {
        let tick = shown.iter().find(|t| t.0 == row).map(|t| t.1.as_str());
        let bar = match (tick.is_some(), unicode) {
            (true, true) => '┤',
            (false, true) => '│',
            (true, false) => '+',
            (false, false) => '|',
        };
        let number = right(tick.unwrap_or(""), gutter);
        lines.push(format!("{number} {bar}{drawing} {}", sides[row]));
    }
    let dots = if unicode { 2.0 } else { 1.0 };
    lines.extend(position_axis(figure, (gutter, area.0), (&x, dots), unicode));
    if any {
        let key = |(i, s): (usize, &Series)| format!("  {} = {}", letter(i), s.name);
        lines.extend(figure.series.iter().enumerate().map(key));
    }
    lines
}

/// Dots or letters on a grid of cells.
pub(super) struct Canvas {
    pub width: usize,
    pub unicode: bool,
    /// Braille dots of a cell as bits, or the letter of a cell.
    pub cells: Vec<u32>,
}

impl Canvas {
    /// Sets one dot, counted from the top left; `letter` is what stands there without braille.
    pub fn set(&mut self, (x, y): (usize, usize), letter: char) {
        // Bits of the eight dots of U+2800, by row, then column.
        const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (column, row) = if self.unicode { (x / 2, y / 4) } else { (x, y) };
        let Some(cell) = self.cells.get_mut(row * self.width + column) else { return };
        if self.unicode {
            *cell |= BITS[y % 4][x % 2];
        } else if *cell == 0 {
            *cell = u32::from(letter);
        }
    }

    pub fn lines(&self) -> Vec<String> {
        let base = if self.unicode { 0x2800 } else { 0 };
        let character = |c: &u32| match *c {
            0 => ' ',
            bits => char::from_u32(base + bits).unwrap_or(' '),
        };
        self.cells.chunks(self.width).map(|r| r.iter().map(character).collect()).collect()
    }
}

fn drawn(
    figure: &Figure,
    axis: &ValueAxis,
    (width, height): (usize, usize),
    unicode: bool,
) -> (Canvas, Projection, Projection) {
    let (across, down) = if unicode { (2, 4) } else { (1, 1) };
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let (right, bottom) = ((width * across - 1) as f64, (height * down - 1) as f64);
    let x = positions(figure, (0.0, right));
    let y = Projection { log: axis.log, domain: axis.domain, range: (bottom, 0.0) };
    let mut canvas = Canvas { width, unicode, cells: vec![0; width * height] };
    for (number, series) in figure.series.iter().enumerate() {
        let place = |m: &Mark| (x.place(m.x), y.place(m.centre));
        let marks: Vec<&Mark> = series.marks.iter().filter(|m| drawable(m)).collect();
        // What must not be averaged in is a point of its own, without a line.
        marks.iter().filter(|m| !m.valid).for_each(|m| canvas.set(rounded(place(m)), '?'));
        for run in marks.split(|m| !m.valid).filter(|r| !r.is_empty()) {
            run.iter().for_each(|m| canvas.set(rounded(place(m)), letter(number)));
            // The second line and those after it are dashed ever more sparsely.
            if unicode {
                let dash = number % 4 + 1;
                run.windows(2).for_each(|w| stroke(&mut canvas, place(w[0]), place(w[1]), dash));
            }
        }
    }
    (canvas, x, y)
}

/// Sets every `dash`-th dot of a straight line.
fn stroke(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), dash: usize) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "terminal sizes")]
    let steps = dx.abs().max(dy.abs()).ceil() as u32;
    for step in (0..=steps).step_by(dash) {
        let share = f64::from(step) / f64::from(steps.max(1));
        canvas.set(rounded((from.0 + share * dx, from.1 + share * dy)), ' ');
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "terminal sizes")]
pub(super) fn rounded((x, y): (f64, f64)) -> (usize, usize) {
    (x.round().max(0.0) as usize, y.round().max(0.0) as usize)
}

/// The line of each tick; a tick whose line is taken is left out, the first and last before others.
pub(super) fn tick_rows(
    axis: &ValueAxis,
    y: &Projection,
    rows: usize,
    dots: f64,
) -> Vec<(usize, String)> {
    let mut kept: Vec<(usize, String)> = Vec::new();
    let ends = axis.ticks.first().into_iter().chain(axis.ticks.last());
    // On a scale of ratios, the powers of ten are the steps that a reader knows.
    let decade = |t: &&(f64, String)| axis.log && (t.0 / axis.divisor).log10().fract() == 0.0;
    let decades = axis.ticks.iter().filter(decade);
    for (value, text) in ends.chain(decades).chain(&axis.ticks) {
        let row = rounded((0.0, (y.place(*value) / dots).floor())).1.min(rows - 1);
        if !kept.iter().any(|k| k.0.abs_diff(row) < 2) {
            kept.push((row, text.clone()));
        }
    }
    kept
}

/// A line for the name of each series: that of its end, or the nearest free one.
fn label_rows(figure: &Figure, y: &Projection, rows: usize, dots: f64) -> Vec<(usize, usize)> {
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let mut ends: Vec<(f64, usize)> = figure
        .series
        .iter()
        .enumerate()
        .filter_map(|(i, s)| {
            let last = s.marks.iter().rev().find(|m| drawable(m))?;
            Some((y.place(last.centre), i))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (place, number) in ends {
        let wish = rounded((0.0, (place / dots).floor())).1.min(rows - 1);
        let free = (0..rows).filter(|r| !taken.iter().any(|t| t.0 == *r));
        // Ends are visited from the top, so an equal distance goes to the lower line.
        let best = free.min_by_key(|r| (r.abs_diff(wish), rows - r));
        taken.extend(best.map(|row| (row, number)));
    }
    taken
}

/// The base line and, below it, the first and last position with what finds room between.
fn position_axis(
    figure: &Figure,
    (gutter, width): (usize, usize),
    (x, dots): (&Projection, f64),
    unicode: bool,
) -> Vec<String> {
    let (corner, line) = if unicode { ('└', "─") } else { ('+', "-") };
    let base = format!("{} {corner}{}", " ".repeat(gutter), line.repeat(width));
    let xs = figure.positions();
    let (Some(first), Some(last)) = (xs.first(), xs.last()) else { return vec![base] };
    let mut row = vec![' '; width];
    let mut write = |at: f64| {
        let text = figure.x.tick_text(at);
        let text: Vec<char> = if unicode { text } else { ascii(&text) }.chars().collect();
        let place = rounded((x.place(at) / dots, 0.0)).0;
        let from = place.saturating_sub(text.len() / 2).min(width.saturating_sub(text.len()));
        let to = (from + text.len()).min(width);
        let clear = from.saturating_sub(2)..(to + 2).min(width);
        if row[clear].iter().all(|c| *c == ' ') {
            row[from..to].copy_from_slice(&text[..to - from]);
        }
    };
    write(*first);
    if last > first {
        write(*last);
    }
    xs.iter().for_each(|at| write(*at));
    let row: String = row.into_iter().collect();
    vec![base, format!("{}  {row}", " ".repeat(gutter)), right(&figure.x.label, gutter + 2 + width)]
}

fn dots(figure: &Figure, columns: usize, unicode: bool) -> Vec<String> {
    let axis = ValueAxis::of(figure, 4.0);
    let value = |s: &Series| {
        let mark = s.marks.iter().find(|m| m.valid && drawable(m));
        mark.map_or_else(|| "-".to_owned(), |m| axis.beside(figure, m))
    };
    let values: Vec<String> = figure.series.iter().map(value).collect();
    let widest = values.iter().map(|v| wide(v)).max().unwrap_or(0);
    let longest = figure.series.iter().map(|s| wide(&s.name)).max().unwrap_or(0);
    // A name that would leave no room for the track gets a line of its own.
    let stacked = longest > columns / 3;
    let name = if stacked { 0 } else { longest };
    let width = columns.saturating_sub(name + widest + 3).max(8);
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let x = Projection { log: axis.log, domain: axis.domain, range: (0.0, (width - 1) as f64) };
    let mut lines = heading(figure, &axis, columns);
    for (series, value) in figure.series.iter().zip(&values) {
        let track = track(figure, series, (&x, width), unicode);
        let value = right(value, widest);
        if stacked {
            lines.push(series.name.clone());
            lines.push(format!("  {track} {value}"));
        } else {
            lines.push(format!("{}  {track} {value}", padded(&series.name, name)));
        }
    }
    let ends = axis.ticks.first().zip(axis.ticks.last());
    if let Some((low, high)) = ends {
        let gap = width.saturating_sub(wide(&low.1) + wide(&high.1));
        let margin = " ".repeat(name + 2);
        lines.push(format!("{margin}{}{}{}", low.1, " ".repeat(gap), high.1));
    }
    lines
}

/// One row: runs, then references, the interval and the centre over them.
fn track(
    figure: &Figure,
    series: &Series,
    (x, width): (&Projection, usize),
    unicode: bool,
) -> String {
    let mut row = vec![' '; width];
    let place = |v: f64| rounded((x.place(v), 0.0)).0.min(width - 1);
    let [run, line, left, centre, right, hollow, dash] = if unicode {
        ['·', '┊', '├', '●', '┤', '○', '─']
    } else {
        ['.', ':', '|', 'o', '|', '?', '-']
    };
    for reference in figure.drawn_references() {
        row[place(reference.value)] = line;
    }
    for mark in series.marks.iter().filter(|m| drawable(m)) {
        mark.runs.iter().filter(|v| v.is_finite()).for_each(|v| row[place(*v)] = run);
        if mark.valid {
            let (low, high) = (place(mark.low), place(mark.high));
            row[low..=high.max(low)].fill(dash);
            row[low] = left;
            row[high] = right;
        }
        row[place(mark.centre)] = if mark.valid { centre } else { hollow };
    }
    row.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_cells_and_not_by_characters() {
        assert_eq!(cut("接收端", 5), "接收…");
        assert_eq!(cut("adapter", 5), "ad...");
        assert_eq!(padded("接收", 5), "接收 ");
        assert_eq!(wide("e\u{301}"), 1);
    }

    #[test]
    fn ascii_has_no_other_character() {
        assert_eq!(ascii("2.71–3.17× µs 接"), "2.71-3.17x us ?");
    }
}
