//! Knows what is known of a level beside its work: price, mass and noise as a person entered them,
//! and how hot the machine was under it.
//!
//! Never: which level is to be taken.

use super::measured::replicated;
use crate::record::{Run, TrialKind, TrialRecord};
use crate::stats::{Estimate, centre_of_blocks};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The probe of temperatures.
const THERMAL: &str = "thermal";

/// A level beside its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelTraits {
    /// The factor.
    pub factor: String,
    /// The level.
    pub level: String,
    /// Its price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Quantity>,
    /// Its mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<Quantity>,
    /// Its noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Quantity>,
    /// The hottest sensor in each block, over blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Estimate>,
}

impl LevelTraits {
    const fn is_known(&self) -> bool {
        let entered = self.price.is_some() || self.mass.is_some() || self.noise.is_some();
        entered || self.temperature.is_some()
    }
}

/// Every level of the compared factor, the baseline first; nothing where nothing is known of any.
pub(super) fn traits(run: &Run) -> Vec<LevelTraits> {
    let plan = &run.plan;
    let compared = plan.factors.iter().filter(|f| f.name == plan.method.compare);
    let levels = compared.flat_map(|f| f.levels.iter().map(|level| (&f.name, &level.name)));
    let one = |(factor, level): (&String, &String)| {
        let taken = |what: &str| plan.taken(factor, level, what);
        let [price, mass, noise] = ["price", "mass", "noise"].map(taken);
        let temperature = temperature(run, (factor, level));
        let (factor, level) = (factor.clone(), level.clone());
        LevelTraits { factor, level, price, mass, noise, temperature }
    };
    let all: Vec<LevelTraits> = levels.map(one).collect();
    if all.iter().any(LevelTraits::is_known) { all } else { Vec::new() }
}

/// Degrees Celsius under a level; none where no sensor was read.
fn temperature(run: &Run, (factor, level): (&String, &String)) -> Option<Estimate> {
    let here = run.records.iter().filter(|record| {
        record.trial.kind == TrialKind::Counted
            && record.outcome.fault.is_none()
            && record.trial.treatment.levels.get(factor) == Some(level)
    });
    let hottest = |record: &TrialRecord| {
        let sensors = record.readings.iter().filter(|r| r.probe == THERMAL);
        let degrees = sensors.map(|r| r.quantity).filter(|q| q.unit == Unit::Celsius);
        degrees.map(|q| q.value).max_by(f64::total_cmp)
    };
    let mut blocks: BTreeMap<u32, (&TrialRecord, f64)> = BTreeMap::new();
    for (record, degrees) in here.filter_map(|record| Some((record, hottest(record)?))) {
        let most = blocks.entry(record.trial.block).or_insert((record, degrees));
        most.1 = most.1.max(degrees);
    }
    let values: Vec<f64> =
        replicated(run.plan.replicate(), blocks.into_values()).into_values().collect();
    centre_of_blocks(&values, Unit::Celsius, 1.0 - run.plan.method.alpha())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Reading;
    use crate::verdict::simulated::Simulated;

    #[test]
    fn a_level_has_the_hottest_sensor_of_each_block_and_nothing_is_told_of_nothing() {
        let mut run = Simulated { blocks: 5, ..Simulated::default() }.run();
        assert_eq!(traits(&run), []);
        for record in &mut run.records {
            let fast = record.trial.treatment.levels.values().any(|level| level == "pro1000");
            for (key, degrees) in [("zone.acpitz", 40.0), ("hwmon.coretemp", 60.0)] {
                let degrees = if fast { degrees + 5.0 } else { degrees };
                let quantity = Quantity::new(degrees, Unit::Celsius);
                let (probe, host) = (THERMAL.into(), "machine".into());
                record.readings.push(Reading { probe, host, key: key.into(), quantity });
            }
        }
        let found = traits(&run);
        let told: Vec<(&str, f64, u32)> = found
            .iter()
            .filter_map(|one| Some((&one.level, one.temperature.as_ref()?)))
            .map(|(level, hot)| (level.as_str(), hot.centre.value, hot.n))
            .collect();
        assert_eq!(told, [("onboard", 60.0, 5), ("pro1000", 65.0, 5)]);
        assert!(found.iter().all(|one| one.price.is_none() && one.mass.is_none()));
    }
}
