//! Knows the axes of figures that have a quantity along both: steps, doublings, decades, nines and
//! the clock.
//!
//! Knows no text sizes.

use super::model::{Axis, Scale};
use super::projection::{ValueAxis, decades, even};
use desk::unit::{Quantity, Unit, axis_scale};

/// An axis that spans more than this ratio writes the prefix at every tick.
const ONE_PREFIX: f64 = 1000.0;

/// The axis that holds `extent` (base unit) in about `wanted` steps.
///
/// Equal steps begin at zero unless that would hide the differences of what is shown.
pub fn quantities(axis: &Axis, extent: (f64, f64), wanted: f64) -> ValueAxis {
    if axis.scale == Scale::Linear || extent.0 <= 0.0 {
        return steps(axis, extent, wanted);
    }
    if axis.unit == Unit::Byte { doublings(axis, extent, wanted) } else { ratios(axis, extent) }
}

/// The same for values that are places and no lengths: no zero is added to them.
pub fn places(axis: &Axis, extent: (f64, f64), wanted: f64) -> ValueAxis {
    let (low, high) = extent;
    match axis.scale == Scale::Linear && low > 0.0 && high > low {
        true => spaced(axis, extent, wanted),
        false => quantities(axis, extent, wanted),
    }
}

/// A logarithmic axis cut to an extent, with the ticks inside it, if two are left.
pub fn trimmed(mut axis: ValueAxis, extent: (f64, f64)) -> ValueAxis {
    let inside = |t: &&(f64, String)| (extent.0..=extent.1).contains(&t.0);
    let ticks: Vec<(f64, String)> = axis.ticks.iter().filter(inside).cloned().collect();
    if axis.log && ticks.len() > 1 {
        (axis.domain, axis.ticks) = (extent, ticks);
    }
    axis
}

/// Smallest and largest of the finite values; 0 to 1 if there are none.
pub fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .filter(|v| v.is_finite())
        .map(|v| (v, v))
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        .unwrap_or((0.0, 1.0))
}

fn steps(axis: &Axis, (low, high): (f64, f64), wanted: f64) -> ValueAxis {
    let close = low > 0.0 && high > low && high - low < 0.4 * high;
    let low = if close { low } else { low.min(0.0) };
    let high = if high > low { high } else { low + 1.0 };
    spaced(axis, (low, high), wanted)
}

/// Round steps over an extent that is not empty.
fn spaced(axis: &Axis, (low, high): (f64, f64), wanted: f64) -> ValueAxis {
    let (divisor, unit) = prefix(axis, high.abs().max(low.abs()));
    let (domain, ticks) = even((low / divisor, high / divisor), wanted);
    scaled((false, divisor, unit), domain, ticks)
}

fn ratios(axis: &Axis, extent: (f64, f64)) -> ValueAxis {
    let (divisor, unit) = prefix(axis, extent.1);
    let (domain, ticks) = decades((extent.0 / divisor, extent.1 / divisor));
    let mut all = scaled((true, divisor, unit), domain, ticks);
    if domain.1 / domain.0 > ONE_PREFIX {
        all.ticks.iter_mut().for_each(|t| t.1 = axis.tick_text(t.0));
        all.unit.clear();
    }
    all
}

/// Powers of two, the same number of doublings apart.
fn doublings(axis: &Axis, (low, high): (f64, f64), wanted: f64) -> ValueAxis {
    let (first, last) = (low.log2().floor(), high.log2().ceil());
    let stride = ((last - first) / wanted.max(2.0)).ceil().max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few ticks")]
    let count = ((last - first) / stride).floor().clamp(0.0, 50.0) as u32;
    let ticks = (0..=count)
        .map(|i| (first + f64::from(i) * stride).exp2())
        .map(|v| (v, axis.tick_text(v)))
        .collect();
    let domain = (first.exp2(), last.exp2());
    ValueAxis { log: true, domain, ticks, unit: String::new(), divisor: 1.0 }
}

/// Divisor and unit of an axis; a ratio says its sign at every tick instead.
fn prefix(axis: &Axis, largest: f64) -> (f64, String) {
    let (divisor, unit) = axis_scale(Quantity::new(largest, axis.unit));
    (divisor, if axis.unit == Unit::Ratio { "×".into() } else { unit })
}

fn scaled(
    (log, divisor, unit): (bool, f64, String),
    domain: (f64, f64),
    ticks: Vec<(f64, String)>,
) -> ValueAxis {
    let (unit, suffix) = if unit == "×" { (String::new(), "×") } else { (unit, "") };
    let ticks = ticks.into_iter().map(|(v, t)| (v * divisor, t + suffix)).collect();
    let domain = (domain.0 * divisor, domain.1 * divisor);
    ValueAxis { log, domain, ticks, unit, divisor }
}

