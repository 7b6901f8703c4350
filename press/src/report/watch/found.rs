//! Knows how comparisons and limits are said on a screen while a run goes on.

use super::ink::{Ink, Line, inked, plain};
use super::{Pane, PaneKind, Stage, State};
use crate::claim::Kind;
use crate::report::compose::{
    Writer, limit_word, measured_lines, short_condition, short_effect, short_pair, word,
};
use crate::report::document::{Prose, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Run;
use desk::stats::JUDGED_FROM;
use desk::verdict::{Comparison, Limit, LimitKind, Rival, compares};

/// Levels whose limits are said.
const LEVELS: usize = 4;
/// Ceilings that were not full and are said, the fullest first.
const RIVALS: usize = 2;

/// A line a comparison, or the figures of a run that compares nothing.
pub fn pane(writer: &Writer, stage: &Stage<'_>) -> Result<Pane, ReportError> {
    let running = stage.state == State::Running;
    let part = &stage.part;
    let mut lines = Vec::new();
    let title = if compares(&part.run.plan) {
        for comparison in &part.analysis.comparisons {
            lines.push(line(writer, part.run, comparison)?);
        }
        if running { "watch-comparisons-so-far" } else { "watch-comparisons" }
    } else {
        let measured = measured_lines(writer, &[*part])?;
        lines.extend(measured.iter().map(|said| plain(said, Ink::Plain)));
        if running { "watch-measured-so-far" } else { "watch-measured" }
    };
    if lines.is_empty() {
        lines.push(plain(&writer.label("watch-no-comparison")?, Ink::Dim));
    }
    let title = writer.label(title)?.text().into();
    Ok(Pane { kind: PaneKind::Found, title, lines })
}

fn line(writer: &Writer, run: &Run, comparison: &Comparison) -> Result<Line, ReportError> {
    let word = verdict(writer, comparison)?;
    let pair = writer.say("pair-full", short_pair(run, comparison))?;
    let pair = Prose::join_with(&[pair, short_condition(run, comparison)], ", ");
    let known = run.metric(&comparison.load, &comparison.metric);
    let metric = known.map_or(comparison.metric.as_str(), |metric| metric.title.as_str());
    let args = Args::new()
        .prose("word", &word)
        .prose("pair", &pair)
        .name("metric", metric)
        .prose("effect", &short_effect(writer, &comparison.overall)?)
        .count("n", comparison.overall.n);
    let ink = |level: &str| (unbroken(level), Ink::Level(place(run, level)));
    let words =
        [(word.text().to_owned(), Ink::Strong), ink(&comparison.other), ink(&comparison.base)];
    Ok(inked(&writer.say("watch-comparison", args)?, &words))
}

/// The place of a level among those that are compared, by which it has its colour.
pub fn place(run: &Run, level: &str) -> usize {
    let plan = &run.plan;
    let factor = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    let at = factor.and_then(|factor| factor.levels.iter().position(|l| l.name == level));
    at.unwrap_or(0)
}

/// The verdict in a word, once there are blocks enough for one.
fn verdict(writer: &Writer, comparison: &Comparison) -> Result<Prose, ReportError> {
    let few = (comparison.overall.n as usize) < JUDGED_FROM;
    match Kind::of_whole(comparison) {
        Kind::Undecided if few => writer.label("watch-few"),
        kind => word(writer, kind),
    }
}

/// What was full under every level, beside what was read and was not; nothing where a run compares
/// nothing.
pub fn limits(writer: &Writer, stage: &Stage<'_>) -> Result<Option<Pane>, ReportError> {
    let part = &stage.part;
    if !compares(&part.run.plan) || part.run.plan.is_alone() {
        return Ok(None);
    }
    let mut told: Vec<&Limit> = Vec::new();
    for limit in &part.analysis.limits {
        match told.iter_mut().find(|known| known.level == limit.level) {
            Some(known) if known.evidence.centre.value < limit.evidence.centre.value => {
                *known = limit;
            }
            Some(_) => {}
            None => told.push(limit),
        }
    }
    let mut lines = Vec::new();
    for limit in told.into_iter().take(LEVELS) {
        let level = (unbroken(&limit.level), Ink::Level(place(part.run, &limit.level)));
        lines.push(inked(&said(writer, limit)?, &[level]));
    }
    if lines.is_empty() {
        lines.push(plain(&writer.label("watch-no-limits")?, Ink::Dim));
    }
    let title = writer.label("watch-limits")?.text().into();
    Ok(Some(Pane { kind: PaneKind::Limits, title, lines }))
}

fn said(writer: &Writer, limit: &Limit) -> Result<Prose, ReportError> {
    let full = limit.named().map(|kind| limit_word(writer, kind)).collect::<Result<Vec<_>, _>>()?;
    let args = Args::new()
        .name("level", &unbroken(&limit.level))
        .prose("limit", &Prose::join_with(&full, " + "))
        .estimate("share", &limit.evidence);
    let unseen = limit.kind == LimitKind::NoneSeen;
    let said = writer.say(if unseen { "watch-limit-unseen" } else { "watch-limit" }, args)?;
    let mut fullest: Vec<_> = limit.rivals.iter().collect();
    let share = |rival: &Rival| rival.utilisation.centre.value;
    fullest.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let mut rivals = Vec::new();
    for rival in fullest.into_iter().take(RIVALS).filter(|rival| share(rival) > 0.0) {
        let args = Args::new().prose("limit", &limit_word(writer, rival.kind)?);
        rivals.push(writer.say("watch-rival", args.estimate("share", &rival.utilisation))?);
    }
    if rivals.is_empty() {
        return Ok(said);
    }
    let rivals = Prose::join_with(&rivals, ", ");
    writer.say("watch-rivals", Args::new().prose("limit", &said).prose("rivals", &rivals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_limit_has_a_message() {
        let writer = Writer::new().unwrap();
        for kind in [
            LimitKind::OfferedLoad,
            LimitKind::RelayQuota,
            LimitKind::RelayCpu,
            LimitKind::Relay,
            LimitKind::ClientQuota,
            LimitKind::ClientLine,
            LimitKind::Generator,
            LimitKind::ServerQuota,
            LimitKind::SetRate,
            LimitKind::PathRate,
            LimitKind::Shaper,
            LimitKind::QueueDrops,
            LimitKind::Goodput,
            LimitKind::LineRate,
            LimitKind::Pcie,
            LimitKind::Memory,
            LimitKind::Disk,
            LimitKind::OtherPrograms,
            LimitKind::AllCpus,
            LimitKind::SoftirqCpu,
            LimitKind::OneCpu,
            LimitKind::Workers,
            LimitKind::ReceiveWindow,
            LimitKind::SendBuffer,
            LimitKind::DelayedAcks,
            LimitKind::PathLosses,
            LimitKind::NoneSeen,
        ] {
            assert!(limit_word(&writer, kind).is_ok(), "{kind:?}");
        }
    }
}
