//! Knows the card: a run in at most twenty lines of plain text, fit for a forum.
//!
//! Never: a sentence that is longer than a line; the report has those. Nothing is cut: what is too
//! long goes on in the next line.

use super::compose::{
    Judged, Part, Role, Writer, all_caveats, asked, condition, curve_figure, grouped, heaviest,
    is_split, lab_word, limits_in_short, moment, same, short_doubt, short_effect, short_pair,
    split_side, verdict_sign,
};
use super::document::Prose;
use super::error::ReportError;
use super::text::{ascii, wrap};
use super::words::Args;
use crate::figure;
use crate::record::{Adapter, Environment, LabKind};
use crate::stats::Estimate;
use crate::verdict::Caveat;

/// Most lines of a card.
const LINES: usize = 20;
/// Widest card, columns.
const WIDEST: u16 = 80;
/// Height of the curve, lines: below the least it shows nothing.
const CURVE_ROWS: std::ops::RangeInclusive<u16> = 3..=6;
/// Verdict lines, and doubts.
const VERDICTS: usize = 3;
const DOUBTS: usize = 2;
/// What only a lab with links of its own can measure.
const LINK_FACTORS: [&str; 2] = ["tso", "mtu"];

/// What the card is made from.
#[derive(Clone, Copy, Debug)]
pub struct CardInput<'a> {
    /// The runs; one for a plan, several for a survey.
    pub parts: &'a [Part<'a>],
    /// Where the report was written.
    pub report_path: &'a str,
    /// The one command to try next.
    pub next_command: &'a str,
}

/// At most 20 lines of at most `columns` (and never more than 80) columns; only a word that is
/// longer than a line, such as a path, stays whole.
///
/// # Errors
/// No part, or missing words.
pub fn card(input: &CardInput<'_>, columns: u16, unicode: bool) -> Result<String, ReportError> {
    let first = input.parts.first().ok_or(ReportError::NoRun)?;
    let writer = Writer::new()?;
    let columns = columns.min(WIDEST);
    let set = |said: Vec<Prose>| set(&said, columns, unicode);
    let mut lines = set(head(&writer, first, input.parts)?);
    let body = set(body(&writer, input.parts)?);
    let end = set(end(&writer, input)?);
    let room = LINES.saturating_sub(lines.len() + body.len() + end.len());
    let drawn = drawing(&writer, input.parts, (columns, unicode), room)?;
    lines.extend(drawn.iter().map(|line| plain(line, unicode)));
    lines.extend(body);
    lines.truncate(LINES.saturating_sub(end.len()));
    lines.extend(end);
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
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
    let (run, env) = (first.run, &first.run.environment);
    let title = Args::new()
        .name("version", &run.version)
        .name("started", &moment(&run.started))
        .prose("lab", &lab_word(writer, env)?);
    let machine = Args::new().name("model", &env.cpu.model).count("logical", env.cpu.logical);
    let mut machine = vec![writer.say("card-machine", machine)?];
    machine.extend(env.memory.map(Prose::quantity));
    if let Some(release) = env.fact("kernel.release") {
        machine.push(writer.say("card-kernel", Args::new().name("release", release))?);
    }
    Ok(vec![
        writer.say("card-title", title)?,
        Prose::join_with(&machine, ", "),
        adapters(writer, env)?,
        noise(writer, parts)?,
    ])
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
        if drawn.lines().count() <= room {
            return Ok(drawn.lines().map(Into::into).collect());
        }
    }
    Ok(Vec::new())
}

/// Verdicts, what was not measured, limits, doubts.
fn body(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut lines = Vec::new();
    for group in duels(parts).iter().take(VERDICTS) {
        lines.extend(verdicts(writer, group)?);
    }
    lines.extend(not_measured(writer, parts)?);
    lines.push(match limits_in_short(writer, parts)? {
        Some(causes) => writer.say("card-limit", Args::new().prose("causes", &causes))?,
        None => writer.label("card-no-limit")?,
    });
    let caveats = heaviest(parts, DOUBTS);
    for (_, caveat) in &caveats {
        let doubt = Args::new().prose("doubt", &short_doubt(writer, caveat)?);
        lines.push(writer.say("card-doubt", doubt)?);
    }
    if caveats.is_empty() {
        lines.push(writer.label("card-no-doubt")?);
    }
    Ok(lines)
}

/// Pairs of levels, those of duels first: the curve is drawn and needs no line where others do.
fn duels<'a>(parts: &[Part<'a>]) -> Vec<Vec<Judged<'a>>> {
    let of = |curve: bool| -> Vec<Part<'a>> {
        parts.iter().filter(|p| (p.role == Role::Curve) == curve).copied().collect()
    };
    let duels = grouped(&asked(&of(false)));
    if duels.is_empty() { grouped(&asked(&of(true))) } else { duels }
}

/// One line for two levels that came out differently under different conditions, else a line each.
fn verdicts(writer: &Writer, group: &[Judged<'_>]) -> Result<Vec<Prose>, ReportError> {
    let mut lines = Vec::new();
    let split = is_split(group);
    let told = if split { 1 } else { VERDICTS };
    for (run, comparison) in group.iter().take(told) {
        let names = writer.say("pair-short", short_pair(run, comparison))?;
        let names = Prose::join_with(&[names, condition(writer, run, comparison)?], ", ");
        let args = Args::new()
            .prose("sign", &verdict_sign(writer, comparison.verdict)?)
            .prose("effect", &short_effect(writer, &comparison.overall)?)
            .prose("names", &names);
        lines.push(writer.say("card-verdict", args)?);
    }
    if split {
        let mut sides = lines;
        for (run, comparison) in group.iter().skip(told) {
            sides.push(split_side(writer, run, comparison)?);
        }
        lines = vec![Prose::join_with(&sides, "; ")];
    }
    Ok(lines)
}

/// What a survey on the loopback interface had to leave out.
fn not_measured(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Prose>, ReportError> {
    let lab = parts.first().and_then(|p| p.run.environment.lab.as_ref());
    let Some((LabKind::Loopback, why)) = lab else { return Ok(None) };
    let asked = asked(parts);
    let missing = LINK_FACTORS.iter().filter(|f| !asked.iter().any(|(_, c)| c.factor == **f));
    let missing: Vec<Prose> = missing.map(|f| Prose::verbatim(f)).collect();
    if parts.len() == 1 || missing.is_empty() {
        return Ok(None);
    }
    let args = Args::new().prose("factors", &Prose::join_with(&missing, ", "));
    let said = match why.trim() {
        "" => writer.say("card-not-measured", args)?,
        why => writer.say("card-not-measured-why", args.name("why", why))?,
    };
    Ok(Some(said))
}

/// Where to read more and what to do next.
fn end(writer: &Writer, input: &CardInput<'_>) -> Result<Vec<Prose>, ReportError> {
    let path = Args::new().name("path", input.report_path);
    let next = Args::new().name("command", input.next_command);
    Ok(vec![writer.say("card-report", path)?, writer.say("card-next", next)?])
}
