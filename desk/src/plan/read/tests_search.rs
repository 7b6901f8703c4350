//! Knows what the table `[load.NAME.search]` comes to, and what it refuses.

use crate::plan::example::catalogue;
use crate::plan::{Catalogue, budget, expand, order, read, recheck, remaining};
use crate::record::{
    Better, LoadPlan, Metric, Outcome, Plan, QuantileSpec, Sample, SearchKind, Settings, Trial,
    TrialKind, TrialRecord, WorkloadSpec,
};
use crate::search::{found, step};
use crate::unit::{Quantity, Unit};

const GOAL: &str = "kind = \"goal\"\nover = \"offered_load\"\nmetric = \"delay\"\n\
                    limit = \"500 us\"\nfrom = \"1 Mbit/s\"\nto = \"10 Gbit/s\"\n";
const BISECT: &str = "kind = \"bisect\"\nover = \"offered_load\"\nmetric = \"throughput\"\n\
                      limit = \"97 %\"\nfrom = \"1 Mbit/s\"\nto = \"10 Gbit/s\"\nsteps = 20\n\
                      resolution = \"5 %\"\n";
const RAMP: &str = "kind = \"ramp\"\nover = \"streams\"\nfrom = 1\nto = 48\n";
const KNEE: &str = "kind = \"knee\"\nover = \"streams\"\nfrom = 2\nto = 16\nmetric = \"packets\"\n";

/// A plan of this search, with these lines in the table of its load.
fn plan(load: &str, search: &str) -> Result<Plan, String> {
    let text = format!(
        "title = \"t\"\nlab.links = {{ one = {{}}, two = {{}} }}\n\
         factors.path.levels = [\"one\", \"two\"]\n[method]\nblocks = 3\n\
         [load.net]\nworkload = \"tcp_stream\"\n{load}[load.net.search]\n{search}"
    );
    read(&text, &catalogue()).map_err(|e| e.to_string())
}

#[test]
fn a_goal_has_its_defaults_written_out_and_is_what_decides() {
    let plan = plan("", GOAL).unwrap();
    let load: &LoadPlan = &plan.loads[0];
    let search = load.search.as_ref().unwrap();
    let limit = search.limit.as_ref().unwrap();
    assert_eq!((search.kind, search.steps, limit.of_load), (SearchKind::Goal, 40, false));
    assert_eq!((limit.at, limit.better), (Quantity::seconds(500e-6), Better::Lower));
    assert_eq!(limit.resolution.to_string(), "2 %");
    assert_eq!(plan.primary("net"), "net_largest");
    assert!(!load.fixed.contains_key("offered_load") && load.fixed.contains_key("streams"));
    let told = crate::search::metrics(&plan, &described());
    let told: Vec<_> = told.iter().map(|m| (m.name.as_str(), m.title.as_str(), m.unit)).collect();
    let title = "largest offered load with delay <= 500 us";
    let title = title.replace("500 us", &limit.at.to_string());
    assert_eq!(told, [("net_largest", title.as_str(), Unit::BitPerSecond)]);
}

fn described() -> Vec<crate::record::Metric> {
    catalogue().workloads.iter().flat_map(|spec| spec.described()).collect()
}

#[test]
fn a_ramp_doubles_to_its_end_and_gives_two_results() {
    let of = |load: &str, search: &str| plan(load, search).unwrap();
    let ramp = of("", RAMP);
    let search = ramp.loads[0].search.as_ref().unwrap();
    assert_eq!((search.steps, search.limit.as_ref()), (7, None), "1, 2, 4, 8, 16, 32, 48");
    assert_eq!((search.metric.as_str(), ramp.primary("net")), ("throughput", "net_peak"));
    assert_eq!(of("primary = \"net_peak_load\"\n", RAMP).primary("net"), "net_peak_load");
    let units: Vec<Unit> =
        crate::search::metrics(&ramp, &described()).iter().map(|metric| metric.unit).collect();
    assert_eq!(units, [Unit::BitPerSecond, Unit::Count]);
    assert_eq!(of("", KNEE).primary("net"), "net_knee");
}

