//! Knows the promises that every workload keeps, and tests each of them on a real lab.
//!
//! The lab is the best that this machine grants; what it is stands in the output.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

mod moment;

use desk::plan::{Catalogue, expand, order, read};
use desk::record::{
    Better, Derivation, Fault, LabKind, Outcome, ParamRole, Place, Plan, QuantileSpec, Series,
    Trial, TrialKind, TrialRecord, Value, Words, WorkloadSpec,
};
use desk::unit::{Kind, Unit};
use moment::{full, good_or_disturbed, of_the_machine};
use rig::factor::{self, Mechanism, Undo};
use rig::lab::{Blueprint, Lab, Wanted};
use rig::run::Bench;
use rig::workload::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Labs are heavy and two at once would disturb each other's deadlines.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static NEVER: AtomicBool = AtomicBool::new(false);

fn blueprint(wanted: Wanted) -> Blueprint {
    Blueprint::of_all(wanted, 2, &["lan"])
}

fn bench(cancel: &'static AtomicBool) -> Bench {
    let binary = Path::new(env!("CARGO_BIN_EXE_stend"));
    let machine = rig::keeper::here(binary, cancel).expect("an agent");
    let bench = Bench::build(&blueprint(Wanted::Best), loads::ALL, vec![machine]).expect("a lab");
    println!("lab: {:?} {}", bench.lab.kind, bench.lab.reason);
    bench
}

/// Every way in which a workload makes its load, as it stands in a plan: its engines, each as fast
/// as it can and, where there is such a thing, on a schedule whose moments lie 0.25 s apart; every
/// day one engine has it.
fn ways(spec: &WorkloadSpec) -> Vec<String> {
    let param = |name: &str| spec.params.iter().find(|p| p.name == name);
    let mut ways: Vec<String> = match param("engine").map(|p| p.kind.words) {
        Some(Words::Of(words)) => words.iter().map(|w| format!("engine = \"{w}\"\n")).collect(),
        _ => vec![String::new()],
    };
    // What an engine is put together from, each part by itself beside the usual others.
    for part in ["sender", "receiver"] {
        let Some((param, Words::Of(words))) = param(part).map(|p| (p, p.kind.words)) else {
            continue;
        };
        let others = words.iter().filter(|word| **word != param.default);
        ways.extend(others.map(|word| format!("{part} = \"{word}\"\n")));
    }
    let paced = match param("offered_load").and_then(|p| p.kind.range).map(|range| range.family) {
        // 1250 B are 10 kbit: at 80 kbit/s for two clients each sends every 0.25 s.
        Some(Kind::Rate) => {
            let size = spec.params.iter().find(|p| p.role == Some(ParamRole::Size));
            let size = size.expect("bits are of something").name;
            format!("offered_load = \"80 kbit/s\"\n{size} = \"1250 B\"\n")
        }
        Some(_) => "offered_load = \"8 op/s\"\n".to_owned(),
        None => return ways,
    };
    let one = |way: &String| {
        let many = way.contains("batch") || way.contains("segment");
        let depth = if many { "queue_depth = 1\n" } else { "" };
        format!("{way}{depth}{paced}")
    };
    let on_schedule = if full() { ways.len() } else { 1 };
    ways.extend(ways.iter().map(one).take(on_schedule).collect::<Vec<_>>());
    ways
}

/// A workload with every way to make its load.
fn all() -> Vec<(&'static Entry, String)> {
    let with = |entry: &'static Entry| ways(entry.spec).into_iter().map(move |way| (entry, way));
    loads::ALL.iter().flat_map(with).collect()
}

/// The same with one engine of each load: whoever starts and stops a load does not know its engine.
/// In the full tests loads over a link have two.
fn started() -> Vec<(&'static Entry, String)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let first = |(entry, _): &(&Entry, String)| {
        let times = seen.entry(entry.spec.name).or_default();
        *times += 1;
        *times <= if full() && entry.spec.place == Place::Path { 2 } else { 1 }
    };
    all().into_iter().filter(first).collect()
}

