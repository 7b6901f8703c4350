//! Knows how tests of loads of one machine write an order and what a thread measured.

use super::Order;
use desk::record::{Settings, Value, WorkloadSpec};
use desk::unit::Quantity;
use rig::metal::{Sampled, Series};

/// A word as a value.
pub fn word(text: &str) -> Value {
    Value::Word(text.into())
}

/// A size as a value.
pub fn bytes(size: u64) -> Value {
    Value::Quantity(Quantity::bytes(size))
}

/// An order with every parameter of a workload at these defaults, but for some.
pub fn order(spec: &WorkloadSpec, defaults: &[(&str, Value)], changes: &[(&str, Value)]) -> Order {
    let owned = |(key, value): &(&str, Value)| ((*key).to_owned(), value.clone());
    let mut params: Settings = defaults.iter().map(owned).collect();
    assert_eq!(params.len(), spec.params.len());
    params.extend(changes.iter().map(owned));
    Order { params, settings: Settings::new(), seed: 5 }
}

/// What a thread measured: samples of this work, each of so many nanoseconds, and no wrong result.
pub fn series(work: &[u64], ns: u64) -> Series {
    let sample = |work: &u64| Sampled { work: *work, ns, taint: None };
    Series {
        cpu: Some(0),
        samples: work.iter().map(sample).collect(),
        work: work.iter().sum(),
        verified: Ok(1),
        digest: None,
        paced: None,
        unit_bytes: None,
        distributions: Vec::new(),
    }
}
