//! Knows the loads that a search may try: steps of one ratio from the least load to the largest.
//!
//! Never: what a load came to.

/// Steps that the finest width is divided into.
const STEPS: f64 = 64.0;

/// Rounding of logarithms, as a share of a step.
const ROUNDING: f64 = 1e-6;

/// A place or a distance, to reckon with.
#[expect(clippy::cast_precision_loss, reason = "places are far below 2^53")]
pub(super) const fn real(places: i64) -> f64 {
    places as f64
}

/// Loads in equal ratios. A place is their number, from 0 at the least load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    least: f64,
    most: f64,
    /// The place of the largest load.
    pub top: i64,
    /// Logarithm of the ratio of two neighbours.
    step: f64,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "within bounds")]
impl Lattice {
    /// Loads between these two, so fine that this relative width has at least 64 of them.
    pub fn of([least, most]: [f64; 2], finest: f64) -> Self {
        let all = (most / least).ln();
        let top = (all * STEPS / -(-finest).ln_1p()).ceil().max(1.0);
        Self { least, most, top: top as i64, step: all / top }
    }

    /// The load at a place, the outermost beyond the ends.
    pub fn load(&self, place: i64) -> f64 {
        match place {
            ..=0 => self.least,
            place if place >= self.top => self.most,
            place => self.least * (self.step * place as f64).exp(),
        }
    }

    /// The place nearest to a load.
    pub fn place(&self, load: f64) -> i64 {
        (self.real_place(load).round() as i64).clamp(0, self.top)
    }

    /// Where a load is, between places too.
    pub fn real_place(&self, load: f64) -> f64 {
        (load / self.least).ln() / self.step
    }

    /// How many steps apart two loads may be that differ by this share of the larger; at least 1.
    pub fn width(&self, share: f64) -> i64 {
        ((-(-share).ln_1p() / self.step + ROUNDING).floor() as i64).max(1)
    }
}
