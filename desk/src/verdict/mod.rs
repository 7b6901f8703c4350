//! Knows what may be concluded from estimates: winner, region, cost, states, limit, doubt,
//! interaction, advice, and how a published claim stands.
//!
//! Gives: [`analyse`], from a stored run to its findings, [`compare_runs`] for two of them,
//! [`gate`], [`objection`], [`among`], [`noise_floor`], [`so_far`],
//! [`knee`], [`read_out`].
//! Never: how a number was measured, how it is shown.
//! Start reading at `finding.rs`, then `analyse.rs`.

mod advice;
mod analyse;
mod analysis;
mod beside;
mod bottleneck;
mod bridged;
mod by_level;
mod caveat;
mod ceiling;
mod claims;
mod comparability;
mod compared;
mod compound;
mod course;
mod crossed;
mod dependence;
mod diagnostics;
mod efficiency;
mod elasticity;
mod enough;
mod finding;
mod gate;
mod generator;
mod headroom;
mod identity;
mod index;
mod inside;
mod interaction;
mod knee;
mod known;
mod ladder;
mod machine;
mod measure;
mod measured;
mod merged;
mod more_work;
mod noise;
mod objection;
mod own_count;
mod paced;
mod pairing;
mod parts;
mod percentile;
mod place;
mod primary;
mod ranking;
mod ranks;
mod read_out;
mod region;
mod relayed;
pub mod rfc2544;
mod roof;
mod rounds;
mod searched;
mod series;
mod sessions;
#[cfg(any(test, feature = "testing"))]
pub mod simulated;
mod so_far;
mod states;
mod steady_state;
mod storage;
#[cfg(test)]
mod tests;
mod together;
mod traits;
mod tuned;
mod uneven;
mod unpaired;
mod visits;
mod winner;
mod worth;

pub use analyse::analyse;
pub use analysis::Analysis;
pub use beside::{Beside, beside};
pub use bottleneck::{MeasuredLimit, was_carried};
pub use by_level::{LevelRow, LevelTable, line_shares};
pub use caveat::{POWER, stolen};
pub use comparability::{
    Comparability, Declared, Difference, Reclassed, compare_environments, declared, reclassed,
};
pub use course::{Pause, pauses};
pub use dependence::{Condition, Dependence, Gaining, Idle};
pub use efficiency::busy_by_level;
pub use elasticity::{Elasticity, ResourceShare, Weight};
pub use enough::enough;
pub use finding::{
    Advice, Agreement, Basis, Caveat, ClaimCheck, ClaimFigure, ClaimNeed, Comparison, Cost,
    CountedPart, CurveVerdict, GeneratorBound, GeneratorSign, Index, Interaction, KeptShare, Limit,
    LimitKind, LimitPlace, PartsApart, PointLimit, PointResult, PowerSource, Reader, Region, Rival,
    Roofs, Standing, State, Top, TrialQuantile, TrialQuantiles, TwoStates, Verdict, Withheld,
    Worth,
};
pub use gate::{
    FailIf, Gate, GateCheck, GateError, GateOutcome, GateReason, gate, gateable, gated,
};
pub use headroom::{LEAST_HEADROOM, headrooms};
pub use identity::{IdentityKey, UnlikeIdentity};
pub use inside::{is_inside, lies_inside};
pub use knee::{KNEE, knee};
pub use known::{Steadiness, best_figure, steadiness, steadiness_of};
pub use ladder::{Change, Ladder, Rung, Step};
pub use machine::{DerivedFact, DerivedKind, MachineCell, PLATEAU};
pub use measured::{Lacking, MeasuredFigure, MeasuredPoint, compares};
pub use merged::TooFew;
pub use noise::{Alarms, NoiseFloor, noise_floor};
pub use objection::objection;
pub use own_count::{OwnCount, own_counts};
pub use paced::{PacedPower, PacedState};
pub use parts::CpuParts;
pub use ranks::{RankedLevel, RankedPair, Ranking};
pub use read_out::{ReadOut, read_out};
pub use region::{curve_verdict, is_beyond};
pub use rounds::Rounds;
pub use sessions::{Grouped, SessionSpread, Sessions, Sides, group, set_apart};
pub use so_far::{SoFar, so_far};
pub use storage::is_from_disk;
pub use together::{analyse_part, certain_alone, is_certain_alone};
pub use traits::LevelTraits;
pub use tuned::{judged_together, largest_gain, tried};
pub use uneven::{COLLAPSE, Collapsed, Uneven, share_unseen};
pub use unpaired::{CompareError, Unpaired, Wanted, compare_runs, compare_sessions};
pub use visits::{Visit, visits};
