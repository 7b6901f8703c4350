//! Knows which level each kind of reader should take; never more than the verdicts say.

use super::finding::{Advice, Comparison, Cost, Reader, Verdict, Withheld};
use super::objection::objection;
use crate::record::{MetricRole, ParamRole, Plan, Run};
use crate::stats::Estimate;

/// What each kind of reader should take, in the order of the comparisons.
///
/// Who wants peak throughput, or the lowest latency, is told by the primary metric, if it is a rate
/// or a latency. For the first only loads that are not paced count: a paced load moves what was
/// asked for, whichever level carries it. Who runs other work is told by the cost of the load.
/// Where the plan has the same load once at full speed and once paced, the paced one tells that
/// reader, for there both levels do the same work. A comparison of A with A advises nobody, and one
/// without CPU readings not about costs. A load of the system under test alone advises nobody, and
/// neither do emulated machines, nor a load generator without headroom.
pub(super) fn advice(run: &Run, comparisons: &[Comparison], costs: &[Cost]) -> Vec<Advice> {
    let plan = &run.plan;
    let paced = |c: &Comparison| load_is_paced(plan, c);
    let mut all = Vec::new();
    let told = |c: &&Comparison| !c.aa && !plan.runs_alone(&c.load) && !bars_advice(c.verdict);
    for comparison in comparisons.iter().filter(told) {
        let best = match run.deciding(&comparison.load).map(|metric| metric.role) {
            Some(MetricRole::Rate) => Some(Reader::PeakThroughput).filter(|_| !paced(comparison)),
            Some(MetricRole::Latency) => Some(Reader::Latency),
            _ => None,
        };
        all.extend(best.map(|reader| by_itself(reader, comparison)));
        let twin = |c: &&Comparison| paced(c) && same_but_pace(plan, c, comparison);
        if !paced(comparison) && comparisons.iter().any(|c| twin(&c)) {
            continue;
        }
        let cost = costs.iter().find(|cost| cost.comparison == comparison.id);
        all.extend(cost.map(|cost| other_work(comparison, cost)));
    }
    all
}

fn bars_advice(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Emulated | Verdict::NoHeadroom)
}

fn load_is_paced(plan: &Plan, comparison: &Comparison) -> bool {
    let load = plan.load(&comparison.load);
    load.is_some_and(|load| load.is_paced(&comparison.fixed))
}

/// Whether two comparisons are of one thing but for the load offered. A paced load may stand at one
/// point of the curve that the full one runs along; it speaks for that point then.
fn same_but_pace(plan: &Plan, paced: &Comparison, full: &Comparison) -> bool {
    let rest = |c: &Comparison| {
        let load = plan.load(&c.load)?;
        let mut params = load.fixed.clone();
        params.extend(c.fixed.clone());
        load.roles.get(&ParamRole::Offered).map(|offered| params.remove(offered));
        full.curve.as_ref().map(|curve| params.remove(curve));
        Some((load.workload.clone(), params))
    };
    paced.factor == full.factor
        && (&paced.base, &paced.other) == (&full.base, &full.other)
        && paced.stratum == full.stratum
        && rest(paced) == rest(full)
}

/// By the metric that was compared, whatever it costs.
fn by_itself(reader: Reader, comparison: &Comparison) -> Advice {
    let torn = comparison.verdict == Verdict::TwoStates;
    let judged = (comparison.overall.clone(), comparison.verdict);
    let withheld = torn.then_some(Withheld::TwoStates);
    made(reader, comparison, (&comparison.metric, judged, withheld))
}

/// Displaced work where a soaker measured it, else CPU time per unit of work.
fn other_work(comparison: &Comparison, cost: &Cost) -> Advice {
    let figure = cost.displaced.as_ref().unwrap_or(&cost.per_work);
    let judged = (figure.overall.clone(), figure.verdict);
    let withheld = objection(cost, &figure.metric);
    made(Reader::OtherWork, comparison, (&figure.metric, judged, withheld))
}

/// The advice that follows from a figure; withheld or torn, it has neither choice nor verdict.
fn made(
    reader: Reader,
    comparison: &Comparison,
    (metric, (effect, verdict), withheld): (&str, (Estimate, Verdict), Option<Withheld>),
) -> Advice {
    let verdict = match withheld {
        Some(Withheld::TwoStates) => Verdict::TwoStates,
        Some(_) => Verdict::Undecided { more_blocks: None },
        None => verdict,
    };
    let choice = match verdict {
        Verdict::Better => Some(comparison.other.clone()),
        Verdict::Worse => Some(comparison.base.clone()),
        Verdict::Equivalent
        | Verdict::TwoStates
        | Verdict::NotComparable
        | Verdict::Emulated
        | Verdict::NoHeadroom
        | Verdict::Undecided { .. } => None,
    };
    let (comparison, metric) = (comparison.id.clone(), metric.into());
    Advice { reader, comparison, choice, metric, effect, verdict, withheld }
}
