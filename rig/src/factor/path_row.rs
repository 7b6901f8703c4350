//! Knows how the distance that the relay keeps is set and read back, and the factors that do it.
//!
//! Must not know how the relay keeps it.

use super::FactorError;
use crate::lab::relay::{Distance, RelayRequest};
use crate::lab::{Lab, LabError};
use desk::record::{FactorSpec, ParamKind, Scope, Value};
use desk::unit::{Kind, Quantity, Unit};

const fn relay(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Relay, kind }
}

/// Up to half of all frames.
const SHARE: ParamKind = ParamKind::within(Kind::Share, 0.0, 0.5);

pub(super) const PATH_BUFFER: FactorSpec = relay(
    "path_buffer",
    "bytes that wait for path_rate in each direction; bdp: path_rate times round trip",
    ParamKind::size(1514, 1 << 28).or(&["bdp"]),
);
pub(super) const PATH_DELAY: FactorSpec = relay(
    "path_delay",
    "what the relay adds to the round trip, half in each direction",
    ParamKind::within(Kind::Duration, 0.0, 0.2).by(1e-6),
);
pub(super) const PATH_JITTER: FactorSpec = relay(
    "path_jitter",
    "how far the delay strays to either side in each direction; the order of packets stays",
    ParamKind::within(Kind::Duration, 0.0, 0.1).by(1e-6),
);
pub(super) const PATH_LOSS: FactorSpec =
    relay("path_loss", "share of packets that the relay drops at random, in each direction", SHARE);
pub(super) const PATH_RATE: FactorSpec = relay(
    "path_rate",
    "rate of Ethernet frames that the relay carries in each direction",
    ParamKind::within(Kind::Rate, 1e5, 1e11).or(&["off"]),
);
pub(super) const PATH_REORDER: FactorSpec = relay(
    "path_reorder",
    "share of packets that skip the delay and overtake others, in each direction",
    SHARE,
);

/// Which part of the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its buffer.
    Buffer,
    /// Its round trip.
    Delay,
    /// Its jitter.
    Jitter,
    /// Its losses.
    Loss,
    /// Its rate.
    Rate,
    /// Its reordering.
    Reorder,
}

/// A factor of the path.
#[derive(Debug)]
pub struct PathRow {
    /// As data.
    pub spec: &'static FactorSpec,
    /// What it sets.
    pub part: Part,
}

static ROWS: [PathRow; 6] = [
    PathRow { spec: &PATH_BUFFER, part: Part::Buffer },
    PathRow { spec: &PATH_DELAY, part: Part::Delay },
    PathRow { spec: &PATH_JITTER, part: Part::Jitter },
    PathRow { spec: &PATH_LOSS, part: Part::Loss },
    PathRow { spec: &PATH_RATE, part: Part::Rate },
    PathRow { spec: &PATH_REORDER, part: Part::Reorder },
];

/// The row of a name; none for other factors.
pub(super) fn row_of(name: &str) -> Option<&'static PathRow> {
    ROWS.iter().find(|row| row.spec.name == name)
}

impl PathRow {
    /// The distance that the relay keeps.
    ///
    /// # Errors
    /// When there is no relay, or it does not answer.
    pub fn before(&self, lab: &mut Lab) -> Result<Distance, FactorError> {
        lab.distance().map_err(|e| match e {
            LabError::Relayed(what) => FactorError::NotHere { factor: self.spec.name, what },
            other => other.into(),
        })
    }

    /// Sets a level and reads it back.
    ///
    /// # Errors
    /// When the relay does not keep it.
    pub fn apply(&self, lab: &mut Lab, level: &Value) -> Result<(), FactorError> {
        let wanted = self.of(self.before(lab)?, level)?;
        lab.ask_relay(RelayRequest::Set(wanted))?;
        let found = self.observe(lab, level)?;
        if found == *level {
            return Ok(());
        }
        Err(FactorError::NotTaken {
            factor: self.spec.name,
            place: lab.relay_name().unwrap_or_default().into(),
            asked: level.to_string(),
            found: found.to_string(),
        })
    }

    /// Sets its part as it was.
    ///
    /// # Errors
    /// When the relay is gone.
    pub fn bring_back(&self, lab: &mut Lab, before: &Distance) -> Result<(), FactorError> {
        let mut distance = self.before(lab)?;
        match self.part {
            Part::Buffer => distance.buffer = before.buffer,
            Part::Delay => distance.delay_ns = before.delay_ns,
            Part::Jitter => distance.jitter_ns = before.jitter_ns,
            Part::Loss => distance.loss_ppb = before.loss_ppb,
            Part::Rate => distance.rate = before.rate,
            Part::Reorder => distance.reorder_ppb = before.reorder_ppb,
        }
        lab.ask_relay(RelayRequest::Set(distance))?;
        Ok(())
    }

    /// The level in force, as the relay tells it: `wanted` where it is that.
    ///
    /// # Errors
    /// When the relay does not answer.
    pub fn observe(&self, lab: &mut Lab, wanted: &Value) -> Result<Value, FactorError> {
        let now = self.before(lab)?;
        Ok(if self.of(now, wanted)? == now { wanted.clone() } else { self.level(&now) })
    }

    /// A distance with its part at a level.
    fn of(&self, mut distance: Distance, level: &Value) -> Result<Distance, FactorError> {
        let (value, off) = (level.quantity().map(|q| q.value), level.word().is_some());
        let whole = |steps: f64| whole(value.unwrap_or_default() * steps);
        if value.is_none() && !(off && matches!(self.part, Part::Rate | Part::Buffer)) {
            let (factor, level) = (self.spec.name, level.to_string());
            let remedy = "'stend factors list' says what it takes";
            return Err(FactorError::BadLevel { factor, level, remedy });
        }
        let billionth = |share: u64| u32::try_from(share).unwrap_or(u32::MAX);
        match self.part {
            Part::Buffer => distance.buffer = value.map(|_| whole(1.0)),
            Part::Delay => distance.delay_ns = whole(1e9),
            Part::Jitter => distance.jitter_ns = whole(1e9),
            Part::Loss => distance.loss_ppb = billionth(whole(1e9)),
            Part::Rate => distance.rate = value.map(|_| whole(1.0)),
            Part::Reorder => distance.reorder_ppb = billionth(whole(1e9)),
        }
        Ok(distance)
    }

    fn level(&self, distance: &Distance) -> Value {
        let of = |value: f64, unit| Value::Quantity(Quantity::new(value, unit));
        let word = |word: &str| Value::Word(word.into());
        #[expect(clippy::cast_precision_loss, reason = "bounded by the specs")]
        let float = |whole: u64| whole as f64;
        match self.part {
            Part::Buffer => {
                distance.buffer.map_or_else(|| word("bdp"), |b| of(float(b), Unit::Byte))
            }
            Part::Delay => of(float(distance.delay_ns) / 1e9, Unit::Second),
            Part::Jitter => of(float(distance.jitter_ns) / 1e9, Unit::Second),
            Part::Loss => of(f64::from(distance.loss_ppb) / 1e9, Unit::Share),
            Part::Rate => {
                distance.rate.map_or_else(|| word("off"), |r| of(float(r), Unit::BitPerSecond))
            }
            Part::Reorder => of(f64::from(distance.reorder_ppb) / 1e9, Unit::Share),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the specs")]
fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}
