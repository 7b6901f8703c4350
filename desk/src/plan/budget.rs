//! Knows what a plan costs in minutes and the smallest effect it can see, before anything runs.

use crate::record::{LoadPlan, Plan, Replicate, SteadyRule};
use crate::stats::smallest_ratio;
use crate::unit::{Quantity, Unit};

/// Window of a dry visit, seconds: long enough to see that data flows, never counted.
pub const DRY_WINDOW_S: f64 = 0.1;
/// Time of a trial, dry ones too, in which a soaker shows its rate before the load goes, seconds.
pub const CALIBRATION_S: f64 = 0.2;
/// Time for which the idle lab is looked at, once when it was built and before any plan, seconds.
pub const BASELINE_S: f64 = 1.0;
/// Time of a trial besides settling and window, seconds: go, drain, collect, probes. An allowance
/// for hosts on one machine; a change of level that takes a link down and up needs more.
pub const OVERHEAD_S: f64 = 0.06;
/// Noise of a single trial, or of a boot, for which the smallest effect is given, relative standard
/// deviation.
const NOISE: [f64; 3] = [0.01, 0.02, 0.05];
/// Error of the first kind, shared by the looks of a plan, and power of the smallest effect.
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.8;

/// The smallest effect that a plan sees in four of five runs, at one noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallestEffect {
    /// Relative standard deviation of a single trial, or of the mean of a boot where the compared
    /// factor needs one; a share.
    pub noise: Quantity,
    /// Smallest ratio seen by one comparison on its own.
    pub single: Quantity,
    /// Smallest ratio seen at one point of the curve, where all points are judged together.
    pub curve: Quantity,
}

/// What a plan costs and what it buys.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Counted trials, all looks and all steps of searches taken.
    pub trials: u32,
    /// Dry visits before them.
    pub dry_trials: u32,
    /// Boots; 0 where nothing reboots.
    pub boots: u32,
    /// What all boots together take, by the plan's own word, seconds; part of the times below.
    pub booting: Quantity,
    /// Load points.
    pub points: u32,
    /// Combinations of factor levels.
    pub treatments: u32,
    /// Time if every rate is steady at once, the first look is enough and each search ends at its
    /// first step, seconds.
    pub shortest: Quantity,
    /// Time if every trial waits as long as it may and all looks are taken, seconds.
    pub longest: Quantity,
    /// Points of the longest curve, which are judged together; 1 without a curve.
    pub family: u32,
    /// Smallest effects for a noise of 1 %, 2 % and 5 %.
    pub smallest: Vec<SmallestEffect>,
}

/// Costs a plan.
///
/// The smallest effects are those of the paired t test on all block log ratios at 5 %, shared by
/// the looks (Holm's first step over the curve), with a power of 80 %: [`smallest_ratio`]. Ranks,
/// which decide from 8 blocks on, need about 5 % more blocks for normal noise.
#[must_use]
pub fn budget(plan: &Plan) -> Budget {
    let smallest = NOISE.iter().map(|noise| smallest_effect(plan, *noise)).collect();
    Budget { smallest, ..spent(plan) }
}

/// [`Budget::shortest`] alone, seconds, without working out the smallest effects.
#[must_use]
pub fn shortest(plan: &Plan) -> Quantity {
    spent(plan).shortest
}

