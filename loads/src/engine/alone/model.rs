//! Knows what a load of one machine does in a simulated lab: as much work as its recipe calls
//! nominal, at the pace of the scene. It goes through the same check as a real one.
//!
//! Must not know how trials are judged.

use super::check::{Evidence, check};
use super::recipe::{Order, Recipe};
use crate::engine::pace::offered;
use crate::engine::times::stored;
use desk::record::{Distribution, Fault, ParamRole, Settings, Value};
use rig::lab::sim::{Scene, Spoilt};
use rig::metal::{Paced, Sampled, Series, Span, Together};
use rig::workload::{Job, Modelled};

/// Samples of one thread.
const SAMPLES: u64 = 8;
/// Different times of operations of one thread, and how far they lie from the mean, of it.
const TIMES: u64 = 1000;
const SPREAD: f64 = 0.25;
/// Of what a thread can do, the most by which a set rate makes its operations wait.
const USED: f64 = 0.99;

/// What a workload of this recipe does in a simulated lab.
///
/// # Errors
/// The fault that the workload's own check finds.
pub fn model(recipe: &Recipe, scene: &Scene<'_>, job: &Job<'_>) -> Result<Modelled, Fault> {
    let cores = scene.physics.machine.cores.max(1) as usize;
    let order = Order::of(job);
    let most = (recipe.nominal)(&order, cores);
    let ns = |d: std::time::Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
    let opens_ns = scene.go_ns + ns(job.settle);
    let span = Span { opens_ns, closes_ns: opens_ns + ns(job.window) };
    let window_ns = span.closes_ns - span.opens_ns;
    let set = offered(&order.params).map(|rate| rate / most.len().max(1) as f64);
    let made = |(at, most): (usize, &f64)| {
        let rate = set.map_or(*most, |set| set.min(most * scene.pace) / scene.pace);
        let mut one = series(scene, (at % cores, rate), window_ns);
        let waits = set.map_or(1.0, |_| 1.0 / (1.0 - (rate / most).min(USED)));
        let timed = times(recipe, &order, most * scene.pace / waits, one.work);
        one.distributions = timed.into_iter().collect();
        one.paced = set.map(|_| Paced { due: one.work, ..Paced::default() });
        one
    };
    let threads: Vec<Series> = most.iter().enumerate().map(made).collect();
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
        paced: None,
        unit_bytes: None,
        distributions: Vec::new(),
    }
}

/// Times of so many operations of a thread that can do so many a second: by Little's law the mean
/// is the depth of its queue by that rate, and they spread evenly around it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of nanoseconds to seconds"
)]
fn times(recipe: &Recipe, order: &Order, rate: f64, work: u64) -> Option<Distribution> {
    let quantile = recipe.spec.quantiles.iter().find(|quantile| quantile.always)?;
    let depth = recipe.spec.params.iter().find(|param| param.role == Some(ParamRole::Depth));
    let depth = depth.map_or(1, |param| order.count(param.name).max(1));
    let mean_ns = depth as f64 * 1e9 / rate.max(1e-9);
    let mut histogram = Distribution::empty()?;
    for step in 0..TIMES {
        let share = 1.0 - SPREAD + 2.0 * SPREAD * (step as f64 + 0.5) / TIMES as f64;
        let times = work / TIMES + u64::from(step < work % TIMES);
        histogram.saturating_record_n((mean_ns * share) as u64, times);
    }
    stored(quantile.of, &histogram)
}
