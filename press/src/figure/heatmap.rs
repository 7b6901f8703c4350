//! Knows the heatmap: a cell a ratio, its colour by how far it lies from no change, the ratio in
//! words on it; what is not told from no change has no colour, what is invalid is hatched. Knows
//! which of seven steps a ratio takes, no colours.
//!
//! Where the cells of a row find no room the table is turned, and where that does not help it goes
//! on below.

use super::alt::doubted;
use super::braille::{cut, heading, padded, right, wide};
use super::layout::Sheet;
use super::model::{Figure, Mark, Series};
use super::projection::{ValueAxis, drawable};
use super::rows::shortened;
use super::scene::{Anchor, Ink, Point, Rect, Role, Shape};
use super::words::{Args, label, say};

/// Height of a cell, px.
const CELL: f64 = 30.0;
/// The widest cell, px.
const WIDEST: f64 = 112.0;
/// Between cells, px.
const GAP: f64 = 2.0;
/// Left and right of the words of a cell, px.
const PAD: f64 = 9.0;
/// From one line of a hatch to the next, px.
const HATCH: f64 = 7.0;
/// What stands beside a cell without a colour, by the keys of its messages.
const OPEN: &str = "drawn-undecided";
const INVALID: &str = "drawn-invalid";
/// The step of no change; three lie below it and three above.
const MIDDLE: usize = 3;
/// Bounds of the steps as ratios above 1; those below 1 are their inverse.
const LADDER: [[f64; 3]; 8] = [
    [1.01, 1.02, 1.05],
    [1.02, 1.05, 1.1],
    [1.02, 1.1, 1.25],
    [1.02, 1.2, 1.5],
    [1.05, 1.4, 2.0],
    [1.05, 1.5, 3.0],
    [1.1, 2.0, 5.0],
    [1.1, 3.0, 10.0],
];

/// Which step a ratio takes.
struct Steps {
    bounds: [f64; 3],
}

impl Steps {
    /// The widest bounds of which the last step is still taken by a valid ratio; the margin, where
    /// the figure has one, is the step of no change.
    fn of(figure: &Figure) -> Self {
        let marks = figure.series.iter().flat_map(|s| &s.marks);
        let sizes = marks.filter(|m| m.valid && placed(m)).map(|m| m.centre.ln().abs());
        let most = sizes.fold(0.0, f64::max).exp();
        let widest = LADDER.iter().rev().find(|b| b[2] <= most);
        let mut bounds = *widest.unwrap_or(&LADDER[0]);
        let margin = figure.drawn_zones().find(|z| z.from < 1.0 && 1.0 < z.to);
        if let Some(margin) = margin.filter(|z| z.to < bounds[1]) {
            bounds[0] = margin.to;
        }
        Self { bounds }
    }

    /// From 0, far below 1, to 6, far above.
    fn step(&self, ratio: f64) -> usize {
        let size = ratio.ln().abs();
        // The inverse of a bound must fall on the same side as the bound.
        let past = self.bounds.iter().filter(|b| size >= b.ln() - 1e-12).count();
        if ratio < 1.0 { MIDDLE - past } else { MIDDLE + past }
    }

    /// Whether the interval tells the ratio from no change, or lies within the step of no change.
    fn decided(&self, mark: &Mark) -> bool {
        let away = mark.low > 1.0 || mark.high < 1.0;
        away || [mark.low, mark.high].iter().all(|end| self.step(*end) == MIDDLE)
    }

    /// The six bounds, rising.
    fn edges(&self) -> [f64; 6] {
        let [a, b, c] = self.bounds;
        [1.0 / c, 1.0 / b, 1.0 / a, a, b, c]
    }
}

fn placed(mark: &Mark) -> bool {
    drawable(mark) && mark.centre > 0.0
}

/// Rows and columns by name, with what stands in each cell.
struct Table<'a> {
    rows: Vec<String>,
    columns: Vec<String>,
    cells: Vec<Vec<Option<(&'a Series, &'a Mark)>>>,
}

