//! Knows the figure of all answers: a row a comparison, the ratio with its interval.

use super::{Drawn, equal, margin, numbered, ratio_axis};
use crate::claim::{Judged, decisive, of_comparison, same};
use crate::figure::{Figure, FigureKind, Scale, Series};
use crate::report::compose::effect::{is_alone, level, metric_title};
use crate::report::compose::figures::{alone_mark, direction, ratio_label, row_name};
use crate::report::compose::ruling::{count, news};
use crate::report::compose::{Part, Writer, say};
use crate::report::document::{Prose, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Better;
use desk::verdict::Verdict;

/// The figure; nothing for a single comparison, which its own figure shows.
pub fn forest(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Option<Figure>, ReportError> {
    // Where both levels carried the load that was set, the ratio is one by design.
    let all = decisive(parts).into_iter().chain(same(parts));
    let all: Vec<Judged<'_>> = all.filter(|(_, c)| !c.verdict.has_no_ratio()).collect();
    let Some((run, first)) = all.first().copied().filter(|_| all.len() > 1) else {
        return Ok(None);
    };
    let mut series = Vec::new();
    let named = Named {
        title: parts.len() > 1,
        metric: all.iter().any(|j| metric_title(j.0, j.1) != metric_title(run, first)),
        direction: all.iter().any(|(_, c)| c.better != first.better),
    };
    for judged in &all {
        let name = name(writer, *judged, named)?;
        let mut mark = alone_mark(&judged.1.overall);
        mark.valid = !judged.1.verdict.is_barred();
        series.push(Series { name: name.text().into(), marks: vec![mark] });
    }
    let mut zones = Vec::new();
    if all.iter().all(|(_, c)| c.margin == first.margin) {
        zones.push(margin(writer, first.margin)?);
    }
    let way = if named.direction { String::new() } else { direction(writer, first.better)? };
    let mut axis = ratio_axis(writer, way, Scale::Log10)?;
    // Rows that leave out the one pair of levels have it beside the axis.
    if let [part] = parts {
        axis.label = ratio_label(writer, part.run)?.text().into();
    }
    let judged = decisive(parts).into_iter();
    let decided: Vec<Judged<'_>> = judged.filter(|(_, c)| !c.verdict.has_no_ratio()).collect();
    let drawn = Drawn {
        kind: FigureKind::Forest,
        title: title(writer, &decided)?,
        subtitle: subtitle(writer, &all, named)?,
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

/// What rows do not share, so that the name of each has to say it.
#[derive(Clone, Copy)]
struct Named {
    title: bool,
    metric: bool,
    direction: bool,
}

/// The comparison, with a mark where no side is ahead by what matters.
fn name(writer: &Writer, (run, c): Judged<'_>, named: Named) -> Result<Prose, ReportError> {
    let only = |wanted: bool, text: &str| Prose::verbatim(if wanted { text } else { "" });
    let title = only(named.title, &run.plan.title);
    let metric = only(named.metric, metric_title(run, c));
    let mut name = Prose::join_with(&[title, row_name(writer, run, c)?, metric], ", ");
    if named.direction && c.better == Better::Lower {
        name = writer.say("forest-lower", Args::new().prose("name", &name))?;
    }
    let key = match (c.verdict, news(c)) {
        (Verdict::TwoStates, _) => "forest-states",
        (Verdict::NoHeadroom, _) => "forest-no-headroom",
        (_, Tone::Good | Tone::Bad) => return Ok(name),
        _ => "forest-shared",
    };
    writer.say(key, Args::new().prose("name", &name))
}

/// How many are ahead and behind by what matters, as the headline counts them.
fn title(writer: &Writer, asked: &[Judged<'_>]) -> Result<Prose, ReportError> {
    if let [(run, c)] = asked {
        return say::title(writer, &of_comparison((run, c)));
    }
    let with = |tone: Tone| asked.iter().filter(|(_, c)| news(c) == tone).count();
    let (ahead, behind) = (with(Tone::Good), with(Tone::Bad));
    let args = Args::new()
        .count("ahead", count(ahead))
        .count("behind", count(behind))
        .count("count", count(asked.len()));
    let key = match (ahead, behind) {
        (0, 0) => "forest-title-neither",
        (_, 0) => "forest-title-ahead",
        (0, _) => "forest-title-behind",
        _ => "forest-title",
    };
    writer.say(key, args)
}

fn subtitle(writer: &Writer, all: &[Judged<'_>], named: Named) -> Result<Prose, ReportError> {
    let Some((run, first)) = all.first() else { return Ok(Prose::default()) };
    let alike = all.iter().all(|(_, c)| c.overall.level.total_cmp(&first.overall.level).is_eq());
    let args = Args::new();
    let said = match is_alone(&first.overall) {
        true => writer.label("forest-subtitle-alone"),
        false if alike => {
            writer.say("forest-subtitle", args.quantity("level", level(&first.overall)))
        }
        false => writer.label("forest-subtitle-levels"),
    }?;
    let metric = if named.metric { "" } else { metric_title(run, first) };
    Ok(Prose::join_with(&[Prose::verbatim(metric), said], ": "))
}

fn footnote(writer: &Writer, all: &[Judged<'_>]) -> Result<Prose, ReportError> {
    let mut said = vec![writer.label("forest-footnote")?];
    let hollow = [
        (Verdict::TwoStates, "forest-footnote-states"),
        (Verdict::NoHeadroom, "forest-footnote-no-headroom"),
    ];
    for (verdict, key) in hollow {
        if all.iter().any(|(_, c)| c.verdict == verdict) {
            said.push(writer.label(key)?);
        }
    }
    Ok(Prose::join(&said))
}
