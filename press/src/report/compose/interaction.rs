//! Knows how it is said that the effect of one factor depends on the level of another.

use super::effect::{effect, level, metric_name, plain_effects, short_effect};
use super::figures::{alone_mark, direction};
use super::names::{key_words, level_name, setting};
use super::ruling::{shown, speaks_for_itself, verdict_word};
use super::{Part, Said, Writer, repeat};
use crate::figure::{Axis, Figure, FigureKind, Reference, Scale, Series};
use crate::report::document::{Column, Node, Prose, Table, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Better;
use desk::unit::Unit;
use desk::verdict::{Interaction, Verdict};

/// More interactions than this would make a figure of too many rows; the table has them.
const DRAWN: usize = 3;

/// The section on all of them; nothing where the plan crosses no factors.
pub(super) fn section(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Node>, ReportError> {
    let all = &part.analysis.interactions;
    let Some(first) = all.first() else { return Ok(None) };
    let mut body = Vec::new();
    if all.len() <= DRAWN {
        let figure = figure(writer, part, (first, all))?;
        let said = writer.shows(&figure, "interaction-shows", Args::new())?;
        body.extend([Node::Figure(figure), Node::Paragraph(said)]);
    }
    let mut said = Vec::new();
    for one in all {
        said.push(sentence(writer, part, one)?);
    }
    match said.as_slice() {
        [only] => body.push(Node::Paragraph(only.clone())),
        _ => body.push(Node::List(said)),
    }
    body.push(Node::Table(table(writer, part, all)?));
    let id = format!("interaction-{}", part.run.id);
    Ok(Some(Node::section(id, writer.label("interaction-title")?, body)))
}

/// The levels by the names that every text gives them.
fn names(part: &Part<'_>, one: &Interaction) -> Args {
    named(part, one, &level_name(&part.run.plan, &one.factor, &one.base))
}

/// The same for a row, where the key of both levels is said once: `mtu 9000 B : 1500 B`.
fn short_names(part: &Part<'_>, one: &Interaction) -> Args {
    let [base, other] = [&one.base, &one.other].map(|l| level_name(&part.run.plan, &one.factor, l));
    let key = |name: &str, level: &str| name.strip_suffix(&unbroken(level)).map(str::to_owned);
    let shared = key(&base, &one.base) == key(&other, &one.other);
    named(part, one, &if shared { unbroken(&one.base) } else { base })
}

fn named(part: &Part<'_>, one: &Interaction, base: &str) -> Args {
    let plan = &part.run.plan;
    Args::new()
        .name("base", base)
        .name("other", &level_name(plan, &one.factor, &one.other))
        .name("first_under", &level_name(plan, &one.by, &one.by_base))
        .name("second_under", &level_name(plan, &one.by, &one.by_other))
}

/// Under what it holds besides its two factors: words that speak for themselves, the load where
/// there are several, then what needs its name.
fn condition(part: &Part<'_>, one: &Interaction) -> Prose {
    let plan = &part.run.plan;
    let words =
        one.fixed.values().filter(|v| speaks_for_itself(v)).map(|v| Prose::verbatim(&shown(v)));
    let load = (plan.loads.len() > 1).then(|| Prose::verbatim(&one.load));
    let fixed = one.fixed.iter().filter(|(_, value)| !speaks_for_itself(value));
    let fixed = fixed.map(|(key, value)| setting(key, &value.to_string()));
    let others = one.stratum.iter().map(|(factor, level)| {
        let name = level_name(plan, factor, level);
        match name == unbroken(level) {
            true => setting(factor, level),
            false => Prose::verbatim(&name),
        }
    });
    let said: Vec<Prose> = words.chain(load).chain(fixed).chain(others).collect();
    Prose::join_with(&said, ", ")
}

/// What n of an interaction counts.
fn counted(part: &Part<'_>, one: &Interaction) -> &'static str {
    repeat(part.run.plan.replicate_of(&[&one.factor, &one.by]))
}

/// Both effects, and whether they differ.
fn sentence(writer: &Writer, part: &Part<'_>, one: &Interaction) -> Said {
    let [first, second] = plain_effects(writer, [&one.first, &one.second])?;
    let args = names(part, one)
        .prose("metric", &metric_name(writer, part.run, &one.metric)?)
        .prose("first", &first)
        .prose("second", &second)
        .prose("difference", &effect(writer, &one.difference)?);
    let said = match one.verdict {
        Verdict::Better | Verdict::Worse => writer.say("interaction-differs", args)?,
        Verdict::Equivalent => writer.say("interaction-same", args)?,
        Verdict::TwoStates => writer.say("interaction-states", args)?,
        Verdict::NotComparable | Verdict::Undecided { .. } => {
            let args = args.repeat(counted(part, one)).count("blocks", one.difference.n);
            writer.say("interaction-open", args)?
        }
    };
    let condition = condition(part, one);
    if condition.text().is_empty() {
        return Ok(said);
    }
    let args = Args::new().prose("condition", &condition).prose("sentence", &said);
    writer.say("interaction-under", args)
}

fn figure(
    writer: &mut Writer,
    part: &Part<'_>,
    (first, all): (&Interaction, &[Interaction]),
) -> Result<Figure, ReportError> {
    let mut series = Vec::new();
    for one in all {
        let condition = condition(part, one);
        for (key, ratio) in [
            ("interaction-row-first", &one.first),
            ("interaction-row-second", &one.second),
            ("interaction-row-difference", &one.difference),
        ] {
            let name = writer.say(key, short_names(part, one))?;
            let name = match all {
                [_] => name,
                _ => Prose::join_with(&[name, condition.clone()], ", "),
            };
            series.push(Series { name: name.text().into(), marks: vec![alone_mark(ratio)] });
        }
    }
    let key = match first.verdict {
        _ if all.len() > 1 => "interaction-finding-several",
        Verdict::Better | Verdict::Worse => "interaction-finding-differs",
        Verdict::Equivalent => "interaction-finding-same",
        Verdict::TwoStates | Verdict::NotComparable | Verdict::Undecided { .. } => {
            "interaction-finding-open"
        }
    };
    let args = names(part, first).name("by", &key_words(&first.by));
    let title = writer.say(key, args)?;
    let metric = metric_name(writer, part.run, &first.metric)?;
    let args = Args::new().prose("metric", &metric).quantity("level", level(&first.difference));
    let known = part.run.metrics.iter().find(|m| m.name == first.metric);
    let axis = Axis {
        label: writer.label("axis-ratio")?.text().into(),
        unit: Unit::Ratio,
        scale: Scale::Linear,
        direction: direction(writer, known.map_or(Better::Higher, |m| m.better))?,
        names: Vec::new(),
    };
    let number = writer.next_figure();
    let footnote = Args::new().repeat(counted(part, first));
    let footnote = footnote.count("blocks", first.difference.n).name("run", &part.run.id);
    Ok(Figure {
        id: format!("fig-{}-{number}", part.run.id),
        number,
        kind: FigureKind::Dots,
        title: title.text().into(),
        subtitle: writer.say("interaction-subtitle", args)?.text().into(),
        x: axis.clone(),
        y: axis,
        series,
        zones: Vec::new(),
        references: vec![Reference {
            value: 1.0,
            name: writer.label("reference-equal")?.text().into(),
        }],
        roofs: Vec::new(),
        footnote: writer.say("figure-footnote", footnote)?.text().into(),
    })
}

fn table(writer: &mut Writer, part: &Part<'_>, all: &[Interaction]) -> Result<Table, ReportError> {
    let titles = [
        "interaction-effect-of",
        "interaction-under-levels",
        "interaction-first",
        "interaction-second",
        "interaction-difference",
        "table-verdict",
    ];
    let mut columns = Vec::new();
    for key in titles {
        columns.push(Column { title: writer.label(key)?, numeric: false });
    }
    let mut rows = Vec::new();
    for one in all {
        let name = writer.say("interaction-pair", short_names(part, one))?;
        let under = writer.say("interaction-under-pair", names(part, one))?;
        rows.push(vec![
            Prose::join_with(&[name, condition(part, one)], ", "),
            under,
            short_effect(writer, &one.first)?,
            short_effect(writer, &one.second)?,
            short_effect(writer, &one.difference)?,
            match one.verdict {
                Verdict::Better => writer.label("interaction-larger")?,
                Verdict::Worse => writer.label("interaction-smaller")?,
                other => {
                    let margin = part.run.plan.method.margin;
                    verdict_word(writer, other, (&one.difference, margin))?
                }
            },
        ]);
    }
    let caption = writer.label("interaction-caption")?;
    let caption = writer.numbered(&caption)?;
    Ok(Table { caption, columns, rows, folded: false, notes: Vec::new() })
}