impl<'a> Table<'a> {
    /// A row a series, a column a name of the x axis.
    fn of(figure: &'a Figure) -> Self {
        let xs = figure.positions();
        let cell = |s: &'a Series, x: f64| {
            let here = |m: &&Mark| placed(m) && m.x.total_cmp(&x).is_eq();
            s.marks.iter().find(here).map(|m| (s, m))
        };
        Self {
            rows: figure.series.iter().map(|s| s.name.clone()).collect(),
            columns: xs.iter().map(|x| figure.x.tick_text(*x)).collect(),
            cells: figure.series.iter().map(|s| xs.iter().map(|x| cell(s, *x)).collect()).collect(),
        }
    }

    fn turned(self) -> Self {
        let column = |c: usize| self.cells.iter().map(|row| row[c]).collect();
        let cells = (0..self.columns.len()).map(column).collect();
        Self { rows: self.columns, columns: self.rows, cells }
    }
}

/// How many of so many columns stand side by side where `fit` find room: as many in each part.
fn balanced(columns: usize, fit: usize) -> usize {
    columns.div_ceil(columns.div_ceil(fit.max(1)).max(1)).max(1)
}

/// Whether the turned table is the better one, each with how many columns it has side by side:
/// if it alone is of one part, or none is and it has fewer rows in all.
fn turn(across: (&Table, usize), down: (&Table, usize)) -> bool {
    let parts = |(table, beside): (&Table, usize)| table.columns.len().div_ceil(beside);
    let rows = |all: (&Table, usize)| parts(all) * all.0.rows.len();
    match (parts(across) <= 1, parts(down) <= 1) {
        (true, _) => false,
        (false, true) => true,
        (false, false) => rows(down) < rows(across),
    }
}

/// Widths of the panel, px, and how many columns stand side by side.
struct Plan {
    name: f64,
    cell: f64,
    beside: usize,
}

impl Plan {
    fn of(sheet: &Sheet, figure: &Figure, table: &Table) -> Self {
        let ruler = sheet.ruler;
        let room = (sheet.width * 0.34).min(240.0);
        let lines = table.rows.iter().flat_map(|n| shortened(ruler, n, Role::Name, room));
        let name = lines.map(|l| ruler.width(&l, Role::Name)).fold(0.0, f64::max) + 10.0;
        let said = table.cells.iter().flatten().flatten();
        let words = said.map(|(_, m)| ruler.width(&value(figure, m), Role::Value));
        let least = words.fold(0.0, f64::max) + 2.0 * PAD;
        // A column is as wide as the words of its name, but long ones may break.
        let heads = table.columns.iter().map(|c| ruler.widest_word(c, Role::Tick).min(72.0) + 4.0);
        let least = heads.fold(least, f64::max);
        let room = sheet.width - name;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few cells")]
        let fit = ((room / (least + GAP)) as usize).max(1);
        let beside = balanced(table.columns.len(), fit);
        #[expect(clippy::cast_precision_loss, reason = "a few cells")]
        let cell = (room / beside as f64 - GAP).clamp(1.0, WIDEST.max(least));
        Self { name, cell, beside }
    }
}

fn value(figure: &Figure, mark: &Mark) -> String {
    figure.value(mark.centre).to_string()
}

/// Adds heading, cells, key.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    sheet.heading(figure, &axis());
    sheet.space(10.0);
    let steps = Steps::of(figure);
    let (across, down) = (Table::of(figure), Table::of(figure).turned());
    let first = Plan::of(sheet, figure, &across);
    let second = Plan::of(sheet, figure, &down);
    let (table, plan) = match turn((&across, first.beside), (&down, second.beside)) {
        false => (across, first),
        true => (down, second),
    };
    let all: Vec<usize> = (0..table.columns.len()).collect();
    for columns in all.chunks(plan.beside) {
        heads(sheet, &table, &plan, columns);
        for (name, cells) in table.rows.iter().zip(&table.cells) {
            let cells: Vec<_> = columns.iter().map(|c| cells[*c]).collect();
            row(sheet, figure, (name, &cells), (&plan, &steps));
        }
        sheet.space(10.0);
    }
    key(sheet, figure, &steps);
}

/// A heatmap has no value axis, but a heading like one.
fn axis() -> ValueAxis {
    let unit = String::new();
    ValueAxis { log: true, domain: (1.0, 1.0), ticks: Vec::new(), unit, divisor: 1.0 }
}

