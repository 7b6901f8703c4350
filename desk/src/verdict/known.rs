//! Knows how well the figures of runs are known, and which figure of a load is its best.
//!
//! Never: a figure of its own; the measured points have those.

use super::analysis::Analysis;
use super::measured::{MeasuredFigure, MeasuredPoint};
use crate::record::{Better, LoadPlan, Run};
use crate::stats::{Estimate, EstimateMethod};
use crate::unit::{Quantity, Unit};

/// How well the deciding figures of runs are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Half of the figures lie within this share of the far end of their interval.
    pub half: Quantity,
    /// All of them do.
    pub most: Quantity,
    /// Level of the intervals, the largest.
    pub level: Quantity,
}

/// Of all that these runs measured by itself; none where nothing has an interval.
pub fn steadiness<'a>(runs: impl Iterator<Item = (&'a Run, &'a Analysis)>) -> Option<Steadiness> {
    let deciding = |(run, analysis): (&'a Run, &'a Analysis)| {
        let figure = |p: &'a MeasuredPoint| p.figure(run.plan.primary(&p.load));
        analysis.measured.iter().filter_map(figure).map(|figure| &figure.estimate)
    };
    steadiness_of(runs.flat_map(deciding))
}

/// Of these figures; none where no one has an interval.
pub fn steadiness_of<'a>(figures: impl Iterator<Item = &'a Estimate>) -> Option<Steadiness> {
    let spread = |one: &&Estimate| one.method != EstimateMethod::Exact;
    let known: Vec<&Estimate> = figures.filter(spread).collect();
    let mut reach: Vec<f64> = known.iter().map(|one| one.reach()).collect();
    reach.retain(|share| share.is_finite());
    reach.sort_by(f64::total_cmp);
    let share = |value: f64| Quantity::new(value, Unit::Share);
    Some(Steadiness {
        half: share(*reach.get(reach.len() / 2)?),
        most: share(*reach.last()?),
        level: share(known.iter().map(|one| one.level).reduce(f64::max)?),
    })
}

/// The deciding figure of a load at its best point: the most of a rate, the least of a time.
#[must_use]
pub fn best_figure<'a>(
    run: &Run,
    analysis: &'a Analysis,
    load: &LoadPlan,
) -> Option<&'a MeasuredFigure> {
    let primary = run.plan.primary(&load.name);
    let lower = run.metric(&load.name, primary).is_some_and(|m| m.better == Better::Lower);
    let of_load = analysis.measured.iter().filter(|point| point.load == load.name);
    let worth = |figure: &&MeasuredFigure| {
        let value = figure.estimate.centre.value;
        if lower { -value } else { value }
    };
    of_load.filter_map(|p| p.figure(primary)).max_by(|a, b| worth(a).total_cmp(&worth(b)))
}
