//! Knows what a load of one machine does in a simulated lab: as much work as its recipe calls
//! nominal, at the pace of the scene. It goes through the same check as a real one.
//!
//! Must not know how trials are judged.

use super::check::{Evidence, check};
use super::recipe::{Order, Recipe};
use desk::record::{Fault, Settings, Value};
use rig::lab::sim::{Scene, Spoilt};
use rig::metal::{Sampled, Series, Span, Together};
use rig::workload::{Job, Modelled};

/// Samples of one thread.
const SAMPLES: u64 = 8;

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
    let made = |(at, rate): (usize, &f64)| series(scene, (at % cores, *rate), window_ns);
    let threads: Vec<Series> = rates.iter().enumerate().map(made).collect();
    let busy = threads.len().min(cores);
    let cpu_ns = window_ns * busy as u64;
    let mut evidence = Evidence::new(order, made_with(), job.settle);
    (evidence.span, evidence.together) = (span, Together { series: threads, cpu_ns });
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
    }
}
