//! Checks the comparison of two runs against runs whose truth is planted.

use crate::record::{Fact, FactorPlan, Fault, KeyClass, Level, Run, Settings};
use crate::stats::{PRIOR_SD, SESSIONS, SpreadSource};
use crate::unit::Quantity;
use crate::verdict::simulated::{Simulated, word};
use crate::verdict::{
    CompareError, Grouped, Sides, Unpaired, Verdict, Wanted, compare_runs, compare_sessions, group,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

const SIZES: [u64; 5] = [64, 256, 1024, 4096, 16384];
const OPEN: Verdict = Verdict::Undecided { more_blocks: None };

fn simulated(seed: u64, sizes: &[u64]) -> Run {
    Simulated { seed, sizes: sizes.to_vec(), ..Simulated::default() }.run()
}

/// The same with every figure times a factor.
fn scaled(mut run: Run, factor: f64) -> Run {
    for sample in run.records.iter_mut().flat_map(|r| &mut r.outcome.samples) {
        sample.quantity = Quantity::new(sample.quantity.value * factor, sample.quantity.unit);
    }
    run
}

fn compared(a: &Run, b: &Run, force: bool) -> Unpaired {
    compare_runs(a, b, Wanted { metric: None, force }).unwrap()
}

fn refs(runs: &[Run]) -> Vec<&Run> {
    runs.iter().collect()
}

fn of_sessions(a: &[Run], b: &[Run], others: &[Run]) -> Unpaired {
    let (a, b, others) = (refs(a), refs(b), refs(others));
    let sides = Sides { a: &a, b: &b, others: &others };
    compare_sessions(sides, Wanted::default()).unwrap()
}

/// So many sessions from this seed on, each times a factor.
fn side(first: u64, many: u64, sizes: &[u64], factor: f64) -> Vec<Run> {
    (first..first + many).map(|seed| scaled(simulated(seed, sizes), factor)).collect()
}

/// Sessions whose effects have this standard deviation of the log, little noise within them, and
/// figures times a factor.
fn spread(first: u64, many: u64, (sd, factor): (f64, f64)) -> Vec<Run> {
    let normal = Normal::new(0.0, sd).unwrap();
    let session = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5e55_1011);
        let effect: f64 = normal.inverse_cdf(rng.random_range(1e-9..1.0));
        let quiet = Simulated { seed, noise: 1e-3, ..Simulated::default() };
        scaled(quiet.run(), factor * effect.exp())
    };
    (first..first + many).map(session).collect()
}

fn verdicts(found: &Unpaired) -> Vec<Verdict> {
    found.comparisons.iter().map(|c| c.verdict).collect()
}

fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// Of so many pairs of equal sides, the verdicts and those of them that name a difference.
fn false_alarms(pairs: u64, sessions: u64, sd: f64) -> (usize, usize) {
    let (mut all, mut wrong) = (0, 0);
    for pair in 0..pairs {
        let first = 1 + pair * 2 * sessions;
        let [a, b] = [first, first + sessions].map(|at| spread(at, sessions, (sd, 1.0)));
        let found = verdicts(&of_sessions(&a, &b, &[]));
        all += found.len();
        wrong += found.into_iter().filter(|v| differs(*v)).count();
    }
    (wrong, all)
}

#[test]
fn equal_sessions_are_called_different_in_at_most_a_twentieth() {
    for sessions in [1, 2, 5] {
        let (wrong, all) = false_alarms(200, sessions, 0.02);
        assert_eq!(all, 400, "two levels a pair");
        assert!(wrong * 100 <= 5 * all, "{wrong} of {all} with {sessions} sessions a side");
    }
}

