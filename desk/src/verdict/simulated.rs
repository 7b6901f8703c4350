//! Knows how to make a run whose truth is planted; for tests only.

use crate::plan::THROTTLED;
use crate::record::{
    Better, Completeness, Distribution, Environment, FactorPlan, Fixed, LabPlan, Level, LinkPlan,
    LoadPlan, LoadPoint, Method, Metric, MetricRole, Outcome, ParamRole, Plan, Quantile,
    RUN_SCHEMA, Run, Sample, Settings, Throttle, Throttling, Treatment, Trial, TrialKind,
    TrialRecord, Value,
};
use crate::unit::{Quantity, Unit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::BTreeMap;

/// Other level over baseline at a cell.
pub type Truth = fn(Cell) -> f64;

/// The rungs of a simulated ladder.
pub const RUNGS: [&str; 5] = ["as it is", "sink", "source", "copy", "frames"];

/// Where a trial stands apart from its path.
#[derive(Clone, Copy)]
pub struct Cell {
    /// Value of the parameter `direction`.
    pub direction: &'static str,
    /// Level of the second factor.
    pub offload: &'static str,
    /// Request size, bytes.
    pub size: u64,
}

/// What a simulated run is made of: two links `onboard` and `pro1000`, compared by `path`.
#[derive(Clone)]
pub struct Simulated {
    /// Blocks.
    pub blocks: u32,
    /// Values of the parameter `direction`.
    pub directions: Vec<&'static str>,
    /// Levels of a second factor.
    pub offloads: Vec<&'static str>,
    /// Points of the curve; a single one makes no curve.
    pub sizes: Vec<u64>,
    /// True ratio pro1000 / onboard.
    pub truth: Truth,
    /// Standard deviation of the log of every trial; the whole block moves by ten times that.
    pub noise: f64,
    /// Which way of the metric is better.
    pub better: Better,
    /// Seed of the noise.
    pub seed: u64,
}

impl Default for Simulated {
    fn default() -> Self {
        Self {
            blocks: 5,
            directions: vec!["transmit"],
            offloads: vec!["on"],
            sizes: vec![1024],
            truth: |_| 1.0,
            noise: 0.01,
            better: Better::Higher,
            seed: 1,
        }
    }
}

impl Simulated {
    /// The run, every trial of it valid.
    pub fn run(&self) -> Run {
        Run {
            schema: RUN_SCHEMA,
            id: "simulated".into(),
            started: "2026-01-01T00:00:00Z".into(),
            version: "0".into(),
            command: String::new(),
            plan: self.plan(),
            plan_text: String::new(),
            metrics: vec![Metric {
                name: "throughput".into(),
                title: "throughput".into(),
                role: MetricRole::Rate,
                quantile: None,
                unit: Unit::BitPerSecond,
                better: self.better,
                workload: None,
            }],
            workloads: [("tcp_stream".to_owned(), 1)].into(),
            environments: Run::of_local(Environment::default()),
            records: self.records(),
            completeness: Completeness::Complete,
            sittings: Vec::new(),
            digits: None,
        }
    }

    /// The same run with a second load of the system under test alone, `reach`, which goes by a
    /// latency of as many nanoseconds as the first has gigabits a second.
    pub fn with_latency(&self) -> Run {
        let mut run = self.run();
        let mut load = run.plan.loads[0].clone();
        (load.name, load.workload) = ("reach".into(), "mem_latency".into());
        (load.primary, load.alone) = (Some("latency".into()), true);
        run.plan.loads.push(load);
        run.metrics.push(Metric {
            name: "latency".into(),
            title: "latency".into(),
            role: MetricRole::Latency,
            quantile: None,
            unit: Unit::Second,
            better: Better::Lower,
            workload: None,
        });
        let reach = |record: &TrialRecord| {
            let mut record = record.clone();
            record.trial.point.load = "reach".into();
            record.trial.point.workload = "mem_latency".into();
            for sample in &mut record.outcome.samples {
                sample.metric = "latency".into();
                sample.quantity = Quantity::seconds(sample.quantity.value * 1e-18);
            }
            record
        };
        let second: Vec<TrialRecord> = run.records.iter().map(reach).collect();
        run.records.extend(second);
        run
    }

    /// The same run as one of a plan that compares nothing, on its first link.
    pub fn only_measuring(&self) -> Run {
        let mut run = self.run();
        run.plan.factors.clear();
        run.records.retain(|r| r.trial.treatment.levels["path"] == "onboard");
        for record in &mut run.records {
            record.trial.treatment.levels.clear();
            record.trial.settings.clear();
        }
        run
    }

    /// The same run as one in which the path is a resource that is taken down by 15 %, and another
    /// cannot be.
    pub fn taken_down(&self) -> Run {
        let mut run = self.run();
        let share = |share| Value::Quantity(Quantity::new(share, Unit::Share));
        let names = |level: &str| if level == "onboard" { "as is" } else { "CPU" }.to_owned();
        let factor = &mut run.plan.factors[0];
        factor.name = THROTTLED.into();
        for level in &mut factor.levels {
            level.name = names(&level.name);
        }
        for record in &mut run.records {
            let levels = &mut record.trial.treatment.levels;
            if let Some(level) = levels.remove("path") {
                levels.insert(THROTTLED.into(), names(&level));
            }
        }
        let (resource, key) = ("CPU".into(), "cpu_speed".into());
        let throttle = Throttle { resource, key, full: share(1.0), down: share(0.85) };
        let fixed = Fixed { resource: "link".into(), why: "it has no rate".into() };
        run.plan.method.compare = THROTTLED.into();
        run.plan.method.elasticity = Some(Throttling {
            step: Quantity::new(0.15, Unit::Share),
            throttles: vec![throttle],
            fixed: vec![fixed],
        });
        run
    }

    /// A run over the ladder [`RUNGS`] in place of the links, the truth by the offload of a cell.
    /// Each rung switches the setting of its own name.
    pub fn climbed(&self) -> Run {
        let mut run = Self { offloads: RUNGS.to_vec(), ..self.clone() }.run();
        run.records.retain(|record| record.trial.treatment.levels["path"] == "pro1000");
        let level = |at: usize| {
            let part = |of: usize| (RUNGS[of].into(), word(if of <= at { "out" } else { "in" }));
            Level { name: RUNGS[at].into(), settings: (1..RUNGS.len()).map(part).collect() }
        };
        let levels = (0..RUNGS.len()).map(level).collect();
        run.plan.factors = vec![FactorPlan { ladder: true, ..FactorPlan::new("offload", levels) }];
        run.plan.method.compare = "offload".into();
        for record in &mut run.records {
            record.trial.treatment.levels.remove("path");
        }
        run
    }

    fn plan(&self) -> Plan {
        let words = |words: &[&str]| words.iter().map(|w| word(w)).collect();
        let mut over = vec![("direction".into(), words(&self.directions))];
        if self.sizes.len() > 1 {
            over.push(("size".into(), self.sizes.iter().map(|s| size(*s)).collect()));
        }
        let links = ["onboard", "pro1000"];
        Plan {
            title: String::new(),
            question: String::new(),
            lab: LabPlan {
                clients: 1,
                links: links.iter().map(|l| LinkPlan::of_all(l)).collect(),
                ..LabPlan::default()
            },
            factors: vec![factor("path", &links), factor("offload", &self.offloads)],
            loads: vec![LoadPlan {
                name: "net".into(),
                workload: "tcp_stream".into(),
                fixed: Settings::new(),
                over,
                primary: None,
                search: None,
                roles: roles(),
                derives: Vec::new(),
                alone: false,
            }],
            method: self.method(),
            published: None,
            reclass: BTreeMap::new(),
            facts: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn method(&self) -> Method {
        Method {
            blocks: self.blocks,
            dry: true,
            settle: Quantity::seconds(0.1),
            settle_max: Quantity::seconds(1.0),
            window: Quantity::seconds(1.0),
            seed: self.seed,
            primary: "throughput".into(),
            compare: "path".into(),
            margin: Quantity::new(0.02, Unit::Share),
            curve: (self.sizes.len() > 1).then(|| "size".into()),
            looks: Vec::new(),
            steady: crate::record::SteadyRule::Noted,
            displaced_work: false,
            boots: 0,
            boot_time: None,
            elasticity: None,
            primary_comparison: None,
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &direction in &self.directions {
            for &offload in &self.offloads {
                for &size in &self.sizes {
                    cells.push(Cell { direction, offload, size });
                }
            }
        }
        cells
    }

    fn records(&self) -> Vec<TrialRecord> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let (normal, sd) = (Normal::standard(), self.noise.max(1e-12));
        let mut draw = || sd * normal.inverse_cdf(rng.random_range(1e-9..1.0));
        let mut records = Vec::new();
        for block in 0..=self.blocks {
            let drift = 10.0 * draw();
            for cell in self.cells() {
                for path in ["onboard", "pro1000"] {
                    let truth = if path == "pro1000" { (self.truth)(cell) } else { 1.0 };
                    // The dry visit is far off, so that it shows if it is ever counted.
                    let dry = if block == 0 { 0.1 } else { 1.0 };
                    let value = 1e9 * dry * truth * (drift + draw()).exp();
                    records.push(record(block, cell, path, value));
                }
            }
        }
        records
    }
}

fn record(block: u32, cell: Cell, path: &str, value: f64) -> TrialRecord {
    let levels = [("path", path), ("offload", cell.offload)];
    let levels: BTreeMap<String, String> =
        levels.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let trial = Trial {
        id: 0,
        block,
        boot: 0,
        round: 0,
        point_index: 0,
        point: LoadPoint {
            load: "net".into(),
            workload: "tcp_stream".into(),
            params: [("direction", word(cell.direction)), ("size", size(cell.size))]
                .map(|(k, v)| (k.to_string(), v))
                .into(),
        },
        settings: levels.iter().map(|(k, v)| (k.clone(), word(v))).collect(),
        treatment: Treatment { levels },
        seed: 0,
        kind: if block == 0 { TrialKind::Dry } else { TrialKind::Counted },
        search: None,
    };
    let quantity = Quantity::new(value, Unit::BitPerSecond);
    let samples = vec![Sample { metric: "throughput".into(), quantity }];
    TrialRecord {
        trial,
        observed: Settings::new(),
        outcome: Outcome { samples, steady: true, ..Outcome::default() },
        readings: Vec::new(),
        tracks: Vec::new(),
        started_s: 0.0,
        attempt: 1,
    }
}

/// The same run as one that is judged by a quantile, `at` (0-1), of as many response times a trial.
/// They are log-normal around as many nanoseconds as the throughput has kbit/s.
#[must_use]
pub fn with_response(mut run: Run, at: f64, count: u32) -> Run {
    run.plan.method.primary = "tail".into();
    run.metrics = vec![Metric {
        name: "tail".into(),
        title: "tail of response".into(),
        role: MetricRole::Latency,
        quantile: Some(Quantile { of: "response".into(), at }),
        unit: Unit::Second,
        better: Better::Lower,
        workload: None,
    }];
    let mut rng = ChaCha8Rng::seed_from_u64(run.plan.method.seed);
    for record in &mut run.records {
        let middle = record.outcome.samples.drain(..).map(|s| s.quantity.value / 1e3).sum();
        record.outcome.distributions = responses((middle, count), &mut rng).into_iter().collect();
    }
    run
}

fn responses((middle, count): (f64, u32), rng: &mut ChaCha8Rng) -> Option<Distribution> {
    let mut all = Distribution::empty()?;
    for _ in 0..count {
        let draw = 0.3 * Normal::standard().inverse_cdf(rng.random_range(1e-9..1.0));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below")]
        all.saturating_record((middle * draw.exp()) as u64);
    }
    Distribution::new("response", (Unit::Second, 1e-9), &all)
}

fn factor(name: &str, levels: &[&str]) -> FactorPlan {
    let level = |l: &&str| Level { name: (*l).into(), settings: [(name.into(), word(l))].into() };
    FactorPlan::new(name, levels.iter().map(level).collect())
}

/// Which parameters of the load have a role.
pub fn roles() -> BTreeMap<ParamRole, String> {
    [
        (ParamRole::Offered, "offered_load".to_owned()),
        (ParamRole::Size, "size".to_owned()),
        (ParamRole::Direction, "direction".to_owned()),
        (ParamRole::Concurrency, "streams".to_owned()),
        (ParamRole::Depth, "queue_depth".to_owned()),
        (ParamRole::Engine, "engine".to_owned()),
    ]
    .into()
}

/// A word as a value.
pub fn word(text: &str) -> Value {
    Value::Word(text.into())
}

/// Bytes as a value.
pub fn size(bytes: u64) -> Value {
    Value::Quantity(Quantity::bytes(bytes))
}
