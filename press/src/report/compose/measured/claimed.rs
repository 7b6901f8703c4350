//! Knows the table of what a machine claims to be beside what was measured of that.
//!
//! Must not know what it should cost, nor which program measured what.

use super::{Load, loads, points};
use crate::report::compose::testbed::cache;
use crate::report::compose::{Part, Writer};
use crate::report::document::{Column, Node, Prose, Ruling, Table, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Adapter, Environment, ParamRole, Value};
use desk::stats::Estimate;
use desk::verdict::{Caveat, compares, stolen};

/// From this many levels of memory on a load shows whether the caches are there.
const LEVELS: usize = 3;

/// Whether what was measured agrees with what was claimed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agrees {
    Yes,
    Less,
    Open,
}

impl Agrees {
    const fn all(all: bool) -> Self {
        if all { Self::Yes } else { Self::Less }
    }
}

/// What was claimed, what was measured, and whether that agrees.
type Row = ([Prose; 3], Agrees);

/// The section of a survey.
pub(super) fn section(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let caption = writer.label("claimed-caption")?;
    let caption = writer.numbered(&caption)?;
    let titles = ["claimed-what", "claimed-says", "claimed-measured", "claimed-agrees"];
    let column = |key| Ok(Column { title: writer.label(key)?, numeric: false });
    let columns = titles.into_iter().map(column).collect::<Result<Vec<_>, ReportError>>()?;
    let row = |([what, says, measured], agrees): Row| {
        let word = match agrees {
            Agrees::Yes => "claimed-yes",
            Agrees::Less => "claimed-less",
            Agrees::Open => "claimed-open",
        };
        Ok(vec![what, says, measured, writer.label(word)?])
    };
    let rows = rows(writer, parts)?.into_iter().map(row);
    let rows = rows.collect::<Result<Vec<_>, ReportError>>()?;
    let notes = vec![writer.label("claimed-note")?];
    let table = Node::Table(Table { caption, columns, rows, folded: false, notes });
    writer.section("claimed", "claimed-title", vec![table])
}

