//! Knows how the last trial and the invalid attempts are said on a screen.

use super::found::place as colour;
use super::ink::{Ink, Line, inked, plain};
use super::{Pane, PaneKind};
use crate::report::compose::{Writer, count, key_words};
use crate::report::document::{Prose, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Fault, Run, TrialRecord};
use desk::verdict::read_out;

/// Invalid attempts that are told; all are counted.
const TOLD: usize = 3;

/// The last trial, what it gave, and what the probes read; nothing before the first.
pub fn last(writer: &Writer, run: &Run) -> Result<Option<Pane>, ReportError> {
    let Some(record) = run.records.last() else { return Ok(None) };
    let mut lines = vec![visit(writer, run, record)?];
    let read = readings(writer, (run, record))?;
    if !read.text().is_empty() {
        lines.push(plain(&read, Ink::Plain));
    }
    let title = writer.label("watch-trial")?.text().into();
    Ok(Some(Pane { kind: PaneKind::Trial, title, lines }))
}

/// How many attempts were invalid, and the last of them with their faults; nothing without one.
pub fn faults(writer: &Writer, run: &Run) -> Result<Option<Pane>, ReportError> {
    // What this machine cannot do is no fault of an attempt.
    let is_fault = |record: &&TrialRecord| {
        let fault = record.outcome.fault.as_ref();
        fault.is_some_and(|fault| !matches!(fault, Fault::NotAvailable { .. }))
    };
    let invalid: Vec<&TrialRecord> = run.records.iter().filter(is_fault).collect();
    if invalid.is_empty() {
        return Ok(None);
    }
    let mut lines = Vec::new();
    for record in invalid.iter().rev().take(TOLD) {
        lines.push(visit(writer, run, record)?);
    }
    let title = writer.say("watch-faults", Args::new().count("count", count(invalid.len())))?;
    Ok(Some(Pane { kind: PaneKind::Faults, title: title.text().into(), lines }))
}

/// `block 3, transmit, tso on: 941 Mbit/s`.
fn visit(writer: &Writer, run: &Run, record: &TrialRecord) -> Result<Line, ReportError> {
    let place = place(writer, run, record)?;
    let args = Args::new().prose("place", &place);
    let level = record.trial.treatment.levels.get(&run.plan.method.compare);
    let ink = |level: &String| (unbroken(level), Ink::Level(colour(run, level)));
    let mut words: Vec<_> = level.map(ink).into_iter().collect();
    let said = match (&record.outcome.fault, run.figure(record)) {
        (Some(fault), _) => {
            words.push((fault.to_string(), Ink::Warn));
            writer.say("watch-trial-fault", args.name("fault", &fault.to_string()))?
        }
        (None, Some(figure)) => {
            writer.say("watch-trial-figure", args.quantity("figure", figure))?
        }
        (None, None) => writer.say("watch-trial-none", args)?,
    };
    Ok(inked(&said, &words))
}

/// Boot, block, load, swept and sought parameters, and levels of a trial.
fn place(writer: &Writer, run: &Run, record: &TrialRecord) -> Result<Prose, ReportError> {
    let (plan, trial) = (&run.plan, &record.trial);
    let args = Args::new().count("boot", trial.boot).count("block", trial.block);
    let mut said = vec![match (trial.block, trial.boot) {
        (0, _) => writer.label("watch-in-dry")?,
        (_, 0) => writer.say("watch-in-block", args)?,
        _ => writer.say("watch-in-boot", args)?,
    }];
    if plan.loads.len() > 1 {
        said.push(Prose::verbatim(&trial.point.load));
    }
    let load = plan.load(&trial.point.load);
    let swept = load.into_iter().flat_map(|load| &load.over).map(|(name, _)| name);
    let sought = load.and_then(|load| load.search.as_ref()).map(|search| &search.over);
    let params = swept.chain(sought).filter_map(|name| trial.point.params.get(name));
    said.extend(params.map(|value| Prose::verbatim(&unbroken(&value.to_string()))));
    for (factor, level) in &trial.treatment.levels {
        let args = Args::new().name("name", &key_words(factor)).name("value", &unbroken(level));
        said.push(writer.say("watch-level", args)?);
    }
    Ok(Prose::join_with(&said, ", "))
}

/// What the probes read, as far as they did.
fn readings(writer: &Writer, (run, record): (&Run, &TrialRecord)) -> Result<Prose, ReportError> {
    let read = read_out(run, record);
    let (mut cpu, mut said) = (Vec::new(), Vec::new());
    for (key, name, quantity) in [
        ("watch-cpu-machine", "share", read.busy),
        ("watch-cpu-server", "cpus", read.server),
        ("watch-cpu-clients", "cpus", read.clients),
        ("watch-cpu-relay", "cpus", read.relay),
    ] {
        if let Some(quantity) = quantity {
            cpu.push(writer.say(key, Args::new().quantity(name, quantity))?);
        }
    }
    if !cpu.is_empty() {
        let parts = Prose::join_with(&cpu, ", ");
        said.push(writer.say("watch-cpu", Args::new().prose("parts", &parts))?);
    }
    if let Some(rate) = read.packets {
        said.push(writer.say("watch-packets", Args::new().quantity("rate", rate))?);
    }
    if let Some(degrees) = read.hottest {
        said.push(writer.say("watch-hottest", Args::new().quantity("degrees", degrees))?);
    }
    Ok(Prose::join_with(&said, "; "))
}
