//! Knows how much of the cause each resource is, by what taking it down costs.
//!
//! A resource that is taken down to a part q of what it was and leaves a part r of the throughput
//! has the elasticity d ln(throughput) / d ln(resource) = ln r / ln q (the idea of Coz, Curtsinger
//! and Berger 2015, for systems). Where each byte passes one resource after the other, that is the
//! share of its time; a share s shows as ln(1 + s (1/q - 1)) / -ln q, which is at most 0.021 more
//! for q = 0.85.
//!
//! A resource of which the load used a part u < 1 binds only once it is taken down below u. Down at
//! q < u that alone leaves q / u of the throughput: it shows in a step, and the load does not need
//! it. So the share of such a resource is what was lost beyond that. Never: how a resource is taken
//! down.

use super::ceiling::use_of;
use super::compared::{Asked, Compared};
use super::finding::{LimitKind, Verdict};
use super::measure::{is_client, is_server};
use super::pairing::{Contest, Measured};
use super::winner::name;
use crate::plan::THROTTLED;
use crate::record::{Run, Settings, Throttle, TrialRecord, Value};
use crate::stats::{Estimate, decide, mean, mean_or_single, mean_or_single_at};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Shares from here on, and up to here, are said to be about all and about none.
const ALL: f64 = 0.9;
const NONE: f64 = 0.1;
/// How far the interval of such a share may reach from its end.
const REACH: f64 = 0.25;
/// An interval that is wider says too little.
const WIDEST: f64 = 0.5;
/// Use of a quota, and share of its periods in which it was reached, below both of which it did not
/// hold its side.
const USED: f64 = 0.9;
const REACHED: f64 = 0.1;
/// Use of a resource from which it counts as full.
const FULL: f64 = 0.95;
/// The ceilings that tell how much of a resource was in use, by the setting that takes it down.
const USES: [(&str, &[LimitKind]); 11] = [
    ("rate", &[LimitKind::SetRate]),
    ("server_quota", &[LimitKind::ServerQuota]),
    ("client_quota", &[LimitKind::ClientQuota]),
    ("max_frequency", &[LimitKind::AllCpus, LimitKind::OneCpu]),
    ("cpu_speed", &[LimitKind::AllCpus, LimitKind::OneCpu]),
    ("sim_cpu", &[LimitKind::AllCpus, LimitKind::OneCpu]),
    ("sim_line", &[LimitKind::Goodput, LimitKind::SetRate]),
    ("sim_pcie", &[LimitKind::Pcie]),
    ("sim_memory", &[LimitKind::Memory]),
    ("sim_disk", &[LimitKind::Disk]),
    ("sim_clients", &[LimitKind::ClientLine]),
];

/// How a share is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// About all of the cause: 90 % or more, surely above 75 %.
    All,
    /// A part of it.
    Part,
    /// About none: 10 % or less, surely below 25 %.
    None,
    /// The interval is wider than half of the cause.
    Open,
    /// What was taken down was not needed before either, so that nothing is known of the resource.
    NotReached,
    /// Surely above 110 %: the model does not hold for this resource.
    Beyond,
}

/// What a resource is of the cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceShare {
    /// What it is called.
    pub resource: String,
    /// The comparison of the same trials.
    pub comparison: String,
    /// The setting as it is.
    pub full: Value,
    /// The setting taken down.
    pub down: Value,
    /// What that leaves of the metric, a ratio.
    pub ratio: Estimate,
    /// Its share of the cause: ln(ratio) / ln(what is left of the resource). Chance may put it a
    /// little below 0 or above 1. Of a resource with a `reserve` only what was lost beyond
    /// (what is left) / (its use) counts.
    pub share: Estimate,
    /// How that is said.
    pub weight: Weight,
    /// Of a quota that was taken down, the part of it that its side used.
    pub used: Option<Estimate>,
    /// Use of the resource as it is, 0 to 1, where it was below its limit and reached it only when
    /// taken down.
    #[serde(default)]
    pub reserve: Option<Estimate>,
}

/// What held a load down, resource by resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elasticity {
    /// Name of the load in the plan.
    pub load: String,
    /// Parameters of the load that the plan sweeps.
    pub fixed: Settings,
    /// Name of the metric.
    pub metric: String,
    /// The resources in the order of the plan.
    pub resources: Vec<ResourceShare>,
    /// All shares together, of those that were reached; none where no block has them all.
    pub sum: Option<Estimate>,
    /// What they leave unexplained: 1 - sum.
    pub left: Option<Estimate>,
    /// Whether the sum is surely above what shares of one cause can show: a fault of the model.
    #[serde(default)]
    pub beyond: bool,
}

