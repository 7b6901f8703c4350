//! Knows what did the work of a trial, and whether two sides of a comparison had the same of it.
//!
//! An engine of another version, by another call path, on other features of the CPU or with another
//! C library is another thing, whatever it is called, and so is a load that reads another file:
//! between two such there is no verdict, unless the compared factor itself is what changes it.
//! Never: which of the two is faster.

use super::pairing::Contest;
use crate::record::{Level, LoadPlan, ParamRole, Settings, TrialRecord, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Keys of what a load was made with that begin so say what did the work, and so does its engine.
const IDENTITY: [&str; 4] = ["call_path", "cpu_features", FILE, "libc"];
/// What tells the content of a file that a load reads; a path as a level changes it on purpose.
const FILE: &str = "file_digest";
/// A setting, and the identity that it changes on purpose.
const CHANGES: [(&str, &str); 1] = [("openssl_ia32cap", "cpu_features")];
/// What stands for a key that a side lacks.
const ABSENT: &str = "not told";

/// A key of the identity in which the two sides of a comparison differ at a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdentityKey {
    /// As the records have it: `engine_version`.
    pub key: String,
    /// What the baseline has; of several values all.
    pub base: String,
    /// What the other level has.
    pub other: String,
}

/// A point of a comparison whose two sides were not made by the same: it has no verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnlikeIdentity {
    /// The comparison.
    pub comparison: String,
    /// Value of the curve parameter, if there is one.
    pub at: Option<Value>,
    /// In what they differ, sorted by key.
    pub keys: Vec<IdentityKey>,
}

/// Every point of a contest whose sides differ in identity, and the place of each.
pub(super) fn unlike(contest: &Contest<'_>, comparison: &str) -> Vec<(usize, UnlikeIdentity)> {
    let mut wanted = changed([contest.base, contest.other]);
    if contest.factor.ladder {
        // What a rung takes out may have done the work.
        wanted.extend(switched([&contest.base.settings, &contest.other.settings]).cloned());
    }
    let at_place = |(place, point): (usize, &super::pairing::PairedPoint<'_>)| {
        let [base, other] = point.sides();
        let [base, other] =
            [&base, &other].map(|side| identity(contest.load, side.iter().map(|t| t.record)));
        let keys = differing(&base, &other, &wanted);
        let (comparison, at) = (comparison.to_owned(), point.at.clone());
        (!keys.is_empty()).then_some((place, UnlikeIdentity { comparison, at, keys }))
    };
    contest.points.iter().enumerate().filter_map(at_place).collect()
}

/// What each key of the identity was over some records.
pub(super) type Identity<'r> = BTreeMap<&'r str, BTreeSet<String>>;

/// What did the work of these records of a load.
pub(super) fn identity<'r>(
    load: &LoadPlan,
    records: impl Iterator<Item = &'r TrialRecord>,
) -> Identity<'r> {
    let mut all = Identity::new();
    let engine = load.roles.get(&ParamRole::Engine).map(String::as_str);
    for (key, value) in records.flat_map(|record| &record.outcome.made_with) {
        if IDENTITY.into_iter().chain(engine).any(|start| key.starts_with(start)) {
            all.entry(key).or_default().insert(value.to_string());
        }
    }
    all
}

/// The keys in which two sides differ, but for those that begin as one of `wanted`.
pub(super) fn differing(
    base: &Identity<'_>,
    other: &Identity<'_>,
    wanted: &BTreeSet<String>,
) -> Vec<IdentityKey> {
    let keys: BTreeSet<&str> = base.keys().chain(other.keys()).copied().collect();
    let asked = |key: &&str| !wanted.iter().any(|start| key.starts_with(start.as_str()));
    let said = |side: &Identity<'_>, key: &str| match side.get(key) {
        Some(values) => values.iter().cloned().collect::<Vec<_>>().join(" / "),
        None => ABSENT.to_owned(),
    };
    let differs = keys.into_iter().filter(asked).filter(|key| base.get(key) != other.get(key));
    differs
        .map(|key| IdentityKey { key: key.into(), base: said(base, key), other: said(other, key) })
        .collect()
}

/// How the keys begin that two levels change on purpose.
pub(super) fn changed(levels: [&Level; 2]) -> BTreeSet<String> {
    changed_by(levels.map(|level| &level.settings))
}

/// The settings that differ.
fn switched([base, other]: [&Settings; 2]) -> impl Iterator<Item = &String> {
    let keys = base.keys().chain(other.keys());
    keys.filter(move |key| base.get(*key) != other.get(*key))
}

fn changed_by(levels: [&Settings; 2]) -> BTreeSet<String> {
    let changes = |key: &String| {
        let of = CHANGES.iter().filter(move |(setting, _)| setting == key);
        let mut all: Vec<String> = of.map(|(_, changed)| (*changed).to_owned()).collect();
        all.extend(IDENTITY.contains(&key.as_str()).then(|| key.clone()));
        let values = levels.iter().filter_map(|level| level.get(key)?.word());
        all.extend(values.filter(|value| value.starts_with('/')).map(|_| FILE.to_owned()));
        all
    };
    switched(levels).flat_map(changes).collect()
}