#[test]
fn a_difference_of_a_tenth_is_found_with_five_sessions_and_undecided_with_fewer() {
    for (sessions, least, most) in [(5, 190, 200), (4, 0, 0), (1, 0, 0)] {
        let mut found = 0;
        for pair in 0..100 {
            let first = 1 + pair * 2 * sessions;
            let a = spread(first, sessions, (0.02, 1.0));
            let b = spread(first + sessions, sessions, (0.02, 1.1));
            let verdicts = verdicts(&of_sessions(&a, &b, &[]));
            assert!(verdicts.iter().all(|v| matches!(v, Verdict::Better) || *v == OPEN));
            found += verdicts.iter().filter(|v| differs(**v)).count();
        }
        assert!((least..=most).contains(&found), "{found} of 200 with {sessions} a side");
    }
}

#[test]
fn what_lies_inside_the_margin_is_never_better_or_worse() {
    // Sessions that differ by next to nothing, 1.5 % apart, against a margin of 2 %.
    let (mut called, mut equal) = (0, 0);
    for pair in 0..50 {
        let a = spread(1 + 20 * pair, 10, (2e-3, 1.0));
        let b = spread(11 + 20 * pair, 10, (2e-3, 1.015));
        for verdict in verdicts(&of_sessions(&a, &b, &[])) {
            called += usize::from(differs(verdict));
            equal += usize::from(verdict == Verdict::Equivalent);
        }
    }
    assert!(called == 0 && equal > 0, "{called} called different, {equal} equal, of 100");
}

#[test]
fn the_spread_says_where_it_came_from_and_how_many_sessions_it_takes() {
    let [a, b] = [1, 101].map(|first| spread(first, 5, (0.02, 1.0)));
    let others = spread(201, 4, (0.02, 1.0));
    let of = |a: &[Run], b: &[Run], others: &[Run]| {
        let found = of_sessions(a, b, others);
        assert_eq!(found.sessions.least, SESSIONS);
        let counts = [&found.sessions.a, &found.sessions.b, &found.sessions.others].map(Vec::len);
        assert_eq!(counts, [a.len(), b.len(), others.len()]);
        assert_eq!(found.sessions.are_few(), a.len() < 5 || b.len() < 5);
        let spread = found.sessions.spreads[0].clone();
        assert_eq!(spread.comparison, found.comparisons[0].id);
        let n = u32::try_from(a.len().min(b.len())).unwrap();
        assert_eq!(found.comparisons[0].overall.n, n);
        assert!(spread.needed.is_none_or(|needed| needed >= SESSIONS));
        (spread.source, spread.freedom, spread.sd.value)
    };
    let (source, freedom, sd) = of(&a, &b, &[]);
    assert!(source == SpreadSource::Sides && freedom == 8.0, "{source:?} {freedom}");
    assert!((0.01..0.04).contains(&sd), "{sd}");
    assert_eq!(of(&a, &b[..1], &[]).1, 4.0);
    let (source, freedom, _) = of(&a[..1], &b[..1], &others);
    assert!(source == SpreadSource::Others && freedom == 3.0, "{source:?} {freedom}");
    assert_eq!(of(&a[..1], &b[..1], &[]), (SpreadSource::Prior, 2.0, PRIOR_SD));
    // A ten per cent difference of one session a side lies within its interval.
    let found = compared(&a[0], &scaled(a[0].clone(), 1.1), false);
    let ratio = &found.comparisons[0].overall;
    assert!(ratio.low.value < 1.0 && ratio.high.value > 1.2, "{ratio:?}");
}

