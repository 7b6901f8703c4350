//! Knows what an article on runs of different sessions says of the sessions: how many a side,
//! which, how far they differ among themselves, how many more it takes.
//!
//! Never: a verdict.

use super::ruling::count;
use super::{Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::{SESSIONS_MOST, SpreadSource};
use desk::verdict::{Comparison, Unpaired, Verdict};

/// The sessions of either side.
pub(super) fn counts(found: &Unpaired) -> Args {
    let sessions = &found.sessions;
    // A comparison from before sessions were counted had one a side.
    let side = |runs: &[String]| count(runs.len()).max(1);
    Args::new().count("a", side(&sessions.a)).count("b", side(&sessions.b))
}

/// The caption of values that are sessions, or blocks of the only ones.
pub(super) fn caption(writer: &Writer, found: &Unpaired) -> Said {
    writer.label(match found.sessions.are_values() {
        true => "compare-caption-sessions",
        false => "compare-caption",
    })
}

/// The caption of all values that are sessions, or blocks of the only ones.
pub(super) fn values_caption(writer: &Writer, found: &Unpaired) -> Said {
    writer.label(match found.sessions.are_values() {
        true => "compare-values-caption-sessions",
        false => "compare-values-caption",
    })
}

/// The footnote of a figure of values that are sessions, or blocks of the only ones.
pub(super) fn footnote(writer: &Writer, found: &Unpaired, args: Args) -> Said {
    match found.sessions.are_values() {
        true => writer.say("compare-figure-footnote-sessions", args),
        false => writer.say("compare-figure-footnote", args),
    }
}

/// For the box: how many sessions there are, and what a verdict takes.
pub(super) fn in_short(writer: &Writer, found: &Unpaired) -> Said {
    let args = counts(found).count("least", found.sessions.least);
    let few = found.sessions.are_few();
    match few {
        true => writer.say("compare-sessions-few", args),
        false => writer.say("compare-sessions-enough", args),
    }
}

/// Which runs are the sessions of either side, and which enter the spread alone.
pub(super) fn listed(writer: &Writer, found: &Unpaired) -> Result<Vec<Prose>, ReportError> {
    let sessions = &found.sessions;
    let mut said = vec![in_short(writer, found)?];
    for (side, runs) in [("A", &sessions.a), ("B", &sessions.b)] {
        let args = Args::new().name("side", side).name("runs", &runs.join(", "));
        said.push(writer.say("compare-sessions-side", args)?);
    }
    if !sessions.others.is_empty() {
        let args = Args::new().name("runs", &sessions.others.join(", "));
        said.push(writer.say("compare-sessions-others", args)?);
    }
    Ok(said)
}

/// The spread between sessions in a comparison and, where it is undecided, the sessions that it
/// takes.
pub(super) fn spread(
    writer: &Writer,
    found: &Unpaired,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let of = |spread: &&desk::verdict::SessionSpread| spread.comparison == comparison.id;
    let Some(spread) = found.sessions.spreads.iter().find(of) else { return Ok(Vec::new()) };
    let args = Args::new()
        .quantity("sd", spread.sd)
        .name("freedom", &spread.freedom.round().to_string())
        .count("count", count(found.sessions.others.len()));
    let mut said = vec![match spread.source {
        SpreadSource::Sides => writer.say("compare-spread-sides", args)?,
        SpreadSource::Others => writer.say("compare-spread-others", args)?,
        SpreadSource::Prior => writer.say("compare-spread-prior", args)?,
    }];
    if matches!(comparison.verdict, Verdict::Undecided { .. }) && !found.forced {
        said.push(match spread.needed {
            Some(needed) => writer.say("compare-needed", Args::new().count("needed", needed))?,
            None => writer.say("compare-needed-many", Args::new().count("most", SESSIONS_MOST))?,
        });
    }
    Ok(said)
}
