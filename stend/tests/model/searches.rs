//! Knows that searches written in a plan are run step by step, find what a simulated lab was made
//! with, go on in the middle of one, and are judged as one observation each.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::plan::{budget, order, remaining};
use desk::record::{Fault, Plan, Run, TrialKind, TrialRecord};
use desk::verdict::{Verdict, analyse};
use press::report;
use rig::run::{Orders, Simulated, conduct};
use simulated::{physics, run};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Two links, the quick one by a quarter, and CPUs that are no limit of either.
const LINKS: &str = "[machine]\ncores = 16\n[link]\nline_rate = \"1 Gbit/s\"\n\
                     [links.quick]\nline_rate = \"1250 Mbit/s\"\n";
const STILL: &str = "[noise]\nsd = \"0 %\"\n";

/// A plan of two links, with these lines in the table of its load.
fn plan(load: &str) -> Plan {
    simulated::plan(&format!(
        "title = \"t\"\n[lab]\nclients = 2\n[lab.links.slow]\n[lab.links.quick]\n\
         [factors.path]\nlevels = [\"slow\", \"quick\"]\n\
         [load.net]\nworkload = \"tcp_stream\"\ncongestion = \"cubic\"\n{load}\n\
         [method]\nblocks = 5\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n\
         seed = 7\n"
    ))
}

const BISECT: &str = "[load.net.search]\nkind = \"bisect\"\nover = \"offered_load\"\n\
                      metric = \"throughput\"\nlimit = \"97 %\"\nfrom = \"10 Mbit/s\"\n\
                      to = \"4 Gbit/s\"\nresolution = \"1 %\"";

fn counted(run: &Run) -> impl Iterator<Item = &TrialRecord> {
    run.records.iter().filter(|record| record.trial.kind == TrialKind::Counted)
}

/// What a link carries of all that it is offered, by the word of the same lab.
fn carried(link: &str) -> f64 {
    let all = run(&plan(""), &physics(&format!("{LINKS}{STILL}")));
    let of_link = counted(&all).find(|record| record.trial.treatment.levels["path"] == link);
    let carried = of_link.and_then(|record| record.outcome.metric("throughput"));
    carried.expect("a throughput").value
}

#[test]
fn the_largest_load_that_is_carried_is_found_in_each_block_and_is_one_observation() {
    let run = run(&plan(BISECT), &physics(&format!("{LINKS}[noise]\nsd = \"0.2 %\"\nar = 0.0\n")));
    let steps: Vec<u32> = counted(&run).filter_map(|r| Some(r.trial.search?.step)).collect();
    assert_eq!(steps.len(), counted(&run).count(), "every trial is a step");
    assert_eq!(steps.iter().filter(|step| **step == 1).count(), 10, "two links, five blocks");
    assert!(steps.len() <= budget(&run.plan).trials as usize);
    let dry = run.records.len() - steps.len();
    assert_eq!(dry, 2, "a dry visit has one step");
    let found = analyse(&run);
    let [comparison] = &found.comparisons[..] else { panic!("{found:?}") };
    let told = (comparison.verdict, comparison.overall.n, comparison.left_out);
    assert_eq!(told, (Verdict::Better, 5, 0));
    let ratio = comparison.overall.centre.value;
    assert!((ratio / 1.25 - 1.0).abs() < 0.015, "{ratio}");
    let [point] = &comparison.points[..] else { panic!("{comparison:?}") };
    for (estimate, link) in [(&point.base, "slow"), (&point.other, "quick")] {
        let share = estimate.centre.value * 0.97 / carried(link);
        assert!((0.985..1.005).contains(&share), "{link}: {share}");
    }
    let said = report::text(&report::compose(&run, &found).expect("words"), 200, true);
    let title = "largest offered load with throughput >= 97 % of it";
    assert!(said.replace('\u{a0}', " ").contains(title), "{said}");
}

#[test]
fn the_peak_over_streams_is_found_with_the_number_at_which_it_is() {
    let ladder = "over = { streams = [1, 2, 4, 8, 16, 32] }";
    let fast = "[machine]\ncores = 32\n[link]\nline_rate = \"100 Gbit/s\"\n\
                [links.quick]\nline_rate = \"40 Gbit/s\"\n[noise]\nsd = \"0 %\"\n";
    let swept = run(&plan(ladder), &physics(fast));
    let search = "[load.net.search]\nkind = \"ramp\"\nover = \"streams\"\nfrom = 1\nto = 32";
    let by_place = run(&plan(&format!("primary = \"net_peak_load\"\n{search}")), &physics(fast));
    let run = run(&plan(search), &physics(fast));
    let found = analyse(&run);
    for link in ["slow", "quick"] {
        let mut rates: BTreeMap<u64, f64> = BTreeMap::new();
        for record in counted(&swept).filter(|r| r.trial.treatment.levels["path"] == link) {
            let streams = record.trial.point.params["streams"].count().expect("a count");
            rates.insert(streams, record.outcome.metric("throughput").expect("one").value);
        }
        let peak = rates.iter().find(|(at, rate)| {
            rates.iter().all(|(other, more)| other <= at || *more <= **rate * 1.02)
        });
        let (at, rate) = peak.expect("a peak");
        let point = &found.comparisons[0].points[0];
        let estimate = if link == "slow" { &point.base } else { &point.other };
        assert!(
            (estimate.centre.value / rate - 1.0).abs() < 0.01,
            "{link}: {estimate:?} {rates:?}"
        );
        let at_peak = |record: &&TrialRecord| record.trial.treatment.levels["path"] == link;
        let places = analyse(&by_place).comparisons[0].points[0].clone();
        let place = if link == "slow" { places.base } else { places.other };
        assert!((place.centre.value / f64::from(*at as u32) - 1.0).abs() < 1e-9, "{place:?}");
        let last = counted(&run).filter(at_peak).filter_map(|r| Some(r.trial.search?.step)).max();
        let most = rates.len() as u32;
        assert!(last.is_some_and(|last| last <= most), "{last:?} of {most}");
    }
}

