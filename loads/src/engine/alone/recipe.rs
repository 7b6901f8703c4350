//! Knows what a workload of one machine has to say of itself.

use desk::record::{Fault, Sample, Settings, Trial, Value, WorkloadSpec};
use desk::stats::median;
use rig::metal::{Member, PageSize, Series, Unready};
use rig::workload::Job;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// All that makes one workload of the machine differ from another.
#[derive(Clone, Copy)]
pub struct Recipe {
    /// What it is, as data.
    pub spec: &'static WorkloadSpec,
    /// On the host, before anything is timed: what each thread will do, and how the load is made.
    ///
    /// # Errors
    /// What the machine lacks, or what did not work.
    pub ready: fn(&Order) -> Result<Ready, Unready>,
    /// From undisturbed samples to figures, in the metrics of the spec. Pure.
    ///
    /// # Errors
    /// What was not done as asked.
    pub figures: fn(&Order, &Taken) -> Result<Vec<Sample>, Fault>,
    /// Work of each thread in a second in a simulated lab with so many CPUs.
    pub nominal: fn(&Order, usize) -> Vec<f64>,
    /// Longest time that the host may take until the load stands ready.
    pub staging: fn(&Order) -> Duration,
    /// How the bytes of its operations go to storage; none of a load without such.
    pub storing: fn(&Order) -> Option<Storing>,
}

/// How the bytes of operations go to storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storing {
    /// They ask to go past the page cache.
    pub direct: bool,
    /// What the kernel counts as written to a block device in the window is written there, and
    /// does not only make pages dirty.
    pub writes: bool,
    /// A thread of the kernel spins for the load, so that its CPU time tells no wait.
    pub spins: bool,
}

/// What is asked of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Every parameter of the workload.
    pub params: Settings,
    /// What the levels of the trial and the plan set: factor key to value.
    pub settings: Settings,
    /// Seed of everything that is drawn by chance.
    pub seed: u64,
}

impl Order {
    /// Of a job.
    #[must_use]
    pub fn of(job: &Job<'_>) -> Self {
        let Trial { point, seed, .. } = job.trial;
        Self { params: point.params.clone(), settings: job.settings.clone(), seed: *seed }
    }

    /// The pages of its memory, by the parameter `pages`.
    #[must_use]
    pub fn pages(&self) -> PageSize {
        match self.word("pages") {
            "base" => PageSize::Base,
            "own" => PageSize::Own,
            _ => PageSize::Huge,
        }
    }

    /// Those of these parameters that the workload has, as they were asked for. A load tells them
    /// in what it was made with, where the level of a factor of that name is read back (decision
    /// 0035).
    #[must_use]
    pub fn words(&self, names: &[&str]) -> Settings {
        let asked = |name: &&str| Some(((*name).to_owned(), self.params.get(*name)?.clone()));
        names.iter().filter_map(asked).collect()
    }

    /// The word of a parameter; empty where it is none.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.params.get(name).and_then(Value::word).unwrap_or_default()
    }

    /// The count of a parameter; 0 where it is none.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.params.get(name).and_then(Value::count).unwrap_or_default()
    }

    /// The value of a parameter that is a quantity, in its base unit; none where it is a word.
    #[must_use]
    pub fn quantity(&self, name: &str) -> Option<f64> {
        self.params.get(name).and_then(Value::quantity).map(|quantity| quantity.value)
    }
}

/// A load that stands ready to be made.
pub struct Ready {
    /// Its threads.
    pub members: Vec<Member>,
    /// How it is made, as it really is: sizes in bytes, instruction set, engine and version.
    pub made_with: Settings,
}

/// What a load gave: undisturbed samples only.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// One of each thread, each with at least one sample.
    pub series: Vec<Series>,
    /// How it was made.
    pub made_with: Settings,
}

impl Taken {
    /// Work a second of all threads together: the sum of the median of each.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.series.iter().map(middle).sum()
    }

    /// Work a second of the quickest sample of each thread, together: what the hardware can do.
    #[must_use]
    pub fn best(&self) -> f64 {
        self.series.iter().map(|series| rates(series).into_iter().fold(0.0, f64::max)).sum()
    }

    /// Work a second of each thread, the median of its samples.
    #[must_use]
    pub fn per_thread(&self) -> Vec<f64> {
        self.series.iter().map(middle).collect()
    }

    /// A word of how it was made.
    #[must_use]
    pub fn word(&self, key: &str) -> &str {
        self.made_with.get(key).and_then(Value::word).unwrap_or_default()
    }
}

/// Work a second of each sample.
fn rates(series: &Series) -> Vec<f64> {
    series.samples.iter().map(rig::metal::Sampled::rate).collect()
}

/// Their median; 0 of none.
fn middle(series: &Series) -> f64 {
    median(&rates(series)).unwrap_or(0.0)
}
