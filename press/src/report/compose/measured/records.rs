//! Knows the table of a machine's figures beside those of others.
//!
//! Must not know which of them is good.

use super::layout::Layout;
use super::{Load, capital, loads, points, title, value};
use crate::report::compose::names::key_words;
use crate::report::compose::ruling::count;
use crate::report::compose::{Part, Said, Writer};
use crate::report::document::{Column, Node, Prose, Ruling, Table, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Better, RecordKind, ReferenceRecord, Value, reference_records};
use desk::verdict::{Beside, MeasuredPoint, beside, compares};
use std::collections::BTreeSet;

/// The section; nothing where no figure has a record.
pub(super) fn section(
    writer: &mut Writer,
    parts: &[Part<'_>],
) -> Result<Option<Node>, ReportError> {
    let rows = rows(writer, parts)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let word = |lies| match lies {
        Beside::Below => "records-below",
        Beside::Within => "records-within",
        Beside::Above => "records-above",
    };
    let row = |row: Row| Ok(vec![row.name, row.here, writer.label(word(row.lies))?, row.others]);
    let rows = rows.into_iter().map(row).collect::<Result<Vec<_>, ReportError>>()?;
    let caption = writer.label("records-caption")?;
    let caption = writer.numbered(&caption)?;
    let titles = ["records-figure", "records-here", "records-beside", "records-others"];
    let column = |key| Ok(Column { title: writer.label(key)?, numeric: false });
    let columns = titles.into_iter().map(column).collect::<Result<Vec<_>, ReportError>>()?;
    let notes = vec![writer.label("records-note")?];
    let table = Node::Table(Table { caption, columns, rows, folded: false, notes });
    writer.section("records", "records-title", vec![table]).map(Some)
}

/// Up to this many figures below and above the records are named.
const NAMED: usize = 2;

/// How many figures lie outside the records, and which.
pub(super) fn ruling(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Ruling>, ReportError> {
    let rows = rows(writer, parts)?;
    let mut said = Vec::new();
    for (better, key) in [(false, "records-worse"), (true, "records-better")] {
        let outside: Vec<&Row> =
            rows.iter().filter(|row| row.is_better() == Some(better)).collect();
        // Leaving out a single figure would save nothing.
        let named = if outside.len() > NAMED + 1 { NAMED } else { outside.len() };
        let mut names = Vec::new();
        for row in &outside[..named] {
            let args = Args::new().prose("name", &row.short).prose("here", &row.brief);
            names.push(writer.say("records-outside", args)?);
        }
        if outside.len() > named {
            let more = count(outside.len() - named);
            names.push(writer.say("level-more", Args::new().count("count", more))?);
        }
        if !names.is_empty() {
            let names = Prose::join_with(&names, "; ");
            said.push(writer.say(key, Args::new().prose("names", &names))?);
        }
    }
    let inside = rows.iter().filter(|row| row.lies == Beside::Within).count();
    let machines: BTreeSet<String> =
        reference_records().into_iter().map(|record| record.machine).collect();
    let args = Args::new()
        .count("inside", count(inside))
        .count("count", count(rows.len()))
        .count("machines", count(machines.len()));
    said.push(writer.say("records-inside", args)?);
    let label = writer.label("records-title")?;
    let ruling = Ruling { tone: Tone::Plain, label, sentence: Prose::join(&said) };
    Ok((!rows.is_empty()).then_some(ruling))
}

/// A figure of this machine beside those of others.
struct Row {
    name: Prose,
    /// Without its metric.
    short: Prose,
    here: Prose,
    brief: Prose,
    lies: Beside,
    better: Better,
    others: Prose,
}

impl Row {
    /// Whether the figure is better than all records, or worse; nothing within them.
    fn is_better(&self) -> Option<bool> {
        match self.lies {
            Beside::Within => None,
            Beside::Above => Some(self.better == Better::Higher),
            Beside::Below => Some(self.better == Better::Lower),
        }
    }
}

fn rows(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Row>, ReportError> {
    let known = reference_records();
    let mut rows = Vec::new();
    for load in parts.iter().filter(|part| !compares(&part.run.plan)).flat_map(loads) {
        for point in points(load.0, load.1) {
            rows.extend(row(writer, load, point, &known)?);
        }
    }
    Ok(rows)
}

/// What a point gave, beside every record of the same.
fn row(
    writer: &Writer,
    load: Load<'_, '_>,
    point: &MeasuredPoint,
    known: &[ReferenceRecord],
) -> Result<Option<Row>, ReportError> {
    let metric = load.0.run.plan.primary(&load.1.name);
    let at = |record: &ReferenceRecord| {
        let level = point.at.get(&record.param).map(Value::to_string);
        level.as_deref() == Some(&record.level) || record.param.is_empty() && point.at.is_empty()
    };
    let same = |record: &&ReferenceRecord| {
        record.workload == load.1.workload && record.metric == metric && at(record)
    };
    let Some(figure) = point.figure(metric) else { return Ok(None) };
    let Some(lies) = beside(&figure.estimate, known.iter().filter(same)) else { return Ok(None) };
    let others = known.iter().filter(same).map(|record| other(writer, record));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let name = Prose::verbatim(&capital(&key_words(&load.1.name)));
    let place = Layout::of(&load.0.run.plan, load.1).place(point);
    let short = Prose::join_with(&[name.clone(), place.clone()], ", ");
    let name = Prose::join_with(&[name, title(load, metric), place], ", ");
    let here = value(writer, &figure.estimate)?;
    let brief = Prose::estimate(&figure.estimate);
    let better =
        load.0.run.metric(&load.1.name, metric).map_or(Better::Higher, |known| known.better);
    Ok(Some(Row {
        name,
        short,
        here,
        brief,
        lies,
        better,
        others: Prose::join_with(&others, "; "),
    }))
}

/// `55.8 GB/s, low (Xeon E5430, 2009)`.
fn other(writer: &Writer, record: &ReferenceRecord) -> Said {
    let kind = writer.label(match record.kind {
        RecordKind::Low => "records-low",
        RecordKind::Usual => "records-usual",
        RecordKind::High => "records-high",
    })?;
    let args = Args::new()
        .name("value", &record.value)
        .prose("kind", &kind)
        .name("machine", &record.machine)
        .name("year", &record.year.to_string());
    writer.say("records-other", args)
}
