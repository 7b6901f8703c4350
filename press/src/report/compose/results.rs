//! Knows how a finding is shown: one figure, the sentences that explain it, the table of its data.

use super::cost::marked;
use super::effect::{is_alone, judged_effect, level, metric_title};
use super::figures::{curve_figure, dots_figure, is_one_pair, place, row_heading, row_name};
use super::names::{key_words, level_names, pair};
use super::places::with_engine;
use super::ruling::{condition, news, short_condition, shown};
use super::say::{sentence, word};
use super::{
    Nodes, Part, Role, Said, Writer, along, crossed, curve, glance, index, interaction, limits,
    machine, measured, plot, published, readers, states,
};
use crate::claim::{Kind, of_comparison};
use crate::figure::Figure;
use crate::report::document::{Column, Node, Prose, Table, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::is_tuning;
use desk::record::Run;
use desk::verdict::{Comparison, PointResult, compares};

/// Figures of levels side by side that stand open, in the order of the plan's loads, and the most
/// comparisons of one of them.
const OPEN: usize = 3;
const ROWS: usize = 10;

/// The chapter: every part question by question, then what held the figures down, and the published
/// test beside it.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    for part in parts {
        let mut found = nodes(writer, part)?;
        if parts.len() == 1 {
            body.extend(found);
            if body.is_empty() {
                body.push(Node::Paragraph(writer.label("measured-elsewhere")?));
            }
            continue;
        }
        if found.is_empty() {
            continue;
        }
        found.extend(readers::list(writer, part)?);
        let title = Prose::verbatim(&part.run.plan.title);
        let section = Node::section(format!("results-{}", part.run.id), title, found);
        // What was measured by itself has its figures above.
        body.push(if is_news(part) { section } else { section.fold() });
    }
    let is_compared = |p: &Part<'_>| compares(&p.run.plan) && !p.run.plan.is_alone();
    // Where nothing is compared, each load says itself what limited it.
    if parts.iter().any(|p| is_compared(p) || !p.analysis.limits.is_empty()) {
        body.push(limits::chapter(writer, parts)?);
    }
    body.extend(published::chapter(writer, parts)?);
    writer.section("results", "results-title", body)
}

/// Whether a part found more than equal or undecided levels; of those, and of a setting that was
/// tried, the line of the answer says all.
fn is_news(part: &Part<'_>) -> bool {
    let differs = |c: &Comparison| {
        c.verdict.is_barred() || matches!(news(c), Tone::Good | Tone::Bad) || !c.regions.is_empty()
    };
    let told = part.role == Role::NoiseFloor || is_tuning(&part.run.plan);
    !told && part.analysis.comparisons.iter().any(differs)
}

/// Everything a part found, question by question.
fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let comparisons = &part.analysis.comparisons;
    let mut nodes = Vec::new();
    if comparisons.is_empty() {
        if compares(&part.run.plan) {
            nodes.push(Node::Paragraph(writer.label("results-none")?));
        }
        nodes.extend(machine::nodes(writer, part)?);
        nodes.extend(measured::beside(writer, part)?);
        nodes.extend(measured::over_window(writer, part)?);
        return Ok(nodes);
    }
    let maps = plot::mapped(part);
    for group in &maps {
        let map = plot::heatmap(writer, part, group)?;
        let said = writer.shows(&map, "heatmap-shows", Args::new())?;
        nodes.extend([Node::Figure(map), Node::Paragraph(said)]);
    }
    for comparison in comparisons.iter().filter(|c| is_curve(c)) {
        let section = curve_section(writer, part, comparison)?;
        // Behind its map one curve stands as an example.
        let in_map = maps.iter().any(|g| g[1..].iter().any(|c| c.id == comparison.id));
        nodes.push(if in_map { section.fold() } else { section });
    }
    if let Some(roofs) = plot::roofline(writer, part)? {
        let said = writer.shows(&roofs, "roof-shows", Args::new())?;
        let body = vec![Node::Figure(roofs), Node::Paragraph(said)];
        let id = format!("roofs-{}", part.run.id);
        nodes.push(Node::section(id, writer.label("roof-section")?, body).fold());
    }
    let single: Vec<&Comparison> = comparisons.iter().filter(|c| !is_curve(c)).collect();
    for (at, alike) in by_metric(part.run, &single).iter().enumerate() {
        let found = points(writer, part, alike)?;
        if at < OPEN && alike.len() <= ROWS {
            nodes.extend(found);
        } else if !found.is_empty() {
            let title = Prose::verbatim(metric_title(part.run, alike[0]));
            let id = format!("result-{}-{}", part.run.id, alike[0].id);
            nodes.push(Node::section(id, title, found).fold());
        }
    }
    nodes.extend(crossed::section(writer, part)?.map(Node::fold));
    nodes.extend(interaction::section(writer, part)?.map(Node::fold));
    nodes.extend(index::section(writer, part)?);
    nodes.extend(measured::beside(writer, part)?);
    nodes.extend(machine::nodes(writer, part)?);
    nodes.extend(measured::over_window(writer, part)?);
    Ok(nodes)
}

