//! Knows the card: a run in at most twenty lines of plain text, fit for a forum.
//!
//! Never: a sentence that is longer than a line; the report has those. Nothing is cut: what is too
//! long goes on in the next line.

use super::compose::{
    Part, Role, Writer, all_caveats, curve_figure, further, heaviest, key_words, lab_of,
    limits_in_short, machine_word, measured_lines, moment, roof_line, runs_alone, short_advice,
    short_condition, short_doubt, short_effect, short_pair, sign, tune_lines,
};
use super::document::Prose;
use super::error::ReportError;
use super::text::{ascii, wrap};
use super::words::Args;
use crate::claim::{Judged, Kind, asked, grouped, same};
use crate::figure;
use desk::plan::is_tuning;
use desk::record::{Adapter, Environment};
use desk::stats::Estimate;
use desk::verdict::{Caveat, Verdict};

/// Most lines of a card.
const LINES: usize = 20;
/// Widest card, columns.
const WIDEST: u16 = 80;
/// Height of the curve, lines: below the least it shows nothing.
const CURVE_ROWS: std::ops::RangeInclusive<u16> = 3..=6;
/// Doubts that are said; the rest are counted.
const DOUBTS: usize = 2;

/// What the card is made from.
#[derive(Clone, Copy, Debug)]
pub struct CardInput<'a> {
    /// The runs; one for a plan, several for a survey.
    pub parts: &'a [Part<'a>],
    /// Where the report was written.
    pub report_path: &'a str,
    /// The one command to try next.
    pub next_command: &'a str,
    /// Titles of parts that there was no time for.
    pub left_out: &'a [String],
}

/// At most 20 lines of at most `columns` (and never more than 80) columns; only a word that is
/// longer than a line, such as a path, stays whole.
///
/// # Errors
/// No part, or missing words.
pub fn card(input: &CardInput<'_>, columns: u16, unicode: bool) -> Result<String, ReportError> {
    let first = input.parts.first().ok_or(ReportError::NoRun)?;
    let writer = Writer::on(input.parts.iter().map(|part| part.run))?;
    let columns = columns.min(WIDEST);
    let set = |said: Vec<Prose>| set(&said, columns, unicode);
    let mut lines = set(head(&writer, first, input.parts)?);
    let end = set(end(&writer, input)?);
    let doubts = set(doubts(&writer, input.parts)?);
    let room = LINES.saturating_sub(lines.len() + doubts.len() + end.len());
    let told: Vec<Vec<String>> =
        findings(&writer, input.parts)?.into_iter().map(|line| set(vec![line])).collect();
    let (body, left_out) = fitting(told, room);
    let body = match left_out {
        0 => body,
        more => {
            let more = Args::new().count("count", u32::try_from(more).unwrap_or(u32::MAX));
            [body, set(vec![writer.say("card-more", more)?])].concat()
        }
    };
    let room = room.saturating_sub(body.len());
    let drawn = drawing(&writer, input.parts, (columns, unicode), room)?;
    lines.extend(drawn.iter().map(|line| plain(line, unicode)));
    lines.extend(body);
    lines.extend(doubts);
    lines.extend(end);
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The findings that the room holds, in their order, and how many are left out: one line is kept to
/// say so.
fn fitting(told: Vec<Vec<String>>, room: usize) -> (Vec<String>, usize) {
    let all: usize = told.iter().map(Vec::len).sum();
    if all <= room {
        return (told.concat(), 0);
    }
    let (mut kept, mut left_out) = (Vec::new(), 0);
    for finding in told {
        if left_out == 0 && kept.len() + finding.len() < room {
            kept.extend(finding);
        } else {
            left_out += 1;
        }
    }
    (kept, left_out)
}

fn plain(line: &str, unicode: bool) -> String {
    if unicode { line.replace('\u{a0}', " ") } else { ascii(line) }
}

/// Lines of the width, what does not fit under its own beginning.
fn set(said: &[Prose], columns: u16, unicode: bool) -> Vec<String> {
    let wrapped = said.iter().flat_map(|s| wrap(s.text(), usize::from(columns), "", "  "));
    wrapped.map(|line| plain(&line, unicode)).collect()
}

fn head(writer: &Writer, first: &Part<'_>, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let (run, env) = (first.run, first.run.environment());
    let title = Args::new()
        .name("version", &run.version)
        .name("started", &moment(&run.started))
        .prose("lab", &lab_of(writer, parts)?);
    let mut machine = vec![machine_word(writer, env)?];
    if let Some(release) = env.fact("kernel.release") {
        machine.push(writer.say("card-kernel", Args::new().name("release", release))?);
    }
    let mut said = vec![writer.say("card-title", title)?, Prose::join_with(&machine, ", ")];
    if !runs_alone(parts) {
        said.push(adapters(writer, env)?);
    }
    said.push(noise(writer, parts)?);
    Ok(said)
}

/// The fastest adapter, and how many there are besides.
fn adapters(writer: &Writer, env: &Environment) -> Result<Prose, ReportError> {
    let rate = |a: &Adapter| a.speed_best.or(a.speed_now).map_or(0.0, |q| q.value);
    // The first of equals, so the order of the machine decides.
    let fastest = env.adapters.iter().rev().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let Some(fastest) = fastest else { return writer.label("card-no-adapter") };
    let driver = match &fastest.driver {
        Some(driver) => Prose::verbatim(driver),
        None => writer.label("card-driver-unknown")?,
    };
    let bus = fastest.pcie_now.as_ref().or(fastest.bus.as_ref());
    let bus = bus.map_or_else(Prose::default, |bus| Prose::verbatim(bus));
    let about = Prose::join_with(&[driver, bus, speed(writer, fastest)?], ", ");
    let args = Args::new().name("name", &fastest.name).prose("about", &about);
    let said = writer.say("card-adapter", args)?;
    let more = u32::try_from(env.adapters.len() - 1).unwrap_or(u32::MAX);
    if more == 0 {
        return Ok(said);
    }
    writer.say("card-adapters", Args::new().prose("adapter", &said).count("more", more))
}

fn speed(writer: &Writer, adapter: &Adapter) -> Result<Prose, ReportError> {
    match (adapter.speed_now, adapter.speed_best) {
        (Some(now), Some(best)) if now != best => {
            let args = Args::new().quantity("now", now).quantity("best", best);
            writer.say("card-speed-below", args)
        }
        (Some(now), _) | (None, Some(now)) => {
            writer.say("card-speed", Args::new().quantity("now", now))
        }
        (None, None) => writer.label("card-no-speed"),
    }
}

/// The A against A ratio: of the comparison that was made for it, else of a doubt.
fn noise_floor<'a>(parts: &[Part<'a>]) -> Option<&'a Estimate> {
    let of_doubt = || {
        all_caveats(parts).into_iter().find_map(|(_, caveat)| match caveat {
            Caveat::NoiseFloor { ratio } => Some(ratio),
            _ => None,
        })
    };
    same(parts).first().map(|(_, c)| &c.overall).or_else(of_doubt)
}

