//! Knows how two sides are compared whose values are sessions, and how far sessions of one set-up
//! differ among themselves; never what they measure.

use super::index::mean;
use super::interval::t_quantile;
use super::summary::Summary;
use super::welch::Welch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sessions that a side needs before its difference from the other is a verdict.
pub const SESSIONS: u32 = 5;
/// Standard deviation of the log between sessions of one set-up where none was repeated: 2 %.
pub const PRIOR_SD: f64 = 0.02;
/// Degrees of freedom of [`PRIOR_SD`]: as though three sessions had shown it.
pub const PRIOR_FREEDOM: f64 = 2.0;
/// Most sessions a side that are foretold.
pub const SESSIONS_MOST: u32 = 100;

/// One session: the mean log of its blocks (of its boots, where it has these).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Session {
    /// The mean, in the unit of the values.
    pub mean: f64,
    /// The variance of that mean by the spread within the session, 0 where it has one value.
    pub variance: f64,
    /// Degrees of freedom of that variance, 0 where the session has one value.
    pub freedom: f64,
}

impl Session {
    /// A session of these logs; none of none.
    #[must_use]
    pub fn of(logs: &[f64]) -> Option<Self> {
        if logs.is_empty() {
            return None;
        }
        let summary = Summary::of(logs);
        Some(Self {
            mean: mean(logs),
            variance: summary.map_or(0.0, |s| s.standard_error().powi(2)),
            freedom: summary.map_or(0.0, |s| s.freedom()),
        })
    }
}

/// Where the spread between sessions came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpreadSource {
    /// Repeated sessions of the sides that are compared.
    Sides,
    /// Other sessions of the same set-up, if need be with repeated sessions of a side.
    Others,
    /// No session was repeated: the stated prior.
    Prior,
}

/// The spread between sessions of one set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviation of the mean log of a session, 0 or more.
    pub sd: f64,
    /// Its degrees of freedom, above 0.
    pub freedom: f64,
    /// Where it came from.
    pub source: SpreadSource,
}

/// Two sides whose unit of replication is the session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// The difference of the sides with its standard error and degrees of freedom.
    pub test: Welch,
    /// The spread between sessions that is in the standard error.
    pub spread: Spread,
    /// Standard deviation of a session as it enters the test, 0 or more.
    sd: f64,
    /// Sessions of either side.
    sessions: [u32; 2],
}

/// A part of a variance and its degrees of freedom.
type Part = (f64, f64);

impl Between {
    /// Compares the sessions of two sides, the base first. `others` are sessions of the same set-up
    /// as both; they enter the spread alone. None where a side has no session.
    ///
    /// The log of a session is truth + session effect + noise within. With two sessions or more a
    /// side it is Welch's test of the session means. With fewer the variance of a session mean is
    /// pooled over all groups that have two, with the sum of their degrees of freedom. Where none
    /// has, the session effect has the variance of the prior, to which that within each session is
    /// added (Satterthwaite). No variance between sessions is taken for less than that within.
    ///
    /// Source: F. E. Satterthwaite, "An approximate distribution of estimates of variance
    /// components", Biometrics Bulletin 2 (1946), 110-114.
    #[must_use]
    pub fn of(sides: [&[Session]; 2], others: &[Session]) -> Option<Self> {
        let [base, other] = sides.map(centre);
        let difference = other? - base?;
        let n = sides.map(number);
        let within = sides.map(|side| mean_of(side, |s| s.variance));
        let [a, b] = sides.map(summary);
        let pool = [a, b, summary(others)];
        let (parts, variance, spread) = if let (Some(a), Some(b)) = (a, b) {
            welch([a, b], n, within)
        } else if let Some((variance, freedom)) = pooled(&pool) {
            let each = within.map(|within| variance.max(within));
            let source = if pool[2].is_some() { SpreadSource::Others } else { SpreadSource::Sides };
            let variance = each[0].max(each[1]);
            let part = (each[0] / n[0] + each[1] / n[1], freedom);
            (vec![part], variance, Spread { sd: variance.sqrt(), freedom, source })
        } else {
            prior(sides)
        };
        let (standard_error, freedom) = satterthwaite(&parts);
        let sessions = sides.map(|side| u32::try_from(side.len()).unwrap_or(u32::MAX));
        let n = sessions[0].min(sessions[1]);
        let test = Welch { difference, standard_error, freedom, n };
        Some(Self { test, spread, sd: variance.sqrt(), sessions })
    }

    /// Whether both sides have the sessions that a verdict needs.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.sessions.iter().all(|sessions| *sessions >= SESSIONS)
    }

    /// Sessions a side that would decide this difference by this spread, against a margin (a share,
    /// 0 or more) at an error probability `alpha` (0-1): from [`SESSIONS`] to [`SESSIONS_MOST`];
    /// none where that many do not. It takes difference and spread for the truth.
    #[must_use]
    pub fn needed(&self, margin: f64, alpha: f64) -> Option<u32> {
        let beyond = self.test.difference.abs() - margin.ln_1p();
        (SESSIONS..=SESSIONS_MOST).find(|n| {
            let n = f64::from(*n);
            let (error, freedom) = (self.sd * (2.0 / n).sqrt(), 2.0 * n - 2.0);
            let reach = |tail| error * t_quantile(tail, freedom);
            beyond > reach(0.5 * alpha) || -beyond > reach(alpha)
        })
    }
}