/// The names of the columns, on a common last baseline.
fn heads(sheet: &mut Sheet, table: &Table, plan: &Plan, columns: &[usize]) {
    let role = Role::Tick;
    let named = |c: &usize| shortened(sheet.ruler, &table.columns[*c], role, plan.cell - 2.0);
    let all: Vec<Vec<String>> = columns.iter().map(named).collect();
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    for (n, lines) in all.iter().enumerate() {
        for (i, line) in lines.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a few cells")]
            let (column, down) = (n as f64, (most - lines.len() + i) as f64);
            let x = plan.name + column * (plan.cell + GAP) + plan.cell / 2.0;
            let y = sheet.bottom + down * role.line() + role.size();
            sheet.text(line, role, (x, y), Anchor::Middle);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let height = most as f64 * role.line();
    sheet.space(height + 3.0);
}

fn row(
    sheet: &mut Sheet,
    figure: &Figure,
    (name, cells): (&str, &[Option<(&Series, &Mark)>]),
    (plan, steps): (&Plan, &Steps),
) {
    let role = Role::Name;
    let lines = shortened(sheet.ruler, name, role, plan.name - 10.0);
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let tall = lines.len() as f64 * role.line();
    let height = CELL.max(tall + 4.0);
    let (top, middle) = (sheet.bottom, sheet.bottom + height / 2.0);
    for (n, line) in lines.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let y = middle - tall / 2.0 + n as f64 * role.line() + role.size() - 0.5;
        sheet.text(line, role, (0.0, y), Anchor::Start);
    }
    for (n, cell) in cells.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a few cells")]
        let left = plan.name + n as f64 * (plan.cell + GAP);
        let room = Rect { left, top, right: left + plan.cell, bottom: top + height };
        let at = (f64::midpoint(left, room.right), middle + 4.5);
        let Some((series, mark)) = cell else {
            sheet.text("–", Role::Note, at, Anchor::Middle);
            continue;
        };
        let decided = !mark.valid || steps.decided(mark);
        let role = if decided { Role::Value } else { Role::Name };
        let words = sheet.measured(&value(figure, mark), role, at, Anchor::Middle);
        let ratio = figure.x.tick_text(mark.x);
        let said = doubted(said(figure, mark), (!decided).then_some(OPEN));
        let hint = format!("{}, {ratio}: {said}", series.name);
        if !decided {
            sheet.push(Shape::Bar { ink: Ink::Open, room, hint });
        } else if mark.valid {
            let ink = Ink::Heat(steps.step(mark.centre));
            sheet.push(Shape::Bar { ink, room, hint });
        } else {
            hatched(sheet, room, words.bounds(), hint);
        }
        sheet.push(Shape::Text(words));
    }
    sheet.bottom = top + height + GAP;
}

/// A cell without a colour, hatched but for the place of its words.
fn hatched(sheet: &mut Sheet, room: Rect, words: Rect, hint: String) {
    sheet.push(Shape::Bar { ink: Ink::Hatch, room, hint });
    let hole = words.grown(3.0);
    let (wide, tall) = (room.right - room.left, room.bottom - room.top);
    let mut offset = HATCH;
    while offset < wide + tall {
        // Rising to the right, cut at the edges of the cell.
        let from = (room.left + (offset - tall).max(0.0), room.top + offset.min(tall));
        let to = (room.left + offset.min(wide), room.top + (offset - wide).max(0.0));
        for (a, b) in outside(hole, from, to) {
            sheet.push(Shape::Line(Ink::Hatch, vec![a, b]));
        }
        offset += HATCH;
    }
}

/// What of a line that rises at 45 degrees to the right lies outside a rectangle.
fn outside(hole: Rect, from: Point, to: Point) -> Vec<(Point, Point)> {
    if !hole.crossed_by(from, to) {
        return vec![(from, to)];
    }
    let at = |x: f64| (x, from.1 - (x - from.0));
    let enter = hole.left.max(from.0 + from.1 - hole.bottom).max(from.0);
    let leave = hole.right.min(from.0 + from.1 - hole.top).min(to.0);
    let parts = [(from, at(enter)), (at(leave), to)];
    parts.into_iter().filter(|(a, b)| b.0 - a.0 > 0.5).collect()
}

