//! The relay: a host between two links that carries every frame itself, so that a path has the
//! distance, the losses and the bottleneck that a plan asks for.
//!
//! Knows: which frame goes when, or not at all; the sockets and the thread that carry it; counts.
//! Gives: [`Distance`], [`Relay`], [`Told`].
//! Never: which trial needs which distance, or what it did to a figure.
//! Start reading at `lane.rs`, which is pure; the thread stands in `carry.rs`.

mod carry;
mod lane;
mod on_lab;
mod port;
#[cfg(test)]
mod tests;

pub use lane::{Chance, Kept, Lane, Refused};

use super::error::LabError;
use carry::Shared;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// What lies between two links. Without any of it frames go on at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distance {
    /// What the round trip takes longer, nanoseconds; half of it in each direction.
    pub delay_ns: u64,
    /// How far the delay of a frame strays from its middle in each direction, nanoseconds.
    pub jitter_ns: u64,
    /// Of a thousand million frames those that are lost, in each direction.
    pub loss_ppb: u32,
    /// Of a thousand million frames those that overtake others, in each direction.
    pub reorder_ppb: u32,
    /// Bits of frames a second that leave in each direction; none for no limit.
    pub rate: Option<u64>,
    /// Bytes that wait for the rate, in each direction; none for [`Self::room`]'s own.
    pub buffer: Option<u64>,
}

/// Round trip by which a buffer is sized on a path that is shorter, nanoseconds.
const SHORTEST_NS: u64 = 20_000_000;
/// Least bytes of a buffer that is sized by the path: some tens of full frames.
const LEAST: u64 = 64 << 10;

impl Distance {
    /// Bytes that may wait for the rate in one direction: as told, else one product of rate and
    /// round trip, of 20 ms at the least, and no less than 64 KiB.
    #[must_use]
    pub fn room(&self) -> u64 {
        let trip = u128::from(self.delay_ns.max(SHORTEST_NS));
        let product = u128::from(self.rate.unwrap_or(0)) * trip / 8_000_000_000;
        self.buffer.unwrap_or_else(|| u64::try_from(product).unwrap_or(u64::MAX).max(LEAST))
    }
}

/// What the relay counted in one direction since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Frames that came.
    pub received: u64,
    /// Frames that went on.
    pub forwarded: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Frames lost because the plan says so.
    pub lost: u64,
    /// Frames that overtook others because the plan says so.
    pub reordered: u64,
    /// Frames for which the buffer before the rate had no room.
    pub full: u64,
    /// Frames for which the relay's own memory had no room.
    pub crowded: u64,
    /// Frames that came while the socket had no room: the relay was too slow.
    pub missed: u64,
    /// Frames that the kernel did not take back.
    pub refused: u64,
    /// Frames longer than the links allow: a segmentation offload is still on.
    pub long: u64,
    /// Frames that wait now.
    pub waiting: u64,
    /// Frames that left more than [`LATE_NS`] after their moment.
    pub late: u64,
    /// By how much all of them together left after their moment, nanoseconds.
    pub behind_ns: u64,
    /// The most of one, nanoseconds, since the last seed.
    pub behind_most_ns: u64,
}

/// From so much after its moment on a frame is late, nanoseconds.
pub const LATE_NS: u64 = 1_000_000;

/// What a relay tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The distance in force.
    pub distance: Distance,
    /// Interface that frames come by, of each direction, and what was counted of it.
    pub ways: Vec<(String, Counts)>,
    /// CPU time of the thread that carries, nanoseconds.
    pub cpu_ns: u64,
    /// That part of it in which it waited for a moment that was near, nanoseconds.
    pub spun_ns: u64,
    /// Whether it is an ordinary thread now, which a quota of CPU time holds.
    pub ordinary: bool,
    /// When this was told, nanoseconds of the monotonic clock.
    pub at_ns: u64,
    /// Why the thread ended; empty while it carries.
    pub ended: String,
}

/// What a relay is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum RelayRequest {
    /// Carry frames between these two interfaces of this host, each of at most so many bytes.
    Begin([String; 2]),
    /// From now on this distance.
    Set(Distance),
    /// From now on chance begins with this seed, and the most of the counts anew.
    Seed(u64),
    /// Whether the thread that carries runs before ordinary threads, and looks at the clock while a
    /// moment is near; else it is an ordinary thread that sleeps until each moment.
    First(bool),
    /// Tell.
    Tell,
}

/// A relay that carries, until the process ends.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Mutex<Shared>>,
    names: [String; 2],
}

impl Relay {
    /// Starts carrying between two interfaces.
    ///
    /// # Errors
    /// When the kernel gives no sockets or no thread.
    pub fn begin(names: [String; 2]) -> Result<Self, LabError> {
        let shared = Arc::<Mutex<Shared>>::default();
        let fail = |source: io::Error| LabError::Relayed(source.to_string());
        let ports = [port::Port::open(&names[0]), port::Port::open(&names[1])];
        let [one, other] = ports;
        let ports = [one.map_err(fail)?, other.map_err(fail)?];
        let theirs = Arc::clone(&shared);
        let work = move || carry::carry(ports, &theirs);
        std::thread::Builder::new().name("relay".into()).spawn(work).map_err(fail)?;
        Ok(Self { shared, names })
    }

    /// Answers what is asked of a relay that carries.
    pub fn answer(&self, request: &RelayRequest) -> Told {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        match request {
            RelayRequest::Set(distance) => shared.distance = *distance,
            RelayRequest::Seed(seed) => shared.reseed(*seed),
            RelayRequest::First(first) => shared.wants_ordinary = !first,
            RelayRequest::Begin(_) | RelayRequest::Tell => {}
        }
        shared.told(&self.names)
    }
}
