//! Knows what follows from the answer of one run, and what it rests on: what to do, what was
//! compared, how sure the answer is, and under which conditions it was measured.
//!
//! Never: a verdict of its own; the claim that answers the question has it.

use super::names::{key_words, setting};
use super::ruling::{count, shown};
use super::{Part, Said, Writer, say, testbed};
use crate::claim::{Claim, Judged, Kind, answering, answers, decisive, unbroken};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{LoadPlan, Method, ParamRole, Plan, Value};
use desk::stats::JUDGED_FROM;
use desk::unit::{Quantity, Unit};
use desk::verdict::{Caveat, Verdict};

/// What is said of a load of a single point.
const SAID_OF_LOAD: [ParamRole; 5] = [
    ParamRole::Direction,
    ParamRole::Size,
    ParamRole::Concurrency,
    ParamRole::Offered,
    ParamRole::WorkingSet,
];

/// What to do; nothing where the answer is not one for every reader.
pub(super) fn next(writer: &Writer, part: &Part<'_>) -> Result<Option<Prose>, ReportError> {
    let all = answers(std::slice::from_ref(part));
    let [claim] = all.as_slice() else { return Ok(None) };
    let [base, other] = claim.pair();
    let args = Args::new().name("base", base).name("other", other);
    let open = claim.kind.is_open();
    if open
        && claim.kind != Kind::Emulated
        && let Some(level) = unsteady(part)
    {
        return writer.say("next-states", args.name("level", &level)).map(Some);
    }
    let key = match claim.kind {
        Kind::Better => "next-take",
        Kind::MostBetter if is_never_behind(part) => "next-never-worse",
        Kind::MostBetter => "next-most",
        Kind::Worse | Kind::MostWorse => "next-stay",
        Kind::First if say::is_baseline_first(claim) => "next-stay",
        Kind::First => return writer.say("next-take", args.name("other", base)).map(Some),
        Kind::Inside | Kind::Equivalent | Kind::FirstInside => "next-either",
        Kind::Mixed | Kind::Split => "next-by-load",
        Kind::LooksBetter | Kind::LooksWorse | Kind::Undecided => {
            return more(writer, (part, claim), args).map(Some);
        }
        _ => return Ok(None),
    };
    writer.say(key, args).map(Some)
}

/// Whether no point of any comparison that decides has the baseline ahead.
fn is_never_behind(part: &Part<'_>) -> bool {
    let all = decisive(std::slice::from_ref(part));
    let mut points = all.iter().flat_map(|(_, c)| &c.points);
    !points.any(|point| point.verdict == Verdict::Worse)
}

/// The level whose trials collapse or have two states, which is to be explained first.
fn unsteady(part: &Part<'_>) -> Option<String> {
    let states = part.analysis.two_states.first().map(|states| states.level.as_str());
    let uneven = part.analysis.caveats.iter().find_map(|caveat| match caveat {
        Caveat::Uneven { uneven, .. } => Some(uneven.sides().0.level.as_str()),
        _ => None,
    });
    let plan = &part.run.plan;
    states.or(uneven).map(|level| super::names::level_name(plan, &plan.method.compare, level))
}

