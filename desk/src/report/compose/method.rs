//! Knows how the making of the trials is described.

use super::effect::{is_alone, level};
use super::ruling::{count, shown};
use super::{Part, Writer};
use crate::record::{Run, TrialKind};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::unit::Quantity;
use crate::verdict::Caveat;

/// The chapter: the principle in sentences, the settings of every part in a table.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut said = vec![writer.label("method-order")?, writer.label("method-window")?];
    let overall = parts.iter().flat_map(|p| &p.analysis.comparisons).map(|c| &c.overall);
    let overall: Vec<&Estimate> = overall.filter(|ratio| !is_alone(ratio)).collect();
    if let Some(first) = overall.first() {
        let level = level(first);
        let alpha = Quantity::new(1.0 - level.value, level.unit);
        let args = Args::new().quantity("level", level).quantity("alpha", alpha);
        said.push(writer.say("method-effect", args)?);
    }
    if let Some(part) = parts.first() {
        let margin = part.run.plan.method.margin;
        said.push(writer.say("method-margin", Args::new().quantity("margin", margin))?);
    }
    if let Some(widest) = widest(&overall) {
        let args = Args::new()
            .change("low", widest.low.value / widest.centre.value)
            .change("high", widest.high.value / widest.centre.value);
        said.push(writer.say("method-precision", args)?);
    }
    if let Some((blocks, smallest)) = parts.iter().find_map(few_blocks) {
        let args = Args::new().count("blocks", blocks).change("smallest", smallest.centre.value);
        said.push(writer.say("method-smallest", args)?);
    }
    let mut body = vec![Node::List(said)];
    body.push(Node::Table(table(writer, parts)?));
    writer.section("method", "method-title", body)
}

/// The estimate with the widest relative interval.
fn widest<'a>(estimates: &[&'a Estimate]) -> Option<&'a Estimate> {
    let width = |e: &Estimate| (e.high.value - e.low.value) / e.centre.value;
    estimates.iter().copied().max_by(|a, b| width(a).total_cmp(&width(b)))
}

fn few_blocks<'a>(part: &Part<'a>) -> Option<(u32, &'a Estimate)> {
    part.analysis.caveats.iter().find_map(|caveat| match caveat {
        Caveat::FewBlocks { smallest, .. } => Some((part.run.plan.method.blocks, smallest)),
        _ => None,
    })
}

/// A row a property and a column a part.
fn table(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Table, ReportError> {
    let mut columns = vec![Column { title: writer.label("made-setting")?, numeric: false }];
    let mut rows: Vec<Vec<Prose>> = Vec::new();
    for part in parts {
        let title = match parts.len() {
            1 => writer.label("made-value")?,
            _ => Prose::verbatim(&part.run.plan.title),
        };
        columns.push(Column { title, numeric: false });
        for (at, (key, value)) in properties(writer, part.run)?.into_iter().enumerate() {
            if rows.len() == at {
                rows.push(vec![writer.label(key)?]);
            }
            rows[at].push(value);
        }
    }
    let caption = writer.label("method-caption")?;
    let caption = writer.numbered(&caption)?;
    Ok(Table { caption, columns, rows, folded: false })
}

fn properties(writer: &Writer, run: &Run) -> Result<Vec<(&'static str, Prose)>, ReportError> {
    let method = &run.plan.method;
    let visits = |kind: TrialKind| run.records.iter().filter(|r| r.trial.kind == kind).count();
    let healthy = run.records.iter().filter(|r| r.outcome.fault.is_none());
    let (steady, of) = healthy
        .fold((0, 0), |(steady, of), record| (steady + u32::from(record.outcome.steady), of + 1));
    let levels: Vec<&str> = run
        .plan
        .factors
        .iter()
        .filter(|f| f.name == method.compare)
        .flat_map(|f| f.levels.iter().map(|l| l.name.as_str()))
        .collect();
    let visits = Args::new()
        .count("counted", count(visits(TrialKind::Counted)))
        .count("dry", count(visits(TrialKind::Dry)));
    let settle = Args::new().quantity("least", method.settle).quantity("most", method.settle_max);
    let steady = Args::new().count("steady", steady).count("of", of);
    Ok(vec![
        ("method-load", loads(run)),
        ("method-compare", Prose::verbatim(&method.compare)),
        ("method-levels", Prose::verbatim(&levels.join(", "))),
        ("method-blocks", Prose::count(method.blocks as usize)),
        ("method-visits", writer.say("method-visits-value", visits)?),
        ("method-settle", writer.say("method-settle-value", settle)?),
        ("method-duration", Prose::quantity(method.window)),
        ("method-steady", writer.say("method-steady-value", steady)?),
    ])
}

/// Every load with its workload and what is swept over it.
fn loads(run: &Run) -> Prose {
    let text = |load: &crate::record::LoadPlan| {
        let fixed = load.fixed.iter().map(|(key, value)| format!("{key} {}", shown(value)));
        let over = load.over.iter().map(|(key, values)| match values.as_slice() {
            [first, .., last] if values.len() > 3 => {
                format!("{key} {}–{}", shown(first), shown(last))
            }
            _ => {
                let all: Vec<String> = values.iter().map(shown).collect();
                format!("{key} {}", all.join(" / "))
            }
        });
        let all: Vec<String> = fixed.chain(over).collect();
        format!("{}: {}", load.workload, all.join(", "))
    };
    let all: Vec<String> = run.plan.loads.iter().map(text).collect();
    Prose::verbatim(&all.join("; "))
}
