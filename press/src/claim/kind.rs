//! Knows the kinds of claims, and by which rule a verdict is of a kind: the one for every sentence,
//! table, sign, figure and card.

use desk::record::Better;
use desk::stats::{Estimate, JUDGED_FROM};
use desk::unit::Quantity;
use desk::verdict::{Comparison, PointResult, Verdict, lies_inside};
use schemars::JsonSchema;
use serde::Serialize;

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Two levels under one condition.
    Comparison,
    /// Two levels under several conditions.
    Comparisons,
    /// A stretch of a curve on which one side is ahead.
    Region,
    /// Two levels over all loads, as one ratio.
    Index,
    /// What the work of two levels costs, of which less is better.
    Cost,
    /// The work of two levels for each per cent of CPU.
    Efficiency,
    /// Whether the effect of one factor depends on another.
    Interaction,
    /// The order of three levels or more.
    Order,
    /// A level in an order.
    Place,
    /// What held the figures of a level down.
    Limit,
    /// A level against itself.
    Noise,
    /// What a kind of reader should take.
    Advice,
}

/// What a claim says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The level is better than the baseline. Of an interaction: the effect is larger under the
    /// second level.
    Better,
    /// It is worse. Of an interaction: the effect is smaller.
    Worse,
    /// It differs with certainty, by less than the margin.
    Inside,
    /// Both are equal within the margin.
    Equivalent,
    /// It looks better; the blocks are too few for a verdict.
    LooksBetter,
    /// It looks worse; the blocks are too few for a verdict.
    LooksWorse,
    /// Nothing was shown.
    Undecided,
    /// A level has two states, each kept for a whole trial by chance.
    TwoStates,
    /// The sides were not made by the same.
    NotComparable,
    /// A machine is emulated by software.
    Emulated,
    /// The generator has no headroom over what is measured.
    NoHeadroom,
    /// There are figures and no verdict.
    Withheld,
    /// Of several comparisons: some better, none worse.
    MostBetter,
    /// Some worse, none better.
    MostWorse,
    /// They came out differently, and are few enough to be told one by one.
    Split,
    /// Some better and some worse.
    Mixed,
    /// None better and none worse.
    Neither,
    /// Of several pairs of levels: only how many came out how.
    Tally,
    /// One level is first.
    First,
    /// One level is first, by less than the margin.
    FirstInside,
    /// Several levels share the first place.
    Shared,
    /// A place in an order.
    Ranked,
    /// The baseline in an order.
    Baseline,
    /// A resource was full.
    Full,
    /// A figure by itself.
    Shown,
}

impl Kind {
    /// Of a verdict on a ratio against a margin: a difference that is certain and too small to
    /// matter is none, and one of too few blocks only looks like one.
    #[must_use]
    pub fn of(verdict: Verdict, (ratio, margin): (&Estimate, Quantity), better: Better) -> Self {
        match verdict {
            _ if lies_inside(verdict, ratio, margin) => Self::Inside,
            Verdict::Better => Self::Better,
            Verdict::Worse => Self::Worse,
            Verdict::Equivalent => Self::Equivalent,
            Verdict::TwoStates => Self::TwoStates,
            Verdict::NotComparable => Self::NotComparable,
            Verdict::Emulated => Self::Emulated,
            Verdict::NoHeadroom => Self::NoHeadroom,
            Verdict::Undecided { .. } => match looks_higher(ratio) {
                Some(higher) if higher == (better == Better::Higher) => Self::LooksBetter,
                Some(_) => Self::LooksWorse,
                None => Self::Undecided,
            },
        }
    }

    /// Of a whole comparison.
    #[must_use]
    pub fn of_whole(c: &Comparison) -> Self {
        Self::of(c.verdict, (&c.overall, c.margin), c.better)
    }

    /// Of a point of a comparison.
    #[must_use]
    pub fn at(c: &Comparison, point: &PointResult) -> Self {
        Self::of(point.verdict, (&point.ratio, c.margin), c.better)
    }

    /// Whether nothing was shown as a whole, so that the answer is still open.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Self::LooksBetter
                | Self::LooksWorse
                | Self::Undecided
                | Self::TwoStates
                | Self::NotComparable
                | Self::Emulated
                | Self::NoHeadroom
                | Self::Withheld
                | Self::Neither
                | Self::Shared
        )
    }

    /// The same among better, worse, equivalent and undecided alone.
    #[must_use]
    pub const fn coarse(self) -> Self {
        match self {
            Self::Better | Self::Worse => self,
            Self::Inside | Self::Equivalent => Self::Equivalent,
            _ => Self::Undecided,
        }
    }
}

/// Whether a ratio of too few blocks for a verdict looks above 1: its interval leaves 1 out.
fn looks_higher(ratio: &Estimate) -> Option<bool> {
    let few = (2..JUDGED_FROM).contains(&(ratio.n as usize));
    let apart = ratio.low.value > 1.0 || ratio.high.value < 1.0;
    (few && apart).then_some(ratio.low.value > 1.0)
}
