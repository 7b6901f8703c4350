//! Knows the frame of every verdict: which sentence an outcome is said with.

use super::curve::{level_sentences, nearest_first, said_region};
use super::effect::{effect, metric_title, short_effect};
use super::{Part, Role, Said, Writer, doubts, heaviest};
use crate::record::{Run, Value};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::verdict::{Comparison, Verdict};

/// How many doubts the verdict box repeats.
const BOX_DOUBTS: usize = 2;
/// Up to this many comparisons are named in the headline.
const FEW: usize = 6;

/// The look of a verdict.
const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Equivalent => Tone::Even,
        Verdict::Undecided { .. } => Tone::Open,
    }
}

/// A verdict in a word.
pub fn verdict_word(writer: &Writer, verdict: Verdict) -> Said {
    writer.label(match verdict {
        Verdict::Better => "word-better",
        Verdict::Worse => "word-worse",
        Verdict::Equivalent => "word-equivalent",
        Verdict::Undecided { .. } => "word-undecided",
    })
}

/// Under what a comparison holds besides its own two levels; empty if under nothing in particular.
pub fn condition(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let mut said = Vec::new();
    if run.plan.loads.len() > 1 {
        said.push(Prose::verbatim(&comparison.load));
    }
    let stratum = comparison.stratum.iter().map(|(name, level)| (name, level.clone()));
    let fixed = comparison.fixed.iter().map(|(name, value)| (name, value.to_string()));
    for (name, value) in fixed.chain(stratum) {
        let args = Args::new().name("name", name).name("value", &value);
        said.push(writer.say("condition", args)?);
    }
    Ok(Prose::join_with(&said, ", "))
}

/// The whole verdict on a comparison in a sentence.
pub(super) fn verdict_sentence(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let margin = comparison.margin;
    let inside = (comparison.overall.centre.value - 1.0).abs() < margin.value;
    let args = Args::new()
        .name("base", &comparison.base)
        .name("other", &comparison.other)
        .name("metric", metric_title(run, comparison))
        .prose("effect", &effect(writer, &comparison.overall)?);
    match comparison.verdict {
        Verdict::Better if inside => {
            writer.say("verdict-better-inside", args.quantity("margin", margin))
        }
        Verdict::Better => writer.say("verdict-better", args),
        Verdict::Worse if inside => {
            writer.say("verdict-worse-inside", args.quantity("margin", margin))
        }
        Verdict::Worse => writer.say("verdict-worse", args),
        Verdict::Equivalent => writer.say("verdict-equivalent", args.quantity("margin", margin)),
        Verdict::Undecided { more_blocks: None } => {
            writer.say("verdict-undecided", args.quantity("margin", margin))
        }
        Verdict::Undecided { more_blocks: Some(blocks) } => writer
            .say("verdict-undecided-more", args.quantity("margin", margin).count("blocks", blocks)),
    }
}

/// A value of the curve parameter, not to be broken.
pub(super) fn shown(value: &Value) -> String {
    crate::report::document::unbroken(&value.to_string())
}

/// The answer, first of all.
pub(super) fn verdict_box(writer: &Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let asked: Vec<(&Run, &Comparison)> = parts
        .iter()
        .filter(|p| p.role != Role::NoiseFloor)
        .flat_map(|p| p.analysis.comparisons.iter().map(|c| (p.run, c)))
        .collect();
    let mut limits = Vec::new();
    for part in parts.iter().filter(|p| p.role == Role::NoiseFloor) {
        for same in &part.analysis.comparisons {
            let args = Args::new().prose("effect", &effect(writer, &same.overall)?);
            limits.push(writer.say("survey-noise", args)?);
        }
    }
    for caveat in heaviest(parts, BOX_DOUBTS) {
        limits.push(Prose::join(&[doubts::lead(writer, caveat)?, doubts::means(writer, caveat)?]));
    }
    let mut rulings = Vec::new();
    for (run, comparison) in &asked {
        rulings.push(ruling(writer, run, comparison, parts.len() > 1)?);
    }
    let labels: Vec<Prose> = rulings.iter().map(|r| r.label.clone()).collect();
    let (tone, headline) = headline(writer, &asked, &labels)?;
    // What the headline says in full is not said twice.
    if let ([(_, only)], [ruling]) = (asked.as_slice(), rulings.as_mut_slice()) {
        ruling.sentence = Prose::join(&where_ahead(writer, only)?);
    }
    rulings.retain(|r| !r.sentence.text().is_empty());
    let caution = match limits.is_empty() {
        true => Prose::default(),
        false => writer.label("box-not-decided")?,
    };
    Ok(Node::VerdictBox { tone, headline, rulings, caution, limits })
}