/// The smallest plan of a workload: its defaults but for `way`, one short trial.
fn plan(name: &str, way: &str, window: &str) -> Plan {
    let entry = loads::find(name).expect("a workload");
    let lab = if entry.spec.place == Place::Path { "[lab]\nclients = 2\n" } else { "" };
    let text = format!(
        "title = \"contract\"\n{lab}[load.it]\nworkload = \"{name}\"\n{way}\
         [method]\nblocks = 3\ndry = false\nsettle = \"50 ms\"\n\
         steady = \"noted\"\nsettle_max = \"100 ms\"\n\
         window = \"{window}\"\n"
    );
    parse(&text).expect("a plan")
}

fn parse(text: &str) -> Result<Plan, String> {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    read(text, &catalogue).map_err(|e| e.to_string())
}

/// What a visit of the smallest point may take.
const LONGEST: Duration = Duration::from_secs(2);

/// The record of a visit that nothing from outside disturbed, after at most nine, and how long a
/// visit took, of up to three the first that was quick; none where the machine lacks what it needs
/// or disturbs them all, which is said.
fn undisturbed(
    bench: &mut Bench,
    name: &str,
    (plan, seed): (&Plan, u64),
) -> Option<(TrialRecord, Duration)> {
    let mut fault = None;
    for more in (0..3).rev() {
        let begun = Instant::now();
        let mut trials = first_trial(plan);
        trials[0].seed = seed;
        let visited = bench.run(plan, trials, &mut |_| ()).expect("a run");
        let visits = u32::try_from(visited.records.len()).expect("few visits");
        let took = begun.elapsed() / visits.max(1);
        let record = visited.records.into_iter().next_back().expect("a visit");
        fault.clone_from(&record.outcome.fault);
        match &fault {
            Some(fault) if of_the_machine(fault) => {}
            None if took >= LONGEST && more > 0 => {}
            Some(Fault::NotAvailable { .. }) => break,
            _ => return Some((record, took)),
        }
    }
    println!("skipped: {}: {}", name.trim(), fault.map(|f| f.to_string()).unwrap_or_default());
    None
}

fn first_trial(plan: &Plan) -> Vec<Trial> {
    let mut trials = order(plan);
    trials.retain(|t| t.kind == TrialKind::Counted);
    trials.truncate(1);
    trials
}

fn lock() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn the_smallest_point_takes_less_than_two_seconds_and_tells_what_it_cost() {
    let _lock = lock();
    let mut bench = bench(&NEVER);
    for (entry, way) in all() {
        let name = format!("{} {way}", entry.spec.name);
        let plan = plan(entry.spec.name, &way, "300 ms");
        let Some((record, took)) = undisturbed(&mut bench, &name, (&plan, 1)) else { continue };
        assert!(took < LONGEST, "{name}: {took:?} a visit");
        assert_eq!(record.outcome.fault, None, "{name}");
        // A machine may lack what a further figure needs, or the way may give another.
        let samples = &record.outcome.samples;
        let path = entry.spec.place == Place::Path;
        let quantiles = entry.spec.quantiles;
        let (given, promised) = (samples.len() + quantiles.len(), entry.spec.metrics.len());
        assert!(!samples.is_empty(), "{name} gives no sample");
        // What is between the ends counts where something is there, and no line is declared.
        let may_lack = [Derivation::OwnCount, Derivation::LineShare];
        let lacking = entry.spec.derives.iter().filter(|one| may_lack.contains(&one.what)).count();
        assert!(
            !path || (promised - lacking..=promised).contains(&given),
            "{name}: {given} samples and quantiles, {promised} metrics"
        );
        for sample in samples {
            let spec = entry.spec.metrics.iter().find(|m| m.name == sample.metric);
            let spec = spec.unwrap_or_else(|| panic!("{name} promises no {}", sample.metric));
            assert_eq!(sample.quantity.unit, spec.unit, "{name} {}", spec.name);
            // A share that is better lower is of what went wrong.
            let may_be_none = spec.unit == Unit::Share && spec.better == Better::Lower;
            let (value, name) = (sample.quantity.value, format!("{name} {}", spec.name));
            assert!(value > 0.0 || (value == 0.0 && may_be_none), "{name}");
        }
        let has = |q: &QuantileSpec| record.outcome.distributions.iter().any(|d| d.name == q.of);
        let mut always = quantiles.iter().filter(|q| q.always);
        assert!(always.all(has), "{name}: a quantile of nothing");
        record.outcome.series.iter().for_each(|series| is_the_sample(series, &record.outcome));
        let has_rounds = entry.spec.params.iter().any(|p| p.role == Some(ParamRole::Round));
        let tells = !record.outcome.series.is_empty();
        assert_eq!(tells, path || has_rounds, "{name}: what goes over a link or has rounds tells");
        let cost = record.readings.iter().filter(|r| r.probe == "process");
        assert!(cost.map(|r| r.quantity.value).sum::<f64>() > 0.0, "{name} cost nothing");
        let late = record.readings.iter().any(|r| r.probe == "pace");
        assert_eq!(late, way.contains("offered_load"), "{name}: late sends are told if paced");
        assert!(record.outcome.work.content_checks > 0, "{name} checked nothing");
    }
}