/// The budget without its smallest effects.
fn spent(plan: &Plan) -> Budget {
    let method = &plan.method;
    let points_of = |load: &LoadPlan| count(load.over.iter().map(|(_, v)| v.len()));
    let points = plan.loads.iter().map(points_of).sum();
    let treatments = count(plan.factors.iter().map(|f| f.levels.len()));
    let visits: u32 = treatments.saturating_mul(points);
    let most = |load: &LoadPlan| points_of(load).saturating_mul(load.most_steps());
    let most = treatments.saturating_mul(plan.loads.iter().map(most).fold(0, u32::saturating_add));
    let (boots, rounds) = (plan.boots(), method.boots.max(1));
    let trials = most.saturating_mul(method.blocks).saturating_mul(rounds);
    let dry_trials = if method.dry { visits.saturating_mul(rounds) } else { boots };
    let booting = f64::from(boots) * method.boot_time.map_or(0.0, |time| time.value);
    let besides = OVERHEAD_S + if method.displaced_work { CALIBRATION_S } else { 0.0 };
    let dry = f64::from(dry_trials) * (method.settle.value + DRY_WINDOW_S + besides);
    let seconds = |visits: u32, settle: Quantity, blocks: u32| {
        let window = plan.loads.iter().map(|load| load.longest_window(method.window).value);
        let each = settle.value + window.fold(0.0, f64::max) + besides;
        let counted = f64::from(visits.saturating_mul(blocks).saturating_mul(rounds));
        Quantity::seconds(booting + dry + counted * each)
    };
    let family = family(plan);
    let first = method.looks.first().copied().unwrap_or(method.blocks);
    Budget {
        trials,
        dry_trials,
        boots,
        booting: Quantity::seconds(booting),
        points,
        treatments,
        shortest: seconds(visits, method.settle, first),
        longest: seconds(most, method.settle_max, method.blocks),
        family,
        smallest: Vec::new(),
    }
}

/// The smallest effects that the blocks of a plan see at this noise of a single trial, its relative
/// standard deviation (0 or more); by [`smallest_ratio`]. Where the compared factor needs a reboot
/// they are those that its boots see, at this noise of the mean of a boot.
#[must_use]
pub fn smallest_effect(plan: &Plan, noise: f64) -> SmallestEffect {
    let method = &plan.method;
    let alpha = ALPHA / f64::from(count([method.looks.len().max(1)]));
    let replicates = match plan.replicate() {
        Replicate::Boot => method.boots,
        Replicate::Block => method.blocks.saturating_mul(method.boots.max(1)),
    };
    let ratio = |family| {
        let value = smallest_ratio(replicates, noise, family, alpha, POWER);
        Quantity::new(value, Unit::Ratio)
    };
    let family = family(plan);
    SmallestEffect {
        noise: Quantity::new(noise, Unit::Share),
        single: ratio(1),
        curve: ratio(family),
    }
}

fn family(plan: &Plan) -> u32 {
    let points = plan.loads.iter().filter_map(|load| {
        let curve = plan.curve(load)?;
        let (_, values) = load.over.iter().find(|(name, _)| name == curve)?;
        Some(count([values.len()]))
    });
    points.max().unwrap_or(1)
}

fn count(lengths: impl IntoIterator<Item = usize>) -> u32 {
    lengths
        .into_iter()
        .fold(1, |product: u32, n| product.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX)))
}