/// Seconds since a start, in about `wanted` steps, in s, min or h, whichever a reader would say.
pub fn clock(last: f64, wanted: f64) -> ValueAxis {
    const STEPS: [f64; 18] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
        10_800.0, 21_600.0, 43_200.0, 86_400.0,
    ];
    let last = if last > 0.0 { last } else { 1.0 };
    let rough = last / wanted.max(2.0);
    let days = 86_400.0 * (rough / 86_400.0).ceil();
    let step = STEPS.into_iter().find(|s| *s >= rough).unwrap_or(days);
    if last < 2.0 {
        let axis = Axis {
            label: String::new(),
            unit: Unit::Second,
            scale: Scale::Linear,
            direction: String::new(),
            names: Vec::new(),
        };
        return steps(&axis, (0.0, last), wanted);
    }
    let (divisor, unit) = match last {
        s if s < 180.0 => (1.0, "s"),
        s if s < 10_800.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few ticks")]
    let count = (last / step).floor().clamp(0.0, 50.0) as u32;
    let text = |v: f64| ((v / divisor * 1e3).round() / 1e3).to_string();
    let ticks = (0..=count).map(|i| f64::from(i) * step).map(|v| (v, text(v))).collect();
    ValueAxis { log: false, domain: (0.0, last), ticks, unit: unit.into(), divisor }
}

/// How high a share stands: evenly, or with equal room for every nine (90 %, 99 %, 99.9 %).
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// The least rest that is told apart; none where shares stand evenly.
    rest: Option<f64>,
}

impl Shares {
    /// Nines if the axis is one of ratios, as many as it takes for the largest share below 1.
    pub fn of(axis: &Axis, shares: impl Iterator<Item = f64>) -> Self {
        if axis.scale == Scale::Linear {
            return Self { rest: None };
        }
        let rests = shares.map(|s| 1.0 - s).filter(|r| *r > 1e-9 && *r <= 1.0);
        let least = rests.fold(0.1, f64::min);
        let nines = (-least.log10() - 1e-9).ceil().clamp(1.0, 9.0);
        Self { rest: Some(10_f64.powf(-nines)) }
    }

    /// What stands for a share on the axis: itself, or one in how many is beyond it.
    pub fn lift(self, share: f64) -> f64 {
        self.rest.map_or(share, |rest| 1.0 / (1.0 - share).max(rest))
    }

    /// The axis, its values lifted.
    pub fn axis(self) -> ValueAxis {
        let Some(rest) = self.rest else {
            let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|s| (s, format!("{:.0}", s * 100.0)));
            let (log, domain, ticks) = (false, (0.0, 1.0), ticks.to_vec());
            return ValueAxis { log, domain, ticks, unit: "%".into(), divisor: 0.01 };
        };
        let mut ticks = vec![(1.0, "0".to_owned()), (2.0, "50".to_owned())];
        let mut beyond = 10.0;
        while beyond <= 1.001 / rest {
            let decimals = if beyond < 1000.0 { 0 } else { beyond.log10().round() as usize - 2 };
            ticks.push((beyond, format!("{:.decimals$}", 100.0 * (1.0 - 1.0 / beyond))));
            beyond *= 10.0;
        }
        let domain = (1.0, 1.0 / rest);
        ValueAxis { log: true, domain, ticks, unit: "%".into(), divisor: 0.01 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(unit: Unit, scale: Scale) -> Axis {
        let (label, direction) = (String::new(), String::new());
        Axis { label, unit, scale, direction, names: Vec::new() }
    }

    fn texts(axis: &ValueAxis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.1.as_str()).collect()
    }

    #[test]
    fn the_clock_steps_as_a_reader_counts() {
        let hour = clock(2900.0, 5.0);
        assert_eq!((texts(&hour), hour.unit.as_str()), (vec!["0", "10", "20", "30", "40"], "min"));
        assert_eq!(texts(&clock(100.0, 5.0)), ["0", "30", "60", "90"]);
        assert_eq!(texts(&clock(40_000.0, 4.0)), ["0", "3", "6", "9"]);
        assert_eq!(clock(0.0, 4.0).domain, (0.0, 1.0));
    }

    #[test]
    fn every_nine_has_equal_room() {
        let shares = Shares::of(&axis(Unit::Share, Scale::Log10), [0.5, 0.9993, 1.0].into_iter());
        assert_eq!(texts(&shares.axis()), ["0", "50", "90", "99", "99.9", "99.99"]);
        assert!((shares.lift(0.99) - 100.0).abs() < 1e-9);
        assert!((shares.lift(1.0) - 1e4).abs() < 1e-6, "the whole stands at the top");
        let even = Shares::of(&axis(Unit::Share, Scale::Linear), [0.9993].into_iter());
        assert_eq!(texts(&even.axis()), ["0", "25", "50", "75", "100"]);
    }

    #[test]
    fn many_decades_say_their_prefix_at_every_tick() {
        let wide = quantities(&axis(Unit::Second, Scale::Log10), (2e-6, 0.9), 5.0);
        assert!(texts(&wide).contains(&"10 µs") && wide.unit.is_empty(), "{wide:?}");
        let bytes = quantities(&axis(Unit::Byte, Scale::Log2), (64.0, 65536.0), 5.0);
        assert_eq!(texts(&bytes), ["64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB"]);
    }
}