#[test]
fn a_planted_difference_is_found_and_has_its_side() {
    // A block moves by ten times the noise of a trial, and nothing pairs it out.
    let (a, b) = (side(1, 5, &SIZES, 1.0), side(6, 5, &SIZES, 3.0));
    let found = of_sessions(&a, &b, &[]);
    assert_eq!(verdicts(&found), [Verdict::Better; 2]);
    let comparison = &found.comparisons[0];
    assert!(comparison.points.iter().all(|p| p.verdict == Verdict::Better));
    assert_eq!((comparison.points.len(), comparison.regions.len()), (5, 1));
    let ratio = &comparison.overall;
    assert!(ratio.low.value < 3.0 && 3.0 < ratio.high.value && ratio.n == 5, "{ratio:?}");
    assert_eq!(verdicts(&of_sessions(&b, &a, &[])), [Verdict::Worse; 2]);
    // However large, of one session a side it is no verdict.
    let found = of_sessions(&a[..1], &b[..1], &[]);
    assert_eq!(verdicts(&found), [OPEN; 2]);
    let all = found.comparisons.iter();
    assert!(all.clone().all(|c| c.points.iter().all(|p| p.verdict == OPEN)));
    assert!(all.clone().all(|c| c.regions.is_empty()));
}

#[test]
fn equal_sessions_that_differ_little_are_equivalent() {
    let [a, b] = [1, 6].map(|first| spread(first, 5, (1e-4, 1.0)));
    assert_eq!(verdicts(&of_sessions(&a, &b, &[])), [Verdict::Equivalent; 2]);
    assert_eq!(verdicts(&of_sessions(&a[..1], &b[..1], &[])), [OPEN; 2], "by the prior");
}

/// A run of a set-up whose factor a person set to a level.
fn at(seed: u64, level: &str) -> Run {
    let mut run = simulated(seed, &[64]);
    run.id = format!("{level}-{seed}");
    let (key, value, source) = ("manual.filter".into(), level.into(), String::new());
    run.environment_mut().facts.push(Fact { key, value, class: KeyClass::Factor, source });
    run
}

#[test]
fn runs_are_grouped_by_their_set_up_and_none_is_on_two_sides() {
    let mut other = at(9, "on");
    other.plan.method.window = Quantity::seconds(7.0);
    let stored = [at(3, "on"), at(4, "off"), at(5, "auto"), other, at(6, "off")];
    let stored = refs(&stored);
    let apart = group(&at(1, "on"), &at(2, "off"), &stored);
    assert_eq!(apart, Grouped { a: vec![0], b: vec![1, 4], others: vec![] });
    // Of two runs of one set-up nobody but the person knows the sides of the others.
    let one = group(&at(1, "off"), &at(2, "off"), &stored);
    assert_eq!(one, Grouped { a: vec![], b: vec![], others: vec![1, 4] });
    // Another machine of the same kind is another set-up, although no figure depends on its number.
    let mut twin = at(7, "on");
    let (key, class) = ("system.serial".into(), KeyClass::Info);
    twin.environment_mut().facts.push(Fact {
        key,
        value: "x".into(),
        class,
        source: String::new(),
    });
    assert_eq!(group(&at(1, "on"), &twin, &stored), Grouped { a: vec![0], ..Grouped::default() });
}

#[test]
fn sessions_of_one_side_that_do_not_belong_together_are_refused_by_name() {
    let (on, more, off) = (at(1, "on"), at(2, "on"), at(3, "off"));
    let sides =
        |a: &[&Run]| compare_sessions(Sides { a, b: &[&off], others: &[] }, Wanted::default());
    assert!(sides(&[&on, &more]).is_ok());
    let refused = sides(&[&on, &off]).unwrap_err();
    let CompareError::NotOneSetUp { run, of, keys } = &refused else { panic!("{refused}") };
    assert_eq!([run, of, keys], ["off-3", "on-1", "manual.filter"]);
    assert_eq!(sides(&[]), Err(CompareError::NoRun));
}

#[test]
fn confounded_runs_have_no_comparison_and_by_force_no_verdict() {
    let a = simulated(1, &SIZES);
    let mut b = scaled(simulated(2, &SIZES), 3.0);
    b.version = "9.9".into();
    let refused = compared(&a, &b, false);
    assert!(refused.comparisons.is_empty() && refused.watermark().is_none());
    assert_eq!(refused.comparability.confounders[0].key, "stend.version");
    let forced = compared(&a, &b, true);
    assert_eq!(forced.watermark(), Some(vec!["stend.version"]));
    assert_eq!(verdicts(&forced), [OPEN; 2]);
    assert!(forced.comparisons.iter().flat_map(|c| &c.points).all(|p| p.verdict == OPEN));
    assert!(forced.comparisons[0].overall.low.value > 1.5, "the figures are there");
    assert!(forced.comparisons[0].regions.is_empty());
}

