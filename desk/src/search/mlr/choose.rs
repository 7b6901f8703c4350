//! Knows which trial comes next: one of the plan by which the bounds of all goals are expected to
//! be known after the fewest seconds.
//!
//! Never: what a device does.

use super::lattice::real;
use super::model::Model;
use super::race::{End, ends};
use super::tally::{Class, Tally};
use super::{History, MlrGoal};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How many times the plan of each goal is made anew beside those of the others.
const ROUNDS: usize = 3;

/// Trials that are lost on a load which turns out not to be the bound that it was to be.
const FAILURE: f64 = 1.0;

/// Between which shares of its probability the place of a bound is looked for.
const SHARES: [f64; 5] = [0.25, 0.4, 0.5, 0.6, 0.75];

/// Places of the two bounds that are aimed at; none where the end of the range is the other bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Aim {
    lower: Option<i64>,
    upper: Option<i64>,
}

impl Aim {
    fn roles(self) -> impl Iterator<Item = (i64, Class)> {
        let roles = [(self.lower, Class::Lower), (self.upper, Class::Upper)];
        roles.into_iter().filter_map(|(place, class)| Some((place?, class)))
    }
}

/// One open goal with what is known of it.
struct Open<'h> {
    goal: &'h MlrGoal,
    tallies: &'h BTreeMap<i64, Tally>,
    model: Model,
    /// Steps between its bounds, at most.
    width: i64,
    /// Places between which its bounds are: an upper bound and the lower one below it.
    least: Option<i64>,
    most: Option<i64>,
    top: i64,
    /// Costs by place, and the ends of simulated trials by the results that are missing: computed
    /// once.
    costs_s: RefCell<BTreeMap<i64, [f64; 2]>>,
    races: RefCell<BTreeMap<[u32; 2], Vec<End>>>,
}

impl<'h> Open<'h> {
    fn of(history: &'h History, index: usize) -> Self {
        let goal = &history.rule.goals[index];
        let known = history.known(index);
        let [good, bad] = Tally::default().needed(goal, goal.full_s()).map(f64::from);
        Self {
            goal,
            tallies: &history.tallies[index],
            model: Model::of(goal, bad / (good + bad), &history.lattice, history.trials),
            width: history.lattice.width(goal.width),
            least: known.lower,
            most: known.upper,
            top: history.lattice.top,
            costs_s: RefCell::default(),
            races: RefCell::default(),
        }
    }

    /// Seconds until the load is known to be this bound, as expected, with what is lost where it
    /// turns out not to be.
    fn cost_s(&self, place: i64, class: Class) -> f64 {
        let mut known_s = self.costs_s.borrow_mut();
        known_s.entry(place).or_insert_with(|| self.costs_s(place))
            [usize::from(class == Class::Upper)]
    }

    /// Those of a lower and of an upper bound.
    fn costs_s(&self, place: i64) -> [f64; 2] {
        let fresh = Tally::default();
        let tally = self.tallies.get(&place).unwrap_or(&fresh);
        match tally.class(self.goal) {
            Class::Lower => return [0.0, f64::INFINITY],
            Class::Upper => return [f64::INFINITY, 0.0],
            Class::Unknown => {}
        }
        let needed = tally.needed(self.goal, self.goal.full_s());
        let mut races = self.races.borrow_mut();
        let ends = races.entry(needed).or_insert_with(|| ends(needed));
        let bins = self.model.bins(place);
        let sum = |of: fn(&End) -> f64| -> f64 {
            ends.iter().zip(bins).map(|(end, weight)| weight * of(end)).sum()
        };
        let lower = sum(|end| end.lower).clamp(1e-6, 1.0 - 1e-6);
        let upper = 1.0 - lower;
        let trials = [
            (sum(|end| end.lower_trials) + upper * FAILURE) / lower,
            (sum(|end| end.upper_trials) + lower * FAILURE) / upper,
        ];
        trials.map(|trials| trials * self.goal.full_s())
    }

    fn fits(&self, aim: Aim) -> bool {
        let within = self.least.unwrap_or(0)..=self.most.unwrap_or(self.top);
        aim.roles().all(|(place, _)| within.contains(&place))
    }

