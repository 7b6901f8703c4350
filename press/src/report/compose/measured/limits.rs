//! Knows how it is said where the curve of a load bends, what held it down at its points, whether a
//! disk or memory served it, and which program used the CPU time of an operation.
//!
//! Never: a figure of the load.

use super::layout::{Axis, Layout};
use super::{Load, points, value};
use crate::report::compose::cause::often;
use crate::report::compose::ruling::count;
use crate::report::compose::{Said, Writer, along, curve};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Better;
use desk::stats::Estimate;
use desk::unit::Quantity;
use desk::verdict::{LimitKind, MeasuredLimit, MeasuredPoint, is_from_disk};
use std::collections::BTreeMap;

/// Fewest points of a curve that can bend.
const CURVE: usize = 3;

/// Where a curve is flat; none of a load that sweeps anything else, or whose deciding metric is
/// better where it is lower.
pub(super) fn knee(
    writer: &Writer,
    (part, load): Load<'_, '_>,
) -> Result<Option<Prose>, ReportError> {
    let primary = part.run.plan.primary(&load.name);
    let layout = Layout::of(&part.run.plan, load);
    let is_rate =
        part.run.metric(&load.name, primary).is_some_and(|metric| metric.better == Better::Higher);
    if part.run.plan.curve(load).is_none() || layout.all().count() != 1 || !is_rate {
        return Ok(None);
    }
    let figure = |point| {
        let estimate = &MeasuredPoint::figure(point, primary)?.estimate;
        Some((layout.place(point).text().to_owned(), estimate))
    };
    let course: Vec<_> = points(part, load).filter_map(figure).collect();
    if course.len() < CURVE {
        return Ok(None);
    }
    curve::knee(writer, writer.label("measured-curve")?.text(), &course)
}

/// What held a load down at its points, each limit with what was full beside it; none where nothing
/// was watched. Of several axes one is taken whose steps have one limit each; where there is none,
/// limits are counted and some of their points named.
pub(super) fn said(
    writer: &Writer,
    (part, load): Load<'_, '_>,
) -> Result<Option<Prose>, ReportError> {
    let seen = points(part, load).filter_map(|point| Some((point, point.limit.as_ref()?)));
    let mut seen: Vec<(&MeasuredPoint, &MeasuredLimit)> = seen.collect();
    if seen.is_empty() {
        return Ok(None);
    }
    let layout = Layout::of(&part.run.plan, load);
    let axes: Vec<&Axis<'_>> = layout.all().collect();
    let axis = axes.iter().find(|axis| tells_apart(axis, &seen));
    if axis.is_none() && !axes.is_empty() {
        let case = |(point, limit): &(&MeasuredPoint, &MeasuredLimit)| {
            (limit.named().collect(), Some(layout.place(point)))
        };
        return often(writer, seen.iter().map(case)).map(Some);
    }
    seen.sort_by_key(|(point, _)| axis.and_then(|axis| axis.place(point)));
    let mut all = Vec::new();
    for (point, limit) in seen {
        let at = axis.and_then(|axis| axis.value(point));
        all.push((limit.named().collect(), at, &limit.evidence));
    }
    let title = axis.map(|axis| axis.title());
    along::alone(writer, title.as_ref(), all)
}

/// Whether all points of each step of an axis have the same limit.
fn tells_apart(axis: &Axis<'_>, seen: &[(&MeasuredPoint, &MeasuredLimit)]) -> bool {
    let mut known: BTreeMap<Option<usize>, Vec<LimitKind>> = BTreeMap::new();
    seen.iter().all(|(point, limit)| {
        let kinds: Vec<LimitKind> = limit.named().collect();
        *known.entry(axis.place(point)).or_insert_with(|| kinds.clone()) == kinds
    })
}

/// Points of a load of storage, each with the share of its bytes that block devices served.
type Served<'a> = Vec<(&'a MeasuredPoint, &'a Estimate)>;

/// The points whose bytes a disk served, and those whose bytes memory served.
fn served<'a>((part, load): Load<'_, 'a>) -> (Served<'a>, Served<'a>) {
    let with = points(part, load).filter_map(|point| Some((point, point.from_disk.as_ref()?)));
    with.partition(|(_, served)| is_from_disk(served))
}

