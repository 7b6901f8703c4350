//! Knows how it is said what the machine could not do: a line that counts, and a row a load point.

use super::super::names::{level_name, setting};
use super::super::ruling::count;
use super::super::{Nodes, Part, Writer};
use crate::record::{Plan, Settings};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::verdict::NotAvailable;

/// The line and the table; nothing where the machine could do all.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let all = &part.analysis.not_available;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let plan = &part.run.plan;
    let treatments: usize = plan.factors.iter().map(|f| f.levels.len()).product();
    let points: usize = plan.loads.iter().map(points).sum();
    let args = Args::new().count("count", count(all.len())).count("of", count(points * treatments));
    let mut rows: Vec<Vec<Prose>> = Vec::new();
    for one in all {
        rows.push(row(writer, plan, one)?);
    }
    let mut columns = Vec::new();
    for key in ["machine-load", "appendix-load", "appendix-levels", "machine-unavailable"] {
        columns.push(Column { title: writer.label(key)?, numeric: false });
    }
    if plan.factors.is_empty() {
        columns.remove(2);
        rows.iter_mut().for_each(|row| drop(row.remove(2)));
    }
    let caption = writer.label("unavailable-caption")?;
    let caption = writer.numbered(&caption)?;
    let table = Table { caption, columns, rows, folded: false, notes: Vec::new() };
    Ok(vec![Node::Paragraph(writer.say("unavailable-count", args)?), Node::Table(table)])
}

fn points(load: &crate::record::LoadPlan) -> usize {
    load.over.iter().map(|(_, values)| values.len()).product()
}

fn row(writer: &Writer, plan: &Plan, one: &NotAvailable) -> Result<Vec<Prose>, ReportError> {
    let load = plan.loads.iter().find(|load| load.name == one.load);
    let swept =
        |name: &String| load.is_none_or(|load| load.over.iter().any(|(swept, _)| swept == name));
    let params: Settings =
        one.params.iter().filter(|(k, _)| swept(k)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let params: Vec<Prose> = params.iter().map(|(k, v)| setting(k, &v.to_string())).collect();
    let levels = one.levels.iter().map(|(factor, level)| level_name(plan, factor, level));
    let why = writer.say("unavailable-why", Args::new().name("what", &one.what))?;
    Ok(vec![
        Prose::verbatim(&one.load),
        Prose::join_with(&params, ", "),
        Prose::verbatim(&levels.collect::<Vec<_>>().join(", ")),
        why,
    ])
}