#[test]
fn what_was_read_is_taken_back_from_a_record_and_what_was_changed_is_not() {
    for search in [GOAL, BISECT, RAMP, KNEE] {
        let mut plan = plan("", search).unwrap();
        recheck(&plan, &catalogue()).unwrap();
        plan.loads[0].search.as_mut().unwrap().steps += 500;
        assert!(recheck(&plan, &catalogue()).is_err(), "{search}");
    }
}

#[test]
fn a_search_that_cannot_be_is_refused_with_its_remedy() {
    let line = |search: &str, line: &str| {
        let key = line.split(' ').next().unwrap();
        let kept = search.lines().filter(|l| !l.starts_with(&format!("{key} ")));
        kept.chain([line]).map(|l| format!("{l}\n")).collect::<String>()
    };
    let without = |search: &str, key: &str| {
        let kept = search.lines().filter(|l| !l.starts_with(&format!("{key} ")));
        kept.map(|l| format!("{l}\n")).collect::<String>()
    };
    let refused = [
        ("", line(GOAL, "kind = \"goals\""), "there is no search 'goals'; did you mean 'goal'?"),
        (
            "",
            line(GOAL, "over = \"request_size\""),
            "'request_size' is no parameter of offered load",
        ),
        ("", line(RAMP, "over = \"offered_load\""), "is no parameter of concurrency of tcp_stream"),
        ("", line(RAMP, "metric = \"delay\""), "there is no rate among the metrics 'delay'"),
        ("", line(RAMP, "limit = \"1 s\""), "unknown key 'limit'"),
        ("", line(GOAL, "from = \"full\""), "'from' cannot be 'full'; write a number"),
        ("", line(GOAL, "to = \"1 kbit/s\""), "'to' cannot be '1 kbit/s'"),
        ("", line(GOAL, "to = \"1 Mbit/s\""), "to = 1 Mbit/s is not above from = 1 Mbit/s"),
        ("", line(GOAL, "limit = \"0 us\""), "a limit above 0, or kind = \"bisect\""),
        ("", line(GOAL, "limit = \"97 %\""), "a share of the offered load is for kind"),
        ("", line(GOAL, "limit = \"9\""), "'limit': '9' has no unit"),
        ("", line(BISECT, "metric = \"packets\""), "'97 %'; write a limit in the unit of packets"),
        ("", line(GOAL, "metric = \"packets\""), "'packets'; write a metric that is a time"),
        ("", line(GOAL, "resolution = \"0.01 %\""), "a share from 0.1 % to 50 %"),
        ("", line(GOAL, "steps = 1"), "'steps' cannot be '1'"),
        (
            "",
            without(GOAL, "kind"),
            "'kind' is missing; write goal, bisect, ramp, knee, mlr or states",
        ),
        ("", without(GOAL, "metric"), "'metric' is missing; name the metric that has the limit"),
        ("", without(GOAL, "limit"), "'limit' is missing"),
        ("", without(GOAL, "to"), "'to' is missing; write the largest load to try"),
        ("offered_load = \"1 Gbit/s\"\n", GOAL.into(), "the load and its search both set 'offered"),
        ("over.streams = [1, 2]\n", RAMP.into(), "the load and its search both set 'streams'"),
        ("primary = \"throughput\"\n", GOAL.into(), "there is no metric 'throughput'"),
    ];
    for (load, search, words) in refused {
        let said = plan(load, &search).unwrap_err();
        assert!(said.contains(words), "{words} is not in {said}");
    }
    let alone = "title = \"t\"\n[load.a]\nworkload = \"mem_latency\"\n[load.a.search]\n\
                 kind = \"goal\"\nover = \"size\"\n";
    let said = read(alone, &catalogue()).unwrap_err().to_string();
    assert!(said.contains("it has none; sweep what it has in over"), "{said}");
    let factor = "title = \"t\"\nfactors.streams.levels = [1, 2]\n[load.net]\n\
                  workload = \"tcp_stream\"\n[load.net.search]\n";
    let said = read(&format!("{factor}{RAMP}"), &catalogue()).unwrap_err().to_string();
    assert!(said.contains("load 'net' and factor 'streams' both set 'streams'"), "{said}");
    let many = RAMP.replace("48", "64");
    let clients = "title = \"t\"\nlab.clients = 32\n[load.net]\nworkload = \"tcp_stream\"\n\
                   [load.net.search]\n";
    let said = read(&format!("{clients}{many}"), &catalogue()).unwrap_err().to_string();
    assert!(said.contains("64 streams x 32 clients"), "{said}");
}

