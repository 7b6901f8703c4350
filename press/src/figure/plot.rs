//! Knows a panel with a quantity along both axes: its edges, the axis below it, and where in it a
//! name is free to stand. Knows no kind of figure.

use super::layout::{Sheet, thinned};
use super::model::{Axis, Figure, Mark};
use super::projection::{Projection, ValueAxis};
use super::scene::{Anchor, Ink, Point, Rect, Role, Shape};
use super::sweep::Frame;

/// From the edge of the panel to the first and last point, px.
pub const INSET: f64 = 8.0;

/// The panel right of its tick texts, with `margin` px free at its right. It stands at the top of
/// the sheet until [`stand`] moves it.
pub fn frame(sheet: &Sheet, x: &ValueAxis, y: &ValueAxis, margin: f64) -> Frame {
    let tick = |t: &(f64, String)| sheet.ruler.width(&t.1, Role::Tick);
    let left = y.ticks.iter().map(tick).fold(0.0, f64::max) + 8.0;
    let right = sheet.width - margin;
    let range = (left + INSET, right - INSET);
    let x = Projection { log: x.log, domain: x.domain, range };
    let y = Projection { log: y.log, domain: y.domain, range: (0.0, 0.0) };
    Frame { left, right, top: 0.0, bottom: 0.0, x, y }
}

/// Puts the panel at a height.
pub fn stand(frame: &mut Frame, top: f64, height: f64) {
    (frame.top, frame.bottom) = (top, top + height);
    frame.y.range = (frame.bottom, frame.top);
}

/// Ticks and the name of the axis below the panel.
pub fn below(sheet: &mut Sheet, axis: &Axis, scale: &ValueAxis, frame: &Frame) {
    let y = frame.bottom;
    let places: Vec<f64> = scale.ticks.iter().map(|t| frame.x.place(t.0)).collect();
    let half: Vec<f64> =
        scale.ticks.iter().map(|t| sheet.ruler.width(&t.1, Role::Tick) / 2.0).collect();
    sheet.push(Shape::Line(Ink::Base, vec![(frame.left, y), (frame.right, y)]));
    for i in thinned(&places, &half, 12.0) {
        sheet.push(Shape::Line(Ink::Base, vec![(places[i], y), (places[i], y + 4.0)]));
        let x = places[i].clamp(half[i], (sheet.width - half[i]).max(half[i]));
        sheet.text(&scale.ticks[i].1, Role::Tick, (x, y + 18.0), Anchor::Middle);
    }
    sheet.bottom = y + 22.0;
    let name = name(axis, scale);
    if sheet.ruler.width(&name, Role::Tick) > frame.right {
        sheet.paragraph(&name, Role::Tick);
    } else if !name.is_empty() {
        sheet.bottom += Role::Tick.line();
        sheet.text(&name, Role::Tick, (frame.right, sheet.bottom - 3.0), Anchor::End);
    }
}

/// Quantity, unit and direction of an axis: `latency, ms, lower is better`.
pub fn name(axis: &Axis, scale: &ValueAxis) -> String {
    let parts = [axis.label.trim(), &scale.unit, axis.direction.trim()];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Centre and, if it has one, interval of a mark, as its hint says them.
pub fn value(figure: &Figure, mark: &Mark) -> String {
    let centre = figure.value(mark.centre);
    if mark.low == mark.centre && mark.high == mark.centre {
        return centre.to_string();
    }
    let range = desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    format!("{centre} ({range})")
}

/// A wrapped name, not yet placed.
pub struct Words {
    lines: Vec<String>,
    role: Role,
    width: f64,
}

impl Words {
    /// Wraps a name to a width in px.
    pub fn new(sheet: &Sheet, text: &str, role: Role, limit: f64) -> Self {
        let lines = sheet.ruler.wrap(text, role, limit);
        let width = lines.iter().map(|l| sheet.ruler.width(l, role)).fold(0.0, f64::max);
        Self { lines, role, width }
    }

    /// How many lines it takes.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Width and height in px.
    pub fn size(&self) -> (f64, f64) {
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let more = self.lines.len().saturating_sub(1) as f64;
        (self.width, 1.02 * self.role.size() + more * self.role.line())
    }

    /// The room it takes with its upper left corner at a point.
    pub fn room(&self, (left, top): Point) -> Rect {
        let (width, height) = self.size();
        Rect { left, top, right: left + width, bottom: top + height }
    }

    /// Writes it into its room, against the left or the right side of it.
    pub fn write(&self, sheet: &mut Sheet, room: &Rect, anchor: Anchor) {
        let x = match anchor {
            Anchor::Start => room.left,
            Anchor::Middle => f64::midpoint(room.left, room.right),
            Anchor::End => room.right,
        };
        let mut y = room.top + 0.8 * self.role.size();
        for line in &self.lines {
            sheet.text(line, self.role, (x, y), anchor);
            y += self.role.line();
        }
    }
}

/// What a name in the panel keeps clear of.
pub struct Clear {
    /// Stretches of lines.
    pub lines: Vec<(Point, Point)>,
    /// Markers, and names that have their place.
    pub rooms: Vec<Rect>,
    /// The room inside which it must stay.
    pub within: Rect,
}

impl Clear {
    /// Nothing yet but the panel itself.
    pub const fn of(frame: &Frame) -> Self {
        let (left, right) = (frame.left, frame.right);
        let within = Rect { left, right, top: frame.top, bottom: frame.bottom };
        Self { lines: Vec::new(), rooms: Vec::new(), within }
    }

    /// Adds a line through points.
    pub fn line(&mut self, points: &[Point]) {
        self.lines.extend(points.windows(2).map(|w| (w[0], w[1])));
    }

    /// Adds a marker.
    pub fn marker(&mut self, (x, y): Point, radius: f64) {
        let point = Rect { left: x, right: x, top: y, bottom: y };
        self.rooms.push(point.grown(radius));
    }

    /// True if nothing comes nearer than `margin` px.
    pub fn free(&self, room: Rect, margin: f64) -> bool {
        let wide = room.grown(margin);
        let edge = self.within;
        room.left >= edge.left
            && room.right <= edge.right
            && room.top >= edge.top
            && room.bottom <= edge.bottom
            && !self.lines.iter().any(|(a, b)| wide.crossed_by(*a, *b))
            && !self.rooms.iter().any(|r| r.overlaps(&wide))
    }
}

/// The four sides of a room, as stretches of lines.
pub fn sides(room: &Rect) -> [(Point, Point); 4] {
    let [a, b] = [(room.left, room.top), (room.right, room.top)];
    let [c, d] = [(room.right, room.bottom), (room.left, room.bottom)];
    [(a, b), (b, c), (c, d), (d, a)]
}