/// The seven steps side by side with their bounds, and what a cell without a colour means.
fn key(sheet: &mut Sheet, figure: &Figure, steps: &Steps) {
    const TALL: f64 = 12.0;
    sheet.space(4.0);
    let texts: Vec<String> = steps.edges().iter().map(|e| edge_text(*e)).collect();
    let widest = texts.iter().map(|t| sheet.ruler.width(t, Role::Tick)).fold(0.0, f64::max);
    let step = (widest + 10.0).min((sheet.width - 8.0) / 7.0).max(widest + 4.0);
    let (top, bottom) = (sheet.bottom, sheet.bottom + TALL);
    for i in 0..=2 * MIDDLE {
        #[expect(clippy::cast_precision_loss, reason = "seven steps")]
        let left = i as f64 * step;
        let room = Rect { left, top, right: left + step - 1.0, bottom };
        sheet.push(Shape::Bar { ink: Ink::Heat(i), room, hint: String::new() });
        if let Some(text) = texts.get(i) {
            let at = (left + step - 0.5, bottom + Role::Tick.size() + 3.0);
            sheet.text(text, Role::Tick, at, Anchor::Middle);
        }
    }
    sheet.bottom = bottom + Role::Tick.line() + 4.0;
    let nothing = Rect { left: -9.0, top: -9.0, right: -9.0, bottom: -9.0 };
    let [open, invalid] = without_colour(figure, steps);
    for (_, words) in [(open, OPEN), (invalid, INVALID)].into_iter().filter(|l| l.0) {
        sheet.space(4.0);
        let top = sheet.bottom;
        let room = Rect { left: 0.5, top, right: step - 1.0, bottom: top + TALL };
        if words == OPEN {
            sheet.push(Shape::Bar { ink: Ink::Open, room, hint: String::new() });
        } else {
            hatched(sheet, room, nothing, String::new());
        }
        let at = (step + 8.0, top + 10.0);
        sheet.text(&label(words), Role::Tick, at, Anchor::Start);
        sheet.space(TALL + 4.0);
    }
}

/// Whether there are undecided cells, and such as are invalid.
fn without_colour(figure: &Figure, steps: &Steps) -> [bool; 2] {
    let marks = || figure.series.iter().flat_map(|s| &s.marks).filter(|m| placed(m));
    [marks().any(|m| m.valid && !steps.decided(m)), marks().any(|m| !m.valid)]
}

/// A bound with at most two decimals: `0.67×`.
fn edge_text(edge: f64) -> String {
    format!("{}×", (edge * 100.0).round() / 100.0)
}

/// `1.31× (1.24–1.38×)`.
fn said(figure: &Figure, mark: &Mark) -> String {
    let range = desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    let said = format!("{} ({range})", figure.value(mark.centre));
    doubted(said, (!mark.valid).then_some(INVALID))
}

/// Every cell in words, a sentence a series.
pub fn words(figure: &Figure) -> Vec<String> {
    let steps = Steps::of(figure);
    let cell = |m: &Mark| {
        let doubt = match m.valid {
            false => Some(INVALID),
            true if !steps.decided(m) => Some(OPEN),
            true => None,
        };
        doubted(format!("{} {}", figure.x.tick_text(m.x), value(figure, m)), doubt)
    };
    let row = |s: &Series| {
        let all: Vec<String> = s.marks.iter().filter(|m| placed(m)).map(cell).collect();
        let said = if all.is_empty() { label("drawn-no-ratio") } else { all.join("; ") };
        format!("{}: {said}.", s.name)
    };
    let mut all: Vec<String> = figure.series.iter().map(row).collect();
    if figure.series.iter().flat_map(|s| &s.marks).any(|m| !m.valid) {
        all.push(label("drawn-hatched"));
    }
    all
}

/// The table as text; a sign behind each ratio says on which side of no change it lies.
pub fn text(figure: &Figure, columns: usize, unicode: bool) -> Vec<String> {
    let steps = Steps::of(figure);
    let signs = if unicode { ["▼", "=", "▲", "?", "!"] } else { ["-", "=", "+", "?", "!"] };
    let sign = |m: &Mark| match steps.step(m.centre) {
        _ if !m.valid => signs[4],
        _ if !steps.decided(m) => signs[3],
        s if s < MIDDLE => signs[0],
        MIDDLE => signs[1],
        _ => signs[2],
    };
    let (across, down) = (Table::of(figure), Table::of(figure).turned());
    let first = TextPlan::of(figure, &across, columns);
    let second = TextPlan::of(figure, &down, columns);
    let (table, plan) = match turn((&across, first.beside), (&down, second.beside)) {
        false => (across, first),
        true => (down, second),
    };
    let mut lines = heading(figure, &axis(), columns);
    let all: Vec<usize> = (0..table.columns.len()).collect();
    for part in all.chunks(plan.beside) {
        let head = |c: &usize| right(&cut(&table.columns[*c], plan.cell), plan.cell + 1);
        let heads: String = part.iter().map(head).collect();
        lines.push(format!("{}{heads}", " ".repeat(plan.name)));
        for (name, cells) in table.rows.iter().zip(&table.cells) {
            let said = |c: &usize| match cells[*c] {
                Some((_, m)) => format!("{}{}", value(figure, m), sign(m)),
                None => "-".to_owned(),
            };
            let said: String = part.iter().map(|c| right(&said(c), plan.cell + 1)).collect();
            lines.push(format!("{}{said}", padded(name, plan.name)));
        }
    }
    lines.extend(key_text(figure, &steps, signs, columns));
    lines
}

