//! Knows what a level, a setting and a condition are called wherever they are named.
//!
//! Never: a sentence. `on` alone says nothing, so a level that is only a value is said with its
//! key.

use desk::record::{Plan, Run, Settings, Value};
use desk::verdict::Comparison;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The factor whose levels are links; a link has a name of its own.
pub const PATH: &str = "path";

/// A parameter or a level of another factor under which a claim holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// Parameter or factor.
    pub key: String,
    /// Its value or level.
    pub value: String,
    /// As a text has it: `tso off`, `direction transmit`, `jumbo`.
    pub name: String,
    /// Whether the value says it all without its key: `transmit`, but not `on`.
    #[serde(skip)]
    pub(super) speaks: bool,
}

/// A text in which no space may become the end of a line.
#[must_use]
pub fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// A key of a plan as words: `request_size` is `request size`, `ip_version` is `IP version`.
#[must_use]
pub fn key_words(key: &str) -> String {
    let word = |word| if word == "ip" { "IP" } else { word };
    key.split('_').map(word).collect::<Vec<_>>().join(" ")
}

/// A value of a parameter, not to be broken.
#[must_use]
pub fn shown(value: &Value) -> String {
    unbroken(&value.to_string())
}

/// A setting in words: `tso on`, `request size 64 KiB`.
#[must_use]
pub fn setting_name(key: &str, value: &str) -> String {
    unbroken(&format!("{} {value}", key_words(key)))
}

/// A level as every text and every figure calls it: `tso on`, `mtu 9000 B`, but `onboard`.
///
/// A level whose name the person chose stays as it is; it is recognised by a name that differs
/// from the value it sets, or by more than one setting.
#[must_use]
pub fn level_name(plan: &Plan, factor: &str, level: &str) -> String {
    let known = plan.factors.iter().find(|f| f.name == factor);
    let known = known.and_then(|f| f.levels.iter().find(|l| l.name == level));
    let mut settings = known.into_iter().flat_map(|l| &l.settings);
    match (settings.next(), settings.next()) {
        (Some((key, value)), None) if key != PATH && value.to_string() == level => {
            setting_name(key, level)
        }
        _ => unbroken(level),
    }
}

/// Names of the two levels of a comparison, the baseline first.
#[must_use]
pub fn level_names(run: &Run, comparison: &Comparison) -> [String; 2] {
    [&comparison.base, &comparison.other]
        .map(|level| level_name(&run.plan, &comparison.factor, level))
}

/// Whether a value is a word that needs no name beside it: `transmit`, but not `on`.
fn speaks_for_itself(value: &Value) -> bool {
    value.word().is_some_and(|word| word.len() > 3)
}

/// Parameters of the load besides the curve, then levels of the other factors.
#[must_use]
pub fn nature(plan: &Plan, fixed: &Settings, stratum: &BTreeMap<String, String>) -> Vec<Setting> {
    let of_load = fixed.iter().map(|(key, value)| Setting {
        key: key.clone(),
        value: value.to_string(),
        name: setting_name(key, &value.to_string()),
        speaks: speaks_for_itself(value),
    });
    let of_levels = stratum.iter().map(|(factor, level)| {
        let name = level_name(plan, factor, level);
        let bare = name == unbroken(level);
        Setting {
            key: factor.clone(),
            value: level.clone(),
            name: if bare { setting_name(factor, level) } else { name },
            speaks: false,
        }
    });
    of_load.chain(of_levels).collect()
}
