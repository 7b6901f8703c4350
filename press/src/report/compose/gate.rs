//! Knows the order of an article on a gate: its outcome first, then the article on the run.
//!
//! Never: what passes; the verdict says that.

use super::effect::{effect, metric_title};
use super::names::pair;
use super::ruling::{condition, count, further, shown};
use super::say::sentence;
use super::withheld::reason;
use super::{Said, Writer, compose};
use crate::claim::{Claim, Kind, of_comparison};
use crate::report::document::{Document, Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Counted, Run};
use desk::verdict::{Analysis, Comparison, Gate, GateCheck, GateOutcome, GateReason};

/// The order in which outcomes are counted up and told: what needs a person comes first.
const OUTCOMES: [GateOutcome; 4] =
    [GateOutcome::Failed, GateOutcome::Inconclusive, GateOutcome::NotMeasured, GateOutcome::Passed];

/// The article on a run before a gate. The run is the one that was judged, as
/// [`desk::verdict::gated`] gives it.
///
/// # Errors
/// Words that are missing, or a plan that cannot be written.
pub fn compose_gate(run: &Run, analysis: &Analysis, gate: &Gate) -> Result<Document, ReportError> {
    let writer = Writer::on(std::iter::once(run))?;
    let mut document = compose(run, analysis)?;
    document.body.insert(0, gate_box(&writer, run, gate)?);
    Ok(document)
}

/// What a log, an annotation or a test report says of every check: a name, and a sentence.
///
/// # Errors
/// Words that are missing.
pub fn gate_lines(run: &Run, gate: &Gate) -> Result<Vec<(Prose, Prose)>, ReportError> {
    let writer = Writer::on(std::iter::once(run))?;
    gate.checks.iter().map(|c| Ok((named(&writer, run, c)?, said(&writer, run, c)?))).collect()
}

/// The outcome of a gate in a sentence.
///
/// # Errors
/// Words that are missing.
pub fn gate_headline(run: &Run, gate: &Gate) -> Result<Prose, ReportError> {
    headline(&Writer::on(std::iter::once(run))?, run, gate)
}

fn gate_box(writer: &Writer, run: &Run, gate: &Gate) -> Result<Node, ReportError> {
    let mut rulings = Vec::new();
    for outcome in OUTCOMES {
        for check in gate.checks.iter().filter(|c| c.outcome == outcome) {
            let args = Args::new()
                .prose("outcome", &writer.pick("gate-word-*", &outcome, Args::new())?)
                .prose("name", &named(writer, run, check)?);
            let label = writer.say("gate-check", args)?;
            rulings.push(Ruling {
                tone: tone(outcome),
                label,
                sentence: said(writer, run, check)?,
            });
        }
    }
    let mut limits = Vec::new();
    if run.environment().is_simulated() {
        limits.push(writer.label("doubt-simulated")?);
    }
    if let Some(why) = &gate.partial {
        limits.push(writer.say("gate-partial", Args::new().name("why", why))?);
    }
    let counted = Counted::of(&run.records);
    if !counted.is_enough() {
        let args = Args::new().count("valid", counted.valid).count("of", counted.visited);
        limits.push(writer.say("gate-incomplete", args)?);
    }
    if let Some(share) = gate.false_alarms {
        limits.push(writer.say("gate-false-alarms", Args::new().quantity("share", share))?);
    }
    let caution = match limits.is_empty() {
        true => Prose::default(),
        false => writer.label("gate-caution")?,
    };
    let headline = headline(writer, run, gate)?;
    Ok(Node::VerdictBox { tone: tone(gate.outcome), headline, rulings, caution, limits })
}

fn headline(writer: &Writer, run: &Run, gate: &Gate) -> Said {
    let mut tally = Vec::new();
    for outcome in OUTCOMES {
        let number = gate.checks.iter().filter(|c| c.outcome == outcome).count();
        if number > 0 {
            let args = Args::new()
                .count("count", count(number))
                .prose("outcome", &writer.pick("gate-word-*", &outcome, Args::new())?);
            tally.push(writer.say("gate-tally", args)?);
        }
    }
    let found = gate.checks.iter().find_map(|c| c.found.as_ref());
    let metric = found.map_or(gate.metric.as_str(), |c| metric_title(run, c));
    let args = Args::new()
        .name("rule", gate.fail_if.word())
        .name("metric", metric)
        .quantity("margin", gate.margin)
        .prose("tally", &Prose::join_with(&tally, ", "));
    let said = writer.pick("gate-said-*", &gate.outcome, args)?;
    match run.environment().is_simulated() {
        true => writer.say("gate-simulated", Args::new().prose("said", &said)),
        false => Ok(said),
    }
}

/// What was compared, and under what; the name of the comparison where nothing was.
fn named(writer: &Writer, run: &Run, check: &GateCheck) -> Said {
    let Some(found) = &check.found else { return Ok(Prose::verbatim(&check.comparison)) };
    let names = writer.say("gate-pair", pair(run, found))?;
    Ok(Prose::join_with(&[names, condition(run, found)], ", "))
}

/// The verdict on the comparison, and what decided or would decide.
fn said(writer: &Writer, run: &Run, check: &GateCheck) -> Said {
    let Some(found) = &check.found else { return writer.label("gate-no-pair") };
    let sentence = whole(writer, run, found, &check.why)?;
    let more = match &check.why {
        GateReason::Point { at } => point(writer, check, &shown(at))?,
        GateReason::Withheld { withheld } => {
            let args = Args::new().prose("reason", &reason(writer, withheld)?);
            writer.say("gate-withheld", args)?
        }
        GateReason::Wide { more_blocks: None } => writer.label("gate-wide")?,
        GateReason::Gaps { at } => {
            let all: Vec<Prose> = at.iter().map(|at| Prose::verbatim(&shown(at))).collect();
            let places = Prose::join_with(&all, ", ");
            writer.say("gate-gaps", Args::new().prose("places", &places))?
        }
        GateReason::Uneven => writer.label("gate-uneven")?,
        GateReason::Partial => writer.label("gate-only-partial")?,
        GateReason::Wide { more_blocks: Some(more) } => {
            let args = Args::new().prose("blocks", &further(writer, *more)?);
            writer.say("gate-more", args)?
        }
        GateReason::Overall
        | GateReason::TwoStates
        | GateReason::NotComparable
        | GateReason::Emulated
        | GateReason::NoHeadroom
        | GateReason::NoPair => Prose::default(),
    };
    Ok(Prose::join(&[sentence, more]))
}

/// The verdict; the bare ratio where a figure has none.
fn whole(writer: &Writer, run: &Run, found: &Comparison, why: &GateReason) -> Said {
    let claim = of_comparison((run, found));
    let bare = matches!(why, GateReason::Withheld { .. } | GateReason::Wide { .. });
    let kind = if bare { Kind::Withheld } else { claim.kind };
    sentence(writer, &Claim { kind, ..claim })
}

fn point(writer: &Writer, check: &GateCheck, at: &str) -> Said {
    let Some(ratio) = &check.effect else { return Ok(Prose::default()) };
    let args = Args::new().name("at", at).prose("effect", &effect(writer, ratio)?);
    writer.say("gate-point", args)
}

const fn tone(outcome: GateOutcome) -> Tone {
    match outcome {
        GateOutcome::Passed => Tone::Good,
        GateOutcome::Failed => Tone::Bad,
        GateOutcome::Inconclusive | GateOutcome::NotMeasured => Tone::Open,
    }
}
