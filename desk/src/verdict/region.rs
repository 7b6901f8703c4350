//! Knows the stretches of a curve where one side is ahead, and how its mean stands to them; never
//! how a point was decided.

use super::finding::{Agreement, Comparison, CurveVerdict, PointResult, Region, Verdict};
use super::inside::is_inside;
use crate::record::Value;
use crate::stats::Estimate;

/// Maximal runs of neighbouring points decided the same way.
///
/// Each point comes with its place in the plan's curve. A place without a result ends a stretch:
/// nothing is claimed across a gap. Without a curve there are no regions.
pub(super) fn regions(points: &[(usize, PointResult)]) -> Vec<Region> {
    let same_stretch = |a: &(usize, PointResult), b: &(usize, PointResult)| {
        a.0 + 1 == b.0 && ahead(&a.1).is_some() && ahead(&a.1) == ahead(&b.1)
    };
    let of = |stretch: &[(usize, PointResult)]| {
        region(&stretch.iter().map(|(_, point)| point).collect::<Vec<_>>())
    };
    points.chunk_by(same_stretch).filter_map(of).collect()
}

/// What is left of the regions of a comparison after points of theirs were called undecided.
pub(super) fn narrowed(comparison: &Comparison) -> Vec<Region> {
    let place = |at: &Value| comparison.points.iter().position(|p| p.at.as_ref() == Some(at));
    let mut left = Vec::new();
    for region in &comparison.regions {
        let (Some(from), Some(to)) = (place(&region.from), place(&region.to)) else { continue };
        let points: Vec<&PointResult> = comparison.points.iter().take(to + 1).skip(from).collect();
        let same = |a: &&PointResult, b: &&PointResult| ahead(a) == ahead(b);
        left.extend(points.chunk_by(same).filter_map(self::region));
    }
    left
}

/// Whether the other level is ahead; none where that is not decided.
fn ahead(point: &PointResult) -> Option<bool> {
    match point.verdict {
        Verdict::Better => Some(true),
        Verdict::Worse => Some(false),
        Verdict::Equivalent
        | Verdict::TwoStates
        | Verdict::NotComparable
        | Verdict::Emulated
        | Verdict::NoHeadroom
        | Verdict::Undecided { .. } => None,
    }
}

/// None of points at which no side is ahead.
fn region(stretch: &[&PointResult]) -> Option<Region> {
    let (first, last) = (stretch.first()?, stretch.last()?);
    let by_ratio = |a: &&Estimate, b: &&Estimate| a.centre.value.total_cmp(&b.centre.value);
    let ratios = || stretch.iter().map(|point| &point.ratio);
    Some(Region {
        from: first.at.clone()?,
        to: last.at.clone()?,
        other_ahead: ahead(first)?,
        least: ratios().min_by(by_ratio)?.clone(),
        most: ratios().max_by(by_ratio)?.clone(),
    })
}

/// Whether the difference is larger than the margin with certainty somewhere in a region. A smaller
/// one is of no interest to the plan.
#[must_use]
pub fn is_beyond(region: &Region, margin: f64) -> bool {
    let beyond = |e: &Estimate| e.low.value > 1.0 + margin || e.high.value < 1.0 / (1.0 + margin);
    beyond(&region.least) || beyond(&region.most)
}

/// Every curve of two points or more by its mean and by its regions.
///
/// Both are told because neither holds the other: a mean over points may come from a few of them,
/// and a region says nothing of the rest. Regions that never leave the margin with certainty
/// contradict nothing. Each curve is judged by itself.
pub(super) fn curve_verdicts(comparisons: &[Comparison]) -> Vec<CurveVerdict> {
    let curves = comparisons.iter().filter(|c| c.curve.is_some() && c.points.len() > 1);
    curves.map(curve_verdict).collect()
}

