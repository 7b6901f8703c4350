//! Knows how a plan is turned against itself: the same treatment under two names.
//!
//! Must not know what is concluded from it, nor a word of any language.

use super::remedy;
use crate::record::{FactorPlan, Level, Plan};
use std::collections::BTreeMap;
use thiserror::Error;

/// What is said of a plan against itself, in the language of its report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AaWords {
    /// Its title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// Name of the factor of a plan that has none.
    pub factor: String,
    /// Name of that factor's level.
    pub level: String,
    /// Name of the second of the two equal levels; another than that of the first.
    pub again: String,
}

/// Why a level cannot be held.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AaError {
    /// No such factor.
    #[error("there is no factor '{name}' in the plan; {remedy}")]
    NoFactor {
        /// As given.
        name: String,
        /// The nearest, or all.
        remedy: String,
    },
    /// No such level.
    #[error("factor '{factor}' has no level '{name}'; {remedy}")]
    NoLevel {
        /// The factor.
        factor: String,
        /// As given.
        name: String,
        /// The nearest, or all.
        remedy: String,
    },
}

/// The plan with every factor held at its first level, or at the one that `held` (factor to level)
/// names, and the compared factor's level against itself under another name.
///
/// Loads, blocks, windows and rules stay: what such a run shows is the noise of the plan. Levels do
/// not differ, so nothing is switched between its trials.
///
/// # Errors
/// A factor or a level that the plan has not, with the nearest that it has.
pub fn against_itself(
    plan: &Plan,
    held: &BTreeMap<String, String>,
    words: &AaWords,
) -> Result<Plan, AaError> {
    let mut plan = hold(plan, held)?;
    for factor in &mut plan.factors {
        // A level that is never left needs no boot.
        factor.reboot &= factor.name == plan.method.compare;
    }
    if !plan.factors.iter().any(|factor| factor.reboot) {
        (plan.method.boots, plan.method.boot_time) = (0, None);
    }
    if plan.factors.is_empty() {
        let level = Level { name: words.level.clone(), settings: BTreeMap::new() };
        let (name, levels) = (words.factor.clone(), vec![level]);
        plan.factors = vec![FactorPlan::new(&name, levels)];
        plan.method.compare.clone_from(&words.factor);
    }
    let compared = plan.method.compare.clone();
    for factor in plan.factors.iter_mut().filter(|f| f.name == compared) {
        let again = factor.levels.first().map(|level| level.settings.clone());
        let again = again.map(|settings| Level { name: words.again.clone(), settings });
        factor.levels.extend(again);
    }
    plan.title.clone_from(&words.title);
    plan.question.clone_from(&words.question);
    plan.published = None;
    // One level against itself is the only comparison under each condition.
    plan.method.primary_comparison = None;
    Ok(plan)
}

/// The plan with every factor held at its first level, or at the one that `held` names.
pub(super) fn hold(plan: &Plan, held: &BTreeMap<String, String>) -> Result<Plan, AaError> {
    let mut plan = plan.clone();
    let factors: Vec<&str> = plan.factors.iter().map(|f| f.name.as_str()).collect();
    if let Some(name) = held.keys().find(|name| !factors.contains(&name.as_str())) {
        return Err(AaError::NoFactor { name: name.clone(), remedy: remedy(name, &factors) });
    }
    for factor in &mut plan.factors {
        let level = level(factor, held.get(&factor.name))?;
        factor.levels = vec![level];
    }
    Ok(plan)
}

/// The level of a factor by its name, or its first.
pub(super) fn level(factor: &FactorPlan, held: Option<&String>) -> Result<Level, AaError> {
    let names: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
    let name = held.map_or_else(|| names.first().copied().unwrap_or_default(), String::as_str);
    let found = factor.levels.iter().find(|l| l.name == name);
    found.cloned().ok_or_else(|| AaError::NoLevel {
        factor: factor.name.clone(),
        name: name.into(),
        remedy: remedy(name, &names),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;
    use crate::plan::{budget, order};

    fn held(words: &[(&str, &str)]) -> BTreeMap<String, String> {
        words.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn words() -> AaWords {
        let word = |text: &str| text.to_owned();
        AaWords {
            title: word("t"),
            question: word("q"),
            factor: word("same"),
            level: word("one"),
            again: word("one more"),
        }
    }

    fn against_itself(plan: &Plan, held: &BTreeMap<String, String>) -> Result<Plan, AaError> {
        super::against_itself(plan, held, &words())
    }

    #[test]
    fn a_plan_against_itself_keeps_its_loads_and_sets_the_same_on_both_sides() {
        let plan = small();
        let aa = against_itself(&plan, &held(&[])).unwrap();
        assert_eq!((&aa.loads, &aa.lab, aa.method.blocks), (&plan.loads, &plan.lab, 5));
        let compared = aa.factors.iter().find(|f| f.name == aa.method.compare).unwrap();
        assert_eq!(compared.levels.len(), 2);
        assert_eq!(compared.levels[0].settings, compared.levels[1].settings);
        assert_eq!(compared.levels[1].name, "one more");
        assert_eq!((aa.title.as_str(), aa.question.as_str()), ("t", "q"));
        assert!(
            aa.factors.iter().filter(|f| f.name != aa.method.compare).all(|f| f.levels.len() == 1)
        );
        assert_eq!(budget(&aa).treatments, 2);
        assert!(order(&aa).iter().all(|t| t.settings == order(&aa)[0].settings));
    }

    #[test]
    fn only_the_factor_against_itself_still_boots() {
        let mut plan = small();
        (plan.factors[0].reboot, plan.factors[1].reboot, plan.method.boots) = (true, true, 3);
        let aa = against_itself(&plan, &held(&[])).unwrap();
        assert_eq!((aa.method.boots, aa.boots()), (3, 6));
        assert_eq!(aa.rebooted().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["path"]);
        plan.factors[0].reboot = false;
        let aa = against_itself(&plan, &held(&[])).unwrap();
        assert_eq!((aa.method.boots, aa.method.boot_time, aa.rebooted().count()), (0, None, 0));
    }

    #[test]
    fn a_level_is_held_by_its_name_and_an_unknown_one_refused() {
        let plan = small();
        let factor = &plan.factors[0];
        let last = &factor.levels.last().unwrap().name;
        let aa = against_itself(&plan, &held(&[(&factor.name, last)])).unwrap();
        assert_eq!(&aa.factors[0].levels[0].name, last);
        let wrong = against_itself(&plan, &held(&[(&factor.name, "nowhere at all")]));
        assert!(matches!(wrong, Err(AaError::NoLevel { .. })));
        let slip = format!("{}x", factor.name);
        let said = against_itself(&plan, &held(&[(&slip, last)])).unwrap_err().to_string();
        assert!(said.ends_with(&format!("did you mean '{}'?", factor.name)), "{said}");
    }

    #[test]
    fn a_plan_without_factors_has_one_that_sets_nothing() {
        let mut plan = small();
        plan.factors.clear();
        plan.method.compare.clear();
        let aa = against_itself(&plan, &held(&[])).unwrap();
        assert_eq!((aa.factors.len(), aa.factors[0].levels.len()), (1, 2));
        assert_eq!((aa.method.compare.as_str(), aa.factors[0].name.as_str()), ("same", "same"));
        assert_eq!(aa.factors[0].levels[0].name, "one");
    }
}
