//! Knows how probable it is that a trial is bad, at any load, by the trials so far: a logistic
//! curve of unknown place and steepness over a floor of misses that no load explains.
//!
//! Never: which load comes next.

use super::lattice::{Lattice, real};
use super::race::{BINS, bin};
use super::{MlrGoal, MlrTrial};
use std::collections::BTreeMap;

/// How wide the rise from good to bad may be, in widths of the goal.
const SCALES: [f64; 5] = [0.02, 0.2, 0.7, 2.5, 10.0];

/// Shares of trials that may be bad at any load.
const FLOORS: [f64; 3] = [0.003, 0.1, 0.3];

/// How probable each of them is before a trial.
const FLOOR_SHARES: [f64; 3] = [1.0, 1.0, 1.0];

/// Curves less probable than the best one by this factor are left out.
const LEAST: f64 = 1e-5;

/// Weight of a place near a hint beside one that is far from all of them.
const NEAR: f64 = 1.0;
const FAR: f64 = 0.02;

/// A loss is that of an overload where its hint is so far below its load, in widths.
const OVERLOAD: f64 = 0.125;

/// How far a hint may be off, in widths.
const BLUR: f64 = 0.2;

/// Most places between two loads that were tried.
const PARTS: f64 = 4.0;

/// What a short trial counts that is good: a buffer may have held what a long one would lose.
const SHORT: f64 = 0.3;

/// A curve that may be the true one.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// Where a load is as often found to be a lower bound as an upper one; steps of the lattice.
    at: f64,
    scale: f64,
    floor: f64,
    /// The logit of the rise there.
    shift: f64,
    weight: f64,
}

impl Curve {
    /// Probability that a trial at this place is bad.
    fn bad(&self, place: f64) -> f64 {
        let rise = 1.0 / (1.0 + (-(self.shift + (place - self.at) / self.scale)).exp());
        (self.floor + (1.0 - self.floor) * rise).clamp(1e-4, 1.0 - 1e-4)
    }
}

/// Good and bad trials of each place.
type Counts = BTreeMap<i64, [f64; 2]>;

/// Where a lossy trial says that the goal is just met, in steps, and how much that says.
type Hint = (f64, f64);

/// What the trials so far say of one goal.
#[derive(Clone, Debug)]
pub(super) struct Model {
    curves: Vec<Curve>,
}

impl Model {
    /// By these trials; `even` is the share of bad trials at which a load is as often found to be
    /// a lower bound as an upper one.
    pub fn of(goal: &MlrGoal, even: f64, lattice: &Lattice, trials: &[MlrTrial]) -> Self {
        let mut counts = Counts::new();
        for trial in trials {
            let (is_bad, is_short) = (goal.is_bad(trial), trial.duration_s < goal.final_s);
            let count = counts.entry(lattice.place(trial.load)).or_default();
            count[usize::from(is_bad)] += if is_short && !is_bad { SHORT } else { 1.0 };
        }
        let (width, top) = (real(lattice.width(goal.width)), real(lattice.top));
        let hints = hints(goal, lattice, trials);
        let smallest = counts.iter().find(|(_, [_, bad])| *bad > 0.0).map(|(place, _)| *place);
        let centre = smallest.map_or(top, |smallest| centre(goal, lattice, trials, smallest));
        let mut curves = Vec::new();
        for (at, share) in places(&cuts(&counts, centre, &hints, [width, top]), width) {
            let near = |(hint, weight): &Hint| weight * (-(at - hint).abs() / width / BLUR).exp();
            // Where no trial lost a part of its frames, any load is as probable as another.
            let away = 1.0 + (at - centre).abs() / width;
            let far = if hints.is_empty() { FAR } else { FAR / away };
            let prior = share * (far + NEAR * hints.iter().map(near).sum::<f64>());
            let floors = FLOORS.into_iter().zip(FLOOR_SHARES);
            let shapes = floors.flat_map(|floor| SCALES.map(|scale| (scale, floor)));
            for (scale, (floor, share)) in shapes {
                let rise = ((even - floor) / (1.0 - floor)).clamp(0.01, 0.99);
                let shift = (rise / (1.0 - rise)).ln();
                curves.push(Curve {
                    at,
                    scale: scale * width,
                    floor,
                    shift,
                    weight: (prior * share).ln(),
                });
            }
        }
        weigh(&mut curves, &counts);
        Self { curves }
    }

    /// Probability that a trial at this place is bad, above 0 and below 1.
    pub fn bad(&self, place: i64) -> f64 {
        self.curves.iter().map(|curve| curve.weight * curve.bad(real(place))).sum()
    }

    /// How probable it is that a trial at this place is bad with the probability of each bin.
    pub fn bins(&self, place: i64) -> [f64; BINS] {
        let mut bins = [0.0; BINS];
        for curve in &self.curves {
            bins[bin(curve.bad(real(place)))] += curve.weight;
        }
        bins
    }