#[test]
fn nothing_needs_force_where_runs_are_comparable() {
    let (a, b) = (side(1, 5, &[64], 1.0), side(6, 5, &[64], 3.0));
    let (a, b) = (refs(&a), refs(&b));
    let wanted = Wanted { metric: None, force: true };
    let found = compare_sessions(Sides { a: &a, b: &b, others: &[] }, wanted).unwrap();
    assert!(!found.forced && found.watermark().is_none());
    assert_eq!(verdicts(&found), [Verdict::Better; 2]);
}

#[test]
fn a_level_without_a_partner_is_left_out_and_two_of_them_stand_against_each_other() {
    let a = simulated(1, &[64]);
    let mut fewer = simulated(2, &[64]);
    fewer.plan.factors[0].levels.pop();
    fewer.records.retain(|r| r.trial.treatment.levels["path"] == "onboard");
    let found = compared(&a, &fewer, false);
    assert_eq!(found.comparisons.len(), 1);
    assert_eq!(found.comparisons[0].stratum["path"], "onboard");
    let mut renamed = simulated(2, &[64]);
    renamed.plan.factors[0].levels[1] =
        Level { name: "x710".into(), settings: [("path".to_owned(), word("x710"))].into() };
    for record in &mut renamed.records {
        let level = record.trial.treatment.levels.get_mut("path").unwrap();
        if level == "pro1000" {
            *level = "x710".into();
        }
    }
    let found = compared(&a, &renamed, false);
    assert!(found.comparability.comparable());
    assert_eq!(found.comparability.factors.len(), 2);
    let names: Vec<(&str, &str)> =
        found.comparisons.iter().map(|c| (c.base.as_str(), c.other.as_str())).collect();
    assert_eq!(names, [("A", "B"), ("A (pro1000)", "B (x710)")]);
}

#[test]
fn faulty_dry_and_missing_trials_enter_no_mean() {
    let a = simulated(1, &SIZES);
    let mut b = simulated(2, &SIZES);
    let record = b.records.iter_mut().find(|r| r.trial.block == 3).unwrap();
    record.outcome.fault = Some(Fault::Cancelled);
    let found = compared(&a, &b, false);
    let comparison = &found.comparisons[0];
    assert_eq!(
        (comparison.points[0].base_runs.len(), comparison.points[0].other_runs.len()),
        (5, 4)
    );
    assert_eq!((comparison.left_out, comparison.overall.n), (1, 1));
    assert_eq!(found.comparisons[1].left_out, 0);
    b.records.retain(|r| r.trial.block < 2);
    let found = compared(&a, &b, false);
    assert_eq!(verdicts(&found), [OPEN; 2]);
}

#[test]
fn a_metric_that_a_run_lacks_is_refused_with_what_it_has() {
    let a = simulated(1, &[64]);
    let wanted = Wanted { metric: Some("latency"), force: false };
    let refused = compare_runs(&a, &a, wanted).unwrap_err();
    assert!(matches!(&refused, CompareError::NoMetric { known, .. } if known == "throughput"));
}

#[test]
fn plans_without_a_factor_are_compared_whole() {
    let bare = |seed| {
        let mut run = simulated(seed, &[64]);
        run.plan.factors = Vec::<FactorPlan>::new();
        run.records.retain(|r| r.trial.treatment.levels["path"] == "onboard");
        for record in &mut run.records {
            record.trial.treatment.levels.clear();
            record.trial.settings = Settings::new();
        }
        run
    };
    assert_eq!(compared(&bare(1), &bare(2), false).comparisons.len(), 1);
}
