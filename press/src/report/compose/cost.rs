//! Knows how the cost of a load is shown: CPU and P/E index along the curve, a table of both
//! levels, and why a verdict was withheld.

use super::effect::short_effect;
use super::figures::{Hollow, Plot, row_heading, row_name, subtitle, sweep, zone};
use super::names::{key_words, level_names, pair};
use super::places::with_engine;
use super::results::is_curve;
use super::ruling::{condition, count, shown};
use super::say::{args, sentence, sign, title};
use super::{Nodes, Part, Role, Said, Writer, plot, spent, states, withheld, worth};
use crate::claim::{Kind, of_comparison, of_cost};
use crate::report::document::{Column, Node, Prose, Source, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{ParamRole, Run, Value};
use desk::stats::Estimate;
use desk::unit::{Unit, plain};
use desk::verdict::{Basis, Comparison, Cost, PointResult, Withheld, objection};

/// Busy share of all CPUs from which the machine has nothing left to give.
const FULL: f64 = 0.98;

/// The cost of a comparison, if its trials have the readings and it is not there for its noise.
pub(super) fn of<'a>(part: &Part<'a>, comparison: &Comparison) -> Option<&'a Cost> {
    if part.role == Role::NoiseFloor {
        return None;
    }
    part.analysis.costs.iter().find(|cost| cost.comparison == comparison.id)
}

/// The chapter: what every load cost in CPU, in money and in power, as far as it is known.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    let named = parts.len() > 1;
    for part in parts {
        let (curves, points): (Vec<&Comparison>, Vec<&Comparison>) =
            part.analysis.comparisons.iter().partition(|c| is_curve(c));
        // Single loads come first: an equal offered load is one, and decides what a curve cannot.
        body.extend(of_points(writer, part, (&points, named))?);
        let (full, free): (Vec<&Comparison>, Vec<&Comparison>) =
            curves.into_iter().partition(|c| of(part, c).is_some_and(says_nothing));
        let several = free.len() > 1;
        for comparison in free {
            let curve = section(writer, part, (comparison, named))?;
            body.extend(curve.map(|curve| if several { curve.fold() } else { curve }));
        }
        body.extend(at_full(writer, part, (&full, named))?);
        body.extend(worth::worth(writer, part)?);
    }
    if body.is_empty() {
        body.push(Node::Paragraph(writer.label("cost-none")?));
    }
    writer.section("cost", "cost-title", body)
}

/// The part, where there are several, and the condition.
fn heading(writer: &Writer, part: &Part<'_>, (condition, named): (Prose, bool)) -> Said {
    let title = Prose::verbatim(if named { &part.run.plan.title } else { "" });
    let heading = Prose::join_with(&[title, condition], ", ");
    match heading.text().is_empty() {
        true => writer.label("cost-section"),
        false => Ok(heading),
    }
}

/// What a curve cost; nothing if that was not read.
fn section(
    writer: &mut Writer,
    part: &Part<'_>,
    (comparison, named): (&Comparison, bool),
) -> Result<Option<Node>, ReportError> {
    let Some(cost) = of(part, comparison) else { return Ok(None) };
    let mut body = Vec::new();
    match full(cost) {
        Some(least) => {
            let args = Args::new().estimate("least", least);
            body.push(Node::Paragraph(writer.say("cpu-full", args)?));
        }
        None => {
            let figure = cpu_figure(writer, part, cost)?;
            let claim = of_comparison((part.run, &cost.cpu));
            let args = args(writer, &claim)?.prose("figure", &writer.figure_ref(&figure)?);
            let said = writer.pick("cpu-shows-*", &claim.kind.coarse(), args)?;
            body.extend([Node::Figure(figure), Node::Paragraph(said)]);
        }
    }
    let index = index_figure(writer, part, cost)?;
    let mut said = vec![writer.shows(&index, "index-shows", Args::new())?];
    said.extend(sentences(writer, part, (cost, false))?);
    body.extend([Node::Figure(index), Node::Paragraph(Prose::join(&said))]);
    body.extend(table(writer, part, (&[comparison], true))?.map(Node::Table));
    body.extend(steps(writer, part, &[(comparison, cost)])?);
    let parts = spent::table(writer, part, &[comparison])?;
    body.extend(parts.map(|table| Node::Table(Table { folded: true, ..table })));
    let id = format!("cost-{}-{}", part.run.id, comparison.id);
    let title = heading(writer, part, (condition(part.run, comparison), named))?;
    Ok(Some(Node::section(id, title, body)))
}