/// Whether no point of a contest lacks headroom: without it a throttle acts on the generator, too.
fn has_headroom(asked: &&Asked<'_>) -> bool {
    !asked.barred.contains(&Some(Verdict::NoHeadroom))
}

/// The shares at every load of a run that took resources down; empty for other runs.
pub(super) fn elasticities<'r>(
    run: &Run,
    compared: impl Iterator<Item = &'r Compared<'r>>,
) -> Vec<Elasticity> {
    let Some(throttling) = &run.plan.method.elasticity else { return Vec::new() };
    let throttled = compared.filter(|one| one.factor == THROTTLED);
    let contests: Vec<&Contest<'_>> =
        throttled.flat_map(|one| &one.asked).filter(has_headroom).map(|a| &a.contest).collect();
    let mut found: Vec<Elasticity> = Vec::new();
    let mut start = 0;
    while let Some(first) = contests.get(start) {
        let same = |c: &&&Contest<'_>| c.load.name == first.load.name && c.fixed == first.fixed;
        let here: Vec<_> = contests[start..].iter().take_while(same).copied().collect();
        start += here.len();
        let all = here.iter().filter_map(|contest| {
            let throttle =
                throttling.throttles.iter().find(|t| t.resource == contest.other.name)?;
            one(run, contest, throttle)
        });
        let all: Vec<(ResourceShare, BTreeMap<u32, f64>)> = all.collect();
        if all.is_empty() {
            continue;
        }
        let reached = all.iter().filter(|(share, _)| share.weight != Weight::NotReached);
        let sum = sum(run, &reached.map(|(_, blocks)| blocks).collect::<Vec<_>>());
        let metric = run.plan.primary(&first.load.name).to_owned();
        let (load, fixed) = (first.load.name.clone(), first.fixed.clone());
        let left = sum.as_ref().map(|sum| turned(sum, |value| 1.0 - value));
        let most = most(1.0 - throttling.step.value);
        let beyond = sum.as_ref().is_some_and(|sum| sum.low.value > most);
        let resources = all.into_iter().map(|(share, _)| share).collect();
        found.push(Elasticity { load, fixed, metric, resources, sum, left, beyond });
    }
    found
}

