//! Knows that money and power are told as they were planted: what a part gives for its price, and
//! what a simulated machine takes in each state of its load, from the plan to every medium.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::record::{Plan, Run, TrialKind, TrialRecord};
use desk::verdict::{PacedPower, PowerSource, Verdict, analyse};
use press::report::{self, Bundle};
use simulated::{physics, run};

/// Two links that are set otherwise; the quick one is so by a quarter, and CPUs limit neither.
const LINKS: &str = "[machine]\ncores = 16\nbaseline = \"0 %\"\n\
    [link]\nline_rate = \"1 Gbit/s\"\n[links.quick]\nline_rate = \"1250 Mbit/s\"\n\
    [noise]\nsd = \"0.2 %\"\nar = 0.0\n";
const METER: &str = "[power]\nidle = \"20 W\"\ncpu = \"50 W\"\n";

/// Two parts that the quick link has, one that both have, and watts of both levels.
const PARTS: &str = "[[part]]\nname = \"PRO/1000\"\nlevels = [\"path=quick\"]\n\
    price = \"100 EUR\"\nmass = \"93 g\"\nsource = \"price list\"\ndate = \"2026-11-21\"\n\
    [[part]]\nname = \"case\"\nlevels = [\"slow\", \"quick\"]\nprice = \"60 EUR\"\n\
    source = \"price list\"\ndate = \"2026-11-21\"\n";
const WATTS: &str = "[[fact]]\nof = \"slow\"\nwhat = \"power\"\nvalue = \"20 W\"\n\
    source = \"meter\"\ndate = \"2026-11-21\"\n\
    [[fact]]\nof = \"quick\"\nwhat = \"power\"\nvalue = \"24 W\"\n\
    source = \"meter\"\ndate = \"2026-11-21\"\n";

fn plan(load: &str, entered: &str) -> Plan {
    simulated::plan(&format!(
        "title = \"t\"\n[lab]\nclients = 2\n[lab.links.slow]\nrx_ring = 256\n[lab.links.quick]\n\
         [factors.path]\nlevels = [\"slow\", \"quick\"]\n\
         [load.net]\nworkload = \"tcp_stream\"\ncongestion = \"cubic\"\n{load}\n\
         [method]\nblocks = 6\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n\
         seed = 7\n{entered}"
    ))
}

/// The article of a run in plain words.
fn said(run: &Run) -> String {
    let document = report::compose(run, &analyse(run)).expect("words");
    report::text(&document, 20_000, true).replace('\u{a0}', " ")
}

// By hand: a quarter more work for 100 EUR is 0.25 % for each, and for 4 W 6.25 % for each.
#[test]
fn the_gain_of_a_part_for_each_euro_and_each_watt_is_what_was_planted() {
    let run = run(&plan("", &format!("{PARTS}{WATTS}")), &physics(LINKS));
    let found = analyse(&run);
    assert_eq!(found.comparisons[0].verdict, Verdict::Better);
    let (price, power) = (&found.prices[0], &found.powers[0]);
    assert_eq!((price.base.value, price.other.value), (60.0, 160.0));
    for (worth, truth) in [(price, 0.0025), (power, 0.0625)] {
        let gain = worth.gain.as_ref().expect("a gain");
        let (low, high) = (gain.low.value, gain.high.value);
        assert!((low..=high).contains(&truth) && high - low < truth / 10.0, "{gain:?} {truth}");
    }
    assert_eq!((price.parts.is_some(), &power.parts), (true, &None), "watts are of whole levels");
    let article = said(&run);
    for words in [
        "only PRO/1000 sets quick apart from slow. For 100 EUR more it gives ",
        "PRO/1000",
        "Levels beside their work",
        "not entered",
        "not measured",
    ] {
        assert!(article.contains(words), "{words} is not in\n{article}");
    }
    assert!(!article.contains("Price: not entered."), "{article}");
}

#[test]
fn of_two_parts_that_differ_none_is_credited_and_without_figures_nothing_is_made_up() {
    let cable = "[[part]]\nname = \"cable\"\nlevels = [\"quick\"]\ncount = 2\nprice = \"5 EUR\"\n\
                 source = \"price list\"\ndate = \"2026-11-21\"\n";
    let article = said(&run(&plan("", &format!("{PARTS}{cable}")), &physics(LINKS)));
    for words in [
        "PRO/1000, 2 × cable together set quick apart from slow. For 110 EUR more they give ",
        "no single part is credited.",
        "Power: not measured, not entered.",
    ] {
        assert!(article.contains(words), "{words} is not in\n{article}");
    }
    assert!(!article.contains("only PRO/1000"), "{article}");
    let bare = said(&run(&plan("", ""), &physics(LINKS)));
    assert!(bare.contains("Power: not measured, not entered. Price: not entered."), "{bare}");
    assert!(!bare.contains(" W ") && !bare.contains("EUR"), "{bare}");
}

const STATES: &str = "search = { kind = \"states\" }";

fn counted(run: &Run) -> impl Iterator<Item = &TrialRecord> {
    run.records.iter().filter(|record| record.trial.kind == TrialKind::Counted)
}

/// Watts that the physics gives a trial: 20, and 50 for each CPU that its processes took.
fn planted(record: &TrialRecord) -> f64 {
    let processes = record.readings.iter().filter(|r| r.probe == "process" && r.key == "cpu");
    20.0 + 50.0 * processes.map(|r| r.quantity.value).sum::<f64>()
}

fn of<'a>(all: &'a [PacedPower], link: &str) -> &'a PacedPower {
    all.iter().find(|one| one.levels["path"] == link).expect("a level")
}