/// The least busy point, where all CPUs are full at every point under both levels: a figure of that
/// is a line at the top.
fn full(cost: &Cost) -> Option<&Estimate> {
    let points = cost.cpu.points.iter().flat_map(|p| [&p.base, &p.other]);
    let least = points.min_by(|a, b| a.centre.value.total_cmp(&b.centre.value))?;
    (least.centre.value >= FULL).then_some(least)
}

/// Whether a cost says no more than the throughput does: all CPUs are full everywhere, so that each
/// of its figures is the throughput over again, and nothing else was measured.
fn says_nothing(cost: &Cost) -> bool {
    full(cost).is_some() && !cost.equal_load && cost.displaced.is_none()
}

/// The curves whose cost is only that of full CPUs, in one section with their tables folded away.
fn at_full(
    writer: &mut Writer,
    part: &Part<'_>,
    (curves, named): (&[&Comparison], bool),
) -> Result<Option<Node>, ReportError> {
    let costs: Vec<(&Comparison, &Cost)> =
        curves.iter().filter_map(|c| Some((*c, of(part, c)?))).collect();
    let least = costs.iter().filter_map(|(_, cost)| full(cost));
    let least = least.min_by(|a, b| a.centre.value.total_cmp(&b.centre.value));
    let Some(least) = least else { return Ok(None) };
    let how =
        costs.first().map_or(Ok(Prose::default()), |one| offered_by(writer, part.run, one.1))?;
    let args = Args::new().estimate("least", least).count("count", count(costs.len()));
    let args = args.prose("how", &how);
    let mut body = vec![Node::Paragraph(writer.say("cost-at-full", args)?)];
    body.extend(steps(writer, part, &costs)?);
    for (comparison, _) in &costs {
        let all = [
            table(writer, part, (&[comparison], false))?,
            spent::table(writer, part, &[comparison])?,
        ];
        let all = all.into_iter().flatten();
        body.extend(all.map(|table| Node::Table(Table { folded: true, ..table })));
    }
    let title = match part.analysis.comparisons.len() == costs.len() {
        true => Prose::default(),
        false => writer.label("cost-full-title")?,
    };
    let title = heading(writer, part, (title, named))?;
    Ok(Some(Node::section(format!("cost-full-{}", part.run.id), title, body)))
}

/// Where the CPU time goes from one level to the other, where that is seen best.
fn steps(writer: &mut Writer, part: &Part<'_>, of: &[(&Comparison, &Cost)]) -> Nodes {
    let Some(figure) = plot::waterfall(writer, part, of)? else { return Ok(Vec::new()) };
    let Some((first, _)) = of.first() else { return Ok(Vec::new()) };
    let key = match (of.len(), &first.curve) {
        (_, Some(_)) => "waterfall-shows-most",
        (1, None) => "waterfall-shows",
        (_, None) => "waterfall-shows-load",
    };
    let said = writer.shows(&figure, key, pair(part.run, first))?;
    Ok(vec![Node::Figure(figure), Node::Paragraph(said)])
}

/// What the comparisons without a curve cost, in one section; nothing if that was not read.
fn of_points(
    writer: &mut Writer,
    part: &Part<'_>,
    (comparisons, named): (&[&Comparison], bool),
) -> Result<Option<Node>, ReportError> {
    let read: Vec<&Comparison> =
        comparisons.iter().filter(|c| of(part, c).is_some()).copied().collect();
    if read.is_empty() {
        return Ok(None);
    }
    let costs: Vec<(&Comparison, &Cost)> =
        read.iter().filter_map(|c| Some((*c, of(part, c)?))).collect();
    let mut body = said_of_points(writer, part, &costs)?;
    body.extend(table(writer, part, (&read, true))?.map(Node::Table));
    body.extend(steps(writer, part, &costs)?);
    let parts = spent::table(writer, part, &read)?;
    body.extend(parts.map(|table| Node::Table(Table { folded: true, ..table })));
    let id = format!("cost-{}", part.run.id);
    let title = match part.analysis.comparisons.iter().any(is_curve) {
        true => writer.label("cost-points")?,
        false => Prose::default(),
    };
    let title = heading(writer, part, (title, named))?;
    Ok(Some(Node::section(id, title, body)))
}

