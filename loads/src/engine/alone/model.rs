//! Knows what a load of one machine does in a simulated lab: as much work as its recipe calls
//! nominal, at the pace of the scene. It goes through the same check as a real one.
//!
//! Must not know how trials are judged.

use super::check::{Evidence, check};
use super::recipe::{Order, Recipe};
use crate::engine::times::TIME;
use desk::record::{Distribution, Fault, ParamRole, QuantileSpec, Settings, Value};
use rig::lab::sim::{Scene, Spoilt};
use rig::metal::{Sampled, Series, Span, Together};
use rig::workload::{Job, Modelled};

/// Samples of one thread.
const SAMPLES: u64 = 8;
/// Different times of operations of one thread, and how far they lie from the mean, of it.
const TIMES: u64 = 1000;
const SPREAD: f64 = 0.25;

/// What a workload of this recipe does in a simulated lab.
///
/// # Errors
/// The fault that the workload's own check finds.
pub fn model(recipe: &Recipe, scene: &Scene<'_>, job: &Job<'_>) -> Result<Modelled, Fault> {
    let cores = scene.physics.machine.cores.max(1) as usize;
    let order = Order::of(job);
    let rates = (recipe.nominal)(&order, cores);
    let ns = |d: std::time::Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
    let opens_ns = scene.go_ns + ns(job.settle);
    let span = Span { opens_ns, closes_ns: opens_ns + ns(job.window) };
    let window_ns = span.closes_ns - span.opens_ns;
    let made = |(at, rate): (usize, &f64)| {
        let mut one = series(scene, (at % cores, *rate), window_ns);
        one.distributions = times(recipe, &order, rate * scene.pace, one.work);
        one
    };
    let threads: Vec<Series> = rates.iter().enumerate().map(made).collect();
    let busy = threads.len().min(cores);
    let cpu_ns = window_ns * busy as u64;
    let mut evidence = Evidence::new(order, made_with(), job.settle);
    (evidence.span, evidence.together) = (span, Together { series: threads, cpu_ns, stored: None });
    let full = |cpu| if cpu < busy { 1.0 } else { 0.0 };
    Ok(Modelled {
        checked: check(recipe, &evidence)?,
        cores: (0..cores).map(full).collect(),
        softirq: vec![0.0; cores],
        clients: Vec::new(),
    })
}

fn made_with() -> Settings {
    Settings::from([("simulated".into(), Value::Word("yes".into()))])
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "work of a sample is far below 2^53"
)]
fn series(scene: &Scene<'_>, (cpu, rate): (usize, f64), window_ns: u64) -> Series {
    let ns = (window_ns / SAMPLES).max(1);
    let still = matches!(scene.spoilt, Some(Spoilt::Still(_)));
    let work = if still { 0.0 } else { rate * scene.pace * ns as f64 / 1e9 };
    let sample = Sampled { work: work.round() as u64, ns, taint: None };
    let wrong = matches!(scene.spoilt, Some(Spoilt::Content(_)));
    Series {
        cpu: u32::try_from(cpu).ok(),
        samples: vec![sample; SAMPLES as usize],
        work: sample.work * SAMPLES,
        verified: if wrong { Err("a result is not what it has to be".into()) } else { Ok(1) },
        digest: None,
        unit_bytes: None,
        distributions: Vec::new(),
    }
}

/// Times of so many operations of a thread that does so many a second: by Little's law the mean is
/// the depth of its queue by that rate, and they spread evenly around it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of nanoseconds to seconds"
)]
fn times(recipe: &Recipe, order: &Order, rate: f64, work: u64) -> Vec<Distribution> {
    let depth = recipe.spec.params.iter().find(|param| param.role == Some(ParamRole::Depth));
    let depth = depth.map_or(1, |param| order.count(param.name).max(1));
    let mean_ns = depth as f64 * 1e9 / rate.max(1e-9);
    let timed = |quantile: &QuantileSpec| {
        let mut histogram = Distribution::empty()?;
        for step in 0..TIMES {
            let share = 1.0 - SPREAD + 2.0 * SPREAD * (step as f64 + 0.5) / TIMES as f64;
            let times = work / TIMES + u64::from(step < work % TIMES);
            histogram.saturating_record_n((mean_ns * share) as u64, times);
        }
        let empty = histogram.is_empty();
        (!empty).then(|| Distribution::new(quantile.of, TIME, &histogram))?
    };
    let mut all: Vec<Distribution> = recipe.spec.quantiles.iter().filter_map(timed).collect();
    all.dedup_by(|a, b| a.name == b.name);
    all
}
