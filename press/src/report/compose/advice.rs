//! Knows how advice is said: a line a kind of reader, comparisons that agree taken together.

use super::answer::Judged;
use super::effect::{metric_name, plain_effect, short_effect};
use super::names::{level_name, pair};
use super::ruling::{count, short_condition};
use super::withheld::short_reason;
use super::{Part, Said, Writer};
use crate::report::document::{Prose, Ruling, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::{Advice, Reader, Verdict};

/// The kinds of reader, in the order in which they are addressed.
const READERS: [Reader; 3] = [Reader::PeakThroughput, Reader::Latency, Reader::OtherWork];

/// Advice with the comparison it rests on.
type Given<'a> = (&'a Advice, Judged<'a>);

/// Advice of one part for one kind of reader, by what it says.
struct Group<'a> {
    given: Vec<Given<'a>>,
}

/// How a group of advice is put into words, as one of how many.
type Say = fn(&Writer, &Group<'_>, Among) -> Said;

/// Where a group stands among the groups for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Among {
    /// The only one: it holds everywhere.
    Alone,
    /// One of several.
    Several,
    /// The last and largest: it holds wherever the others do not.
    Rest,
}

/// More conditions than these are not listed.
const LISTED: usize = 2;

/// What every group of advice for a reader says, in the words of `say`; nothing without advice.
fn told(
    writer: &Writer,
    part: &Part<'_>,
    (reader, say): (Reader, Say),
) -> Result<Option<Prose>, ReportError> {
    let mut groups = grouped(part, reader);
    // The exceptions come first, then what holds wherever they do not.
    let largest = groups.iter().map(|g| g.given.len()).max().unwrap_or(0);
    groups.sort_by_key(|g| g.given.len() == largest && largest > LISTED);
    let mut said = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let last = at + 1 == groups.len() && group.given.len() > LISTED;
        said.push(say(
            writer,
            group,
            match (groups.len(), last) {
                (1, _) => Among::Alone,
                (_, true) => Among::Rest,
                (_, false) => Among::Several,
            },
        )?);
    }
    Ok((!said.is_empty()).then(|| Prose::join_with(&said, "; ")))
}

/// A ruling a kind of reader; nothing where no advice was given.
pub(super) fn rulings(writer: &Writer, part: &Part<'_>) -> Result<Vec<Ruling>, ReportError> {
    let mut rulings = Vec::new();
    for reader in READERS {
        let Some(said) = told(writer, part, (reader, of_group))? else { continue };
        let sentence = writer.say("advice-whole", Args::new().prose("said", &said))?;
        rulings.push(Ruling { tone: Tone::Plain, label: writer.label(title(reader))?, sentence });
    }
    Ok(rulings)
}

/// The same in a line each, for a card of one run.
pub fn short(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut lines = Vec::new();
    let [part] = parts else { return Ok(lines) };
    for reader in READERS {
        let Some(said) = told(writer, part, (reader, in_short))? else { continue };
        let args =
            Args::new().prose("reader", &writer.label(title(reader))?).prose("choice", &said);
        lines.push(writer.say("card-advice", args)?);
    }
    Ok(lines)
}

const fn title(reader: Reader) -> &'static str {
    match reader {
        Reader::PeakThroughput => "advice-peak",
        Reader::Latency => "advice-latency",
        Reader::OtherWork => "advice-other-work",
    }
}

/// The advice of a part for a reader; what says the same about the same two levels is together.
fn grouped<'a>(part: &Part<'a>, reader: Reader) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for advice in part.analysis.advice.iter().filter(|a| a.reader == reader) {
        let mut comparisons = part.analysis.comparisons.iter();
        let Some(of) = comparisons.find(|c| c.id == advice.comparison) else { continue };
        if of.aa {
            continue;
        }
        let given = (advice, (part.run, of));
        match groups.iter_mut().find(|g| agree(&g.given[0], &given)) {
            Some(group) => group.given.push(given),
            None => groups.push(Group { given: vec![given] }),
        }
    }
    groups
}

