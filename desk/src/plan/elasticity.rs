//! Knows how a plan is turned into one that takes down one resource at a time.
//!
//! Must not know which resources there are, nor what is concluded.

use super::aa::{AaError, hold};
use crate::record::{FactorPlan, Level, Plan, Settings, Throttling};
use std::collections::BTreeMap;

/// The factor of such a plan: its first level takes down nothing, each other one resource.
pub const THROTTLED: &str = "throttled";

/// What is said of such a plan, in the language of its report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElasticityWords {
    /// Its title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// Name of the level at which nothing is taken down.
    pub as_is: String,
}

/// The plan with every factor held at its first level, or at the one that `held` (factor to level)
/// names, and every curve at its last point: the place at which resources are taken down.
///
/// # Errors
/// A factor or a level that the plan has not, with the nearest that it has.
pub fn at_one_place(plan: &Plan, held: &BTreeMap<String, String>) -> Result<Plan, AaError> {
    let mut plan = hold(plan, held)?;
    let curves: Vec<Option<String>> =
        plan.loads.iter().map(|load| plan.curve(load).map(str::to_owned)).collect();
    for (load, curve) in plan.loads.iter_mut().zip(curves) {
        for (_, values) in load.over.iter_mut().filter(|(name, _)| Some(name) == curve.as_ref()) {
            values.drain(..values.len().saturating_sub(1));
        }
    }
    plan.method.curve = None;
    for factor in &mut plan.factors {
        factor.reboot = false;
    }
    (plan.method.boots, plan.method.boot_time) = (0, None);
    plan.method.looks.clear();
    plan.published = None;
    Ok(plan)
}

/// A plan [at one place](at_one_place) with a level for each resource, at which it is taken down
/// and the others are as they are; all in the same blocks.
#[must_use]
pub fn one_at_a_time(plan: &Plan, throttling: Throttling, words: &ElasticityWords) -> Plan {
    let mut plan = plan.clone();
    let full: Settings =
        throttling.throttles.iter().map(|t| (t.key.clone(), t.full.clone())).collect();
    let mut levels = vec![Level { name: words.as_is.clone(), settings: full.clone() }];
    for throttle in &throttling.throttles {
        let mut settings = full.clone();
        settings.insert(throttle.key.clone(), throttle.down.clone());
        levels.push(Level { name: throttle.resource.clone(), settings });
    }
    plan.factors.push(FactorPlan::new(THROTTLED, levels));
    plan.method.compare = THROTTLED.into();
    plan.method.elasticity = Some(throttling);
    plan.title.clone_from(&words.title);
    plan.question.clone_from(&words.question);
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;
    use crate::plan::order;
    use crate::record::{Throttle, Value};
    use crate::unit::{Quantity, Unit};

    fn throttling() -> Throttling {
        let rate = |bits| Value::Quantity(Quantity::new(bits, Unit::BitPerSecond));
        let share = |share| Value::Quantity(Quantity::new(share, Unit::Share));
        let of = |resource: &str, key: &str, (full, down)| Throttle {
            resource: resource.into(),
            key: key.into(),
            full,
            down,
        };
        Throttling {
            step: Quantity::new(0.15, Unit::Share),
            throttles: vec![
                of("link", "rate", (rate(1e9), rate(8.5e8))),
                of("CPU", "cpu_speed", (share(1.0), share(0.85))),
            ],
            fixed: Vec::new(),
        }
    }

    #[test]
    fn one_resource_is_down_at_each_level_and_all_levels_meet_in_each_block() {
        let word = |text: &str| text.to_owned();
        let words = ElasticityWords { title: word("t"), question: word("q"), as_is: word("as is") };
        let plan = at_one_place(&small(), &BTreeMap::new()).unwrap();
        let plan = one_at_a_time(&plan, throttling(), &words);
        assert_eq!(plan.method.curve, None);
        let counted: Vec<_> = order(&plan).into_iter().filter(|t| t.block == 1).collect();
        // Two directions at the last size, three levels.
        assert_eq!(counted.len(), 2 * 3);
        for trial in &counted {
            assert_eq!(trial.point.params["request_size"].to_string(), "128 B");
            let down = |key: &str, full: &str| trial.settings[key].to_string() != full;
            let (link, cpu) = (down("rate", "1 Gbit/s"), down("cpu_speed", "100 %"));
            let level = trial.treatment.levels[THROTTLED].as_str();
            assert_eq!((link, cpu), (level == "link", level == "CPU"), "{:?}", trial.settings);
        }
        let left: Vec<Option<f64>> = throttling().throttles.iter().map(Throttle::left).collect();
        assert_eq!(left, [Some(0.85), Some(0.85)]);
        let unknown = BTreeMap::from([(word("nowhere"), word("x"))]);
        assert!(matches!(at_one_place(&small(), &unknown), Err(AaError::NoFactor { .. })));
    }
}
