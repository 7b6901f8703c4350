//! Knows which points of a contest have no verdict of their own; never what one would be.

use super::finding::{TwoStates, Verdict};
use super::identity::{UnlikeIdentity, unlike};
use super::pairing::Contest;
use super::states::two_states;
use super::winner::name;
use crate::record::Run;

/// The points of a contest that have no verdict, and why.
pub(super) struct Bars {
    /// What stands in place of a verdict, in the order of the points.
    pub barred: Vec<Option<Verdict>>,
    pub states: Vec<TwoStates>,
    pub unlike: Vec<UnlikeIdentity>,
}

/// Points with two states, and those whose sides were not made by the same; where both hold the
/// second goes first, for it leaves nothing to be asked of the first.
pub(super) fn bars(run: &Run, contest: &Contest<'_>) -> Bars {
    let id = name(contest);
    let (torn, states) = two_states(run, contest, &id);
    let mut barred: Vec<Option<Verdict>> =
        torn.into_iter().map(|torn| torn.then_some(Verdict::TwoStates)).collect();
    let mut unlike_points = Vec::new();
    for (place, point) in unlike(contest, &id) {
        if let Some(bar) = barred.get_mut(place) {
            *bar = Some(Verdict::NotComparable);
        }
        unlike_points.push(point);
    }
    Bars { barred, states, unlike: unlike_points }
}