fn ruling(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
    named: bool,
) -> Result<Ruling, ReportError> {
    let mut said = vec![verdict_sentence(writer, run, comparison)?];
    said.extend(where_ahead(writer, comparison)?);
    let title = if named { Prose::verbatim(&run.plan.title) } else { Prose::default() };
    let label = Prose::join_with(&[title, condition(writer, run, comparison)?], ", ");
    Ok(Ruling { tone: tone(comparison.verdict), label, sentence: Prose::join(&said) })
}

/// Who is ahead where along a curve, in short; nothing without a curve.
fn where_ahead(writer: &Writer, comparison: &Comparison) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for region in &comparison.regions {
        let (near, far) = nearest_first(region);
        let ends = [short_effect(writer, near)?, short_effect(writer, far)?];
        said.push(said_region(writer, comparison, region, ends)?);
    }
    said.extend(level_sentences(writer, comparison)?);
    Ok(said)
}

fn headline(
    writer: &Writer,
    asked: &[(&Run, &Comparison)],
    labels: &[Prose],
) -> Result<(Tone, Prose), ReportError> {
    let [(run, first), rest @ ..] = asked else {
        return Ok((Tone::Open, writer.label("headline-none")?));
    };
    if rest.is_empty() {
        return Ok((tone(first.verdict), verdict_sentence(writer, run, first)?));
    }
    let one_pair = asked
        .iter()
        .all(|(_, c)| (&c.base, &c.other, &c.metric) == (&first.base, &first.other, &first.metric));
    let one_tone = asked.iter().all(|(_, c)| tone(c.verdict) == tone(first.verdict));
    let args = Args::new()
        .count("count", count(asked.len()))
        .name("other", &first.other)
        .name("base", &first.base);
    let key = match tone(first.verdict) {
        Tone::Good if one_pair && one_tone => "headline-all-better",
        Tone::Bad if one_pair && one_tone => "headline-all-worse",
        Tone::Even if one_pair && one_tone => "headline-all-equivalent",
        only => {
            let args = args.prose("tally", &tally(writer, asked, labels)?);
            let tone = if one_tone { only } else { Tone::Plain };
            let key = if one_pair && !one_tone { "headline-mixed" } else { "headline-tally" };
            return Ok((tone, writer.say(key, args)?));
        }
    };
    let distance = |c: &&Comparison| c.overall.centre.value.ln().abs();
    let mut ordered: Vec<&Comparison> = asked.iter().map(|(_, c)| *c).collect();
    ordered.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let (least, most) = (ordered[0], ordered[ordered.len() - 1]);
    let args = args
        .name("metric", metric_title(run, first))
        .prose("least", &short_effect(writer, &least.overall)?)
        .prose("most", &short_effect(writer, &most.overall)?);
    Ok((tone(first.verdict), writer.say(key, args)?))
}

/// How many comparisons came out how, and which where these are few.
fn tally(writer: &Writer, asked: &[(&Run, &Comparison)], labels: &[Prose]) -> Said {
    let outcomes = [
        (Tone::Good, "tally-better"),
        (Tone::Bad, "tally-worse"),
        (Tone::Even, "tally-even"),
        (Tone::Open, "tally-open"),
    ];
    let mut said = Vec::new();
    for (wanted, key) in outcomes {
        let matching = asked.iter().zip(labels).filter(|((_, c), _)| tone(c.verdict) == wanted);
        let names: Vec<Prose> = matching.map(|(_, label)| label.clone()).collect();
        if names.is_empty() {
            continue;
        }
        let tally = writer.say(key, Args::new().count("count", count(names.len())))?;
        let named = asked.len() <= FEW && names.iter().all(|n| !n.text().is_empty());
        let names = Prose::join_with(&names, "; ");
        let args = Args::new().prose("tally", &tally).prose("names", &names);
        said.push(if named { writer.say("tally-named", args)? } else { tally });
    }
    Ok(Prose::join_with(&said, ", "))
}

/// A length as a number that a sentence can count with.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
