//! Knows what a level comes to once the settings of its link are written out.

use super::finding::Comparison;
use crate::record::{Plan, Settings};

/// Key of the setting that says which link carries the traffic.
const PATH: &str = "path";

/// Everything in force under these settings: those of the link that carries the traffic (the first
/// one where nothing chooses), overridden by the settings themselves.
pub(super) fn effective(plan: &Plan, settings: &Settings) -> Settings {
    let links = &plan.lab.links;
    let link = match settings.get(PATH) {
        Some(path) => links.iter().find(|l| Some(l.name.as_str()) == path.word()),
        None => links.first(),
    };
    let mut all = link.map(|l| l.settings.clone()).unwrap_or_default();
    all.extend(
        settings.iter().filter(|(key, _)| *key != PATH).map(|(k, v)| (k.clone(), v.clone())),
    );
    all
}

/// Whether a comparison is one of A against A: both levels come to the same settings, for `path`
/// two links set alike. False if the plan does not know the factor or one of the levels.
#[must_use]
pub fn is_aa(plan: &Plan, comparison: &Comparison) -> bool {
    let Some(factor) = plan.factors.iter().find(|f| f.name == comparison.factor) else {
        return false;
    };
    let settings = |name: &str| {
        let level = factor.levels.iter().find(|l| l.name == name)?;
        Some(effective(plan, &level.settings))
    };
    let (base, other) = (settings(&comparison.base), settings(&comparison.other));
    base.is_some() && base == other
}
