//! Any text as a distribution: refused, or a histogram whose quantiles rise and that is twice
//! itself when merged with itself; no panic, and no more memory than a histogram of stend takes.
#![no_main]

use desk::record::Distribution;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(one) = serde_json::from_str::<Distribution>(text) else { return };
    let Ok(read) = one.read() else {
        assert_eq!(one.quantile(0.5), None);
        return;
    };
    assert_eq!(read.len(), one.count);
    let quantiles = [0.001, 0.5, 0.99, 1.0].map(|at| one.quantile(at));
    assert!(quantiles.iter().all(|value| value.is_some() == (one.count > 0)));
    assert!(quantiles.windows(2).all(|two| two[0] <= two[1]));
    if let Ok(Some(merged)) = Distribution::merged([&one, &one]) {
        assert_eq!(merged.len(), read.len().saturating_mul(2));
    }
});
