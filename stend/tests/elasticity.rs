//! Knows how near the shares of a cause come to those that were planted, through the whole product,
//! and that the door says them, in a simulated lab and in a real one; and of an upgrade where it
//! gains and where it does not.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

mod moment;
mod simulated;
#[path = "elasticity/upgrade.rs"]
mod upgrade;

use desk::plan::{at_one_place, one_at_a_time};
use desk::record::Run;
use desk::verdict::{Elasticity, Weight, analyse};
use press::report::elasticity_words;
use rig::lab::sim::Physics;
use rig::run::throttles;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const STEND: &str = env!("CARGO_BIN_EXE_stend");
/// What is asked of a share.
const NEAR: f64 = 0.1;

/// Resources of a physics: word, name in a report, and what makes it one.
const RESOURCES: [(&str, &str, &str); 6] = [
    ("cpu", "CPU", ""),
    ("line", "line", ""),
    ("pcie", "bus", "[link]\npcie = \"1 GiB/s\"\n"),
    ("memory", "memory", "[memory]\nbandwidth = \"4 GiB/s\"\n"),
    ("disk", "disk", "[disk]\nrate = \"1 GiB/s\"\n"),
    ("clients", "clients", "[clients]\nrate = \"10 Gbit/s\"\n"),
];

/// A physics in which two resources have these shares, in per cent.
fn system(pair: [usize; 2], shares: [u32; 2], seed: usize) -> Physics {
    let made: String = pair.iter().map(|at| RESOURCES[*at].2).collect();
    let passes = if pair.contains(&4) { "through = \"disk\"\n" } else { "" };
    let [a, b] = [0, 1].map(|at| format!("{} = \"{} %\"\n", RESOURCES[pair[at]].0, shares[at]));
    let text = format!(
        "seed = {seed}\n{made}[limits]\nblend = \"shares\"\n{passes}[limits.shares]\n{a}{b}\
         [noise]\nsd = \"1 %\"\n"
    );
    simulated::physics(&text)
}

/// Payload that the line of the built-in physics leaves, bytes a second.
const GOODPUT: f64 = 10e9 / 8.0 * 1448.0 / 1538.0;
/// A processor that is never in the way, on a machine that tells its ceilings.
const FAST: &str =
    "[probes]\nceilings = true\n[cost]\ncall = \"1 ns\"\npacket = \"1 ns\"\nbyte = \"0.001 ns\"\n";
/// Bytes of a mebibyte.
const MIB: f64 = 1_048_576.0;

/// A resource of which a load at the goodput of the line uses the part `used`: its name in a
/// report, and what makes it so. `ends` of a stream live on the machine.
fn near(resource: usize, used: f64, ends: f64) -> (&'static str, String) {
    let (word, name, _) = RESOURCES[resource];
    let most = GOODPUT / used;
    let text = match word {
        "pcie" => format!("[link]\npcie = \"{:.4} MiB/s\"\n", most * 1514.0 / 1448.0 / MIB),
        // An end touches each byte twice.
        "memory" => format!("[memory]\nbandwidth = \"{:.4} MiB/s\"\n", most * 2.0 * ends / MIB),
        "disk" => format!(
            "[limits]\nthrough = \"disk\"\n[disk]\nrate = \"{:.4} MiB/s\"\n\
             latency = \"10 us\"\n",
            most / MIB
        ),
        "clients" => format!("[clients]\nrate = \"{:.4} Mbit/s\"\nmachine = \"own\"\n", 1e4 / used),
        _ => String::new(),
    };
    (name, text)
}

/// The line is the one limit, hard; one or two other resources are near theirs.
fn near_system(number: usize) -> (Physics, Vec<&'static str>) {
    let uses = [0.86, 0.88, 0.9, 0.92, 0.94, 0.96];
    let pairs = [[2, 3], [3, 5], [4, 2], [5, 4], [3, 4]];
    let [one, other] = pairs[number % pairs.len()];
    let both = number % 2 == 1;
    // Clients that have a line of their own have machines of their own.
    let apart = one == 5 || both && other == 5;
    let ends = if apart { 1.0 } else { 2.0 };
    let mut made = vec![near(one, uses[number % uses.len()], ends)];
    if both {
        made.push(near(other, uses[(number / 2) % uses.len()], ends));
    }
    let texts: String = made.iter().map(|(_, text)| text.as_str()).collect();
    let text = format!("seed = {}\n{texts}{FAST}[noise]\nsd = \"1 %\"\n", number + 1);
    (simulated::physics(&text), made.into_iter().map(|(name, _)| name).collect())
}