/// A server that takes 205 us of a CPU for a request, and has one: 4,878 a second at the most. Of
/// requests at random the 99th percentile of the response is 2 ms at about 0.7 of that.
#[test]
fn the_largest_rate_whose_99th_percentile_keeps_a_goal_is_found() {
    let plan = simulated::plan(
        "title = \"t\"\n[lab]\nclients = 2\n[load.ask]\nworkload = \"tcp_rr\"\nstreams = 16\n\
         arrivals = \"poisson\"\n[load.ask.search]\nkind = \"goal\"\nover = \"offered_load\"\n\
         metric = \"p99\"\nlimit = \"2 ms\"\nfrom = \"100 op/s\"\nto = \"100 kop/s\"\n\
         [method]\nblocks = 5\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\n\
         window = \"4 s\"\nseed = 7\n",
    );
    let costs = "[machine]\ncores = 1\n[cost]\ncall = \"50 us\"\npacket = \"25 us\"\n";
    let run = run(&plan, &physics(&format!("{costs}{STILL}")));
    let found = analyse(&run);
    let figure = found.measured[0].figure("ask_largest").expect("a load");
    let (n, load) = (figure.estimate.n, figure.estimate.centre.value);
    assert_eq!(n, 5);
    assert!((2500.0..4500.0).contains(&load), "{load}");
    for record in counted(&run) {
        let at = record.trial.point.params["offered_load"].quantity().expect("a rate").value;
        let p99 = run.value(record, "p99").expect("a percentile").value;
        assert!(at > 0.8 * load || p99 < 2e-3, "{at} {p99}");
        assert!(at < 1.25 * load || p99 > 2e-3, "{at} {p99}");
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_run_that_was_killed_in_the_middle_of_a_search_takes_the_same_steps() {
    let (plan, physics) = (plan(BISECT), physics(&format!("{LINKS}{STILL}")));
    let whole = run(&plan, &physics);
    let place = |r: &TrialRecord| (r.trial.id, r.trial.search, r.trial.point.clone(), r.trial.seed);
    for kept in [0, 1, 3, 4, 9, 17, whole.records.len() - 1, whole.records.len()] {
        let kept = &whole.records[..kept];
        let orders = Orders {
            plan: &plan,
            trials: remaining(&plan, kept),
            kept,
            before_s: 0.0,
            keep: &mut |_| Ok(()),
            enough: &mut |_| false,
            tell: &mut |_| (),
        };
        let mut lab = Simulated::new(physics.clone(), loads::ALL, &NEVER);
        let after = conduct(&mut lab, orders).expect("a simulated lab").records;
        let both: Vec<_> = kept.iter().chain(&after).map(place).collect();
        assert_eq!(both, whole.records.iter().map(place).collect::<Vec<_>>(), "{}", kept.len());
    }
    assert!(remaining(&plan, &whole.records).is_empty());
}

#[test]
fn a_step_that_was_disturbed_is_made_again_and_the_search_goes_on_from_there() {
    let still = run(&plan(BISECT), &physics(&format!("{LINKS}{STILL}")));
    let first = counted(&still).nth(2).expect("a trial").trial.clone();
    let fault =
        format!("[[faults]]\nkind = \"steal_burst\"\nsize = \"40 %\"\ntrial = {}\n", first.id);
    let plan = plan(BISECT);
    let hit = run(&plan, &physics(&format!("{LINKS}{STILL}{fault}")));
    let steals =
        hit.records.iter().filter(|r| matches!(r.outcome.fault, Some(Fault::Steal { .. })));
    let again: Vec<u32> = steals.map(|r| r.trial.id).collect();
    assert_eq!(again, [first.id]);
    let points = |run: &Run| -> BTreeMap<u32, _> {
        let good = counted(run).filter(|r| r.outcome.fault.is_none());
        good.map(|r| (r.trial.id, r.trial.point.clone())).collect()
    };
    assert_eq!(points(&hit), points(&still));
    assert_eq!(order(&plan).len(), 2 + 10, "a search stands in the order by its first step");
    let [a, b] = [&hit, &still].map(|run| analyse(run).comparisons[0].overall.centre.value);
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
}

#[test]
fn percentiles_at_shares_of_the_peak_are_metrics_of_the_search() {
    let plan = simulated::plan(
        "title = \"t\"\n[lab]\nclients = 1\n[load.net]\nworkload = \"tcp_rr\"\nstreams = 8\n\
         arrivals = \"poisson\"\nprimary = \"net_p99_at90\"\n[load.net.search]\n\
         kind = \"states\"\nshares = [\"50 %\", \"90 %\"]\n[method]\nblocks = 3\n\
         settle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\nseed = 7\n",
    );
    let run = run(&plan, &physics(STILL));
    assert_eq!(counted(&run).count(), 9, "the peak and two shares in each block");
    let found = analyse(&run);
    let [point] = &found.measured[..] else { panic!("{:?}", found.measured) };
    let of = |metric: &str| {
        let its = point.figures.iter().find(|figure| figure.metric == metric);
        its.map(|figure| figure.estimate.centre.value).expect(metric)
    };
    assert!(of("net_p99_at90") > of("net_p99_at50"), "{point:?}");
    assert!(of("net_p50_at50") <= of("net_p99_at50"), "{point:?}");
    let said = report::text(&report::compose(&run, &found).expect("words"), 200, true);
    assert!(said.contains("90 % of the largest load"), "{said}");
    assert!(!said.contains("Power by state"), "nobody asked for power: {said}");
}
