//! Knows what the trials at one load say of a goal: by the rules of RFC 9971 it is a lower bound,
//! an upper bound or not yet known.
//!
//! Never: which load comes next.

use super::{MlrGoal, MlrTrial};

/// Rounding of a number of trials.
const ROUNDING: f64 = 1e-9;

/// Durations of the trials at one load, by length and by whether their loss met the goal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    good_long_s: f64,
    bad_long_s: f64,
    good_short_s: f64,
    bad_short_s: f64,
    /// Loss ratio and duration of each long trial.
    losses: Vec<[f64; 2]>,
}

/// What a load is to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Lower,
    Upper,
    Unknown,
}

impl Tally {
    pub fn add(&mut self, goal: &MlrGoal, trial: &MlrTrial) {
        let is_bad = goal.is_bad(trial);
        let is_long = trial.duration_s >= goal.final_s;
        if is_long {
            self.losses.push([trial.loss, trial.duration_s]);
        }
        let sum_s = match (is_long, is_bad) {
            (true, false) => &mut self.good_long_s,
            (true, true) => &mut self.bad_long_s,
            (false, false) => &mut self.good_short_s,
            (false, true) => &mut self.bad_short_s,
        };
        *sum_s += trial.duration_s;
    }

    /// Bad seconds that count: of short trials what exceeds the share that good ones excuse.
    fn excess_s(&self, goal: &MlrGoal) -> f64 {
        let excused_s = self.good_short_s * goal.exceed / (1.0 - goal.exceed);
        self.bad_long_s + (self.bad_short_s - excused_s).max(0.0)
    }

    /// A load is a lower bound if it is one however the missing trials turn out, and an upper
    /// bound if it is one even if all of them are good.
    pub fn class(&self, goal: &MlrGoal) -> Class {
        let excess_s = self.excess_s(goal);
        let sum_s = (self.good_long_s + excess_s).max(goal.sum_s);
        let granted_s = sum_s * goal.exceed;
        match (excess_s <= granted_s, sum_s - self.good_long_s <= granted_s) {
            (true, true) => Class::Lower,
            (false, false) => Class::Upper,
            _ => Class::Unknown,
        }
    }

    /// Further long trials of this duration until the load is a lower bound if all are good, and
    /// an upper bound if all are bad; at least 1 of each.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0")]
    pub fn needed(&self, goal: &MlrGoal, duration_s: f64) -> [u32; 2] {
        let good = (goal.sum_s * (1.0 - goal.exceed) - self.good_long_s) / duration_s;
        let bad = (goal.sum_s * goal.exceed - self.excess_s(goal)) / duration_s;
        let trials = [(good - ROUNDING).ceil(), (bad + ROUNDING).floor() + 1.0];
        trials.map(|trials| trials.max(1.0) as u32)
    }

    /// The loss ratio that the conditional throughput is computed with, 0 to 1: that of the long
    /// trials, the missing ones lost as a whole, at the share of time that may exceed the goal.
    /// None without a long trial.
    pub fn loss(&self, goal: &MlrGoal) -> Option<f64> {
        let mut losses = self.losses.clone();
        losses.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut left_s = goal.sum_s.max(self.good_long_s + self.bad_long_s) * (1.0 - goal.exceed);
        let mut at = losses.first()?[0];
        for (index, [loss, duration_s]) in losses.iter().enumerate() {
            // Equal losses are one: the time of all of them counts before the next is looked at.
            let is_next = index == 0 || *loss > at;
            if is_next && index > 0 && left_s <= 0.0 {
                return Some(at);
            }
            at = *loss;
            left_s -= duration_s;
        }
        Some(if left_s > 0.0 { 1.0 } else { at })
    }
}