/// Comparisons that share a figure and a table: of one workload, by one metric, in their order.
pub(super) fn by_metric<'c>(run: &Run, all: &[&'c Comparison]) -> Vec<Vec<&'c Comparison>> {
    let workload = |c: &Comparison| {
        let load = run.plan.load(&c.load);
        load.map(|load| load.workload.clone())
    };
    let alike = |a: &Comparison, b: &Comparison| a.metric == b.metric && workload(a) == workload(b);
    let mut groups: Vec<Vec<&Comparison>> = Vec::new();
    for one in all {
        match groups.iter_mut().find(|group| alike(group[0], one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// The distributions of a comparison, each with the sentence that leads to it.
fn distributions(writer: &mut Writer, part: &Part<'_>, comparison: &Comparison) -> Nodes {
    let mut nodes = Vec::new();
    for figure in plot::percentiles(writer, part, comparison)? {
        let said = writer.shows(&figure, "percentile-shows", Args::new())?;
        nodes.extend([Node::Figure(figure), Node::Paragraph(said)]);
    }
    Ok(nodes)
}

/// A curve has at least two points, all at places that can stand along an axis.
pub(super) fn is_curve(comparison: &Comparison) -> bool {
    comparison.points.len() > 1 && comparison.points.iter().all(|p| place(p).is_some())
}

fn curve_section(
    writer: &mut Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Node, ReportError> {
    let run = part.run;
    let condition = condition(run, comparison);
    let number = writer.next_figure();
    let figure = curve_figure(writer, part, comparison, number)?;
    let verdict = sentence(writer, &of_comparison((run, comparison)))?;
    let shows = Args::new().prose("verdict", &verdict);
    let mut ahead = vec![writer.shows(&figure, "curve-over", shows)?];
    ahead.extend(curve::disagreement(writer, (run, comparison))?);
    ahead.extend(curve::stretches(writer, run, comparison)?);
    ahead.extend(along::crossings(writer, run, comparison)?);
    ahead.extend(states::sentences(writer, part, comparison)?);
    let mut why = curve::knees(writer, run, comparison)?;
    let along = along::limits(writer, part, comparison)?;
    match along.is_empty() {
        true => why.extend(limits::cause(writer, part, comparison)?),
        false => why.extend(along),
    }
    why.extend(left_out(writer, comparison)?);
    let mut body = vec![Node::Figure(figure), Node::Paragraph(Prose::join(&ahead))];
    if !why.is_empty() {
        body.push(Node::Paragraph(Prose::join(&why)));
    }
    body.push(Node::Table(curve_table(writer, part, comparison, number)?).fold());
    body.extend(states::table(writer, part, comparison)?.map(Node::Table));
    body.extend(distributions(writer, part, comparison)?);
    let title = if condition.text().is_empty() {
        let args = pair(run, comparison).name("metric", metric_title(run, comparison));
        writer.say("results-point-title", args)?
    } else {
        condition
    };
    Ok(Node::section(format!("result-{}-{}", run.id, comparison.id), title, body))
}

fn left_out(writer: &Writer, comparison: &Comparison) -> Result<Option<Prose>, ReportError> {
    let args = Args::new().count("count", comparison.left_out);
    (comparison.left_out > 0).then(|| writer.say("left-out", args)).transpose()
}

fn curve_table(
    writer: &mut Writer,
    part: &Part<'_>,
    comparison: &Comparison,
    number: u32,
) -> Result<Table, ReportError> {
    let run = part.run;
    let curve = comparison.curve.as_deref().unwrap_or_default();
    let first = Prose::verbatim(&key_words(curve));
    let columns = data_columns(writer, run, (first, comparison))?;
    let mut rows = Vec::new();
    for point in &comparison.points {
        let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
        rows.push(row(writer, (part, comparison), at, point)?);
    }
    let none = Prose::none();
    rows.push(vec![
        writer.label("table-overall")?,
        none.clone(),
        none,
        judged_effect(writer, (&comparison.overall, comparison.verdict))?,
        word(writer, Kind::of_whole(comparison))?,
        Prose::count(comparison.overall.n as usize),
    ]);
    rows.extend(region_rows(writer, comparison)?);
    let caption = data_caption(writer, number, (run, Some(comparison)))?;
    let caption = with_engine(writer, (run, comparison), caption)?;
    let notes = states::all_bound_notes(writer, part, &[comparison])?;
    Ok(Table { notes, ..writer.table(&caption, columns, rows)? })
}

/// The regions of several points beside the mean, each with the ratios at its ends.
fn region_rows(writer: &Writer, comparison: &Comparison) -> Result<Vec<Vec<Prose>>, ReportError> {
    let none = Prose::none();
    let mut rows = Vec::new();
    for region in comparison.regions.iter().filter(|r| r.from != r.to) {
        let args = Args::new().name("from", &shown(&region.from)).name("to", &shown(&region.to));
        let word = if region.other_ahead { "word-better" } else { "word-worse" };
        rows.push(vec![
            writer.say("table-region", args)?,
            none.clone(),
            none.clone(),
            glance::ends(writer, region)?,
            writer.label(word)?,
            none.clone(),
        ]);
    }
    Ok(rows)
}

/// What a table holds, so that it can stand without its figure.
fn data_caption(writer: &Writer, figure: u32, (run, of): (&Run, Option<&Comparison>)) -> Said {
    let Some(of) = of else { return Ok(Prose::default()) };
    let curve = of.curve.as_deref().map_or_else(Prose::default, |c| Prose::verbatim(&key_words(c)));
    let metric = Prose::verbatim(metric_title(run, of));
    let what = match curve.text().is_empty() {
        true => metric,
        false => {
            let args = Args::new().prose("metric", &metric).prose("curve", &curve);
            let by = writer.say("table-data-by", args)?;
            Prose::join_with(&[by, condition(run, of)], ", ")
        }
    };
    writer.say("table-data-caption", Args::new().count("figure", figure).prose("what", &what))
}

fn data_columns(
    writer: &Writer,
    run: &Run,
    (first, comparison): (Prose, &Comparison),
) -> Result<Vec<Column>, ReportError> {
    let [base, other] = level_names(run, comparison);
    let level = Args::new().quantity("level", level(&comparison.overall));
    let ratio = match is_curve(comparison) {
        _ if is_alone(&comparison.overall) => writer.label("table-ratio-alone")?,
        true => writer.label("table-ratio-curve")?,
        false => writer.say("table-ratio", level)?,
    };
    let column = |title, numeric| Column { title, numeric };
    Ok(vec![
        column(first, false),
        column(Prose::verbatim(&base), true),
        column(Prose::verbatim(&other), true),
        column(ratio, true),
        column(writer.label("table-verdict")?, false),
        column(writer.label("table-blocks")?, true),
    ])
}

fn row(
    writer: &Writer,
    (part, comparison): (&Part<'_>, &Comparison),
    name: Prose,
    point: &PointResult,
) -> Result<Vec<Prose>, ReportError> {
    let at = point.at.as_ref();
    let figure = |level: &String, figure| marked(writer, part, comparison, (level, at), figure);
    Ok(vec![
        name,
        figure(&comparison.base, &point.base)?,
        figure(&comparison.other, &point.other)?,
        judged_effect(writer, (&point.ratio, point.verdict))?,
        word(writer, Kind::at(comparison, point))?,
        Prose::count(point.ratio.n as usize),
    ])
}

/// The ratios of a single load; of several, whose ratios the forest has, the visits.
fn points_figure(
    writer: &mut Writer,
    part: &Part<'_>,
    comparisons: &[&Comparison],
) -> Result<Option<(Figure, &'static str)>, ReportError> {
    if let [only] = comparisons
        && only.points.len() == 1
    {
        let number = writer.next_figure();
        return Ok(Some((dots_figure(writer, part.run, only, number)?, "dots-shows")));
    }
    Ok(plot::groups(writer, part, comparisons)?.map(|figure| (figure, "groups-shows")))
}

/// Comparisons without a curve share one figure and one table.
fn points(writer: &mut Writer, part: &Part<'_>, comparisons: &[&Comparison]) -> Nodes {
    let Some((figure, key)) = points_figure(writer, part, comparisons)? else {
        return Ok(Vec::new());
    };
    let number = figure.number;
    let shows = writer.shows(&figure, key, Args::new())?;
    let mut nodes = vec![Node::Figure(figure)];
    let mut said: Vec<Prose> = Vec::new();
    for comparison in comparisons {
        let mut parts = vec![short_condition(part.run, comparison)];
        if !parts[0].text().is_empty() {
            parts[0] = Prose::join_with(&[parts[0].clone(), Prose::none()], " ");
        }
        parts.push(sentence(writer, &of_comparison((part.run, comparison)))?);
        parts.extend(states::sentences(writer, part, comparison)?);
        parts.extend(limits::cause(writer, part, comparison)?);
        parts.extend(left_out(writer, comparison)?);
        said.push(Prose::join(&parts));
    }
    match said.as_slice() {
        [only] => nodes.push(Node::Paragraph(Prose::join(&[shows, only.clone()]))),
        _ => nodes.extend([Node::Paragraph(shows), Node::List(said)]),
    }
    nodes.push(Node::Table(points_table(writer, part, (comparisons, number))?).fold());
    for comparison in comparisons {
        nodes.extend(states::table(writer, part, comparison)?.map(Node::Table));
        nodes.extend(distributions(writer, part, comparison)?);
    }
    Ok(nodes)
}

fn points_table(
    writer: &mut Writer,
    part: &Part<'_>,
    (comparisons, number): (&[&Comparison], u32),
) -> Result<Table, ReportError> {
    let run = part.run;
    let mut rows = Vec::new();
    for comparison in comparisons {
        for point in &comparison.points {
            let name = match comparisons {
                [only] => Prose::verbatim(metric_title(run, only)),
                _ => row_name(writer, run, comparison)?,
            };
            let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
            let name = Prose::join_with(&[name, at], ", ");
            rows.push(row(writer, (part, comparison), name, point)?);
        }
    }
    let first = match comparisons {
        [_] => writer.label("table-metric")?,
        _ => row_heading(writer, run)?,
    };
    let mut columns = match comparisons.first() {
        Some(c) => data_columns(writer, run, (first, c))?,
        None => Vec::new(),
    };
    // Several pairs share the columns, so these must not carry the names of one of them.
    let pairs = comparisons.len() > 1 && !is_one_pair(run);
    if pairs && columns.len() > 2 {
        columns[1].title = writer.label("table-base")?;
        columns[2].title = writer.label("table-other")?;
    }
    let caption = data_caption(writer, number, (run, comparisons.first().copied()))?;
    let caption = match comparisons.first() {
        Some(first) => with_engine(writer, (run, first), caption)?,
        None => caption,
    };
    let notes = states::all_bound_notes(writer, part, comparisons)?;
    Ok(Table { notes, ..writer.table(&caption, columns, rows)? })
}
