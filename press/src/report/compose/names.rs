//! Knows what a level, a setting and a moment are called wherever they are named.
//!
//! Never: a sentence. `on` alone says nothing, so a level that is only a value is said with its
//! key.

use crate::report::document::{Prose, unbroken};
use crate::report::words::Args;
use desk::record::{Plan, Run};
use desk::verdict::Comparison;

/// The factor whose levels are links; a link has a name of its own.
pub(super) const PATH: &str = "path";

/// A key of a plan as words: `request_size` is `request size`.
pub fn key_words(key: &str) -> String {
    key.replace('_', " ")
}

/// A level as every text and every figure calls it: `tso on`, `mtu 9000 B`, but `onboard`.
///
/// A level whose name the person chose stays as it is; it is recognised by a name that differs
/// from the value it sets, or by more than one setting.
pub fn level_name(plan: &Plan, factor: &str, level: &str) -> String {
    let known = plan.factors.iter().find(|f| f.name == factor);
    let known = known.and_then(|f| f.levels.iter().find(|l| l.name == level));
    let mut settings = known.into_iter().flat_map(|l| &l.settings);
    let name = match (settings.next(), settings.next()) {
        (Some((key, value)), None) if key != PATH && value.to_string() == level => {
            format!("{} {level}", key_words(key))
        }
        _ => level.to_owned(),
    };
    unbroken(&name)
}

/// Names of the two levels of a comparison, the baseline first.
pub fn level_names(run: &Run, comparison: &Comparison) -> [String; 2] {
    [&comparison.base, &comparison.other]
        .map(|level| level_name(&run.plan, &comparison.factor, level))
}

/// The two levels as the arguments `base` and `other`.
pub fn pair(run: &Run, comparison: &Comparison) -> Args {
    let [base, other] = level_names(run, comparison);
    Args::new().name("base", &base).name("other", &other)
}

/// The two levels with the key said once: `mtu 9000 B` and `1500 B`.
pub fn short_pair(run: &Run, comparison: &Comparison) -> Args {
    short_levels(&run.plan, &comparison.factor, [&comparison.base, &comparison.other])
}

/// The same for any two levels of a factor, the baseline first.
pub fn short_levels(plan: &Plan, factor: &str, levels: [&str; 2]) -> Args {
    let [base, other] = levels.map(|level| level_name(plan, factor, level));
    let key = |name: &str, level: &str| name.strip_suffix(&unbroken(level)).map(str::to_owned);
    let shared = key(&base, levels[0]) == key(&other, levels[1]);
    let base = if shared { unbroken(levels[0]) } else { base };
    Args::new().name("base", &base).name("other", &other)
}

/// A setting in words: `tso on`, `request size 64 KiB`.
pub fn setting(key: &str, value: &str) -> Prose {
    Prose::verbatim(&unbroken(&format!("{} {value}", key_words(key))))
}

/// A moment to the minute: `2026-11-21 01:11 UTC`; one that is not RFC 3339 in UTC stays as it is.
pub fn moment(rfc: &str) -> String {
    let read = rfc.strip_suffix('Z').and_then(|text| text.split_once('T'));
    match read.and_then(|(day, time)| Some((day, time.get(..5)?))) {
        Some((day, minute)) => unbroken(&format!("{day} {minute} UTC")),
        None => rfc.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;
    use desk::record::{FactorPlan, Level, Settings, Value};

    fn named(key: &str, level: &str, settings: Settings) -> String {
        let (mut run, _) = fixture::single("Names", 1.2);
        let levels = vec![Level { name: level.into(), settings }];
        run.plan.factors =
            vec![FactorPlan { name: key.into(), levels, reboot: false, manual: false }];
        level_name(&run.plan, key, level)
    }

    fn word(key: &str, value: &str) -> Settings {
        [(key.to_owned(), Value::Word(value.into()))].into()
    }

    #[test]
    fn a_level_that_is_only_a_value_is_said_with_its_key() {
        assert_eq!(named("tso", "on", word("tso", "on")), "tso\u{a0}on");
        let name = named("interrupt_cpu", "all", word("interrupt_cpu", "all"));
        assert_eq!(name.replace('\u{a0}', " "), "interrupt cpu all");
    }

    #[test]
    fn a_moment_is_said_to_the_minute() {
        assert_eq!(moment("2026-11-21T01:11:26Z").replace('\u{a0}', " "), "2026-11-21 01:11 UTC");
        assert_eq!(moment("yesterday"), "yesterday");
    }

    #[test]
    fn a_level_that_has_a_name_of_its_own_keeps_it() {
        assert_eq!(named("path", "onboard", word("path", "onboard")), "onboard");
        assert_eq!(named("setup", "jumbo", word("mtu", "9000 B")), "jumbo");
        let mut bundle = word("tso", "on");
        bundle.extend(word("gro", "on"));
        assert_eq!(named("setup", "on", bundle), "on");
    }
}
