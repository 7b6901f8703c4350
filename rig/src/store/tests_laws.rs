//! What holds of every record: JSON in zstd brings it back to the last bit; no bytes are a panic.

use super::{Sealed, Store, written};
use desk::record::{Fault, Reading, Sample, TrialRecord, Value};
use desk::unit::{Quantity, Unit};
use proptest::prelude::*;
use std::fs;

const V3: &[u8] = include_bytes!("golden/v3.stend");

/// A store to pack by, and a record of it.
fn store() -> (Store, TrialRecord) {
    let folder = std::env::temp_dir().join(format!("stend-store-law-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{:?}.stend", std::thread::current().id()));
    fs::write(&path, V3).unwrap();
    let store = Store::read(&path).unwrap();
    let record = store.load("last").unwrap().records.remove(0);
    (store, record)
}

fn quantity() -> impl Strategy<Value = Quantity> {
    let unit = proptest::sample::select(vec![Unit::Byte, Unit::Share, Unit::Celsius, Unit::Count]);
    let value = any::<f64>().prop_filter("JSON has no other", |value| value.is_finite());
    (value, unit).prop_map(|(value, unit)| Quantity::new(value, unit))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(128)
    })]

    #[test]
    fn a_record_comes_back_to_the_last_bit(
        samples in proptest::collection::vec((any::<String>(), quantity()), 0..6),
        readings in proptest::collection::vec((any::<String>(), quantity()), 0..6),
        words in proptest::collection::btree_map(any::<String>(), any::<String>(), 0..4),
        (seed, started_s) in (any::<u64>(), 0.0..1e9_f64),
        what in proptest::option::of(any::<String>()),
    ) {
        let (store, mut record) = store();
        let sample = |(metric, quantity)| Sample { metric, quantity };
        record.outcome.samples = samples.into_iter().map(sample).collect();
        let reading = |(key, quantity)| {
            Reading { probe: "p".into(), host: "sut".into(), key, quantity }
        };
        record.readings = readings.into_iter().map(reading).collect();
        let word = |(key, word)| (key, Value::Word(word));
        record.observed = words.into_iter().map(word).collect();
        (record.trial.seed, record.started_s) = (seed, started_s);
        record.outcome.fault = what.map(|what| Fault::WrongWork { what });
        let back: TrialRecord = store.unpack(&store.pack(&record).unwrap(), String::new).unwrap();
        prop_assert_eq!(back, record);
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (store, _) = store();
        let sealed = Sealed { digest: written(&bytes), bytes };
        prop_assert!(store.unpack::<TrialRecord>(&sealed, String::new).is_err());
    }
}