fn centre(side: &[Session]) -> Option<f64> {
    (!side.is_empty()).then(|| mean_of(side, |s| s.mean))
}

fn mean_of(side: &[Session], of: impl Fn(&Session) -> f64) -> f64 {
    mean(&side.iter().map(of).collect::<Vec<_>>())
}

fn summary(side: &[Session]) -> Option<Summary> {
    Summary::of(&side.iter().map(|s| s.mean).collect::<Vec<_>>())
}

#[expect(clippy::cast_precision_loss, reason = "sessions are few")]
const fn number(side: &[Session]) -> f64 {
    side.len() as f64
}

/// Variance of a session mean over all groups, and its degrees of freedom; none where no group has
/// two sessions.
fn pooled(groups: &[Option<Summary>]) -> Option<Part> {
    let known = || groups.iter().flatten();
    let freedom: f64 = known().map(Summary::freedom).sum();
    let squares: f64 = known().map(|s| s.freedom() * s.sd.powi(2)).sum();
    (freedom > 0.0).then(|| (squares / freedom, freedom))
}

/// Welch's parts, the variance of a session and the spread of two repeated sides.
fn welch(sides: [Summary; 2], n: [f64; 2], within: [f64; 2]) -> (Vec<Part>, f64, Spread) {
    let variance = |side: usize| sides[side].sd.powi(2).max(within[side]);
    let parts: Vec<Part> =
        [0, 1].map(|side| (variance(side) / n[side], sides[side].freedom())).into();
    let freedom = sides[0].freedom() + sides[1].freedom();
    let squares = sides[0].freedom() * variance(0) + sides[1].freedom() * variance(1);
    let each = squares / freedom;
    (parts, each, Spread { sd: each.sqrt(), freedom, source: SpreadSource::Sides })
}

/// The parts by the prior, the variance of a session and the spread of the prior.
fn prior(sides: [&[Session]; 2]) -> (Vec<Part>, f64, Spread) {
    let between = PRIOR_SD.powi(2);
    let mut parts = vec![(2.0 * between, PRIOR_FREEDOM)];
    let within = sides.into_iter().flatten();
    parts.extend(within.clone().map(|s| (s.variance, s.freedom)));
    let most = within.map(|s| s.variance).fold(0.0, f64::max);
    let spread = Spread { sd: PRIOR_SD, freedom: PRIOR_FREEDOM, source: SpreadSource::Prior };
    (parts, between + most, spread)
}

