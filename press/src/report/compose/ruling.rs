//! Knows how a verdict looks, under what it holds, and how many blocks would decide it.

use super::say::look;
use super::{Said, Writer};
use crate::claim::{Kind, subjects};
use crate::report::document::{Prose, Tone};
use crate::report::words::Args;
use desk::record::Run;
use desk::stats::MoreBlocks;
use desk::unit::{Quantity, Unit};
use desk::verdict::Comparison;

pub(super) use crate::claim::shown;

/// The look of a comparison in the headline, where a difference too small to matter is none.
pub(super) fn news(comparison: &Comparison) -> Tone {
    look(Kind::of_whole(comparison))
}

/// Under what a comparison holds besides its own two levels; empty if under nothing in particular.
pub fn condition(run: &Run, comparison: &Comparison) -> Prose {
    Prose::verbatim(&subjects(run, comparison).condition(true))
}

/// The same beside others, without the name of the load if all are of one.
pub(super) fn condition_among(
    (run, comparison): (&Run, &Comparison),
    among: &[(&Run, &Comparison)],
) -> Prose {
    let differ = among.iter().any(|(_, other)| other.load != comparison.load);
    Prose::verbatim(&subjects(run, comparison).condition(differ))
}

/// The same without the names of parameters whose values are words that speak for themselves.
pub fn short_condition(run: &Run, comparison: &Comparison) -> Prose {
    Prose::verbatim(&subjects(run, comparison).short_condition())
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

/// A length as a number that a sentence can count with.
pub fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
