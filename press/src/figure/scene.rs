//! Knows the few primitives that a figure is drawn with, and where they touch. Knows no data.

/// A place in pixels; y grows downwards.
pub type Point = (f64, f64);

/// An upright rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Smallest x.
    pub left: f64,
    /// Smallest y.
    pub top: f64,
    /// Largest x.
    pub right: f64,
    /// Largest y.
    pub bottom: f64,
}

impl Rect {
    /// True if the two share area; touching edges do not count.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// The rectangle with a margin of `by` px on every side.
    pub fn grown(self, by: f64) -> Self {
        let (left, top) = (self.left - by, self.top - by);
        Self { left, top, right: self.right + by, bottom: self.bottom + by }
    }

    /// True if a part of the straight line from `a` to `b` lies inside (Liang-Barsky clipping).
    pub fn crossed_by(&self, a: Point, b: Point) -> bool {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let sides = [
            (-dx, a.0 - self.left),
            (dx, self.right - a.0),
            (-dy, a.1 - self.top),
            (dy, self.bottom - a.1),
        ];
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (p, q) in sides {
            if p == 0.0 && q <= 0.0 {
                return false;
            }
            if p < 0.0 {
                enter = enter.max(q / p);
            } else if p > 0.0 {
                leave = leave.min(q / p);
            }
        }
        enter < leave
    }
}

/// Which end of a text stands at its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at x.
    Start,
    /// x is its middle.
    Middle,
    /// The text ends at x.
    End,
}

/// What a text is for; size, weight and colour follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `Figure 3`.
    Kicker,
    /// The finding.
    Title,
    /// What is plotted.
    Subtitle,
    /// Quantity and unit of the panel.
    Heading,
    /// `higher is better`.
    Direction,
    /// A number on an axis, or the name of an axis.
    Tick,
    /// The name of a series, by its number.
    Label(usize),
    /// The name of a zone or a reference.
    Remark,
    /// The name of a row that no colour belongs to.
    Name,
    /// The value of a row.
    Value,
    /// The interval of a row, and the footnote.
    Note,
}

impl Role {
    /// Font size in px.
    pub const fn size(self) -> f64 {
        match self {
            Self::Title => 19.0,
            Self::Subtitle => 14.0,
            Self::Heading | Self::Direction | Self::Label(_) | Self::Name | Self::Value => 13.0,
            Self::Kicker | Self::Tick | Self::Remark => 12.0,
            Self::Note => 11.5,
        }
    }

    /// True for semi-bold.
    pub const fn bold(self) -> bool {
        matches!(self, Self::Kicker | Self::Title | Self::Heading | Self::Label(_) | Self::Value)
    }

    /// From one baseline to the next, px.
    pub fn line(self) -> f64 {
        (self.size() * 1.32).ceil()
    }
}

/// The shape of a marker, so that series differ without colour too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// Filled dot.
    Dot,
    /// Open square.
    OpenSquare,
    /// Filled triangle.
    Triangle,
    /// Open diamond.
    OpenDiamond,
    /// Filled square.
    Square,
    /// Open circle.
    OpenDot,
}

impl Glyph {
    /// The nearest outline: what a point of the series is drawn with where it is invalid.
    pub const fn outline(self) -> Self {
        match self {
            Self::OpenSquare | Self::Square => Self::OpenSquare,
            Self::Triangle | Self::OpenDiamond => Self::OpenDiamond,
            Self::Dot | Self::OpenDot => Self::OpenDot,
        }
    }

    /// The nearest filled shape: what a small mark of the series is drawn with.
    pub const fn filled(self) -> Self {
        match self {
            Self::OpenSquare | Self::Square => Self::Square,
            Self::Triangle => Self::Triangle,
            Self::OpenDiamond | Self::Dot | Self::OpenDot => Self::Dot,
        }
    }

    /// The marker of a series, by its number; six, then again from the first.
    pub const fn of(series: usize) -> Self {
        match series % 6 {
            0 => Self::Dot,
            1 => Self::OpenSquare,
            2 => Self::Triangle,
            3 => Self::OpenDiamond,
            4 => Self::Square,
            _ => Self::OpenDot,
        }
    }
}

/// What a stroke or an area is for; its look follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Hairline of the grid, tick of an axis.
    Grid,
    /// The line values start from.
    Base,
    /// Dashed line at a reference value.
    Reference,
    /// From a displaced label to its line.
    Leader,
    /// Shaded part; every second one a little darker.
    Zone(usize),
    /// Part where a series leads, in its colour.
    Lead(usize),
    /// Curve of a series.
    Curve(usize),
    /// Interval of a series as an area or a thin bar.
    Band(usize),
    /// Interval of a row, thick.
    Interval(usize),
    /// A marker of a series.
    Marker(usize),
    /// A single run.
    Run(usize),
    /// A point that must not be averaged in.
    Invalid,
    /// Interval of a row, thin.
    Whisker(usize),
    /// A line or a marker of no side.
    Neutral,
    /// Cell of a heatmap, by its step from 0 to 6; 3 is no change.
    Heat(usize),
    /// Cell of a heatmap whose ratio is not told from no change.
    Open,
    /// Cell without a colour, and the lines over it.
    Hatch,
    /// A bar that stands on zero.
    Bar(usize),
    /// A bar that goes on where another ended.
    Part(usize),
    /// The interval at the end of a bar.
    Span,
    /// From one visit of a series to its next.
    Thread(usize),
    /// A line that no point can be above.
    Roof,
}

/// A line of text with the room it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Which end stands at `at`.
    pub anchor: Anchor,
    /// Anchor on the baseline.
    pub at: Point,
    /// What it is for.
    pub role: Role,
    /// Conservative width in px.
    pub width: f64,
    /// The words.
    pub words: String,
}

impl Text {
    /// The room it takes: ascent 0.8 em, descent 0.22 em.
    pub fn bounds(&self) -> Rect {
        let left = match self.anchor {
            Anchor::Start => self.at.0,
            Anchor::Middle => self.at.0 - self.width / 2.0,
            Anchor::End => self.at.0 - self.width,
        };
        let size = self.role.size();
        Rect {
            left,
            top: self.at.1 - 0.8 * size,
            right: left + self.width,
            bottom: self.at.1 + 0.22 * size,
        }
    }
}

/// One primitive.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line of text.
    Text(Text),
    /// An open line through points.
    Line(Ink, Vec<Point>),
    /// A closed area.
    Area(Ink, Vec<Point>),
    /// An upright rectangle, and what a pointer resting on it is told.
    Bar {
        /// Look.
        ink: Ink,
        /// Where.
        room: Rect,
        /// Position, value and interval; empty where it stands for none.
        hint: String,
    },
    /// A marker, its radius in px, and what a pointer resting on it is told.
    Marker {
        /// Look.
        ink: Ink,
        /// Shape.
        glyph: Glyph,
        /// Centre.
        at: Point,
        /// Half its height, px.
        radius: f64,
        /// Position, value and interval; empty for a single run.
        hint: String,
    },
}

/// A figure with every primitive in its place, back to front.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width in px.
    pub width: f64,
    /// Height in px.
    pub height: f64,
    /// Primitives, back to front.
    pub shapes: Vec<Shape>,
}