    /// Below which place the curve is with this probability, 0 to 1; in steps of the lattice.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut left = share;
        let reached = self.curves.iter().find(|curve| {
            left -= curve.weight;
            left <= 0.0
        });
        reached.or(self.curves.last()).map_or(0.0, |curve| curve.at)
    }

    /// How far apart the places are that it is between with four fifths of the probability, in
    /// steps of the lattice.
    pub fn spread(&self) -> f64 {
        self.quantile(0.9) - self.quantile(0.1)
    }
}

/// Where the goal is just met if this trial lost what the device cannot take.
fn hint(goal: &MlrGoal, lattice: &Lattice, trial: &MlrTrial) -> f64 {
    let load = trial.load * (1.0 - trial.loss) / (1.0 - goal.loss);
    lattice.real_place(load.max(f64::MIN_POSITIVE)).max(0.0)
}

/// Where the smallest load with the loss of an overload says, by its first trial, that the goal is
/// met; without one the middle of what trials of the smallest bad load say.
fn centre(goal: &MlrGoal, lattice: &Lattice, trials: &[MlrTrial], smallest: i64) -> f64 {
    let width = real(lattice.width(goal.width));
    let bad = trials.iter().filter(|trial| goal.is_bad(trial) && trial.loss < 1.0);
    let bad = bad.map(|trial| (lattice.real_place(trial.load), hint(goal, lattice, trial)));
    let bad: Vec<(f64, f64)> = bad.collect();
    let overloads = bad.iter().filter(|(at, hint)| at - hint > OVERLOAD * width);
    if let Some((_, hint)) = overloads.min_by(|a, b| a.0.total_cmp(&b.0)) {
        return *hint;
    }
    let there = bad.iter().filter(|(at, _)| (at - real(smallest)).abs() < 0.5);
    let mut hints: Vec<f64> = there.map(|(_, hint)| *hint).collect();
    hints.sort_by(f64::total_cmp);
    hints.get(hints.len() / 2).copied().unwrap_or(real(smallest))
}

/// What all lossy trials say. One that points at its own load says nothing: it lost by chance what
/// no overload explains. Nor does one that lost all.
fn hints(goal: &MlrGoal, lattice: &Lattice, trials: &[MlrTrial]) -> Vec<Hint> {
    let half = real(lattice.width(goal.width)) / 2.0;
    let lossy = trials.iter().filter(|trial| trial.loss > 0.0 && trial.loss < 1.0);
    let hints = lossy.map(|trial| {
        let at = hint(goal, lattice, trial);
        (at, ((lattice.real_place(trial.load) - at).abs() / half).min(1.0))
    });
    let hints: Vec<Hint> = hints.collect();
    let all: f64 = hints.iter().map(|(_, weight)| weight).sum();
    hints.into_iter().map(|(at, weight)| (at, weight / all.max(1.0))).collect()
}

/// Where the range is cut: at loads that were tried, at hints, ever wider around the centre, and
/// beyond the ends.
fn cuts(counts: &Counts, centre: f64, hints: &[Hint], [width, top]: [f64; 2]) -> Vec<f64> {
    let beyond = 4.0 * width;
    let mut cuts: Vec<f64> = counts.keys().map(|place| real(*place)).collect();
    cuts.extend([-beyond, 0.0, top, top + beyond, centre]);
    let doubled = std::iter::successors(Some(width / 4.0), |away| Some(2.0 * away));
    let away = doubled.take_while(|away| *away < top);
    cuts.extend(away.flat_map(|away| [centre - away, centre + away]));
    let telling = hints.iter().filter(|(_, weight)| *weight > 0.02);
    cuts.extend(telling.flat_map(|(at, _)| [at - width / 2.0, *at, at + width / 2.0]));
    cuts.retain(|cut| (-beyond..=top + beyond).contains(cut));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup_by(|a, b| (*a - *b).abs() < 4.0);
    cuts
}

/// Places between the cuts, rising, with how many steps of the lattice each stands for.
fn places(cuts: &[f64], width: f64) -> Vec<(f64, f64)> {
    let mut places = Vec::new();
    for pair in cuts.windows(2) {
        let parts = ((pair[1] - pair[0]) / (width / 4.0)).ceil().clamp(1.0, PARTS);
        let part = (pair[1] - pair[0]) / parts;
        let within = std::iter::successors(Some(pair[0] + part / 2.0), |at| Some(at + part));
        places.extend(within.take_while(|at| *at < pair[1]).map(|at| (at, part)));
    }
    places
}

/// Makes logarithms of priors into shares by what was counted, and leaves out what is improbable.
fn weigh(curves: &mut Vec<Curve>, counts: &Counts) {
    for curve in curves.iter_mut() {
        for (place, [good, bad]) in counts {
            let p = curve.bad(real(*place));
            curve.weight += good * (1.0 - p).ln() + bad * p.ln();
        }
    }
    let best = curves.iter().map(|curve| curve.weight).fold(f64::NEG_INFINITY, f64::max);
    for curve in curves.iter_mut() {
        curve.weight = (curve.weight - best).exp();
    }
    curves.retain(|curve| curve.weight > LEAST);
    let all: f64 = curves.iter().map(|curve| curve.weight).sum();
    for curve in curves.iter_mut() {
        curve.weight /= all;
    }
}
