//! Whole runs in a simulated lab: what a physics leaves in the records, and what is found of it.

#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside test functions")]

use desk::plan::{Catalogue, order, read};
use desk::record::flow;
use desk::record::{Completeness, Fault, Plan, Reading, Trial, TrialKind, TrialRecord, Value};
use rig::factor;
use rig::lab::sim::Physics;
use rig::metal::{DIGEST, digest};
use rig::run::{Orders, Progress, RunError, Simulated, Stand, Visited, conduct, throttles};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn plan(text: &str) -> Plan {
    let workloads: Vec<_> = loads::ALL.iter().map(|entry| entry.spec).collect();
    read(text, &Catalogue { workloads: &workloads, factors: factor::ALL }).unwrap()
}

fn run(plan: &Plan, physics: &str) -> Visited {
    let trials = order(plan).into_iter().map(|trial| (trial, 1)).collect();
    let (keep, enough) = (&mut |_: &TrialRecord| Ok(()), &mut |_| false);
    let orders = Orders { plan, trials, kept: &[], before_s: 0.0, keep, enough, tell: &mut |_| () };
    conduct(&mut Simulated::new(Physics::read(physics).unwrap(), loads::ALL, &NEVER), orders)
        .unwrap()
}

fn throughput(record: &TrialRecord) -> f64 {
    record.outcome.metric("throughput").map_or(0.0, |quantity| quantity.value)
}

const METHOD: &str = "[method]\nseed = 7\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\n\
                      window = \"0.8 s\"\n";

/// One load under two levels of this factor in so many blocks.
fn two(factor: &str, levels: &str, blocks: u32) -> Plan {
    plan(&format!(
        "title = \"t\"\n[lab]\nclients = 4\n[factors.{factor}]\nlevels = [{levels}]\n\
         [load.it]\nworkload = \"tcp_stream\"\n{METHOD}blocks = {blocks}\n"
    ))
}

/// No chance, and a line that is never the limit.
const QUIET: &str = "[link]\nline_rate = \"400 Gbit/s\"\n[noise]\nsd = \"0 %\"\ncpu = \"0 %\"\n";

/// A line for each record: what identifies it, what it measured to the last bit, and a digest of
/// its streams and one of its readings, so that a difference names the trial and the part.
fn lines(visited: &Visited) -> String {
    let mut text = String::new();
    for record in &visited.records {
        let (trial, attempt, at) = (record.trial.id, record.attempt, record.started_s);
        let _ = write!(text, "{trial:3} {attempt} at {at} s:");
        if let Some(fault) = &record.outcome.fault {
            let _ = write!(text, " fault: {fault};");
        }
        for sample in &record.outcome.samples {
            let _ = write!(text, " {} {}", sample.metric, sample.quantity.value);
        }
        let flows = &record.outcome.flows;
        let streams = flows.rows.iter().map(|s| {
            let read = |column: &str| flows.figure(s, column).unwrap();
            let us = |column: &str| (read(column) * 1e6).round();
            let waits = (us(flow::RECEIVE_WINDOW), us(flow::SEND_BUFFER));
            format!(
                "{} {} {} ({}, {})",
                s.name,
                read(flow::RECEIVED),
                us(flow::BUSY),
                waits.0,
                waits.1
            )
        });
        let read = |r: &Reading| format!("{} {} {} {}", r.probe, r.host, r.key, r.quantity.value);
        // The token bucket is read only since: a reading more is no change of the others.
        let readings = record.readings.iter().filter(|r| r.probe != "qdisc").map(read);
        let of = |rows: &mut dyn Iterator<Item = String>| {
            rows.fold(DIGEST, |so_far, row| digest(so_far, row.as_bytes()))
        };
        let (streams, readings) = (of(&mut streams.into_iter()), of(&mut readings.into_iter()));
        let _ = writeln!(text, " streams {streams:016x} readings {readings:016x}");
    }
    text
}

fn golden() -> Plan {
    plan(&format!(
        "title = \"golden\"\n[lab]\nclients = 3\n[factors.tso]\nlevels = [\"off\", \"on\"]\n\
         [factors.rate]\nlevels = [\"2 Gbit/s\", \"20 Gbit/s\"]\n[load.it]\n\
         workload = \"tcp_stream\"\ndirection = \"duplex\"\n\
         over = {{ request_size = \"1K..64K *8\", placement = [\"same\", \"none\"] }}\n\
         [load.paced]\nworkload = \"tcp_stream\"\noffered_load = \"1 Gbit/s\"\n\
         {METHOD}blocks = 3\ndisplaced_work = true\n"
    ))
}

