//! Knows Holm's step-down over a family of tests; never what the tests are about.

/// What Holm's procedure says of one member of the family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HolmStep {
    /// Whether its null hypothesis is rejected.
    pub rejected: bool,
    /// The error probability of its step, 0-1: draw its interval at level 1 - alpha.
    pub alpha: f64,
}

/// Holm's step-down over the p values of a family, answers in the order of the p values.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
/// Journal of Statistics 6 (1979), 65-70. Sorted by p, the k-th of m is rejected while
/// p <= alpha / (m - k + 1); at the first failure all the rest are kept. The rejected get the alpha
/// of their own step and the kept get that of the step at which it stopped, so an interval at
/// level 1 - alpha excludes the null value exactly where the null hypothesis is rejected.
///
/// What this covers: the chance that any true null hypothesis of the family is rejected is at most
/// `alpha`, however the tests depend on each other. What it does not: the levels follow from the
/// data, and the drawn intervals do not hold all true values at once with 1 - alpha. Were the
/// order of the steps fixed, they would hold them with 1 - alpha (1 + 1/2 + ... + 1/m), which is
/// 84 % for 13 members at 5 %. The decisions are simultaneous, the interval ends are less so.
#[must_use]
pub fn holm(ps: &[f64], alpha: f64) -> Vec<HolmStep> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|a, b| ps[*a].total_cmp(&ps[*b]));
    let mut steps = vec![HolmStep { rejected: false, alpha }; ps.len()];
    let mut stopped = None;
    let mut left = f64::from(u32::try_from(ps.len()).unwrap_or(u32::MAX));
    for index in order {
        let own = alpha / left;
        if stopped.is_none() && ps[index] > own {
            stopped = Some(own);
        }
        steps[index] = HolmStep { rejected: stopped.is_none(), alpha: stopped.unwrap_or(own) };
        left -= 1.0;
    }
    steps
}

/// p values adjusted by Holm's procedure, 0-1, in the order of the p values: at most alpha exactly
/// where [`holm`] at alpha rejects.
#[must_use]
pub fn holm_adjusted(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|a, b| ps[*a].total_cmp(&ps[*b]));
    let mut adjusted = vec![1.0; ps.len()];
    let mut left = f64::from(u32::try_from(ps.len()).unwrap_or(u32::MAX));
    let mut least = 0.0_f64;
    for index in order {
        least = least.max(left * ps[index]).min(1.0);
        adjusted[index] = least;
        left -= 1.0;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(ps: &[f64]) -> Vec<bool> {
        holm(ps, 0.05).iter().map(|s| s.rejected).collect()
    }

    // statsmodels 0.15.0: multipletests(ps, .05, 'holm')[0]
    #[test]
    fn decisions_are_those_of_statsmodels() {
        assert_eq!(rejected(&[0.001, 0.04, 0.012, 0.03, 0.2]), [true, false, true, false, false]);
        assert_eq!(rejected(&[0.01, 0.02, 0.03]), [true, true, true]);
        assert_eq!(rejected(&[0.005, 0.011, 0.02, 0.04, 0.13]), [true, true, false, false, false]);
    }

    // By hand: m = 5; steps 0.05/5, 0.05/4, then 0.03 > 0.05/3 stops it.
    #[test]
    fn the_kept_share_the_alpha_of_the_step_that_stopped() {
        let alphas: Vec<f64> =
            holm(&[0.001, 0.04, 0.012, 0.03, 0.2], 0.05).iter().map(|s| s.alpha).collect();
        let third = 0.05 / 3.0;
        assert_eq!(alphas, [0.01, third, 0.0125, third, third]);
    }

    #[test]
    fn a_family_of_one_is_a_plain_test() {
        assert_eq!(holm(&[0.04], 0.05), [HolmStep { rejected: true, alpha: 0.05 }]);
        assert!(holm(&[], 0.05).is_empty());
    }
}