/// The whole run, in memory.
fn run(physics: &Physics, blocks: u32) -> Run {
    let text = format!(
        "title = \"two limits\"\n[lab]\nclients = 1\n[load.it]\nworkload = \"tcp_stream\"\n\
         [method]\nblocks = {blocks}\n"
    );
    let plan = simulated::plan(&text);
    let words = elasticity_words(&plan).map_err(|e| e.to_string()).expect("words");
    let plan = at_one_place(&plan, &BTreeMap::new()).expect("a place");
    let throttling = throttles(&plan, 0.15, Path::new("/"), Some(physics));
    let plan = one_at_a_time(&plan, throttling, &words);
    simulated::run(&plan, physics)
}

#[test]
fn in_twenty_systems_with_two_limits_the_shares_are_within_a_tenth() {
    let pairs: Vec<[usize; 2]> =
        (0..RESOURCES.len()).flat_map(|a| (a + 1..RESOURCES.len()).map(move |b| [a, b])).collect();
    let shares = [[10, 90], [25, 75], [40, 60], [50, 50], [70, 30]];
    let mut worst: f64 = 0.0;
    for number in 0..20 {
        let (pair, shares) = (pairs[number % pairs.len()], shares[number % shares.len()]);
        let run = run(&system(pair, shares, number + 1), 20);
        let mut found = analyse(&run).elasticity;
        assert_eq!(found.len(), 1, "one load");
        let Elasticity { resources, left, .. } = found.swap_remove(0);
        assert!(resources.len() >= 2, "{resources:?}");
        for one in &resources {
            let planted = pair.iter().position(|at| RESOURCES[*at].1 == one.resource);
            let planted = planted.map_or(0.0, |at| f64::from(shares[at]) / 100.0);
            let off = one.share.centre.value - planted;
            worst = worst.max(off.abs());
            assert!(off.abs() < NEAR, "system {number}: {} is off by {off}", one.resource);
        }
        let left = left.expect("every block has all");
        assert!(left.centre.value.abs() < 2.0 * NEAR, "system {number}: {left:?}");
    }
    println!("largest error of a share: {worst:.3}");
}

#[test]
fn what_stays_below_its_limit_has_no_share_in_twenty_systems() {
    let mut worst: f64 = 0.0;
    for number in 0..20 {
        let (physics, others) = near_system(number);
        let found = analyse(&run(&physics, 20)).elasticity.swap_remove(0);
        for name in others {
            assert!(found.resources.iter().any(|one| one.resource == name), "{name} is taken down");
        }
        for one in &found.resources {
            let planted = if one.resource == "line" { 1.0 } else { 0.0 };
            let off = one.share.centre.value - planted;
            worst = worst.max(off.abs());
            assert!(
                off.abs() < NEAR,
                "system {number}: {} is off by {off}: {one:#?}",
                one.resource
            );
            let weight = if one.resource == "line" { Weight::All } else { Weight::None };
            assert_eq!(one.weight, weight, "system {number}: {one:#?}");
        }
        assert!(!found.beyond, "system {number}: {:?}", found.sum);
    }
    println!("largest error of a share beside near limits: {worst:.3}");
}

/// Two resources that are full at once each hold the load down alone when taken down, so that
/// their shares make 200 %: no model of shares, and it is said.
#[test]
fn two_limits_at_once_make_more_than_all_and_it_is_said() {
    let text = format!("seed = 3\n{}{FAST}[noise]\nsd = \"0.2 %\"\n", near(3, 1.0, 2.0).1);
    let run = run(&simulated::physics(&text), 10);
    let analysis = analyse(&run);
    let found = &analysis.elasticity[0];
    let sum = found.sum.as_ref().expect("every block has all");
    assert!((1.8..2.2).contains(&sum.centre.value), "{sum:?}");
    assert!(found.beyond, "{found:#?}");
}

struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("stend-elastic-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn stend(&self, words: &[&str]) -> Output {
        let mut command = Command::new(STEND);
        command.args(words).current_dir(&self.0).env("XDG_STATE_HOME", &self.0);
        command.output().expect("it starts")
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = moment::taken(|| self.stend(words));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn plan(&self, link: &str) {
        let plan = format!(
            "title = \"small\"\n[lab]\nclients = 1\n[lab.links.lan]\n{link}[factors.congestion]\n\
             levels = [\"cubic\", \"kernel\"]\n[load.it]\nworkload = \"tcp_stream\"\n[method]\n\
             blocks = 8\ndry = false\nsteady = \"noted\"\nsettle = \"400 ms\"\n\
             settle_max = \"400 ms\"\nwindow = \"500 ms\"\n"
        );
        fs::write(self.0.join("plan.toml"), plan).expect("a plan");
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Share and weight of a resource.
fn of(printed: &Value, resource: &str) -> Option<(f64, Value)> {
    let all = printed["elasticity"][0]["resources"].as_array().expect("resources");
    let one = all.iter().find(|one| one["resource"] == resource)?;
    Some((one["share"]["centre"]["value"].as_f64()?, one["weight"].clone()))
}

#[test]
fn the_door_says_the_shares_and_the_report_is_made_again_from_the_store() {
    let home = Home::new("sim");
    home.plan("");
    let physics = "[memory]\nbandwidth = \"4 GiB/s\"\n[limits]\nblend = \"shares\"\n\
                   [limits.shares]\nmemory = \"80 %\"\ncpu = \"20 %\"\n[noise]\nsd = \"0.2 %\"\n";
    fs::write(home.0.join("p.toml"), physics).expect("a physics");
    let sim = ["--lab", "sim", "--physics", "p.toml", "--store", "x.stend"];
    let words = [&["elasticity", "plan.toml", "--out", "e", "--json"], &sim[..]].concat();
    let printed = home.json(&words);
    let (memory, _) = of(&printed, "memory").expect("memory");
    assert!((memory - 0.8).abs() < NEAR, "{memory}");
    let text = fs::read_to_string(home.0.join("e/report.txt")).expect("a report");
    assert!(text.contains("memory") && text.contains("Shares of the cause"), "{text}");
    let again = ["report", "last", "--store", "x.stend", "--out", "again", "--json"];
    assert_eq!(home.json(&again)["elasticity"], printed["elasticity"]);
    assert_eq!(fs::read_to_string(home.0.join("again/report.txt")).expect("a report"), text);
    let imported = home.stend(&["import", "e/report.html", "--store", "y.stend"]);
    assert_eq!(imported.status.code(), Some(0), "{imported:?}");
    let theirs = ["report", "last", "--store", "y.stend", "--out", "theirs", "--json"];
    assert_eq!(home.json(&theirs)["elasticity"], printed["elasticity"]);
    for (word, remedy) in [("0.9", "0.02 to 0.5"), ("much", "0.02 to 0.5")] {
        let refused = home.stend(&["elasticity", "plan.toml", "--step", word]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(word) && said.contains(remedy), "{said}");
    }
}

#[test]
fn of_a_capped_link_the_link_has_the_cause_and_a_cpu_has_none() {
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: needs root");
    }
    let home = Home::new("real");
    home.plan("rate = \"100 Mbit/s\"\n");
    let words = ["elasticity", "plan.toml", "--lab", "root", "--out", "e", "--store", "x.stend"];
    let take = || {
        let printed = home.json(&[&words[..], &["--json"]].concat());
        let (link, weight) = of(&printed, "link").expect("a link with a rate");
        (printed, link, weight)
    };
    let mut taken = take();
    // On a machine that others keep busy a run may be too uncertain to say anything.
    for _ in 0..2 {
        if taken.2 == "open" {
            taken = take();
        }
    }
    let (printed, link, weight) = taken;
    assert!((0.6..1.4).contains(&link), "{link}, {weight}");
    let fixed = &printed["run"]["plan"]["method"]["elasticity"]["fixed"];
    let known = |resource: &str| {
        let all = fixed.as_array().expect("what cannot be taken down");
        all.iter().any(|one| one["resource"] == resource && one["why"] != "")
    };
    assert!(known("client rate"), "{fixed}");
    match of(&printed, "server CPU") {
        Some((share, weight)) => {
            assert!(share.abs() < 0.4, "{share}");
            assert_ne!(weight, serde_json::to_value(Weight::All).expect("a word"));
        }
        None => assert!(known("server CPU") || of(&printed, "CPU speed").is_some(), "{fixed}"),
    }
}
