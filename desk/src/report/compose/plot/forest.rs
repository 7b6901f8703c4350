//! Knows the figure of all answers: a row a comparison, the ratio with its interval.

use super::{Drawn, equal, numbered, ratio_axis};
use crate::figure::{Figure, FigureKind, Scale, Series, Zone};
use crate::record::Better;
use crate::report::compose::answer::{Judged, asked, same};
use crate::report::compose::effect::{is_alone, level, metric_title};
use crate::report::compose::figures::{alone_mark, direction, row_name};
use crate::report::compose::{Part, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::verdict::{Comparison, Verdict};

/// The figure; nothing for a single comparison, which its own figure shows.
pub fn forest(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Option<Figure>, ReportError> {
    let all: Vec<Judged<'_>> = asked(parts).into_iter().chain(same(parts)).collect();
    let Some((run, first)) = all.first().copied().filter(|_| all.len() > 1) else {
        return Ok(None);
    };
    let mut series = Vec::new();
    for judged in &all {
        let name = name(writer, *judged, parts.len() > 1)?;
        let mut mark = alone_mark(&judged.1.overall);
        mark.valid = judged.1.verdict != Verdict::TwoStates;
        series.push(Series { name: name.text().into(), marks: vec![mark] });
    }
    let margin = first.margin;
    let mut zones = Vec::new();
    if all.iter().all(|(_, c)| c.margin == margin) {
        let name = writer.say("zone-margin", Args::new().quantity("margin", margin))?;
        let (from, to) = (1.0 / (1.0 + margin.value), 1.0 + margin.value);
        zones.push(Zone { from, to, name: name.text().into() });
    }
    let one_way = all.iter().all(|(_, c)| c.better == first.better);
    let way = if one_way { direction(writer, first.better)? } else { String::new() };
    let axis = ratio_axis(writer, way, Scale::Log10)?;
    let drawn = Drawn {
        kind: FigureKind::Forest,
        title: title(writer, &asked(parts))?,
        subtitle: subtitle(writer, (metric_title(run, first), first))?,
        x: axis.clone(),
        y: axis,
        series,
        zones,
        references: vec![equal(writer)?],
        roofs: Vec::new(),
        footnote: footnote(writer, &all)?,
    };
    Ok(Some(numbered(writer, &run.id, drawn)))
}

/// The comparison, with a mark where no side is ahead.
fn name(writer: &Writer, (run, c): Judged<'_>, titled: bool) -> Result<Prose, ReportError> {
    let title = Prose::verbatim(if titled { &run.plan.title } else { "" });
    let name = Prose::join_with(&[title, row_name(writer, run, c)?], ", ");
    let key = match c.verdict {
        Verdict::Better | Verdict::Worse => return Ok(name),
        Verdict::Equivalent | Verdict::Undecided { .. } => "forest-shared",
        Verdict::TwoStates => "forest-states",
    };
    writer.say(key, Args::new().prose("name", &name))
}

fn title(writer: &Writer, asked: &[Judged<'_>]) -> Result<Prose, ReportError> {
    let with = |verdict: fn(&Verdict) -> bool| {
        let seen = asked.iter().filter(|(_, c)| verdict(&c.verdict)).count();
        u32::try_from(seen).unwrap_or(u32::MAX)
    };
    let ahead = with(|v| *v == Verdict::Better);
    let behind = with(|v| *v == Verdict::Worse);
    let count = with(|_| true);
    let args = Args::new().count("ahead", ahead).count("behind", behind).count("count", count);
    writer.say("forest-title", args)
}

fn subtitle(writer: &Writer, (metric, first): (&str, &Comparison)) -> Result<Prose, ReportError> {
    let args = Args::new().name("metric", metric);
    match is_alone(&first.overall) {
        true => writer.say("forest-subtitle-alone", args),
        false => writer.say("forest-subtitle", args.quantity("level", level(&first.overall))),
    }
}

fn footnote(writer: &Writer, all: &[Judged<'_>]) -> Result<Prose, ReportError> {
    let mut said = vec![writer.label("forest-footnote")?];
    if all.iter().any(|(_, c)| c.better == Better::Lower) {
        said.push(writer.label("forest-footnote-lower")?);
    }
    if all.iter().any(|(_, c)| c.verdict == Verdict::TwoStates) {
        said.push(writer.label("forest-footnote-states")?);
    }
    Ok(Prose::join(&said))
}
