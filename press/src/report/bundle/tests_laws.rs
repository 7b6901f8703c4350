//! What holds of every list of numbers and of every file that a stranger hands in.

use super::Bundle;
use super::columns::{Gathered, Reader, pack};
use crate::report::fixture;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Number;

/// A number as records have them: counts, times, decimals, any double.
fn number() -> impl Strategy<Value = Number> {
    let float = |value: f64| Number::from_f64(value).unwrap_or_else(|| Number::from(0));
    prop_oneof![
        any::<u64>().prop_map(Number::from),
        any::<i64>().prop_map(Number::from),
        (0..1_000_u32).prop_map(Number::from),
        (-1_000_000..1_000_000_i32).prop_map(move |n| float(f64::from(n) / 1e3)),
        any::<f64>().prop_map(float),
        Just(float(-0.0)),
    ]
}

fn columns() -> impl Strategy<Value = (Vec<Vec<Number>>, Vec<usize>)> {
    (1..12_usize).prop_flat_map(|length| {
        let column = proptest::collection::vec(number(), length);
        (proptest::collection::vec(column, 1..5), proptest::collection::vec(0..3_usize, length))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    })]

    #[test]
    fn columns_come_back_to_the_last_bit((columns, groups) in columns()) {
        let gathered = |values: &Vec<Number>| {
            Gathered { values: values.clone(), groups: groups.clone() }
        };
        let packed = pack(&columns.iter().map(gathered).collect::<Vec<_>>());
        let text = serde_json::to_string(&packed).unwrap();
        let mut reader = Reader::new(serde_json::from_str(&text).unwrap()).unwrap();
        for (at, group) in groups.iter().enumerate() {
            for (column, values) in columns.iter().enumerate() {
                let back = reader.take(column, *group).unwrap();
                prop_assert_eq!(back.to_string(), values[at].to_string(), "{}", text);
            }
        }
        prop_assert!(reader.is_at_its_end());
    }

    #[test]
    fn no_file_is_a_panic(file in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Bundle::read(&file).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    })]

    #[test]
    fn a_spoilt_bundle_is_refused_or_comes_back_the_same(
        edits in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..3),
    ) {
        let (run, _) = fixture::duel();
        let mut file = Bundle::of_run(&run).to_json().unwrap().into_bytes();
        for (at, byte) in &edits {
            let at = at.index(file.len());
            file[at] = *byte;
        }
        match Bundle::read(&file) {
            Ok(bundle) => {
                let written = bundle.to_json().unwrap();
                let again = Bundle::read(written.as_bytes()).unwrap();
                prop_assert_eq!(again.to_json().unwrap(), written);
            }
            Err(why) => prop_assert!(!edits.is_empty() && !why.to_string().is_empty(), "{why}"),
        }
    }
}
