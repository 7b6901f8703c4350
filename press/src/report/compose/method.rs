//! Knows how the making of the trials is described.

use super::effect::{is_alone, level};
use super::machine::runs_alone;
use super::names::{key_words, level_name, setting};
use super::ruling::count;
use super::{Nodes, Part, Said, Writer, spent, standard};
use crate::report::document::{Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Added, LoadPlan, Replicate, Run, TrialKind, Value};
use desk::stats::{Estimate, EstimateMethod, LEVEL, RANKS_FROM, median};
use desk::unit::{Quantity, Unit};
use desk::verdict::{Caveat, POWER, compares};
use std::collections::{BTreeMap, BTreeSet};

/// More swept values than this are said as a range.
const SWEPT: usize = 3;

/// The chapter: the principle in sentences, the settings of every part in a table.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut said = vec![writer.label("method-order")?];
    for part in parts {
        said.extend(boots(writer, part.run)?);
    }
    let window = if runs_alone(parts) { "method-window-alone" } else { "method-window" };
    said.push(writer.label(window)?);
    let overall = parts.iter().flat_map(|p| &p.analysis.comparisons).map(|c| &c.overall);
    let overall: Vec<&Estimate> = overall.filter(|ratio| !is_alone(ratio)).collect();
    said.extend(effects(writer, parts)?);
    if let Some(part) = parts.iter().find(|part| compares(&part.run.plan)) {
        let method = &part.run.plan.method;
        let alpha = method.alpha();
        let args = Args::new()
            .quantity("margin", method.margin)
            .quantity("alpha", Quantity::new(alpha, Unit::Share))
            .quantity("level", Quantity::new(1.0 - 2.0 * alpha, Unit::Share));
        said.push(writer.say("method-margin", args)?);
    }
    if let Some(widest) = widest(&overall) {
        let args = Args::new().off_centre("low", widest.low, widest.centre).off_centre(
            "high",
            widest.high,
            widest.centre,
        );
        said.push(writer.say("method-precision", args)?);
    }
    if parts.iter().any(|part| few_blocks(part).is_some()) {
        let power = Quantity::new(POWER, Unit::Share);
        said.push(writer.say("method-seen", Args::new().quantity("power", power))?);
    }
    said.extend(spent::counting(writer, parts)?);
    let mut body = vec![Node::List(said)];
    body.extend(loads(writer, parts)?);
    body.push(Node::Table(table(writer, parts)?));
    for part in parts {
        body.extend(standard::table(writer, part.run)?.map(Node::Table));
    }
    writer.section("method", "method-title", body)
}

/// How levels that need a boot were met, and what n counts then; nothing for a run without boots.
fn boots(writer: &Writer, run: &Run) -> Result<Vec<Prose>, ReportError> {
    let factors: Vec<String> = run.plan.rebooted().map(|f| key_words(&f.name)).collect();
    if factors.is_empty() {
        return Ok(Vec::new());
    }
    let args = Args::new().name("factors", &factors.join(", "));
    let order = writer.say("method-boots", args.count("rounds", run.plan.method.boots))?;
    let counted = writer.label(match run.plan.replicate() {
        Replicate::Boot => "method-boots-compared",
        Replicate::Block => "method-boots-inside",
    })?;
    Ok(vec![order, counted])
}

