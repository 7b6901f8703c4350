//! Knows to which session of a subscriber (PPPoE) frames of a destination go.
//!
//! Must not know frames, nor how a session is written into one.

use super::memory::ask_for;
use std::collections::BTreeMap;

/// Places for each address.
const ROOM: usize = 2;
/// The golden ratio in 32 bits: neighbours are spread (Knuth, The Art of Computer Programming,
/// volume 3, 6.4).
const SPREAD: u32 = 0x9E37_79B1;

/// Sessions by destination: a table of open addressing, of which at least half is empty.
#[derive(Clone, Debug)]
pub struct Subscribers {
    /// An address and its session above 0; 0 where there is none.
    places: Vec<u64>,
    shift: u32,
}

impl Subscribers {
    /// A table of addresses and their sessions, 1 to 65,535.
    #[must_use]
    pub fn new(sessions: &BTreeMap<u32, u16>) -> Self {
        let places = (sessions.len() * ROOM).next_power_of_two().max(ROOM);
        let mut all = Self { places: vec![0; places], shift: u32::BITS - places.trailing_zeros() };
        for (address, session) in sessions {
            let mut place = all.first(*address);
            while all.places[place] != 0 {
                place = (place + 1) % places;
            }
            all.places[place] = u64::from(*address) << 16 | u64::from(*session);
        }
        all
    }

    /// Prefetches the entry of an address.
    #[inline]
    pub fn ask(&self, address: u32) {
        ask_for(&self.places[self.first(address)]);
    }

    /// The session that an address leads to, if any does.
    #[inline]
    #[must_use]
    pub fn session(&self, address: u32) -> Option<u16> {
        let mut place = self.first(address);
        loop {
            let found = self.places[place];
            if found >> 16 == u64::from(address) && found != 0 {
                return u16::try_from(found & 0xffff).ok();
            }
            if found == 0 {
                return None;
            }
            place = (place + 1) % self.places.len();
        }
    }

    const fn first(&self, address: u32) -> usize {
        (address.wrapping_mul(SPREAD) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_map;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_address_leads_to_its_session_and_others_to_none(
            all in btree_map(any::<u32>(), 1_u16.., 0..300),
            others in proptest::collection::vec(any::<u32>(), 100),
        ) {
            let subscribers = Subscribers::new(&all);
            for address in all.keys().copied().chain(others).chain([0, u32::MAX]) {
                subscribers.ask(address);
                prop_assert_eq!(subscribers.session(address), all.get(&address).copied());
            }
        }
    }
}
