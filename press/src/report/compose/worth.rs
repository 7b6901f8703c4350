//! Knows how the work for money and for power is shown: a table of both levels, what a part gives,
//! and what was neither entered nor measured.

use super::effect::{metric_title, short_effect};
use super::figures::row_name;
use super::names::level_name;
use super::places::at;
use super::say::word;
use super::{Nodes, Part, Said, Writer, paced, traits};
use crate::claim::Kind;
use crate::report::document::{Node, Prose, Table, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::Estimate;
use desk::unit::Quantity;
use desk::verdict::{Comparison, CountedPart, PointResult, PowerSource, Verdict, Worth};

/// The words of a table: title, caption, work for what is taken, ratio, gain, note.
type Words = [&'static str; 6];

const MONEY: Words =
    ["price-title", "price-caption", "price-for", "price-ratio", "price-gain", "price-note"];
const POWER: Words =
    ["power-title", "power-caption", "power-for", "power-ratio", "power-gain", "power-note"];

/// What both levels give for their prices and for the power that they take, and the verdicts on
/// that, two rows a comparison; and what was neither entered nor measured.
pub(super) fn worth(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let analysis = part.analysis;
    let mut nodes = section(writer, part, (MONEY, &analysis.prices))?;
    for source in [PowerSource::Entered, PowerSource::Board, PowerSource::Packages] {
        let of = |worth: &&Worth| worth.power == Some(source);
        let powers: Vec<Worth> = analysis.powers.iter().filter(of).cloned().collect();
        nodes.extend(section(writer, part, (POWER, &powers))?);
    }
    nodes.extend(paced::section(writer, part)?);
    nodes.extend(traits::section(writer, part)?);
    let plan = &part.run.plan;
    let entered = |what: &str| {
        plan.facts.iter().any(|fact| fact.what == what)
            || plan.parts.iter().any(|part| part.figure(what).is_some())
    };
    let measured = part.run.records.iter().flat_map(|record| &record.readings);
    let power = entered("power") || measured.into_iter().any(|reading| reading.probe == "power");
    let missing = match (entered("price"), power) {
        _ if analysis.comparisons.is_empty() => None,
        (false, false) => Some("worth-neither"),
        (true, false) => Some("worth-no-power"),
        (false, true) => Some("worth-no-price"),
        (true, true) => None,
    };
    if let Some(key) = missing {
        nodes.push(Node::Paragraph(writer.label(key)?));
    }
    Ok(nodes)
}

/// A table of what levels give for what they take, in these words.
fn section(writer: &mut Writer, part: &Part<'_>, (words, all): (Words, &[Worth])) -> Nodes {
    let [title, caption, each, ratio, gain, note] = words;
    let mut rows = Vec::new();
    let mut metric = None;
    let mut of_parts = Vec::new();
    for worth in all {
        let known = part.analysis.comparisons.iter().find(|c| c.id == worth.comparison);
        let Some(c) = known else { continue };
        metric = metric.or(Some(metric_title(part.run, c)));
        rows.extend(both_rows(writer, part, (c, worth))?);
        of_parts.extend(parts_apart(writer, part, (c, worth))?);
    }
    let Some(metric) = metric else { return Ok(Vec::new()) };
    let taken = match all.first().and_then(|worth| worth.power) {
        None => "price-entered",
        Some(PowerSource::Entered) => "power-entered",
        Some(PowerSource::Board) => "power-of-board",
        Some(PowerSource::Packages) => "power-measured",
    };
    let columns = writer.columns(&[
        ("table-comparison", false),
        ("limits-level", false),
        (taken, true),
        ("price-highest", true),
        (each, true),
        (ratio, true),
        ("table-verdict", false),
        (gain, true),
    ])?;
    let caption = writer.say(caption, Args::new().name("metric", metric))?;
    let notes = vec![writer.label(note)?];
    let table = Table { notes, ..writer.table(&caption, columns, rows)? };
    let id = format!("cost-{taken}-{}", part.run.id);
    let title = writer.label(title)?;
    let mut body = vec![Node::Table(table)];
    if !of_parts.is_empty() {
        body.push(Node::List(of_parts));
    }
    Ok(vec![Node::section(id, title, body)])
}

/// The baseline, then the other level with the ratio of the two, its verdict, and what each unit
/// more gives.
fn both_rows(
    writer: &Writer,
    part: &Part<'_>,
    (c, worth): (&Comparison, &Worth),
) -> Result<[Vec<Prose>; 2], ReportError> {
    let none = Prose::none();
    let mut base = row(writer, part, (c, worth), false)?;
    base.extend([writer.label("ranks-baseline")?, none.clone(), none.clone()]);
    let mut other = row(writer, part, (c, worth), true)?;
    let gain = match certain_gain(c, worth) {
        Some(gain) => gained(writer, gain, worth)?,
        None => none.clone(),
    };
    other.extend(match &worth.per_unit {
        Some(ruled) => {
            [short_effect(writer, &ruled.overall)?, word(writer, Kind::of_whole(ruled))?]
        }
        None => [none.clone(), none],
    });
    other.push(gain);
    Ok([base, other])
}

/// The gain; none where the verdict on the work is undecided.
fn certain_gain<'w>(c: &Comparison, worth: &'w Worth) -> Option<&'w Estimate> {
    let certain = matches!(c.verdict, Verdict::Better | Verdict::Worse);
    worth.gain.as_ref().filter(|_| certain)
}

