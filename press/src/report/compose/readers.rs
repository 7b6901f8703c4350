//! Knows what each kind of reader should take from the findings; nothing where nothing was found.

use super::effect::{metric_name, plain_effects};
use super::glance::at_first;
use super::limits::kind_word;
use super::names::{level_name, pair};
use super::ruling::{condition, count, shown};
use super::{Part, Role, Writer, advice};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{LoadPlan, ParamRole, Value};
use desk::verdict::{Caveat, Comparison, Cost, CpuParts, Interaction, Limit, LimitKind, Verdict};

/// Kernel threads that take this many CPUs or more are a matter for who writes the driver.
const THREADS: f64 = 0.1;

/// What a limit says to who buys.
const BUYS: [(LimitKind, &str); 13] = [
    (LimitKind::AllCpus, "buys-cpus"),
    (LimitKind::OneCpu, "buys-one-cpu"),
    (LimitKind::SoftirqCpu, "buys-softirq"),
    (LimitKind::SetRate, "buys-link"),
    (LimitKind::Goodput, "buys-link"),
    (LimitKind::LineRate, "buys-link"),
    (LimitKind::Pcie, "buys-bus"),
    (LimitKind::Memory, "buys-memory"),
    (LimitKind::Disk, "buys-disk"),
    (LimitKind::ServerQuota, "buys-quota"),
    (LimitKind::Generator, "buys-clients"),
    (LimitKind::ClientQuota, "buys-clients"),
    (LimitKind::ClientLine, "buys-clients"),
];

/// A line a kind of reader, for one part.
pub(super) fn list(writer: &Writer, part: &Part<'_>) -> Result<Option<Node>, ReportError> {
    if part.role == Role::NoiseFloor {
        return Ok(None);
    }
    let mut said = Vec::new();
    for (reader, sentences) in
        [("reader-buys", buys(writer, part)?), ("reader-tunes", tunes(writer, part)?)]
    {
        said.extend(line(writer, reader, &sentences)?);
    }
    for ruling in advice::rulings(writer, part)? {
        let args = Args::new().prose("reader", &ruling.label);
        said.push(writer.say("advice-line", args.prose("sentence", &ruling.sentence))?);
    }
    for (reader, sentences) in
        [("reader-runs", runs(writer, part)?), ("reader-writes", writes(writer, part)?)]
    {
        said.extend(line(writer, reader, &sentences)?);
    }
    Ok((!said.is_empty()).then_some(Node::List(said)))
}

fn line(writer: &Writer, reader: &str, sentences: &[Prose]) -> Result<Option<Prose>, ReportError> {
    if sentences.is_empty() {
        return Ok(None);
    }
    let args = Args::new()
        .prose("reader", &writer.label(reader)?)
        .prose("sentence", &Prose::join(sentences));
    writer.say("advice-line", args).map(Some)
}

fn asked<'a>(part: &Part<'a>) -> impl Iterator<Item = &'a Comparison> {
    part.analysis.comparisons.iter().filter(|c| !c.aa)
}

/// What a faster part would give, by what was full at the largest point of most comparisons.
fn buys(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let limits: Vec<&Limit> = part
        .analysis
        .limits
        .iter()
        .filter(|l| l.kind != LimitKind::OfferedLoad)
        .filter(|l| asked(part).any(|c| c.id == l.comparison))
        .collect();
    let mut said = Vec::new();
    for (kind, key) in BUYS {
        // Where two were full, more of one alone would carry nothing more.
        let alone = |l: &&&Limit| l.kind == kind && l.ties.is_empty();
        let full: Vec<&&Limit> = limits.iter().filter(alone).collect();
        if 2 * full.len() <= limits.len() {
            continue;
        }
        let by = |l: &&&&Limit| l.evidence.centre.value;
        let Some(least) = full.iter().min_by(|a, b| by(a).total_cmp(&by(b))) else { continue };
        let args = Args::new()
            .prose("limit", &kind_word(writer, kind)?)
            .count("some", count(full.len()))
            .count("count", count(limits.len()))
            .estimate("evidence", &least.evidence);
        said.push(writer.say(key, args)?);
    }
    if !said.is_empty() && part.analysis.caveats.contains(&Caveat::VirtualLinks) {
        said.push(writer.label("buys-virtual")?);
    }
    Ok(said)
}

