//! Knows how it is said in a sentence that a gain hangs on other factors, and what limits else.
//!
//! Never: which conditions these are.

use super::effect::{effects, metric_name};
use super::limits::kind_word;
use super::names::{setting, short_levels};
use super::ruling::shown;
use super::{Part, Said, Writer};
use crate::report::document::{Prose, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::{Condition, Dependence, Gaining, Idle};

/// The answer of a plan whose every comparison is part of one of these; nothing for others.
pub(super) fn headline(
    writer: &Writer,
    parts: &[Part<'_>],
) -> Result<Option<(Tone, Prose)>, ReportError> {
    let [part] = parts else { return Ok(None) };
    let all = &part.analysis.dependences;
    let is_told = |c: &desk::verdict::Comparison| {
        all.iter().any(|one| {
            (&one.factor, &one.other, &one.load, &one.fixed)
                == (&c.factor, &c.other, &c.load, &c.fixed)
        })
    };
    if all.is_empty() || !part.analysis.comparisons.iter().all(is_told) {
        return Ok(None);
    }
    let mut said = Vec::new();
    for one in all {
        said.push(sentence(writer, part, one)?);
    }
    Ok(Some((Tone::Plain, Prose::join(&said))))
}

/// `rate 1 Gbit/s against 100 Mbit/s: throughput 9.9x with ...; no gain with ...`.
fn sentence(writer: &Writer, part: &Part<'_>, one: &Dependence) -> Said {
    let mut gains = Vec::new();
    for Gaining { condition, least, most } in &one.gains {
        let args = Args::new().prose("effect", &effects(writer, [least, most])?);
        let args = args.prose("condition", &words(part, one, condition));
        gains.push(writer.say("depends-gain", args)?);
    }
    let mut nothing = Vec::new();
    for Idle { condition, limits } in &one.nothing {
        let args = Args::new().prose("condition", &words(part, one, condition));
        nothing.push(match limits.as_slice() {
            [] => writer.say("depends-idle", args)?,
            kinds => {
                let all = kinds.iter().map(|kind| kind_word(writer, *kind));
                let all = Prose::join_with(&all.collect::<Result<Vec<_>, _>>()?, " or ");
                writer.say("depends-idle-limit", args.prose("limit", &all))?
            }
        });
    }
    let joined = |all: &[Prose]| -> Said {
        match all {
            [first, rest @ ..] if !rest.is_empty() => {
                let args = Args::new().prose("first", first);
                writer.say("depends-and", args.prose("rest", &Prose::join_with(rest, ", ")))
            }
            _ => Ok(Prose::join(all)),
        }
    };
    let open: Vec<Prose> = one.open.iter().map(|one_of| words(part, one, one_of)).collect();
    let args = short_levels(&part.run.plan, &one.factor, [&one.base, &one.other])
        .prose("metric", &metric_name(writer, part.run, &one.metric)?)
        .prose("gains", &joined(&gains)?)
        .prose("nothing", &joined(&nothing)?);
    let said = writer.say("depends-said", args)?;
    if open.is_empty() {
        return Ok(said);
    }
    let args = Args::new().prose("condition", &joined(&open)?);
    Ok(Prose::join(&[said, writer.say("depends-open", args)?]))
}

/// What must hold, and the parameters of the load where there are several sentences.
fn words(part: &Part<'_>, one: &Dependence, condition: &Condition) -> Prose {
    let several = part.analysis.dependences.len() > 1;
    let load = (several && part.run.plan.loads.len() > 1).then(|| Prose::verbatim(&one.load));
    let fixed = one.fixed.iter().filter(|_| several);
    let fixed = fixed.map(|(key, value)| setting(key, &shown(value)));
    let levels = condition.iter().map(|(factor, level)| setting(factor, level));
    Prose::join_with(&load.into_iter().chain(levels).chain(fixed).collect::<Vec<_>>(), " and ")
}