fn noise(writer: &Writer, parts: &[Part<'_>]) -> Result<Prose, ReportError> {
    match noise_floor(parts) {
        Some(ratio) => {
            let args = Args::new().prose("effect", &short_effect(writer, ratio)?);
            writer.say("card-noise", args)
        }
        None => writer.label("card-no-noise"),
    }
}

/// The first curve, as high as the room allows; a survey's own curve part goes before any other.
fn drawing(
    writer: &Writer,
    parts: &[Part<'_>],
    (columns, unicode): (u16, bool),
    room: usize,
) -> Result<Vec<String>, ReportError> {
    let mut ordered: Vec<&Part<'_>> = parts.iter().collect();
    ordered.sort_by_key(|p| p.role != Role::Curve);
    let curve = ordered
        .iter()
        .find_map(|p| p.analysis.comparisons.iter().find(|c| c.curve.is_some()).map(|c| (p, c)));
    let Some((part, comparison)) = curve else { return Ok(Vec::new()) };
    let figure = curve_figure(writer, part, comparison, 1)?;
    for rows in CURVE_ROWS.rev() {
        let drawn = figure::braille(&figure, columns, rows, unicode);
        let mut lines: Vec<String> = drawn.lines().map(Into::into).collect();
        if rows == *CURVE_ROWS.start() && lines.len() == room + 1 {
            // The name of the axis stands in the curve's verdict as well.
            lines.pop();
        }
        if lines.len() <= room {
            return Ok(lines);
        }
    }
    Ok(Vec::new())
}

/// Verdicts, advice, limits: the weightiest first.
fn findings(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut lines = tune_lines(writer, parts)?;
    let tuned = |group: &[Judged<'_>]| !lines.is_empty() && is_tuning(&group[0].0.plan);
    let groups: Vec<_> = verdict_groups(parts).into_iter().filter(|group| !tuned(group)).collect();
    for group in groups {
        lines.push(verdicts(writer, &group)?);
    }
    lines.extend(roof_line(writer, parts)?);
    lines.extend(measured_lines(writer, parts)?);
    match limits_in_short(writer, parts)? {
        Some(causes) => {
            // Of a survey only the loads of the network are watched for it in all their parts.
            let key = if parts.len() > 1 { "card-limit-network" } else { "card-limit" };
            lines.push(writer.say(key, Args::new().prose("causes", &causes))?);
        }
        None if runs_alone(parts) => {}
        None => lines.push(writer.label("card-no-limit")?),
    }
    lines.extend(short_advice(writer, parts)?);
    Ok(lines)
}

/// The heaviest doubts, two states before all, and how many more there are.
fn doubts(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let all = heaviest(parts, usize::MAX);
    let mut shorts = Vec::new();
    let states = parts.iter().map(|p| p.analysis.two_states.len()).sum::<usize>();
    if states > 0 {
        let count = u32::try_from(states).unwrap_or(u32::MAX);
        shorts.push(writer.say("short-two-states", Args::new().count("count", count))?);
    }
    for (_, caveat) in all.iter().take(DOUBTS) {
        shorts.push(short_doubt(writer, caveat)?);
    }
    let more = u32::try_from(all.len().saturating_sub(DOUBTS)).unwrap_or(u32::MAX);
    if let Some(last) = shorts.last_mut().filter(|_| more > 0) {
        let args = Args::new().prose("doubt", last).count("count", more);
        *last = writer.say("short-more", args)?;
    }
    let said =
        shorts.iter().map(|doubt| writer.say("card-doubt", Args::new().prose("doubt", doubt)));
    let said = said.collect::<Result<Vec<_>, _>>()?;
    if said.is_empty() { Ok(vec![writer.label("card-no-doubt")?]) } else { Ok(said) }
}

/// Pairs of levels, those of duels first, the curve of a survey last.
fn verdict_groups<'a>(parts: &[Part<'a>]) -> Vec<Vec<Judged<'a>>> {
    let of = |curve: bool| -> Vec<Part<'a>> {
        parts.iter().filter(|p| (p.role == Role::Curve) == curve).copied().collect()
    };
    [grouped(&asked(&of(false))), grouped(&asked(&of(true)))].concat()
}

