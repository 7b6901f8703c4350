//! Knows how the order of three levels or more is said: who is first, and who shares a rank.
//!
//! Never: who is told apart from whom; that is in the ranking it was given.

use super::answer::Judged;
use super::effect::{effect, metric_name, plain_effect, short_effect};
use super::names::{key_words, level_name};
use super::ruling::{condition, count};
use super::{Nodes, Part, Said, Writer, plot};
use crate::report::document::{Column, Node, Prose, Source, Table, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Run;
use desk::verdict::{Comparison, RankedLevel, RankedPair, Ranking, certain_alone};

/// Up to this many rankings of a factor have a figure each.
const DRAWN: usize = 3;

/// `1`, or `2–3` where it is shared.
pub(super) fn rank(level: &RankedLevel) -> Prose {
    let text = match level.from == level.to {
        true => level.from.to_string(),
        false => format!("{}–{}", level.from, level.to),
    };
    Prose::from_source(text, Source::Count)
}

/// What a level of a ranking is called.
pub(super) fn named(run: &Run, of: &Ranking, level: &str) -> Prose {
    Prose::verbatim(&level_name(&run.plan, &of.factor, level))
}

fn all_named(run: &Run, of: &Ranking, levels: &[String]) -> Prose {
    let names: Vec<Prose> = levels.iter().map(|level| named(run, of, level)).collect();
    Prose::join_with(&names, ", ")
}

/// The rankings of a factor.
fn of_factor<'a>(part: &Part<'a>, compared: bool) -> Vec<&'a Ranking> {
    let is = |r: &&Ranking| (r.factor == part.run.plan.method.compare) == compared;
    part.analysis.rankings.iter().filter(is).collect()
}

/// Under what a ranking holds; `all N conditions` of the one over all of them.
pub(super) fn scope(writer: &Writer, part: &Part<'_>, of: &Ranking) -> Said {
    if of.load.is_none() {
        let under = |r: &&&Ranking| r.factor == of.factor && r.load.is_some();
        let all = part.analysis.rankings.iter().filter(|r| under(&r)).count();
        return writer.say("ranks-over-all", Args::new().count("count", count(all)));
    }
    let known = part.analysis.comparisons.iter().chain(&part.analysis.others);
    let one: Option<&Comparison> = known.into_iter().find(|c| of.over.contains(&c.id));
    one.map_or_else(|| Ok(Prose::default()), |c| condition(writer, part.run, c))
}

