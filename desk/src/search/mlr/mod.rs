//! Knows the multiple loss ratio search of RFC 9971: for each of several goals the largest load
//! that meets it and the smallest that does not, by trials that all goals share.
//!
//! Never: what the load or the loss is, nor how a trial is made.

mod choose;
#[cfg(test)]
mod golden;
mod lattice;
mod model;
mod race;
mod tally;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "testing"))]
mod zoo;

use choose::choose;
use lattice::Lattice;
use std::collections::BTreeMap;
use tally::{Class, Tally};
#[cfg(any(test, feature = "testing"))]
pub use zoo::{DEVICES, Device, WITHIN};

/// A search goal, in the terms of RFC 9971.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MlrGoal {
    /// A trial with a larger loss ratio is bad; 0 to 1.
    pub loss: f64,
    /// The share of the duration sum that may be bad trials at a lower bound; 0 to 1.
    pub exceed: f64,
    /// Shortest trial.
    pub initial_s: f64,
    /// From which duration on a trial is of full length.
    pub final_s: f64,
    /// Seconds of trials that a bound is known by.
    pub sum_s: f64,
    /// How far the lower bound may be below the upper one, as a share of the upper one.
    pub width: f64,
    /// Between the shortest trial and the full length, so many durations.
    pub preceding: u32,
}

/// By how much the trials of a bound exceed what it is known by: an upper bound takes more than the
/// share that may be bad.
const OVER: f64 = 1e-6;

impl MlrGoal {
    /// Whether a trial loses more than it grants; a loss that is no number is one of all.
    fn is_bad(&self, trial: &MlrTrial) -> bool {
        trial.loss > self.loss || trial.loss.is_nan()
    }

    /// Duration of a trial of full length: the shortest of which a whole number fills the time that
    /// must be good at a lower bound, so that none is spent on what needs no more.
    fn full_s(&self) -> f64 {
        let good_s = self.sum_s * (1.0 - self.exceed);
        let trials = (good_s / self.final_s).floor().max(1.0);
        (good_s / trials * (1.0 + OVER)).max(self.final_s)
    }

    /// Duration of a trial while the answer may be anywhere within so many widths: the farther, the
    /// shorter, in as many steps as there are preceding targets.
    fn trial_s(&self, widths: f64) -> f64 {
        let doubled = (widths / 2.0).max(1.0).log2().floor().min(f64::from(self.preceding));
        let shortened = (self.initial_s / self.sum_s).powf(doubled / f64::from(self.preceding));
        let is_long = doubled == 0.0 || self.sum_s * shortened >= self.final_s;
        if is_long { self.full_s() } else { self.sum_s * shortened }
    }
}

/// Between which loads is sought, and what for.
#[derive(Clone, Debug, PartialEq)]
pub struct MlrRule {
    /// The least and the largest load, both above 0.
    pub within: [f64; 2],
    /// What is sought; at least one.
    pub goals: Vec<MlrGoal>,
}

/// What a trial came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MlrTrial {
    /// Offered load.
    pub load: f64,
    /// How long it lasted.
    pub duration_s: f64,
    /// Lost of what was to be sent, 0 to 1.
    pub loss: f64,
}

/// What a search knows of one goal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MlrBounds {
    /// The largest load below the upper bound that meets the goal.
    pub lower: Option<f64>,
    /// The smallest load that misses the goal.
    pub upper: Option<f64>,
    /// What got through at the lower bound: the conditional throughput.
    pub throughput: Option<f64>,
}

/// What follows from the trials so far.
#[derive(Clone, Debug, PartialEq)]
pub enum MlrNext {
    /// This load for so many seconds.
    Try {
        /// Offered load.
        load: f64,
        /// How long it is to last.
        duration_s: f64,
    },
    /// The search has ended, with the bounds of each goal.
    Enough(Vec<MlrBounds>),
}

/// The trials of a search, by goal and place.
struct History<'r> {
    rule: &'r MlrRule,
    lattice: Lattice,
    /// Of each goal what the trials at each place say.
    tallies: Vec<BTreeMap<i64, Tally>>,
    trials: &'r [MlrTrial],
}

/// Places of the bounds of a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    lower: Option<i64>,
    upper: Option<i64>,
}

impl<'r> History<'r> {
    fn of(rule: &'r MlrRule, trials: &'r [MlrTrial]) -> Self {
        let finest = rule.goals.iter().map(|goal| goal.width).fold(0.5, f64::min);
        let lattice = Lattice::of(rule.within, finest);
        let tallies = rule.goals.iter().map(|goal| {
            let mut all: BTreeMap<i64, Tally> = BTreeMap::new();
            for trial in trials {
                all.entry(lattice.place(trial.load)).or_default().add(goal, trial);
            }
            all
        });
        Self { rule, lattice, tallies: tallies.collect(), trials }
    }

    /// The smallest load that is an upper bound, and the largest lower bound below it.
    fn known(&self, goal: usize) -> Known {
        let mut known = Known::default();
        for (place, tally) in &self.tallies[goal] {
            match tally.class(&self.rule.goals[goal]) {
                Class::Lower => known.lower = Some(*place),
                Class::Upper => {
                    known.upper = Some(*place);
                    break;
                }
                Class::Unknown => {}
            }
        }
        known
    }

    fn is_done(&self, goal: usize) -> bool {
        let width = self.lattice.width(self.rule.goals[goal].width);
        match self.known(goal) {
            Known { lower: Some(lower), upper: Some(upper) } => upper - lower <= width,
            Known { lower: Some(lower), upper: None } => lower >= self.lattice.top,
            Known { lower: None, upper: Some(upper) } => upper <= 0,
            Known { lower: None, upper: None } => false,
        }
    }

    fn bounds(&self, goal: usize) -> MlrBounds {
        let known = self.known(goal);
        let load = |place: i64| self.lattice.load(place);
        let throughput = known.lower.and_then(|place| {
            let loss = self.tallies[goal].get(&place)?.loss(&self.rule.goals[goal])?;
            Some(load(place) * (1.0 - loss))
        });
        MlrBounds { lower: known.lower.map(load), upper: known.upper.map(load), throughput }
    }
}

/// The bounds of each goal by these trials, however far the search is.
#[must_use]
pub fn mlr_bounds(trials: &[MlrTrial], rule: &MlrRule) -> Vec<MlrBounds> {
    let history = History::of(rule, trials);
    (0..rule.goals.len()).map(|goal| history.bounds(goal)).collect()
}

/// The next trial, or the bounds of each goal once they are near enough to each other or the ends
/// of the range are bounds.
#[must_use]
pub fn mlr(trials: &[MlrTrial], rule: &MlrRule) -> MlrNext {
    let history = History::of(rule, trials);
    let open: Vec<usize> = (0..rule.goals.len()).filter(|goal| !history.is_done(*goal)).collect();
    if open.is_empty() {
        return MlrNext::Enough(mlr_bounds(trials, rule));
    }
    let (place, duration_s) = choose(&history, &open);
    MlrNext::Try { load: history.lattice.load(place), duration_s }
}

/// The search of the simulated devices: without loss and with 0.5 %, as the usual goals are.
#[cfg(any(test, feature = "testing"))]
#[must_use]
pub fn usual() -> MlrRule {
    let goal = |loss: f64| MlrGoal {
        loss,
        exceed: 0.5,
        initial_s: 1.0,
        final_s: 1.0,
        sum_s: 21.0,
        width: 0.005,
        preceding: 2,
    };
    MlrRule { within: WITHIN, goals: vec![goal(0.0), goal(0.005)] }
}
