//! Knows where the words around a panel stand: kicker, title, heading, key, footnote.
//!
//! Knows no colours. The panel itself is laid out by `sweep.rs` or `dots.rs`.

use super::measure::Ruler;
use super::model::{Figure, FigureKind};
use super::projection::ValueAxis;
use super::scene::{Anchor, Glyph, Ink, Point, Rect, Role, Scene, Shape, Text};
use super::words::{Args, say};
use super::{
    dots, forest, groups, heatmap, percentile, roofline, sparkline, sweep, timeline, waterfall,
};

/// Space between the name of one thing and the next, px.
const GAP: f64 = 14.0;

/// The narrowest figure that is laid out, px; a smaller wish is raised to it.
const NARROWEST: f64 = 280.0;

/// Lays out a figure `width` px wide; texts are taken to be `stretch` times as long as in English.
pub fn scene(figure: &Figure, width: u32, stretch: f64) -> Scene {
    if figure.kind == FigureKind::Sparkline {
        return sparkline::scene(figure, width);
    }
    let mut sheet = Sheet::new(f64::from(width).max(NARROWEST), Ruler { stretch });
    header(&mut sheet, figure);
    match figure.kind {
        FigureKind::Forest => forest::panel(&mut sheet, figure),
        FigureKind::Groups => groups::panel(&mut sheet, figure),
        FigureKind::Heatmap => heatmap::panel(&mut sheet, figure),
        FigureKind::Percentile => percentile::panel(&mut sheet, figure),
        FigureKind::Timeline => timeline::panel(&mut sheet, figure),
        FigureKind::Waterfall => waterfall::panel(&mut sheet, figure),
        FigureKind::Roofline => roofline::panel(&mut sheet, figure),
        kind if kind.by_rows() => dots::panel(&mut sheet, figure),
        _ => sweep::panel(&mut sheet, figure),
    }
    if !figure.footnote.trim().is_empty() {
        sheet.space(12.0);
        sheet.paragraph(&figure.footnote, Role::Note);
    }
    sheet.finish()
}

/// The number of the figure as its reader sees it.
pub fn kicker(figure: &Figure) -> String {
    say("drawn-kicker", Args::new().name("number", figure.number))
}

fn header(sheet: &mut Sheet, figure: &Figure) {
    sheet.space(5.0);
    sheet.paragraph(&kicker(figure), Role::Kicker);
    sheet.space(3.0);
    sheet.paragraph(&figure.title, Role::Title);
    sheet.space(3.0);
    sheet.paragraph(&figure.subtitle, Role::Subtitle);
    sheet.space(16.0);
}

/// A growing figure: primitives so far, and how far down it is filled.
pub struct Sheet {
    /// Width of the whole figure, px.
    pub width: f64,
    /// Lower edge of what is placed so far, px.
    pub bottom: f64,
    /// How text is measured.
    pub ruler: Ruler,
    shapes: Vec<Shape>,
}

impl Sheet {
    fn new(width: f64, ruler: Ruler) -> Self {
        Self { width, bottom: 0.0, ruler, shapes: Vec::new() }
    }

    /// Adds empty height.
    pub fn space(&mut self, height: f64) {
        self.bottom += height;
    }

