//! Knows how a finding is shown: one figure, the sentences that explain it, the table of its data.

use super::curve;
use super::effect::{level, metric_title, short_effect};
use super::ruling::{condition, count, shown, verdict_sentence, verdict_word};
use super::{Nodes, Part, Said, Writer, limits};
use crate::figure::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
use crate::record::{Better, Run, Value};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::unit::{Quantity, Unit};
use crate::verdict::{Comparison, PointResult};

/// Above this ratio of largest to smallest, a linear value axis would hide the small ones.
const WIDE: f64 = 100.0;

/// Everything a part found, question by question.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let comparisons = &part.analysis.comparisons;
    if comparisons.is_empty() {
        return Ok(vec![Node::Paragraph(writer.label("results-none")?)]);
    }
    let mut nodes = Vec::new();
    for comparison in comparisons.iter().filter(|c| is_curve(c)) {
        nodes.push(curve_section(writer, part, comparison)?);
    }
    let single: Vec<&Comparison> = comparisons.iter().filter(|c| !is_curve(c)).collect();
    if !single.is_empty() {
        nodes.extend(points(writer, part, &single)?);
    }
    Ok(nodes)
}

/// A curve has at least two points, all at places that can stand along an axis.
fn is_curve(comparison: &Comparison) -> bool {
    comparison.points.len() > 1 && comparison.points.iter().all(|p| place(p).is_some())
}

#[expect(clippy::cast_precision_loss, reason = "counts along an axis stay far below 2^53")]
fn place(point: &PointResult) -> Option<Quantity> {
    match point.at.as_ref()? {
        Value::Quantity(quantity) => Some(*quantity),
        Value::Count(count) => Some(Quantity::new(*count as f64, Unit::Count)),
        Value::Word(_) => None,
    }
}

