//! What a physics refuses, and whether chance is what it says.

use super::*;
use desk::record::{HostName, LabPlan, LinkPlan, Settings, Value};
use desk::unit::{Quantity, Unit};

fn physics(text: &str) -> Physics {
    Physics::read(text).unwrap()
}

#[test]
fn what_a_file_leaves_out_is_as_built_in() {
    let built_in = Physics::built_in().unwrap();
    let own = physics("[cost]\nbyte = \"0.2 ns\"\n[links.pro]\nline_rate = \"1 Gbit/s\"\n");
    assert!((own.cost.byte - 2e-10).abs() < 1e-24);
    assert_eq!(own.cost.call, built_in.cost.call);
    assert_eq!(own.link("pro").line_rate, 1e9);
    assert_eq!(own.link("pro").mtu, 1500.0);
    assert_eq!(own.link("other").line_rate, built_in.link.line_rate);
}

#[test]
fn a_physics_is_strict() {
    let refused = [
        ("cores = 2\n", "line 1: unknown key 'cores'; known here: "),
        ("[cost]\n\ncal = \"1 ns\"\n", "line 3: unknown key 'cost.cal'; did you mean 'call'?"),
        ("[costs]\ncall = \"1 ns\"\n", "line 1: unknown key 'costs'; did you mean 'cost'?"),
        ("[links.a]\nspeed = \"1 Gbit/s\"\n", "line 2: unknown key 'links.a.speed'; known here: "),
        ("[links.a]\npci = \"none\"\n", "unknown key 'links.a.pci'; did you mean 'pcie'?"),
        ("[noise]\ndips = { share = \"0 %\", sise = \"1 %\" }\n", "did you mean 'size'?"),
        ("[clocks.c01]\nrates = 1.0\n", "'clocks.c01.rates'; did you mean 'rate'?"),
        ("[capacities.turbo]\noff = { cpus = 0.5 }\n", "did you mean 'cpu'?"),
        ("[limits.shares]\ndisc = \"1 %\"\n", "did you mean 'disk'?"),
        (
            "[[faults]]\nkin = \"throttle\"\n",
            "line 2: unknown key 'faults.kin'; did you mean 'kind'?",
        ),
        ("[cost]\ncall = \"1\"\n", "'1' has no unit"),
        ("[cost]\ncall = \"1 B\"\n", "is not a unit of time"),
        ("[clients]\ncpu = \"120 %\"\n", "120 % is not a share"),
        ("[noise]\nar = 1.0\n", "between -1 and 1"),
        ("[machine]\ncores = 0\n", "1 to 1024"),
        ("[machine]\nthreads = 9\n", "machine.threads is 9"),
        ("[machine]\nthreads = 2\nsmt_yield = 2.5\n", "from 1 to the number of threads"),
        ("[memory]\nbandwidth = \"1 Gbit/s\"\n", "is not a rate of bytes; write for instance"),
        ("[disk]\nrate = \"1 GiB\"\n", "is not a rate of bytes"),
        ("[limits]\nthrough = \"disk\"\n", "there is none; write its rate into [disk]"),
        ("[limits]\nblend = \"soft\"\n", "unknown variant `soft`"),
        ("[limits.shares]\ncpu = \"100 %\"\n", "are for blend = \"shares\""),
        ("[limits]\nblend = \"shares\"\n", "limits.shares make 0.0000 %"),
        ("[limits]\nblend = \"shares\"\nshares = { disk = \"100 %\" }\n", "is of nothing"),
        ("[heat]\nafter = \"0 s\"\n", "heat.after is 0"),
        ("[clocks.c01]\nrate = 3.0\n", "clocks.c01.rate is 3"),
        ("[capacities.turbo]\noff = { cpu = 0.0 }\n", "capacities.turbo.off is 0"),
        ("[softirq]\ncpus = 3\n", "at most the machine's CPUs"),
        ("[effects.congestion]\nbbr = 0.0\n", "effects.congestion.bbr is 0"),
        ("[[faults]]\nkind = \"steal_burst\"\n", "either trial or share"),
        ("[[faults]]\nkind = \"steal_burst\"\ntrial = 1\nshare = \"1 %\"\n", "either trial or"),
        ("[[faults]]\nkind = \"earthquake\"\ntrial = 1\n", "unknown variant `earthquake`"),
        ("seed = ", "TOML parse error"),
    ];
    for (text, words) in refused {
        let said = Physics::read(text).unwrap_err().to_string();
        assert!(said.contains(words), "{text}: {said}");
    }
}

