//! Knows how the workload `disk` is staged and measured: by itself, as a plan asks for it.
//!
//! Must not know beside whom it is measured.

use super::Failed;
use super::cell::{Access, BYTES, Got, Place};
use desk::plan::{Catalogue, order, read};
use desk::record::{Distribution, WorkloadSpec};
use rig::lab::agent::Part;
use rig::lab::clock;
use rig::metal::{Sampled, Series, Span, Together};
use serde_json::{from_value, json};

/// Of what is drawn by chance.
const SEED: u64 = 7;
/// Time before the window in which operations are done already, nanoseconds.
const WARM_NS: u64 = 300_000_000;

/// A load that stands ready: its file is full.
pub struct Load(Part);

impl Load {
    /// Stages it in this process.
    ///
    /// # Errors
    /// What the machine lacks.
    pub fn stage(place: &Place, access: Access) -> Result<Self, Failed> {
        let text = format!(
            "title = \"bench\"\n[load.it]\nworkload = \"disk\"\ndirectory = \"{}\"\n\
             cache = \"{}\"\nfile_size = \"{BYTES} B\"\noperation = \"{}\"\npattern = \"{}\"\n\
             block_size = \"{} B\"\nqueue_depth = {}\n\
             [method]\nblocks = 3\ndry = false\nsteady = \"noted\"\nwindow = \"2 s\"\n",
            place.directory.display(),
            if place.direct { "direct" } else { "buffered" },
            if access.writes { "write" } else { "read" },
            if access.random { "random" } else { "sequential" },
            access.block,
            access.depth,
        );
        let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|w| w.spec).collect();
        let plan = read(&text, &Catalogue { workloads: &workloads, factors: &[] })?;
        let trial = order(&plan).into_iter().next().ok_or("a plan without trials")?;
        let entry = loads::ALL.iter().find(|e| e.spec.name == "disk").ok_or("no such workload")?;
        let mut part = (entry.part)();
        let asked = json!({ "params": trial.point.params, "settings": {}, "seed": SEED });
        let told = part(json!({ "Stage": asked }))?;
        told.get("Staged").ok_or_else(|| told.to_string())?;
        Ok(Self(part))
    }

    /// Measures it for so long, and looks whether each block was right; with the CPU that it is on.
    ///
    /// # Errors
    /// A wrong block, or no operation.
    pub fn measure(&mut self, window_ns: u64) -> Result<(Got, u32), Failed> {
        let opens_ns = clock::now_ns() + WARM_NS;
        let span = Span { opens_ns, closes_ns: opens_ns + window_ns };
        let mut told = (self.0)(json!({ "Measure": span }))?;
        let Together { series, cpu_ns, .. } = from_value(told["Measured"].take())?;
        let [Series { samples, verified, distributions, cpu: Some(cpu), .. }] = series.as_slice()
        else {
            return Err("not one pinned thread".into());
        };
        verified.clone()?;
        let (work, ns) = samples.iter().fold((0, 0), |(w, n), s| (w + s.work, n + s.ns));
        let rate = Sampled { work, ns, taint: None }.rate();
        let times = distributions.first().ok_or("nothing was timed")?;
        let at = |q: f64| Distribution::quantile(times, q).ok_or("nothing was timed");
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let used = cpu_ns as f64 / window_ns as f64;
        Ok((Got { rate, cost: used / rate, p50: at(0.5)?, p99: at(0.99)? }, *cpu))
    }
}
