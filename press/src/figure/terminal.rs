//! Knows a panel of characters with a quantity along both axes. Knows no kind of figure.

use super::braille::{Canvas, ascii, heading, letter, right, rounded, tick_rows, wide};
use super::model::Figure;
use super::projection::{Projection, ValueAxis};

/// The room for a drawing.
pub struct Page {
    /// Cells in a line.
    pub columns: usize,
    /// Lines of the panel of a figure that has one.
    pub rows: usize,
    /// False if every character must be ASCII.
    pub unicode: bool,
}

/// What stands for a series: a shape, or its letter without Unicode.
pub fn sign(page: &Page, series: usize) -> char {
    let shapes = ['●', '□', '▲', '◇', '■', '◆'];
    if page.unicode && series < shapes.len() { shapes[series] } else { letter(series) }
}

/// Dots, with characters over them.
pub struct Panel<'a> {
    figure: &'a Figure,
    page: &'a Page,
    axes: (&'a ValueAxis, &'a ValueAxis),
    gutter: usize,
    width: usize,
    canvas: Canvas,
    over: Vec<char>,
    base: Vec<char>,
    /// Places along x, in dots.
    pub x: Projection,
    /// Places along y, in dots from the top.
    pub y: Projection,
}

impl<'a> Panel<'a> {
    /// An empty panel over the x and y axes.
    pub fn new(figure: &'a Figure, page: &'a Page, axes: (&'a ValueAxis, &'a ValueAxis)) -> Self {
        let gutter = axes.1.ticks.iter().map(|t| wide(&t.1)).max().unwrap_or(0);
        let width = page.columns.saturating_sub(gutter + 2).max(8);
        let (across, down) = if page.unicode { (2, 4) } else { (1, 1) };
        #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
        let ends = ((width * across - 1) as f64, (page.rows * down - 1) as f64);
        let cells = width * page.rows;
        let canvas = Canvas { width, unicode: page.unicode, cells: vec![0; cells] };
        let line = if page.unicode { '─' } else { '-' };
        let scaled = |a: &ValueAxis, range| Projection { log: a.log, domain: a.domain, range };
        let (x, y) = (scaled(axes.0, (0.0, ends.0)), scaled(axes.1, (ends.1, 0.0)));
        let (over, base) = (vec![' '; cells], vec![line; width]);
        Self { figure, page, axes, gutter, width, canvas, over, base, x, y }
    }

    /// Sets every `dash`-th dot of the straight line between two values; a letter without Unicode.
    pub fn stroke(&mut self, from: (f64, f64), to: (f64, f64), (dash, letter): (usize, char)) {
        let place = |p: (f64, f64)| (self.x.place(p.0), self.y.place(p.1));
        let (from, to) = (place(from), place(to));
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = rounded((dx.abs().max(dy.abs()).ceil(), 0.0)).0;
        for step in (0..=steps).step_by(dash) {
            #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
            let share = step as f64 / steps.max(1) as f64;
            self.canvas.set(rounded((from.0 + share * dx, from.1 + share * dy)), letter);
        }
    }

    /// Writes a character over the place of a value.
    pub fn put(&mut self, (x, y): (f64, f64), sign: char) {
        let (across, down) = if self.page.unicode { (2, 4) } else { (1, 1) };
        let (x, y) = rounded((self.x.place(x), self.y.place(y)));
        let cell = (y / down).min(self.page.rows - 1) * self.width + (x / across);
        if let Some(over) = self.over.get_mut(cell) {
            *over = sign;
        }
    }

    /// Marks a part of the line below the panel.
    pub fn shade(&mut self, from: f64, to: f64) {
        let across = if self.page.unicode { 2.0 } else { 1.0 };
        let cell = |x: f64| rounded((self.x.place(x) / across, 0.0)).0.min(self.width - 1);
        let mark = if self.page.unicode { '▒' } else { '#' };
        let (from, to) = (cell(from), cell(to));
        self.base[from..=to.max(from)].fill(mark);
    }

    /// Heading, panel and axes as lines.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let (rows, down) = (self.page.rows, if self.page.unicode { 4.0 } else { 1.0 });
        let mut lines = heading(self.figure, self.axes.1, self.page.columns);
        let shown = tick_rows(self.axes.1, &self.y, rows, down);
        let [at, between, corner] =
            if self.page.unicode { ['┤', '│', '└'] } else { ['+', '|', '+'] };
        let over = self.over.chunks(self.width);
        for (row, (drawing, over)) in self.canvas.lines().iter().zip(over).enumerate() {
            let tick = shown.iter().find(|t| t.0 == row);
            let number = right(tick.map_or("", |t| t.1.as_str()), self.gutter);
            let bar = if tick.is_some() { at } else { between };
            let cells = drawing.chars().zip(over);
            let drawing: String = cells.map(|(d, o)| if *o == ' ' { d } else { *o }).collect();
            lines.push(format!("{number} {bar}{drawing}"));
        }
        let margin = " ".repeat(self.gutter);
        lines.push(format!("{margin} {corner}{}", self.base.iter().collect::<String>()));
        lines.push(format!("{margin}  {}", self.ticks()));
        lines.push(right(name, self.gutter + 2 + self.width));
        lines
    }

    /// The texts along x that find room, the ends first.
    fn ticks(&self) -> String {
        let across = if self.page.unicode { 2.0 } else { 1.0 };
        let mut row = vec![' '; self.width];
        let ticks = &self.axes.0.ticks;
        for (value, text) in ticks.first().into_iter().chain(ticks.last()).chain(ticks) {
            let text = if self.page.unicode { text.clone() } else { ascii(text) };
            let text: Vec<char> = text.chars().collect();
            let place = rounded((self.x.place(*value) / across, 0.0)).0;
            let last = self.width.saturating_sub(text.len());
            let from = place.saturating_sub(text.len() / 2).min(last);
            let to = (from + text.len()).min(self.width);
            let clear = from.saturating_sub(2)..(to + 2).min(self.width);
            if row[clear].iter().all(|c| *c == ' ') {
                row[from..to].copy_from_slice(&text[..to - from]);
            }
        }
        row.into_iter().collect()
    }
}
