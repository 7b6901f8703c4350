//! Knows whether a load of one machine did its work undisturbed, and what its record holds. Pure.
//!
//! Must not know hosts, nor what the work was.

use super::recipe::{Order, Recipe, Taken};
use super::rounds::rounds;
use super::storage::served;
use crate::engine::pace::{UNSENT, late};
use crate::engine::times::merged;
use desk::record::{
    Distribution, Fault, Flows, Outcome, Reading, Settings, Value, Window, Work, WorkloadSpec,
};
use desk::unit::{Quantity, Unit};
use rig::metal::{DIGEST, Series, Span, Taint, Together, digest};
use rig::workload::Checked;
use std::collections::BTreeMap;
use std::time::Duration;

/// A trial of which a larger share of the samples was disturbed is no trial: one of four may be,
/// for a short window holds few.
const DISTURBED_MOST: f64 = 0.25;

/// All that is known of one trial.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evidence {
    pub order: Order,
    pub made_with: Settings,
    pub settle: Duration,
    pub span: Span,
    pub together: Together,
}

impl Evidence {
    /// Before anything was measured.
    pub fn new(order: Order, made_with: Settings, settle: Duration) -> Self {
        let span = Span { opens_ns: 0, closes_ns: 0 };
        let together = Together { series: Vec::new(), cpu_ns: 0, stored: None };
        Self { order, made_with, settle, span, together }
    }
}

/// Checks the work and makes the figures.
///
/// # Errors
/// Wrong results, no work, or too many disturbed samples; then what the workload itself finds.
pub(super) fn check(recipe: &Recipe, evidence: &Evidence) -> Result<Checked, Fault> {
    let series = &evidence.together.series;
    let mut work = Work::default();
    for one in series {
        work.content_checks += one.verified.as_ref().map_err(|what| wrong(one, what))?;
        work.operations += one.work;
        let unsent = one.paced.map_or(0, |paced| paced.unsent);
        if unsent > 0 {
            *work.errors.entry(UNSENT.into()).or_default() += unsent;
        }
        if one.work == 0 || one.samples.iter().all(|sample| sample.work == 0) {
            return Err(wrong(one, "it did no work in the window"));
        }
    }
    work.digest = digest_of(series);
    // Disturbed samples are in them: an operation that was slow was slow.
    let distributions = merged(series.iter().flat_map(|one| &one.distributions))?;
    refuse_untimed(recipe.spec, &distributions)?;
    if series.is_empty() {
        return Err(Fault::WrongWork { what: "no thread measured anything".into() });
    }
    let (undisturbed, dropped) = undisturbed(series)?;
    let mut made_with = evidence.made_with.clone();
    made_with.insert("cpus".into(), Value::Word(cpus(series)));
    let taken = Taken { series: undisturbed, made_with };
    let samples = (recipe.figures)(&evidence.order, &taken)?;
    let (opened_ns, closed_ns) = (evidence.span.opens_ns, evidence.span.closes_ns);
    let window = Window { opened_ns, closed_ns };
    let (rates, steady) = rounds(recipe.spec, &evidence.order, (series, window.seconds()));
    let outcome = Outcome {
        window,
        samples,
        series: rates,
        distributions,
        flows: Flows::default(),
        work,
        made_with: taken.made_with,
        steady: true,
        settle: Some(Quantity::seconds(evidence.settle.as_secs_f64())),
        fault: None,
        logs: Vec::new(),
    };
    let mut readings = readings(evidence, &dropped, window);
    readings.extend(steady);
    let storing = (recipe.storing)(&evidence.order);
    let stored = storing.map(|how| served(how, &evidence.together, window.seconds()));
    readings.extend(stored.into_iter().flatten());
    Ok(Checked { readings, outcome })
}

