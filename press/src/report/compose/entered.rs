//! Knows what a person entered of the things under test: a table of it, and throughput for money.

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
use desk::verdict::{Comparison, PointResult, Price};

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

/// What both levels give for their prices, and the verdict on that, two rows a comparison.
pub(super) fn price(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let mut rows = Vec::new();
    let mut metric = None;
    for priced in &part.analysis.prices {
        let known = part.analysis.comparisons.iter().find(|c| c.id == priced.comparison);
        let Some(c) = known else { continue };
        metric = metric.or(Some(metric_title(part.run, c)));
        rows.extend(both_rows(writer, part, (c, priced))?);
    }
    let Some(metric) = metric else { return Ok(Vec::new()) };
    let mut columns = Vec::new();
    for (key, numeric) in [
        ("table-comparison", false),
        ("limits-level", false),
        ("price-entered", true),
        ("price-highest", true),
        ("price-for", true),
        ("price-ratio", true),
        ("table-verdict", false),
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

/// The baseline, then the other level with the ratio of the two and its verdict.
fn both_rows(
    writer: &Writer,
    part: &Part<'_>,
    (c, priced): (&Comparison, &Price),
) -> Result<[Vec<Prose>; 2], ReportError> {
    let (none, money) = (Prose::verbatim("–"), &priced.per_money);
    let mut base = row(writer, part, (c, priced), false)?;
    base.extend([writer.label("ranks-baseline")?, none]);
    let mut other = row(writer, part, (c, priced), true)?;
    other.extend([
        short_effect(writer, &money.overall)?,
        verdict_word(writer, money.verdict, (&money.overall, money.margin))?,
    ]);
    Ok([base, other])
}

/// The price of a level, its highest figure over the points, and what that is for the price.
fn row(
    writer: &Writer,
    part: &Part<'_>,
    (c, priced): (&Comparison, &Price),
    is_other: bool,
) -> Result<Vec<Prose>, ReportError> {
    let level = if is_other { &c.other } else { &c.base };
    let price = if is_other { priced.other } else { priced.base };
    let side = |p: &PointResult| if is_other { p.other.clone() } else { p.base.clone() };
    let mut row = vec![
        row_name(writer, part.run, c)?,
        Prose::verbatim(&level_name(&part.run.plan, &c.factor, level)),
        Prose::quantity(price),
    ];
    let height = |p: &&PointResult| side(p).centre.value;
    let Some(best) = c.points.iter().max_by(|a, b| height(a).total_cmp(&height(b))) else {
        return Ok(row);
    };
    row.push(Prose::join(&[Prose::estimate(&side(best)), at(writer, best.at.as_ref())?]));
    let each = priced.per_money.points.iter().find(|p| p.at == best.at).map(side);
    row.push(match each {
        Some(each) => {
            let args = Args::new().estimate("figure", &each);
            writer.say("price-each", args.name("currency", price.unit.symbol()))?
        }
        None => Prose::verbatim("–"),
    });
    Ok(row)
}
