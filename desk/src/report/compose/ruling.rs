//! Knows the frame of every verdict: which sentence an outcome is said with.

use super::effect::{effect, metric_title, short_effect};
use super::{Part, Role, Said, Writer, all_caveats, doubts};
use crate::record::{Run, Value};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::verdict::{Comparison, Region, Verdict};
use std::collections::BTreeSet;

/// How many doubts the verdict box repeats.
const BOX_DOUBTS: usize = 2;

/// The look of a verdict.
pub const fn tone(verdict: Verdict) -> Tone {
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

/// Who is ahead where, in short.
fn region_short(writer: &Writer, comparison: &Comparison, region: &Region) -> Said {
    let leader = if region.other_ahead { &comparison.other } else { &comparison.base };
    let args = Args::new().name("leader", leader).name("from", &shown(&region.from));
    let args = super::effect::centre(args, "least", &region.least);
    if region.from == region.to {
        return writer.say("region-ahead-point-short", args);
    }
    let args = super::effect::centre(args, "most", &region.most).name("to", &shown(&region.to));
    writer.say("region-ahead-short", args)
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
    for caveat in all_caveats(parts).into_iter().take(BOX_DOUBTS) {
        limits.push(Prose::join(&[doubts::lead(writer, caveat)?, doubts::means(writer, caveat)?]));
    }
    let (tone, headline) = headline(writer, &asked)?;
    let mut rulings = Vec::new();
    if asked.len() > 1 || asked.iter().any(|(_, c)| !c.regions.is_empty()) {
        for (run, comparison) in &asked {
            rulings.push(ruling(writer, run, comparison, parts.len() > 1)?);
        }
    }
    Ok(Node::VerdictBox { tone, headline, rulings, limits })
}

fn ruling(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
    named: bool,
) -> Result<Ruling, ReportError> {
    let mut said = vec![verdict_sentence(writer, run, comparison)?];
    for region in &comparison.regions {
        said.push(region_short(writer, comparison, region)?);
    }
    let title = if named { Prose::verbatim(&run.plan.title) } else { Prose::default() };
    let label = Prose::join_with(&[title, condition(writer, run, comparison)?], ", ");
    Ok(Ruling { tone: tone(comparison.verdict), label, sentence: Prose::join(&said) })
}

fn headline(writer: &Writer, asked: &[(&Run, &Comparison)]) -> Result<(Tone, Prose), ReportError> {
    let [(run, first), rest @ ..] = asked else {
        return Ok((Tone::Open, writer.label("headline-none")?));
    };
    if rest.is_empty() {
        return Ok((tone(first.verdict), verdict_sentence(writer, run, first)?));
    }
    let pairs: BTreeSet<_> = asked.iter().map(|(_, c)| (&c.base, &c.other, &c.metric)).collect();
    let tones: Vec<Tone> = asked.iter().map(|(_, c)| tone(c.verdict)).collect();
    let number = |wanted: Tone| count(tones.iter().filter(|t| **t == wanted).count());
    let args = Args::new()
        .count("count", count(asked.len()))
        .name("other", &first.other)
        .name("base", &first.base);
    let one_tone = tones.iter().all(|t| *t == tones[0]).then_some(tones[0]);
    let key = match one_tone.filter(|_| pairs.len() == 1) {
        Some(Tone::Good) => "headline-all-better",
        Some(Tone::Bad) => "headline-all-worse",
        Some(Tone::Even) => "headline-all-equivalent",
        _ => {
            let names = pairs.len() == 1;
            let key = if names { "headline-mixed" } else { "headline-mixed-names" };
            let args = args
                .count("better", number(Tone::Good))
                .count("worse", number(Tone::Bad))
                .count("even", number(Tone::Even))
                .count("open", number(Tone::Open));
            return Ok((Tone::Plain, writer.say(key, args)?));
        }
    };
    let mut ordered: Vec<&Comparison> = asked.iter().map(|(_, c)| *c).collect();
    let distance = |c: &Comparison| c.overall.centre.value.ln().abs();
    ordered.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let least = ordered.first().map_or(&first.overall, |c| &c.overall);
    let most = ordered.last().map_or(&first.overall, |c| &c.overall);
    let args = args
        .name("metric", metric_title(run, first))
        .prose("least", &short_effect(writer, least)?)
        .prose("most", &short_effect(writer, most)?);
    Ok((tones[0], writer.say(key, args)?))
}

/// A length as a number that a sentence can count with.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
