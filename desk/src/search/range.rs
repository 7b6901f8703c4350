//! Knows how the largest load is found that keeps a limit, between two bounds.
//!
//! Never: what the load or the figure is, nor how many trials a load is judged by.

use super::{Next, Step};

/// Between which loads the answer is sought, and how finely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least and the largest load, both above 0; in the unit of the load.
    pub within: [f64; 2],
    /// How far apart, as a share, the largest load that keeps the limit and the smallest that
    /// breaks it may be at the end: 0.02.
    pub resolution: f64,
    /// Whether loads are whole numbers.
    pub whole: bool,
    /// Most steps.
    pub steps: usize,
}

/// Which figures are good enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Within {
    /// The last good one.
    pub limit: f64,
    /// Whether figures from the limit on are good, and not those up to it.
    pub at_least: bool,
}

impl Within {
    /// Whether a figure is good enough; what is no number is not.
    pub(super) fn holds(self, figure: f64) -> bool {
        if self.at_least { figure >= self.limit } else { figure <= self.limit }
    }
}

/// What one load came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Met,
    Missed,
    Doubtful,
}

/// The next load to try, or the largest that met the limit; none where even the least missed it.
/// The first load is `first`; `outcome` judges a load by the figures of its trials.
///
/// Where figures are not monotone, the answer lies below the smallest load that missed. When the
/// steps are used up it is the largest load that had met the limit by then.
pub(super) fn largest(
    steps: &[Step],
    range: &Range,
    first: f64,
    outcome: impl Fn(&[f64]) -> Outcome,
) -> Next {
    let [least, most] = range.within;
    let mut tried: Vec<f64> = steps.iter().map(|step| step.load).collect();
    tried.sort_by(f64::total_cmp);
    tried.dedup();
    let figures = |load: f64| -> Vec<f64> {
        let here = steps.iter().filter(|step| step.load.to_bits() == load.to_bits());
        here.map(|step| step.figure).collect()
    };
    let seen: Vec<(f64, Outcome)> =
        tried.iter().map(|load| (*load, outcome(&figures(*load)))).collect();
    let missed = seen.iter().find(|(_, outcome)| *outcome == Outcome::Missed).map(|(at, _)| *at);
    let below = |at: f64| missed.is_none_or(|missed| at < missed);
    let met = seen.iter().rfind(|(at, outcome)| *outcome == Outcome::Met && below(*at));
    let met = met.map(|(at, _)| *at);
    if steps.len() >= range.steps {
        return Next::Enough(met);
    }
    if let Some((doubtful, _)) = seen.iter().find(|(_, outcome)| *outcome == Outcome::Doubtful) {
        return Next::Try(*doubtful);
    }
    match (met, missed) {
        (None, None) => Next::Try(first.max(least).min(most)),
        (Some(met), None) if met >= most => Next::Enough(Some(met)),
        (Some(met), None) => Next::Try((2.0 * met).min(most)),
        (None, Some(missed)) if missed <= least => Next::Enough(None),
        // The least is not known to be good before it was tried.
        (None, Some(missed)) => Next::Try(range.middle(least, missed).unwrap_or(least)),
        (Some(met), Some(missed)) => {
            range.middle(met, missed).map_or(Next::Enough(Some(met)), Next::Try)
        }
    }
}

impl Range {
    /// The geometric middle of two loads; none where they are near enough to each other.
    fn middle(&self, low: f64, high: f64) -> Option<f64> {
        let middle = (low * high).sqrt();
        match high / low > 1.0 + self.resolution {
            true if !self.whole => Some(middle),
            true if high - low > 1.0 => Some(middle.round().max(low + 1.0).min(high - 1.0)),
            _ => None,
        }
    }
}
