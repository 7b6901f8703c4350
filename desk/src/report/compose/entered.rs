//! Knows what a person entered of the things under test: a table of it, and throughput for money.

use super::effect::metric_title;
use super::figures::row_name;
use super::names::{key_words, level_name};
use super::places::at;
use super::{Nodes, Part, Said, Writer};
use crate::record::{ManualFact, Value};
use crate::report::document::{Column, Node, Prose, Table, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::unit::Quantity;
use crate::verdict::{Comparison, is_aa};

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
        "noise" => writer.label("entered-noise"),
        "mass" => writer.label("entered-mass"),
        "ambient" => writer.label("entered-ambient"),
        own => Ok(Prose::verbatim(&key_words(own))),
    }
}

/// The price of a level: of the level itself, or of the link that it is.
fn price_of<'a>(part: &Part<'a>, level: &str) -> Option<(&'a ManualFact, Quantity)> {
    let facts = part.run.plan.facts.iter();
    let mut fits = facts.filter(|f| f.what == "price" && f.of.as_deref() == Some(level));
    let fact = fits.next()?;
    let Value::Quantity(price) = fact.value else { return None };
    (price.value > 0.0 && price.unit.is_money()).then_some((fact, price))
}

/// Throughput for money, a row a level and comparison; nothing unless both levels have a price in
/// one currency.
pub(super) fn price(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let mut rows = Vec::new();
    let mut metric = None;
    for c in part.analysis.comparisons.iter().filter(|c| !is_aa(&part.run.plan, c)) {
        let prices = [&c.base, &c.other].map(|level| price_of(part, level));
        let [Some((_, base)), Some((_, other))] = prices else { continue };
        if base.unit != other.unit {
            continue;
        }
        metric = metric.or(Some(metric_title(part.run, c)));
        for (level, price) in [(&c.base, base), (&c.other, other)] {
            rows.extend(row(writer, part, (c, level, price))?);
        }
    }
    let Some(metric) = metric.filter(|_| !rows.is_empty()) else { return Ok(Vec::new()) };
    let mut columns = Vec::new();
    for (key, numeric) in [
        ("table-comparison", false),
        ("limits-level", false),
        ("price-entered", true),
        ("price-highest", true),
        ("price-for", true),
    ] {
        columns.push(Column { title: writer.label(key)?, numeric });
    }
    let caption = writer.say("price-caption", Args::new().name("metric", metric))?;
    let caption = writer.numbered(&caption)?;
    let notes = vec![writer.label("price-note")?];
    let table = Table { caption, columns, rows, folded: false, notes };
    let id = format!("cost-price-{}", part.run.id);
    let title = writer.label("price-title")?;
    Ok(vec![Node::Section { id, title, body: vec![Node::Table(table)] }])
}

/// The highest throughput of a level over its points, for its price.
fn row(
    writer: &Writer,
    part: &Part<'_>,
    (c, level, price): (&Comparison, &str, Quantity),
) -> Result<Option<Vec<Prose>>, ReportError> {
    let side = |p: &crate::verdict::PointResult| -> Estimate {
        if level == c.base { p.base.clone() } else { p.other.clone() }
    };
    let best = c.points.iter().map(|p| (p.at.as_ref(), side(p)));
    let best = best.max_by(|a, b| a.1.centre.value.total_cmp(&b.1.centre.value));
    let Some((place, top)) = best else { return Ok(None) };
    let each = Quantity::new(top.centre.value / price.value, top.centre.unit);
    let for_money = Args::new().quantity("figure", each).name("currency", price.unit.symbol());
    Ok(Some(vec![
        row_name(writer, part.run, c)?,
        Prose::verbatim(&level_name(&part.run.plan, &c.factor, level)),
        Prose::quantity(price),
        Prose::join(&[Prose::estimate(&top), at(writer, place)?]),
        writer.say("price-each", for_money)?,
    ]))
}
