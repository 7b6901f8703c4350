//! Knows what must come out where a factor needs a reboot and every boot has a state of its own.

use super::*;
use crate::plan::order;
use crate::record::{Replicate, Trial, TrialKind};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::BTreeMap;

/// A run with boots: `path` (`onboard`, `pro1000`) crossed with `offload`.
#[derive(Clone)]
struct Booted {
    /// The factor that needs them.
    reboot: &'static str,
    compare: &'static str,
    boots: u32,
    blocks: u32,
    sizes: Vec<u64>,
    /// True multiplier of a treatment: path, offload.
    truth: fn(&str, &str) -> f64,
    /// Standard deviations of the log: of a boot, of a trial.
    sd: [f64; 2],
    seed: u64,
}

impl Default for Booted {
    fn default() -> Self {
        Self {
            reboot: "path",
            compare: "path",
            boots: 5,
            blocks: 6,
            sizes: vec![1024],
            truth: |_, _| 1.0,
            sd: [0.02, 0.01],
            seed: 1,
        }
    }
}

impl Booted {
    fn run(&self) -> Run {
        let offloads = if self.compare == "path" { vec!["on"] } else { vec!["on", "off"] };
        let (blocks, sizes, seed) = (self.blocks, self.sizes.clone(), self.seed);
        let mut run = Simulated { blocks, sizes, seed, offloads, ..Simulated::default() }.run();
        let like = run.records[0].clone();
        for factor in &mut run.plan.factors {
            factor.reboot = factor.name == self.reboot;
        }
        (run.plan.method.boots, run.plan.method.compare) = (self.boots, self.compare.into());
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut normal = |sd: f64| sd * Normal::standard().inverse_cdf(rng.random_range(1e-9..1.0));
        let mut states = BTreeMap::new();
        run.records.clear();
        for trial in order(&run.plan) {
            let state = *states.entry(trial.boot).or_insert_with(|| normal(self.sd[0]));
            let value = self.value(&trial) * (state + normal(self.sd[1])).exp();
            let mut record = TrialRecord { trial, ..like.clone() };
            record.outcome.samples[0].quantity.value = value;
            run.records.push(record);
        }
        run
    }

    /// Far off in a dry visit, so that it shows if it is ever counted.
    fn value(&self, trial: &Trial) -> f64 {
        let level = |factor: &str| trial.treatment.levels[factor].as_str();
        let dry = if trial.kind == TrialKind::Dry { 0.1 } else { 1.0 };
        1e9 * dry * (self.truth)(level("path"), level("offload"))
    }

    /// Per cent of runs in which something holds of their first comparison.
    fn per_cent(&self, runs: u32, holds: impl Fn(&Comparison) -> bool) -> f64 {
        let hits = (0..runs).filter(|seed| {
            let run = Self { seed: u64::from(*seed), ..self.clone() }.run();
            holds(&analyse(&run).comparisons[0])
        });
        100.0 * hits.count() as f64 / f64::from(runs)
    }
}

/// The log of the figure of every counted trial of a boot at a level, by round.
fn logs(run: &Run, level: &str) -> BTreeMap<u32, Vec<f64>> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let counted = run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
    for record in counted.filter(|r| path(r) == level) {
        let value = record.outcome.samples[0].quantity.value;
        rounds.entry(record.trial.round).or_default().push(value.ln());
    }
    rounds
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_ratio_is_that_of_boot_means_by_round_and_n_counts_boots() {
    let run =
        Booted { truth: |path, _| if path == "pro1000" { 1.1 } else { 1.0 }, ..Booted::default() };
    let run = run.run();
    let analysis = analyse(&run);
    let comparison = only(&analysis);
    let (base, other) = (logs(&run, "onboard"), logs(&run, "pro1000"));
    let rounds: Vec<f64> = base.iter().map(|(r, base)| mean(&other[r]) - mean(base)).collect();
    assert_eq!((rounds.len(), comparison.overall.n, comparison.left_out), (5, 5, 0));
    close(comparison.overall.centre.value, mean(&rounds).exp(), 1e-12);
    assert_eq!(comparison.overall.method, EstimateMethod::PairedLogT);
    assert_eq!(run.plan.replicate(), Replicate::Boot);
    let means: Vec<f64> = comparison.points[0].base_runs.iter().map(|q| q.value).collect();
    assert_eq!(means.len(), 5);
    close(means[2], mean(&base[&3]).exp(), 1e-12);
}

