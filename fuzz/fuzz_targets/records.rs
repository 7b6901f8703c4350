//! Any text as records: refused, or the same when written and read again, and no report on it
//! panics.
#![no_main]

use desk::record::Run;
use desk::verdict::{FailIf, analyse, gate};
use libfuzzer_sys::fuzz_target;
use press::report;

fuzz_target!(|text: &str| {
    let Ok(run) = serde_json::from_str::<Run>(text) else { return };
    let written = serde_json::to_string(&run).unwrap_or_default();
    if let Ok(again) = serde_json::from_str::<Run>(&written) {
        assert_eq!(written, serde_json::to_string(&again).unwrap_or_default());
    }
    let analysis = analyse(&run);
    let _ = gate(&run, &analysis, FailIf::Worse, None);
    if let Ok(document) = report::compose(&run, &analysis) {
        assert!(report::markdown(&document).lines().count() <= 60);
        let _ = (report::text(&document, 80, true), report::json(&document));
    }
});
