//! Knows the order of an article on two runs: the answer or why there is none, what differs, both
//! test beds, the results, published claims about what they differ in.
//!
//! Never: a verdict without the words that nothing pairs the two.

use super::effect::{judged_effect, level, metric_title};
use super::figures::{Hollow, curve_figure, hollow_note, place};
use super::method::{cost_of_probes, in_boots};
use super::names::{key_words, level_names, moment};
use super::results::by_metric;
use super::ruling::{condition, count, news, shown};
use super::say::{sentence, tally, word};
use super::states::unlike;
use super::testbed::{class_word, lab_word, machine, reclassed};
use super::{Nodes, Part, Role, Said, Writer, closing, curve, published, sessions};
use crate::claim::{Claim, Kind, of_comparison};
use crate::figure::Figure;
use crate::report::document::{Column, Document, Node, Prose, Ruling, Table, Tone};
use crate::report::error::ReportError;
use crate::report::words::{Args, LANGUAGE};
use desk::record::{Completeness, Environment, KeyClass, Replicate, Run};
use desk::unit::Quantity;
use desk::verdict::{Analysis, Comparison, Difference, PointResult, Unpaired, Verdict};

/// Up to this many keys are named in a line.
const NAMED: usize = 6;

/// The runs with what was found, as all chapters need them.
struct Both<'a> {
    a: &'a Run,
    b: &'a Run,
    found: &'a Unpaired,
}

/// The article on two runs.
///
/// # Errors
/// Words that are missing.
pub fn compose_comparison(a: &Run, b: &Run, found: &Unpaired) -> Result<Document, ReportError> {
    let mut writer = Writer::counting(&[a, b].map(one_value_of))?;
    let both = Both { a, b, found };
    let args = Args::new()
        .name("a", &a.id)
        .name("first", &moment(&a.started))
        .name("b", &b.id)
        .name("second", &moment(&b.started));
    let kicker = writer.say("compare-kicker", args)?;
    let title = writer.say("compare-title", Args::new().name("a", &a.id).name("b", &b.id))?;
    let watermark = match found.watermark() {
        Some(keys) => watermark(&writer, &keys)?,
        None => Prose::default(),
    };
    let mut body = vec![answer(&writer, &both)?];
    let nodes = differences(&mut writer, &both)?;
    body.push(writer.section("differences", "compare-differences", nodes)?);
    let compared = !found.comparisons.is_empty();
    if compared {
        let nodes = results(&mut writer, &both)?;
        body.push(writer.section("results", "compare-results", nodes)?);
        body.extend(published::chapter_of_two(&mut writer, &found.claims)?);
    }
    let (findings, grounds) = closing::chapters(&mut writer, [a, b], found)?;
    body.extend(findings);
    let nodes = test_beds(&mut writer, &both)?;
    body.push(writer.section("testbeds", "compare-testbeds", nodes)?.fold());
    if compared {
        let nodes = method(&writer, &both)?;
        body.push(writer.section("method", "compare-method", nodes)?.fold());
    }
    body.extend(grounds);
    let question = Prose::verbatim(&a.plan.question);
    let claims = found.comparisons.iter().map(|c| claim(&both, c)).collect();
    Ok(Document { language: LANGUAGE, watermark, kicker, title, question, body, claims })
}

fn watermark(writer: &Writer, keys: &[&str]) -> Said {
    let named = keys.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let args = Args::new().name("keys", &named);
    match keys.len().checked_sub(NAMED) {
        None | Some(0) => writer.say("compare-watermark", args),
        Some(more) => writer.say("compare-watermark-more", args.count("count", count(more))),
    }
}

fn answer(writer: &Writer, both: &Both<'_>) -> Result<Node, ReportError> {
    let found = both.found;
    if !found.comparability.comparable() && !found.forced {
        return refused(writer, &found.comparability.confounders);
    }
    let (tone, headline, rulings) = match found.comparisons.as_slice() {
        [] => (Tone::Open, writer.label("compare-nothing")?, Vec::new()),
        [only] => (look(found, only), said(writer, both, only)?, Vec::new()),
        several => {
            let outcome = |c: &Comparison| (Kind::of_whole(c).coarse(), condition(both.a, c));
            let tally = tally(writer, &several.iter().map(outcome).collect::<Vec<_>>())?;
            let args = Args::new().count("count", count(several.len())).prose("tally", &tally);
            let headline = unpaired(writer, found, &writer.say("several-tally", args)?)?;
            let mut rulings = Vec::new();
            for one in several {
                let label = condition(both.a, one);
                let sentence = said(writer, both, one)?;
                rulings.push(Ruling { tone: look(found, one), label, sentence });
            }
            (Tone::Plain, headline, rulings)
        }
    };
    let caution = writer.label("box-not-decided")?;
    let mut limits = vec![sessions::in_short(writer, found)?];
    limits.extend(closing::in_short(writer, [both.a, both.b], found)?);
    Ok(Node::VerdictBox { tone, headline, rulings, caution, limits })
}

