//! Knows which runs are sessions of one set-up, and what a comparison says of its sessions.
//!
//! Never: by how much their figures differ.

use super::comparability::{Comparability, compare_environments, declared};
use crate::record::Run;
use crate::stats::{Between, PRIOR_SD, SESSIONS, SpreadSource};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys that change no figure and tell one machine, or one setting of it, from another.
const OF_ONE: [&str; 4] = ["machine.", "system.serial", "system.uuid", "board.serial"];

/// The runs of a comparison; a run is one session, however many sittings it has.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'r> {
    /// Sessions of the baseline; the first speaks for them.
    pub a: &'r [&'r Run],
    /// Sessions of the other side.
    pub b: &'r [&'r Run],
    /// Further sessions of the same set-up as A: they enter the spread between sessions alone.
    pub others: &'r [&'r Run],
}

/// What a comparison says of its sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sessions {
    /// Runs of the first side.
    pub a: Vec<String>,
    /// Runs of the second.
    pub b: Vec<String>,
    /// Runs of the same set-up that are on neither side and enter the spread alone.
    pub others: Vec<String>,
    /// Sessions a side that a verdict takes; with fewer on a side all verdicts are undecided.
    pub least: u32,
    /// The spread that is in every comparison, in their order.
    pub spreads: Vec<SessionSpread>,
}

/// The spread between sessions in a comparison as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSpread {
    /// Name of the comparison.
    pub comparison: String,
    /// Standard deviation of the log of the figure of a session, a share.
    pub sd: Quantity,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// Where it came from.
    pub source: SpreadSource,
    /// Sessions a side that would decide, if difference and spread stay what they are; none where
    /// [`crate::stats::SESSIONS_MOST`] do not.
    pub needed: Option<u32>,
}

impl Sessions {
    pub(super) fn of(sides: Sides<'_>, spreads: Vec<SessionSpread>) -> Self {
        let ids = |runs: &[&Run]| runs.iter().map(|run| run.id.clone()).collect();
        let [a, b, others] = [sides.a, sides.b, sides.others].map(ids);
        Self { a, b, others, least: SESSIONS, spreads }
    }

    /// Whether either side has fewer sessions than a verdict takes.
    #[must_use]
    pub fn are_few(&self) -> bool {
        [&self.a, &self.b].iter().any(|side| (side.len() as u64) < u64::from(self.least))
    }

    /// Whether a value of a side is a session, and not a block of its only one.
    #[must_use]
    pub const fn are_values(&self) -> bool {
        self.a.len() > 1 || self.b.len() > 1
    }
}

impl SessionSpread {
    /// The spread of a comparison as a whole; of one without figures it is the prior.
    pub(super) fn of(
        comparison: &str,
        between: Option<Between>,
        (margin, alpha): (f64, f64),
    ) -> Self {
        let spread = between.map(|found| found.spread);
        let sd = spread.map_or(PRIOR_SD, |spread| spread.sd);
        Self {
            comparison: comparison.into(),
            sd: Quantity::new(sd, Unit::Share),
            freedom: spread.map_or(crate::stats::PRIOR_FREEDOM, |spread| spread.freedom),
            source: spread.map_or(SpreadSource::Prior, |spread| spread.source),
            needed: between.and_then(|found| found.needed(margin, alpha)),
        }
    }
}

/// In what two runs are no sessions of one set-up: another plan, environment, level of a factor
/// that a person sets, or machine of the same kind. None where they are.
#[must_use]
pub fn set_apart(a: &Run, b: &Run) -> Vec<String> {
    let found = compare_environments(a, b, &declared(&a.plan, &b.plan));
    let Comparability { confounders, warnings, factors, info } = found;
    let told = |key: &String| OF_ONE.iter().any(|of| key.starts_with(of));
    let all = confounders.into_iter().chain(factors).chain(warnings).map(|d| d.key);
    all.chain(info.into_iter().map(|d| d.key).filter(told)).collect()
}

/// Which of the candidates, by their places, are further sessions of either side or of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouped {
    /// Sessions of A and not of B.
    pub a: Vec<usize>,
    /// Sessions of B and not of A.
    pub b: Vec<usize>,
    /// Sessions of both where A and B are themselves sessions of one set-up: only the person knows
    /// which side they are on.
    pub others: Vec<usize>,
}

/// Groups candidates by the set-up that they are sessions of. No candidate is in two groups.
#[must_use]
pub fn group(a: &Run, b: &Run, candidates: &[&Run]) -> Grouped {
    let is_one = set_apart(a, b).is_empty();
    let mut found = Grouped::default();
    for (at, run) in candidates.iter().enumerate() {
        match [a, b].map(|side| set_apart(side, run).is_empty()) {
            [true, true] if is_one => found.others.push(at),
            [true, false] if !is_one => found.a.push(at),
            [false, true] if !is_one => found.b.push(at),
            _ => {}
        }
    }
    found
}
