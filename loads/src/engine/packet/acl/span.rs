//! Knows which values of a field a rule takes, and which of them are left where some bits of the
//! field are known.
//!
//! Must not know trees.

use crate::engine::packet::rules::Rule;

/// Fields of a packet: source, destination, port of the sender, port of the receiver, protocol.
pub const FIELDS: usize = 5;
/// Bits of each field.
pub const BITS: [u32; FIELDS] = [32, 32, 16, 16, 8];

/// Values from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub low: u32,
    pub high: u32,
}

/// The values of all fields that a rule takes.
pub type Spans = [Span; FIELDS];

/// Bits of a field that are known: `value` within `mask`, 0 elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub mask: u32,
    pub value: u32,
}

/// Known bits of all fields.
pub type Region = [Known; FIELDS];

/// The spans of a rule.
pub fn spans(rule: &Rule) -> Spans {
    let span = |(low, high): (u32, u32)| Span { low, high };
    let ports = |(low, high): (u16, u16)| Span { low: low.into(), high: high.into() };
    let protocol = rule.protocol.map_or((0, 0xFF), |one| (one.into(), one.into()));
    [
        span(rule.src.range()),
        span(rule.dst.range()),
        ports(rule.src_ports),
        ports(rule.dst_ports),
        span(protocol),
    ]
}

impl Known {
    /// Adds the bits of a window.
    pub const fn with(self, window: Window, value: u32) -> Self {
        let mask = window.mask();
        Self { mask: self.mask | mask, value: self.value | value << window.shift & mask }
    }

    /// The lowest value from `low` on that has the known bits; none where none has.
    pub const fn at_least(self, low: u32) -> Option<u32> {
        let wrong = (low ^ self.value) & self.mask;
        if wrong == 0 {
            return Some(low);
        }
        let top = 1 << (31 - wrong.leading_zeros());
        // Bits above `top` are right. Either `top` must become 1, or a free bit above it.
        let bit = if self.value & top != 0 {
            top
        } else {
            let free = !self.mask & !low & !(top | (top - 1));
            free & free.wrapping_neg()
        };
        if bit == 0 {
            return None;
        }
        Some(low & !(bit | (bit - 1)) | bit | self.value & (bit - 1))
    }

    /// The highest value up to `high` that has the known bits; none where none has.
    pub const fn at_most(self, high: u32) -> Option<u32> {
        let inverse = Self { mask: self.mask, value: !self.value & self.mask };
        match inverse.at_least(!high) {
            Some(value) => Some(!value),
            None => None,
        }
    }
}

impl Span {
    /// The values that have the known bits, from the lowest to the highest; none where none has.
    pub fn within(self, known: Known) -> Option<Self> {
        let (low, high) = (known.at_least(self.low)?, known.at_most(self.high)?);
        (low <= high).then_some(Self { low, high })
    }

    /// Whether all values of a field of so many bits that have the known bits are taken.
    pub const fn covers(self, known: Known, bits: u32) -> bool {
        let free = !known.mask & (u32::MAX >> (32 - bits));
        self.low <= known.value && known.value | free <= self.high
    }
}

/// Whether every packet with the known bits matches.
pub fn covers(spans: &Spans, region: &Region) -> bool {
    (0..FIELDS).all(|field| spans[field].covers(region[field], BITS[field]))
}

/// Neighbouring bits of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The field.
    pub field: usize,
    /// Bits below the window.
    pub shift: u32,
    /// Bits of the window; 0 for none.
    pub bits: u32,
}

/// Values of a window from `first` on, `count` of them, around its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    pub first: u32,
    pub count: u32,
}

impl Window {
    /// Its bits in the field.
    pub const fn mask(self) -> u32 {
        (((1_u64 << self.bits) - 1) << self.shift) as u32
    }

    /// How many values it has.
    pub const fn values(self) -> u32 {
        1 << self.bits
    }

    /// Whether none of its bits is known.
    pub const fn is_free(self, known: Known) -> bool {
        known.mask & self.mask() == 0
    }

    /// Its values that packets of a span have, which lies within the known bits.
    pub fn reach(self, span: Span) -> Reach {
        let all = Reach { first: 0, count: self.values() };
        let of = |value: u32| value >> self.shift & (self.values() - 1);
        let above = |value: u32| u64::from(value) >> (self.shift + self.bits);
        let (first, last) = (of(span.low), of(span.high));
        match above(span.high) - above(span.low) {
            0 => Reach { first, count: last - first + 1 },
            1 if last + 1 < first => Reach { first, count: self.values() - first + last + 1 },
            _ => all,
        }
    }
}