/// `disk vda`, or a disk without a name.
fn disk(writer: &Writer, of: &Served<'_>) -> Said {
    match device(of) {
        Some(device) => writer.say("measured-disk", Args::new().name("device", device)),
        None => writer.label("measured-disk-unnamed"),
    }
}

/// What a disk is called.
fn device<'a>(of: &Served<'a>) -> Option<&'a String> {
    of.iter().find_map(|(point, _)| point.device.as_ref())
}

/// Figures of a survey on a card, with what served them behind; alone of a load without such.
pub(super) fn with_source(writer: &Writer, load: Load<'_, '_>, span: Prose) -> Said {
    let (from_disk, from_memory) = served(load);
    let name = match device(&from_disk) {
        Some(device) => Prose::verbatim(device),
        None => writer.label("measured-disk-unnamed")?,
    };
    let args = Args::new().prose("span", &span).prose("disk", &name);
    match (from_disk.is_empty(), from_memory.is_empty()) {
        (true, true) => Ok(span),
        (false, true) => writer.say("card-from-disk", args),
        (true, false) => writer.say("card-from-memory", args),
        (false, false) => writer.say("card-from-both", args),
    }
}

/// The same in a short sentence; none of a load without such.
pub(super) fn source_in_short(
    writer: &Writer,
    load: Load<'_, '_>,
) -> Result<Option<Prose>, ReportError> {
    let (from_disk, from_memory) = served(load);
    let args = Args::new().prose("disk", &disk(writer, &from_disk)?);
    match (from_disk.is_empty(), from_memory.is_empty()) {
        (true, true) => Ok(None),
        (false, true) => writer.say("survey-from-disk", args).map(Some),
        (true, false) => writer.label("survey-from-memory").map(Some),
        (false, false) => writer.say("survey-from-both", args).map(Some),
    }
}

/// Whether a disk or memory served the bytes of a load; none of a load without such.
pub(super) fn source(
    writer: &Writer,
    (part, load): Load<'_, '_>,
) -> Result<Option<Prose>, ReportError> {
    let (from_disk, memory) = served((part, load));
    let name = disk(writer, &from_disk)?;
    let centres = |of: &Served<'_>| -> Vec<Quantity> {
        let mut all: Vec<Quantity> = of.iter().map(|(_, served)| served.centre).collect();
        all.sort_by(|a, b| a.value.total_cmp(&b.value));
        all
    };
    match (centres(&from_disk).as_slice(), centres(&memory).as_slice()) {
        ([], []) => Ok(None),
        ([least, ..], []) => {
            let args = Args::new().prose("disk", &name).quantity("least", *least);
            writer.say("measured-from-disk", args).map(Some)
        }
        ([], [.., most]) => {
            writer.say("measured-from-memory", Args::new().quantity("most", *most)).map(Some)
        }
        _ => {
            let layout = Layout::of(&part.run.plan, load);
            let places: Vec<Prose> = memory.iter().map(|(point, _)| layout.place(point)).collect();
            let args = Args::new()
                .prose("disk", &name)
                .count("some", count(from_disk.len()))
                .count("of", count(from_disk.len() + memory.len()))
                .prose("places", &Prose::join_with(&places, "; "));
            writer.say("measured-from-both", args).map(Some)
        }
    }
}

/// The CPU time of an operation by program, at the point with the highest rate; none where no
/// program was under test.
pub(super) fn programs(
    writer: &Writer,
    (part, load): Load<'_, '_>,
) -> Result<Option<Prose>, ReportError> {
    let primary = part.run.plan.primary(&load.name);
    let with = points(part, load).filter(|point| !point.programs.is_empty());
    let rate = |point: &&MeasuredPoint| {
        point.figure(primary).map_or(0.0, |figure| figure.estimate.centre.value)
    };
    let Some(peak) = with.max_by(|a, b| rate(a).total_cmp(&rate(b))) else { return Ok(None) };
    let mut said = Vec::new();
    for (name, used) in &peak.programs {
        let args = Args::new().name("name", name).prose("value", &value(writer, used)?);
        said.push(writer.say("measured-program", args)?);
    }
    let args = Args::new().prose("programs", &Prose::join_with(&said, ", "));
    let at = Layout::of(&part.run.plan, load).place(peak);
    match at.text().is_empty() {
        true => writer.say("measured-programs", args).map(Some),
        false => writer.say("measured-programs-at", args.prose("at", &at)).map(Some),
    }
}
