//! Knows the figure of a ranking: a row a level in their order, its ratio to the baseline.

use super::{Drawn, equal, margin, numbered, ratio_axis};
use crate::figure::{Figure, FigureKind, Scale, Series};
use crate::report::compose::effect::metric_name;
use crate::report::compose::figures::{alone_mark, direction};
use crate::report::compose::ranks::{headline, named, rank, scope};
use crate::report::compose::ruling::count;
use crate::report::compose::{Part, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::LEVEL;
use desk::unit::{Quantity, Unit};
use desk::verdict::{RankedLevel, Ranking};

/// The figure. The rank stands before the name of each level, so that those that share one are seen
/// together.
pub fn ranks(writer: &mut Writer, part: &Part<'_>, of: &Ranking) -> Result<Figure, ReportError> {
    let run = part.run;
    let mut series = Vec::new();
    for level in &of.levels {
        let args =
            Args::new().prose("rank", &rank(level)).prose("level", &named(run, of, &level.level));
        let name = writer.say("ranks-place", args)?;
        series.push(Series { name: name.text().into(), marks: vec![alone_mark(&level.ratio)] });
    }
    let axis = ratio_axis(writer, direction(writer, of.better)?, Scale::Log10)?;
    let level = |l: &&RankedLevel| l.level != of.base;
    let shown = of.levels.iter().find(level).map_or(LEVEL, |l| l.ratio.level);
    let subtitle = Args::new()
        .prose("metric", &metric_name(writer, run, &of.metric)?)
        .prose("base", &named(run, of, &of.base))
        .quantity("level", Quantity::new(shown, Unit::Share));
    let subtitle = writer.say("ranks-subtitle", subtitle)?;
    let blocks = of.pairs.iter().map(|pair| pair.ratio.n).min().unwrap_or(0);
    let footnote = Args::new()
        .count("pairs", count(of.pairs.len()))
        .count("blocks", blocks)
        .name("run", &run.id);
    let drawn = Drawn {
        kind: FigureKind::Forest,
        title: headline(writer, part, of)?.1,
        subtitle: Prose::join_with(&[subtitle, scope(writer, part, of)?], "; "),
        x: axis.clone(),
        y: axis,
        series,
        zones: vec![margin(writer, of.margin)?],
        references: vec![equal(writer)?],
        roofs: Vec::new(),
        footnote: writer.say("ranks-footnote", footnote)?,
    };
    Ok(numbered(writer, &run.id, drawn))
}
