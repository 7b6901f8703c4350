//! Knows the visit in which a machine is left idle: the window of a trial without its load, as a
//! real lab and a simulated one have it.
//!
//! Must not know what is read at its edges.

use crate::lab::{Lab, LabError, clock};
use crate::workload::{Checked, Edge, Edges, Job, Workload};
use desk::record::{Fault, Outcome, Plan, Trial, Window};
use desk::unit::Quantity;
use std::time::Duration;

/// How far ahead the window is announced beside the time that a load settles, nanoseconds.
const AHEAD_NS: u64 = 1_000_000;

/// A window without a load. Nothing is staged, so that nothing waits either.
#[derive(Default)]
pub struct Idle {
    settle: Duration,
    window: Duration,
    seen: Window,
}

impl Idle {
    /// Whether a trial of the plan is one.
    pub fn is(plan: &Plan, trial: &Trial) -> bool {
        plan.load(&trial.point.load).is_some_and(|load| load.is_idle(&trial.point.params))
    }

    /// What a trial that goes at this moment of a simulated clock gives.
    pub fn simulated(job: &Job<'_>, go_ns: u64) -> Checked {
        let mut idle = Self { settle: job.settle, window: job.window, seen: Window::default() };
        idle.seen = idle.ahead_of(go_ns);
        idle.checked()
    }

    fn ahead_of(&self, now_ns: u64) -> Window {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let opened_ns = now_ns + AHEAD_NS + nanoseconds(self.settle);
        Window { opened_ns, closed_ns: opened_ns + nanoseconds(self.window) }
    }

    fn watch(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), LabError> {
        self.seen = self.ahead_of(clock::now_ns());
        edges(lab, Edge::Opens(self.seen.opened_ns))?;
        edges(lab, Edge::Closes(self.seen.closed_ns))
    }

    fn checked(&self) -> Checked {
        let settle = Some(Quantity::seconds(self.settle.as_secs_f64()));
        // No work is as even as can be.
        let outcome = Outcome { window: self.seen, steady: true, settle, ..Outcome::default() };
        Checked { outcome, readings: Vec::new() }
    }
}

impl Workload for Idle {
    fn stage(&mut self, _: &mut Lab, job: &Job) -> Result<(), Fault> {
        (self.settle, self.window) = (job.settle, job.window);
        Ok(())
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        self.watch(lab, edges).map_err(LabError::into_fault)
    }

    fn check(&self) -> Result<Checked, Fault> {
        Ok(self.checked())
    }
}