/// The verdicts on single loads; what holds for all of several is said once above them.
fn said_of_points(writer: &Writer, part: &Part<'_>, costs: &[(&Comparison, &Cost)]) -> Nodes {
    if let [(_, only)] = costs {
        return Ok(vec![Node::Paragraph(Prose::join(&sentences(writer, part, (only, false))?))]);
    }
    let equal = costs.iter().all(|(_, cost)| cost.equal_load);
    let mut items = Vec::new();
    for (comparison, cost) in costs {
        let name = row_name(writer, part.run, comparison)?;
        let mut said = vec![writer.say("cost-named", Args::new().prose("name", &name))?];
        said.extend(sentences(writer, part, (cost, equal))?);
        items.push(Prose::join(&said));
    }
    let mut nodes = Vec::new();
    if equal {
        nodes.push(Node::Paragraph(writer.label("cost-equal-load-all")?));
    }
    nodes.push(Node::List(items));
    Ok(nodes)
}

fn cpu_figure(
    writer: &mut Writer,
    part: &Part<'_>,
    cost: &Cost,
) -> Result<crate::figure::Figure, ReportError> {
    let claim = of_comparison((part.run, &cost.cpu));
    let metric = writer.label("metric-cpu-of-all")?;
    let title = writer.pick("cpu-finding-*", &claim.kind.coarse(), args(writer, &claim)?)?;
    let plot = Plot {
        comparison: &cost.cpu,
        metric: metric.text().into(),
        title,
        subtitle: subtitle(writer, (part.run, &cost.cpu), metric.text(), true)?,
        alike: part.analysis.costs.iter().map(|c| &c.cpu).collect(),
        zones: Vec::new(),
        hollow: hollow(part, cost, false),
    };
    let number = writer.next_figure();
    sweep(writer, part.run, plot, number)
}

fn index_figure(
    writer: &mut Writer,
    part: &Part<'_>,
    cost: &Cost,
) -> Result<crate::figure::Figure, ReportError> {
    let index = &cost.index;
    let open = cost.withheld_overall.is_some();
    let mut zones = Vec::new();
    for region in &index.regions {
        if withheld::is_clear(cost, index, (&region.from, &region.to)) {
            zones.extend(zone(writer, (part.run, index), region)?);
        }
    }
    let [axis, long] = match cost.basis {
        Basis::Pair => ["metric-pe-pair", "metric-pe-pair-long"],
        Basis::Server => ["metric-pe-server", "metric-pe-server-long"],
    };
    let long = writer.label(long)?;
    let plot = Plot {
        comparison: index,
        metric: writer.label(axis)?.text().into(),
        title: title(writer, &of_cost(part.run, (cost, index)))?,
        subtitle: subtitle(writer, (part.run, index), long.text(), !open)?,
        alike: part.analysis.costs.iter().map(|c| &c.index).collect(),
        zones,
        hollow: hollow(part, cost, true),
    };
    let number = writer.next_figure();
    sweep(writer, part.run, plot, number)
}

/// Where the figures of a cost are drawn hollow: where those of the throughput are, and where they
/// mean little by themselves.
fn hollow(part: &Part<'_>, cost: &Cost, index: bool) -> Vec<[Option<Hollow>; 2]> {
    let primary = part.analysis.comparisons.iter().find(|c| c.id == cost.comparison);
    let of = |point: &PointResult| {
        let at = point.at.as_ref();
        let withheld = index && withheld::at(cost, at).is_some_and(withheld::is_hollow);
        let counted = withheld.then_some(Hollow::Counted);
        [&cost.index.base, &cost.index.other]
            .map(|level| primary.and_then(|c| states::hollow(part, c, (level, at))).or(counted))
    };
    cost.index.points.iter().map(of).collect()
}