#[test]
fn the_order_has_the_first_step_of_each_search_and_keeps_numbers_for_the_others() {
    let plan = plan("over.direction = [\"transmit\", \"receive\"]\n", BISECT).unwrap();
    assert!(expand(&plan).0.iter().all(|point| !point.params.contains_key("offered_load")));
    let trials = order(&plan);
    assert_eq!(trials.len(), 4 + 3 * 4);
    let budget = budget(&plan);
    assert_eq!((budget.points, budget.trials, budget.dry_trials), (2, 3 * 4 * 20, 4));
    assert!(budget.longest.value > 10.0 * budget.shortest.value);
    let (dry, counted) = trials.split_at(4);
    assert!(dry.iter().all(|t| t.search.is_none() && t.kind == TrialKind::Dry));
    for (at, trial) in counted.iter().enumerate() {
        assert_eq!(trial.id as usize, 4 + at * 20);
        assert_eq!(trial.search.map(|step| (step.id, step.step)), Some((trial.id, 1)));
        assert_eq!(trial.point.params["offered_load"].to_string(), "10 Gbit/s");
    }
    assert!(plan.loads[0].is_paced(&counted[0].point.params));
}

#[test]
fn shares_of_what_was_found_follow_the_search_once_each() {
    let shares = "shares = [\"10 %\", \"50 %\", \"100 %\"]\n";
    let mut plan = plan("", &format!("{BISECT}{shares}")).unwrap();
    recheck(&plan, &catalogue()).unwrap();
    assert_eq!(plan.loads[0].search.as_ref().unwrap().steps, 20, "those at shares are among them");
    plan.method.dry = false;
    let mut records: Vec<TrialRecord> = Vec::new();
    let first = remaining(&plan, &[])[0].0.id;
    while let Some((next, 1)) = remaining(&plan, &records).into_iter().next() {
        if next.search.unwrap().id != first {
            break;
        }
        records.push(carried(&next, 1e9));
    }
    let load = |record: &TrialRecord| record.trial.point.params["offered_load"].number().unwrap();
    let (sought, shared): (Vec<&TrialRecord>, Vec<_>) =
        records.iter().partition(|record| record.trial.search.unwrap().share.is_none());
    assert!(records.len() - sought.len() == 3 && records[sought.len()].trial.search.is_some());
    let steps: Vec<_> = records.iter().filter_map(|r| step(&plan.loads[0], r)).collect();
    let search = plan.loads[0].search.as_ref().unwrap();
    let end = found(search, &steps).expect("an end").load.expect("a load");
    assert_eq!(found(search, &steps[..steps.len() - 1]), None, "a share is left");
    let mut at: Vec<f64> = shared.iter().map(|record| load(record) / end).collect();
    at.sort_by(f64::total_cmp);
    let near = |(at, share): (&f64, f64)| (at - share).abs() < 1e-9;
    assert!(at.iter().zip([0.1, 0.5, 1.0]).all(near), "{at:?}");
    for (shares, words) in [
        ("[]", "a list of 1 to 8 shares"),
        ("[\"0 %\"]", "whole per cents from 1 % to 100 %"),
        ("[\"12.5 %\"]", "whole per cents"),
        ("[\"90 %\", \"50 %\"]", "shares that rise"),
    ] {
        let said = self::plan("", &format!("{BISECT}shares = {shares}\n")).unwrap_err();
        assert!(said.contains(words), "{words} is not in {said}");
    }
}

