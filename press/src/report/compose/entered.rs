//! Knows what a person entered of the things under test: a table of it, and the work for money and
//! for power.

use super::effect::{metric_title, short_effect};
use super::figures::row_name;
use super::names::{key_words, level_name};
use super::places::at;
use super::ruling::verdict_word;
use super::{Nodes, Part, Said, Writer};
use crate::report::document::{Column, Node, Prose, Table, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::ManualFact;
use desk::stats::Estimate;
use desk::verdict::{Comparison, PointResult, PowerSource, Verdict, Worth};

/// Everything that was entered, for the test bed; the same of several parts once.
pub(super) fn table(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let mut told: Vec<&ManualFact> = Vec::new();
    for fact in parts.iter().flat_map(|p| &p.run.plan.facts) {
        if !told.contains(&fact) {
            told.push(fact);
        }
    }
    if told.is_empty() {
        return Ok(Vec::new());
    }
    let mut columns = Vec::new();
    for key in ["entered-of", "entered-what", "made-value", "appendix-source", "entered-date"] {
        columns.push(Column { title: writer.label(key)?, numeric: false });
    }
    let mut rows = Vec::new();
    for fact in told {
        rows.push(vec![
            match &fact.of {
                Some(level) => Prose::verbatim(level),
                None => writer.label("entered-bed")?,
            },
            what(writer, &fact.what)?,
            Prose::verbatim(&unbroken(&fact.value.to_string())),
            Prose::verbatim(&fact.source),
            Prose::verbatim(&unbroken(&fact.date)),
        ]);
    }
    let caption = writer.label("entered-caption")?;
    let caption = writer.numbered(&caption)?;
    Ok(vec![Node::Table(Table { caption, columns, rows, folded: false, notes: Vec::new() })])
}

/// The kinds that have words of ours; everything else is the person's own word.
fn what(writer: &Writer, what: &str) -> Said {
    match what {
        "price" => writer.label("entered-price"),
        "power" => writer.label("entered-power"),
        "noise" => writer.label("entered-noise"),
        "mass" => writer.label("entered-mass"),
        "ambient" => writer.label("entered-ambient"),
        own => Ok(Prose::verbatim(&key_words(own))),
    }
}

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
    for source in [PowerSource::Entered, PowerSource::Packages] {
        let of = |worth: &&Worth| worth.power == Some(source);
        let powers: Vec<Worth> = analysis.powers.iter().filter(of).cloned().collect();
        nodes.extend(section(writer, part, (POWER, &powers))?);
    }
    let entered = |what: &str| part.run.plan.facts.iter().any(|fact| fact.what == what);
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
    for worth in all {
        let known = part.analysis.comparisons.iter().find(|c| c.id == worth.comparison);
        let Some(c) = known else { continue };
        metric = metric.or(Some(metric_title(part.run, c)));
        rows.extend(both_rows(writer, part, (c, worth))?);
    }
    let Some(metric) = metric else { return Ok(Vec::new()) };
    let taken = match all.first().and_then(|worth| worth.power) {
        None => "price-entered",
        Some(PowerSource::Entered) => "power-entered",
        Some(PowerSource::Packages) => "power-measured",
    };
    let mut columns = Vec::new();
    for (key, numeric) in [
        ("table-comparison", false),
        ("limits-level", false),
        (taken, true),
        ("price-highest", true),
        (each, true),
        (ratio, true),
        ("table-verdict", false),
        (gain, true),
    ] {
        columns.push(Column { title: writer.label(key)?, numeric });
    }
    let caption = writer.say(caption, Args::new().name("metric", metric))?;
    let caption = writer.numbered(&caption)?;
    let notes = vec![writer.label(note)?];
    let table = Table { caption, columns, rows, folded: false, notes };
    let id = format!("cost-{taken}-{}", part.run.id);
    let title = writer.label(title)?;
    Ok(vec![Node::Section { id, title, body: vec![Node::Table(table)] }])
}

/// The baseline, then the other level with the ratio of the two, its verdict, and what each unit
/// more gives.
fn both_rows(
    writer: &Writer,
    part: &Part<'_>,
    (c, worth): (&Comparison, &Worth),
) -> Result<[Vec<Prose>; 2], ReportError> {
    let (none, ruled) = (Prose::verbatim("–"), &worth.per_unit);
    let mut base = row(writer, part, (c, worth), false)?;
    base.extend([writer.label("ranks-baseline")?, none.clone(), none.clone()]);
    let mut other = row(writer, part, (c, worth), true)?;
    // What is not certain of the work is not told of what it costs more.
    let certain = matches!(c.verdict, Verdict::Better | Verdict::Worse);
    let gain = match worth.gain.as_ref().filter(|_| certain) {
        Some(gain) => gained(writer, gain, worth)?,
        None => none,
    };
    other.extend([
        short_effect(writer, &ruled.overall)?,
        verdict_word(writer, ruled.verdict, (&ruled.overall, ruled.margin))?,
        gain,
    ]);
    Ok([base, other])
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
    let figure = worth.per_unit.points.iter().find(|p| p.at == best.at).map(side);
    row.push(match figure {
        Some(figure) => each(writer, &figure, worth)?,
        None => Prose::verbatim("–"),
    });
    Ok(row)
}