fn look(found: &Unpaired, comparison: &Comparison) -> Tone {
    if found.forced { Tone::Open } else { news(comparison) }
}

/// Why there is no verdict, and what would give one.
fn refused(writer: &Writer, confounders: &[Difference]) -> Result<Node, ReportError> {
    let names = |wanted: &dyn Fn(&Difference) -> bool| -> Vec<&str> {
        confounders.iter().filter(|d| wanted(d)).map(|d| d.key.as_str()).collect()
    };
    let args = Args::new()
        .count("count", count(confounders.len()))
        .name("keys", &names(&|_| true).join(", "));
    let headline = writer.say("compare-refused", args)?;
    let mut limits = Vec::new();
    let identity = names(&|d| d.class == KeyClass::Identity);
    if !identity.is_empty() {
        let args = Args::new().name("keys", &identity.join(", "));
        limits.push(writer.say("compare-remedy-identity", args)?);
    }
    let critical = names(&|d| d.class != KeyClass::Identity);
    if let Some(first) = critical.first() {
        let args = Args::new().name("keys", &critical.join(", ")).name("key", first);
        limits.push(writer.say("compare-remedy-critical", args)?);
    }
    limits.push(writer.label("compare-remedy-force")?);
    Ok(Node::VerdictBox {
        tone: Tone::Open,
        headline,
        rulings: Vec::new(),
        caution: writer.label("compare-remedies")?,
        limits,
    })
}

fn unpaired(writer: &Writer, found: &Unpaired, sentence: &Prose) -> Said {
    let args = sessions::counts(found).prose("sentence", sentence);
    writer.say("compare-unpaired", args)
}

/// The verdict on a comparison, or the figures where there can be none.
fn said(writer: &Writer, both: &Both<'_>, comparison: &Comparison) -> Said {
    let claim = claim(both, comparison);
    let said = sentence(writer, &claim)?;
    let said = match claim.kind {
        Kind::Withheld => writer.say("compare-no-verdict", Args::new().prose("sentence", &said))?,
        _ => said,
    };
    unpaired(writer, both.found, &said)
}

/// What is claimed of a comparison: without a verdict where the runs are not comparable.
fn claim(both: &Both<'_>, comparison: &Comparison) -> Claim {
    let claim = of_comparison((both.a, comparison));
    let kind = if both.found.forced { Kind::Withheld } else { claim.kind };
    Claim { kind, ..claim }
}

fn results(writer: &mut Writer, both: &Both<'_>) -> Nodes {
    let is_curve =
        |c: &&Comparison| c.points.len() > 1 && c.points.iter().all(|p| place(p).is_some());
    let mut nodes = Vec::new();
    for comparison in both.found.comparisons.iter().filter(is_curve) {
        nodes.push(along_curve(writer, both, comparison)?);
    }
    let single: Vec<&Comparison> = both.found.comparisons.iter().filter(|c| !is_curve(c)).collect();
    for single in by_metric(both.a, &single) {
        let first = single[0];
        let mut rows = Vec::new();
        let mut paragraphs = Vec::new();
        for comparison in single.iter().copied() {
            let mut told = vec![said(writer, both, comparison)?];
            told.extend(sessions::spread(writer, both.found, comparison)?);
            told.extend(unlike(writer, both.a, (comparison, &both.found.unlike))?);
            paragraphs.push(Node::Paragraph(Prose::join(&told)));
            let name = condition(both.a, comparison);
            for point in &comparison.points {
                let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
                let name = Prose::join_with(&[name.clone(), at], ", ");
                rows.push(row(writer, both, name, (comparison, point))?);
            }
        }
        nodes.extend(paragraphs);
        let first_column = writer.label("compare-condition")?;
        nodes.push(Node::Table(table(writer, both, (first, first_column), rows)?));
    }
    Ok(nodes)
}

