//! Knows how a value becomes a place on an axis, and which values get a tick. Knows no text sizes.

use super::model::{Figure, FigureKind, Mark, Scale};
use desk::unit::{Quantity, Unit, axis_scale};

/// Maps values of one axis to places, in any unit of length.
#[derive(Clone, Copy, Debug)]
pub struct Projection {
    /// Equal ratios instead of equal steps.
    pub log: bool,
    /// Values at the two ends.
    pub domain: (f64, f64),
    /// Places of the two ends.
    pub range: (f64, f64),
}

impl Projection {
    /// The place of a value; a value outside the domain stands at the nearer end.
    pub fn place(&self, value: f64) -> f64 {
        let warp = |v: f64| if self.log { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let (low, high) = (warp(self.domain.0), warp(self.domain.1));
        let share = if high > low { (warp(value) - low) / (high - low) } else { 0.5 };
        self.range.0 + share.clamp(0.0, 1.0) * (self.range.1 - self.range.0)
    }
}

/// The position axis of a sweep over the given places.
pub fn positions(figure: &Figure, range: (f64, f64)) -> Projection {
    let xs = figure.positions();
    let domain = xs.first().copied().zip(xs.last().copied()).unwrap_or((0.0, 0.0));
    let log = figure.x.scale != Scale::Linear && domain.0 > 0.0;
    Projection { log, domain, range }
}

/// The value axis: its domain, its ticks as text, its unit said once.
#[derive(Clone, Debug)]
pub struct ValueAxis {
    /// Equal ratios instead of equal steps.
    pub log: bool,
    /// Values at the two ends.
    pub domain: (f64, f64),
    /// Value and text of every tick, rising.
    pub ticks: Vec<(f64, String)>,
    /// Unit with the prefix of this axis; empty for a count or a ratio.
    pub unit: String,
    /// What values are divided by before they are written.
    pub divisor: f64,
}

impl ValueAxis {
    /// The axis of a figure, with about `wanted` steps.
    pub fn of(figure: &Figure, wanted: f64) -> Self {
        let mut extent = extent(figure);
        let log = figure.y.scale != Scale::Linear && extent.0 > 0.0;
        let (divisor, mut unit) = axis_scale(figure.value(extent.1.abs().max(extent.0.abs())));
        if figure.y.unit == Unit::Ratio {
            unit.clear();
        }
        let suffix = if figure.y.unit == Unit::Ratio { "×" } else { "" };
        extent = (extent.0 / divisor, extent.1 / divisor);
        let (domain, ticks) = if log { decades(extent) } else { steps(figure, extent, wanted) };
        let ticks = ticks.into_iter().map(|(v, t)| (v * divisor, t + suffix)).collect();
        let mut domain = (domain.0 * divisor, domain.1 * divisor);
        if figure.kind == FigureKind::Sweep {
            // Room for the name above a dashed line; the grid need not reach so far.
            let above = |v: f64| if log { v * 1.5 } else { v + 0.1 * (v - domain.0) };
            let named = figure.drawn_references().map(|r| above(r.value));
            domain.1 = named.fold(domain.1, f64::max);
        }
        Self { log, domain, ticks, unit, divisor }
    }

    /// Quantity and unit, first letter raised: `Throughput, Gbit/s`.
    pub fn heading(&self, figure: &Figure) -> String {
        let label = figure.y.label.trim();
        let mut letters = label.chars();
        let raised: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        let label = raised + letters.as_str();
        match (label.as_str(), self.unit.as_str()) {
            (_, "") => label,
            ("", unit) => unit.to_owned(),
            (label, unit) => format!("{label}, {unit}"),
        }
    }

    /// The centre of a mark as text on this axis, as fine as its interval is written.
    pub fn beside(&self, figure: &Figure, mark: &Mark) -> String {
        let centre = figure.value(mark.centre);
        match centre.unit {
            Unit::Ratio => desk::unit::show_centre(centre, (mark.low, mark.high)),
            _ => self.text(centre),
        }
    }

    /// A value as text on this axis, without the unit that the heading says.
    pub fn text(&self, quantity: Quantity) -> String {
        if quantity.unit == Unit::Ratio {
            return quantity.to_string();
        }
        desk::unit::plain(quantity.value / self.divisor)
    }
}

/// True if nothing of a mark would be drawn at infinity.
pub fn drawable(mark: &Mark) -> bool {
    [mark.x, mark.centre, mark.low, mark.high].iter().all(|v| v.is_finite())
}

/// Smallest and largest value that must be on the axis.
fn extent(figure: &Figure) -> (f64, f64) {
    let mut values = Vec::new();
    for mark in figure.series.iter().flat_map(|s| &s.marks).filter(|m| drawable(m)) {
        values.extend([mark.low, mark.centre, mark.high]);
        if matches!(figure.kind, FigureKind::Dots | FigureKind::Groups) {
            values.extend(&mark.runs);
        }
    }
    values.extend(figure.drawn_references().map(|r| r.value));
    values.retain(|v| v.is_finite());
    if values.is_empty() {
        return (0.0, 1.0);
    }
    let fold = |start, f: fn(f64, f64) -> f64| values.iter().copied().fold(start, f);
    let (low, mut high) = (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max));
    // An interval may reach beyond the whole; the axis of a share does not.
    let mut marks = figure.series.iter().flat_map(|s| &s.marks);
    if figure.y.unit == Unit::Share && marks.all(|m| m.centre <= 1.0) {
        high = high.min(1.0);
    }
    (low, high)
}