#[test]
fn watts_of_every_state_are_those_of_the_machine_and_the_largest_load_comes_first() {
    let run = run(&plan(STATES, ""), &physics(&format!("{LINKS}{METER}")));
    assert_eq!(counted(&run).count(), 2 * 6 * 5, "five states of two links in six blocks");
    let mut orders = std::collections::BTreeSet::new();
    for search in counted(&run).collect::<Vec<_>>().chunks(5) {
        let loads: Vec<String> =
            search.iter().map(|r| r.trial.point.params["offered_load"].to_string()).collect();
        assert_eq!(loads[0], "full");
        let idle = search.iter().find(|r| run.plan.loads[0].is_idle(&r.trial.point.params));
        let idle = idle.expect("an idle window");
        assert!(idle.outcome.samples.is_empty() && idle.outcome.window.seconds() > 0.79);
        orders.insert(loads.iter().position(|load| load.starts_with("0 ")));
    }
    assert!(orders.len() > 1, "idle is not always at the same place: {orders:?}");
    let found = analyse(&run);
    assert_eq!(found.comparisons[0].verdict, Verdict::Better, "judged at the full load");
    for link in ["slow", "quick"] {
        let one = of(&found.paced, link);
        assert_eq!((one.source, one.states.len()), (Some(PowerSource::Packages), 5));
        let watts: Vec<f64> =
            one.states.iter().map(|s| s.watts.as_ref().expect("watts").centre.value).collect();
        assert!(watts.is_sorted() && (watts[0] - 20.0).abs() < 1e-9, "{watts:?}");
        let full = counted(&run).filter(|r| {
            r.trial.treatment.levels["path"] == link
                && r.trial.point.params["offered_load"].word() == Some("full")
        });
        let truth: Vec<f64> = full.map(planted).collect();
        let mean = truth.iter().sum::<f64>() / truth.len() as f64;
        let last = one.states[4].watts.clone().expect("watts");
        // The meter sees the processes, and not the rounding of their readings.
        assert!((last.centre.value / mean - 1.0).abs() < 0.002, "{last:?} {mean}");
        let half = &one.states[2];
        let [work, whole] = [half, &one.states[4]].map(|s| s.work.clone().expect("work").centre);
        assert!((work.value / whole.value - 0.5).abs() < 0.01, "{work:?} {whole:?}");
        let each = half.per_watt.clone().expect("work for each joule").centre.value;
        assert!((each / (work.value / watts[2]) - 1.0).abs() < 0.01, "{each}");
        assert!(one.states[0].work.is_none() && one.states[0].per_watt.is_none());
        let share = one.idle_share.clone().expect("a share");
        assert!((share.centre.value / (20.0 / mean) - 1.0).abs() < 0.002, "{share:?}");
    }
}

#[test]
fn states_are_told_on_every_medium_by_the_meter_by_a_person_or_as_not_measured() {
    let measured = run(&plan(STATES, ""), &physics(&format!("{LINKS}{METER}")));
    let document = report::compose(&measured, &analyse(&measured)).expect("words");
    let article = serde_json::to_string(&report::json(&document)).expect("JSON");
    for medium in [
        report::text(&document, 20_000, true),
        report::html(&document, &Bundle::of_run(&measured)).expect("a page"),
        article,
    ] {
        let medium = medium.replace('\u{a0}', " ").replace("&nbsp;", " ");
        for words in ["Power and work by state of the load", "idle", "75 %", "idle takes "] {
            assert!(medium.contains(words), "{words} is not in\n{medium}");
        }
    }
    let fact = |level: &str, state: &str, watts: u32| {
        format!(
            "[[fact]]\nof = \"{level}\"\nwhat = \"power\"\nstate = \"{state}\"\n\
             value = \"{watts} W\"\nsource = \"meter\"\ndate = \"2026-11-21\"\n"
        )
    };
    let entered = [fact("slow", "idle", 30), fact("slow", "100 %", 120)].concat();
    let entered = run(&plan(STATES, &entered), &physics(LINKS));
    let one = of(&analyse(&entered).paced, "slow").clone();
    assert_eq!(one.source, Some(PowerSource::Entered));
    assert!((one.idle_share.expect("a share").centre.value - 0.25).abs() < 1e-12);
    let article = said(&entered);
    for words in ["30 W (entered)", "not entered", "slow: idle takes 25 % of the power"] {
        assert!(article.contains(words), "{words} is not in\n{article}");
    }
    let bare = said(&run(&plan(STATES, ""), &physics(LINKS)));
    let words = "Power by state of the load: not measured, not entered.";
    assert!(bare.contains(words) && !bare.contains(" W ("), "{bare}");
}

#[test]
fn a_sweep_of_the_offered_load_has_its_power_at_every_load() {
    let swept = plan("over = { offered_load = [\"200 Mbit/s\", \"800 Mbit/s\", \"full\"] }", "");
    let found = analyse(&run(&swept, &physics(&format!("{LINKS}{METER}"))));
    let one = of(&found.paced, "quick");
    let at: Vec<String> = one.states.iter().map(|state| state.at.to_string()).collect();
    assert_eq!(at, ["200 Mbit/s", "800 Mbit/s", "full"]);
    let watts: Vec<f64> =
        one.states.iter().map(|s| s.watts.as_ref().expect("watts").centre.value).collect();
    assert!(watts[0] > 20.0 && watts.is_sorted(), "{watts:?}");
    assert_eq!(one.idle_share, None, "nothing was idle");
    assert_eq!(analyse(&run(&swept, &physics(LINKS))).paced, [], "nothing was measured");
}
