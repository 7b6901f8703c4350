//! Knows the stable form of what the doctor found: keys are added, never renamed or taken away.

use super::Findings;
use super::forecast::Test;
use super::items::Item;
use super::show::{doubted, trusted};
use serde_json::{Value, json};

/// Version of the form.
const FORMAT: u32 = 1;

/// All of it.
pub fn json(findings: &Findings) -> Value {
    let items: Vec<Value> = findings.items.iter().map(|i| item(i, &findings.tests)).collect();
    let tests: Vec<Value> = findings.tests.iter().map(test).collect();
    json!({
        "format": FORMAT,
        "version": env!("CARGO_PKG_VERSION"),
        "can_measure": findings.can_measure(),
        "capabilities": items,
        "tests": tests,
        "left": findings.left,
        "trust": { "can": trusted(findings), "cannot": doubted(findings) },
    })
}

fn item(item: &Item, tests: &[Test]) -> Value {
    let found = &item.found;
    let hang = tests.iter().filter(|test| test.needs.contains(&found.name));
    let hang: Vec<String> = hang.map(|test| format!("{} --lab {}", test.id, test.lab)).collect();
    json!({
        "name": found.name,
        "state": found.state.name(),
        "evidence": found.evidence,
        "effect": item.effect.unwrap_or("recorded only"),
        "fix": found.fix.as_ref().filter(|_| item.effect.is_some()),
        "tests": hang,
    })
}

fn test(test: &Test) -> Value {
    json!({
        "id": test.id,
        "lab": test.lab,
        "possible": test.reason.is_none(),
        "reason": test.reason,
        "needs": test.needs,
        "plan": test.text,
    })
}
