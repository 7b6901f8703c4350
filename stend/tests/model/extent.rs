//! Asks the binary for so many blocks, for a time, for a seed, and for more blocks of a run that
//! has ended, all in the simulated lab.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::record::{Completeness, Run, TrialKind};
use rig::store::Store;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const STEND: &str = env!("CARGO_BIN_EXE_stend");

const PLAN: &str = "title = \"t\"\n[lab]\nclients = 1\n[factors.congestion]\nlevels = [\"cubic\", \
                    \"bbr\"]\n[load.it]\nworkload = \"tcp_stream\"\nrequest_size = \"64K\"\n\
                    [method]\nblocks = 5\nsettle = \"0.3 s\"\nsettle_max = \"0.3 s\"\n\
                    window = \"0.8 s\"\n";

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-extent-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        fs::write(path.join("plan.toml"), PLAN).expect("a plan");
        Self(path)
    }

    fn stend(&self, words: &str) -> Output {
        let mut command = Command::new(STEND);
        command.current_dir(&self.0).env("XDG_STATE_HOME", &self.0).args(words.split(' '));
        command.output().expect("stend")
    }

    /// The run that such a command gives.
    fn run(&self, words: &str, out: &str) -> (Run, String) {
        let output = self.stend(&format!("{words} --out {out}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words}: {said}");
        let text = fs::read_to_string(self.0.join(out).join("records.json")).expect("records");
        (serde_json::from_str(&text).expect("a run"), said)
    }

    fn refused(&self, words: &str) -> String {
        let output = self.stend(words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Levels in the order in which they were visited.
fn levels(run: &Run) -> Vec<String> {
    let counted = run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
    counted.map(|r| r.trial.treatment.levels["congestion"].clone()).collect()
}

#[test]
fn every_run_has_a_seed_of_its_own_that_repeats_it() {
    let place = Place::new("seed");
    let (first, said) = place.run("run --lab sim plan.toml", "a");
    let seed = first.plan.method.seed;
    assert!(said.contains(&format!("--seed {seed}")), "{said}");
    let (other, _) = place.run("run --lab sim plan.toml", "b");
    assert_ne!(other.plan.method.seed, seed);
    assert!(first.command.contains(&format!("--seed {seed} ")), "{}", first.command);
    let (again, _) = place.run(&format!("run --seed {seed} --lab sim plan.toml"), "c");
    assert_eq!((levels(&again), again.plan.method.seed), (levels(&first), seed));
    assert_eq!(again.records, first.records, "of a simulated lab all figures too");
    for record in first.records.iter().filter(|r| r.trial.kind == TrialKind::Counted) {
        let block: Vec<u32> = first
            .records
            .iter()
            .filter(|r| r.trial.block == record.trial.block)
            .map(|r| r.trial.id)
            .collect();
        let place = block.iter().position(|id| *id == record.trial.id).unwrap() + 1;
        let read = record.reading("order", "machine", "in_block").unwrap();
        assert_eq!(read.value, place as f64, "the place in the block is a reading");
    }
}

#[test]
fn so_many_blocks_or_as_many_as_fit() {
    let place = Place::new("blocks");
    let (run, _) = place.run("run --blocks 7 --lab sim plan.toml", "a");
    assert_eq!((run.plan.method.blocks, levels(&run).len()), (7, 14));
    let (run, said) = place.run("run --time 1m --lab sim plan.toml", "b");
    let blocks = run.plan.method.blocks;
    // A block is two trials of 1.16 s.
    assert!((24..=25).contains(&blocks), "{blocks}");
    assert!(said.contains(&format!("{blocks} blocks fit in 1m")) && said.contains('×'), "{said}");
    assert!(run.command.contains(&format!("--blocks {blocks} ")), "{}", run.command);
    let said = place.refused("run --time 3s --lab sim plan.toml");
    assert!(said.contains("3 s is too short: 3 blocks"), "{said}");
    let said = place.refused("run --time 3s --blocks 5 --lab sim plan.toml");
    assert!(said.contains("cannot be used with"), "{said}");
    assert!(place.refused("run --blocks 2 --lab sim plan.toml").contains("from 3 to 1000"));
}

#[test]
fn blocks_are_added_to_a_run_that_has_ended_and_that_is_told() {
    let place = Place::new("added");
    let (before, _) = place.run("run --seed 3 --lab sim plan.toml", "a");
    assert!(place.refused("resume last").contains("nothing to resume"));
    let (after, said) = place.run("resume last --blocks +5", "b");
    assert!(
        said.contains("adding 5 blocks to 5: 10 in all") && said.contains("looks at 5, 10"),
        "{said}"
    );
    assert_eq!((after.plan.method.blocks, after.plan.method.looks.as_slice()), (10, &[5, 10][..]));
    assert_eq!(after.records[..before.records.len()], before.records[..]);
    let (whole, _) = place.run("run --seed 3 --blocks 10 --lab sim plan.toml", "c");
    assert_eq!(levels(&after), levels(&whole), "the same order as one of ten from the beginning");
    let text = fs::read_to_string(place.0.join("b/report.txt")).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Blocks were added after the run had ended with 5 blocks"), "{text}");
    let text = text.replace('\u{a0}', " ");
    assert!(text.contains("every ratio is judged at an error of 2.50 %"), "{text}");
    let id = &after.id;
    assert!(place.refused(&format!("resume {id} --blocks 10")).contains("has 10 blocks already"));
    let (more, _) = place.run(&format!("resume {id} --blocks 20"), "d");
    assert_eq!(more.plan.method.looks, [5, 10, 20]);
    let listed = place.stend("list --json").stdout;
    let listed: serde_json::Value = serde_json::from_slice(&listed).unwrap();
    let rows = listed.as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == **id).unwrap_or_else(|| panic!("{listed}"));
    assert_eq!((row["planned"].as_u64(), row["valid"].as_u64()), (Some(40), Some(40)), "{row}");
}

#[test]
fn a_gate_and_an_a_a_run_need_five_blocks_and_say_how_to_get_them() {
    let place = Place::new("few");
    for verb in ["gate", "aa"] {
        let said = place.refused(&format!("{verb} --blocks 4 --lab sim plan.toml"));
        assert!(said.contains("at least 5 blocks") && said.contains("--blocks 5"), "{said}");
    }
    let (run, _) = place.run("run --blocks 4 --lab sim plan.toml", "a");
    let said = place.refused(&format!("gate --run {}", run.id));
    assert!(said.contains(&format!("stend resume {} --blocks 5", run.id)), "{said}");
    place.run(&format!("resume {} --blocks 5", run.id), "b");
    let judged = place.stend(&format!("gate --run {}", run.id)).status.code();
    assert!(matches!(judged, Some(0 | 3 | 4)), "{judged:?}");
    let said = place.refused(&format!("gate --run {} --seed 3", run.id));
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn blocks_are_added_to_a_run_that_has_ended_only_and_in_its_own_order() {
    let place = Place::new("ended");
    let (mut run, _) = place.run("run --lab sim plan.toml", "a");
    run.records.truncate(9);
    run.completeness = Completeness::Partial { why: "stopped".into() };
    let keep = |run: &Run, file: &str| {
        let mut store = Store::open(&place.0.join(file)).expect("a store");
        store.add(&[run]).expect("a run");
    };
    keep(&run, "left.stend");
    let said = place.refused("resume last --blocks +5 --store left.stend");
    assert!(said.contains("has not ended"), "{said}");
    place.run("resume last --store left.stend", "b");
    let trials: Vec<_> = run.records.iter().map(|r| r.trial.treatment.clone()).collect();
    let last = run.records.last_mut().expect("a record");
    let other = trials.into_iter().find(|t| *t != last.trial.treatment).expect("another level");
    last.trial.treatment = other;
    keep(&run, "other.stend");
    let said = place.refused("resume last --store other.stend");
    assert!(said.contains("in another order"), "{said}");
}

#[test]
fn parts_of_a_survey_have_seeds_of_their_own() {
    let place = Place::new("survey");
    let output = place.stend("--seed 5 --lab sim --out s --json");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--seed 5 repeats them"), "{said}");
    let text = fs::read_to_string(place.0.join("s/records.json")).expect("records");
    let parts: Vec<serde_json::Value> = serde_json::from_str(&text).expect("parts");
    let seeds: std::collections::BTreeSet<u64> =
        parts.iter().filter_map(|p| p["run"]["plan"]["method"]["seed"].as_u64()).collect();
    assert_eq!((seeds.len(), parts.len()), (5, 5), "{seeds:?}");
}