/// The logs of the paces of so many trials, each visited once.
fn logs(physics: &Physics, seed: u64, trials: u32) -> Vec<f64> {
    let mut chance = Chance::new(seed, physics);
    let all = f64::from(trials);
    let at = |trial: u32| (f64::from(trial), all);
    (0..trials).map(|t| chance.draw(physics, (t, 1), at(t)).pace.ln()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(values.len()).unwrap())
}

fn sd(values: &[f64]) -> f64 {
    let centre = mean(values);
    mean(&values.iter().map(|v| (v - centre).powi(2)).collect::<Vec<_>>()).sqrt()
}

// 20,000 draws: the standard error of a standard deviation is 0.5 %, twice that under correlation.
#[test]
fn noise_has_the_spread_and_the_correlation_that_are_asked() {
    let physics = physics("[noise]\nsd = \"2 %\"\nar = 0.7\n");
    let logs = logs(&physics, 1, 20_000);
    assert!(mean(&logs).abs() < 0.002, "{}", mean(&logs));
    assert!((sd(&logs) / 0.02 - 1.0).abs() < 0.05, "{}", sd(&logs));
    let products: Vec<f64> = logs.windows(2).map(|w| w[0] * w[1]).collect();
    let correlation = mean(&products) / sd(&logs).powi(2);
    assert!((correlation - 0.7).abs() < 0.03, "{correlation}");
}

const QUIET: &str = "[noise]\nsd = \"0 %\"\n";

#[test]
fn rare_events_come_as_often_and_as_large_as_asked() {
    let outliers = "outliers = { share = \"7 %\", size = \"20 %\" }\n";
    let logs = logs(&physics(&format!("{QUIET}{outliers}")), 1, 20_000);
    let hit: Vec<f64> = logs.iter().copied().filter(|log| *log < -1e-9).collect();
    assert!(hit.iter().all(|log| (log.exp() - 0.8).abs() < 1e-9));
    // Standard deviation of the number: 36.
    assert!((1250..=1550).contains(&hit.len()), "{}", hit.len());
}

#[test]
fn drift_and_step_come_when_they_are_due() {
    let drift = logs(&physics(&format!("{QUIET}[drift]\nshare = \"5 %\"\n")), 1, 101);
    assert!((drift[0].exp() - 1.0).abs() < 1e-9);
    assert!(drift.is_sorted_by(|a, b| a > b));
    assert!((drift[100].exp() - 0.95).abs() < 1e-3, "{}", drift[100].exp());
    let step = format!("{QUIET}[step]\nat = \"40 s\"\nsize = \"3 %\"\n");
    let step = logs(&physics(&step), 1, 100);
    assert!((step[39].exp() - 1.0).abs() < 1e-9 && (step[40].exp() - 0.97).abs() < 1e-9);
}

#[test]
fn a_launch_moves_all_its_visits_and_the_next_moves_them_anew() {
    let launch = "launch = { sd = \"2 %\", every = 10 }\n";
    let logs = logs(&physics(&format!("{QUIET}{launch}")), 1, 5_000);
    for launch in logs.chunks(10) {
        assert!(launch.iter().all(|log| log == &launch[0]));
    }
    let launches: Vec<f64> = logs.chunks(10).map(|l| l[0]).collect();
    // 500 launches: the standard error is 3 %.
    assert!((sd(&launches) / 0.02 - 1.0).abs() < 0.12, "{}", sd(&launches));
}

#[test]
fn a_session_moves_all_its_visits_alike_and_every_seed_is_another_session() {
    let physics = physics(&format!("{QUIET}session = {{ sd = \"2 %\" }}\n"));
    let of = |seed| logs(&physics, seed, 20);
    let sessions: Vec<f64> = (1..=500).map(|seed| of(seed)[0]).collect();
    assert!(of(7).iter().all(|log| (log - sessions[6]).abs() < 1e-12), "{:?}", of(7));
    // 500 sessions: the standard error is 3 %.
    assert!((sd(&sessions) / 0.02 - 1.0).abs() < 0.12, "{}", sd(&sessions));
    assert!(mean(&sessions).abs() < 0.004, "{}", mean(&sessions));
}

#[test]
fn a_boot_has_a_state_of_its_own_that_is_the_same_whenever_it_is_asked() {
    let physics = physics("[noise]\nboot = { sd = \"2 %\" }\n");
    let chance = Chance::new(3, &physics);
    let boots: Vec<f64> = (1..=500).map(|boot| chance.boot(&physics, boot)).collect();
    // 500 boots: the standard error is 3 %.
    assert!((sd(&boots) / 0.02 - 1.0).abs() < 0.12, "{}", sd(&boots));
    assert!(mean(&boots).abs() < 0.004, "{}", mean(&boots));
    assert_eq!((chance.boot(&physics, 7), chance.boot(&physics, 0)), (boots[6], 0.0));
}

