//! Knows how a plan unfolds into load points and treatments; knows nothing of their order in time.

use crate::record::{LoadPlan, LoadPoint, Plan, Settings, Treatment};
use std::collections::BTreeMap;

/// Every load point of the plan and every treatment with what it sets.
///
/// Points follow the plan: load by load, the first swept parameter changing slowest. Treatments are
/// all combinations of factor levels, that of the baselines first and the first factor changing
/// slowest; a plan without factors has one treatment, which sets nothing.
#[must_use]
pub fn expand(plan: &Plan) -> (Vec<LoadPoint>, Vec<(Treatment, Settings)>) {
    (plan.loads.iter().flat_map(points).collect(), treatments(plan))
}

fn points(load: &LoadPlan) -> Vec<LoadPoint> {
    let mut combinations = vec![load.fixed.clone()];
    for (name, values) in &load.over {
        combinations = combinations
            .iter()
            .flat_map(|params| {
                values.iter().map(|value| {
                    let mut params = params.clone();
                    params.insert(name.clone(), value.clone());
                    params
                })
            })
            .collect();
    }
    combinations
        .into_iter()
        .map(|params| LoadPoint {
            load: load.name.clone(),
            workload: load.workload.clone(),
            params,
        })
        .collect()
}

fn treatments(plan: &Plan) -> Vec<(Treatment, Settings)> {
    let mut combinations = vec![(Treatment { levels: BTreeMap::new() }, Settings::new())];
    for factor in &plan.factors {
        combinations = combinations
            .iter()
            .flat_map(|(treatment, settings)| {
                factor.levels.iter().map(|level| {
                    let (mut treatment, mut settings) = (treatment.clone(), settings.clone());
                    treatment.levels.insert(factor.name.clone(), level.name.clone());
                    settings.extend(level.settings.clone());
                    (treatment, settings)
                })
            })
            .collect();
    }
    combinations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;

    #[test]
    fn the_baselines_come_first_and_the_last_sweep_changes_fastest() {
        let (points, treatments) = expand(&small());
        let swept: Vec<String> = points
            .iter()
            .map(|p| format!("{} {}", p.params["direction"], p.params["request_size"]))
            .collect();
        let all = ["transmit 64 B", "transmit 128 B", "receive 64 B", "receive 128 B"];
        assert_eq!(swept, all);
        assert_eq!(points[0].params.len(), 9);
        let set: Vec<String> =
            treatments.iter().map(|(_, s)| format!("{} {}", s["path"], s["tso"])).collect();
        assert_eq!(set, ["one on", "one off", "two on", "two off"]);
        assert_eq!(treatments[0].0.levels["path"], "one");
    }

    #[test]
    fn a_plan_without_factors_has_one_treatment_that_sets_nothing() {
        let mut plan = small();
        plan.factors.clear();
        let (_, treatments) = expand(&plan);
        assert_eq!(treatments, [(Treatment { levels: BTreeMap::new() }, Settings::new())]);
    }
}