/// A curve by its mean and by its regions; one without points has no region.
#[must_use]
pub fn curve_verdict(c: &Comparison) -> CurveVerdict {
    let with = |wanted: fn(&Verdict) -> bool| {
        let points = c.points.iter().filter(|p| wanted(&p.verdict)).count();
        u32::try_from(points).unwrap_or(u32::MAX)
    };
    let (agreement, against) = agreement(c);
    CurveVerdict {
        comparison: c.id.clone(),
        mean: c.overall.clone(),
        verdict: c.verdict,
        ahead: with(|v| *v == Verdict::Better),
        behind: with(|v| *v == Verdict::Worse),
        even: with(|v| *v == Verdict::Equivalent),
        open: with(|v| matches!(v, Verdict::Undecided { .. }) || v.is_barred()),
        agreement,
        against,
    }
}

fn agreement(c: &Comparison) -> (Agreement, Vec<Region>) {
    let ahead = match c.verdict {
        Verdict::Better | Verdict::Worse if is_inside(c) => None,
        Verdict::Better => Some(true),
        Verdict::Worse => Some(false),
        // The mean is none of the curve then, so nothing can contradict it.
        barred if barred.is_barred() => return (Agreement::Alike, Vec::new()),
        _ => None,
    };
    let otherwise = |r: &&Region| Some(r.other_ahead) != ahead && is_beyond(r, c.margin.value);
    let against: Vec<Region> = c.regions.iter().filter(otherwise).cloned().collect();
    let agreement = match (against.is_empty(), ahead) {
        (true, _) => Agreement::Alike,
        (false, Some(_)) => Agreement::Opposed,
        (false, None) => Agreement::Hidden,
    };
    (agreement, against)
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::simulated::{Cell, Simulated, size};
    use super::*;

    fn curve(truth: fn(Cell) -> f64) -> CurveVerdict {
        let sizes = vec![64, 256, 1024, 4096, 16384, 65536];
        let run = Simulated { truth, sizes, blocks: 10, ..Simulated::default() }.run();
        let found = analyse(&run);
        assert_eq!(found.curves.len(), 1);
        assert_eq!(found.curves[0].mean, found.comparisons[0].overall);
        found.curves[0].clone()
    }

    #[test]
    fn a_mean_that_is_ahead_and_a_region_behind_are_opposed() {
        let crossing = |cell: Cell| match cell.size {
            4096 | 16384 => 0.9,
            _ => 1.3,
        };
        let found = curve(crossing);
        assert_eq!((found.verdict, found.agreement), (Verdict::Better, Agreement::Opposed));
        assert_eq!((found.ahead, found.behind, found.even, found.open), (4, 2, 0, 0));
        let [against] = &found.against[..] else { panic!("{found:?}") };
        assert_eq!((&against.from, &against.to), (&size(4096), &size(16384)));
        assert!(!against.other_ahead);
    }

    #[test]
    fn a_mean_of_nothing_hides_regions_on_either_side() {
        let found = curve(|cell| if cell.size < 2000 { 1.1 } else { 1.0 / 1.1 });
        assert_eq!(found.agreement, Agreement::Hidden, "{found:?}");
        assert_eq!((found.against.len(), found.ahead, found.behind), (2, 3, 3));
    }

    #[test]
    fn regions_of_one_side_and_regions_within_the_margin_contradict_nothing() {
        let one_side = curve(|cell| if cell.size < 2000 { 1.2 } else { 1.0 });
        assert_eq!((one_side.agreement, one_side.verdict), (Agreement::Alike, Verdict::Better));
        assert!(one_side.against.is_empty() && one_side.behind == 0);
        let sizes = vec![64, 256, 1024, 4096];
        let truth = |cell: Cell| if cell.size < 500 { 1.008 } else { 0.992 };
        let run = Simulated { truth, sizes, noise: 0.001, blocks: 10, ..Simulated::default() };
        let found = analyse(&run.run());
        assert_eq!(found.comparisons[0].regions.len(), 2);
        assert_eq!(found.curves[0].agreement, Agreement::Alike);
        assert!(analyse(&Simulated::default().run()).curves.is_empty(), "one point is no curve");
    }
}
