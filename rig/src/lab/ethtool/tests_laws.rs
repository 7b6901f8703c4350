//! What holds of every answer of the kernel: no bytes are a panic, and what is written is read.

use super::attribute::{attributes, find, put, put_text, text};
use super::{bitset, netlink};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9-]{0,30}"
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(512)
    })]

    #[test]
    fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let total: usize = attributes(&bytes).map(|(_, value)| value.len()).sum();
        prop_assert!(total <= bytes.len(), "no byte is given twice");
        let _ = (bitset::read(&bytes), text(&bytes));
        prop_assert!(netlink::payloads(&bytes).iter().sum::<usize>() <= bytes.len());
    }

    #[test]
    fn attributes_are_read_as_they_were_written(
        all in proptest::collection::vec(
            (0..0x4000_u16, proptest::collection::vec(any::<u8>(), 0..20)),
            0..8,
        ),
    ) {
        let mut bytes = Vec::new();
        for (kind, value) in &all {
            put(&mut bytes, *kind, value);
        }
        let back: Vec<_> = attributes(&bytes).map(|(kind, v)| (kind, v.to_vec())).collect();
        prop_assert_eq!(back, all);
    }

    #[test]
    fn texts_and_sets_of_bits_survive_the_way_out_and_back(
        word in name(),
        bits in proptest::collection::vec((name(), any::<bool>()), 0..12),
    ) {
        let mut bytes = Vec::new();
        put_text(&mut bytes, 7, &word);
        prop_assert_eq!(find(&bytes, 7).map(text), Some(word));
        prop_assert_eq!(bitset::read(&bitset::write(&bits)), bits);
    }
}
