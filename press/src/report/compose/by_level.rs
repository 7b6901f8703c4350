//! Knows the tables that stand beside a comparison, by point and level: what a load counted and
//! another counted of the same work, shares of a declared line, and the generator's headroom.
//!
//! Must not know who counted, nor whether the two are equal: it says how far apart they are.

use super::names::{key_words, level_name};
use super::ruling::shown;
use super::{Part, Said, Writer};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Run;
use desk::stats::Estimate;
use desk::verdict::{LEAST_HEADROOM, LevelTable, OwnCount, headrooms, line_shares, own_counts};

/// A table a load that has both counts, one a load with a declared line, and one a load whose
/// generator was measured alone.
pub(super) fn tables(writer: &mut Writer, part: &Part<'_>) -> Result<Vec<Node>, ReportError> {
    let mut tables = Vec::new();
    for one in own_counts(part.run) {
        tables.push(Node::Table(counts(writer, part.run, &one)?));
    }
    for one in line_shares(part.run) {
        tables.push(Node::Table(single(writer, part.run, (&one, "line-share-caption"))?));
    }
    for one in headrooms(part.run) {
        let table = single(writer, part.run, (&one, "headroom-caption"))?;
        let notes = vec![writer.say("headroom-note", Args::new().count("least", LEAST_HEADROOM))?];
        tables.push(Node::Table(Table { notes, ..table }));
    }
    Ok(tables)
}

fn counts(writer: &mut Writer, run: &Run, one: &OwnCount) -> Result<Table, ReportError> {
    let names = [writer.label("own-count-load")?, writer.label("own-count-other")?];
    let caption = caption(writer, run, (&one.table, "own-count-caption"))?;
    let note = writer.say("own-count-note", Args::new().quantity("share", one.farthest))?;
    let table = table(writer, run, (&one.table, &names, &caption))?;
    Ok(Table { notes: vec![note], ..table })
}

fn single(
    writer: &mut Writer,
    run: &Run,
    (one, key): (&LevelTable, &str),
) -> Result<Table, ReportError> {
    let caption = caption(writer, run, (one, key))?;
    table(writer, run, (one, &[Prose::verbatim("")], &caption))
}

fn caption(writer: &Writer, run: &Run, (one, key): (&LevelTable, &str)) -> Said {
    let metric = run.metric(&one.load, run.plan.primary(&one.load));
    let metric = metric.map_or("", |metric| metric.title.as_str());
    writer.say(key, Args::new().name("metric", metric))
}

/// A row a point, a column a level and name of a metric.
fn table(
    writer: &mut Writer,
    run: &Run,
    (one, names, caption): (&LevelTable, &[Prose], &Prose),
) -> Result<Table, ReportError> {
    let along = one.along.as_deref().map(key_words).unwrap_or_default();
    let mut columns = vec![Column { title: Prose::verbatim(&along), numeric: false }];
    let levels: Vec<String> =
        one.levels.iter().map(|(factor, level)| level_name(&run.plan, factor, level)).collect();
    let levels = if levels.is_empty() { vec![String::new()] } else { levels };
    for level in &levels {
        let title = |name: &Prose| Prose::join_with(&[Prose::verbatim(level), name.clone()], ", ");
        columns.extend(names.iter().map(|name| Column { title: title(name), numeric: true }));
    }
    let cell = |found: &Option<Estimate>| {
        found.as_ref().map_or_else(Prose::none, |found| Prose::quantity(found.centre))
    };
    let rows = one.rows.iter().map(|(at, groups)| {
        let place = Prose::verbatim(&at.as_ref().map(shown).unwrap_or_default());
        std::iter::once(place).chain(groups.iter().flatten().map(cell)).collect()
    });
    let rows = rows.collect();
    writer.table(caption, columns, rows)
}