fn along_curve(
    writer: &mut Writer,
    both: &Both<'_>,
    comparison: &Comparison,
) -> Result<Node, ReportError> {
    let number = writer.next_figure();
    let answer = said(writer, both, comparison)?;
    let figure = drawn(writer, both, (comparison, &answer), number)?;
    let shows = Args::new()
        .name("metric", metric_title(both.a, comparison))
        .name("curve", &key_words(comparison.curve.as_deref().unwrap_or_default()));
    let mut sentences = vec![writer.shows(&figure, "curve-shows", shows)?, answer];
    let mut body = vec![Node::Figure(figure)];
    if !both.found.forced {
        for stretch in curve::stretches(writer, both.a, comparison)? {
            sentences.push(unpaired(writer, both.found, &stretch)?);
        }
    }
    sentences.extend(sessions::spread(writer, both.found, comparison)?);
    sentences.extend(unlike(writer, both.a, (comparison, &both.found.unlike))?);
    if comparison.left_out > 0 {
        let args = Args::new().count("count", comparison.left_out);
        sentences.push(writer.say("compare-left-out", args)?);
    }
    body.push(Node::Paragraph(Prose::join(&sentences)));
    let mut rows = Vec::new();
    for point in &comparison.points {
        let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
        rows.push(row(writer, both, at, (comparison, point))?);
    }
    let none = Prose::none();
    rows.push(vec![
        writer.label("compare-overall")?,
        none.clone(),
        none.clone(),
        judged_effect(writer, (&comparison.overall, comparison.verdict))?,
        word(writer, claim(both, comparison).kind)?,
        none,
    ]);
    let first = Prose::verbatim(&key_words(comparison.curve.as_deref().unwrap_or_default()));
    body.push(Node::Table(table(writer, both, (comparison, first), rows)?));
    let mut title = condition(both.a, comparison);
    if title.text().is_empty() {
        title = Prose::verbatim(metric_title(both.a, comparison));
    }
    Ok(Node::section(format!("result-{}", comparison.id), title, body))
}

/// The figure of a curve with words of its own: its trials are of two sessions.
fn drawn(
    writer: &Writer,
    both: &Both<'_>,
    (comparison, answer): (&Comparison, &Prose),
    number: u32,
) -> Result<Figure, ReportError> {
    let comparisons = both.found.comparisons.clone();
    let analysis = Analysis { comparisons, ..Analysis::default() };
    let part = Part { role: Role::Duel, run: both.a, analysis: &analysis };
    let figure = curve_figure(writer, &part, comparison, number)?;
    let blocks = |runs: fn(&PointResult) -> usize| {
        count(comparison.points.iter().map(runs).max().unwrap_or_default())
    };
    let base = comparison.points.first().map(|p| level(&p.base));
    let args = Args::new()
        .count("a", blocks(|p| p.base_runs.len()))
        .count("b", blocks(|p| p.other_runs.len()))
        .quantity("level", base.unwrap_or_else(|| level(&comparison.overall)));
    let mut footnote = vec![sessions::footnote(writer, both.found, args)?];
    let barred: Vec<Option<Hollow>> = comparison
        .points
        .iter()
        .map(|p| match p.verdict {
            Verdict::TwoStates => Some(Hollow::States),
            Verdict::NotComparable => Some(Hollow::Unlike),
            Verdict::Emulated => Some(Hollow::Emulated),
            Verdict::NoHeadroom => Some(Hollow::Headroom),
            _ => None,
        })
        .collect();
    footnote.push(hollow_note(writer, &barred.iter().flatten().copied().collect())?);
    let mut figure = Figure {
        title: answer.text().into(),
        footnote: Prose::join(&footnote).text().into(),
        ..figure
    };
    for series in &mut figure.series {
        for (mark, bar) in series.marks.iter_mut().zip(&barred) {
            mark.valid &= bar.is_none();
        }
    }
    Ok(figure)
}

fn row(
    writer: &Writer,
    both: &Both<'_>,
    name: Prose,
    (comparison, point): (&Comparison, &PointResult),
) -> Result<Vec<Prose>, ReportError> {
    let blocks = Args::new()
        .count("a", count(point.base_runs.len()))
        .count("b", count(point.other_runs.len()));
    Ok(vec![
        name,
        Prose::estimate(&point.base),
        Prose::estimate(&point.other),
        judged_effect(writer, (&point.ratio, point.verdict))?,
        word(writer, if both.found.forced { Kind::Withheld } else { Kind::at(comparison, point) })?,
        writer.say("compare-blocks", blocks)?,
    ])
}

fn table(
    writer: &mut Writer,
    both: &Both<'_>,
    (comparison, first): (&Comparison, Prose),
    rows: Vec<Vec<Prose>>,
) -> Result<Table, ReportError> {
    let [a, b] = level_names(both.a, comparison);
    let column = |title, numeric| Column { title, numeric };
    let columns = vec![
        column(first, false),
        column(Prose::verbatim(&a), true),
        column(Prose::verbatim(&b), true),
        column(writer.label("compare-ratio")?, true),
        column(writer.label("table-verdict")?, false),
        column(writer.label("compare-n")?, true),
    ];
    let metric = Prose::verbatim(metric_title(both.a, comparison));
    let caption = sessions::caption(writer, both.found)?;
    let caption = Prose::join_with(&[caption, metric], ": ");
    writer.table(&caption, columns, rows)
}

