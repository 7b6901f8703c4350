//! Knows how a pair of levels, a setting and a moment are set into a sentence.

use crate::claim::{setting_name, unbroken};
use crate::report::document::Prose;
use crate::report::words::Args;
use desk::record::{Plan, Run};
use desk::verdict::Comparison;

pub use crate::claim::{PATH, key_words, level_name, level_names};

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
    Prose::verbatim(&setting_name(key, value))
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

    #[test]
    fn a_moment_is_said_to_the_minute() {
        assert_eq!(moment("2026-11-21T01:11:26Z").replace('\u{a0}', " "), "2026-11-21 01:11 UTC");
        assert_eq!(moment("yesterday"), "yesterday");
    }
}