/// Its steps, by their lengths, make the figure of the window within one of them.
fn is_the_sample(series: &Series, outcome: &Outcome) {
    let (mut left, mut sum) = (outcome.window.seconds(), 0.0);
    let whole = left;
    for value in &series.values {
        let length = series.step.value.min(left);
        (left, sum) = (left - length, sum + value * length);
    }
    assert!(left.abs() < 1e-6, "{left} s of the window are in no step: {series:?}");
    let told = outcome.metric(&series.metric).expect("its sample").value;
    let most = series.values.iter().copied().fold(0.0, f64::max);
    // The sample's time is that between its readings, which differs from the window's a little.
    let off = (sum / whole - told).abs();
    assert!(off <= 1.05 * most * series.step.value / whole, "{told}: {series:?}");
}

#[test]
fn a_host_that_dies_in_the_window_is_a_fault_before_any_time_out() {
    let _lock = lock();
    let mut bench = bench(&NEVER);
    for (entry, way) in started() {
        let name = format!("{} {way}", entry.spec.name);
        // The first packet on a fresh link may be lost, and is sent again only after a second; and
        // the dead host is there again.
        let short = plan(entry.spec.name, &way, "300 ms");
        bench.run(&short, first_trial(&short), &mut |_| ()).expect("a run");
        let plan = plan(entry.spec.name, &way, "2 s");
        let (at, host) = if entry.spec.place == Place::Path { (2, "c02") } else { (0, "sut") };
        let pid = bench.lab.pid(at).to_string();
        let killer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(400));
            std::process::Command::new("kill").args(["-9", &pid]).status()
        });
        let begun = Instant::now();
        let mut faults = Vec::new();
        let trials = first_trial(&plan);
        let _ = bench.run(&plan, trials, &mut |progress| {
            faults.push((begun.elapsed(), progress.last.outcome.fault.clone()));
        });
        killer.join().expect("killer").expect("kill");
        let dead = Fault::DeadHost { host: host.into() };
        assert_eq!(faults[0].1, Some(dead), "{name}");
        assert!(faults[0].0 < Duration::from_millis(1_500), "{name}: {:?}", faults[0].0);
        let last = faults.last().and_then(|f| f.1.as_ref());
        assert!(faults.len() > 1 && good_or_disturbed(last), "{name}: second visit {last:?}");
    }
}

#[test]
fn a_stop_ends_the_window_within_200_ms() {
    must_stop(started());
}

#[test]
#[ignore = "minutes: ./test full"]
fn a_stop_ends_the_window_of_every_engine_within_200_ms() {
    must_stop(all());
}

