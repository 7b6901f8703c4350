//! Knows what follows from the answer of one run, and what it rests on: what to do, under which
//! conditions it was measured, and in how many blocks.
//!
//! Never: a verdict of its own; the claim that answers the question has it.

use super::names::{key_words, level_name};
use super::ruling::{count, shown};
use super::{Part, Said, Writer, testbed};
use crate::claim::{Claim, Judged, Kind, answers};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Plan, Value};

/// What to do; nothing where the answer is not one for every reader.
pub(super) fn next(writer: &Writer, part: &Part<'_>) -> Result<Option<Prose>, ReportError> {
    let all = answers(std::slice::from_ref(part));
    let [claim] = all.as_slice() else { return Ok(None) };
    let [base, other] = claim.pair();
    let args = Args::new().name("base", base).name("other", other);
    let key = match claim.kind {
        Kind::Better => "next-take",
        Kind::MostBetter => "next-most",
        Kind::Worse | Kind::MostWorse => "next-stay",
        Kind::Inside | Kind::Equivalent => "next-either",
        Kind::TwoStates => "next-states",
        Kind::LooksBetter | Kind::LooksWorse | Kind::Undecided => {
            return more(writer, (part, claim), args).map(Some);
        }
        _ => return Ok(None),
    };
    writer.say(key, args).map(Some)
}

/// Stay, and the command that adds the blocks that a decision takes at the least.
fn more(writer: &Writer, (part, claim): (&Part<'_>, &Claim), args: Args) -> Said {
    match claim.evidence.more {
        Some(more) => {
            let args = args.name("run", &part.run.id).count("blocks", more.low.max(1));
            writer.say("next-more", args)
        }
        None => writer.say("next-stay-open", args),
    }
}

/// Where the loads ran, and what of them and of the other factors was tried.
pub(super) fn holds(writer: &Writer, part: &Part<'_>) -> Said {
    let plan = &part.run.plan;
    let mut tried: Vec<Prose> = Vec::new();
    for (key, values) in plan.loads.iter().flat_map(|load| &load.over) {
        let said = span(writer, key, values)?;
        if !tried.contains(&said) {
            tried.push(said);
        }
    }
    for factor in plan.factors.iter().filter(|f| f.name != plan.method.compare) {
        let names = factor.levels.iter().map(|level| level_name(plan, &factor.name, &level.name));
        tried.extend(names.map(|name| Prose::verbatim(&name)));
    }
    tried.push(testbed::lab_of(writer, std::slice::from_ref(part))?);
    writer.say("box-holds-said", Args::new().prose("tried", &Prose::join_with(&tried, ", ")))
}

/// `request size 64 B to 256 KiB`, or every value by its word.
fn span(writer: &Writer, key: &str, values: &[Value]) -> Said {
    match values {
        [first, .., last] if first.word().is_none() => {
            let args = Args::new().name("name", &key_words(key));
            writer.say("span-from", args.name("from", &shown(first)).name("to", &shown(last)))
        }
        _ => {
            let words: Vec<String> = values.iter().map(shown).collect();
            Ok(Prose::verbatim(&words.join(", ")))
        }
    }
}

/// How many blocks there are, and what a block is; nothing where n counts boots.
pub(super) fn blocks(
    writer: &Writer,
    plan: &Plan,
    asked: &[Judged<'_>],
) -> Result<Option<Prose>, ReportError> {
    let blocks = asked.iter().map(|(_, c)| c.overall.n).min().unwrap_or(0);
    if blocks == 0 || super::repeat(plan.replicate()) != "block" {
        return Ok(None);
    }
    let args = Args::new().count("blocks", count(blocks as usize));
    let args = args.quantity("margin", asked[0].1.margin);
    writer.say("box-blocks-said", args).map(Some)
}
