//! Knows how ethtool writes a set of named bits; knows no message and no bit by name.

use super::attribute::{attributes, find, put, put_nested, put_text, text};

/// `ETHTOOL_A_BITSET_*`: without a mask every listed bit is set; the list of bits.
const NOMASK: u16 = 1;
const BITS: u16 = 3;
/// `ETHTOOL_A_BITSET_BITS_BIT`: one bit of the list.
const BIT: u16 = 1;
/// `ETHTOOL_A_BITSET_BIT_*`: its name, and a flag that is present when it is set.
const NAME: u16 = 2;
const VALUE: u16 = 3;

/// The listed bits with their values, in the kernel's order.
pub(super) fn read(bytes: &[u8]) -> Vec<(String, bool)> {
    let all_set = find(bytes, NOMASK).is_some();
    attributes(find(bytes, BITS).unwrap_or_default())
        .filter(|(kind, _)| *kind == BIT)
        .filter_map(|(_, bit)| {
            Some((text(find(bit, NAME)?), all_set || find(bit, VALUE).is_some()))
        })
        .collect()
}

/// A set that names the bits to change and leaves all others as they are.
pub(super) fn write(bits: &[(String, bool)]) -> Vec<u8> {
    let mut list = Vec::new();
    for (name, value) in bits {
        let mut bit = Vec::new();
        put_text(&mut bit, NAME, name);
        if *value {
            put(&mut bit, VALUE, &[]);
        }
        put_nested(&mut list, BIT, &bit);
    }
    let mut out = Vec::new();
    put_nested(&mut out, BITS, &list);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_survives_the_way_out_and_back() {
        let bits = vec![("rx-gro".to_owned(), true), ("tx-scatter-gather".to_owned(), false)];
        assert_eq!(read(&write(&bits)), bits);
    }

    #[test]
    fn without_a_mask_every_listed_bit_is_set() {
        let mut bytes = Vec::new();
        put(&mut bytes, NOMASK, &[]);
        bytes.extend(write(&[("rx-gro".to_owned(), false)]));
        assert_eq!(read(&bytes), [("rx-gro".to_owned(), true)]);
    }
}