/// Widths in cells, and how many columns stand side by side.
struct TextPlan {
    name: usize,
    cell: usize,
    beside: usize,
}

impl TextPlan {
    fn of(figure: &Figure, table: &Table, columns: usize) -> Self {
        let longest = table.rows.iter().map(|n| wide(n)).max().unwrap_or(0);
        let name = longest.min(columns / 3);
        let words = table.cells.iter().flatten().flatten();
        let least = words.map(|(_, m)| wide(&value(figure, m)) + 1).max().unwrap_or(1);
        let heads = table.columns.iter().map(|c| wide(c)).max().unwrap_or(0);
        let cell = heads.min(12).max(least);
        let fit = columns.saturating_sub(name) / (cell + 1);
        Self { name, cell, beside: balanced(table.columns.len(), fit) }
    }
}

/// What the signs mean, on as many lines as it takes.
fn key_text(
    figure: &Figure,
    steps: &Steps,
    [below, level, above, open, invalid]: [&str; 5],
    columns: usize,
) -> Vec<String> {
    let [_, _, low, high, _, _] = steps.edges().map(edge_text);
    let sign = |sign: &str| Args::new().name("sign", sign);
    let mut parts = vec![
        say("drawn-ratio-above", sign(above).name("bound", high)),
        say("drawn-ratio-below", sign(below).name("bound", low)),
        say("drawn-ratio-between", sign(level)),
    ];
    let [unsure, wrong] = without_colour(figure, steps);
    parts.extend(unsure.then(|| format!("{open} {}", label(OPEN))));
    parts.extend(wrong.then(|| format!("{invalid} {}", label(INVALID))));
    let line = parts.join("  ");
    if wide(&line) <= columns { vec![line] } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Steps {
        Steps { bounds: [1.05, 1.25, 1.5] }
    }

    #[test]
    fn a_ratio_and_its_inverse_are_as_far_from_the_middle() {
        for ratio in [1.0, 1.01, 1.05, 1.1, 1.25, 1.4, 1.5, 7.0] {
            let (above, below) = (steps().step(ratio), steps().step(1.0 / ratio));
            assert_eq!(above - MIDDLE, MIDDLE - below, "{ratio}");
        }
        let all = [0.1, 0.7, 0.9, 1.0, 1.1, 1.3, 2.0].map(|r| steps().step(r));
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_ratio_that_is_not_told_from_no_change_is_not_decided() {
        let mark = |low: f64, centre: f64, high: f64| Mark {
            x: 0.0,
            centre,
            low,
            high,
            runs: Vec::new(),
            valid: true,
        };
        let decided = |low, centre, high| steps().decided(&mark(low, centre, high));
        assert!(decided(1.01, 1.3, 1.6) && decided(0.6, 0.7, 0.9), "the interval leaves out 1");
        assert!(decided(0.99, 1.0, 1.01), "all of it lies within the step of no change");
        assert!(!decided(0.9, 1.3, 1.8) && !decided(0.9, 1.0, 1.1));
    }

    #[test]
    fn a_hatch_leaves_the_place_of_the_words_free() {
        let hole = Rect { left: 20.0, top: 10.0, right: 40.0, bottom: 20.0 };
        let parts = outside(hole, (0.0, 45.0), (45.0, 0.0));
        assert_eq!(parts, [((0.0, 45.0), (25.0, 20.0)), ((35.0, 10.0), (45.0, 0.0))]);
        assert!(parts.iter().all(|(a, b)| !hole.crossed_by(*a, *b)));
        let past = outside(hole, (0.0, 10.0), (10.0, 0.0));
        assert_eq!(past, [((0.0, 10.0), (10.0, 0.0))]);
    }
}