fn must_stop(loads: Vec<(&'static Entry, String)>) {
    static STOP: AtomicBool = AtomicBool::new(false);
    let _lock = lock();
    // The other test that stops has left it set.
    STOP.store(false, Ordering::Relaxed);
    let mut bench = bench(&STOP);
    for (entry, way) in loads {
        STOP.store(false, Ordering::Relaxed);
        let name = format!("{} {way}", entry.spec.name);
        // Until the stop it has to be the window: what the last stop left is mended before.
        let short = plan(entry.spec.name, &way, "300 ms");
        bench.run(&short, first_trial(&short), &mut |_| ()).expect("a run");
        let plan = plan(entry.spec.name, &way, "20 s");
        let stopper = thread::spawn(|| {
            thread::sleep(Duration::from_millis(600));
            STOP.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let visited = bench.run(&plan, first_trial(&plan), &mut |_| ()).expect("a run");
        let took = Instant::now() - stopper.join().expect("stopper");
        assert_eq!(visited.records[0].outcome.fault, Some(Fault::Cancelled), "{name}");
        assert!(took < Duration::from_millis(200), "{name}: {took:?}");
    }
}

#[test]
fn nothing_is_left_behind() {
    leaves_nothing(started());
}

#[test]
#[ignore = "minutes: ./test full"]
fn nothing_is_left_behind_by_any_engine() {
    leaves_nothing(all());
}

fn leaves_nothing(loads: Vec<(&'static Entry, String)>) {
    let _lock = lock();
    let before = traces();
    let mut bench = bench(&NEVER);
    for (entry, way) in loads {
        let plan = plan(entry.spec.name, &way, "300 ms");
        bench.run(&plan, first_trial(&plan), &mut |_| ()).expect("a run");
    }
    let pids: Vec<u32> = (0..3).map(|at| bench.lab.pid(at)).collect();
    if bench.lab.kind == LabKind::RootNamespaces {
        assert!(traces().len() > before.len(), "namespaces have names while the lab stands");
    }
    drop(bench);
    assert_eq!(traces(), before);
    for pid in pids {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "host process {pid} lives on");
    }
}

/// Our named namespaces and control groups, and the links of the machine.
fn traces() -> Vec<String> {
    let names = |path: &str| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|e| e.path().display().to_string()).collect::<Vec<_>>()
    };
    let mut all = names("/run/netns");
    for hierarchy in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpuacct"] {
        all.extend(names(hierarchy).into_iter().filter(|name| name.contains("/stend-")));
    }
    all.extend(names("/sys/class/net"));
    all.sort();
    all
}

#[test]
fn what_a_host_cost_is_the_same_by_its_clock_and_by_its_control_group() {
    let _lock = lock();
    let mut bench = bench(&NEVER);
    let groups = bench.lab.groups_facts(0).expect("facts");
    if groups.iter().any(|fact| fact.value.starts_with("none")) {
        println!("skipped: {}", groups[0].value);
        return;
    }
    let plan = plan("tcp_stream", "", "1 s");
    let visited = bench.run(&plan, first_trial(&plan), &mut |_| ()).expect("a run");
    let record = &visited.records[0];
    for host in ["sut", "c01", "c02"] {
        let cpu = |probe| record.reading(probe, host, "cpu").map(|quantity| quantity.value);
        let (clock, group) = (cpu("process").expect("a clock"), cpu("cgroup").expect("a group"));
        // Each of the two may be behind by a tick at either edge, which are read apart.
        assert!(clock > 0.02 && (clock - group).abs() < 0.1, "{host}: {clock} and {group} CPUs");
    }
    let all = record.reading("cpu", "machine", "busy").expect("busy").value
        * record.reading("cpu", "machine", "cpus").expect("CPUs").value;
    let known = record.readings.iter().filter(|r| r.probe == "process");
    let known: f64 = known.map(|r| r.quantity.value).sum();
    assert!(known < all + 0.15, "hosts and conductor {known}, the whole machine {all} CPUs");
}

#[test]
fn an_unknown_parameter_is_refused() {
    for entry in loads::ALL {
        let name = entry.spec.name;
        let text = format!("title = \"x\"\n[load.it]\nworkload = \"{name}\"\nno_such_thing = 1\n");
        let refusal = parse(&text).expect_err("refused");
        assert!(refusal.contains("no_such_thing") && refusal.contains("line 4"), "{refusal}");
    }
}

/// Loads that are the same whatever the seed, each with its reason.
const WITHOUT_CHANCE: [(&str, &str); 1] =
    [("core_pair", "pairs and blocks are those of every trial, or trials would differ by them")];

#[test]
fn the_same_seed_gives_the_same_bytes_of_work_and_another_seed_others() {
    follows_the_seed(started());
}

#[test]
#[ignore = "minutes: ./test full"]
fn the_same_seed_gives_every_engine_the_same_bytes_of_work() {
    follows_the_seed(all());
}