/// Which claims agree, which do not, and which could not be judged.
pub(super) fn ruling(writer: &Writer, parts: &[Part<'_>]) -> Result<Ruling, ReportError> {
    let all = rows(writer, parts)?;
    let mut said = Vec::new();
    for (agrees, key) in [
        (Agrees::Less, "claimed-some-less"),
        (Agrees::Yes, "claimed-some-yes"),
        (Agrees::Open, "claimed-some-open"),
    ] {
        let of = all.iter().filter(|(_, own)| *own == agrees).map(|([what, _, _], _)| what.clone());
        let names: Vec<Prose> = of.collect();
        if !names.is_empty() {
            let names = Prose::join_with(&names, ", ");
            said.push(writer.say(key, Args::new().prose("names", &names))?);
        }
    }
    let tone = match all.iter().any(|(_, agrees)| *agrees == Agrees::Less) {
        true => Tone::Bad,
        false => Tone::Plain,
    };
    Ok(Ruling { tone, label: writer.label("claimed-label")?, sentence: Prose::join(&said) })
}

fn rows(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Row>, ReportError> {
    let machine = parts[0].run.environment();
    let mut rows = vec![cpus(writer, machine)?, time(writer, parts)?];
    rows.extend(caches(writer, parts)?);
    rows.push(frequency(writer, machine)?);
    for adapter in machine.adapters.iter().filter(|adapter| adapter.physical) {
        rows.push(line(writer, adapter)?);
    }
    Ok(rows)
}

/// Its CPUs, and how many of them a quota leaves.
fn cpus(writer: &Writer, machine: &Environment) -> Result<Row, ReportError> {
    let args = Args::new().name("model", &machine.cpu.model).count("logical", machine.cpu.logical);
    let quota = machine.quota();
    let measured = match quota {
        Some(quota) => writer.say("claimed-quota", Args::new().name("quota", quota))?,
        None => writer.label("claimed-no-quota")?,
    };
    let label = writer.label("claimed-cpus")?;
    Ok(([label, writer.say("card-machine", args)?, measured], Agrees::all(quota.is_none())))
}

/// Their time, of which a hypervisor may take a share.
fn time(writer: &Writer, parts: &[Part<'_>]) -> Result<Row, ReportError> {
    let [label, says] = [writer.label("claimed-time")?, writer.label("claimed-all-time")?];
    let Some(share) = stolen(parts.iter().map(|part| part.run)) else {
        let none = writer.label("fact-not-said")?;
        return Ok(([label, says, none], Agrees::Open));
    };
    let measured = writer.say("claimed-steal", Args::new().estimate("share", &share))?;
    let mut caveats = parts.iter().flat_map(|part| &part.analysis.caveats);
    let taken = caveats.any(|caveat| matches!(caveat, Caveat::Steal { .. }));
    Ok(([label, says, measured], Agrees::all(!taken)))
}

/// Its caches, and whether the figures of a sweep over them differ with certainty.
fn caches(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Row>, ReportError> {
    let machine = parts[0].run.environment();
    let mut said = Vec::new();
    for one in machine.caches.iter().filter(|cache| cache.kind != "Instruction") {
        said.push(cache(writer, one)?);
    }
    let alone = parts.iter().filter(|part| !compares(&part.run.plan));
    let Some(levels) = alone.flat_map(loads).find_map(ladder) else { return Ok(None) };
    let alike: Vec<String> =
        levels.windows(2).filter_map(|pair| alike([&pair[0], &pair[1]])).collect();
    let measured = match alike.as_slice() {
        [] => {
            let names: Vec<&str> = levels.iter().map(|(name, _)| name.as_str()).collect();
            writer.say("claimed-apart", Args::new().name("levels", &names.join(", ")))?
        }
        some => writer.say("claimed-alike", Args::new().name("levels", &some.join("; ")))?,
    };
    let verdict = if alike.is_empty() { Agrees::Yes } else { Agrees::Open };
    let label = writer.label("fact-caches")?;
    Ok(Some(([label, Prose::join_with(&said, ", "), measured], verdict)))
}

/// A level of memory by its name, and its figure.
type Level<'a> = (String, &'a Estimate);

/// The figures of a load that sweeps its working set over levels that are named, in their order.
fn ladder<'a>(load: Load<'_, 'a>) -> Option<Vec<Level<'a>>> {
    let size = load.1.roles.get(&ParamRole::WorkingSet)?;
    let primary = load.0.run.plan.primary(&load.1.name);
    let named = |point: &'a desk::verdict::MeasuredPoint| {
        let name = point.at.get(size).and_then(Value::word)?;
        Some((name.to_owned(), &point.figure(primary)?.estimate))
    };
    let levels: Vec<Level<'a>> = points(load.0, load.1).filter_map(named).collect();
    (levels.len() >= LEVELS).then_some(levels)
}

/// Two neighbouring levels whose intervals meet.
fn alike([(a, first), (b, second)]: [&Level<'_>; 2]) -> Option<String> {
    let apart = first.low.value > second.high.value || first.high.value < second.low.value;
    (!apart).then(|| format!("{a}, {b}"))
}

/// The highest frequency that it claims, which nothing here measures.
fn frequency(writer: &Writer, machine: &Environment) -> Result<Row, ReportError> {
    let none = || writer.label("fact-not-said");
    let says = machine.cpu.frequency_max.map_or_else(none, |most| Ok(Prose::quantity(most)))?;
    Ok(([writer.label("fact-frequency")?, says, none()?], Agrees::Open))
}

/// The line rate of an adapter, at best and now.
fn line(writer: &Writer, adapter: &Adapter) -> Result<Row, ReportError> {
    let none = || writer.label("fact-not-said");
    let said = |rate: Option<_>| rate.map_or_else(none, |rate| Ok(Prose::quantity(rate)));
    let label = writer.say("claimed-line", Args::new().name("adapter", &adapter.name))?;
    let verdict = match (adapter.speed_best, adapter.speed_now) {
        (Some(best), Some(now)) => Agrees::all(now.value >= best.value),
        _ => Agrees::Open,
    };
    Ok(([label, said(adapter.speed_best)?, said(adapter.speed_now)?], verdict))
}
