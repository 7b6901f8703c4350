//! Knows the stretches of a curve where one side is ahead; never how a point was decided.

use super::finding::{PointResult, Region, Verdict};
use crate::stats::Estimate;

/// Maximal runs of neighbouring points decided the same way.
///
/// Each point comes with its place in the plan's curve. A place without a result ends a stretch:
/// nothing is claimed across a gap. Without a curve there are no regions.
pub(super) fn regions(points: &[(usize, PointResult)]) -> Vec<Region> {
    let same_stretch = |a: &(usize, PointResult), b: &(usize, PointResult)| {
        a.0 + 1 == b.0 && ahead(&a.1).is_some() && ahead(&a.1) == ahead(&b.1)
    };
    points.chunk_by(same_stretch).filter_map(region).collect()
}

/// Whether the other level is ahead; none where that is not decided.
fn ahead(point: &PointResult) -> Option<bool> {
    match point.verdict {
        Verdict::Better => Some(true),
        Verdict::Worse => Some(false),
        Verdict::Equivalent | Verdict::TwoStates | Verdict::Undecided { .. } => None,
    }
}

fn region(stretch: &[(usize, PointResult)]) -> Option<Region> {
    let (first, last) = (&stretch.first()?.1, &stretch.last()?.1);
    let by_ratio = |a: &&Estimate, b: &&Estimate| a.centre.value.total_cmp(&b.centre.value);
    let ratios = || stretch.iter().map(|(_, point)| &point.ratio);
    Some(Region {
        from: first.at.clone()?,
        to: last.at.clone()?,
        other_ahead: ahead(first)?,
        least: ratios().min_by(by_ratio)?.clone(),
        most: ratios().max_by(by_ratio)?.clone(),
    })
}