/// How effects were estimated and decided, only what was used.
fn effects(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let comparisons = || parts.iter().flat_map(|p| &p.analysis.comparisons);
    let points = comparisons().flat_map(|c| &c.points).map(|point| &point.ratio);
    let all: Vec<&Estimate> = comparisons().map(|c| &c.overall).chain(points).collect();
    let mut said = Vec::new();
    for (method, key) in [
        (EstimateMethod::PairedLogT, "method-effect-means"),
        (EstimateMethod::HodgesLehmann, "method-effect-ranks"),
        (EstimateMethod::PairedLogTHolm, "method-curve-steps"),
        (EstimateMethod::PairedLogMaxT, "method-curve-flips"),
    ] {
        let family = comparisons().map(|c| &c.overall).find(|ratio| !is_alone(ratio));
        let (true, Some(family)) = (all.iter().any(|e| e.method == method), family) else {
            continue;
        };
        let level = level(family);
        let alpha = Quantity::new(1.0 - level.value, level.unit);
        let ranks = u32::try_from(RANKS_FROM).unwrap_or(u32::MAX);
        let args = Args::new().quantity("level", level).quantity("alpha", alpha);
        said.push(writer.say(key, args.count("ranks", ranks))?);
    }
    let levels = comparisons().flat_map(|c| &c.points).flat_map(|p| [&p.base, &p.other]);
    if levels.into_iter().any(|level| level.method == EstimateMethod::MergedQuantile) {
        said.push(writer.label("method-quantile")?);
    }
    for part in parts {
        said.extend(looks(writer, part.run)?);
        said.extend(added(writer, part.run)?);
    }
    said.dedup();
    Ok(said)
}

/// When the run could end, and what that costs.
fn looks(writer: &Writer, run: &Run) -> Result<Option<Prose>, ReportError> {
    let looks = &run.plan.method.looks;
    let was_extended = run.sittings.iter().any(|sitting| sitting.added.is_some());
    let Some((last, before)) = looks.split_last().filter(|_| !was_extended) else {
        return Ok(None);
    };
    let whole = 1.0 - LEVEL;
    let each = whole / f64::from(count(looks.len()));
    let share = |value| Quantity::new(value, Unit::Share);
    let before = before.iter().map(|look| Prose::count(*look as usize)).collect::<Vec<_>>();
    let args = Args::new()
        .prose("before", &Prose::join_with(&before, ", "))
        .count("last", *last)
        .quantity("each", share(each))
        .quantity("whole", share(whole));
    writer.say("method-looks", args).map(Some)
}

/// That blocks were added to a run that had ended, and what that costs.
fn added(writer: &Writer, run: &Run) -> Result<Vec<Prose>, ReportError> {
    let each = (1.0 - LEVEL) / f64::from(count(run.plan.method.looks.len().max(1)));
    let said = |added: &Added| {
        let share = |value| Quantity::new(value, Unit::Share);
        let args = Args::new().count("from", added.from).count("to", added.to);
        let args = args.quantity("whole", share(1.0 - LEVEL));
        writer.say("method-added", args.quantity("each", share(each)))
    };
    run.sittings.iter().filter_map(|sitting| sitting.added.as_ref()).map(said).collect()
}

/// The estimate with the widest relative interval.
fn widest<'a>(estimates: &[&'a Estimate]) -> Option<&'a Estimate> {
    let width = |e: &Estimate| (e.high.value - e.low.value) / e.centre.value;
    estimates.iter().copied().max_by(|a, b| width(a).total_cmp(&width(b)))
}

fn few_blocks<'a>(part: &Part<'a>) -> Option<&'a Estimate> {
    part.analysis.caveats.iter().find_map(|caveat| match caveat {
        Caveat::FewBlocks { smallest, .. } => Some(smallest),
        _ => None,
    })
}