/// Stay with the baseline, and the command that adds the blocks that a decision takes at the least:
/// as foretold, else as many as a verdict takes, else as many again.
fn more(writer: &Writer, (part, claim): (&Part<'_>, &Claim), args: Args) -> Said {
    let Method { blocks, compare, .. } = &part.run.plan.method;
    let foretold = claim.evidence.more.map(|more| more.low.max(1));
    let judged = u32::try_from(JUDGED_FROM).unwrap_or(u32::MAX);
    let enough = judged.checked_sub(*blocks).filter(|lacking| *lacking > 0);
    let mut args = args
        .name("run", &part.run.id)
        .count("blocks", foretold.or(enough).unwrap_or(*blocks))
        .choose("lab", if part.run.plan.lab.machines.is_empty() { "here" } else { "machines" });
    let compared = part.run.plan.factors.iter().find(|factor| factor.name == *compare);
    let baseline = compared.and_then(|factor| factor.levels.first());
    if let Some(level) = baseline {
        let name = super::names::level_name(&part.run.plan, compare, &level.name);
        args = args.name("base", &name);
    }
    writer.say("next-more", args)
}

/// How sure the answer is, and how many blocks it rests on.
pub(super) fn sure(
    writer: &Writer,
    part: &Part<'_>,
    asked: &[Judged<'_>],
) -> Result<Option<Prose>, ReportError> {
    let plan = &part.run.plan;
    let Some(blocks) = asked.iter().map(|(_, c)| c.overall.n).min().filter(|n| *n > 0) else {
        return Ok(None);
    };
    let all = answers(std::slice::from_ref(part));
    let how = match all.first().map(|claim| claim.kind) {
        None => "open",
        Some(kind) if kind.is_open() => "open",
        Some(Kind::Equivalent) => "equal",
        Some(_) => "apart",
    };
    let order = answering(part, asked);
    let args = Args::new()
        .choose("how", how)
        .choose("ranked", if order.is_some() { "yes" } else { "no" })
        .count("count", count(order.map_or(asked.len(), |order| order.pairs.len())))
        .count("blocks", blocks)
        .quantity("level", Quantity::new(1.0 - plan.method.alpha(), Unit::Share))
        .quantity("margin", asked[0].1.margin);
    writer.say("box-sure-said", args).map(Some)
}

/// Where the loads ran, and what of them and of the other factors was tried.
pub(super) fn holds(writer: &Writer, part: &Part<'_>) -> Said {
    let plan = &part.run.plan;
    let mut tried: Vec<Prose> = Vec::new();
    for (key, values) in swept(plan) {
        tried.push(span(writer, &key_words(key), &values)?);
    }
    for factor in plan.factors.iter().filter(|f| f.name != plan.method.compare) {
        let names: Vec<String> = factor.levels.iter().map(|l| unbroken(&l.name)).collect();
        let args = Args::new().name("name", &key_words(&factor.name));
        tried.push(writer.say("span-words", args.name("words", &names.join(", ")))?);
    }
    for load in plan.loads.iter().filter(|load| load.over.is_empty()) {
        tried.push(set(writer, load, plan.loads.len() > 1)?);
    }
    let args = Args::new()
        .prose("tried", &Prose::join_with(&tried, "; "))
        .choose("some", if tried.is_empty() { "no" } else { "yes" })
        .prose("place", &place(writer, part)?);
    writer.say("box-holds-said", args)
}

/// The machine and the kind of lab; of a simulation that it is none.
fn place(writer: &Writer, part: &Part<'_>) -> Said {
    let env = part.run.environment();
    if env.is_simulated() {
        return writer.say("box-holds-model", Args::new().count("count", env.cpu.logical));
    }
    let args = Args::new()
        .prose("machine", &testbed::machine_word(writer, env)?)
        .prose("lab", &testbed::lab_of(writer, std::slice::from_ref(part))?);
    writer.say("box-holds-lab", args)
}

/// A load of a single point with its direction and the amounts that make it what it is.
fn set(writer: &Writer, load: &LoadPlan, named: bool) -> Said {
    let told = |role: &ParamRole| {
        let (key, value) = load.fixed.get_key_value(load.roles.get(role)?)?;
        (*role == ParamRole::Direction || value.word().is_none())
            .then(|| setting(key, &shown(value)))
    };
    let told: Vec<Prose> = SAID_OF_LOAD.iter().filter_map(told).collect();
    let told = Prose::join_with(&told, ", ");
    if !named {
        return Ok(told);
    }
    let args = Args::new().name("load", &key_words(&load.name));
    writer.say("box-holds-load", args.prose("settings", &told))
}

/// Every swept parameter, once, with the values of all loads.
fn swept(plan: &Plan) -> Vec<(&str, Vec<&Value>)> {
    let mut all: Vec<(&str, Vec<&Value>)> = Vec::new();
    for (key, values) in plan.loads.iter().flat_map(|load| &load.over) {
        let at = all.iter().position(|(known, _)| *known == key.as_str()).unwrap_or_else(|| {
            all.push((key.as_str(), Vec::new()));
            all.len() - 1
        });
        let known = &mut all[at].1;
        for value in values {
            if !known.contains(&value) {
                known.push(value);
            }
        }
    }
    all
}

/// `request size 64 B to 256 KiB`, or every value by its word.
fn span(writer: &Writer, name: &str, values: &[&Value]) -> Said {
    let args = Args::new().name("name", name);
    match values {
        [first, .., last] if values.iter().all(|value| value.word().is_none()) => {
            writer.say("span-from", args.name("from", &shown(first)).name("to", &shown(last)))
        }
        _ => {
            let words: Vec<String> = values.iter().map(|value| shown(value)).collect();
            writer.say("span-words", args.name("words", &words.join(", ")))
        }
    }
}
