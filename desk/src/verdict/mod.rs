//! Knows what may be concluded from estimates: winner, region, limit, doubt.
//!
//! Gives: [`analyse`], from a stored run to its findings, and [`is_aa`].
//! Never: how a number was measured, how it is shown.
//! Start reading at `finding.rs`, then `analyse.rs`.

mod analyse;
mod bottleneck;
mod caveat;
mod effective;
mod finding;
mod pairing;
mod region;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
mod winner;

pub use analyse::analyse;
pub use effective::is_aa;
pub use finding::{
    Advice, Analysis, Basis, Caveat, ClaimCheck, ClaimFigure, ClaimNeed, Comparison, Cost,
    CpuParts, GeneratorBound, GeneratorSign, Interaction, Limit, LimitKind, PointResult, Reader,
    Region, Standing, State, TwoStates, Verdict, Withheld,
};