/// For one part a row a property; for several a row a part, so that names never share a column.
fn table(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Table, ReportError> {
    // Parts may have different properties: each has a place, and a part that lacks it a dash.
    let (mut keys, mut all) = (Vec::new(), Vec::new());
    for part in parts {
        let mut properties = properties(writer, part.run)?;
        if parts.iter().any(|part| few_blocks(part).is_some()) {
            properties.push(("method-effect-seen", smallest(writer, part)?));
        }
        for (key, _) in &properties {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        let own: BTreeMap<&str, Prose> = properties.into_iter().collect();
        all.push((Prose::verbatim(&part.run.plan.title), own));
    }
    let cell =
        |own: &BTreeMap<&str, Prose>, key: &&str| own.get(key).cloned().unwrap_or_else(Prose::none);
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    if let [(_, own)] = all.as_slice() {
        columns = writer.headed(&["made-setting", "made-value"])?;
        for key in &keys {
            rows.push(vec![writer.label(key)?, cell(own, key)]);
        }
    } else {
        columns.extend(writer.headed(&["method-part"])?);
        columns.extend(writer.headed(&keys)?);
        for (title, own) in all {
            let cells = keys.iter().map(|key| cell(&own, key));
            rows.push(std::iter::once(title).chain(cells).collect());
        }
    }
    let caption = writer.label("method-caption")?;
    writer.table(&caption, columns, rows)
}

fn smallest(writer: &Writer, part: &Part<'_>) -> Said {
    let Some(smallest) = few_blocks(part) else { return Ok(Prose::none()) };
    writer.say("method-smallest-value", Args::new().changed("smallest", smallest.centre))
}

fn properties(writer: &Writer, run: &Run) -> Result<Vec<(&'static str, Prose)>, ReportError> {
    let method = &run.plan.method;
    let trials = |kind: TrialKind| -> usize {
        let of_kind = run.records.iter().filter(|r| r.trial.kind == kind);
        of_kind.map(|r| r.trial.id).collect::<BTreeSet<_>>().len()
    };
    let [counted, dry] = [TrialKind::Counted, TrialKind::Dry].map(trials);
    let again = run.records.len() - counted - dry;
    let healthy = run.records.iter().filter(|r| r.outcome.fault.is_none());
    let (steady, of) = healthy
        .fold((0, 0), |(steady, of), record| (steady + u32::from(record.outcome.steady), of + 1));
    let compared = run.plan.factors.iter().filter(|f| f.name == method.compare);
    let levels: Vec<String> = compared
        .flat_map(|f| f.levels.iter().map(|l| level_name(&run.plan, &f.name, &l.name)))
        .collect();
    let levels = if levels.is_empty() { "–".to_owned() } else { levels.join(", ") };
    let visits = Args::new().count("counted", count(counted)).count("dry", count(dry));
    let visits = match again {
        0 => writer.say("method-visits-value", visits)?,
        again => writer.say("method-visits-again", visits.count("again", count(again)))?,
    };
    let settle = if method.settle == method.settle_max {
        Prose::quantity(method.settle)
    } else {
        let range = Args::new().range("range", method.settle, method.settle_max);
        writer.say("method-settle-value", range)?
    };
    let steady = Args::new().count("steady", steady).count("of", of);
    let mut all = vec![
        ("method-levels", Prose::verbatim(&levels)),
        ("method-blocks", in_boots(writer, run, blocks(run))?),
        ("method-visits", visits),
        ("method-settle", settle),
        ("method-duration", Prose::quantity(method.window)),
        ("method-steady", writer.say("method-steady-value", steady)?),
    ];
    all.extend(cost_of_probes(writer, run)?.map(|share| ("method-probes", share)));
    // Loops of the machine itself have no rate that levels out, and need no levels to be told.
    let tells = |key: &str| match key {
        "method-steady" => !run.plan.is_alone(),
        "method-levels" => !levels.is_empty(),
        _ => true,
    };
    all.retain(|(key, _)| tells(key));
    Ok(all)
}

/// What reading the probes took of one core, the median of the valid visits; none where none says.
pub(super) fn cost_of_probes(writer: &Writer, run: &Run) -> Result<Option<Prose>, ReportError> {
    let healthy = run.records.iter().filter(|r| r.outcome.fault.is_none());
    let costs = healthy.filter_map(|record| record.reading("probe", "machine", "cost"));
    let costs: Vec<f64> = costs.map(|share| share.value).collect();
    let share = median(&costs).map(|share| Quantity::new(share, Unit::Share));
    let said = |share| writer.say("method-probes-value", Args::new().quantity("share", share));
    share.map(said).transpose()
}

/// So many blocks, in each boot of a run with boots.
pub(super) fn in_boots(writer: &Writer, run: &Run, blocks: u32) -> Said {
    if run.plan.boots() == 0 {
        return Ok(Prose::count(blocks as usize));
    }
    let args = Args::new().count("blocks", blocks).count("boots", run.plan.boots());
    writer.say("method-blocks-value", args.count("rounds", run.plan.method.boots))
}

/// Blocks of the plan, in each boot of one with boots; with looks, those after which it ended.
fn blocks(run: &Run) -> u32 {
    let visited = run.last_block();
    match &run.plan.method.looks[..] {
        [] => run.plan.method.blocks,
        _ => visited.unwrap_or(0),
    }
}

/// What every load has in common, then what the loads of single parts have besides.
fn loads(writer: &Writer, parts: &[Part<'_>]) -> Nodes {
    let all: Vec<(&Run, &LoadPlan)> =
        parts.iter().flat_map(|p| p.run.plan.loads.iter().map(|l| (p.run, l))).collect();
    let mut said: Vec<Vec<Prose>> = Vec::new();
    for (run, load) in &all {
        said.push(settings(writer, run, load)?);
    }
    let Some(first) = said.first() else { return Ok(Vec::new()) };
    let common: Vec<Prose> =
        first.iter().filter(|s| said.iter().all(|other| other.contains(s))).cloned().collect();
    let workloads: BTreeSet<&str> = all.iter().map(|(_, load)| load.workload.as_str()).collect();
    let workloads: Vec<&str> = workloads.into_iter().collect();
    let args = Args::new()
        .name("workload", &workloads.join(", "))
        .prose("settings", &Prose::join_with(&common, ", "));
    let mut nodes = vec![Node::Paragraph(writer.say("method-loads", args)?)];
    let mut own: Vec<(Vec<Prose>, Prose)> = Vec::new();
    for ((run, load), settings) in all.iter().zip(said) {
        let name = if parts.len() > 1 { &run.plan.title } else { &load.name };
        let rest: Vec<Prose> = settings.into_iter().filter(|s| !common.contains(s)).collect();
        let rest = Prose::join_with(&rest, ", ");
        match own.iter_mut().find(|(_, known)| *known == rest) {
            Some((names, _)) => names.push(Prose::verbatim(name)),
            None if !rest.text().is_empty() => own.push((vec![Prose::verbatim(name)], rest)),
            None => {}
        }
    }
    let mut items = Vec::new();
    for (names, rest) in own {
        let names = Prose::join_with(&names, "; ");
        let args = Args::new().prose("names", &names).prose("settings", &rest);
        items.push(writer.say("method-load-own", args)?);
    }
    if !items.is_empty() {
        nodes.push(Node::List(items));
    }
    Ok(nodes)
}

/// The parameters of a load and what is swept, without those that a factor sets; beside one that
/// was made otherwise than planned what the plan has.
fn settings(writer: &Writer, run: &Run, load: &LoadPlan) -> Result<Vec<Prose>, ReportError> {
    let levels = || run.plan.factors.iter().flat_map(|f| &f.levels);
    let free = |key: &str| !levels().any(|level| level.settings.contains_key(key));
    let mut said = Vec::new();
    for (key, value) in load.fixed.iter().filter(|(key, _)| free(key)) {
        said.push(match made(run, load, key).filter(|made| made != value) {
            Some(made) => {
                let args = Args::new()
                    .prose("setting", &setting(key, &made.to_string()))
                    .name("planned", &value.to_string());
                writer.say("method-made", args)?
            }
            None => setting(key, &value.to_string()),
        });
    }
    let over = load.over.iter().map(|(key, values)| match values.as_slice() {
        [first, .., last] if values.len() > SWEPT => setting(key, &format!("{first}–{last}")),
        _ => {
            let all: Vec<String> = values.iter().map(ToString::to_string).collect();
            setting(key, &all.join(" / "))
        }
    });
    said.extend(over);
    Ok(said)
}

/// What every valid visit of a load was made with; nothing where they differ or do not say.
fn made(run: &Run, load: &LoadPlan, key: &str) -> Option<Value> {
    let valid = run.records.iter().filter(|r| r.outcome.fault.is_none());
    let mut all = valid.filter(|r| r.trial.point.load == load.name);
    let first = all.next()?.outcome.made_with.get(key)?.clone();
    all.all(|r| r.outcome.made_with.get(key) == Some(&first)).then_some(first)
}