/// Everything that a physics had before it had disks, heat and the like.
const OLD: &str = r#"
seed = 3
link = { line_rate = "40 Gbit/s" }
machine = { cores = 4 }
drift = { share = "5 %" }
step = { at = "40 %", size = "3 %" }
effects = { tso = { on = 1.03 } }
[noise]
dips = { share = "10 %", size = "5 %", spread = 0.5 }
outliers = { share = "5 %", size = "20 %" }
slow = { share = "20 %", size = "4 %" }
launch = { sd = "2 %", every = 10 }
[[faults]]
kind = "throttle"
share = "3 %"
[[faults]]
kind = "generator_limit"
share = "3 %"
size = "50 %"
[[faults]]
kind = "link_flap"
share = "3 %"
[[faults]]
kind = "steal_burst"
share = "3 %"
[[faults]]
kind = "wrong_bytes"
share = "2 %"
[[faults]]
kind = "dead_client"
share = "2 %"
"#;

// A change here changes every simulated run that was ever kept.
#[test]
fn what_a_physics_does_not_name_changes_no_bit_of_a_record() {
    insta::assert_snapshot!("physics_of_nothing", lines(&run(&golden(), "")));
    insta::assert_snapshot!("physics_before_disks_and_heat", lines(&run(&golden(), OLD)));
}

/// A record of each kind as it is kept: dry, counted, paced, and one with a fault.
#[test]
fn records_of_every_kind_are_kept_in_this_form() {
    let visited = run(&golden(), OLD);
    let first = |of: &dyn Fn(&TrialRecord) -> bool| {
        visited.records.iter().find(|record| of(record)).cloned().unwrap()
    };
    let good = |r: &TrialRecord| r.outcome.fault.is_none();
    let paced = |r: &TrialRecord| r.trial.point.load == "paced";
    let kind = |r: &TrialRecord, kind| r.trial.kind == kind;
    insta::assert_json_snapshot!("dry", first(&|r| kind(r, TrialKind::Dry)));
    insta::assert_json_snapshot!(
        "counted",
        first(&|r| kind(r, TrialKind::Counted) && good(r) && !paced(r))
    );
    insta::assert_json_snapshot!("paced", first(&|r| paced(r) && good(r)));
    insta::assert_json_snapshot!("fault", first(&|r| !good(r)));
    let alone =
        plan(&format!("title = \"t\"\n[load.it]\nworkload = \"mem_copy\"\n{METHOD}blocks = 3\n"));
    insta::assert_json_snapshot!("alone", &run(&alone, QUIET).records[0]);
}

/// Everything at once.
const ALL: &str = r#"
[machine]
cores = 4
threads = 2
[link]
pcie = "1 GiB/s"
[clients]
machine = "own"
rate = "5 Gbit/s"
[memory]
bandwidth = "8 GiB/s"
[disk]
rate = "1 GiB/s"
[sockets]
receive_buffer = "1 MiB"
[softirq]
cpus = 1
[limits]
through = "disk"
blend = "shares"
shares = { cpu = "50 %", disk = "30 %", clients = "20 %" }
[heat]
after = "10 s"
tells = "zero"
[clocks.c01]
rate = 1.001
[probes]
ceilings = true
softirq = true
[noise]
boot = { sd = "1 %" }
launch = { sd = "1 %", every = 5 }
"#;

#[test]
fn the_same_seeds_give_the_same_run_and_others_another() {
    let plan = golden();
    let first = run(&plan, ALL);
    assert_eq!(first.records, run(&plan, ALL).records);
    assert_ne!(lines(&first), lines(&run(&plan, &format!("seed = 2\n{ALL}"))));
    let softirq = |r: &TrialRecord| r.reading("cpu", "machine", "softirq.cpu0").is_some();
    let line = |r: &TrialRecord| r.reading("ceiling", "machine", "line_rate").is_some();
    let good = || first.records.iter().filter(|r| r.outcome.fault.is_none());
    assert!(good().count() > 0 && good().all(|r| softirq(r) && line(r)));
    // The liar of the default physics says nothing of itself.
    let silent = run(&plan, "");
    assert!(!silent.records.iter().any(|r| softirq(r) || line(r)));
}

