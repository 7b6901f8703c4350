//! Knows behind which port a station is, learnt from what it sent (IEEE 802.1Q, clause 8.7).
//!
//! Must not know frames beyond the addresses of their ends.

use crate::engine::net::content::mix;

/// Places that are looked at for a station.
const PROBES: usize = 16;
/// A place without a station.
const FREE: u64 = u64::MAX;

/// The stations that a bridge has learnt.
#[derive(Clone, Debug)]
pub struct Stations {
    /// Address in the low 48 bits, port above.
    places: Vec<u64>,
}

impl Stations {
    /// Room for so many stations, four times over.
    #[must_use]
    pub fn new(stations: usize) -> Self {
        Self { places: vec![FREE; (4 * stations).max(PROBES).next_power_of_two()] }
    }

    /// Learns that a station is behind a port; where there is no room it is not learnt.
    #[inline]
    pub fn learn(&mut self, station: u64, port: u16) {
        let learnt = u64::from(port) << 48 | station;
        for probe in 0..PROBES {
            let place = self.place(station, probe);
            let found = self.places[place];
            if found == learnt {
                return;
            }
            if found == FREE || found << 16 == station << 16 {
                self.places[place] = learnt;
                return;
            }
        }
    }

    /// The port of a station; none where it was not learnt, and a frame to it is flooded.
    #[inline]
    #[must_use]
    pub fn port(&self, station: u64) -> Option<u16> {
        let places = (0..PROBES).map(|probe| self.places[self.place(station, probe)]);
        let mut taken = places.take_while(|found| *found != FREE);
        taken.find(|found| found << 16 == station << 16).map(|found| (found >> 48) as u16)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "masked to the places")]
    fn place(&self, station: u64, probe: usize) -> usize {
        (mix(station) as usize).wrapping_add(probe) & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_are_found_where_they_were_learnt_last() {
        let mut stations = Stations::new(1000);
        (0..1000).for_each(|station| stations.learn(station << 20, (station % 4) as u16));
        assert!(
            (0..1000).all(|station| stations.port(station << 20) == Some((station % 4) as u16))
        );
        assert_eq!(stations.port(5), None);
        stations.learn(3 << 20, 9);
        assert_eq!(stations.port(3 << 20), Some(9));
    }
}
