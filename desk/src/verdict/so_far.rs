//! Knows where the first comparison of a run stands while it is measured; never a verdict.

use super::pairing::contests;
use super::searched::observed;
use crate::record::{Replicate, Run};
use crate::stats::{Estimate, block_means, decide};

/// The first comparison of a run so far.
#[derive(Clone, Debug, PartialEq)]
pub struct SoFar {
    /// Baseline.
    pub base: String,
    /// The level that is judged.
    pub other: String,
    /// Comparisons of the plan besides it.
    pub besides: usize,
    /// What the n of the ratio counts.
    pub replicate: Replicate,
    /// other / base over the blocks that are whole, at the level of the plan; none below two.
    pub ratio: Option<Estimate>,
}

/// The ratio of the first comparison of the plan, of the records that are there.
///
/// Nothing is decided by it: only a look that the plan names may end a run. None for a plan that
/// compares nothing.
#[must_use]
pub fn so_far(run: &Run) -> Option<SoFar> {
    let run = &*observed(run);
    let contests = contests(run);
    let first = contests.first()?;
    let pairs = first.points.iter().map(|point| &point.pairs).filter(|pairs| !pairs.is_empty());
    let points: Vec<Vec<(u32, f64)>> =
        pairs.map(|pairs| pairs.iter().map(|p| (p.block, p.log)).collect()).collect();
    let slices: Vec<&[(u32, f64)]> = points.iter().map(Vec::as_slice).collect();
    let logs: Vec<f64> = block_means(&slices).into_iter().map(|(_, log)| log).collect();
    let enough = logs.len() > 1;
    Some(SoFar {
        base: first.base.name.clone(),
        other: first.other.name.clone(),
        besides: contests.len() - 1,
        replicate: first.replicate,
        ratio: enough.then(|| Some(decide(&logs, run.plan.method.rule())?.ratio)).flatten(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::simulated::Simulated;
    use super::*;

    #[test]
    fn at_the_end_it_is_the_ratio_of_the_report_and_at_the_beginning_none() {
        let sizes = vec![64, 1024];
        let mut run = Simulated { truth: |_| 1.3, sizes, ..Simulated::default() }.run();
        let whole = so_far(&run).unwrap();
        assert_eq!(whole.ratio.as_ref(), Some(&analyse(&run).comparisons[0].overall));
        assert_eq!((whole.base.as_str(), whole.besides), ("onboard", 0));
        run.records.retain(|r| r.trial.block <= 1);
        assert_eq!(so_far(&run).unwrap().ratio, None);
        run.plan.factors.clear();
        assert_eq!(so_far(&run), None);
    }
}
