//! Knows how absolute figures are said and shown: the answer of a plan that compares nothing, a
//! section with a table a load, further metrics in the appendix.
//!
//! Never: a ratio. Start reading at [`nodes`]; `layout.rs` knows what becomes rows and columns,
//! `table.rs` what stands in a cell.

mod claimed;
mod layout;
mod limits;
mod picture;
mod records;
mod rounds;
mod table;
#[cfg(test)]
mod tests;

use super::effect::is_alone;
use super::names::key_words;
use super::ruling::count;
use super::testbed::{lab_word, machine_word};
use super::{Nodes, Part, Said, Writer, cause};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{LoadPlan, Metric, Run};
use desk::stats::Estimate;
use desk::unit::Quantity;
use desk::verdict::{
    Lacking, MeasuredPoint, best_figure, compares, steadiness, steadiness_of, stolen,
};
use layout::Layout;
use std::collections::BTreeSet;

/// Up to this many tables stand open.
const FEW: usize = 4;

/// A load with the part it is of.
type Load<'p, 'a> = (&'p Part<'a>, &'a LoadPlan);

/// The section right behind the answer: every load of the parts that compare nothing.
pub(super) fn nodes(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let loads: Vec<Load<'_, '_>> =
        parts.iter().filter(|part| !compares(&part.run.plan)).flat_map(loads).collect();
    if loads.is_empty() {
        return Ok(Vec::new());
    }
    // Of one run its own sections say all.
    let picture = if parts.len() > 1 { picture::first(writer, &loads)? } else { None };
    let claimed = if parts.len() > 1 { Some(claimed::section(writer, parts)?) } else { None };
    let records = if parts.len() > 1 { records::section(writer, parts)? } else { None };
    let body = sections(writer, &loads, parts.len() > 1)?;
    let section = writer.section("measured", "measured-title", body)?;
    // Beside comparisons the answer has a line for each load.
    let beside = parts.iter().any(|part| compares(&part.run.plan));
    let section = if beside { section.fold() } else { section };
    Ok([picture, claimed, records, Some(section)].into_iter().flatten().collect())
}

/// The section among the results of a plan that compares: its loads of the machine alone, every
/// level beside the others.
pub(super) fn beside(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let loads: Vec<Load<'_, '_>> = loads(part).collect();
    if loads.is_empty() || !compares(&part.run.plan) {
        return Ok(Vec::new());
    }
    let body = sections(writer, &loads, false)?;
    let id = format!("measured-{}", part.run.id);
    Ok(vec![Node::section(id, writer.label("measured-title")?, body)])
}

/// A figure of each load whose rates over the window are known.
pub(super) fn over_window(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let mut nodes = Vec::new();
    for load in loads(part) {
        nodes.extend(rounds::figure(writer, load)?.map(Node::Figure));
    }
    Ok(nodes)
}

/// Every further metric of the loads, a table each.
pub(super) fn further(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let mut nodes = Vec::new();
    for (part, load) in loads(part) {
        let primary = part.run.plan.primary(&load.name);
        let mut seen = BTreeSet::from([primary]);
        for metric in part.run.metrics.iter().map(|metric| metric.name.as_str()) {
            let measured = points(part, load)
                .any(|point| point.figure(metric).is_some() || point.too_few.contains_key(metric));
            if seen.insert(metric) && measured {
                nodes.push(Node::Table(table::further(writer, (part, load), metric)?));
            }
        }
    }
    Ok(nodes)
}

/// The answer of runs that compare nothing; none where nothing was to be measured either.
pub(super) fn headline(
    writer: &Writer,
    parts: &[Part<'_>],
) -> Result<Option<(Tone, Prose)>, ReportError> {
    let only = |part: &&Part<'_>| !compares(&part.run.plan);
    let loads: Vec<Load<'_, '_>> = parts.iter().filter(only).flat_map(loads).collect();
    let said = match loads.as_slice() {
        [] => return Ok(None),
        [one] => {
            let span = span(writer, *one, Intervals::Shown)?;
            writer.say("headline-measured", Args::new().prose("span", &span))?
        }
        several if parts.len() == 1 => {
            let args = Args::new().count("count", count(several.len()));
            writer.say("headline-measured-several", args)?
        }
        _ => machine(writer, parts)?,
    };
    Ok(Some((Tone::Plain, said)))
}

/// A line a load of the parts that compare nothing; none for the load that the headline tells. Of
/// a survey first what to do, and whether the machine is what it claims to be.
pub(super) fn rulings(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Ruling>, ReportError> {
    let ruling = |(label, sentence)| Ruling { tone: Tone::Plain, label, sentence };
    if parts.len() < 2 {
        let lines = named(writer, parts, Intervals::Shown)?;
        let several = lines.len() > 1;
        let lines = lines.into_iter().filter(|_| several).map(ruling);
        return Ok(lines.chain(bottleneck(writer, parts)?.map(ruling)).collect());
    }
    let mut rulings = vec![ruling((writer.label("box-next")?, writer.label("survey-next")?))];
    rulings.push(claimed::ruling(writer, parts)?);
    rulings.extend(records::ruling(writer, parts)?);
    if let Some(causes) = cause::in_short(writer, parts)? {
        let said = writer.say("survey-cause", Args::new().prose("causes", &causes))?;
        rulings.push(ruling((writer.label("box-cause")?, said)));
    }
    rulings.extend(steady(writer, parts)?);
    rulings.extend(named(writer, parts, Intervals::LeftOut)?.into_iter().map(ruling));
    Ok(rulings)
}

/// What held each load of a path down, on one line; none where nothing was watched.
fn bottleneck(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<(Prose, Prose)>, ReportError> {
    let alone = parts.iter().filter(|part| !compares(&part.run.plan));
    let all: Vec<Load<'_, '_>> = alone.flat_map(loads).collect();
    let mut said = Vec::new();
    for one in all.iter().copied() {
        let Some(limits) = limits::said(writer, one)? else { continue };
        let args = Args::new().prose("load", &heading(writer, &all, one)?);
        said.push(writer.say("measured-limits-of", args.prose("limits", &limits))?);
    }
    let label = writer.label("box-cause")?;
    Ok((!said.is_empty()).then(|| (label, Prose::join(&said))))
}

/// That the network of a survey is none of an adapter; nothing where no network was loaded, or a
/// simulated one.
pub(super) fn inside(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Prose>, ReportError> {
    let loaded = parts.iter().any(|part| !part.run.plan.is_alone());
    let machine = parts.first().map(|part| part.run.environment());
    let Some(machine) = machine.filter(|m| parts.len() > 1 && loaded && !m.is_simulated()) else {
        return Ok(None);
    };
    let lab = lab_word(writer, machine)?;
    writer.say("survey-inside", Args::new().prose("lab", &lab)).map(Some)
}

/// Whether figures of a line have their intervals.
#[derive(Clone, Copy, PartialEq)]
enum Intervals {
    Shown,
    /// A table below has them.
    LeftOut,
}

/// The same for the card: of a survey first what is not available, then a line for each load, and
/// one for the steal.
pub fn measured_lines(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let said = |(name, span): &(Prose, Prose)| {
        writer.say("card-measured", Args::new().prose("name", name).prose("span", span))
    };
    if parts.len() == 1 {
        return named(writer, parts, Intervals::Shown)?.iter().map(said).collect();
    }
    let (mut lines, mut measured) = (Vec::new(), Vec::new());
    for part in parts.iter().filter(|part| !compares(&part.run.plan)) {
        match absent(part) {
            Some(what) => lines.push(absent_line(writer, &part.run.plan.title, what)?),
            None => {
                for load in loads(part) {
                    measured.extend(brief(writer, load)?);
                }
            }
        }
    }
    lines.extend(measured);
    lines.extend(stolen_line(writer, parts)?);
    Ok(lines)
}

/// What has no figure here, and why.
fn absent_line(writer: &Writer, name: &str, what: &str) -> Said {
    let why = writer.say("fault-not-available", Args::new().name("what", what))?;
    let args = Args::new().name("name", name).prose("span", &why);
    writer.say("card-measured", args)
}

/// What this machine lacks for every load of a part, by the first of them.
fn absent<'a>(part: &Part<'a>) -> Option<&'a str> {
    let mut all = loads(part).map(lacks);
    let first = all.next()??;
    all.all(|what| what.is_some()).then_some(first)
}

/// What this machine lacks for every point of a load, by the first of them.
fn lacks<'a>((part, load): Load<'_, 'a>) -> Option<&'a str> {
    let mut all = points(part, load).map(|point| match &point.lacking {
        Some(Lacking::NotAvailable { what }) => Some(what.as_str()),
        _ => None,
    });
    let first = all.next()??;
    all.all(|what| what.is_some()).then_some(first)
}

/// How much of the CPU time the hypervisor took from a survey; nothing where it was not read.
fn stolen_line(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Prose>, ReportError> {
    let share = stolen(parts.iter().map(|part| part.run));
    share.map(|share| writer.say("card-steal", Args::new().estimate("share", &share))).transpose()
}

/// What the machine is and what its network carries: the most of a rate, the least of a time.
fn machine(writer: &Writer, parts: &[Part<'_>]) -> Said {
    let path = parts.iter().filter(|part| !compares(&part.run.plan) && !part.run.plan.is_alone());
    let mut told = Vec::new();
    for (part, load) in path.flat_map(loads) {
        if let Some(best) = best_figure(part.run, part.analysis, load) {
            let args = Args::new().name("name", &key_words(&load.name));
            let args = args.quantity("value", best.estimate.centre);
            told.push(writer.say("card-measured-one", args)?);
        }
    }
    let machine = machine_word(writer, parts[0].run.environment())?;
    let args = Args::new().prose("machine", &machine);
    match told.is_empty() {
        true => writer.say("survey-machine-plain", args),
        false => writer.say("survey-machine", args.prose("told", &Prose::join_with(&told, ", "))),
    }
}

/// How well the figures of a survey are known: half of them, and all.
fn steady(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Ruling>, ReportError> {
    let alone = parts.iter().filter(|part| !compares(&part.run.plan));
    let Some(steady) = steadiness(alone.map(|part| (part.run, part.analysis))) else {
        return Ok(None);
    };
    let args = Args::new().quantity("half", steady.half).quantity("most", steady.most);
    let sentence = writer.say("survey-steady", args.quantity("level", steady.level))?;
    Ok(Some(Ruling { tone: Tone::Plain, label: writer.label("survey-steady-label")?, sentence }))
}

/// A span of figures with how far the widest of their intervals reaches from its figure.
fn within<'e>(writer: &Writer, of: impl Iterator<Item = &'e Estimate>, spans: Prose) -> Said {
    let Some(steady) = steadiness_of(of) else { return Ok(spans) };
    let args = Args::new().prose("spans", &spans).quantity("most", steady.most);
    writer.say("card-measured-within", args.quantity("level", steady.level))
}

/// A load of a survey on a line: from where to where its deciding figure goes, how far the widest
/// of the intervals reaches from its figure, and what served it; or why it is not available.
fn brief(writer: &Writer, (part, load): Load<'_, '_>) -> Result<Option<Prose>, ReportError> {
    let name = capital(&key_words(&load.name));
    if let Some(what) = lacks((part, load)) {
        return absent_line(writer, &name, what).map(Some);
    }
    let primary = part.run.plan.primary(&load.name);
    let figures = points(part, load).filter_map(|point| point.figure(primary));
    let mut estimates: Vec<&Estimate> = figures.map(|figure| &figure.estimate).collect();
    let mut centres: Vec<Quantity> = estimates.iter().map(|estimate| estimate.centre).collect();
    centres.sort_by(|a, b| a.value.total_cmp(&b.value));
    let span = match centres.as_slice() {
        [] => return Ok(None),
        [only] => Prose::quantity(*only),
        [low, .., high] => {
            let args = Args::new().quantity("low", *low).quantity("high", *high);
            writer.say("card-measured-range", args)?
        }
    };
    let span = match tail((part, load)) {
        Some((metric, tail)) => {
            estimates.push(tail);
            let args = Args::new().prose("span", &span).name("name", &key_words(&metric.name));
            let args = args.quantity("tail", tail.centre);
            writer.say("card-measured-tail", args)?
        }
        None => span,
    };
    let span = match resolution(load) {
        // Searches that end at one load have no spread, and are no more exact for it.
        Some(resolution) => {
            let args = Args::new().prose("span", &span).quantity("resolution", resolution);
            writer.say("card-measured-searched", args)?
        }
        None => within(writer, estimates.into_iter(), span)?,
    };
    let span = limits::with_source(writer, (part, load), span)?;
    writer.say("card-measured", Args::new().name("name", &name).prose("span", &span)).map(Some)
}

/// The 99th percentile of a load of one point whose deciding figure is a median, with its title.
fn tail<'a>((part, load): Load<'_, 'a>) -> Option<(&'a Metric, &'a Estimate)> {
    let is = |metric: &Metric, at: f64| {
        metric.quantile.as_ref().filter(|quantile| (quantile.at - at).abs() < 1e-9).cloned()
    };
    let run: &'a Run = part.run;
    let primary = run.metric(&load.name, run.plan.primary(&load.name))?;
    let of = is(primary, 0.5)?.of;
    let mut all = run.metrics_of(&load.name);
    let tail = all.find(|metric| is(metric, 0.99).is_some_and(|quantile| quantile.of == of))?;
    let mut points = part.analysis.measured.iter().filter(|point| point.load == load.name);
    let (only, more) = (points.next()?, points.next());
    let figure = only.figure(&tail.name).filter(|_| more.is_none())?;
    Some((tail, &figure.estimate))
}

/// How far below the first load that breaks its limit a search may end; none of a load without.
fn resolution(load: &LoadPlan) -> Option<Quantity> {
    Some(load.search.as_ref()?.limit.as_ref()?.resolution)
}

/// What a load of a part that compares nothing is called, and its span.
fn named(
    writer: &Writer,
    parts: &[Part<'_>],
    intervals: Intervals,
) -> Result<Vec<(Prose, Prose)>, ReportError> {
    let mut said = Vec::new();
    let alone = parts.iter().filter(|part| !compares(&part.run.plan));
    let all: Vec<Load<'_, '_>> = alone.flat_map(loads).collect();
    let mut told: Option<&str> = None;
    for one in all.iter().copied() {
        let (several, title) = (loads(one.0).count() > 1, &one.0.run.plan.title);
        if let Some(what) = absent(one.0).filter(|_| parts.len() > 1) {
            // Of such a part once.
            if told.replace(title) != Some(title) {
                let why = writer.say("measured-absent", Args::new().name("what", what))?;
                said.push((Prose::verbatim(&capital(title)), why));
            }
            continue;
        }
        let name = match parts.len() == 1 || several {
            true => heading(writer, &all, one)?,
            false => Prose::verbatim(&capital(title)),
        };
        let source = match intervals {
            Intervals::Shown => limits::source(writer, one)?,
            Intervals::LeftOut => limits::source_in_short(writer, one)?,
        };
        let sentences = [Some(span(writer, one, intervals)?), source];
        said.push((name, Prose::join(&sentences.into_iter().flatten().collect::<Vec<_>>())));
    }
    Ok(said)
}

/// What a load is called among others: by its part, too, where another part has one of that name.
fn heading(writer: &Writer, all: &[Load<'_, '_>], one: Load<'_, '_>) -> Said {
    let (part, load) = one;
    let own = key_words(&load.name);
    if all.iter().filter(|(_, other)| other.name == load.name).count() == 1 {
        return Ok(Prose::verbatim(&capital(&own)));
    }
    let args = Args::new().name("part", &part.run.plan.title).name("load", &own);
    writer.say("measured-part-load", args)
}

/// The loads of a part whose absolute figures are shown.
fn loads<'p, 'a>(part: &'p Part<'a>) -> impl Iterator<Item = Load<'p, 'a>> {
    let shown = |load: &&LoadPlan| part.analysis.measured.iter().any(|m| m.load == load.name);
    part.run.plan.loads.iter().filter(shown).map(move |load| (part, load))
}

/// What a load calls a metric.
fn title((part, load): Load<'_, '_>, metric: &str) -> Prose {
    match part.run.metric(&load.name, metric) {
        Some(known) => Prose::verbatim(&known.title),
        None => Prose::verbatim(&key_words(metric)),
    }
}

/// A name as the beginning of a sentence.
fn capital(name: &str) -> String {
    let mut signs = name.chars();
    signs.next().map(|first| first.to_uppercase().chain(signs).collect()).unwrap_or_default()
}

/// What was measured of a load, in the order of the plan.
fn points<'a>(part: &Part<'a>, load: &'a LoadPlan) -> impl Iterator<Item = &'a MeasuredPoint> {
    part.analysis.measured.iter().filter(|point| point.load == load.name)
}

fn sections(writer: &mut Writer, loads: &[Load<'_, '_>], titled: bool) -> Nodes {
    let mut nodes = Vec::new();
    for (part, load) in loads.iter().copied() {
        let span = span(writer, (part, load), Intervals::Shown)?;
        let one = (part, load);
        let told =
            |limits: Prose| writer.say("measured-limits", Args::new().prose("limits", &limits));
        let limits = limits::said(writer, one)?.map(told).transpose()?;
        let (knee, programs) = (limits::knee(writer, one)?, limits::programs(writer, one)?);
        let said = [Some(span), knee, limits, limits::source(writer, one)?, programs];
        let said: Vec<Prose> = said.into_iter().flatten().collect();
        let said = Node::Paragraph(Prose::join(&said));
        let table = Node::Table(table::deciding(writer, (part, load))?);
        // Of many loads a reader looks up one.
        let table = if titled || loads.len() > FEW { table.fold() } else { table };
        if loads.len() == 1 {
            return Ok(vec![said, table]);
        }
        let title = heading(writer, loads, one)?;
        let id = format!("measured-{}-{}", part.run.id, load.name);
        nodes.push(Node::section(id, title, vec![said, table]));
    }
    Ok(nodes)
}

/// `bandwidth from 9.1 GB/s (9.0–9.2 GB/s) at size 1 GiB to 62 GB/s (61–63 GB/s) at size 16 KiB.`,
/// and how many points have no figure.
fn span(writer: &Writer, (part, load): Load<'_, '_>, intervals: Intervals) -> Said {
    let value = |estimate: &Estimate| match intervals {
        Intervals::Shown => value(writer, estimate),
        Intervals::LeftOut => Ok(Prose::estimate(estimate)),
    };
    if let Some(what) = lacks((part, load)) {
        return writer.say("measured-absent", Args::new().name("what", what));
    }
    let primary = part.run.plan.primary(&load.name);
    let layout = Layout::of(&part.run.plan, load);
    let mut figures: Vec<(&MeasuredPoint, &Estimate)> =
        points(part, load).filter_map(|p| Some((p, &p.figure(primary)?.estimate))).collect();
    figures.sort_by(|a, b| a.1.centre.value.total_cmp(&b.1.centre.value));
    let metric = Prose::verbatim(&capital(title((part, load), primary).text()));
    let bare = intervals == Intervals::LeftOut;
    let args = Args::new().prose("metric", &metric);
    let args = args.choose("bare", if bare { "yes" } else { "no" });
    let mut said = vec![match figures.as_slice() {
        [] => writer.say("measured-nothing", args)?,
        [(point, only)] => {
            let args = args.prose("value", &value(only)?);
            let at = layout.place(point);
            match at.text().is_empty() {
                true => writer.say("measured-one", args)?,
                false => writer.say("measured-one-at", args.prose("at", &at))?,
            }
        }
        [(low_at, low), .., (high_at, high)] => {
            let args = args
                .prose("low", &value(low)?)
                .prose("lowest", &layout.place(low_at))
                .prose("high", &value(high)?)
                .prose("highest", &layout.place(high_at));
            writer.say("measured-span", args)?
        }
    }];
    if let Some((metric, tail)) = tail((part, load)) {
        let args = Args::new().name("metric", &capital(&metric.title));
        said.push(writer.say("measured-one", args.prose("value", &value(tail)?))?);
    }
    if let Some(resolution) = resolution(load).filter(|_| !figures.is_empty()) {
        let args = Args::new().quantity("resolution", resolution);
        said.push(writer.say("measured-searched", args)?);
    }
    let of = points(part, load).count();
    let without = |key, wanted: fn(&Lacking) -> bool| {
        let lacking = points(part, load).filter_map(|p| p.lacking.as_ref());
        let found = lacking.filter(|lacking| wanted(lacking)).count();
        let args = Args::new().count("count", count(found)).count("of", count(of));
        (found > 0).then(|| writer.say(key, args)).transpose()
    };
    let not_available = |lacking: &Lacking| matches!(lacking, Lacking::NotAvailable { .. });
    said.extend(without("measured-not-available", not_available)?);
    if !figures.is_empty() {
        let invalid = |lacking: &Lacking| !matches!(lacking, Lacking::NotAvailable { .. });
        said.extend(without("measured-invalid", invalid)?);
    }
    Ok(Prose::join(&said))
}

/// `62.1 GB/s (61.8–62.4 GB/s)`; the figure of a single block has no interval.
pub(super) fn value(writer: &Writer, estimate: &Estimate) -> Said {
    if is_alone(estimate) {
        return Ok(Prose::estimate(estimate));
    }
    let args = Args::new().estimate("centre", estimate).ends("range", estimate.low, estimate.high);
    writer.say("measured-value", args)
}
