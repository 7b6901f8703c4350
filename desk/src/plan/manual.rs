//! Knows how a plan with factors that a person sets becomes one at the levels that the person told.
//!
//! Must not know how he tells them, nor what is done with two such runs.

use super::aa::{AaError, level};
use super::remedy;
use crate::record::Plan;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a plan cannot be taken at the levels that were told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TellError {
    /// A factor or a level that the plan has not.
    #[error(transparent)]
    Unknown(#[from] AaError),
    /// A factor that the run switches by itself.
    #[error(
        "factor '{factor}' is switched by the run itself and compared within it; tell the level \
         of a factor with manual = true only"
    )]
    Switched {
        /// Which.
        factor: String,
    },
}

/// The plan with every factor that a person sets at the level that `told` (factor to level) names;
/// one of several levels that nobody told stays, which [`Plan::untold`] finds.
///
/// Where the compared factor is among them nothing is left of its comparison: the first factor that
/// still has several levels is compared instead, or nothing. Looks and primary comparison go with
/// it.
///
/// # Errors
/// A factor or level that the plan has not, or a factor that nobody has to tell.
pub fn told(plan: &Plan, told: &BTreeMap<String, String>) -> Result<Plan, TellError> {
    let names: Vec<&str> = plan.manual().map(|f| f.name.as_str()).collect();
    if let Some(name) = told.keys().find(|name| !names.contains(&name.as_str())) {
        if plan.factors.iter().any(|f| f.name == *name) {
            return Err(TellError::Switched { factor: name.clone() });
        }
        return Err(AaError::NoFactor { name: name.clone(), remedy: remedy(name, &names) }.into());
    }
    let mut plan = plan.clone();
    for factor in plan.factors.iter_mut().filter(|factor| factor.manual) {
        if let Some(name) = told.get(&factor.name) {
            factor.levels = vec![level(factor, Some(name))?];
        }
    }
    if told.contains_key(&plan.method.compare) {
        compare_another(&mut plan);
    }
    Ok(plan)
}

/// Compares the first factor that still has several levels, or nothing. Looks and primary
/// comparison go with the one that was compared.
pub(super) fn compare_another(plan: &mut Plan) {
    let other = plan.factors.iter().find(|factor| factor.levels.len() > 1);
    let other = other.map(|factor| factor.name.clone()).unwrap_or_default();
    let method = &mut plan.method;
    (method.compare, method.primary_comparison) = (other, None);
    method.looks.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::catalogue;
    use crate::plan::{order, read};
    use crate::record::{KeyClass, class_of};

    const TEXT: &str = r#"title = "t"
        [factors.snoop_filter]
        manual = true
        levels = ["on", "off"]
        [factors.thp]
        levels = ["always", "never"]
        [load.a]
        workload = "tcp_stream"
        [method]
        looks = [5, 10]
        primary_comparison = { level = "off" , thp = "never" }"#;

    fn plan() -> Plan {
        read(TEXT, &catalogue()).unwrap()
    }

    fn words(rows: &[(&str, &str)]) -> BTreeMap<String, String> {
        rows.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn a_plan_at_a_level_that_was_told_says_so_in_every_trial_and_compares_the_rest() {
        let whole = plan();
        assert_eq!(whole.untold().map(|f| f.name.as_str()), Some("snoop_filter"));
        let at = told(&whole, &words(&[("snoop_filter", "off")])).unwrap();
        assert!(at.untold().is_none());
        let trials = order(&at);
        assert!(trials.iter().all(|t| t.treatment.levels["snoop_filter"] == "off"));
        assert!(trials.iter().all(|t| t.settings["snoop_filter"].word() == Some("off")));
        assert_eq!(at.method.compare, "thp");
        assert!(at.method.looks.is_empty() && at.method.primary_comparison.is_none());
        let fact = &at.told()[0];
        assert_eq!((fact.key.as_str(), fact.value.as_str()), ("manual.snoop_filter", "off"));
        assert_eq!((fact.class, class_of(&fact.key)), (KeyClass::Factor, KeyClass::Factor));
    }

    #[test]
    fn where_nothing_else_has_levels_nothing_is_compared() {
        let mut whole = plan();
        whole.factors.truncate(1);
        let at = told(&whole, &words(&[("snoop_filter", "on")])).unwrap();
        assert_eq!(at.method.compare, "");
        assert_eq!(at.told()[0].value, "on");
    }

    #[test]
    fn what_was_not_told_stays_open_and_what_cannot_be_told_is_refused() {
        let whole = plan();
        let open = told(&whole, &words(&[])).unwrap();
        assert_eq!((open.untold().is_some(), open.method.looks.len()), (true, 2));
        let said = |rows: &[(&str, &str)]| told(&whole, &words(rows)).unwrap_err().to_string();
        assert!(said(&[("thp", "never")]).contains("switched by the run itself"));
        assert!(said(&[("snoop_filtr", "on")]).ends_with("did you mean 'snoop_filter'?"));
        assert!(said(&[("snoop_filter", "of")]).ends_with("did you mean 'off'?"));
    }
}