/// The ends of an axis, and value and text of every tick.
pub(super) type Ticks = ((f64, f64), Vec<(f64, String)>);

/// Round steps. From zero, except where dots lie so close that zero would hide their differences:
/// a dot shows a position, not a length.
fn steps(figure: &Figure, (low, high): (f64, f64), wanted: f64) -> Ticks {
    let dots = matches!(figure.kind, FigureKind::Dots | FigureKind::Groups);
    let close = dots && low > 0.0 && high - low < 0.4 * high;
    let low = if close && high > low { low } else { low.min(0.0) };
    let high = if high > low { high } else { low + 1.0 };
    even((low, high), wanted)
}

/// Round steps that hold the extent, which must not be empty.
pub(super) fn even((low, high): (f64, f64), wanted: f64) -> Ticks {
    let step = round_step((high - low) / wanted.max(2.0));
    let (from, to) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    let decimals = decimals(step);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few steps")]
    let count = (to - from).clamp(1.0, 50.0) as u32;
    let ticks = (0..=count)
        .map(|i| (from + f64::from(i)) * step)
        .map(|v| (v, format!("{:.decimals$}", if v.abs() < step / 2.0 { 0.0 } else { v })))
        .collect();
    ((from * step, to * step), ticks)
}

/// The next of 1, 2, 2.5, 5, 10 times a power of ten.
pub(super) fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let digit = rough / power;
    let round = [1.0, 2.0, 2.5, 5.0].into_iter().find(|r| digit <= r + 1e-9).unwrap_or(10.0);
    round * power
}

fn decimals(step: f64) -> usize {
    (0..9).find(|d| (step * 10_f64.powi(*d)).fract().abs() < 1e-6).map_or(9, |d| d as usize)
}

/// Ends at the 1, 2 or 5 next to the data; ticks there in each decade, beyond three decades at 1.
pub(super) fn decades((low, high): (f64, f64)) -> Ticks {
    #[expect(clippy::cast_possible_truncation, reason = "an f64 spans 616 decades")]
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all: Vec<(f64, f64)> = (first..=last)
        .flat_map(|d| [1.0, 2.0, 5.0].map(|digit| (digit, digit * 10_f64.powi(d))))
        .collect();
    let below = all.iter().rposition(|v| v.1 <= low * (1.0 + 1e-9)).unwrap_or(0);
    let above = all.iter().position(|v| v.1 >= high * (1.0 - 1e-9)).unwrap_or(all.len() - 1);
    let kept = &all[below..=above.max(below)];
    let domain = (kept[0].1, kept[kept.len() - 1].1);
    let sparse = domain.1 / domain.0 > 1000.0;
    let text = |v: f64| format!("{}", (v * 1e9).round() / 1e9);
    let ticks = kept.iter().filter(|(digit, _)| !sparse || *digit < 2.0);
    (domain, ticks.map(|(_, v)| (*v, text(*v))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_hold_the_data() {
        for (rough, step) in [(0.23, 0.25), (1.0, 1.0), (3.1, 5.0), (70.0, 100.0)] {
            assert!((round_step(rough) - step).abs() < 1e-12, "{rough}");
        }
        assert_eq!([decimals(0.25), decimals(0.1), decimals(5.0)], [2, 1, 0]);
    }

    #[test]
    fn many_decades_end_next_to_the_data_and_are_marked_at_their_ones() {
        let (domain, ticks) = decades((0.43, 1700.0));
        assert_eq!(domain, (0.2, 2000.0));
        let texts: Vec<&str> = ticks.iter().map(|t| t.1.as_str()).collect();
        assert_eq!(texts, ["1", "10", "100", "1000"]);
    }

    #[test]
    fn decades_hold_the_data() {
        let (domain, ticks) = decades((0.03, 7.0));
        assert!(domain.0 <= 0.03 && domain.1 >= 7.0);
        let texts: Vec<&str> = ticks.iter().map(|t| t.1.as_str()).collect();
        assert_eq!(texts, ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"]);
    }
}