/// What decides at an equal load, unless `above` says that there was one; then the verdict on the
/// index or why there is none, and what decides besides or in its place.
fn sentences(
    writer: &Writer,
    part: &Part<'_>,
    (cost, above): (&Cost, bool),
) -> Result<Vec<Prose>, ReportError> {
    let run = part.run;
    let mut said = Vec::new();
    if cost.equal_load {
        let claim = of_cost(run, (cost, &cost.per_work));
        let verdict = sentence(writer, &claim)?;
        let args = Args::new().prose("verdict", &verdict);
        said.push(match (claim.kind == Kind::Withheld, above) {
            (true, _) => writer.say("cost-equal-load-open", args)?,
            (false, false) => writer.say("cost-equal-load", args)?,
            (false, true) => verdict,
        });
    }
    match withheld::overall(writer, cost)? {
        Some(none) => said.push(none),
        // At an equal load the index is the same figure turned round; the table has it.
        None if cost.equal_load => {}
        None => said.push(sentence(writer, &of_cost(run, (cost, &cost.index)))?),
    }
    if let Some(displaced) = &cost.displaced {
        // Whoever moves less displaces less: that decides nothing between unequal throughputs.
        let claim = of_cost(run, (cost, displaced));
        let verdict = sentence(writer, &claim)?;
        let open = objection(cost, &cost.index.metric).is_some() && !cost.equal_load;
        let instead = open && claim.kind != Kind::Withheld;
        let key = if instead { "cost-displaced-decides" } else { "cost-displaced" };
        said.push(writer.say(key, Args::new().prose("verdict", &verdict))?);
    }
    if matches!(cost.withheld_overall, Some(Withheld::UnequalAtSaturation { .. }))
        && !cost.equal_load
    {
        let how = offered_by(writer, run, cost)?;
        said.push(writer.say("cost-would-decide", Args::new().prose("how", &how))?);
    }
    Ok(said)
}

/// By which key a plan offers the load of a cost; empty where it cannot.
fn offered_by(writer: &Writer, run: &Run, cost: &Cost) -> Said {
    let load = run.plan.load(&cost.cpu.load);
    match load.and_then(|load| load.roles.get(&ParamRole::Offered)) {
        Some(key) => writer.say("cost-offered-by", Args::new().name("key", key)),
        None => Ok(Prose::default()),
    }
}

/// The table of both levels at every point, with or without verdicts, then what its signs mean.
fn table(
    writer: &mut Writer,
    part: &Part<'_>,
    (comparisons, judged): (&[&Comparison], bool),
) -> Result<Option<Table>, ReportError> {
    let Some(first) = comparisons.first() else { return Ok(None) };
    let displaced = comparisons.iter().any(|c| of(part, c).is_some_and(|k| k.displaced.is_some()));
    let heading = match (&first.curve, comparisons.len()) {
        (Some(curve), 1) => Prose::verbatim(&key_words(curve)),
        _ => row_heading(writer, part.run)?,
    };
    let in_bytes = comparisons.iter().filter_map(|c| of(part, c)).all(is_in_bytes);
    let mut columns = columns(writer, heading, in_bytes)?;
    let mut rows = Vec::new();
    let mut notes = states::all_bound_notes(writer, part, comparisons)?;
    for comparison in comparisons {
        let Some(cost) = of(part, comparison) else { continue };
        for point in &comparison.points {
            let name = match &point.at {
                Some(at) => Prose::verbatim(&shown(at)),
                None => row_name(writer, part.run, comparison)?,
            };
            rows.extend(point_rows(writer, part, (comparison, cost, point), (&name, in_bytes))?);
        }
        if comparison.curve.is_some() && judged {
            rows.push(overall_row(writer, part, cost)?);
        }
        if judged {
            notes.extend(withheld::notes(writer, cost)?);
        }
    }
    let unused = [(VERDICT, !judged), (DISPLACED, !displaced)];
    for (place, _) in unused.into_iter().filter(|(_, unused)| *unused) {
        columns.remove(place);
        rows.iter_mut().for_each(|row| drop(row.remove(place)));
    }
    let key = match of(part, first).map(|cost| cost.basis) {
        Some(Basis::Server) => "cost-caption-server",
        _ => "cost-caption-pair",
    };
    let mut caption = writer.label(key)?;
    if let [only] = comparisons {
        caption = Prose::join_with(&[caption, condition(part.run, only)], "; ");
    }
    let caption = with_engine(writer, (part.run, first), caption)?;
    Ok(Some(Table { notes, ..writer.table(&caption, columns, rows)? }))
}