#[test]
fn equal_levels_are_called_different_in_one_run_of_twenty_however_boots_differ() {
    let few = Booted { boots: 3, blocks: 10, ..Booted::default() };
    assert_eq!(few.per_cent(100, |c| differs(c.verdict)), 0.0, "3 boots have no verdict");
    for (boots, blocks, sizes) in [(5, 6, vec![1024]), (10, 3, vec![64, 1024])] {
        let equal = Booted { boots, blocks, sizes, ..Booted::default() };
        let alarms = equal.per_cent(600, |c| differs(c.verdict));
        println!("{boots} boots of {blocks}: {alarms} %");
        // Standard deviation of a share of 600 at 5 %: 0.9 %.
        assert!((2.2..=7.8).contains(&alarms), "{boots} boots of {blocks}: {alarms} %");
    }
}

#[test]
fn a_factor_that_is_switched_inside_a_boot_is_paired_in_its_blocks() {
    let inside = Booted { compare: "offload", boots: 3, blocks: 4, ..Booted::default() };
    let analysis = analyse(&inside.run());
    assert_eq!(analysis.comparisons.len(), 2, "one under each level that needs boots");
    assert!(analysis.comparisons.iter().all(|c| c.overall.n == 12 && c.left_out == 0));
    let alarms = inside.per_cent(600, |c| differs(c.verdict));
    assert!((2.2..=7.8).contains(&alarms), "{alarms} %");
    // Boots that differ by 30 % leave the effect inside them as sharp as it was.
    let rough =
        Booted { sd: [0.3, 0.01], truth: |_, o| if o == "off" { 1.03 } else { 1.0 }, ..inside };
    assert!(rough.per_cent(200, |c| c.verdict == Verdict::Better) >= 95.0);
}

#[test]
fn what_depends_on_two_boots_is_judged_by_rounds() {
    let truth = |path: &str, offload: &str| match (path, offload) {
        ("pro1000", "off") => 1.2,
        _ => 1.0,
    };
    let inside = Booted { compare: "offload", boots: 6, truth, ..Booted::default() };
    let analysis = analyse(&inside.run());
    let [one] = &analysis.interactions[..] else { panic!("{:?}", analysis.interactions) };
    assert_eq!((one.by.as_str(), one.difference.n, one.verdict), ("path", 6, Verdict::Better));
    close(one.difference.centre.value, 1.2, 0.01);
    let [index] = &analysis.indexes[..] else { panic!("{:?}", analysis.indexes) };
    assert_eq!((index.ratio.n, index.over.len()), (6, 2));
    close(index.ratio.centre.value, 1.2_f64.sqrt(), 0.01);
    let rounds: Vec<(&str, u32)> =
        analysis.others.iter().map(|c| (c.factor.as_str(), c.overall.n)).collect();
    assert_eq!(rounds, [("path", 6), ("path", 6)], "the factor that is crossed has its boots, too");
    let boots = Booted { compare: "path", reboot: "path", boots: 4, ..inside };
    assert_eq!(boots.run().plan.replicate_of(&["offload"]), Replicate::Block);
}

#[test]
fn a_broken_trial_leaves_its_boot_the_others() {
    let mut run = Booted { boots: 3, ..Booted::default() }.run();
    let counted = |r: &&mut TrialRecord| r.trial.kind == TrialKind::Counted;
    let broken = run.records.iter_mut().find(counted).unwrap();
    broken.outcome = Outcome::faulty(Fault::DeadHost { host: "c01".into() });
    let analysis = analyse(&run);
    assert_eq!((only(&analysis).overall.n, only(&analysis).left_out), (3, 1));
    for record in run.records.iter_mut().filter(|r| r.trial.boot == 1) {
        record.outcome = Outcome::faulty(Fault::DeadHost { host: "c01".into() });
    }
    let analysis = analyse(&run);
    assert_eq!((only(&analysis).overall.n, only(&analysis).left_out), (2, 12));
}

#[test]
fn few_boots_say_which_effect_they_would_see() {
    let sd = [0.1, 0.01];
    let few = analyse(&Booted { boots: 3, blocks: 20, sd, ..Booted::default() }.run());
    let found = few.caveats.iter().find_map(|caveat| match caveat {
        Caveat::FewBlocks { blocks, smallest } => Some((blocks.value, smallest.centre.value)),
        _ => None,
    });
    let (boots, smallest) = found.unwrap();
    assert!(boots == 3.0 && smallest > 1.05, "{boots} {smallest}");
}

#[test]
fn runs_with_boots_are_set_side_by_side_by_the_means_of_their_boots() {
    let session = |seed| Booted { boots: 3, seed, ..Booted::default() }.run();
    let found =
        super::super::compare_runs(&session(1), &session(2), super::super::Wanted::default());
    let found = found.unwrap();
    assert_eq!(found.comparisons.len(), 2);
    for comparison in &found.comparisons {
        let point = &comparison.points[0];
        assert_eq!((point.base_runs.len(), point.other_runs.len(), comparison.left_out), (3, 3, 0));
    }
}
