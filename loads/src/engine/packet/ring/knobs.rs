//! Knows what a device in simulated time is planted with. Must not know frames.

use crate::engine::packet::chance::Chance;

/// Stalls of the core: it does nothing for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalls {
    /// How many begin in a second, on average.
    pub rate: f64,
    /// Seconds that each lasts.
    pub length: f64,
}

/// What a device is planted with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knobs {
    /// Frames that the core forwards in a second.
    pub capacity: f64,
    /// Frames that wait for the core or are with it; what comes beyond is dropped.
    pub buffer: usize,
    /// Bits a second of the line of each port, with 24 bytes a frame for preamble, check sequence
    /// and gap; none for a line that holds nothing down.
    pub line: Option<f64>,
    /// Stalls of the core, if any.
    pub stalls: Option<Stalls>,
    /// Share of sent frames that get lost behind the device, which it does not count, 0-1.
    pub loss: f64,
    /// Share of sent frames that change places with the next one, 0-1.
    pub reorder: f64,
    /// Share of sent frames that come twice, 0-1.
    pub duplicate: f64,
}

impl Knobs {
    /// A device that is held down by nothing but its core.
    #[must_use]
    pub const fn plain(capacity: f64, buffer: usize) -> Self {
        let (line, stalls) = (None, None);
        Self { capacity, buffer, line, stalls, loss: 0.0, reorder: 0.0, duplicate: 0.0 }
    }
}

/// Work of a core with stalls, in seconds.
#[derive(Debug)]
pub(super) struct Core {
    service: f64,
    stalls: Option<Stalls>,
    next_stall: f64,
    chance: Chance,
}

impl Core {
    pub(super) fn new(knobs: &Knobs, seed: u64) -> Self {
        let mut chance = Chance::of(seed);
        let next_stall = knobs.stalls.map_or(f64::INFINITY, |stalls| gap(&mut chance, stalls.rate));
        Self { service: 1.0 / knobs.capacity, stalls: knobs.stalls, next_stall, chance }
    }

    /// When it is done with a frame that it begins at such a moment.
    pub(super) fn done(&mut self, begins: f64) -> f64 {
        let mut done = begins + self.service;
        while let Some(stalls) = self.stalls.filter(|_| self.next_stall < done) {
            // A stall of an idle core holds up what comes during it.
            let ended = self.next_stall + stalls.length;
            done += (ended - begins.max(self.next_stall)).max(0.0);
            self.next_stall = ended + gap(&mut self.chance, stalls.rate);
        }
        done
    }
}

/// Seconds until the next of events that come at random at such a rate.
fn gap(chance: &mut Chance, rate: f64) -> f64 {
    let word = f64::from(chance.word()) + 0.5;
    -(word / 4_294_967_296.0).ln() / rate
}
