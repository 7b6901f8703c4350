//! Knows the frame of every verdict: which sentence an outcome is said with.

use super::effect::{effect, metric_title};
use super::names::{key_words, level_name, pair};
use super::{Said, Writer};
use crate::report::document::{Prose, Tone, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Better, Run, Settings, Value};
use desk::stats::{Estimate, JUDGED_FROM, MoreBlocks};
use desk::unit::{Quantity, Unit};
use desk::verdict::{Comparison, Verdict, is_inside, lies_inside, share_unseen};

/// The look of a verdict.
const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Equivalent => Tone::Even,
        Verdict::TwoStates | Verdict::NotComparable | Verdict::Undecided { .. } => Tone::Open,
    }
}

/// The look of a comparison in the headline, where a difference too small to matter is none.
pub(super) fn news(comparison: &Comparison) -> Tone {
    if is_inside(comparison) { Tone::Even } else { tone(comparison.verdict) }
}

/// A verdict on a ratio against a margin in a word.
pub(super) fn verdict_word(
    writer: &Writer,
    verdict: Verdict,
    (ratio, margin): (&Estimate, Quantity),
) -> Said {
    let inside = lies_inside(verdict, ratio, margin);
    writer.label(match verdict {
        Verdict::Better | Verdict::Worse if inside => "word-inside",
        Verdict::Better => "word-better",
        Verdict::Worse => "word-worse",
        Verdict::Equivalent => "word-equivalent",
        Verdict::TwoStates => "word-two-states",
        Verdict::NotComparable => "word-unlike",
        Verdict::Undecided { .. } => match seems(ratio) {
            Some(true) => "word-seems-higher",
            Some(false) => "word-seems-lower",
            None => "word-undecided",
        },
    })
}

/// Whether a ratio of too few blocks for a verdict seems above 1: its interval leaves 1 out.
fn seems(ratio: &Estimate) -> Option<bool> {
    let few = (2..JUDGED_FROM).contains(&(ratio.n as usize));
    let apart = ratio.low.value > 1.0 || ratio.high.value < 1.0;
    (few && apart).then_some(ratio.low.value > 1.0)
}

/// A verdict on a ratio against a margin as a sign; a difference inside the margin is none.
pub fn verdict_sign(
    writer: &Writer,
    verdict: Verdict,
    (ratio, margin): (&Estimate, Quantity),
) -> Said {
    writer.label(match verdict {
        Verdict::Better | Verdict::Worse if lies_inside(verdict, ratio, margin) => {
            "sign-equivalent"
        }
        Verdict::Better => "sign-better",
        Verdict::Worse => "sign-worse",
        Verdict::Equivalent => "sign-equivalent",
        Verdict::TwoStates => "sign-two-states",
        Verdict::NotComparable => "sign-unlike",
        Verdict::Undecided { .. } => "sign-undecided",
    })
}

/// Under what a comparison holds besides its own two levels; empty if under nothing in particular.
pub fn condition(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let mut said = Vec::new();
    if run.plan.loads.len() > 1 {
        said.push(Prose::verbatim(&comparison.load));
    }
    said.extend(of_strata(writer, run, comparison)?);
    Ok(Prose::join_with(&said, ", "))
}

/// Parameters of the load besides the curve, and levels of the other factors.
fn of_strata(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for (key, value) in &comparison.fixed {
        let (name, value) = (key_words(key), shown(value));
        said.push(writer.say("condition", Args::new().name("name", &name).name("value", &value))?);
    }
    for (factor, level) in &comparison.stratum {
        let name = level_name(&run.plan, factor, level);
        let bare = name == unbroken(level);
        let args = Args::new().name("name", &key_words(factor)).name("value", &name);
        said.push(match bare {
            true => writer.say("condition", args)?,
            false => Prose::verbatim(&name),
        });
    }
    Ok(said)
}

/// The same beside others, without the name of the load if all are of one.
pub(super) fn condition_among(
    writer: &Writer,
    (run, comparison): (&Run, &Comparison),
    among: &[(&Run, &Comparison)],
) -> Said {
    let alike = among.iter().all(|(_, other)| other.load == comparison.load);
    if !alike {
        return condition(writer, run, comparison);
    }
    Ok(Prose::join_with(&of_strata(writer, run, comparison)?, ", "))
}

/// The same without the names of parameters whose values are words that speak for themselves.
pub fn short_condition(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let (words, rest): (Settings, Settings) =
        comparison.fixed.clone().into_iter().partition(|(_, value)| speaks_for_itself(value));
    let rest = Comparison { fixed: rest, ..comparison.clone() };
    let words: Vec<Prose> = words.values().map(|value| Prose::verbatim(&shown(value))).collect();
    let words = Prose::join_with(&words, ", ");
    Ok(Prose::join_with(&[words, condition(writer, run, &rest)?], ", "))
}

/// Whether a value is a word that needs no name beside it: `transmit`, but not `on`.
pub(super) fn speaks_for_itself(value: &Value) -> bool {
    value.word().is_some_and(|word| word.len() > 3)
}

/// The whole verdict on a comparison in a sentence.
pub(super) fn verdict_sentence(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let margin = comparison.margin;
    let inside = is_inside(comparison);
    let args = pair(run, comparison)
        .name("metric", metric_title(run, comparison))
        .prose("effect", &effect(writer, &comparison.overall)?);
    match comparison.verdict {
        Verdict::Better | Verdict::Worse if inside => {
            writer.say("verdict-inside", args.quantity("margin", margin))
        }
        Verdict::Better => writer.say("verdict-better", args),
        Verdict::Worse => writer.say("verdict-worse", args),
        Verdict::Equivalent => {
            let unseen = share_unseen(comparison.overall.n);
            let args = args.quantity("margin", margin).quantity("unseen", unseen);
            writer.say("verdict-equivalent", args)
        }
        Verdict::TwoStates => writer.say("verdict-two-states", args),
        Verdict::NotComparable => writer.say("verdict-unlike", pair(run, comparison)),
        Verdict::Undecided { .. } if seems(&comparison.overall).is_some() => {
            let higher = comparison.better == Better::Higher;
            let better = seems(&comparison.overall) == Some(higher);
            let args = args.count("blocks", comparison.overall.n);
            writer.say(if better { "verdict-looks-better" } else { "verdict-looks-worse" }, args)
        }
        Verdict::Undecided { more_blocks: None } => {
            writer.say("verdict-undecided", args.quantity("margin", margin))
        }
        Verdict::Undecided { more_blocks: Some(more) } => {
            let args = args.quantity("margin", margin).prose("blocks", &further(writer, more)?);
            writer.say("verdict-undecided-more", args)
        }
    }
}

/// `8 to 40 further blocks (80 % interval)`.
pub fn further(writer: &Writer, more: MoreBlocks) -> Said {
    let level = Quantity::new(MoreBlocks::LEVEL, Unit::Share);
    let args = Args::new().count("low", more.low).quantity("level", level);
    match more.high {
        Some(high) if high == more.low => writer.say("further-blocks-exactly", args),
        Some(high) => writer.say("further-blocks", args.count("high", high)),
        None => writer.say("further-blocks-open", args.count("most", MoreBlocks::MOST)),
    }
}

/// A value of the curve parameter, not to be broken.
pub(super) fn shown(value: &Value) -> String {
    unbroken(&value.to_string())
}

/// A length as a number that a sentence can count with.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
