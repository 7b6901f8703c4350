//! Knows the table of a plan with several loads: under which kind of work a level is better, equal
//! or worse.

use super::effect::plain_effect;
use super::names::short_pair;
use super::ruling::count;
use super::{Said, Writer};
use crate::claim::{Claim, Judged, Kind, Part, asked, of_comparison};
use crate::report::document::{Column, Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::Comparison;

/// The outcomes in the order of the columns.
const OUTCOMES: [Kind; 4] = [Kind::Better, Kind::Equivalent, Kind::Worse, Kind::Undecided];
/// More comparisons in a cell than these are counted.
const TOLD: usize = 3;

/// A row a load, a column an outcome; nothing for fewer than two loads that were compared.
pub(super) fn table(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Node>, ReportError> {
    let all = asked(std::slice::from_ref(part));
    let mut loads: Vec<(&str, Vec<Judged<'_>>)> = Vec::new();
    for (run, c) in all.iter().copied() {
        match loads.iter_mut().find(|(load, _)| *load == c.load) {
            Some((_, of)) => of.push((run, c)),
            None => loads.push((&c.load, vec![(run, c)])),
        }
    }
    if loads.len() < 2 {
        return Ok(None);
    }
    // The loads may have metrics of their own.
    let pair = |c: &Comparison| [&c.factor, &c.base, &c.other].map(String::clone);
    let one_pair = all.windows(2).all(|two| pair(two[0].1) == pair(two[1].1));
    let mut rows = Vec::new();
    for (load, of) in &loads {
        let mut row = vec![Prose::verbatim(load)];
        for kind in OUTCOMES {
            row.push(cell(writer, (of, one_pair), kind)?);
        }
        rows.push(row);
    }
    let mut columns = writer.headed(&["matrix-load"])?;
    for kind in OUTCOMES {
        let title = writer.pick("matrix-*", &kind, Args::new())?;
        columns.push(Column { title, numeric: false });
    }
    let (run, first) = all[0];
    let caption = match one_pair {
        true => writer.say("matrix-caption-pair", short_pair(run, first))?,
        false => writer.label("matrix-caption")?,
    };
    writer.table(&caption, columns, rows).map(|table| Some(Node::Table(table)))
}

/// The comparisons of a load that came out so, each with its effect; many are counted.
fn cell(writer: &Writer, (of, one_pair): (&[Judged<'_>], bool), kind: Kind) -> Said {
    let claims: Vec<(Judged<'_>, Claim)> = of
        .iter()
        .map(|judged| (*judged, of_comparison(*judged)))
        .filter(|(_, claim)| claim.kind.coarse() == kind)
        .collect();
    if claims.is_empty() {
        return Ok(Prose::none());
    }
    if claims.len() > TOLD {
        let args = Args::new().count("count", count(claims.len()));
        return writer.say("matrix-many", args.count("of", count(of.len())));
    }
    let mut said = Vec::new();
    for ((run, c), claim) in &claims {
        let condition = claim.subjects.condition(false);
        let pair = match one_pair {
            true => Prose::default(),
            false => writer.say("pair-short", short_pair(run, c))?,
        };
        let name = Prose::join_with(&[pair, Prose::verbatim(&condition)], ", ");
        said.push(Prose::join(&[name, plain_effect(writer, &c.overall)?]));
    }
    Ok(Prose::join_with(&said, "; "))
}
