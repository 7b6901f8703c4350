//! Knows how the order of three levels or more is shown: who is first, and who shares a rank.
//!
//! Never: who is told apart from whom; that is in the ranking it was given.

use super::effect::short_effect;
use super::ruling::count;
use super::say::{place, scope};
use super::{Nodes, Part, Writer, plot};
use crate::claim::{Claim, Judged, answering, key_words, level_name, of_order};
use crate::report::document::{Node, Prose, Source, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::Ranking;

/// Up to this many rankings of a factor have a figure each.
const DRAWN: usize = 3;

/// The rank of a level of an order: `1`, or `2–3` where it is shared.
pub(super) fn rank(place: &Claim) -> Prose {
    let [from, to] = place.subjects.ranks.unwrap_or_default();
    let text = if from == to { from.to_string() } else { format!("{from}–{to}") };
    Prose::from_source(text, Source::Count)
}

/// The whole order in a line: `1 jumbo (+12.3 %), 2–3 usual (the baseline), ...`.
pub(super) fn line(
    writer: &Writer,
    part: &Part<'_>,
    asked: &[Judged<'_>],
) -> Result<Option<Prose>, ReportError> {
    let Some(of) = answering(part, asked) else { return Ok(None) };
    let mut said = Vec::new();
    for level in &of_order(part, of).parts {
        let args = Args::new().prose("rank", &rank(level)).prose("level", &place(writer, level)?);
        said.push(writer.say("ranks-place", args)?);
    }
    let curve = asked.iter().any(|(_, c)| c.points.len() > 1);
    let args = Args::new()
        .choose("over", if curve { "curve" } else { "point" })
        .prose("levels", &Prose::join_with(&said, ", "));
    writer.say("ranks-line", args).map(Some)
}

/// A figure and a table for every ranking of the compared factor, or of the others.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>, compared: bool) -> Nodes {
    let factor = &part.run.plan.method.compare;
    let of = part.analysis.rankings.iter().filter(|r| (r.factor == *factor) == compared);
    let mut all: Vec<&Ranking> = of.collect();
    // The whole before its parts.
    all.sort_by_key(|of| of.load.is_some());
    let mut nodes = Vec::new();
    for of in &all {
        let claim = of_order(part, of);
        if all.len() <= DRAWN || of.load.is_none() {
            let figure = plot::ranks(writer, part, (of, &claim))?;
            let said = writer.shows(&figure, "ranks-shows", Args::new())?;
            nodes.extend([Node::Figure(figure), Node::Paragraph(said)]);
        }
        nodes.push(Node::Table(table(writer, part, (of, &claim))?));
    }
    Ok(nodes)
}

fn table(
    writer: &mut Writer,
    part: &Part<'_>,
    (of, claim): (&Ranking, &Claim),
) -> Result<Table, ReportError> {
    let named = |level: &String| Prose::verbatim(&level_name(&part.run.plan, &of.factor, level));
    let mut rows = Vec::new();
    for (level, place) in of.levels.iter().zip(&claim.parts) {
        let alike: Vec<Prose> = level.alike.iter().map(named).collect();
        let alike = match alike.is_empty() {
            true => writer.label("ranks-apart")?,
            false => Prose::join_with(&alike, ", "),
        };
        let ratio = match level.level == of.base {
            true => writer.label("ranks-baseline")?,
            false => short_effect(writer, &level.ratio)?,
        };
        rows.push(vec![named(&level.level), rank(place), ratio, alike]);
    }
    let unranked = of.unranked.iter().map(named);
    rows.extend(unranked.map(|level| vec![level, Prose::none(), Prose::none(), Prose::none()]));
    let columns = writer.columns(&[
        ("limits-level", false),
        ("ranks-rank", true),
        ("ranks-ratio", true),
        ("ranks-alike", false),
    ])?;
    let caption =
        writer.say("ranks-caption", Args::new().name("factor", &key_words(&of.factor)))?;
    let caption = Prose::join_with(&[caption, scope(writer, claim)?], "; ");
    let pairs = Args::new().count("pairs", count(of.pairs.len()));
    let mut notes = vec![writer.say("ranks-note", pairs)?];
    if !of.unranked.is_empty() {
        notes.push(writer.label("ranks-note-unranked")?);
    }
    Ok(Table { notes, ..writer.table(&caption, columns, rows)? })
}