/// A line for two levels: sign, effect and interval under every condition.
fn verdicts(writer: &Writer, group: &[Judged<'_>]) -> Result<Prose, ReportError> {
    let mut sides = Vec::new();
    for (at, (run, comparison)) in group.iter().enumerate() {
        let condition = short_condition(run, comparison);
        let names = match at {
            0 => {
                let names = writer.say("pair-short", short_pair(run, comparison))?;
                Prose::join_with(&[names, condition], ", ")
            }
            _ => condition,
        };
        let names = match comparison.verdict {
            Verdict::Undecided { more_blocks: Some(more) } => {
                let blocks = further(writer, more)?;
                writer
                    .say("card-open", Args::new().prose("names", &names).prose("blocks", &blocks))?
            }
            _ => names,
        };
        let args = Args::new()
            .prose("sign", &sign(writer, Kind::of_whole(comparison))?)
            .prose("effect", &short_effect(writer, &comparison.overall)?)
            .prose("names", &names);
        let last = at + 1 == group.len();
        sides.push(match comparison.curve.as_deref().filter(|_| last) {
            Some(curve) => writer.say("card-curve", args.name("curve", &key_words(curve)))?,
            None => writer.say("card-verdict", args)?,
        });
    }
    Ok(Prose::join_with(&sides, "; "))
}

/// Where to read more and what to do next.
fn end(writer: &Writer, input: &CardInput<'_>) -> Result<Vec<Prose>, ReportError> {
    let path = Args::new().name("path", input.report_path);
    let next = Args::new().name("command", input.next_command);
    let mut said = Vec::new();
    if !input.left_out.is_empty() {
        let parts = Args::new().name("parts", &input.left_out.join(", "));
        said.push(writer.say("card-left-out", parts)?);
    }
    said.extend([writer.say("card-report", path)?, writer.say("card-next", next)?]);
    Ok(said)
}