/// The ranking that answers the question of a run as a whole: its only one, or the one over all
/// conditions; none where the plan compares two levels or names a primary comparison.
pub(super) fn answering<'a>(part: &Part<'a>, asked: &[Judged<'_>]) -> Option<&'a Ranking> {
    if part.run.plan.method.primary_comparison.is_some() {
        return None;
    }
    let counts = |r: &&Ranking| asked.iter().any(|(_, c)| r.over.contains(&c.id));
    let all: Vec<&Ranking> = of_factor(part, true).into_iter().filter(counts).collect();
    let (over, under): (Vec<&Ranking>, Vec<&Ranking>) =
        all.into_iter().partition(|r| r.load.is_none());
    match (over.as_slice(), under.as_slice()) {
        ([whole, ..], _) => Some(*whole),
        // Where some of the conditions have no ranking, the one that has is not the whole answer.
        ([], [only]) if asked.iter().all(|(_, c)| is_under(only, c)) => Some(*only),
        _ => None,
    }
}

fn is_under(of: &Ranking, c: &Comparison) -> bool {
    (of.load.as_ref(), &of.stratum, &of.fixed) == (Some(&c.load), &c.stratum, &c.fixed)
}

/// Who is first, in a sentence, and its look.
pub(super) fn headline(
    writer: &Writer,
    part: &Part<'_>,
    of: &Ranking,
) -> Result<(Tone, Prose), ReportError> {
    let (tone, said) = outcome(writer, part.run, of)?;
    let scope = scope(writer, part, of)?;
    if scope.text().is_empty() {
        return Ok((tone, said));
    }
    let key = if of.load.is_none() { "ranks-all" } else { "ranks-under" };
    let args = Args::new().prose("scope", &scope).prose("sentence", &said);
    Ok((tone, writer.say(key, args)?))
}

fn outcome(writer: &Writer, run: &Run, of: &Ranking) -> Result<(Tone, Prose), ReportError> {
    let args = Args::new()
        .count("count", count(of.levels.len()))
        .name("factor", &key_words(&of.factor))
        .prose("metric", &metric_name(writer, run, &of.metric)?)
        .quantity("margin", of.margin);
    if of.pairs.iter().all(|pair| !pair.differs) {
        return Ok(match of.pairs.iter().all(|pair| pair.equivalent) {
            true => (Tone::Even, writer.say("ranks-even", args)?),
            false => (Tone::Open, writer.say("ranks-open", args)?),
        });
    }
    match of.first.as_slice() {
        [winner] => of_winner(writer, run, (of, winner), args),
        several => {
            let args = args
                .prose("first", &all_named(run, of, several))
                .count("shared", count(several.len()))
                .prose("behind", &behind(writer, run, of)?);
            Ok((Tone::Plain, writer.say("ranks-shared", args)?))
        }
    }
}

/// One level that is shown better than all others: how far from the nearest.
fn of_winner(
    writer: &Writer,
    run: &Run,
    (of, winner): (&Ranking, &str),
    args: Args,
) -> Result<(Tone, Prose), ReportError> {
    let nearest =
        |a: &&RankedPair, b: &&RankedPair| a.ratio.distance().total_cmp(&b.ratio.distance());
    let Some(pair) = of.pairs.iter().filter(|p| p.better == winner).min_by(nearest) else {
        return Ok((Tone::Plain, Prose::default()));
    };
    let args = args
        .prose("first", &named(run, of, winner))
        .prose("next", &named(run, of, &pair.worse))
        .prose("effect", &effect(writer, &pair.ratio)?);
    let room = of.margin.value;
    let settled = pair.ratio.low.value > 1.0 / (1.0 + room) && pair.ratio.high.value < 1.0 + room;
    let (tone, key) = match (settled, winner == of.base) {
        (true, _) => (Tone::Plain, "ranks-winner-inside"),
        (false, true) => (Tone::Bad, "ranks-winner"),
        (false, false) => (Tone::Good, "ranks-winner"),
    };
    Ok((tone, writer.say(key, args)?))
}

/// The levels that do not share the first place, each with its ratio to the baseline.
fn behind(writer: &Writer, run: &Run, of: &Ranking) -> Said {
    let rest = of.levels.iter().filter(|level| !of.first.contains(&level.level));
    let said = rest.map(|level| beside(writer, run, (of, level))).collect::<Result<Vec<_>, _>>()?;
    Ok(Prose::join_with(&said, ", "))
}

/// `jumbo (+12.3 %)`, `usual (the baseline)`.
fn beside(writer: &Writer, run: &Run, (of, level): (&Ranking, &RankedLevel)) -> Said {
    let name = named(run, of, &level.level);
    if level.level == of.base {
        return writer.say("ranks-beside-base", Args::new().prose("level", &name));
    }
    let effect = plain_effect(writer, &level.ratio)?;
    writer.say("ranks-beside", Args::new().prose("level", &name).prose("effect", &effect))
}

/// The whole order in a line: `1 jumbo (+12.3 %), 2–3 usual (the baseline), ...`.
pub(super) fn line(
    writer: &Writer,
    part: &Part<'_>,
    asked: &[Judged<'_>],
) -> Result<Option<Prose>, ReportError> {
    let Some(of) = answering(part, asked) else { return Ok(None) };
    let mut said = Vec::new();
    for level in &of.levels {
        let beside = beside(writer, part.run, (of, level))?;
        let args = Args::new().prose("rank", &rank(level)).prose("level", &beside);
        said.push(writer.say("ranks-place", args)?);
    }
    let args = Args::new().prose("levels", &Prose::join_with(&said, ", "));
    writer.say("ranks-line", args).map(Some)
}

/// Differences that are certain taken alone but not among all pairs, and how many pairs those are.
pub(super) fn open(of: &Ranking, asked: &[Judged<'_>]) -> (u32, u32) {
    let is_under = |(_, c): &&Judged<'_>| of.load.is_some() && of.over.contains(&c.id);
    let under: Vec<Judged<'_>> = asked.iter().filter(is_under).copied().collect();
    (certain_alone(&under), count(of.pairs.len()))
}

/// A figure and a table for every ranking of the compared factor, or of the others.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>, compared: bool) -> Nodes {
    let mut all = of_factor(part, compared);
    // The whole before its parts.
    all.sort_by_key(|of| of.load.is_some());
    let mut nodes = Vec::new();
    for of in &all {
        if all.len() <= DRAWN || of.load.is_none() {
            let figure = plot::ranks(writer, part, of)?;
            let said = writer.shows(&figure, "ranks-shows", Args::new())?;
            nodes.extend([Node::Figure(figure), Node::Paragraph(said)]);
        }
        nodes.push(Node::Table(table(writer, part, of)?));
    }
    Ok(nodes)
}

fn table(writer: &mut Writer, part: &Part<'_>, of: &Ranking) -> Result<Table, ReportError> {
    let run = part.run;
    let mut rows = Vec::new();
    for level in &of.levels {
        let alike = match level.alike.is_empty() {
            true => writer.label("ranks-apart")?,
            false => all_named(run, of, &level.alike),
        };
        let ratio = match level.level == of.base {
            true => writer.label("ranks-baseline")?,
            false => short_effect(writer, &level.ratio)?,
        };
        rows.push(vec![named(run, of, &level.level), rank(level), ratio, alike]);
    }
    for level in &of.unranked {
        let none = || Prose::verbatim("–");
        rows.push(vec![named(run, of, level), none(), none(), none()]);
    }
    let mut columns = Vec::new();
    for (key, numeric) in [
        ("limits-level", false),
        ("ranks-rank", true),
        ("ranks-ratio", true),
        ("ranks-alike", false),
    ] {
        columns.push(Column { title: writer.label(key)?, numeric });
    }
    let caption =
        writer.say("ranks-caption", Args::new().name("factor", &key_words(&of.factor)))?;
    let caption = Prose::join_with(&[caption, scope(writer, part, of)?], "; ");
    let caption = writer.numbered(&caption)?;
    let mut notes =
        vec![writer.say("ranks-note", Args::new().count("pairs", count(of.pairs.len())))?];
    if !of.unranked.is_empty() {
        notes.push(writer.label("ranks-note-unranked")?);
    }
    Ok(Table { caption, columns, rows, folded: false, notes })
}
