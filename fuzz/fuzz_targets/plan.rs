//! Any text as a plan: it is read or refused with its line, and what is read can be laid out.
#![no_main]

use desk::plan::{Catalogue, budget, read};
use desk::record::WorkloadSpec;
use libfuzzer_sys::fuzz_target;
use rig::factor;

fuzz_target!(|text: &str| {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    match read(text, &catalogue) {
        Ok(plan) => {
            let budget = budget(&plan);
            assert!(budget.trials <= 100_000 && budget.longest.value.is_finite());
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
});