/// What a part gives, by its name where it is the only one that differs; of several that differ no
/// one has a share of its own.
fn parts_apart(
    writer: &Writer,
    part: &Part<'_>,
    (c, worth): (&Comparison, &Worth),
) -> Result<Option<Prose>, ReportError> {
    let (Some(gain), Some(apart)) = (certain_gain(c, worth), &worth.parts) else {
        return Ok(None);
    };
    let names: Vec<String> = apart.more.iter().chain(&apart.instead).map(counted).collect();
    let name = |level: &str| level_name(&part.run.plan, &c.factor, level);
    let (more, less) = match worth.other.value > worth.base.value {
        true => (&c.other, &c.base),
        false => (&c.base, &c.other),
    };
    let difference = Quantity::new((worth.other.value - worth.base.value).abs(), worth.base.unit);
    let args = Args::new()
        .prose("load", &row_name(writer, part.run, c)?)
        .name("parts", &names.join(", "))
        .name("more", &name(more))
        .name("less", &name(less))
        .quantity("difference", difference)
        .prose("gain", &gained(writer, gain, worth)?);
    writer.say(if names.len() == 1 { "worth-part" } else { "worth-parts" }, args).map(Some)
}

/// `PRO/1000`, or `2 × DIMM`.
fn counted(part: &CountedPart) -> String {
    match part.count {
        1 => part.name.clone(),
        count => unbroken(&format!("{count} × {}", part.name)),
    }
}

/// What each unit more gives, with its interval.
fn gained(writer: &Writer, gain: &Estimate, worth: &Worth) -> Said {
    let [low, high] = [gain.low, gain.high].map(|centre| Estimate { centre, ..gain.clone() });
    let args = Args::new().estimate("figure", gain).estimate("low", &low).estimate("high", &high);
    writer.say("worth-gain", args.name("currency", worth.base.unit.symbol()))
}

/// A figure for each unit of what is taken.
fn each(writer: &Writer, figure: &Estimate, worth: &Worth) -> Said {
    let args = Args::new().estimate("figure", figure);
    writer.say("price-each", args.name("currency", worth.base.unit.symbol()))
}

/// What a level takes, its highest figure over the points, and what that is for each unit taken.
fn row(
    writer: &Writer,
    part: &Part<'_>,
    (c, worth): (&Comparison, &Worth),
    is_other: bool,
) -> Result<Vec<Prose>, ReportError> {
    let level = if is_other { &c.other } else { &c.base };
    let taken = if is_other { worth.other } else { worth.base };
    let side = |p: &PointResult| if is_other { p.other.clone() } else { p.base.clone() };
    let mut row = vec![
        row_name(writer, part.run, c)?,
        Prose::verbatim(&level_name(&part.run.plan, &c.factor, level)),
        Prose::quantity(taken),
    ];
    let height = |p: &&PointResult| side(p).centre.value;
    let Some(best) = c.points.iter().max_by(|a, b| height(a).total_cmp(&height(b))) else {
        return Ok(row);
    };
    row.push(Prose::join(&[Prose::estimate(&side(best)), at(writer, best.at.as_ref())?]));
    let figure = worth.per_unit.as_ref();
    let figure = figure.and_then(|c| c.points.iter().find(|p| p.at == best.at)).map(side);
    row.push(match figure {
        Some(figure) => each(writer, &figure, worth)?,
        None => Prose::none(),
    });
    Ok(row)
}
