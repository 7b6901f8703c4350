//! Knows the figure of a ranking: a row a level in their order, its ratio to the baseline.

use super::{Drawn, equal, margin, numbered, ratio_axis};
use crate::claim::{Claim, level_name};
use crate::figure::{Figure, FigureKind, Scale, Series};
use crate::report::compose::effect::metric_name;
use crate::report::compose::figures::{alone_mark, direction};
use crate::report::compose::ranks::rank;
use crate::report::compose::ruling::count;
use crate::report::compose::say::{scope, title};
use crate::report::compose::{Part, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::LEVEL;
use desk::unit::{Quantity, Unit};
use desk::verdict::{RankedLevel, Ranking};

/// The figure. The rank stands before the name of each level, so that those that share one are seen
/// together.
pub fn ranks(
    writer: &mut Writer,
    part: &Part<'_>,
    (of, claim): (&Ranking, &Claim),
) -> Result<Figure, ReportError> {
    let run = part.run;
    let mut series = Vec::new();
    for place in &claim.parts {
        let args = Args::new().prose("rank", &rank(place)).name("level", place.pair()[0]);
        let name = writer.say("ranks-place", args)?;
        let marks = place.estimates.iter().map(alone_mark).collect();
        series.push(Series { name: name.text().into(), marks });
    }
    let axis = ratio_axis(writer, direction(writer, of.better)?, Scale::Log10)?;
    let level = |l: &&RankedLevel| l.level != of.base;
    let shown = of.levels.iter().find(level).map_or(LEVEL, |l| l.ratio.level);
    let subtitle = Args::new()
        .prose("metric", &metric_name(writer, run, &of.metric)?)
        .name("base", &level_name(&run.plan, &of.factor, &of.base))
        .quantity("level", Quantity::new(shown, Unit::Share));
    let subtitle = writer.say("ranks-subtitle", subtitle)?;
    let blocks = of.pairs.iter().map(|pair| pair.ratio.n).min().unwrap_or(0);
    let footnote = Args::new()
        .count("pairs", count(of.pairs.len()))
        .count("blocks", blocks)
        .name("run", &run.id);
    let drawn = Drawn {
        kind: FigureKind::Forest,
        title: title(writer, claim)?,
        subtitle: Prose::join_with(&[subtitle, scope(writer, claim)?], "; "),
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