fn differences(writer: &mut Writer, both: &Both<'_>) -> Nodes {
    let found = &both.found.comparability;
    let lists = [
        (&found.confounders, "compare-confounders", false),
        (&found.factors, "compare-factors", false),
        (&found.warnings, "compare-warnings", false),
        (&found.info, "compare-info", true),
    ];
    let mut nodes = Vec::new();
    for (list, caption, folded) in lists {
        if !list.is_empty() {
            nodes.push(Node::Table(listed(writer, list, caption, folded)?));
        }
    }
    if nodes.is_empty() {
        nodes.push(Node::Paragraph(writer.label("compare-same")?));
    }
    let mut said = reclassed(writer, &both.a.plan)?;
    for sentence in reclassed(writer, &both.b.plan)? {
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    if !said.is_empty() {
        nodes.push(Node::List(said));
    }
    Ok(nodes)
}

fn listed(
    writer: &mut Writer,
    list: &[Difference],
    caption: &str,
    folded: bool,
) -> Result<Table, ReportError> {
    let absent = writer.label("compare-unrecorded")?;
    let value = |text: &Option<String>| match text.as_deref() {
        Some(text) => Prose::verbatim(text),
        None => absent.clone(),
    };
    let mut rows = Vec::new();
    for difference in list {
        rows.push(vec![
            Prose::verbatim(&difference.key),
            value(&difference.a),
            value(&difference.b),
            class_word(writer, difference.class)?,
        ]);
    }
    let column = |title| Column { title, numeric: false };
    let columns = vec![
        column(writer.label("compare-key")?),
        column(Prose::verbatim("A")),
        column(Prose::verbatim("B")),
        column(writer.label("compare-class")?),
    ];
    let caption = writer.label(caption)?;
    Ok(Table { folded, ..writer.table(&caption, columns, rows)? })
}

fn test_beds(writer: &mut Writer, both: &Both<'_>) -> Nodes {
    let mut rows: Vec<Vec<Prose>> = Vec::new();
    for run in [both.a, both.b] {
        for (at, (name, value)) in described(writer, run)?.into_iter().enumerate() {
            if rows.len() == at {
                rows.push(vec![name]);
            }
            rows[at].push(value);
        }
    }
    let costs = [cost_of_probes(writer, both.a)?, cost_of_probes(writer, both.b)?];
    if costs.iter().any(Option::is_some) {
        let costs = costs.into_iter().map(|cost| cost.unwrap_or_else(Prose::none));
        rows.push([writer.label("method-probes")?].into_iter().chain(costs).collect());
    }
    let column = |title| Column { title, numeric: false };
    let columns = vec![
        column(writer.label("compare-property")?),
        column(Prose::verbatim("A")),
        column(Prose::verbatim("B")),
    ];
    let caption = writer.label("compare-testbeds-caption")?;
    Ok(vec![Node::Table(writer.table(&caption, columns, rows)?)])
}

/// What one value of a run in a comparison with another run is of.
fn one_value_of(run: &Run) -> Replicate {
    if run.plan.method.boots > 0 { Replicate::Boot } else { Replicate::Block }
}

/// A session in the same rows for every run.
fn described(writer: &Writer, run: &Run) -> Result<Vec<(Prose, Prose)>, ReportError> {
    let complete = match &run.completeness {
        Completeness::Complete => writer.label("word-yes")?,
        Completeness::Partial { why } => Prose::verbatim(why),
    };
    let of_run = [
        ("compare-run", Prose::verbatim(&run.id)),
        ("compare-started", Prose::verbatim(&moment(&run.started))),
        ("compare-version", Prose::verbatim(&run.version)),
        ("compare-plan", Prose::verbatim(&run.plan.title)),
        ("compare-plan-blocks", in_boots(writer, run, run.plan.method.blocks)?),
        ("compare-complete", complete),
        ("compare-lab", lab_word(writer, run.environment())?),
        ("compare-adapters", adapters(writer, run.environment())?),
    ];
    let mut rows = Vec::new();
    for (key, value) in of_run {
        rows.push((writer.label(key)?, value));
    }
    rows.extend(machine(writer, run.environment())?);
    Ok(rows)
}

fn adapters(writer: &Writer, env: &Environment) -> Said {
    let mut said = Vec::new();
    for adapter in &env.adapters {
        let args = Args::new()
            .name("name", &adapter.name)
            .name("driver", adapter.driver.as_deref().unwrap_or("–"))
            .quantity("mtu", Quantity::bytes(adapter.mtu.into()));
        said.push(writer.say("compare-adapter", args)?);
    }
    match said.is_empty() {
        true => Ok(Prose::none()),
        false => Ok(Prose::join_with(&said, ", ")),
    }
}

fn method(writer: &Writer, both: &Both<'_>) -> Nodes {
    let margin = Args::new().quantity("margin", both.a.plan.method.margin);
    let mut said = sessions::listed(writer, both.found)?;
    said.push(writer.label("compare-method-welch")?);
    said.push(writer.say("compare-method-margin", margin)?);
    Ok(vec![Node::List(said)])
}
