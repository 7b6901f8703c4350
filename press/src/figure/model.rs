//! Knows what a figure means: axes, series, intervals, what is said beside them. Knows no pixels.
//!
//! One value of [`Figure`] becomes SVG, braille, alt text and CSV; nothing else draws.

use desk::unit::{Quantity, Unit, axis_scale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How positions along an axis are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps, from zero.
    Linear,
    /// Equal ratios; ticks on the measured values only (powers of two for sizes).
    Log2,
    /// Equal ratios; ticks at 1, 2, 5 per decade.
    Log10,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// What is along it: `request size`, `throughput`.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Spacing.
    pub scale: Scale,
    /// `higher is better` and the like; empty where neither is.
    pub direction: String,
    /// Names of the positions, where they are no quantities: position `i` is the i-th name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl Axis {
    /// A position as text: `256 KiB`, but `1500 B`, because 1.46 KiB is not what was asked for.
    #[must_use]
    pub fn tick_text(&self, value: f64) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        if let Some(name) = self.names.get(value.max(0.0) as usize) {
            return name.clone();
        }
        let (divisor, _) = axis_scale(Quantity::new(value, self.unit));
        let whole = |v: f64| v.fract() == 0.0;
        if self.unit == Unit::Byte && whole(value) && !whole(value / divisor) && value < 1e5 {
            return format!("{value:.0} {}", self.unit.symbol());
        }
        Quantity::new(value, self.unit).to_string()
    }
}

/// One measured position with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// Position along x, in the base unit of the x axis.
    pub x: f64,
    /// Centre.
    pub centre: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Every single trial behind the centre.
    pub runs: Vec<f64>,
    /// False for a point that must not be averaged in; drawn hollow grey.
    pub valid: bool,
}

/// A line of marks (sweep) or a row of one mark (dots).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Direct label; also the row's name in a dot figure.
    pub name: String,
    /// Marks in order of x.
    pub marks: Vec<Mark>,
}

/// A part of the x axis (sweep) that is shaded and named, for instance `pro1000 ahead`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Zone {
    /// Start, base unit of x.
    pub from: f64,
    /// End, base unit of x.
    pub to: f64,
    /// Name.
    pub name: String,
    /// Place of the series that leads there, whose colour it has, if one does.
    pub leader: Option<usize>,
}

/// A dashed line at a value: line rate, or ratio 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// Value on the value axis.
    pub value: f64,
    /// Name.
    pub name: String,
}

/// A line that no point can be above: the lower of a slope through the origin and a ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roof {
    /// Base unit of y per base unit of x; none for a level roof.
    pub slope: Option<f64>,
    /// Level in the base unit of y; none for a slope without end.
    pub ceiling: Option<f64>,
    /// Name.
    pub name: String,
}

/// What is drawn, and what series and marks mean in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Lines over a swept parameter, with interval bands. Value axis is y.
    Sweep,
    /// One row a series: every run as a dot, the centre and its interval. Value axis is x.
    Dots,
    /// A group of rows for each name of the x axis, in it a row a series with every run as a dot;
    /// `x` of a mark is the number of its group. Value axis is x.
    Groups,
    /// One row a series of one mark: a ratio with its interval on a logarithmic value axis beside
    /// the line of no change; zones lie on the value axis (the margin). Value axis is x.
    Forest,
    /// A cell for each name of the x axis and each series: the ratio in words, and as a colour
    /// where its interval leaves out 1 or lies within the zone that holds 1 (the margin); invalid
    /// cells are hatched.
    Heatmap,
    /// Shares of what is at most so large: `x` of a mark is the value, its centre the share from 0
    /// to 1, marks in order of x. Where low and high equal the centre throughout a series, its
    /// marks are the steps of a distribution: the share jumps at `x`. Else they are points of a
    /// curve, and low and high bound the share at `x`. References lie on the shares (0.5, 0.99),
    /// zones on x. A y axis that is not linear has equal room for each nine: 90 %, 99 %, 99.9 %.
    Percentile,
    /// Every visit at the time it began: `x` is s since the run began, the centre its value. No
    /// band. The visits of a series that count and are valid are joined in order of x; a visit
    /// with no `runs` beside others that have them is dry: it is small and joined to nothing.
    /// Zones are disturbances, in s since the run began; those of one name are one kind.
    Timeline,
    /// Bars that go on where the one above ended: a series of one mark a step, its bar from `x` to
    /// the centre (unit of y), low and high bound the centre. The first and the last stand on zero
    /// (`x` = 0) and are wholes: what it was before, and what it is in the end. Parts that add up
    /// to one whole begin with a first of nothing. Value axis is x.
    Waterfall,
    /// Points under [`Roof`]s, both axes logarithmic whatever their scale says (bytes in powers of
    /// two). A point is bound by the roof that is lowest at its `x`; within a zone, which lies on
    /// `x`, no roof binds, and all are marks of height.
    Roofline,
    /// One small line without axes, for a table or a line of text.
    Sparkline,
}

impl FigureKind {
    /// Whether values lie along x and each series has rows of its own.
    #[must_use]
    pub const fn by_rows(self) -> bool {
        matches!(self, Self::Dots | Self::Groups | Self::Forest | Self::Heatmap | Self::Waterfall)
    }
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Anchor, for instance `fig-transmit`.
    pub id: String,
    /// Number in the report, from 1.
    pub number: u32,
    /// What is drawn.
    pub kind: FigureKind,
    /// The finding, as a sentence.
    pub title: String,
    /// What is plotted, and under which condition.
    pub subtitle: String,
    /// Position axis; unused by [`FigureKind::Dots`].
    pub x: Axis,
    /// Value axis.
    pub y: Axis,
    /// Series, the baseline first.
    pub series: Vec<Series>,
    /// Shaded parts, not overlapping.
    pub zones: Vec<Zone>,
    /// Dashed lines.
    pub references: Vec<Reference>,
    /// Roofs of a [`FigureKind::Roofline`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roofs: Vec<Roof>,
    /// n, order of the trials, kind of interval, run.
    pub footnote: String,
}

impl Figure {
    /// A row a series along one value axis, in the article on a run; without texts.
    #[must_use]
    pub fn dots((run, number): (&str, u32), axis: Axis, series: Vec<Series>) -> Self {
        Self {
            id: format!("fig-{run}-{number}"),
            number,
            kind: FigureKind::Dots,
            title: String::new(),
            subtitle: String::new(),
            x: axis.clone(),
            y: axis,
            series,
            zones: Vec::new(),
            references: Vec::new(),
            roofs: Vec::new(),
            footnote: String::new(),
        }
    }

    /// A value of the value axis as a quantity.
    #[must_use]
    pub const fn value(&self, value: f64) -> Quantity {
        Quantity::new(value, self.y.unit)
    }

    /// The references that have a place on an axis: a value that is a number.
    pub(super) fn drawn_references(&self) -> impl Iterator<Item = &Reference> {
        self.references.iter().filter(|r| r.value.is_finite())
    }

    /// The zones that have a place on an axis.
    pub(super) fn drawn_zones(&self) -> impl Iterator<Item = &Zone> {
        self.zones.iter().filter(|z| z.from.is_finite() && z.to.is_finite())
    }

    /// Every measured position of every series, in order, each once, in the base unit of x.
    #[must_use]
    pub fn positions(&self) -> Vec<f64> {
        let marks = self.series.iter().flat_map(|s| &s.marks);
        let mut xs: Vec<f64> = marks.map(|m| m.x).filter(|x| x.is_finite()).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }
}
