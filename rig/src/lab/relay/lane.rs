//! Knows which frame of one direction leaves when, or not at all: a pure function of the distance,
//! of the moments at which frames came, and of a seed.
//!
//! Must not know sockets, clocks, or what a frame holds.

use super::Distance;
use std::collections::VecDeque;

/// Bytes of frames that may be under way in one direction: 100 ms at 10 Gbit/s.
const UNDER_WAY: u64 = 128 << 20;

/// Parts of one.
const BILLION: f64 = 1e9;

/// Draws from a seed (splitmix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug, Default)]
pub struct Chance(u64);

impl Chance {
    /// Chance that begins with a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next draw: 0 or more, less than 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    pub fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A frame that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In the order in which it came.
    InOrder,
    /// It leaves without the delay, before others that came earlier.
    Overtakes,
}

/// Why a frame is not under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is one of those that are to be lost.
    Lost,
    /// The buffer before the rate has no room for it.
    Full,
    /// Too much is under way.
    Crowded,
}

/// A frame with its moment and its bytes.
#[derive(Clone, Debug)]
struct Waiting<F> {
    due_ns: u64,
    bytes: u64,
    frame: F,
}

/// One direction. Frames leave in the order in which they came, whatever the jitter, but for those
/// that are to overtake.
#[derive(Debug)]
pub struct Lane<F> {
    chance: Chance,
    /// When what came before has left by the rate, nanoseconds.
    free_ns: u64,
    in_order: VecDeque<Waiting<F>>,
    /// In the order of their moments, too: each leaves by the rate behind the one before.
    overtaking: VecDeque<Waiting<F>>,
    bytes: u64,
}

impl<F> Lane<F> {
    /// An empty one.
    #[must_use]
    pub const fn new(chance: Chance) -> Self {
        Self {
            chance,
            free_ns: 0,
            in_order: VecDeque::new(),
            overtaking: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Draws from another seed from now on.
    pub fn reseed(&mut self, chance: Chance) {
        self.chance = chance;
    }

    /// A frame of so many bytes comes at a moment.
    ///
    /// # Errors
    /// Why it goes no further, with the frame.
    pub fn put(
        &mut self,
        distance: &Distance,
        (now_ns, bytes): (u64, u64),
        frame: F,
    ) -> Result<Kept, (Refused, F)> {
        // Each frame takes the same draws, so that one setting does not move another's chance.
        let (lost, overtakes, strays) =
            (self.chance.draw(), self.chance.draw(), self.chance.draw());
        if lost < f64::from(distance.loss_ppb) / BILLION {
            return Err((Refused::Lost, frame));
        }
        let left_ns = match self.through(distance, (now_ns, bytes)) {
            Ok(left_ns) => left_ns,
            Err(refused) => return Err((refused, frame)),
        };
        self.bytes += bytes;
        let is_fast = overtakes < f64::from(distance.reorder_ppb) / BILLION;
        if is_fast {
            self.overtaking.push_back(Waiting { due_ns: left_ns, bytes, frame });
            return Ok(Kept::Overtakes);
        }
        let last_ns = self.in_order.back().map_or(0, |waiting| waiting.due_ns);
        let due_ns = (left_ns + delay_ns(distance, strays)).max(last_ns);
        self.in_order.push_back(Waiting { due_ns, bytes, frame });
        Ok(Kept::InOrder)
    }

    /// When a frame has left by the rate.
    fn through(
        &mut self,
        distance: &Distance,
        (now_ns, bytes): (u64, u64),
    ) -> Result<u64, Refused> {
        if self.bytes + bytes > UNDER_WAY {
            return Err(Refused::Crowded);
        }
        let Some(rate) = distance.rate.filter(|rate| *rate > 0) else { return Ok(now_ns) };
        let took = |bytes: u64| {
            let ns = u128::from(bytes) * 8_000_000_000 / u128::from(rate);
            u64::try_from(ns).unwrap_or(u64::MAX)
        };
        let begins_ns = self.free_ns.max(now_ns);
        // A frame that is on its way out waits no more; what is behind it does.
        let most_ns = took(distance.room());
        if begins_ns - now_ns > most_ns {
            return Err(Refused::Full);
        }
        self.free_ns = begins_ns + took(bytes);
        Ok(self.free_ns)
    }

    /// When the next frame leaves, nanoseconds; none while none is under way.
    #[must_use]
    pub fn due_ns(&self) -> Option<u64> {
        let first = |lane: &VecDeque<Waiting<F>>| lane.front().map(|waiting| waiting.due_ns);
        first(&self.in_order).into_iter().chain(first(&self.overtaking)).min()
    }

    /// Whether so many frames leave within a time of the next one.
    #[must_use]
    pub fn is_dense(&self, frames: usize, within_ns: u64) -> bool {
        let due = |at: usize| self.in_order.get(at).map(|waiting| waiting.due_ns);
        due(0).zip(due(frames)).is_some_and(|(first, last)| last - first < within_ns)
    }

    /// The next frame that leaves until a moment, with its own.
    pub fn take(&mut self, now_ns: u64) -> Option<(u64, F)> {
        let due = |lane: &VecDeque<Waiting<F>>| {
            lane.front().map(|waiting| waiting.due_ns).filter(|due_ns| *due_ns <= now_ns)
        };
        let lane = match (due(&self.in_order), due(&self.overtaking)) {
            (None, None) => return None,
            (Some(slow), Some(fast)) if slow <= fast => &mut self.in_order,
            (Some(_), None) => &mut self.in_order,
            _ => &mut self.overtaking,
        };
        let Waiting { due_ns, bytes, frame } = lane.pop_front()?;
        self.bytes -= bytes;
        Some((due_ns, frame))
    }

    /// Frames that are under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.in_order.len() + self.overtaking.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a frame waits in one direction: half the round trip, and an even chance of as much more or
/// less as the jitter.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "delays are below 2^53 ns, and not below 0"
)]
fn delay_ns(distance: &Distance, strays: f64) -> u64 {
    let jitter = distance.jitter_ns as f64 * (2.0 * strays - 1.0);
    (distance.delay_ns as f64 / 2.0 + jitter).max(0.0) as u64
}
