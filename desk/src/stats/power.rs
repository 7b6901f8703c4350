//! Knows the smallest ratio that a number of blocks can tell from 1; knows nothing of plans.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// Intervals of Simpson's rule over the chi density; halving them changes no printed digit.
const STEPS: u32 = 2000;

/// The smallest true ratio (above 1) that a paired t test on `blocks` log ratios finds different
/// from 1 with probability `power`, two-sided at `alpha / family` (Holm's first step).
///
/// `noise` is the standard deviation of ln(metric) of one trial, about its relative standard
/// deviation; a block's log ratio then has sqrt(2) times it. Exact for normal noise: the power is
/// that of the noncentral t distribution (Johnson, Kotz, Balakrishnan, "Continuous Univariate
/// Distributions" 2, ch. 31).
///
/// NaN for fewer than 2 blocks, a family of 0, a noise below 0, or alpha or power outside (0, 1).
#[must_use]
pub fn smallest_ratio(blocks: u32, noise: f64, family: u32, alpha: f64, power: f64) -> f64 {
    let inside = |p: f64| p > 0.0 && p < 1.0;
    if blocks < 2
        || family == 0
        || noise.is_nan()
        || noise < 0.0
        || !inside(alpha)
        || !inside(power)
    {
        return f64::NAN;
    }
    let freedom = f64::from(blocks - 1);
    let tail = alpha / f64::from(family) / 2.0;
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::NAN };
    // The lower tail keeps its digits where 1 - tail would lose them.
    let critical = -student.inverse_cdf(tail);
    let shift = solve(|shift| power_at(shift, critical, freedom), power);
    (shift * noise * (2.0 / f64::from(blocks)).sqrt()).exp()
}

/// Where a function that rises from below `goal` reaches it, for arguments from 0 on.
fn solve(rising: impl Fn(f64) -> f64, goal: f64) -> f64 {
    let mut high = 1.0;
    while rising(high) < goal && high < 1e6 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if rising(middle) < goal { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// P(|T| > critical) of the noncentral t with this shift: Simpson over s = sqrt(chi2 / freedom),
/// the ratio of the estimated to the true standard deviation, of P(|Z + shift| > critical s).
fn power_at(shift: f64, critical: f64, freedom: f64) -> f64 {
    let normal = Normal::standard();
    let half = freedom / 2.0;
    let ln_scale = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let integrand = |s: f64| {
        if s <= 0.0 {
            return 0.0;
        }
        let density = (ln_scale + (freedom - 1.0) * s.ln() - half * s * s).exp();
        density * (normal.cdf(shift - critical * s) + normal.cdf(-shift - critical * s))
    };
    // The standard deviation of s is about 1 / sqrt(2 freedom); ten of them leave nothing outside.
    let reach = 10.0 / (2.0 * freedom).sqrt();
    let low = (1.0 - reach).max(0.0);
    let step = (1.0 + reach - low) / f64::from(STEPS);
    let inner: f64 =
        (1..STEPS).map(|i| f64::from(2 + 2 * (i % 2)) * integrand(low + step * f64::from(i))).sum();
    step / 3.0 * (integrand(low) + inner + integrand(1.0 + reach))
}

#[cfg(test)]
mod tests {
    use super::*;

    // from scipy import stats as S, optimize as O; import math
    // f=lambda b,s,m,c:math.exp(O.brentq(lambda d:S.nct.sf(c,b-1,d)+(S.nct.cdf(-c,b-1,d) if d<3
    //     else 0)-.8,1e-6,100)*s*(2/b)**.5)
    // print(f(5,.02,1,S.t.isf(.05/1/2,4)))   # blocks, noise, family, critical t
    const SCIPY: [(u32, f64, u32, f64); 10] = [
        (3, 0.02, 1, 1.096_717),
        (3, 0.05, 39, 4.247_603),
        (5, 0.01, 1, 1.024_072),
        (5, 0.02, 1, 1.048_724),
        (5, 0.05, 13, 1.269_819),
        (5, 0.05, 39, 1.372_764),
        (7, 0.05, 39, 1.206_594),
        (10, 0.02, 13, 1.044_619),
        (40, 0.05, 1, 1.032_642),
        (200, 0.05, 64, 1.021_536),
    ];

    #[test]
    fn the_smallest_ratio_is_that_of_the_noncentral_t() {
        for (blocks, noise, family, ratio) in SCIPY {
            let ours = smallest_ratio(blocks, noise, family, 0.05, 0.8);
            assert!((ours - ratio).abs() < 2e-6, "{blocks} {noise} {family}: {ours} {ratio}");
        }
    }

    #[test]
    fn a_question_without_an_answer_gives_nan() {
        assert!(smallest_ratio(1, 0.02, 1, 0.05, 0.8).is_nan());
        assert!(smallest_ratio(5, 0.02, 0, 0.05, 0.8).is_nan());
        assert!(smallest_ratio(5, -0.02, 1, 0.05, 0.8).is_nan());
        assert!(smallest_ratio(5, 0.02, 1, 0.05, 1.0).is_nan());
    }
}
