//! Knows the stable form of what the doctor found: keys are added, never renamed or taken away.

use super::Findings;
use super::forecast::Test;
use super::items::Item;
use super::show::{doubted, trusted};
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the form.
const FORMAT: u32 = 1;

/// What `doctor` prints with `--json`.
#[derive(Serialize, JsonSchema)]
pub struct Doctor<'a> {
    /// Version of this form.
    format: u32,
    /// Version of stend.
    version: &'a str,
    /// Whether any place but the simulated one has a test that runs.
    can_measure: bool,
    /// What the machine lets us do or see.
    capabilities: Vec<Capability<'a>>,
    /// Every test of this build in every kind of place.
    tests: Vec<Forecast<'a>>,
    /// What killed runs left, in words.
    left: &'a [String],
    /// What the figures of this machine may be trusted with.
    trust: Trust,
}

/// A capability as it was tried.
#[derive(Serialize, JsonSchema)]
struct Capability<'a> {
    /// Its name.
    name: &'a str,
    /// `ok`, `degraded` or `absent`.
    state: &'a str,
    /// What was seen.
    evidence: &'a str,
    /// What it does for tests of this build.
    effect: &'a str,
    /// What would help; none where nothing would, or nothing uses it.
    fix: Option<&'a str>,
    /// The tests that need it, as `plan aa --lab root`.
    tests: Vec<String>,
}

/// Whether a test runs.
#[derive(Serialize, JsonSchema)]
struct Forecast<'a> {
    /// What is tested: `plan aa`, `survey network`, `factor mtu`.
    id: &'a str,
    /// Where, as `--lab` calls it.
    lab: &'a str,
    /// Whether it runs.
    possible: bool,
    /// Why not, in the words of the run that is refused.
    reason: Option<&'a str>,
    /// Names of the capabilities that it needs.
    needs: &'a [String],
    /// Its plan, as TOML.
    plan: &'a str,
}

/// Phrases for a person.
#[derive(Serialize, JsonSchema)]
struct Trust {
    /// What can be trusted.
    can: Vec<String>,
    /// What cannot.
    cannot: Vec<String>,
}

/// All of it.
pub fn json(findings: &Findings) -> Doctor<'_> {
    Doctor {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        can_measure: findings.can_measure(),
        capabilities: findings.items.iter().map(|i| item(i, &findings.tests)).collect(),
        tests: findings.tests.iter().map(test).collect(),
        left: &findings.left,
        trust: Trust { can: trusted(findings), cannot: doubted(findings) },
    }
}

fn item<'a>(item: &'a Item, tests: &[Test]) -> Capability<'a> {
    let found = &item.found;
    let hang = tests.iter().filter(|test| test.needs.contains(&found.name));
    Capability {
        name: &found.name,
        state: found.state.name(),
        evidence: &found.evidence,
        effect: item.effect.unwrap_or("recorded only"),
        fix: found.fix.as_deref().filter(|_| item.effect.is_some()),
        tests: hang.map(|test| format!("{} --lab {}", test.id, test.lab)).collect(),
    }
}

fn test(test: &Test) -> Forecast<'_> {
    Forecast {
        id: &test.id,
        lab: test.lab,
        possible: test.reason.is_none(),
        reason: test.reason.as_deref(),
        needs: &test.needs,
        plan: &test.text,
    }
}
