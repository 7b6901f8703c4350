//! Knows the answer that stands before everything else: the headline and a line a comparison.
//!
//! Never: a comparison of a level with itself; that is the noise floor, not an answer.

use super::effect::{effect, metric_title, plain_effect};
use super::names::pair;
use super::ruling::{condition, count, news, verdict_sentence};
use super::{Part, Role, Said, Writer, brief, doubts, lead, measured, primary, ranks, tune};
use crate::report::document::{Node, Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Better, Run};
use desk::verdict::{Comparison, Verdict, certain_alone, is_inside, was_carried};

/// How many doubts the verdict box repeats.
const BOX_DOUBTS: usize = 3;
/// Up to this many comparisons are named in the headline.
const FEW: usize = 6;
/// Up to this many conditions are told apart in a sentence.
const SIDES: usize = 4;
/// A level that is better by this factor under one condition only is the news of a survey.
const LARGE: f64 = 1.5;

/// A comparison with the run it was made in.
pub type Judged<'a> = (&'a Run, &'a Comparison);

/// The comparisons of two levels that differ.
pub fn asked<'a>(parts: &[Part<'a>]) -> Vec<Judged<'a>> {
    judged(parts, |role, (_, c)| role != Role::NoiseFloor && !c.aa)
}

/// The comparisons of a level with itself.
pub fn same<'a>(parts: &[Part<'a>]) -> Vec<Judged<'a>> {
    judged(parts, |role, (_, c)| role == Role::NoiseFloor || c.aa)
}

fn judged<'a>(parts: &[Part<'a>], wanted: fn(Role, Judged<'a>) -> bool) -> Vec<Judged<'a>> {
    let each = |p: &Part<'a>| {
        let (role, run) = (p.role, p.run);
        p.analysis.comparisons.iter().map(move |c| (role, (run, c)))
    };
    let all = parts.iter().flat_map(each);
    all.filter(|(role, judged)| wanted(*role, *judged)).map(|(_, judged)| judged).collect()
}

/// Comparisons in their order, those of one run with the same two levels together.
pub fn grouped<'a>(asked: &[Judged<'a>]) -> Vec<Vec<Judged<'a>>> {
    let mut groups: Vec<Vec<Judged<'a>>> = Vec::new();
    for judged in asked {
        match groups.iter_mut().find(|g| of_one_pair(g[0], *judged)) {
            Some(group) => group.push(*judged),
            None => groups.push(vec![*judged]),
        }
    }
    groups
}

fn of_one_pair((run, a): Judged<'_>, (other_run, b): Judged<'_>) -> bool {
    let key = |c: &Comparison| [&c.factor, &c.base, &c.other, &c.metric].map(String::clone);
    run.id == other_run.id && run.plan.title == other_run.plan.title && key(a) == key(b)
}

/// Whether the same two levels came out differently under different conditions.
pub(super) fn is_split(group: &[Judged<'_>]) -> bool {
    let outcome = |judged: &Judged<'_>| news(judged.1);
    let differ = group.windows(2).any(|w| outcome(&w[0]) != outcome(&w[1]));
    differ && group.len() <= SIDES
}

/// The answer, first of all: who, where, at what cost, by what cause, and what is in doubt.
pub(super) fn verdict_box(writer: &Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let asked = decisive(parts);
    let groups = grouped(&asked);
    let (tone, headline, unsure) = answer(writer, parts, &asked)?;
    let mut rulings = match parts {
        [only] => brief::lines(writer, only, &asked)?,
        _ => of_parts(writer, &tune::besides(parts, groups), &headline)?,
    };
    rulings.extend(tune::rulings(writer, parts)?);
    if !tune::is_asked(parts) {
        rulings.extend(measured::rulings(writer, parts)?);
    }
    let mut limits = limits(writer, parts)?;
    let mut unsure = (unsure, "headline-not-among");
    if let Some((_, rest)) = primary::parted(parts, &asked)
        && let Some((besides, open)) = primary::besides(writer, &rest)?
    {
        rulings.insert(0, besides);
        unsure = ((open, count(rest.len())), "besides-not-among");
    }
    let ((open, of), key) = unsure;
    if open > 0 {
        let args = Args::new().count("count", open).count("of", of);
        limits.insert(0, writer.say(key, args)?);
    }
    limits.extend(unlike(writer, parts)?);
    let caution = match limits.is_empty() {
        true => Prose::default(),
        false => writer.label("box-not-decided")?,
    };
    Ok(Node::VerdictBox { tone, headline, rulings, caution, limits })
}

/// The headline: of the primary comparison that the plan names, of the order of three levels or
/// more, or of all comparisons; how many differences are certain by themselves but not among all
/// that it rests on, and how many these are.
fn answer(
    writer: &Writer,
    parts: &[Part<'_>],
    asked: &[Judged<'_>],
) -> Result<(Tone, Prose, (u32, u32)), ReportError> {
    if let Some((one, _)) = primary::parted(parts, asked) {
        let (tone, said) = primary::headline(writer, one)?;
        return Ok((tone, said, (0, 1)));
    }
    if let [part] = parts
        && let Some(order) = ranks::answering(part, asked)
    {
        let (tone, said) = ranks::headline(writer, part, order)?;
        return Ok((tone, said, ranks::open(order, asked)));
    }
    if let Some((tone, said)) = tune::headline(writer, parts)? {
        return Ok((tone, said, (0, 0)));
    }
    let (tone, said) = headline(writer, parts, &grouped(asked))?;
    Ok((tone, said, (certain_alone(asked), count(asked.len()))))
}

/// The comparisons that can differ in the metric: where both levels carried the load that was set,
/// they moved the same by design, and only their cost is of interest. Neither are those whose sides
/// are not comparable. All, if all are such.
pub(super) fn decisive<'a>(parts: &[Part<'a>]) -> Vec<Judged<'a>> {
    let all = asked(parts);
    let set = |(run, c): &Judged<'a>| {
        let part = parts.iter().find(|p| std::ptr::eq(p.run, *run));
        part.is_some_and(|part| was_carried(&part.analysis.limits, &c.id))
    };
    let free = |all: &[Judged<'a>], bar: &dyn Fn(&Judged<'a>) -> bool| -> Vec<Judged<'a>> {
        let free: Vec<Judged<'a>> = all.iter().filter(|judged| !bar(judged)).copied().collect();
        if free.is_empty() { all.to_vec() } else { free }
    };
    let unlike = |(_, c): &Judged<'a>| c.verdict == Verdict::NotComparable;
    free(&free(&all, &unlike), &set)
}

