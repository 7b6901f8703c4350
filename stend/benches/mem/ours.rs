//! Knows how a load of ours is staged and sampled: by the workload itself, as a plan asks for it.
//!
//! Must not know beside whom it is measured.

use super::Failed;
use desk::plan::{Catalogue, order, read};
use desk::record::{Settings, Value, WorkloadSpec};
use rig::lab::agent::Part;
use rig::lab::clock;
use rig::metal::{Sampled, Span, Together};
use serde_json::{from_value, json};

/// Of what is drawn by chance in a load.
const SEED: u64 = 7;
/// Pause before the window, in which loops run already.
const WARM_NS: u64 = 20_000_000;
/// A round is disturbed of whose samples fewer than this share are undisturbed.
const CLEAN_LEAST: f64 = 0.8;

/// Like statistic with like: what the peer prints is held against ours of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Work a second, a mean of each; beside STREAM on all CPUs, which prints its best, our mean.
    Rate,
    /// Work a second, the quickest of each, as the peer prints its best.
    Best,
    /// Seconds for each piece of work, a mean of each.
    Time,
}

/// A load of ours that stands ready.
pub struct Load {
    part: Part,
    made_with: Settings,
    /// Both CPUs of a pair of cores, of which one is timed.
    pair: Option<Vec<u32>>,
}

/// One window of it, of its undisturbed samples.
pub struct Taken {
    mean: f64,
    best: f64,
    /// CPUs on which it ran; of a pair both.
    pub cpus: Vec<u32>,
    /// Why it does not count, if it does not.
    pub disturbed: Option<String>,
}

impl Taken {
    /// In the terms of a figure.
    pub fn figure(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Rate => self.mean,
            Figure::Best => self.best,
            Figure::Time => 1.0 / self.mean,
        }
    }
}

impl Load {
    /// Stages what the lines of a plan say, on this machine, in this process.
    pub fn stage(lines: &str) -> Result<Self, Failed> {
        let text = format!(
            "title = \"bench\"\n[load.it]\n{lines}[method]\nblocks = 3\ndry = false\n\
             steady = \"noted\"\nwindow = \"1 s\"\n"
        );
        let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|w| w.spec).collect();
        let plan = read(&text, &Catalogue { workloads: &workloads, factors: &[] })?;
        let trial = order(&plan).into_iter().next().ok_or("a plan without trials")?;
        let named = |entry: &&rig::workload::Entry| entry.spec.name == trial.point.workload;
        let entry = loads::ALL.iter().find(named).ok_or("no such workload")?;
        let mut part = (entry.part)();
        let asked = json!({ "params": trial.point.params, "settings": {}, "seed": SEED });
        let told = part(json!({ "Stage": asked }))?;
        match told.get("Staged") {
            Some(made) => {
                let made_with: Settings = from_value(made["made_with"].clone())?;
                let pair = made_with.get("pairs").and_then(Value::word);
                let numbers = |word: &str| word.split('-').filter_map(|n| n.parse().ok()).collect();
                Ok(Self { pair: pair.map(numbers), made_with, part })
            }
            None => Err(told.to_string().into()),
        }
    }

    /// A word of how it is made; empty where there is none.
    pub fn word(&self, key: &str) -> &str {
        self.made_with.get(key).and_then(Value::word).unwrap_or_default()
    }

    /// Samples it for so long, and looks whether its results were right.
    pub fn measure(&mut self, window_ms: u64) -> Result<Taken, Failed> {
        let opens_ns = clock::now_ns() + WARM_NS;
        let span = Span { opens_ns, closes_ns: opens_ns + window_ms * 1_000_000 };
        let mut told = (self.part)(json!({ "Measure": span }))?;
        let together: Together = from_value(told["Measured"].take())?;
        let cpus = self
            .pair
            .clone()
            .unwrap_or_else(|| together.series.iter().filter_map(|series| series.cpu).collect());
        let mut taken = Taken { mean: 0.0, best: 0.0, cpus, disturbed: None };
        for series in &together.series {
            series.verified.clone()?;
            let clean: Vec<&Sampled> =
                series.samples.iter().filter(|s| s.taint.is_none()).collect();
            let rates: Vec<f64> = clean.iter().map(|s| s.rate()).collect();
            taken.mean += mean(&clean);
            taken.best += rates.iter().copied().fold(0.0, f64::max);
            let (good, all) = (clean.len(), series.samples.len());
            #[expect(clippy::cast_precision_loss, reason = "some hundred samples")]
            if good == 0 || (good as f64) < CLEAN_LEAST * all as f64 {
                taken.disturbed = Some(format!("{good} of {all} samples of ours undisturbed"));
            }
        }
        Ok(taken)
    }
}

/// All work of these samples a second of all their time: what a peer prints that stops one clock.
fn mean(samples: &[&Sampled]) -> f64 {
    let work: u64 = samples.iter().map(|s| s.work).sum();
    let ns: u64 = samples.iter().map(|s| s.ns).sum();
    Sampled { work, ns, taint: None }.rate()
}
