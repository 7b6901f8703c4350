//! Knows the conductor's side of every load of one machine: stage, warm up, window.
//!
//! Must not know factors or probes; it announces the edges of the window and no more.

use super::check::{Evidence, check};
use super::part::{Ask, Told};
use super::recipe::{Order, Recipe};
use desk::record::Fault;
use rig::lab::wire::{Answer, Request};
use rig::lab::{Lab, LabError, SUT, clock};
use rig::metal::{Span, Unready};
use rig::workload::{Checked, Edge, Edges, Job, Workload};
use std::time::Duration;

/// How far ahead the window is announced beside the time that a load warms up, nanoseconds.
const AHEAD_NS: u64 = 1_000_000;
/// Longest wait for memory to be mapped and written, and for what a loop still does after the
/// window.
pub const SOON: Duration = Duration::from_secs(30);

/// The conductor's side of a workload of one machine.
pub struct Alone {
    recipe: &'static Recipe,
    evidence: Option<Evidence>,
    settle: Duration,
    window: Duration,
}

impl Alone {
    /// Nothing is staged yet.
    #[must_use]
    pub const fn new(recipe: &'static Recipe) -> Self {
        Self { recipe, evidence: None, settle: Duration::ZERO, window: Duration::ZERO }
    }

    fn ask(&self, ask: &Ask) -> Result<Vec<(usize, Request)>, LabError> {
        let body = serde_json::to_value(ask)
            .map_err(|e| LabError::Wire { host: "conductor".into(), source: e.into() })?;
        Ok(vec![(SUT, Request::Work { workload: self.recipe.spec.name.into(), body })])
    }

    fn measure(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(Span, Told), LabError> {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let opens_ns = clock::now_ns() + AHEAD_NS + nanoseconds(self.settle);
        let span = Span { opens_ns, closes_ns: opens_ns + nanoseconds(self.window) };
        let theirs = |ours_ns| lab.on_clock_of(SUT, ours_ns);
        let (opens_ns, closes_ns) = (theirs(span.opens_ns), theirs(span.closes_ns));
        let asked = self.ask(&Ask::Measure(Span { opens_ns, closes_ns }))?;
        lab.send(&asked)?;
        edges(lab, Edge::Opens(span.opens_ns))?;
        edges(lab, Edge::Closes(span.closes_ns))?;
        let answers = lab.receive(&asked, SOON)?;
        Ok((span, told(lab, answers)?))
    }
}

impl Workload for Alone {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        (self.settle, self.window) = (job.settle, job.window);
        let order = Order::of(job);
        let asked = self.ask(&Ask::Stage(order.clone())).map_err(LabError::into_fault)?;
        let longest = (self.recipe.staging)(&order);
        let answers = lab.ask(&asked, longest).map_err(LabError::into_fault)?;
        match told(lab, answers).map_err(LabError::into_fault)? {
            Told::Staged { made_with, least_ns } => {
                self.window = self.window.max(Duration::from_nanos(least_ns));
                self.evidence = Some(Evidence::new(order, made_with, job.settle));
                Ok(())
            }
            Told::Unready(Unready::NotAvailable(what)) => Err(Fault::NotAvailable { what }),
            Told::Unready(Unready::Disturbed(what)) => {
                Err(Fault::Disturbed { host: lab.name(SUT).into(), what })
            }
            Told::Unready(Unready::Failed(what)) => {
                Err(Fault::Failed { host: lab.name(SUT).into(), what })
            }
            Told::Measured(_) | Told::Ended => Err(confused(lab).into_fault()),
        }
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        match self.measure(lab, edges).map_err(LabError::into_fault)? {
            (span, Told::Measured(together)) => {
                let staged = || Fault::WrongWork { what: "nothing was staged".into() };
                let evidence = self.evidence.as_mut().ok_or_else(staged)?;
                (evidence.span, evidence.together) = (span, together);
                // The next load may be another's, and takes memory of its own.
                let asked = self.ask(&Ask::End).map_err(LabError::into_fault)?;
                lab.ask(&asked, SOON).map(|_| ()).map_err(LabError::into_fault)
            }
            _ => Err(confused(lab).into_fault()),
        }
    }

    fn check(&self) -> Result<Checked, Fault> {
        let staged = || Fault::WrongWork { what: "nothing was staged".into() };
        check(self.recipe, self.evidence.as_ref().ok_or_else(staged)?)
    }
}

fn told(lab: &Lab, mut answers: Vec<Answer>) -> Result<Told, LabError> {
    let Some(Answer::Work(body)) = answers.pop() else { return Err(confused(lab)) };
    serde_json::from_value(body).map_err(|_| confused(lab))
}

fn confused(lab: &Lab) -> LabError {
    LabError::OutOfTurn { host: lab.name(SUT).into(), what: "not an answer of a load".into() }
}
