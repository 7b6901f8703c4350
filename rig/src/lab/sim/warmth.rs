//! Knows how hot the busiest CPU is, and whether it is slowed down for that.
//!
//! Must not know what made it busy.

use super::physics::Physics;
use super::resource::Tells;

/// How hot it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Warmth {
    /// Busy seconds that it has not cooled down from.
    hot_s: f64,
    slow: bool,
}

impl Warmth {
    /// Share of its speed that it has now.
    #[must_use]
    pub fn speed(&self, physics: &Physics) -> f64 {
        if self.slow { physics.heat.speed } else { 1.0 }
    }

    /// Whether the kernel's counts tell that it is slowed down; none where they are missing.
    #[must_use]
    pub fn told(&self, physics: &Physics) -> Option<bool> {
        match physics.heat.tells {
            Tells::Events => Some(self.slow),
            Tells::Zero => Some(false),
            Tells::Nothing => None,
        }
    }

    /// Lets so many seconds go by in which the CPU is busy for this share of the time.
    ///
    /// Each busy second heats by one; an idle one cools by after / cools. It is slowed down from
    /// `after` on and until half of that is left.
    pub fn pass(&mut self, physics: &Physics, busy: f64, seconds: f64) {
        let Some(after) = physics.heat.after else { return };
        let cooling = (1.0 - busy) * after / physics.heat.cools;
        self.hot_s = (self.hot_s + seconds * (busy - cooling)).clamp(0.0, after);
        self.slow = self.hot_s >= after || (self.slow && self.hot_s > after / 2.0);
    }
}