/// Which other setting the effect hangs on.
fn tunes(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let plan = &part.run.plan;
    let decided = |i: &&Interaction| matches!(i.verdict, Verdict::Better | Verdict::Worse);
    let all: Vec<_> = part.analysis.interactions.iter().filter(decided).collect();
    let widest =
        all.iter().max_by(|a, b| a.difference.distance().total_cmp(&b.difference.distance()));
    let Some(one) = widest else { return Ok(Vec::new()) };
    let [first, second] = plain_effects(writer, [&one.first, &one.second])?;
    let args = Args::new()
        .name("base", &level_name(plan, &one.factor, &one.base))
        .name("other", &level_name(plan, &one.factor, &one.other))
        .name("first_under", &level_name(plan, &one.by, &one.by_base))
        .name("second_under", &level_name(plan, &one.by, &one.by_other))
        .prose("metric", &metric_name(writer, part.run, &one.metric)?)
        .prose("first", &first)
        .prose("second", &second)
        .count("some", count(all.len()))
        .count("count", count(part.analysis.interactions.len()));
    Ok(vec![writer.say("tunes-interaction", args)?])
}

/// How busy the CPUs are at the load that was set, level against level.
fn runs(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let equal = |cost: &&Cost| cost.equal_load && asked(part).any(|c| c.id == cost.comparison);
    let costs: Vec<&Cost> = part.analysis.costs.iter().filter(equal).collect();
    let size = |cost: &Cost| cost.cpu.overall.distance();
    let widest = costs.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let Some((cost, point)) = widest.and_then(|cost| Some((cost, cost.cpu.points.last()?))) else {
        return Ok(Vec::new());
    };
    let load = part.run.plan.load(&cost.cpu.load);
    let Some(offered) = load.and_then(|load| offered(load, &cost.cpu)) else {
        return Ok(Vec::new());
    };
    let condition = condition(part.run, &cost.cpu);
    let args = pair(part.run, &cost.cpu)
        .name("load", &shown(&offered))
        .prose("at", &super::places::at(writer, point.at.as_ref())?)
        .prose("condition", &condition)
        .estimate("first", &point.base)
        .estimate("second", &point.other);
    let key = if condition.text().is_empty() { "runs-at-plain" } else { "runs-at" };
    Ok(vec![writer.say(key, args)?])
}

/// The load that a plan sets for all points of a comparison, if it sets one.
pub(super) fn offered(load: &LoadPlan, comparison: &Comparison) -> Option<Value> {
    let of = |params| load.param(ParamRole::Offered, params);
    let value = of(&comparison.fixed).or_else(|| of(&load.fixed))?;
    value.quantity().map(Value::Quantity)
}

/// What points at the driver or the kernel: a single full CPU, kernel threads, two states.
fn writes(writer: &Writer, part: &Part<'_>) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    let one: Vec<&Limit> =
        part.analysis.limits.iter().filter(|l| l.kind == LimitKind::OneCpu).collect();
    if let Some(first) = one.first() {
        let level = level_of(part, &first.comparison, &first.level);
        let args = Args::new()
            .name("level", &level)
            .estimate("evidence", &first.evidence)
            .count("count", count(one.len()));
        said.push(writer.say("writes-one-cpu", args)?);
    }
    said.extend(threads(writer, part)?);
    if let Some(states) = part.analysis.two_states.first() {
        let others = part.analysis.two_states.len() - 1;
        let level = level_of(part, &states.comparison, &states.level);
        let at = at_first(writer, states.at.as_ref(), others)?;
        let args = Args::new()
            .name("level", &level)
            .prose("at", &at)
            .estimate("slow", &states.slow.rate)
            .estimate("fast", &states.fast.rate);
        said.push(match (&states.slow.segment, &states.fast.segment) {
            (Some(slow), Some(fast)) => {
                let args = args.estimate("small", slow).estimate("large", fast);
                writer.say("writes-states-segments", args)?
            }
            _ => writer.say("writes-states", args)?,
        });
    }
    Ok(said)
}

/// Where kernel threads take most.
fn threads(writer: &Writer, part: &Part<'_>) -> Result<Option<Prose>, ReportError> {
    let all = part.analysis.costs.iter().flat_map(|c| c.parts.iter().map(move |p| (c, p)));
    let by = |(_, p): &(&Cost, &CpuParts)| p.kernel.centre.value;
    let Some((cost, parts)) = all.max_by(|a, b| by(a).total_cmp(&by(b))) else { return Ok(None) };
    if parts.kernel.centre.value < THREADS {
        return Ok(None);
    }
    let args = Args::new()
        .name("level", &level_of(part, &cost.comparison, &parts.level))
        .prose("at", &super::places::at(writer, parts.at.as_ref())?)
        .estimate("threads", &parts.kernel)
        .estimate("machine", &parts.machine);
    writer.say("writes-threads", args).map(Some)
}

fn level_of(part: &Part<'_>, comparison: &str, level: &str) -> String {
    let found = part.analysis.comparisons.iter().find(|c| c.id == comparison);
    let factor = found.map_or(part.run.plan.method.compare.as_str(), |c| c.factor.as_str());
    level_name(&part.run.plan, factor, level)
}
