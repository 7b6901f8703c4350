//! Knows the table of what a load counted beside what another counted of the same work: by point,
//! under every level of what is compared.
//!
//! Must not know who counted, nor whether the two are equal: it says how far apart they are.

use super::names::{key_words, level_name};
use super::ruling::shown;
use super::{Part, Writer};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Value;
use desk::stats::Estimate;
use desk::verdict::{OwnCount, OwnPair, own_counts};

/// A table a load that has both counts.
pub(super) fn tables(writer: &mut Writer, part: &Part<'_>) -> Result<Vec<Node>, ReportError> {
    let all = own_counts(part.run);
    all.iter().map(|one| Ok(Node::Table(table(writer, part, one)?))).collect()
}

fn table(writer: &mut Writer, part: &Part<'_>, one: &OwnCount) -> Result<Table, ReportError> {
    let plan = &part.run.plan;
    let along = one.along.as_deref().map(key_words).unwrap_or_default();
    let mut columns = vec![Column { title: Prose::verbatim(&along), numeric: false }];
    let levels: Vec<String> =
        one.levels.iter().map(|(factor, level)| level_name(plan, factor, level)).collect();
    let levels = if levels.is_empty() { vec![String::new()] } else { levels };
    for level in &levels {
        for key in ["own-count-load", "own-count-other"] {
            let title = [Prose::verbatim(level), writer.label(key)?];
            columns.push(Column { title: Prose::join_with(&title, ", "), numeric: true });
        }
    }
    let cell = |found: &Option<Estimate>| {
        found.as_ref().map_or_else(Prose::none, |found| Prose::quantity(found.centre))
    };
    let row = |(at, pairs): &(Option<Value>, Vec<OwnPair>)| {
        let place = Prose::verbatim(&at.as_ref().map(shown).unwrap_or_default());
        let cells = pairs.iter().flat_map(|pair| [cell(&pair.load), cell(&pair.own)]);
        std::iter::once(place).chain(cells).collect()
    };
    let rows = one.rows.iter().map(row).collect();
    let metric = part.run.metric(&one.load, plan.primary(&one.load));
    let metric = metric.map_or("", |metric| metric.title.as_str());
    let caption = writer.say("own-count-caption", Args::new().name("metric", metric))?;
    let note = writer.say("own-count-note", Args::new().quantity("share", one.farthest))?;
    Ok(Table { notes: vec![note], ..writer.table(&caption, columns, rows)? })
}