#[test]
fn boots_and_launches_are_levels_that_may_have_planted_effects() {
    let planted = "[effects.boot]\n2 = 0.97\n[effects.launch]\n3 = 0.9\n";
    let physics = physics(&format!("{QUIET}launch = {{ sd = \"0 %\", every = 2 }}\n{planted}"));
    let chance = Chance::new(1, &physics);
    let boots: Vec<f64> = (0..=3).map(|boot| chance.boot(&physics, boot).exp()).collect();
    assert_eq!(boots, [1.0, 1.0, 0.97_f64.ln().exp(), 1.0]);
    let paces: Vec<f64> =
        logs(&physics, 1, 8).iter().map(|log| (log.exp() * 1e9).round()).collect();
    assert_eq!(paces, [1e9, 1e9, 1e9, 1e9, 9e8, 9e8, 1e9, 1e9]);
}

#[test]
fn a_busy_cpu_gets_hot_and_slow_and_an_idle_one_cool_and_quick() {
    let physics = physics("[heat]\nafter = \"30 s\"\ncools = \"10 s\"\nspeed = \"50 %\"\n");
    let mut warmth = Warmth::default();
    let mut after = |busy, seconds| {
        warmth.pass(&physics, busy, seconds);
        (warmth.speed(&physics), warmth.told(&physics))
    };
    let (quick, slow) = ((1.0, Some(false)), (0.5, Some(true)));
    assert_eq!(after(1.0, 29.0), quick);
    assert_eq!(after(1.0, 1.0), slow);
    assert_eq!(after(1.0, 100.0), slow);
    assert_eq!(after(0.0, 4.0), slow, "12 of 30 s are gone");
    assert_eq!(after(0.0, 1.0), quick);
    assert_eq!(after(0.75, 1000.0), quick, "it heats by 0.75 and cools by 0.25 x 3 each second");
    assert_eq!(after(0.8, 1000.0), slow);
}

#[test]
fn a_machine_that_gets_hot_may_lie_about_it() {
    let told = |tells: &str| {
        let text = format!("[heat]\nafter = \"1 s\"\ntells = \"{tells}\"\n");
        let physics = physics(&text);
        let mut warmth = Warmth::default();
        warmth.pass(&physics, 1.0, 2.0);
        assert!(warmth.speed(&physics) < 1.0);
        warmth.told(&physics)
    };
    assert_eq!((told("events"), told("zero"), told("nothing")), (Some(true), Some(false), None));
    let mut cold = Warmth::default();
    cold.pass(&physics(""), 1.0, 1e9);
    assert_eq!(cold, Warmth::default());
}

#[test]
fn cpus_fill_one_a_core_before_their_second_threads() {
    let physics = physics("[machine]\ncores = 4\nthreads = 2\nsmt_yield = 1.3\n");
    let cpus = Cpus::of(&physics, true);
    let work: Vec<f64> = [1.0, 4.0, 6.0, 8.0, 9.0].map(|busy| cpus.work(busy)).to_vec();
    let by_hand = [1.0, 4.0, 4.6, 5.2, 5.2];
    assert!(work.iter().zip(by_hand).all(|(w, h)| (w - h).abs() < 1e-9), "{work:?}");
    assert_eq!(Cpus::of(&physics, false).logical, 4.0);
    let environment = environment(&physics, "f", &[]);
    assert_eq!((environment.cpu.cores, environment.cpu.logical), (4, 8));
}

#[test]
fn a_clock_goes_at_its_rate_from_go_and_steps_once() {
    let clock = |text: &str, go_s| {
        let physics = physics(&format!("[clocks.c01]\n{text}\n"));
        clocks(&physics, go_s, (100.0, 50.0)).of("c01").unwrap()
    };
    let s = |seconds: f64| (seconds * 1e9) as u64;
    let quick = clock("rate = 1.5", 110.0);
    assert_eq!((quick.shows(s(110.0)), quick.shows(s(112.0))), (s(110.0), s(113.0)));
    assert_eq!(quick.reaches(s(113.0)), s(112.0));
    // Half of the run is at 125 s.
    let ahead = clock("step = \"2 s\"\nat = \"50 %\"", 120.0);
    assert_eq!((ahead.shows(s(124.0)), ahead.shows(s(126.0))), (s(124.0), s(128.0)));
    assert_eq!((ahead.reaches(s(124.0)), ahead.reaches(s(128.0))), (s(124.0), s(126.0)));
    assert_eq!(ahead.reaches(s(126.0)), s(125.0), "jumped over");
    let back = clock("step = \"-2 s\"\nat = \"25 s\"", 120.0);
    assert_eq!((back.reaches(s(124.0)), back.reaches(s(126.0))), (s(124.0), s(128.0)));
    let past = clock("step = \"2 s\"\nat = \"5 s\"", 120.0);
    assert_eq!(past.shows(s(130.0)), s(130.0), "agreed anew at go");
    assert_eq!(clocks(&physics(""), 0.0, (0.0, 1.0)), Clocks::default());
}