/// One resource, and its share in every block.
fn one(
    run: &Run,
    contest: &Contest<'_>,
    throttle: &Throttle,
) -> Option<(ResourceShare, BTreeMap<u32, f64>)> {
    let left = throttle.left()?;
    let step = left.ln();
    let pairs: Vec<_> = contest.points.iter().flat_map(|point| &point.pairs).collect();
    let logs: Vec<f64> = pairs.iter().map(|pair| pair.log).collect();
    let ratio = decide(&logs, run.plan.method.rule())?.ratio;
    let mut sides: [Vec<Measured<'_>>; 2] = [Vec::new(), Vec::new()];
    for point in &contest.points {
        let [base, other] = point.sides();
        sides[0].extend(base);
        sides[1].extend(other);
    }
    let [as_is, held] = sides;
    let reserve = used(run, throttle, &as_is).filter(|u| is_reserve(u.centre.value, left, &ratio));
    // What hitting the lower limit costs a load that did not touch the limit as it is.
    let free = reserve.as_ref().map_or(0.0, |used| (left / used.centre.value).ln());
    let share = turned(&ratio, |ratio| (ratio.ln() - free) / step);
    let quota = of_quota(&throttle.key, &held);
    let weight = match &quota {
        Some((used, reached)) if used.centre.value < USED && *reached < REACHED => {
            Weight::NotReached
        }
        _ => weight(&share),
    };
    let blocks = pairs.iter().map(|pair| (pair.block, (pair.log - free) / step)).collect();
    let found = ResourceShare {
        resource: throttle.resource.clone(),
        comparison: name(contest),
        full: throttle.full.clone(),
        down: throttle.down.clone(),
        ratio,
        share,
        weight,
        used: quota.map(|(used, _)| used),
        reserve,
    };
    Some((found, blocks))
}

/// Use of a resource while nothing is taken down; none where no ceiling tells.
fn used(run: &Run, throttle: &Throttle, as_is: &[Measured<'_>]) -> Option<Estimate> {
    let (_, kinds) = USES.iter().find(|(key, _)| *key == throttle.key)?;
    let of = |trial: &Measured<'_>| use_of(run, trial.record, kinds);
    let all: Vec<f64> = as_is.iter().filter_map(of).collect();
    mean_or_single(&all, Unit::Share)
}

/// Whether a resource in use for a part `u` reached its limit only because it was taken down to
/// `left`, from the ratio r of the throughput: the use there, u r / left, is that of a full
/// resource, and r is surely nearer to left / u, where only the new limit counts, than to
/// 1 / (1 + u (1 / left - 1)), where each byte takes the share u of its time in the resource.
fn is_reserve(u: f64, left: f64, ratio: &Estimate) -> bool {
    let r = ratio.centre.value;
    let limited = left / u;
    let in_turn = 1.0 / (1.0 + u * (1.0 / left - 1.0));
    let reached = u * r / left >= FULL;
    let surely = ratio.low.value > f64::midpoint(limited, in_turn);
    u > left && u < 1.0 && r < 1.0 && reached && surely
}

/// The most that the shares of one cause can come to, where each byte passes the resources one
/// after the other: the limit of many small shares, (1 / q - 1) / -ln q; 1.086 for q = 0.85.
fn most(left: f64) -> f64 {
    (1.0 / left - 1.0) / -left.ln()
}

/// An estimate through a function that falls, whose ends change places; a share.
fn turned(estimate: &Estimate, by: impl Fn(f64) -> f64) -> Estimate {
    let share = |quantity: Quantity| Quantity::new(by(quantity.value), Unit::Share);
    Estimate {
        centre: share(estimate.centre),
        low: share(estimate.high),
        high: share(estimate.low),
        ..estimate.clone()
    }
}

fn weight(share: &Estimate) -> Weight {
    let (low, centre, high) = (share.low.value, share.centre.value, share.high.value);
    if high - low > WIDEST {
        Weight::Open
    } else if low > 1.0 + NONE {
        Weight::Beyond
    } else if centre >= ALL && low > 1.0 - REACH {
        Weight::All
    } else if centre <= NONE && high < REACH {
        Weight::None
    } else {
        Weight::Part
    }
}

/// Of the quota that a setting is: the part that the busiest host of its side used, and the share
/// of periods in which it was reached. None for other settings, and where it was not read.
fn of_quota(key: &str, trials: &[Measured<'_>]) -> Option<(Estimate, f64)> {
    let side: fn(&str) -> bool = match key {
        "server_quota" => is_server,
        "client_quota" => is_client,
        _ => return None,
    };
    let most = |record: &TrialRecord, key: &str| {
        let rows = record.readings.iter().filter(|r| r.probe == "quota" && r.key == key);
        rows.filter(|r| side(r.host.name())).map(|r| r.quantity.value).max_by(f64::total_cmp)
    };
    let all = |key: &str| -> Vec<f64> {
        trials.iter().filter_map(|trial| most(trial.record, key)).collect()
    };
    Some((mean_or_single(&all("use"), Unit::Share)?, mean(&all("throttled"))))
}

/// The sum over resources in each block that has them all.
fn sum(run: &Run, shares: &[&BTreeMap<u32, f64>]) -> Option<Estimate> {
    let (first, _) = shares.split_first()?;
    let whole = |block: &&u32| shares.iter().all(|blocks| blocks.contains_key(block));
    let of = |block: &u32| shares.iter().filter_map(|blocks| blocks.get(block)).sum::<f64>();
    let sums: Vec<f64> = first.keys().filter(whole).map(of).collect();
    // A share would be cut at 1, which chance may put it above.
    let sum = mean_or_single_at(&sums, Unit::Ratio, 1.0 - run.plan.method.alpha())?;
    let share = |quantity: Quantity| Quantity::new(quantity.value, Unit::Share);
    Some(Estimate { centre: share(sum.centre), low: share(sum.low), high: share(sum.high), ..sum })
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::simulated::{Simulated, Truth};
    use super::*;
    use crate::record::Reading;

    fn found(run: &Run) -> ResourceShare {
        let mut all = analyse(run).elasticity;
        assert_eq!(all.len(), 1);
        all.swap_remove(0).resources.swap_remove(0)
    }

    fn taken_down(truth: Truth, noise: f64) -> Run {
        Simulated { truth, noise, blocks: 10, ..Simulated::default() }.taken_down()
    }

    // ln 0.85 / ln 0.85 = 1, ln 0.922 / ln 0.85 = 0.5, ln 1 / ln 0.85 = 0.
    #[test]
    fn the_share_is_the_change_of_the_figure_over_that_of_the_resource() {
        let rows: [(Truth, f64, Weight); 3] = [
            (|_| 0.85, 1.0, Weight::All),
            (|_| 0.85_f64.sqrt(), 0.5, Weight::Part),
            (|_| 1.0, 0.0, Weight::None),
        ];
        for (truth, share, weight) in rows {
            let one = found(&taken_down(truth, 0.002));
            assert!((one.share.centre.value - share).abs() < 0.02, "{:?}", one.share);
            assert!(one.share.low.value <= one.share.centre.value);
            assert!(one.share.centre.value <= one.share.high.value);
            assert_eq!(one.weight, weight);
        }
        assert_eq!(found(&taken_down(|_| 0.93, 0.2)).weight, Weight::Open);
        assert_eq!(found(&taken_down(|_| 0.8, 0.002)).weight, Weight::Beyond, "a share of 1.37");
    }

    // By hand: a quota used for 90 % is full at 85 %, which alone leaves 0.85 / 0.9 = 0.944: a
    // share of 0. 0.92 is nearer to that than to 1 / (1 + 0.9 x 0.176) = 0.863: the share is
    // ln(0.92 x 0.9 / 0.85) / ln 0.85 = 0.161. 0.88 is not: ln 0.88 / ln 0.85 = 0.787.
    #[test]
    fn a_resource_that_is_full_only_when_taken_down_has_what_is_lost_beyond_that() {
        let rows: [(Truth, f64, f64, bool); 5] = [
            (|_| 0.85 / 0.9, 0.9, 0.0, true),
            (|_| 0.92, 0.9, 0.161, true),
            (|_| 0.88, 0.9, 0.787, false),
            (|_| 0.85, 0.99, 1.0, false),
            (|_| 0.92, 0.5, 0.513, false),
        ];
        for (truth, used, share, reserve) in rows {
            let mut run = taken_down(truth, 0.002);
            let throttle = &mut run.plan.method.elasticity.as_mut().unwrap().throttles[0];
            throttle.key = "server_quota".into();
            for record in &mut run.records {
                for (key, value) in [("use", used), ("throttled", 1.0)] {
                    record.readings.push(Reading {
                        probe: "quota".into(),
                        host: "sut".into(),
                        key: key.into(),
                        quantity: Quantity::new(value, Unit::Share),
                    });
                }
            }
            let one = found(&run);
            assert!((one.share.centre.value - share).abs() < 0.03, "{used}: {:?}", one.share);
            assert_eq!(one.reserve.is_some(), reserve, "{used}: {one:?}");
        }
    }

    #[test]
    fn what_the_shares_leave_is_told_and_other_plans_have_none() {
        let run = taken_down(|_| 0.85_f64.sqrt(), 0.002);
        let one = analyse(&run).elasticity.swap_remove(0);
        let (sum, left) = (one.sum.unwrap(), one.left.unwrap());
        assert!((sum.centre.value + left.centre.value - 1.0).abs() < 1e-12);
        assert!((left.low.value + sum.high.value - 1.0).abs() < 1e-12);
        assert!(analyse(&Simulated::default().run()).elasticity.is_empty());
    }

    #[test]
    fn a_quota_that_nobody_came_near_says_nothing_of_its_side() {
        let quota = |used: f64, throttled: f64| {
            let mut run = taken_down(|_| 1.0, 0.002);
            let throttle = &mut run.plan.method.elasticity.as_mut().unwrap().throttles[0];
            throttle.key = "server_quota".into();
            for record in &mut run.records {
                for (host, key, value) in [
                    ("sut", "use", used),
                    ("sut", "throttled", throttled),
                    ("c01", "use", 1.0),
                    ("c01", "throttled", 1.0),
                ] {
                    record.readings.push(Reading {
                        probe: "quota".into(),
                        host: host.into(),
                        key: key.into(),
                        quantity: Quantity::new(value, Unit::Share),
                    });
                }
            }
            found(&run)
        };
        let one = quota(0.5, 0.0);
        assert_eq!((one.weight, one.used.unwrap().centre.value), (Weight::NotReached, 0.5));
        assert_eq!(quota(0.99, 0.0).weight, Weight::None);
        assert_eq!(quota(0.5, 0.6).weight, Weight::None, "in bursts");
    }
}
