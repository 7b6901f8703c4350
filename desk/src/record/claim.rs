//! Knows what published tests claimed, as `published/claims.csv` holds it.
//!
//! Never: whether it is so; how ours stands to it is a matter of the verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The file as it stood when stend was built.
const CLAIMS: &str = include_str!("../../../published/claims.csv");

/// One claim, in the columns of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Its name, `000-1`.
    pub id: String,
    /// The test that made it, `000`.
    pub source: String,
    /// What was tested.
    pub subject: String,
    /// What was compared.
    pub compared: String,
    /// Where it holds.
    pub region: String,
    /// Which way.
    pub direction: String,
    /// How much.
    pub magnitude: String,
    /// The cause its authors gave.
    #[serde(rename = "cause_given")]
    pub cause: String,
    /// Where it contradicts itself, or what is known better today.
    pub note: String,
}

/// All claims, in the order of the file. That every line can be read is a test.
#[must_use]
pub fn claims() -> Vec<Claim> {
    csv::Reader::from_reader(CLAIMS.as_bytes()).deserialize().filter_map(Result::ok).collect()
}

/// The tests that made them, sorted, each once: what a plan may name as `published`.
#[must_use]
pub fn claim_sources() -> Vec<String> {
    claims().into_iter().map(|c| c.source).collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_a_claim_with_a_name_of_its_own() {
        let lines = CLAIMS.lines().filter(|line| !line.is_empty()).count();
        let all = claims();
        assert_eq!(all.len(), lines - 1, "the first line names the columns");
        let names: BTreeSet<_> = all.iter().map(|c| c.id.clone()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|c| c.id.starts_with(&format!("{}-", c.source))));
    }

    #[test]
    fn a_quoted_comma_stays_in_its_column() {
        let first = claims().remove(0);
        assert_eq!((first.id.as_str(), first.source.as_str()), ("000-1", "000"));
        assert_eq!(first.direction, "rises with request size, flat above 8 KB");
        assert_eq!(first.cause, "server CPU near 100 % at small requests");
        assert_eq!(first.note, "");
    }

    #[test]
    fn the_sources_are_the_five_tests() {
        assert_eq!(claim_sources(), ["000", "001", "002", "003", "004"]);
    }
}
