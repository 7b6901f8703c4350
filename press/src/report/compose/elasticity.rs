//! Knows how it is said what held a load down: the share of each resource of the cause.
//!
//! Never: how a share is made.

use super::effect::{level, metric_name, short_effect};
use super::names::setting;
use super::ruling::{count, shown};
use super::{Nodes, Part, Said, Writer};
use crate::figure::{Axis, Figure, Mark, Reference, Scale, Series};
use crate::report::document::{Node, Prose, Ruling, Source, Table, Tone, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::ElasticityWords;
use desk::record::Plan;
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::{Elasticity, ResourceShare, Weight};

/// The words for a plan that takes resources down.
///
/// # Errors
/// Words that are missing.
pub fn elasticity_words(plan: &Plan) -> Result<ElasticityWords, ReportError> {
    let writer = Writer::new()?;
    let own = |prose: Prose| prose.text().to_owned();
    Ok(ElasticityWords {
        title: own(writer.say("elastic-title", Args::new().name("title", &plan.title))?),
        question: own(writer.label("elastic-question")?),
        as_is: own(writer.label("elastic-as-is")?),
    })
}

/// The answer that stands first in the article of such a run; nothing for other runs.
pub(super) fn answer(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Node>, ReportError> {
    let [part] = parts else { return Ok(None) };
    let all = &part.analysis.elasticity;
    let Some(first) = all.first() else { return Ok(None) };
    let mut rulings = Vec::new();
    for one in all {
        for share in &one.resources {
            let condition = condition(part, one);
            let label = Prose::join_with(&[Prose::verbatim(&share.resource), condition], ", ");
            let sentence = sentence(writer, part, (one, share))?;
            rulings.push(Ruling { tone: tone(share.weight), label, sentence });
        }
    }
    let mut limits = Vec::new();
    for fixed in part.run.plan.method.elasticity.iter().flat_map(|t| &t.fixed) {
        let args = Args::new().name("resource", &fixed.resource).name("why", &fixed.why);
        limits.push(writer.say("elastic-fixed", args)?);
    }
    if part.run.environment().is_simulated() {
        limits.push(writer.label("doubt-simulated")?);
    }
    let caution = match limits.is_empty() {
        true => Prose::default(),
        false => writer.label("box-not-decided")?,
    };
    let headline = match all.as_slice() {
        [_] => headline(writer, part, first)?,
        several => {
            let mut said = Vec::new();
            for one in several {
                let args = Args::new()
                    .prose("condition", &condition(part, one))
                    .prose("sentence", &headline(writer, part, one)?);
                said.push(writer.say("elastic-under", args)?);
            }
            Prose::join(&said)
        }
    };
    Ok(Some(Node::VerdictBox { tone: Tone::Plain, headline, rulings, caution, limits }))
}

/// Figure, table and what the shares leave; nothing for other runs.
pub(super) fn nodes(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let [part] = parts else { return Ok(Vec::new()) };
    if part.analysis.elasticity.is_empty() {
        return Ok(Vec::new());
    }
    let mut body = Vec::new();
    for one in &part.analysis.elasticity {
        let figure = figure(writer, part, one)?;
        let args = Args::new().quantity("step", step(part.run.plan.method.elasticity.as_ref()));
        body.push(Node::Paragraph(writer.shows(&figure, "elastic-shows", args)?));
        body.push(Node::Figure(figure));
        body.extend(together(writer, one)?.map(Node::Paragraph));
        body.push(Node::Table(table(writer, part, one)?));
    }
    body.push(Node::Paragraph(writer.label("elastic-reading")?));
    Ok(vec![writer.section("elasticity", "elastic-section", body)?])
}

fn step(throttling: Option<&desk::record::Throttling>) -> Quantity {
    throttling.map_or(Quantity::new(0.0, Unit::Share), |t| t.step)
}

/// Load and parameters where there are several places.
fn condition(part: &Part<'_>, one: &Elasticity) -> Prose {
    let load = (part.run.plan.loads.len() > 1).then(|| Prose::verbatim(&one.load));
    let fixed = one.fixed.iter().map(|(key, value)| setting(key, &shown(value)));
    let many = part.analysis.elasticity.len() > 1;
    let all: Vec<Prose> = load.into_iter().chain(fixed).filter(|_| many).collect();
    Prose::join_with(&all, ", ")
}

/// The causes, the largest first.
fn headline(writer: &Writer, part: &Part<'_>, one: &Elasticity) -> Said {
    let metric = metric_name(writer, part.run, &one.metric)?;
    let cause = |s: &&ResourceShare| {
        matches!(s.weight, Weight::All | Weight::Beyond)
            || s.weight == Weight::Part && s.share.low.value > 0.0
    };
    let mut causes: Vec<&ResourceShare> = one.resources.iter().filter(cause).collect();
    causes.sort_by(|a, b| b.share.centre.value.total_cmp(&a.share.centre.value));
    match causes.as_slice() {
        [] => {
            let open = one.resources.iter().any(|s| s.weight == Weight::Open);
            let key = if open { "elastic-open-headline" } else { "elastic-none-headline" };
            writer.say(key, Args::new().prose("metric", &metric))
        }
        [only] => {
            let args = shared(writer, &only.share)?.name("resource", &only.resource);
            writer.say("elastic-one-headline", args.prose("metric", &metric))
        }
        several => {
            let mut said = Vec::new();
            for cause in several {
                let args = shared(writer, &cause.share)?.name("resource", &cause.resource);
                said.push(writer.say("elastic-item", args)?);
            }
            let args = Args::new().prose("metric", &metric);
            let args = args.prose("causes", &Prose::join_with(&said, ", "));
            writer.say("elastic-several-headline", args)
        }
    }
}

/// A share and its ends.
fn shared(writer: &Writer, share: &Estimate) -> Result<Args, ReportError> {
    let args = Args::new().prose("share", &whole(share.centre));
    Ok(args.prose("range", &range(writer, share)?))
}

/// The ends of a share.
fn range(writer: &Writer, share: &Estimate) -> Said {
    let [low, high] = [share.low, share.high].map(whole);
    writer.say("elastic-range", Args::new().prose("low", &low).prose("high", &high))
}

/// A share to the whole per cent, with a sign where it is below 0: none is known better than that.
fn whole(share: Quantity) -> Prose {
    let percent = (share.value * 100.0).round();
    let sign = if percent < 0.0 { "−" } else { "" };
    let text = unbroken(&format!("{sign}{} %", percent.abs()));
    Prose::from_source(text, Source::Estimate(vec![share.into()]))
}

fn sentence(writer: &Writer, part: &Part<'_>, (one, share): (&Elasticity, &ResourceShare)) -> Said {
    let args = shared(writer, &share.share)?
        .name("full", &shown(&share.full))
        .name("down", &shown(&share.down))
        .prose("metric", &metric_name(writer, part.run, &one.metric)?)
        .prose("effect", &short_effect(writer, &share.ratio)?);
    if let (Weight::NotReached, Some(used)) = (share.weight, &share.used) {
        return writer.say("elastic-not-reached", args.estimate("used", used));
    }
    if let (Weight::None, Some(used)) = (share.weight, &share.reserve) {
        return writer.say("elastic-reserve", args.estimate("used", used));
    }
    let key = match share.weight {
        Weight::Beyond => "elastic-beyond",
        Weight::All => "elastic-all",
        Weight::Part => "elastic-part",
        Weight::None => "elastic-none",
        Weight::Open | Weight::NotReached => "elastic-open",
    };
    writer.say(key, args)
}

const fn tone(weight: Weight) -> Tone {
    match weight {
        Weight::All | Weight::Part => Tone::Bad,
        Weight::None => Tone::Even,
        Weight::Open | Weight::NotReached | Weight::Beyond => Tone::Open,
    }
}

fn together(writer: &Writer, one: &Elasticity) -> Result<Option<Prose>, ReportError> {
    let (Some(sum), Some(left)) = (&one.sum, &one.left) else { return Ok(None) };
    let key = match one.beyond {
        true => "elastic-too-much",
        false if left.low.value > 0.0 => "elastic-left",
        false => "elastic-whole",
    };
    let args = shared(writer, sum)?.prose("left", &whole(left.centre));
    let args = args.prose("left_range", &range(writer, left)?);
    Ok(Some(writer.say(key, args)?))
}

fn figure(writer: &mut Writer, part: &Part<'_>, one: &Elasticity) -> Result<Figure, ReportError> {
    let mark = |share: &ResourceShare| Mark {
        valid: share.weight != Weight::NotReached,
        ..super::figures::alone_mark(&share.share)
    };
    let series = one.resources.iter();
    let series =
        series.map(|s| Series { name: s.resource.clone(), marks: vec![mark(s)] }).collect();
    let axis = Axis {
        label: writer.label("elastic-axis")?.text().into(),
        unit: Unit::Share,
        scale: Scale::Linear,
        direction: String::new(),
        names: Vec::new(),
    };
    let reference = |value, key| {
        Ok::<_, ReportError>(Reference { value, name: writer.label(key)?.text().into() })
    };
    let references =
        vec![reference(0.0, "elastic-no-share")?, reference(1.0, "elastic-all-share")?];
    let condition = condition(part, one);
    let metric = metric_name(writer, part.run, &one.metric)?;
    let said = Args::new().prose("metric", &metric);
    let said = match one.resources.first() {
        Some(first) => said.quantity("level", level(&first.share)),
        None => said.name("level", ""),
    };
    let subtitle = writer.say("elastic-subtitle", said)?;
    let blocks = one.resources.iter().map(|s| s.share.n).max().unwrap_or(0);
    let footnote = Args::new().count("blocks", blocks).name("run", &part.run.id);
    let (title, footnote) =
        (headline(writer, part, one)?, writer.say("figure-footnote", footnote)?);
    let number = writer.next_figure();
    Ok(Figure {
        title: title.text().into(),
        subtitle: Prose::join_with(&[subtitle, condition], ", ").text().into(),
        references,
        footnote: footnote.text().into(),
        ..Figure::dots((&part.run.id, number), axis, series)
    })
}

fn table(writer: &mut Writer, part: &Part<'_>, one: &Elasticity) -> Result<Table, ReportError> {
    let titles = ["elastic-resource", "elastic-taken", "elastic-effect", "elastic-share"];
    let columns = writer.headed(&titles)?;
    let mut rows = Vec::new();
    for share in &one.resources {
        let taken = Args::new().name("full", &shown(&share.full));
        rows.push(vec![
            Prose::verbatim(&share.resource),
            writer.say("elastic-from-to", taken.name("down", &shown(&share.down)))?,
            short_effect(writer, &share.ratio)?,
            writer.say("elastic-share-of", shared(writer, &share.share)?)?,
        ]);
    }
    let args = Args::new().count("count", count(one.resources.len()));
    let caption = writer.say("elastic-caption", args)?;
    let caption = Prose::join_with(&[caption, condition(part, one)], ", ");
    writer.table(&caption, columns, rows)
}