#[test]
fn heat_that_is_told_makes_trials_invalid_and_heat_that_is_not_passes() {
    let hot = |tells: &str| {
        let heat = format!("{QUIET}[heat]\nafter = \"9 s\"\ntells = \"{tells}\"\n");
        run(&two("tso", "\"on\", \"off\"", 10), &heat)
    };
    let with_tso = |visited: &Visited| {
        let good = visited.records.iter().filter(|r| r.outcome.fault.is_none());
        let on = |r: &&TrialRecord| r.trial.settings.get("tso") == Some(&Value::Word("on".into()));
        good.filter(on).map(throughput).collect::<Vec<f64>>()
    };
    let told = hot("events");
    let throttled = |r: &TrialRecord| matches!(r.outcome.fault, Some(Fault::Throttled { .. }));
    assert!(told.records.iter().any(throttled));
    for liar in ["zero", "nothing"] {
        let untold = hot(liar);
        assert_eq!(untold.completeness, Completeness::Complete);
        assert!(untold.records.iter().all(|r| r.outcome.fault.is_none()), "{liar}");
        let rates = with_tso(&untold);
        let (first, last) = (rates[0], rates[rates.len() - 1]);
        assert!((last / first - 0.7).abs() < 1e-4, "{liar}: {last} after {first}");
        let says = |r: &TrialRecord| r.reading("throttle", "machine", "core").is_some();
        assert_eq!(untold.records.iter().all(says), liar == "zero");
    }
    // What the honest machine lets count was all made while it was quick.
    let rates = with_tso(&told);
    assert!(rates.len() > 1 && rates.iter().all(|r| (r / rates[0] - 1.0).abs() < 1e-4));
}

#[test]
fn clients_on_slow_machines_of_their_own_are_named_as_the_limit() {
    let slow = format!("{QUIET}[clients]\nmachine = \"own\"\ncores = 1\nspeed = 0.2\n");
    let visited = run(&two("tso", "\"on\", \"off\"", 3), &slow);
    let counted = visited.records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
    let faults: Vec<&Fault> = counted.filter_map(|r| r.outcome.fault.as_ref()).collect();
    assert_eq!(faults.len(), 12, "two visits to each of six trials");
    let client = |fault: &&Fault| match fault {
        Fault::GeneratorLimit { host, .. } => host.name().starts_with('c'),
        _ => false,
    };
    assert!(faults.iter().all(client), "{faults:?}");
    // Their CPUs are on their own machines; the server's are idle for the most part.
    let read = |host: &str| visited.records[0].reading("cpu", host, "busy").unwrap().value;
    assert!(read("c01") > 0.95 && read("machine") < 0.5);
    let quick = slow.replace("speed = 0.2", "speed = 8.0");
    let good = run(&two("tso", "\"on\", \"off\"", 3), &quick);
    assert!(good.records.iter().all(|r| r.outcome.fault.is_none()));
}

#[test]
fn a_clock_that_jumps_spoils_one_visit_and_the_next_one_counts() {
    let plan = two("tso", "\"on\", \"off\"", 5);
    let calm = run(&plan, QUIET);
    let hit = &calm.records[7];
    let at = hit.started_s + 0.5;
    let jumps = format!("{QUIET}[clocks.c02]\nstep = \"10 s\"\nat = \"{at} s\"\n");
    let found = run(&plan, &jumps);
    let disturbed: Vec<&TrialRecord> =
        found.records.iter().filter(|r| r.outcome.fault.is_some()).collect();
    assert_eq!(disturbed.len(), 1);
    assert_eq!((disturbed[0].trial.id, disturbed[0].attempt), (hit.trial.id, 1));
    let host = |fault: &Fault| matches!(fault, Fault::Disturbed { host, .. } if host == "c02");
    assert!(disturbed[0].outcome.fault.as_ref().is_some_and(host));
    assert_eq!(found.completeness, Completeness::Complete);
    let again = found.records.iter().find(|r| r.trial.id == hit.trial.id && r.attempt == 2);
    assert!(again.is_some_and(|r| r.outcome.fault.is_none()));
}

/// A simulated lab on a machine on which calm never comes.
struct Stormy {
    lab: Simulated,
    waits: u32,
}

impl Stand for Stormy {
    fn begin(&mut self, plan: &Plan) -> Result<(), RunError> {
        self.lab.begin(plan)
    }

    fn visit(&mut self, plan: &Plan, trial: &Trial) -> TrialRecord {
        self.lab.visit(plan, trial)
    }

    fn rebuild(&mut self) -> Result<(), RunError> {
        self.lab.rebuild()
    }

    fn wait_for_calm(&mut self) -> Result<bool, Fault> {
        self.waits += 1;
        Ok(false)
    }

    fn end(&mut self, whole: bool) -> Vec<String> {
        self.lab.end(whole)
    }
}