fn curve_section(
    writer: &mut Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Node, ReportError> {
    let run = part.run;
    let condition = condition(writer, run, comparison)?;
    let number = writer.next_figure();
    let figure = curve_figure(writer, run, comparison, number)?;
    let mut said = vec![verdict_sentence(writer, run, comparison)?];
    said.extend(curve::sentences(writer, comparison)?);
    said.extend(limits::cause(writer, part, comparison)?);
    said.extend(left_out(writer, comparison)?);
    let text = Args::new().count("number", number).prose("text", &Prose::join(&said));
    let text = writer.say("see-figure", text)?;
    let table = curve_table(writer, run, comparison, number)?;
    let body = vec![Node::Figure(figure), Node::Paragraph(text), Node::Table(table)];
    let title = if condition.text().is_empty() {
        let args = Args::new()
            .name("metric", metric_title(run, comparison))
            .name("other", &comparison.other)
            .name("base", &comparison.base);
        writer.say("results-point-title", args)?
    } else {
        condition
    };
    Ok(Node::Section { id: format!("result-{}-{}", run.id, comparison.id), title, body })
}

fn left_out(writer: &Writer, comparison: &Comparison) -> Result<Option<Prose>, ReportError> {
    let args = Args::new().count("count", comparison.left_out);
    (comparison.left_out > 0).then(|| writer.say("left-out", args)).transpose()
}

/// Both levels along the curve, with zones where one is ahead.
pub fn curve_figure(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
    number: u32,
) -> Result<Figure, ReportError> {
    let metric = metric_title(run, comparison);
    let curve = comparison.curve.as_deref().unwrap_or_default();
    let subtitle =
        Args::new().name("metric", metric).name("curve", curve).name("load", &comparison.load);
    let blocks = Args::new()
        .count("blocks", comparison.overall.n)
        .quantity("level", level(&comparison.overall))
        .name("run", &run.id);
    let mut zones = Vec::new();
    for region in &comparison.regions {
        zones.extend(zone(writer, comparison, region)?);
    }
    let series = |name: &str, pick: fn(&PointResult) -> (&Estimate, &[Quantity])| Series {
        name: name.into(),
        marks: comparison.points.iter().map(|p| mark(place(p), pick(p))).collect(),
    };
    Ok(Figure {
        id: format!("fig-{}-{}", run.id, comparison.id),
        number,
        kind: FigureKind::Sweep,
        title: finding_title(writer, run, comparison)?.text().into(),
        subtitle: writer.say("figure-curve-subtitle", subtitle)?.text().into(),
        x: x_axis(comparison, curve),
        y: y_axis(writer, comparison, metric)?,
        series: vec![
            series(&comparison.base, |p| (&p.base, &p.base_runs)),
            series(&comparison.other, |p| (&p.other, &p.other_runs)),
        ],
        zones,
        references: Vec::new(),
        footnote: writer.say("figure-footnote-curve", blocks)?.text().into(),
    })
}

fn finding_title(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    use crate::verdict::Verdict;
    let key = match comparison.verdict {
        Verdict::Better => "finding-better",
        Verdict::Worse => "finding-worse",
        Verdict::Equivalent => "finding-equivalent",
        Verdict::Undecided { .. } => "finding-undecided",
    };
    let args = Args::new()
        .name("other", &comparison.other)
        .name("base", &comparison.base)
        .prose("effect", &short_effect(writer, &comparison.overall)?);
    let finding = writer.say(key, args)?;
    let condition = condition(writer, run, comparison)?;
    if condition.text().is_empty() {
        return Ok(finding);
    }
    let args = Args::new().prose("condition", &condition).prose("finding", &finding);
    writer.say("finding-title", args)
}

fn zone(
    writer: &Writer,
    comparison: &Comparison,
    region: &crate::verdict::Region,
) -> Result<Option<Zone>, ReportError> {
    let at = |value: &Value| {
        comparison.points.iter().find(|p| p.at.as_ref() == Some(value)).and_then(place)
    };
    let (Some(from), Some(to)) = (at(&region.from), at(&region.to)) else { return Ok(None) };
    let leader = if region.other_ahead { &comparison.other } else { &comparison.base };
    let name = writer.say("zone-ahead", Args::new().name("level", leader))?.text().into();
    Ok(Some(Zone { from: from.value, to: to.value, name }))
}

fn mark(x: Option<Quantity>, (estimate, runs): (&Estimate, &[Quantity])) -> Mark {
    Mark {
        x: x.map_or(0.0, |q| q.value),
        centre: estimate.centre.value,
        low: estimate.low.value,
        high: estimate.high.value,
        runs: runs.iter().map(|q| q.value).collect(),
        valid: true,
    }
}

fn x_axis(comparison: &Comparison, curve: &str) -> Axis {
    let places: Vec<Quantity> = comparison.points.iter().filter_map(place).collect();
    let (first, last) = (places.first(), places.last());
    let geometric = first.zip(last).is_some_and(|(a, b)| a.value > 0.0 && b.value / a.value > 8.0);
    Axis {
        label: curve.into(),
        unit: first.map_or(Unit::Count, |q| q.unit),
        scale: if geometric { Scale::Log2 } else { Scale::Linear },
        direction: String::new(),
    }
}

fn y_axis(writer: &Writer, comparison: &Comparison, label: &str) -> Result<Axis, ReportError> {
    let centres = comparison.points.iter().flat_map(|p| [p.base.centre, p.other.centre]);
    let values: Vec<f64> = centres.map(|q| q.value).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    Ok(Axis {
        label: label.into(),
        unit: comparison.points.first().map_or(Unit::Count, |p| p.base.centre.unit),
        scale: if least > 0.0 && most / least > WIDE { Scale::Log10 } else { Scale::Linear },
        direction: direction(writer, comparison.better)?,
    })
}

fn direction(writer: &Writer, better: Better) -> Result<String, ReportError> {
    let key = match better {
        Better::Higher => "direction-higher",
        Better::Lower => "direction-lower",
    };
    Ok(writer.label(key)?.text().into())
}

fn curve_table(
    writer: &mut Writer,
    run: &Run,
    comparison: &Comparison,
    number: u32,
) -> Result<Table, ReportError> {
    let curve = comparison.curve.as_deref().unwrap_or_default();
    let first = Prose::verbatim(curve);
    let columns = data_columns(writer, first, comparison)?;
    let mut rows = Vec::new();
    for point in &comparison.points {
        let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
        rows.push(row(writer, at, point)?);
    }
    let none = Prose::verbatim("–");
    rows.push(vec![
        writer.label("table-overall")?,
        none.clone(),
        none,
        short_effect(writer, &comparison.overall)?,
        verdict_word(writer, comparison.verdict)?,
        Prose::count(comparison.overall.n as usize),
    ]);
    let caption = data_caption(writer, number, metric_title(run, comparison))?;
    Ok(Table { caption: writer.numbered(&caption)?, columns, rows, folded: false })
}

fn data_caption(writer: &Writer, figure: u32, metric: &str) -> Said {
    let args = Args::new().count("figure", figure).name("metric", metric);
    writer.say("table-data-caption", args)
}

fn data_columns(
    writer: &Writer,
    first: Prose,
    comparison: &Comparison,
) -> Result<Vec<Column>, ReportError> {
    let ratio = match is_curve(comparison) {
        true => writer.label("table-ratio-curve")?,
        false => {
            let args = Args::new().quantity("level", level(&comparison.overall));
            writer.say("table-ratio", args)?
        }
    };
    let column = |title, numeric| Column { title, numeric };
    Ok(vec![
        column(first, false),
        column(Prose::verbatim(&comparison.base), true),
        column(Prose::verbatim(&comparison.other), true),
        column(ratio, true),
        column(writer.label("table-verdict")?, false),
        column(writer.label("table-blocks")?, true),
    ])
}

fn row(writer: &Writer, name: Prose, point: &PointResult) -> Result<Vec<Prose>, ReportError> {
    Ok(vec![
        name,
        Prose::quantity(point.base.centre),
        Prose::quantity(point.other.centre),
        short_effect(writer, &point.ratio)?,
        verdict_word(writer, point.verdict)?,
        Prose::count(point.ratio.n as usize),
    ])
}

/// Comparisons without a curve share one figure of ratios and one table a pair of levels.
fn points(writer: &mut Writer, part: &Part<'_>, comparisons: &[&Comparison]) -> Nodes {
    let number = writer.next_figure();
    let mut nodes = vec![Node::Figure(dots_figure(writer, part.run, comparisons, number)?)];
    let mut said = Vec::new();
    for comparison in comparisons {
        let mut parts = vec![condition(writer, part.run, comparison)?];
        if !parts[0].text().is_empty() {
            parts[0] = Prose::join_with(&[parts[0].clone(), Prose::verbatim("–")], " ");
        }
        parts.push(verdict_sentence(writer, part.run, comparison)?);
        parts.extend(limits::cause(writer, part, comparison)?);
        parts.extend(left_out(writer, comparison)?);
        said.push(Prose::join(&parts));
    }
    let first = said.remove(0);
    let args = Args::new().count("number", number).prose("text", &first);
    said.insert(0, writer.say("see-figure", args)?);
    nodes.extend(said.into_iter().map(Node::Paragraph));
    nodes.push(Node::Table(points_table(writer, part.run, comparisons)?));
    Ok(nodes)
}

fn points_table(
    writer: &mut Writer,
    run: &Run,
    comparisons: &[&Comparison],
) -> Result<Table, ReportError> {
    let mut rows = Vec::new();
    for comparison in comparisons {
        for point in &comparison.points {
            let name = row_name(writer, run, comparison)?;
            let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
            rows.push(row(writer, Prose::join_with(&[name, at], ", "), point)?);
        }
    }
    let first = writer.label("table-comparison")?;
    let (metric, columns) = match comparisons.first() {
        Some(c) => (metric_title(run, c), data_columns(writer, first, c)?),
        None => ("", Vec::new()),
    };
    let mut columns = columns;
    // Several pairs share the columns, so these must not carry the names of one of them.
    if count(comparisons.len()) > 1 && columns.len() > 2 {
        columns[1].title = writer.label("table-base")?;
        columns[2].title = writer.label("table-other")?;
    }
    let caption = data_caption(writer, writer.figures, metric)?;
    Ok(Table { caption: writer.numbered(&caption)?, columns, rows, folded: false })
}

fn row_name(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let condition = condition(writer, run, comparison)?;
    let plain = condition.text().is_empty();
    let args = Args::new()
        .name("other", &comparison.other)
        .name("base", &comparison.base)
        .prose("condition", &condition);
    writer.say(if plain { "figure-dots-row-plain" } else { "figure-dots-row" }, args)
}

/// One row a comparison: the ratio of every block, its centre and its interval.
fn dots_figure(
    writer: &Writer,
    run: &Run,
    comparisons: &[&Comparison],
    number: u32,
) -> Result<Figure, ReportError> {
    let mut series = Vec::new();
    for comparison in comparisons {
        for point in &comparison.points {
            let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
            let name = Prose::join_with(&[row_name(writer, run, comparison)?, at], ", ");
            series.push(Series { name: name.text().into(), marks: vec![ratio_mark(point)] });
        }
    }
    let (metric, better, overall) = match comparisons.first() {
        Some(c) => (metric_title(run, c), c.better, Some(&c.overall)),
        None => ("", Better::Higher, None),
    };
    let axis = Axis {
        label: writer.label("axis-ratio")?.text().into(),
        unit: Unit::Ratio,
        scale: Scale::Linear,
        direction: direction(writer, better)?,
    };
    let equal = writer.label("reference-equal")?.text().into();
    let footnote = Args::new()
        .count("blocks", overall.map_or(0, |o| o.n))
        .quantity("level", overall.map_or(Quantity::new(0.0, Unit::Share), level))
        .name("run", &run.id);
    let title = match comparisons {
        [only] => finding_title(writer, run, only)?,
        _ => writer.say("figure-dots-title", Args::new().name("metric", metric))?,
    };
    Ok(Figure {
        id: format!("fig-{}-ratios", run.id),
        number,
        kind: FigureKind::Dots,
        title: title.text().into(),
        subtitle: writer.label("figure-dots-subtitle")?.text().into(),
        x: axis.clone(),
        y: axis,
        series,
        zones: Vec::new(),
        references: vec![Reference { value: 1.0, name: equal }],
        footnote: writer.say("figure-footnote", footnote)?.text().into(),
    })
}

fn ratio_mark(point: &PointResult) -> Mark {
    let paired = point.base_runs.len() == point.other_runs.len();
    let blocks = point.base_runs.iter().zip(&point.other_runs).filter(|_| paired);
    Mark {
        runs: blocks.map(|(base, other)| other.value / base.value).collect(),
        ..mark(None, (&point.ratio, &[]))
    }
}