/// Place of the column of displaced work, which is left out where no soaker ran.
const DISPLACED: usize = 6;
/// Place of the verdicts, which are left out where there can be none.
const VERDICT: usize = 7;

/// Whether the work of a cost is bytes, so that headings name the units of its columns.
fn is_in_bytes(cost: &Cost) -> bool {
    cost.per_work.points.iter().all(|p| p.base.centre.unit == Unit::SecondPerGigabyte)
}

fn columns(writer: &Writer, first: Prose, in_bytes: bool) -> Result<Vec<Column>, ReportError> {
    let mut columns = vec![
        Column { title: first, numeric: false },
        Column { title: writer.label("limits-level")?, numeric: false },
    ];
    let [index, per_work] = match in_bytes {
        true => ["cost-index", "cost-per-gb"],
        false => ["cost-index-plain", "metric-cpu-per-work"],
    };
    for key in ["cost-throughput", "cost-cpu", index, per_work, "cost-displaced-column"] {
        columns.push(Column { title: writer.label(key)?, numeric: true });
    }
    columns.push(Column { title: writer.label("cost-verdict")?, numeric: false });
    Ok(columns)
}

/// A row a level: the baseline, then the other with its ratio.
fn point_rows(
    writer: &Writer,
    part: &Part<'_>,
    (comparison, cost, point): (&Comparison, &Cost, &PointResult),
    (name, in_bytes): (&Prose, bool),
) -> Result<[Vec<Prose>; 2], ReportError> {
    let at = point.at.as_ref();
    let [base, other] = level_names(part.run, comparison);
    let row = |base_side: bool, level: &str, verdict: Prose| {
        let key = if base_side { &comparison.base } else { &comparison.other };
        let side = |p: &PointResult| if base_side { p.base.clone() } else { p.other.clone() };
        let of = |c: &Comparison| c.points.iter().find(|p| p.at.as_ref() == at).map(side);
        let said = if in_bytes { bare } else { Prose::estimate };
        let bare = |e: Option<&Estimate>| e.map_or_else(Prose::none, said);
        let per_work = of(&cost.per_work);
        let displaced = cost.displaced.as_ref().and_then(of);
        Ok(vec![
            name.clone(),
            Prose::verbatim(level),
            marked(writer, part, comparison, (key, at), &side(point))?,
            of(&cost.cpu).as_ref().map_or_else(Prose::none, Prose::estimate),
            bare(of(&cost.index).as_ref()),
            bare(per_work.as_ref()),
            displaced.as_ref().map_or_else(Prose::none, spent::cpus),
            verdict,
        ])
    };
    let verdict = match cost.index.points.iter().find(|p| p.at.as_ref() == at) {
        Some(p) if withheld::at(cost, at).is_none() => {
            Prose::join(&[sign(writer, Kind::at(&cost.index, p))?, short_effect(writer, &p.ratio)?])
        }
        _ => Prose::none(),
    };
    Ok([row(true, &base, Prose::default())?, row(false, &other, verdict)?])
}

/// The row of all points: only the ratio of the index.
fn overall_row(writer: &Writer, part: &Part<'_>, cost: &Cost) -> Result<Vec<Prose>, ReportError> {
    let [_, other] = level_names(part.run, &cost.index);
    let mut row = vec![writer.label("table-overall")?, Prose::verbatim(&other)];
    row.resize(DISPLACED + 1, Prose::none());
    row.push(match cost.withheld_overall {
        Some(_) => Prose::none(),
        None => {
            let sign = sign(writer, Kind::of_whole(&cost.index))?;
            Prose::join(&[sign, short_effect(writer, &cost.index.overall)?])
        }
    });
    Ok(row)
}

/// The centre without the unit that a heading names.
fn bare(estimate: &Estimate) -> Prose {
    let source = Source::Estimate(vec![estimate.centre.into()]);
    Prose::from_source(plain(estimate.centre.value), source)
}

/// A figure of a level, with a sign before it where the clients were at their limit.
pub(super) fn marked(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
    place: (&str, Option<&Value>),
    figure: &Estimate,
) -> Said {
    let figure = Prose::estimate(figure);
    match states::is_bound(part, comparison, place) {
        true => writer.say("mark-clients", Args::new().prose("figure", &figure)),
        false => Ok(figure),
    }
}
