//! What a physics refuses, and whether chance is what it says.

use super::*;
use desk::record::{LabPlan, LinkPlan, Settings, Value};
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
        ("cores = 2\n", "unknown field `cores`"),
        ("[cost]\ncal = \"1 ns\"\n", "unknown field `cal`"),
        ("[links.a]\nspeed = \"1 Gbit/s\"\n", "unknown field `speed`"),
        ("[cost]\ncall = \"1\"\n", "'1' has no unit"),
        ("[cost]\ncall = \"1 B\"\n", "is not a unit of time"),
        ("[clients]\ncpu = \"120 %\"\n", "120 % is not a share"),
        ("[noise]\nar = 1.0\n", "between -1 and 1"),
        ("[machine]\ncores = 0\n", "1 to 1024"),
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
    let link = |name: &str, settings: Settings| LinkPlan { name: name.into(), settings };
    let lab = LabPlan {
        clients: 1,
        client_rate: None,
        settings: [("mtu".to_owned(), mtu(4000.0))].into(),
        links: vec![
            link("a", Settings::new()),
            link("b", [("mtu".to_owned(), mtu(9000.0))].into()),
        ],
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