/// Refuses a trial without a distribution of which every load of the workload has a quantile.
fn refuse_untimed(spec: &WorkloadSpec, timed: &[Distribution]) -> Result<(), Fault> {
    let is_there = |of: &str| timed.iter().any(|one| one.name == of);
    match spec.quantiles.iter().find(|quantile| quantile.always && !is_there(quantile.of)) {
        None => Ok(()),
        Some(quantile) => {
            let what = format!("no {} was timed in the window", quantile.of);
            Err(Fault::WrongWork { what })
        }
    }
}

/// Of the digests of all threads; none where one has none.
fn digest_of(series: &[Series]) -> Option<u32> {
    let add = |so_far, one: &Series| Some(digest(so_far, &one.digest?.to_le_bytes()));
    series.iter().try_fold(DIGEST, add).map(Work::folded)
}

fn wrong(series: &Series, what: &str) -> Fault {
    let place = series.cpu.map_or_else(|| "a thread".into(), |cpu| format!("CPU {cpu}"));
    Fault::WrongWork { what: format!("{place}: {what}") }
}

/// The series without their disturbed samples, and how many went for which reason.
fn undisturbed(series: &[Series]) -> Result<(Vec<Series>, BTreeMap<Taint, u64>), Fault> {
    let mut dropped: BTreeMap<Taint, u64> = BTreeMap::new();
    let (mut all, mut kept) = (0_u64, Vec::new());
    for one in series {
        all += one.samples.len() as u64;
        for taint in one.samples.iter().filter_map(|sample| sample.taint) {
            *dropped.entry(taint).or_default() += 1;
        }
        let mut rest = one.clone();
        rest.samples.retain(|sample| sample.taint.is_none());
        kept.push(rest);
    }
    let gone: u64 = dropped.values().sum();
    #[expect(clippy::cast_precision_loss, reason = "samples of a trial are few")]
    let too_many = gone as f64 > DISTURBED_MOST * all as f64;
    if too_many || kept.iter().any(|one| one.samples.is_empty()) {
        let count = |taint| dropped.get(&taint).copied().unwrap_or(0);
        let what = format!(
            "{gone} of {all} samples were disturbed: {} waited for their CPU, {} lost it to the \
             hypervisor",
            count(Taint::Waited),
            count(Taint::Steal)
        );
        return Err(Fault::Disturbed { host: "sut".into(), what });
    }
    Ok((kept, dropped))
}

/// The CPUs of all threads, as `0,2-3` would be written without ranges: `0 2 3`.
fn cpus(series: &[Series]) -> String {
    let names: Vec<String> =
        series.iter().filter_map(|one| one.cpu).map(|cpu| cpu.to_string()).collect();
    if names.is_empty() { "any".into() } else { names.join(" ") }
}

/// What the load cost, and how many samples it was measured by.
fn readings(evidence: &Evidence, dropped: &BTreeMap<Taint, u64>, window: Window) -> Vec<Reading> {
    let row = |probe: &str, key: &str, quantity| Reading {
        probe: probe.into(),
        host: "sut".into(),
        key: key.into(),
        quantity,
    };
    #[expect(clippy::cast_precision_loss, reason = "CPU time of a window is far below 2^53 ns")]
    let cpu = evidence.together.cpu_ns as f64 / 1e9 / window.seconds().max(1e-9);
    let taken: usize = evidence.together.series.iter().map(|one| one.samples.len()).sum();
    let lost = |taint| Quantity::count(dropped.get(&taint).copied().unwrap_or(0));
    let paced = evidence.together.series.iter().filter_map(|one| one.paced);
    let late = late(paced.map(|paced| (paced.late, paced.due)));
    let late = late.map(|share| row("pace", "late", Quantity::new(share, Unit::Share)));
    let own = vec![
        row("process", "cpu", Quantity::new(cpu, Unit::Cpu)),
        row("guard", "samples", Quantity::count(taken as u64)),
        row("guard", "waited", lost(Taint::Waited)),
        row("guard", "steal", lost(Taint::Steal)),
    ];
    own.into_iter().chain(late).collect()
}
