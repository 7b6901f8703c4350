//! Knows what stands right behind the answer: every ratio in one figure and one table, and what
//! each kind of reader should take from it.

use super::curve::nearest_first;
use super::effect::{is_alone, judged_effect, level, plain_effects};
use super::figures::{row_heading, row_name};
use super::names::level_name;
use super::places::at;
use super::ruling::{count, shown};
use super::say::word;
use super::{Nodes, Part, Said, Writer, by_level, matrix, plot, ranks, readers};
use crate::claim::{Judged, Kind, asked, same};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::{Agreement, Comparison, Region, curve_verdict};

/// The figure, the table and the readers.
pub(super) fn nodes(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let mut nodes = Vec::new();
    if let [only] = parts {
        nodes.extend(by_level::tables(writer, only)?);
        nodes.extend(matrix::table(writer, only)?);
    }
    // Every level in one figure goes before the pairs.
    for part in parts {
        nodes.extend(ranks::nodes(writer, part, true)?);
    }
    if let Some(figure) = plot::forest(writer, parts)? {
        let said = writer.shows(&figure, "forest-shows", Args::new())?;
        nodes.extend([Node::Figure(figure), Node::Paragraph(said)]);
        let all: Vec<Judged<'_>> = asked(parts).into_iter().chain(same(parts)).collect();
        let all = table(writer, "answers-caption", (&all, parts.len() > 1))?;
        nodes.push(Node::Table(all).fold());
    }
    if let [only] = parts
        && let Some(list) = readers::list(writer, only)?
    {
        nodes.push(writer.section("readers", "readers-title", vec![list])?);
    }
    Ok(nodes)
}

/// A row a comparison, with the title of its run if there are several: ratio, verdict, and where
/// along its curve who is ahead.
pub(super) fn table(
    writer: &mut Writer,
    caption: &str,
    (all, titled): (&[Judged<'_>], bool),
) -> Result<Table, ReportError> {
    let curves = all.iter().any(|(_, c)| !c.regions.is_empty());
    let ratio = match all.first().filter(|(_, c)| !is_alone(&c.overall)) {
        Some((_, c)) => {
            writer.say("table-ratio", Args::new().quantity("level", level(&c.overall)))?
        }
        None => writer.label("table-ratio-alone")?,
    };
    let heading = match all.first() {
        Some((run, c)) if !titled && c.factor == run.plan.method.compare => {
            row_heading(writer, run)?
        }
        _ => writer.label("table-comparison")?,
    };
    // What decides stands first: on a narrow page the rest is found by scrolling.
    let mut columns = vec![
        Column { title: heading, numeric: false },
        Column { title: writer.label("table-verdict")?, numeric: false },
    ];
    if curves {
        columns.push(Column { title: writer.label("table-ahead")?, numeric: false });
    }
    let disagree = all.iter().any(|(_, c)| curve_verdict(c).agreement != Agreement::Alike);
    if disagree {
        columns.push(Column { title: writer.label("table-agreement")?, numeric: false });
    }
    columns.push(Column { title: ratio, numeric: true });
    columns.push(Column { title: writer.label("table-blocks")?, numeric: true });
    let mut rows = Vec::new();
    for (run, c) in all.iter().copied() {
        let title = Prose::verbatim(if titled { &run.plan.title } else { "" });
        let name = Prose::join_with(&[title, row_name(writer, run, c)?], ", ");
        let mut row = vec![name, word(writer, Kind::of_whole(c))?];
        if curves {
            row.push(ahead(writer, (run, c))?);
        }
        if disagree {
            row.push(agreement(writer, c)?);
        }
        row.push(judged_effect(writer, (&c.overall, c.verdict))?);
        row.push(Prose::count(c.overall.n as usize));
        rows.push(row);
    }
    let caption = writer.label(caption)?;
    writer.table(&caption, columns, rows)
}

/// `offload 4 KiB–256 KiB, 1.72× to 6.15×`, a stretch after the other.
fn ahead(writer: &Writer, (run, c): Judged<'_>) -> Said {
    let mut said = Vec::new();
    for region in &c.regions {
        let leader = if region.other_ahead { &c.other } else { &c.base };
        let args = Args::new()
            .name("leader", &level_name(&run.plan, &c.factor, leader))
            .prose("effects", &ends(writer, region)?)
            .name("from", &shown(&region.from))
            .name("to", &shown(&region.to));
        let key = if region.from == region.to { "ahead-at" } else { "ahead-from" };
        said.push(writer.say(key, args)?);
    }
    match said.is_empty() {
        true => Ok(Prose::none()),
        false => Ok(Prose::join_with(&said, "; ")),
    }
}

pub(super) fn ends(writer: &Writer, region: &Region) -> Said {
    let (near, far) = nearest_first(region);
    let [near, far] = plain_effects(writer, [near, far])?;
    if near.text() == far.text() {
        return Ok(near);
    }
    writer.say("ahead-ends", Args::new().prose("near", &near).prose("far", &far))
}

/// Whether the verdict of a curve and its regions say the same.
fn agreement(writer: &Writer, c: &Comparison) -> Said {
    match curve_verdict(c).agreement {
        _ if c.regions.is_empty() => Ok(Prose::none()),
        Agreement::Alike => writer.label("agreement-alike"),
        Agreement::Opposed => writer.label("agreement-opposed"),
        Agreement::Hidden => writer.label("agreement-hidden"),
    }
}

/// ` at 8 KiB` where most points of a curve have it, for lines that name one of several places.
pub(super) fn at_first(
    writer: &Writer,
    place: Option<&desk::record::Value>,
    others: usize,
) -> Said {
    let first = at(writer, place)?;
    if others == 0 {
        return Ok(first);
    }
    let args = Args::new().prose("first", &first).count("count", count(others));
    writer.say("place-and-others", args)
}