/// Shortens a plan to its quick form: settle and settle_max at most 0.3 s, window at most 0.8 s, at
/// most 5 blocks and 3 boots a level, of the looks those before, and a rate that is not steady only
/// noted. Points, treatments and the rules of judgement stay; never makes a plan longer.
pub fn quicken(plan: &mut Plan) {
    let method = &mut plan.method;
    let at_most = |time: Quantity, most: f64| Quantity::seconds(time.value.min(most));
    method.settle = at_most(method.settle, 0.3);
    method.settle_max = at_most(method.settle_max, 0.3);
    method.window = at_most(method.window, 0.8);
    method.blocks = method.blocks.min(5);
    method.boots = method.boots.min(3);
    method.steady = SteadyRule::Noted;
    method.looks.retain(|look| *look < method.blocks);
    if !method.looks.is_empty() {
        method.looks.push(method.blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;
    use crate::plan::order;

    #[test]
    fn a_budget_counts_what_the_order_holds() {
        let plan = small();
        let budget = budget(&plan);
        assert_eq!((budget.points, budget.treatments, budget.family), (4, 4, 2));
        assert_eq!((budget.trials + budget.dry_trials) as usize, order(&plan).len());
        let dry = 16.0 * (1.0 + DRY_WINDOW_S + OVERHEAD_S);
        assert!((budget.shortest.value - dry - 80.0 * (3.0 + OVERHEAD_S)).abs() < 1e-9);
        assert!((budget.longest.value - dry - 80.0 * (7.0 + OVERHEAD_S)).abs() < 1e-9);
        let effect = budget.smallest[1];
        assert_eq!(effect.noise.to_string(), "2 %");
        assert_eq!(effect.single.to_string(), "1.05×");
        assert!(effect.curve.value > effect.single.value);
    }

    #[test]
    fn a_soaker_is_calibrated_in_every_visit() {
        let mut plan = small();
        let without = budget(&plan).shortest.value;
        plan.method.displaced_work = true;
        let more = budget(&plan).shortest.value - without;
        assert!((more - 96.0 * CALIBRATION_S).abs() < 1e-9, "80 trials and 16 dry visits: {more}");
    }

    #[test]
    fn looks_make_a_run_shorter_and_its_smallest_effect_larger() {
        let mut plan = small();
        plan.method.blocks = 20;
        let fixed = budget(&plan);
        plan.method.looks = vec![5, 10, 20];
        let looked = budget(&plan);
        assert_eq!((looked.trials, looked.longest), (fixed.trials, fixed.longest));
        let saved = fixed.shortest.value - looked.shortest.value;
        assert!((saved - 15.0 * 16.0 * (3.0 + OVERHEAD_S)).abs() < 1e-9, "{saved}");
        assert!(looked.smallest[0].single.value > fixed.smallest[0].single.value);
        quicken(&mut plan);
        assert_eq!((plan.method.blocks, plan.method.looks.len()), (5, 0));
        plan.method.looks = vec![3, 10];
        quicken(&mut plan);
        assert_eq!(plan.method.looks, [3, 5]);
    }

    #[test]
    fn boots_cost_their_time_and_are_what_the_smallest_effect_rests_on() {
        let mut plan = small();
        let without = budget(&plan);
        assert_eq!((without.boots, without.booting.value), (0, 0.0));
        plan.factors[0].reboot = true;
        (plan.method.boots, plan.method.boot_time) = (4, Some(Quantity::seconds(90.0)));
        for dry in [true, false] {
            plan.method.dry = dry;
            let booted = budget(&plan);
            assert_eq!((booted.trials + booted.dry_trials) as usize, order(&plan).len());
            assert_eq!((booted.boots, booted.booting.value), (8, 720.0));
            let trials = f64::from(booted.trials) * (3.0 + OVERHEAD_S);
            let dry = f64::from(booted.dry_trials) * (1.0 + DRY_WINDOW_S + OVERHEAD_S);
            assert!((booted.shortest.value - 720.0 - trials - dry).abs() < 1e-9);
        }
        let seen = |plan: &Plan| smallest_effect(plan, 0.02).single.value;
        let by_boots = seen(&plan);
        plan.method.blocks = 50;
        assert_eq!(seen(&plan), by_boots, "more blocks in a boot are no more boots");
        plan.method.compare = plan.factors[1].name.clone();
        assert!(seen(&plan) < by_boots, "200 blocks of the factor that is switched inside");
        quicken(&mut plan);
        assert_eq!((plan.method.boots, plan.method.blocks), (3, 5));
    }

    #[test]
    fn the_quick_form_shortens_and_never_lengthens() {
        let mut plan = small();
        plan.method.blocks = 9;
        quicken(&mut plan);
        let times = |plan: &Plan| {
            let method = &plan.method;
            [method.settle, method.settle_max, method.window].map(|time| time.value)
        };
        assert_eq!((times(&plan), plan.method.blocks), ([0.3, 0.3, 0.8], 5));
        assert_eq!(plan.method.steady, SteadyRule::Noted);
        plan.method.settle = Quantity::seconds(0.1);
        plan.method.blocks = 3;
        quicken(&mut plan);
        assert_eq!((times(&plan), plan.method.blocks), ([0.1, 0.3, 0.8], 3));
    }
}