fn agree((a, (_, of_a)): &Given<'_>, (b, (_, of_b)): &Given<'_>) -> bool {
    let why = |a: &Advice| a.withheld.as_ref().map(std::mem::discriminant);
    let pair = |c: &desk::verdict::Comparison| [c.base.clone(), c.other.clone()];
    let even = |a: &Advice| a.verdict == Verdict::Equivalent;
    (&a.choice, &a.metric, why(a), even(a)) == (&b.choice, &b.metric, why(b), even(b))
        && pair(of_a) == pair(of_b)
}

/// Under what the advice of a group holds; empty where there is nothing to tell apart.
fn conditions(writer: &Writer, group: &Group<'_>, among: Among) -> Said {
    let mut said = Vec::new();
    for (_, (run, comparison)) in &group.given {
        said.push(short_condition(writer, run, comparison)?);
    }
    if among == Among::Alone || said.iter().all(|condition| condition.text().is_empty()) {
        return Ok(Prose::default());
    }
    match (said.as_slice(), among) {
        (all, Among::Rest) => {
            writer.say("advice-rest", Args::new().count("count", count(all.len())))
        }
        ([first, second], _) => {
            writer.say("advice-both", Args::new().prose("first", first).prose("second", second))
        }
        ([first, others @ ..], _) if others.len() >= LISTED => {
            let args = Args::new().prose("first", first).count("more", count(others.len()));
            writer.say("advice-first", args)
        }
        (all, _) => Ok(Prose::join_with(all, ", ")),
    }
}

fn choice(group: &Group<'_>) -> Option<String> {
    let (advice, (run, comparison)) = group.given.first()?;
    let choice = advice.choice.as_ref()?;
    Some(level_name(&run.plan, &comparison.factor, choice))
}

/// The effect, or from the closest to the widest where there are several.
fn effects(writer: &Writer, group: &Group<'_>) -> Said {
    let mut all: Vec<_> = group.given.iter().map(|(a, _)| &a.effect).collect();
    all.sort_by(|a, b| a.distance().total_cmp(&b.distance()));
    match all.as_slice() {
        [only] => short_effect(writer, only),
        [closest, .., widest] => {
            let args = Args::new()
                .prose("closest", &plain_effect(writer, closest)?)
                .prose("widest", &plain_effect(writer, widest)?);
            writer.say("advice-effects", args)
        }
        [] => Ok(Prose::default()),
    }
}

fn of_group(writer: &Writer, group: &Group<'_>, among: Among) -> Said {
    let (advice, (run, comparison)) = group.given[0];
    let args = pair(run, comparison)
        .prose("metric", &metric_name(writer, run, &advice.metric)?)
        .prose("effect", &effects(writer, group)?);
    let said = match (choice(group), &advice.withheld) {
        (Some(_), _) if advice.choice.as_ref() == Some(&comparison.base) => {
            writer.say("advice-take-base", args)?
        }
        (Some(_), _) => writer.say("advice-take-other", args)?,
        (None, Some(why)) => writer
            .say("advice-withheld", Args::new().prose("reason", &short_reason(writer, why)?))?,
        (None, None) if advice.verdict == Verdict::Equivalent => {
            writer.say("advice-either", args)?
        }
        (None, None) => writer.say("advice-open", args.count("blocks", advice.effect.n))?,
    };
    let condition = conditions(writer, group, among)?;
    if condition.text().is_empty() {
        return Ok(said);
    }
    let args = Args::new().prose("condition", &condition).prose("sentence", &said);
    writer.say("advice-under", args)
}

fn in_short(writer: &Writer, group: &Group<'_>, among: Among) -> Said {
    let (advice, _) = group.given[0];
    let said = match (choice(group), &advice.withheld) {
        (Some(choice), _) => Prose::verbatim(&choice),
        (None, Some(why)) => {
            let args = Args::new().prose("reason", &short_reason(writer, why)?);
            writer.say("advice-short-withheld", args)?
        }
        (None, None) if advice.verdict == Verdict::Equivalent => {
            writer.label("advice-short-either")?
        }
        (None, None) => {
            writer.say("advice-short-open", Args::new().count("blocks", advice.effect.n))?
        }
    };
    let condition = conditions(writer, group, among)?;
    if condition.text().is_empty() {
        return Ok(said);
    }
    let args = Args::new().prose("choice", &said).prose("condition", &condition);
    writer.say("advice-short-under", args)
}