    /// Adds a primitive in front of all others.
    pub fn push(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    /// A line of text with its extent, not yet placed on the sheet.
    pub fn measured(&self, words: &str, role: Role, at: Point, anchor: Anchor) -> Text {
        let width = self.ruler.width(words, role);
        Text { anchor, at, role, width, words: words.to_owned() }
    }

    /// Places a line of text.
    pub fn text(&mut self, words: &str, role: Role, at: Point, anchor: Anchor) {
        let text = self.measured(words, role, at, anchor);
        self.push(Shape::Text(text));
    }

    /// Adds text over the whole width below what is there, wrapped.
    pub fn paragraph(&mut self, words: &str, role: Role) {
        for line in self.ruler.wrap(words, role, self.width) {
            let at = (0.0, self.bottom + role.size() * 0.95);
            self.text(&line, role, at, Anchor::Start);
            self.bottom += role.line();
        }
    }

    /// Adds quantity and unit, then the direction beside it, or below where that is too long.
    pub fn heading(&mut self, figure: &Figure, axis: &ValueAxis) {
        let heading = axis.heading(figure);
        let direction = figure.y.direction.trim();
        let wide = self.ruler.width(&heading, Role::Heading);
        let after = wide + 5.0;
        let whole = after + self.ruler.width(direction, Role::Direction);
        if direction.is_empty() || heading.is_empty() || whole > self.width {
            self.paragraph(&heading, Role::Heading);
            self.paragraph(direction, Role::Direction);
            return;
        }
        let baseline = self.bottom + Role::Heading.size() * 0.95;
        self.text(&heading, Role::Heading, (0.0, baseline), Anchor::Start);
        self.text(direction, Role::Direction, (after, baseline), Anchor::Start);
        self.bottom += Role::Heading.line();
    }

    /// Adds markers with names, in as many lines as it takes: for panels too narrow for line ends.
    pub fn key(&mut self, figure: &Figure) {
        const MARK: f64 = 16.0;
        let mut x = 0.0;
        let height = Role::Label(0).line() + 2.0;
        for (i, series) in figure.series.iter().enumerate() {
            let role = Role::Label(i);
            let lines = self.ruler.wrap(&series.name, role, self.width - MARK);
            let wide = lines.iter().map(|l| self.ruler.width(l, role)).fold(0.0, f64::max);
            if x > 0.0 && x + MARK + wide > self.width {
                x = 0.0;
                self.bottom += height;
            }
            let middle = self.bottom + height / 2.0;
            self.marker(Ink::Marker(i), Glyph::of(i), (x + 5.0, middle));
            for (n, line) in lines.iter().enumerate() {
                if n > 0 {
                    self.bottom += height;
                }
                let baseline = self.bottom + height / 2.0 + role.size() * 0.35;
                self.text(line, role, (x + MARK, baseline), Anchor::Start);
            }
            x += MARK + wide + GAP;
        }
        self.bottom += height;
    }

    fn marker(&mut self, ink: Ink, glyph: Glyph, at: Point) {
        self.push(Shape::Marker { ink, glyph, at, radius: 4.0, hint: String::new() });
    }

    /// Adds names centred at places, in as few rows as keep them apart, inside the sheet.
    pub fn remarks(&mut self, names: &[(f64, &str)]) {
        let role = Role::Remark;
        let mut rows: Vec<Vec<Rect>> = Vec::new();
        for (x, name) in names {
            for line in self.ruler.wrap(name, role, self.width) {
                let half = self.ruler.width(&line, role) / 2.0;
                let x = x.clamp(half, (self.width - half).max(half));
                let room =
                    Rect { left: x - half - 8.0, right: x + half + 8.0, top: 0.0, bottom: 1.0 };
                let free = rows.iter().position(|r| !r.iter().any(|o| o.overlaps(&room)));
                let row = free.unwrap_or(rows.len());
                if row == rows.len() {
                    rows.push(Vec::new());
                }
                rows[row].push(room);
                #[expect(clippy::cast_precision_loss, reason = "a handful of rows")]
                let y = self.bottom + row as f64 * role.line() + role.size();
                self.text(&line, role, (x, y), Anchor::Middle);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful of rows")]
        let height = rows.len() as f64 * role.line();
        self.bottom += height;
    }

    /// Adds the name of what only a number, from 1, stands for in the panel.
    pub fn numbered(&mut self, number: usize, name: &str) {
        let args = Args::new().count("number", number).name("name", name);
        self.paragraph(&say("drawn-numbered", args), Role::Remark);
    }

    /// Adds a sample of a line with what it stands for.
    pub fn explain(&mut self, ink: Ink, words: &str) {
        const SAMPLE: f64 = 24.0;
        let role = Role::Remark;
        let middle = self.bottom + role.line() / 2.0;
        self.push(Shape::Line(ink, vec![(0.0, middle), (SAMPLE, middle)]));
        for line in self.ruler.wrap(words, role, self.width - SAMPLE - 6.0) {
            let at = (SAMPLE + 6.0, self.bottom + role.size());
            self.text(&line, role, at, Anchor::Start);
            self.bottom += role.line();
        }
    }

    fn finish(self) -> Scene {
        Scene { width: self.width, height: (self.bottom + 4.0).ceil(), shapes: self.shapes }
    }
}

/// Moves intervals of the given centres and heights apart, inside `top..bottom`, in their order,
/// each as near to its wish as the ones above allow; returns the new centres.
pub fn spread(wishes: &[(f64, f64)], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by(|a, b| wishes[*a].0.total_cmp(&wishes[*b].0));
    let mut centres: Vec<f64> = wishes.iter().map(|w| w.0).collect();
    // Neighbours that overlap share the shift: relax pairwise, then enforce the edges.
    for _ in 0..40 {
        for pair in order.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let need = f64::midpoint(wishes[a].1, wishes[b].1) - (centres[b] - centres[a]);
            if need > 0.0 {
                centres[a] -= need / 2.0;
                centres[b] += need / 2.0;
            }
        }
    }
    let mut floor = top;
    for i in &order {
        centres[*i] = centres[*i].max(floor + wishes[*i].1 / 2.0);
        floor = centres[*i] + wishes[*i].1 / 2.0;
    }
    let mut ceiling = bottom;
    for i in order.iter().rev() {
        centres[*i] = centres[*i].min(ceiling - wishes[*i].1 / 2.0);
        ceiling = centres[*i] - wishes[*i].1 / 2.0;
    }
    centres
}

/// Which of the labels at these places to keep so that they stay `gap` apart: the first, the last,
/// and evenly spaced ones between. `half` is half the width of each label.
pub fn thinned(places: &[f64], half: &[f64], gap: f64) -> Vec<usize> {
    let n = places.len();
    let apart = |a: usize, b: usize| places[b] - half[b] - places[a] - half[a] >= gap;
    let fits = |kept: &[usize]| kept.windows(2).all(|w| apart(w[0], w[1]));
    // A stride that ends on the last label first, unless it leaves the two ends only.
    let even = (1..n.saturating_sub(1)).filter(|k| (n - 1).is_multiple_of(*k));
    for stride in even.chain(1..n) {
        let mut kept: Vec<usize> = (0..n).step_by(stride).collect();
        if kept.last() != Some(&(n - 1)) {
            kept.pop();
            kept.push(n - 1);
        }
        if fits(&kept) && (kept.len() > 2 || stride + 1 >= n) {
            return kept;
        }
    }
    (0..n.min(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_touch_move_apart_and_stay_inside() {
        let wishes = [(10.0, 16.0), (12.0, 16.0), (90.0, 16.0), (11.0, 16.0)];
        let placed = spread(&wishes, 0.0, 100.0);
        let mut sorted = placed.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 15.999), "{placed:?}");
        assert!(sorted[0] >= 8.0 && sorted[3] <= 92.0, "{placed:?}");
        assert!(placed[0] < placed[3] && placed[3] < placed[1], "order is kept: {placed:?}");
        assert!((placed[2] - 90.0).abs() < 1e-9, "a free label stays: {placed:?}");
    }

    #[test]
    fn thinned_ticks_keep_both_ends_and_even_steps() {
        let places: Vec<f64> = (0..13).map(|i| f64::from(i) * 20.0).collect();
        assert_eq!(thinned(&places, &[15.0; 13], 12.0), [0, 3, 6, 9, 12]);
        assert_eq!(thinned(&places, &[4.0; 13], 12.0).len(), 13);
        assert_eq!(thinned(&places[..12], &[15.0; 12], 12.0), [0, 3, 6, 11]);
        assert_eq!(thinned(&places[..1], &[15.0; 1], 12.0), [0]);
        assert!(thinned(&[], &[], 12.0).is_empty());
    }
}