#[test]
fn ceilings_are_what_devices_are_made_for_and_told_only_where_they_can_be_read() {
    let has = "[link]\npcie = \"1 GiB/s\"\n[memory]\nbandwidth = \"4 GiB/s\"\n\
               [disk]\nrate = \"100 MiB/s\"\n[clients]\nmachine = \"own\"\nrate = \"1 Gbit/s\"\n";
    let rows = |text: &str| {
        let physics = physics(text);
        let lab = LabPlan { clients: 2, links: vec![LinkPlan::of_all("a")], ..LabPlan::default() };
        let rate = Value::Quantity(Quantity::new(1e6, Unit::BitPerSecond));
        let link = LinkNow::of(&physics, &lab, &[("rate".to_owned(), rate)].into());
        let told = ceilings(&physics, &link, 2);
        told.into_iter().map(|r| (r.host, r.key, r.quantity)).collect::<Vec<_>>()
    };
    assert!(rows(has).is_empty());
    let probes = "[probes]\nceilings = true\n";
    let row = |host: &str, key: &str, value, unit| {
        (HostName::from(host), key.to_owned(), Quantity::new(value, unit))
    };
    let line = row("machine", "line_rate", 1e10, Unit::BitPerSecond);
    let mtu = row("machine", "mtu", 1500.0, Unit::Byte);
    assert_eq!(rows(probes), [line.clone(), mtu.clone()]);
    let gib = 1_073_741_824.0;
    let all = [
        line,
        mtu,
        row("machine", "pcie", gib, Unit::BytePerSecond),
        row("machine", "mem_copy", 2.0 * gib, Unit::BytePerSecond),
        row("machine", "disk", 104_857_600.0, Unit::BytePerSecond),
        row("c01", "line_rate", 1e9, Unit::BitPerSecond),
        row("c02", "line_rate", 1e9, Unit::BitPerSecond),
    ];
    assert_eq!(rows(&format!("{has}{probes}")), all);
}

#[test]
fn a_visit_more_does_not_change_the_chance_of_the_others() {
    let physics = physics("[noise]\nar = 0.0\n");
    let first = logs(&physics, 7, 3);
    let mut chance = Chance::new(7, &physics);
    let mut draw = |trial, visit| chance.draw(&physics, (trial, visit), (0.0, 1.0)).pace.ln();
    assert_eq!(draw(0, 1), first[0]);
    assert_ne!(draw(0, 2), first[0]);
    assert_eq!(draw(1, 1), first[1]);
    assert_ne!(logs(&physics, 8, 3), first);
}

#[test]
fn a_trials_settings_stand_above_the_links_and_those_above_the_labs() {
    let physics = physics("[links.b]\nline_rate = \"1 Gbit/s\"\n");
    let mtu = |bytes| Value::Quantity(Quantity::new(bytes, Unit::Byte));
    let link = |name: &str, settings: Settings| LinkPlan { settings, ..LinkPlan::of_all(name) };
    let lab = LabPlan {
        clients: 1,
        settings: [("mtu".to_owned(), mtu(4000.0))].into(),
        links: vec![
            link("a", Settings::new()),
            link("b", [("mtu".to_owned(), mtu(9000.0))].into()),
        ],
        ..LabPlan::default()
    };
    let of = |settings: &[(&str, Value)]| {
        let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
        LinkNow::of(&physics, &lab, &settings)
    };
    assert_eq!((of(&[]).name.as_str(), of(&[]).mtu), ("a", 4000.0));
    let b = of(&[("path", Value::Word("b".into()))]);
    assert_eq!((b.mtu, b.line_rate), (9000.0, 1e9));
    assert_eq!(of(&[("mtu", mtu(1500.0))]).mtu, 1500.0);
    assert!(!of(&[("checksum", Value::Word("off".into()))]).tso, "it drags TSO along");
}