/// How many comparisons have no verdict because their sides were not made by the same, where others
/// have one; nothing where none or all are such.
fn unlike(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Prose>, ReportError> {
    let all = asked(parts);
    let some = all.iter().filter(|(_, c)| c.verdict == Verdict::NotComparable).count();
    if some == 0 || some == all.len() {
        return Ok(None);
    }
    let args = Args::new().count("count", count(some)).count("of", count(all.len()));
    writer.say("headline-unlike", args).map(Some)
}

/// The noise floor, then the heaviest doubts in short; their chapter has evidence and remedy.
fn limits(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut limits = Vec::new();
    for (run, same) in same(parts) {
        let args = Args::new().name("metric", metric_title(run, same));
        let args = args.prose("effect", &effect(writer, &same.overall)?);
        limits.push(writer.say("survey-noise", args)?);
    }
    limits.extend(doubts::heaviest_in_short(writer, parts, BOX_DOUBTS)?);
    Ok(limits)
}

/// A line a part of a survey; what the headline says is not said twice.
fn of_parts(
    writer: &Writer,
    groups: &[Vec<Judged<'_>>],
    headline: &Prose,
) -> Result<Vec<Ruling>, ReportError> {
    let mut rulings = Vec::new();
    for group in groups {
        let (tone, sentence) = of_group(writer, group)?;
        let label = Prose::verbatim(&group[0].0.plan.title);
        if sentence != *headline {
            rulings.push(Ruling { tone, label, sentence });
        }
    }
    Ok(rulings)
}

fn headline(
    writer: &Writer,
    parts: &[Part<'_>],
    groups: &[Vec<Judged<'_>>],
) -> Result<(Tone, Prose), ReportError> {
    match groups {
        [] => of_nothing(writer, parts),
        [only] => of_group(writer, only),
        _ => of_survey(writer, groups),
    }
}

/// What the comparisons of the same two levels say together.
fn of_group(writer: &Writer, group: &[Judged<'_>]) -> Result<(Tone, Prose), ReportError> {
    match group {
        [one] => lead::of_one(writer, *one),
        several if is_split(several) => {
            Ok((Tone::Plain, split(writer, "headline-split", several)?))
        }
        several => match lead::of_one_question(writer, several)? {
            Some(answer) => Ok(answer),
            None => match lead::of_most(writer, several)? {
                Some(answer) => Ok(answer),
                None => counted(writer, several),
            },
        },
    }
}

fn of_nothing(writer: &Writer, parts: &[Part<'_>]) -> Result<(Tone, Prose), ReportError> {
    if parts.len() > 1
        && let Some(answer) = measured::headline(writer, parts)?
    {
        return Ok(answer);
    }
    let said = match same(parts).first() {
        Some((run, c)) => {
            let args = Args::new().name("metric", metric_title(run, c));
            writer.say("headline-noise", args.prose("effect", &effect(writer, &c.overall)?))?
        }
        None => match measured::headline(writer, parts)? {
            Some(answer) => return Ok(answer),
            None => writer.label("headline-none")?,
        },
    };
    Ok((Tone::Open, said))
}

/// The split that nobody would guess, else the largest effect that is sure and not within the
/// margin, else the count.
fn of_survey(writer: &Writer, groups: &[Vec<Judged<'_>>]) -> Result<(Tone, Prose), ReportError> {
    if let Some(group) = groups.iter().find(|g| is_split(g) && is_news(g)) {
        return Ok((Tone::Plain, split(writer, "headline-split", group)?));
    }
    let asked: Vec<Judged<'_>> = groups.iter().flatten().copied().collect();
    let decided = asked.iter().filter(|(_, c)| matches!(news(c), Tone::Good | Tone::Bad));
    let Some((run, most)) =
        decided.max_by(|a, b| a.1.overall.nearest().total_cmp(&b.1.overall.nearest()))
    else {
        return counted(writer, &asked);
    };
    let sentence = verdict_sentence(writer, run, most)?;
    let condition = condition(writer, run, most)?;
    let said = match condition.text().is_empty() {
        true => sentence,
        false => {
            let args = Args::new().prose("condition", &condition).prose("sentence", &sentence);
            writer.say("headline-under", args)?
        }
    };
    Ok((news(most), said))
}

/// Much better under one condition and surely not under another: a side that is undecided is no
/// news, so that a large effect that is sure goes before it.
fn is_news(group: &[Judged<'_>]) -> bool {
    let gain = |c: &Comparison| match c.better {
        Better::Higher => c.overall.centre.value,
        Better::Lower => 1.0 / c.overall.centre.value,
    };
    let large = |c: &Comparison| c.verdict == Verdict::Better && gain(c) >= LARGE;
    let not = |c: &Comparison| matches!(c.verdict, Verdict::Worse | Verdict::Equivalent);
    group.iter().any(|(_, c)| large(c)) && group.iter().all(|(_, c)| large(c) || not(c))
}

/// `mtu 9000 B against mtu 1500 B: throughput 2.59× with tso off, −7.1 % with tso on`, in the
/// frame of the key.
pub(super) fn split(writer: &Writer, key: &str, group: &[Judged<'_>]) -> Said {
    let mut sides = Vec::new();
    for (run, c) in group {
        sides.push(split_side(writer, run, c)?);
    }
    let (run, first) = group[0];
    let args = pair(run, first)
        .name("metric", metric_title(run, first))
        .prose("sides", &Prose::join_with(&sides, ", "));
    writer.say(key, args)
}

/// An effect with the condition it holds under, without its interval.
fn split_side(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let key = match comparison.verdict {
        Verdict::Better | Verdict::Worse if is_inside(comparison) => "split-side-even",
        Verdict::Better | Verdict::Worse => "split-side",
        Verdict::Equivalent => "split-side-even",
        Verdict::TwoStates | Verdict::NotComparable | Verdict::Undecided { .. } => {
            "split-side-open"
        }
    };
    let args = Args::new()
        .prose("effect", &plain_effect(writer, &comparison.overall)?)
        .prose("condition", &condition(writer, run, comparison)?);
    writer.say(key, args)
}

/// Only how many came out how: for what has no single answer.
fn counted(writer: &Writer, asked: &[Judged<'_>]) -> Result<(Tone, Prose), ReportError> {
    let (run, first) = asked[0];
    let one_tone = asked.iter().all(|(_, c)| news(c) == news(first));
    let one_pair = asked.iter().all(|judged| of_one_pair(asked[0], *judged));
    let nobody = asked.iter().all(|(_, c)| matches!(news(c), Tone::Even | Tone::Open));
    let key = match one_pair && !one_tone {
        true if nobody => "headline-neither",
        true => "headline-mixed",
        false => "headline-tally",
    };
    let args = pair(run, first)
        .count("count", count(asked.len()))
        .prose("tally", &tally(writer, asked, !one_pair)?);
    let tone = if one_tone { news(first) } else { Tone::Plain };
    Ok((tone, writer.say(key, args)?))
}

/// How many comparisons came out how, and which where these are few.
pub(super) fn tally(writer: &Writer, asked: &[Judged<'_>], titled: bool) -> Said {
    let outcomes = [
        (Tone::Good, "tally-better"),
        (Tone::Bad, "tally-worse"),
        (Tone::Even, "tally-even"),
        (Tone::Open, "tally-open"),
    ];
    let mut said = Vec::new();
    for (wanted, key) in outcomes {
        let mut names = Vec::new();
        for (run, c) in asked.iter().filter(|(_, c)| news(c) == wanted) {
            let title = Prose::verbatim(if titled { &run.plan.title } else { "" });
            names.push(Prose::join_with(&[title, condition(writer, run, c)?], ", "));
        }
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