#[test]
fn states_may_be_other_shares_and_their_percentiles_are_metrics() {
    let all = catalogue();
    let quantiles: &[QuantileSpec] =
        &[QuantileSpec { metric: "delay", of: "response", at: 0.99, always: true }];
    let timed: &'static _ = Box::leak(Box::new(WorkloadSpec { quantiles, ..*all.workloads[0] }));
    let catalogue = Catalogue { workloads: &[timed], ..all };
    let text = "title = \"t\"\n[load.net]\nworkload = \"tcp_stream\"\n\
                primary = \"net_delay_at90\"\n[load.net.search]\nkind = \"states\"\n\
                shares = [\"50 %\", \"90 %\"]\n";
    let plan = read(text, &catalogue).unwrap();
    recheck(&plan, &catalogue).unwrap();
    assert_eq!(plan.primary("net"), "net_delay_at90");
    let search = plan.loads[0].search.as_ref().unwrap();
    assert_eq!(search.steps, 3, "the largest load is one of them");
    let without = text.replace("primary = \"net_delay_at90\"\n", "");
    assert_eq!(read(&without, &catalogue).unwrap().primary("net"), "throughput");
    let described: Vec<Metric> = timed.described().collect();
    let told = crate::search::metrics(&plan, &described);
    assert_eq!((told[0].name.as_str(), told[0].unit), ("net_full", Unit::BitPerSecond));
    assert_eq!(told[0].title, format!("{} at full pace", described[0].title));
    let told: Vec<_> = told[1..]
        .iter()
        .map(|metric| (metric.name.as_str(), metric.quantile.as_ref().unwrap().of.as_str()))
        .collect();
    assert_eq!(
        told,
        [("net_delay_at50", "net_response_at50"), ("net_delay_at90", "net_response_at90")]
    );
}

/// What a link of this capacity gives.
fn carried(trial: &Trial, capacity: f64) -> TrialRecord {
    let load = trial.point.params["offered_load"].number().unwrap();
    gave(trial, "throughput", Quantity::new(load.min(capacity), Unit::BitPerSecond))
}

/// The record of a trial that gave one figure.
pub(super) fn gave(trial: &Trial, metric: &str, quantity: Quantity) -> TrialRecord {
    let samples = vec![Sample { metric: metric.into(), quantity }];
    TrialRecord {
        trial: trial.clone(),
        observed: Settings::new(),
        outcome: Outcome { samples, ..Outcome::default() },
        readings: Vec::new(),
        tracks: Vec::new(),
        started_s: 0.0,
        attempt: 1,
    }
}

#[test]
fn one_step_after_the_other_remains_until_the_search_has_ended() {
    let mut plan = plan("", BISECT).unwrap();
    plan.method.dry = false;
    let (mut records, mut loads) = (Vec::new(), Vec::new());
    let first = remaining(&plan, &[])[0].0.id;
    while let Some((next, 1)) = remaining(&plan, &records).into_iter().next() {
        if next.search.unwrap().id != first {
            break;
        }
        assert_eq!(next.id, first + u32::try_from(records.len()).unwrap());
        loads.push(next.point.params["offered_load"].number().unwrap());
        records.push(carried(&next, 1e9));
    }
    assert_eq!(loads[..2], [1e10, 1e10], "a miss is believed when it is seen twice");
    let last = loads.last().unwrap();
    assert!((0.9e9..1.15e9).contains(last) && loads.len() < 20, "{loads:?}");
    let lost = crate::record::Fault::DeadHost { host: "c01".into() };
    records[1].outcome.fault = Some(lost);
    records.truncate(2);
    let again = &remaining(&plan, &records)[0];
    assert_eq!((again.0.id, again.0.search.unwrap().step, again.1), (first + 1, 2, 2));
    records.extend([records[1].clone(), records[1].clone()]);
    assert_ne!(remaining(&plan, &records)[0].0.search.unwrap().id, first, "it is lost");
}