#[test]
fn calm_is_waited_for_after_stolen_visits_and_a_storm_ends_the_run() {
    let plan = two("tso", "\"on\", \"off\"", 20);
    let under = |faults: &str| {
        let physics = Physics::read(&format!("{QUIET}{faults}")).unwrap();
        let mut stand = Stormy { lab: Simulated::new(physics, loads::ALL, &NEVER), waits: 0 };
        let (keep, enough) = (&mut |_: &TrialRecord| Ok(()), &mut |_| false);
        let trials = order(&plan).into_iter().map(|trial| (trial, 1)).collect();
        let mut told = 0;
        let tell = &mut |progress: &Progress<'_>| told += u32::from(progress.waits);
        let orders = Orders { plan: &plan, trials, kept: &[], before_s: 0.0, keep, enough, tell };
        let visited = conduct(&mut stand, orders).unwrap();
        (visited, stand.waits, told)
    };
    let (one, waits, told) = under("[[faults]]\nkind = \"steal_burst\"\ntrial = 9\n");
    let stolen = one.records.iter().filter(|r| r.outcome.fault.is_some()).count();
    assert_eq!((one.completeness, stolen, waits, told), (Completeness::Complete, 1, 1, 1));
    let (all, waits, told) = under("[[faults]]\nkind = \"steal_burst\"\nshare = \"100 %\"\n");
    assert!(matches!(all.completeness, Completeness::Partial { .. }));
    assert_eq!((waits, told), (5, 5));
}

#[test]
fn smt_is_a_factor_with_a_planted_yield() {
    let smt = format!("{QUIET}[machine]\nthreads = 2\nsmt_yield = 1.25\n");
    let visited = run(&two("smt", "\"off\", \"on\"", 3), &smt);
    let level = |word: &str| {
        let word = Value::Word(word.into());
        let of = move |r: &&TrialRecord| r.observed.get("smt") == Some(&word);
        let counted = visited.records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
        counted.filter(of).collect::<Vec<_>>()
    };
    let (off, on) = (level("off"), level("on"));
    assert_eq!((off.len(), on.len()), (3, 3));
    let cpus = |r: &TrialRecord| r.reading("cpu", "machine", "cpus").unwrap().value;
    assert!(off.iter().all(|r| cpus(r) == 2.0) && on.iter().all(|r| cpus(r) == 4.0));
    let ratio = throughput(on[0]) / throughput(off[0]);
    assert!((ratio - 1.25).abs() < 1e-4, "{ratio}");
}

/// Taken down for all loads, a rate would end the load that has none.
#[test]
fn a_client_rate_is_taken_down_only_where_every_load_offers_it() {
    let physics = Physics::read(OLD).map_err(|e| e.to_string()).unwrap();
    let of = |plan: &Plan| throttles(plan, 0.1, Path::new("/"), Some(&physics));
    let named = |found: &[&str]| found.contains(&"client rate");
    let mixed = of(&golden());
    assert!(!named(&mixed.throttles.iter().map(|t| &*t.resource).collect::<Vec<_>>()));
    assert!(named(&mixed.fixed.iter().map(|f| &*f.resource).collect::<Vec<_>>()));
    let mut paced = golden();
    paced.loads.remove(0);
    let paced = of(&paced);
    assert!(named(&paced.throttles.iter().map(|t| &*t.resource).collect::<Vec<_>>()));
}

#[test]
fn programs_are_told_for_the_whole_run() {
    let plan = plan(&format!(
        "title = \"t\"\n[lab]\nclients = 1\nopenssl_ia32cap = \"no_sha\"\n\
         [factors.placement]\nlevels = [\"spread\", \"none\"]\n\
         [load.it]\nworkload = \"tcp_stream\"\n{METHOD}"
    ));
    let heard = run(&plan, QUIET);
    let no_sha = Value::Word("no_sha".into());
    assert!(heard.records.iter().all(|r| r.observed.get("openssl_ia32cap") == Some(&no_sha)));
}

#[test]
fn a_plan_of_two_levels_that_a_person_sets_does_not_begin() {
    let plan = plan(&format!(
        "title = \"t\"\n[factors.snoop]\nmanual = true\nlevels = [\"on\", \"off\"]\n\
         [load.it]\nworkload = \"tcp_stream\"\n{METHOD}"
    ));
    let (keep, enough) = (&mut |_: &TrialRecord| Ok(()), &mut |_| false);
    let orders = Orders {
        plan: &plan,
        trials: Vec::new(),
        kept: &[],
        before_s: 0.0,
        keep,
        enough,
        tell: &mut |_| (),
    };
    let refused =
        conduct(&mut Simulated::new(Physics::read("").unwrap(), loads::ALL, &NEVER), orders);
    let words = refused.unwrap_err().to_string();
    assert!(words.contains("--level snoop=LEVEL"), "{words}");
}