/// Root of the sum of parts of a variance, and the degrees of freedom of that sum.
fn satterthwaite(parts: &[Part]) -> (f64, f64) {
    let known = || parts.iter().filter(|(variance, _)| *variance > 0.0);
    let all: f64 = known().map(|(variance, _)| variance).sum();
    let freedom = if all > 0.0 {
        all.powi(2) / known().map(|(variance, freedom)| variance.powi(2) / freedom).sum::<f64>()
    } else {
        parts.iter().map(|(_, freedom)| freedom).sum()
    };
    (all.sqrt(), freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::EstimateMethod;

    fn sessions(logs: &[&[f64]]) -> Vec<Session> {
        logs.iter().map(|logs| Session::of(logs).unwrap()).collect()
    }

    fn singles(logs: &[f64]) -> Vec<Session> {
        logs.iter().map(|log| Session::of(&[*log]).unwrap()).collect()
    }

    fn close(ours: f64, theirs: f64) {
        assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} is not {theirs}");
    }

    const A: [f64; 5] = [0.011, -0.023, 0.004, 0.018, -0.009];
    const B: [f64; 5] = [0.112, 0.081, 0.097, 0.069, 0.121];

    /// Difference, standard error, degrees of freedom, p beyond a margin of 2 %, p of equivalence
    /// within it, ends of the ratio at 95 %.
    type Golden = [f64; 7];

    fn check(found: &Between, golden: Golden) {
        let [difference, error, freedom, beyond, equivalence, low, high] = golden;
        let test = found.test;
        close(test.difference, difference);
        close(test.standard_error, error);
        close(test.freedom, freedom);
        close(test.beyond_p(0.02), beyond);
        close(test.equivalence_p(0.02), equivalence);
        let ratio = test.ratio(0.95, EstimateMethod::WelchLog);
        close(ratio.low.value, low);
        close(ratio.high.value, high);
    }

    // numpy 2.4.6, scipy 1.17.1; with d the difference, se its standard error, f its degrees of
    // freedom, m = np.log1p(.02): min(1, 2 * s.t.sf((abs(d) - m) / se, f)),
    // s.t.sf((m - abs(d)) / se, f), np.exp(d -+ s.t.ppf(.975, f) * se).
    #[test]
    fn two_repeated_sides_are_the_unpaired_t_test_of_scipy() {
        // r = s.ttest_ind(B, A, equal_var=False): d = B.mean() - A.mean(), se = d / r.statistic
        let found = Between::of([&singles(&A), &singles(&B)], &[]).unwrap();
        let golden = [
            0.0958,
            0.012055704044144414,
            7.481545173093461,
            0.0003065500046772728,
            0.9998467249976614,
            1.0700020490217126,
            1.1319473142936527,
        ];
        check(&found, golden);
        assert_eq!((found.spread.source, found.spread.freedom), (SpreadSource::Sides, 8.0));
        close(found.spread.sd, 0.01906174178819973);
        assert!(found.is_enough() && found.test.n == 5);
        // Others add nothing to what both sides show.
        assert_eq!(Between::of([&singles(&A), &singles(&B)], &singles(&[0.0, 0.9])), Some(found));
    }

    #[test]
    fn one_session_against_repeated_ones_has_their_spread() {
        // v = A.var(ddof=1), se = np.sqrt(v * (1 / 5 + 1)), f = 4
        let found = Between::of([&singles(&A), &singles(&[0.1])], &[]).unwrap();
        let golden = [
            0.0998,
            0.017923169362587633,
            4.0,
            0.01113152879800477,
            0.9944342356009976,
            1.0513103138859752,
            1.1613262788635779,
        ];
        check(&found, golden);
        assert_eq!(found.spread.source, SpreadSource::Sides);
        assert!(!found.is_enough(), "whatever the interval says");
    }

    #[test]
    fn one_session_a_side_has_the_spread_of_others_of_the_set_up() {
        // se = np.sqrt(2 * A.var(ddof=1)), f = 4
        let sides = [singles(&[0.2]), singles(&[0.23])];
        let found = Between::of([&sides[0], &sides[1]], &singles(&A)).unwrap();
        let golden = [
            0.03,
            0.0231387121508523,
            4.0,
            0.6821964366359108,
            0.6589017816820446,
            0.9663363044619061,
            1.0988271284463764,
        ];
        check(&found, golden);
        assert_eq!((found.spread.source, found.spread.freedom), (SpreadSource::Others, 4.0));
    }

    #[test]
    fn without_repeated_sessions_the_prior_stands_in() {
        // p = 2 * .02**2, va = a.var(ddof=1) / 5, vb = b.var(ddof=1) / 5, t = p + va + vb,
        // se = np.sqrt(t), f = t**2 / (p**2 / 2 + va**2 / 4 + vb**2 / 4)
        let a = sessions(&[&[0.0, 0.004, -0.002, 0.003, -0.001]]);
        let b = sessions(&[&[0.101, 0.097, 0.1, 0.104, 0.096]]);
        let found = Between::of([&a, &b], &[]).unwrap();
        let golden = [
            0.0988,
            0.028344311598625924,
            2.017026608416333,
            0.10722967529198925,
            0.9463851623540054,
            0.9780695678080439,
            1.2457957454895916,
        ];
        check(&found, golden);
        let spread = Spread { sd: 0.02, freedom: 2.0, source: SpreadSource::Prior };
        assert_eq!(found.spread, spread);
        // Half of the interval of one session a side, of the log, where nothing moves within it.
        let bare = Between::of([&singles(&[0.0]), &singles(&[0.0])], &[]).unwrap();
        let ratio = bare.test.ratio(0.95, EstimateMethod::WelchLog);
        close(ratio.high.value.ln(), 0.12169739689186618);
    }

    #[test]
    fn sessions_that_are_copies_of_one_have_the_spread_within_it() {
        // w = x.var(ddof=1) / 3, se = np.sqrt(w / 2 + w / 2), f = w**2 / (2 * (w / 2)**2)
        let (x, y) = ([0.01, -0.01, 0.02], [0.06, 0.04, 0.07]);
        let [a, b] = [sessions(&[&x, &x]), sessions(&[&y, &y])];
        let found = Between::of([&a, &b], &[]).unwrap();
        let golden = [
            0.05,
            0.008819171036881969,
            2.0,
            0.07573169888897938,
            0.9621341505555103,
            1.0121271139668573,
            1.09192897100061,
        ];
        check(&found, golden);
    }

    #[test]
    fn the_sessions_needed_fall_with_the_difference_and_rise_with_the_spread() {
        let needed = |by: f64, spread: f64| {
            let side = |at: f64| singles(&A.map(|log| at + spread * log));
            Between::of([&side(0.0), &side(by)], &[]).unwrap().needed(0.02, 0.05)
        };
        assert_eq!(needed(0.1, 1.0), Some(SESSIONS));
        // t(.975, 2 n - 2) * 1.6361 % * sqrt(2 / n) < 4 % - ln 1.02: 2.105 % at 6, 1.906 % at 7.
        assert_eq!(needed(0.04, 1.0), Some(7));
        assert!(needed(0.04, 2.0) > needed(0.04, 1.0));
        // At the margin itself no number decides.
        assert_eq!(needed(0.02_f64.ln_1p(), 1.0), None);
        assert!(needed(0.0, 1.0).is_some(), "equal within the margin");
        assert_eq!(Between::of([&[], &singles(&A)], &[]), None);
    }
}