    /// Aims worth a look, given loads that others aim at: with a load that was tried or is shared,
    /// with one where the bound may well be, and with an end of the range.
    #[expect(clippy::cast_possible_truncation, reason = "places are within the lattice")]
    fn aims(&self, others: &[i64]) -> Vec<Aim> {
        let tried = self.tallies.keys().chain(others).copied();
        let ends = [0, self.top].into_iter().chain(self.least).chain(self.most);
        let ends: Vec<i64> = tried.chain(ends).collect();
        let likely = SHARES.map(|share| self.model.quantile(share).round() as i64);
        let mut lowers: Vec<i64> = ends.iter().flat_map(|at| [*at, at - self.width]).collect();
        lowers.extend(likely.map(|at| at - self.width / 2));
        lowers.sort_unstable();
        lowers.dedup();
        let pair = |lower: i64| {
            let upper = (lower + self.width).min(self.most.unwrap_or(self.top));
            Aim { lower: Some(lower), upper: Some(upper) }
        };
        let pairs = lowers.into_iter().map(pair).filter(|aim| aim.lower < aim.upper);
        let highest = Aim { lower: Some(self.top), upper: None };
        let least = Aim { lower: None, upper: Some(0) };
        pairs.chain([highest, least]).filter(|aim| self.fits(*aim)).collect()
    }

    /// The aim that takes the fewest seconds beside loads that take so many anyhow.
    fn best(&self, taken_s: &BTreeMap<i64, f64>) -> Option<Aim> {
        let further_s = |aim: &Aim| -> f64 {
            let further = aim.roles().map(|(place, class)| {
                let taken_s = taken_s.get(&place).copied().unwrap_or(0.0);
                (self.cost_s(place, class) - taken_s).max(0.0)
            });
            further.sum()
        };
        let others: Vec<i64> = taken_s.keys().copied().collect();
        let costs = self.aims(&others).into_iter().map(|aim| (further_s(&aim), aim));
        costs.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, aim)| aim)
    }
}

/// The place and the duration of the next trial, where these goals are open: first the largest
/// load, whose loss says most of where to look.
pub(super) fn choose(history: &History, open: &[usize]) -> (i64, f64) {
    let goals: Vec<Open> = open.iter().map(|index| Open::of(history, *index)).collect();
    if history.trials.is_empty() {
        let longest_s = goals.iter().map(|open| open.goal.initial_s).fold(0.0, f64::max);
        return (history.lattice.top, longest_s);
    }
    pick(&goals, &plan(&goals))
}

/// The aims of all goals that together take the fewest seconds: a load that two of them share
/// takes as long as the longer one of the two.
fn plan(goals: &[Open]) -> Vec<Aim> {
    let mut aims = vec![Aim::default(); goals.len()];
    for _ in 0..ROUNDS {
        for (at, open) in goals.iter().enumerate() {
            let mut taken_s: BTreeMap<i64, f64> = BTreeMap::new();
            let others = goals.iter().zip(&aims).enumerate().filter(|(other, _)| *other != at);
            for (other, aim) in others.map(|(_, other)| other) {
                for (place, class) in aim.roles() {
                    let most = taken_s.entry(place).or_default();
                    *most = most.max(other.cost_s(place, class));
                }
            }
            aims[at] = open.best(&taken_s).unwrap_or_default();
        }
    }
    aims
}

/// Of the loads aimed at the one that is least sure to be the bound that it is to be, and how long
/// it is tried.
fn pick(goals: &[Open], aims: &[Aim]) -> (i64, f64) {
    let mut best: Option<(f64, i64, f64)> = None;
    for (open, aim) in goals.iter().zip(aims) {
        for (place, class) in aim.roles().filter(|(at, class)| open.cost_s(*at, *class) > 0.0) {
            let bad = open.model.bad(place);
            let sure = if class == Class::Lower { 1.0 - bad } else { bad };
            if best.is_none_or(|(least, ..)| sure < least) {
                let widths = open.model.spread() / real(open.width);
                best = Some((sure, place, open.goal.trial_s(widths)));
            }
        }
    }
    // An open goal has a load that is not known yet.
    best.map_or((0, goals[0].goal.full_s()), |(_, place, duration_s)| (place, duration_s))
}