fn follows_the_seed(loads: Vec<(&'static Entry, String)>) {
    let _lock = lock();
    let mut bench = bench(&NEVER);
    let mut seen = BTreeSet::new();
    for (entry, way) in loads {
        let name = format!("{} {way}", entry.spec.name);
        let plan = plan(entry.spec.name, &way, "300 ms");
        let params = expand(&plan).0[0].params.len();
        assert_eq!(params, entry.spec.params.len(), "{name}: defaults written out");
        let mut digest = |seed| {
            let (record, _) = undisturbed(&mut bench, &name, (&plan, seed))?;
            assert_eq!(record.outcome.fault, None, "{name}");
            assert!(record.outcome.work.digest.is_some(), "{name} tells no digest of its work");
            record.outcome.work.digest
        };
        let [Some(one), Some(again), Some(other)] = [7, 7, 8].map(&mut digest) else { continue };
        assert_eq!(one, again, "{name}: two visits with one seed");
        let same = WITHOUT_CHANCE.iter().any(|row| row.0 == entry.spec.name);
        assert_eq!(one == other, same, "{name}: seeds 7 and 8 gave {one:08x} and {other:08x}");
        seen.insert(entry.spec.name);
    }
    assert!(!seen.is_empty(), "no load could be compared with itself");
    let all: BTreeSet<&str> = loads::ALL.iter().map(|entry| entry.spec.name).collect();
    for name in all.difference(&seen) {
        println!("skipped: {name}: no way of it could be compared");
    }
}

#[test]
fn wrong_data_is_refused_for_every_workload() {
    refuses_wrong_data(started());
}

#[test]
#[ignore = "minutes: ./test full"]
fn wrong_data_is_refused_for_every_engine() {
    refuses_wrong_data(all());
}

/// Hosts that make one result of each load wrong, as debug builds do where they are asked.
fn refuses_wrong_data(loads: Vec<(&'static Entry, String)>) {
    if !cfg!(debug_assertions) {
        println!("skipped: only a debug build plants wrong data");
        return;
    }
    let _lock = lock();
    let folder = std::env::temp_dir().join(format!("stend-contract-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let binary = folder.join("stend");
    let script = format!(
        "#!/bin/sh\nSTEND_TEST_WRONG_DATA=1 exec '{}' \"$@\"\n",
        env!("CARGO_BIN_EXE_stend")
    );
    std::fs::write(&binary, script).expect("a script");
    std::fs::set_permissions(&binary, Permissions::from_mode(0o755)).expect("a program");
    let machine = rig::keeper::here(&binary, &NEVER).expect("an agent");
    let mut bench =
        Bench::build(&blueprint(Wanted::Best), loads::ALL, vec![machine]).expect("a lab");
    for (entry, way) in loads {
        let name = format!("{} {way}", entry.spec.name);
        let plan = plan(entry.spec.name, &way, "300 ms");
        let Some((record, _)) = undisturbed(&mut bench, &name, (&plan, 1)) else { continue };
        let fault = record.outcome.fault;
        assert!(matches!(fault, Some(Fault::WrongWork { .. })), "{name}: {fault:?}");
        assert!(record.outcome.samples.is_empty(), "{name}: a figure of wrong work");
    }
    drop(bench);
    std::fs::remove_dir_all(&folder).expect("an empty folder");
}

/// Factors of links and hosts, each with a level that takes, and what it is before.
const LEVELS: [(&str, &str, &str); 43] = [
    ("checksum", "off", "on"),
    ("gro", "off", "on"),
    ("gso", "off", "on"),
    ("mtu", "9000 B", "1500 B"),
    ("gro_flush_timeout", "20 us", "0 s"),
    ("napi_defer_hard_irqs", "2", "0"),
    ("net.core.somaxconn", "512", "4096"),
    ("net.ipv4.tcp_autocorking", "off", "on"),
    ("net.ipv4.tcp_backlog_ack_defer", "off", "on"),
    ("net.ipv4.tcp_comp_sack_nr", "0", "44"),
    ("net.ipv4.tcp_dsack", "off", "on"),
    ("net.ipv4.tcp_early_retrans", "0", "3"),
    ("net.ipv4.tcp_ecn", "1", "2"),
    ("net.ipv4.tcp_fastopen", "3", "1"),
    ("net.ipv4.tcp_frto", "0", "2"),
    ("net.ipv4.tcp_limit_output_bytes", "1 MiB", "4 MiB"),
    ("net.ipv4.tcp_max_syn_backlog", "64", "2048"),
    ("net.ipv4.tcp_min_tso_segs", "1", "2"),
    ("net.ipv4.tcp_moderate_rcvbuf", "off", "on"),
    ("net.ipv4.tcp_mtu_probing", "1", "0"),
    ("net.ipv4.tcp_notsent_lowat", "128 KiB", "1 MiB"),
    ("net.ipv4.tcp_pacing_ss_ratio", "120", "200"),
    ("net.ipv4.tcp_recovery", "0", "1"),
    ("net.ipv4.tcp_slow_start_after_idle", "off", "on"),
    ("net.ipv4.tcp_syncookies", "2", "1"),
    ("net.ipv4.tcp_tso_win_divisor", "8", "3"),
    ("net.ipv4.tcp_tw_reuse", "1", "2"),
    ("net.ipv4.tcp_window_scaling", "off", "on"),
    ("rate", "100 Mbit/s", "none"),
    ("receive_buffer", "1 MiB", "128 KiB"),
    ("receive_buffer_max", "1 MiB", "32 MiB"),
    ("rps_cpus", "0", "none"),
    ("rps_flows", "4096", "0"),
    ("rx_queues", "2", "1"),
    ("send_buffer", "1 MiB", "16 KiB"),
    ("send_buffer_max", "1 MiB", "4 MiB"),
    ("tcp_congestion", "reno", "cubic"),
    ("tcp_sack", "off", "on"),
    ("tcp_timestamps", "off", "on"),
    ("threaded_napi", "on", "off"),
    ("tso", "off", "on"),
    ("tx_queues", "2", "1"),
    ("xps_cpus", "all", "none"),
];

/// The same of factors that need modules of the kernel.
const MODULES: [(&str, &str, &str); 2] = [("ipsec", "aes-gcm-128", "off"), ("vlan", "100", "off")];

/// Those in files of the adapter, which ask for the machine's administrator.
const FILES: [&str; 6] = [
    "gro_flush_timeout",
    "napi_defer_hard_irqs",
    "rps_cpus",
    "rps_flows",
    "threaded_napi",
    "xps_cpus",
];

/// What must be set before a factor can be: the factor, that other, its levels without effect and
/// with it, and a word of the refusal without it.
const BESIDE: [(&str, &str, [&str; 2], &str); 2] = [
    ("rps_flows", "net.core.rps_sock_flow_entries", ["0", "32768"], "of the machine is 0"),
    ("threaded_napi", "gro", ["off", "on"], "while gro = \"on\""),
];

/// Sees that a factor is refused without what it needs beside, and sets that.
fn set_beside(lab: &mut Lab, name: &str, level: &Value) -> Option<Undo> {
    let (_, other, levels, why) = BESIDE.iter().find(|(of, ..)| *of == name)?;
    let other_factor = factor::mechanism(other).expect("a factor");
    let [without, with] = [*levels, [levels[1], levels[0]]].map(|both| level_of(other, both));
    let none = other_factor.apply(lab, "lan", &without).expect("off");
    let factor = factor::mechanism(name).expect("a factor");
    let words = factor.apply(lab, "lan", level).expect_err("nothing beside").to_string();
    assert!(words.contains(why), "{name}: {words}");
    none.carry_out(lab).expect("undo");
    Some(other_factor.apply(lab, "lan", &with).expect("on"))
}

/// What the driver of a virtual link does not have.
const REFUSED: [(&str, &str); 14] = [
    ("adaptive_rx", "on"),
    ("adaptive_tx", "on"),
    ("combined_queues", "2"),
    ("eee", "off"),
    ("link_speed", "100 Mbit/s"),
    ("pause_rx", "off"),
    ("pause_tx", "off"),
    ("rss", "2"),
    ("rx_frames", "8"),
    ("rx_ring", "512"),
    ("rx_usecs", "20 us"),
    ("tx_frames", "8"),
    ("tx_ring", "512"),
    ("tx_usecs", "20 us"),
];

/// The first of two levels of a factor, as a plan that compares them has it.
fn level_of(name: &str, levels: [&str; 2]) -> Value {
    let levels = levels.map(|level| format!("\"{level}\""));
    let plan = parse(&format!(
        "title = \"x\"\n[factors.\"{name}\"]\nlevels = [{}]\n\
         [load.it]\nworkload = \"tcp_stream\"\n",
        levels.join(", ")
    ));
    plan.expect("a plan").factors[0].levels[0].settings[name].clone()
}

#[test]
fn bonds_are_refused_on_one_cable_and_beside_what_does_not_know_them() {
    let bonds = "[factors.bonding]\nlevels = [\"off\", \"802.3ad\"]\n";
    let two = "[lab.links.lan]\ncables = 2\n";
    let refused = |tables: &str| {
        let text = format!("title = \"x\"\n{bonds}{tables}[load.it]\nworkload = \"tcp_stream\"\n");
        let plan = parse(&text).expect("a plan");
        factor::refuse(&plan, Path::new("/")).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let vlan = format!("[factors.vlan]\nlevels = [\"off\", 7]\n{two}");
    let sixth = format!("[lab]\nip_version = 6\n{two}");
    for (tables, words) in [
        ("", "write cables = 2 in [lab.links.lan]"),
        (vlan.as_str(), "take one of both"),
        (sixth.as_str(), "take ip_version = 4"),
    ] {
        let said = refused(tables);
        assert!(said.contains(words), "{words}: {said}");
    }
    // Only the kernel can refuse the rest.
    let said = refused(two);
    assert!(said.is_empty() || said.contains("load the module bonding"), "{said}");
}

#[test]
fn every_factor_takes_is_read_back_and_is_undone() {
    let _lock = lock();
    let mut bench = bench(&NEVER);
    if bench.lab.kind == LabKind::Loopback {
        println!("skipped: this machine grants no namespaces, and loopback has no links of ours");
        return;
    }
    let mut names: Vec<&str> = LEVELS.iter().chain(&MODULES).map(|row| row.0).collect();
    names.extend(REFUSED.iter().map(|row| row.0));
    // It needs links with two cables: below.
    names.push("bonding");
    names.sort_unstable();
    let on_links = |name: &&str| matches!(factor::mechanism(name), Some(Mechanism::Link(_)));
    let all = factor::ALL.iter().map(|f| f.name).filter(on_links);
    assert_eq!(names, all.collect::<Vec<_>>(), "every factor that is set on links or hosts");
    let (kind, lab) = (bench.lab.kind, &mut bench.lab);
    let now = |lab: &mut Lab, name: &str| {
        let mechanism = factor::mechanism(name).expect("a factor");
        mechanism.observe(lab, "lan", &Value::Word("none".into())).map(|v| v.to_string())
    };
    for (name, level, before) in LEVELS.into_iter().chain(MODULES) {
        let other = if name == "rate" { "1 Gbit/s" } else { before };
        let level = &level_of(name, [level, other]);
        let factor = factor::mechanism(name).expect("a factor");
        if let Err(e) = factor.refuse(Path::new("/"), level, 1) {
            assert!(e.to_string().contains("load the module"), "{e}");
            println!("skipped: {e}");
            continue;
        }
        let was = now(lab, name).unwrap_or_default();
        let files = FILES.contains(&name);
        if files && kind == LabKind::UserNamespaces {
            println!("skipped: {name} asks for CAP_NET_ADMIN of the machine");
            continue;
        }
        let beside = set_beside(lab, name, level);
        let undo = factor.apply(lab, "lan", level).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(factor.observe(lab, "lan", level).expect(name), *level, "{name} reads back");
        if name == "checksum" {
            assert_eq!(now(lab, "tso").expect("tso"), "off", "no checksum, no segmentation");
        }
        undo.carry_out(lab).expect("undo");
        beside.iter().for_each(|undo| undo.carry_out(lab).expect("undo"));
        assert_eq!(now(lab, name).expect(name), was, "{name} is undone");
        assert_eq!(now(lab, "tso").expect("tso"), "on", "after {name}");
    }
    for (name, level) in REFUSED {
        let other = if level == "on" { "off" } else { "on" };
        let other = if level.starts_with(char::is_numeric) { "1 us" } else { other };
        let other = if level.parse::<u64>().is_ok() { "1" } else { other };
        let other = if level.ends_with("bit/s") { "1 Gbit/s" } else { other };
        let factor = factor::mechanism(name).expect("a factor");
        let tried = factor.apply(lab, "lan", &level_of(name, [level, other]));
        let words = tried.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(words.contains("does not have it; leave it out"), "{name}: {words}");
    }
}
