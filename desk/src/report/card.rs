//! Knows the card: a run in at most twenty lines of plain text, fit for a forum.
//!
//! Never: a sentence that is longer than a line; the report has those.

use super::compose::{
    Part, Role, Writer, all_caveats, causes, condition, curve_figure, doubt_lead, heaviest,
    lab_word, metric_title, short_effect, verdict_word,
};
use super::document::Prose;
use super::error::ReportError;
use super::text::ascii;
use super::words::Args;
use crate::figure;
use crate::record::Run;
use crate::stats::Estimate;
use crate::verdict::{Caveat, Comparison};

/// Most lines of a card.
const LINES: usize = 20;
/// Widest card, columns.
const WIDEST: u16 = 80;
/// Height of the curve, lines: below the least it shows nothing.
const CURVE_ROWS: std::ops::RangeInclusive<u16> = 3..=5;
/// Columns of the outcome and of the effect in a verdict line.
const WORD: usize = 11;
const EFFECT: usize = 26;
/// Verdict lines, and doubts.
const VERDICTS: usize = 3;
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
}

/// At most 20 lines of at most `columns` (and never more than 80) columns.
///
/// # Errors
/// No part, or missing words.
pub fn card(input: &CardInput<'_>, columns: u16, unicode: bool) -> Result<String, ReportError> {
    let first = input.parts.first().ok_or(ReportError::NoRun)?;
    let writer = Writer::new()?;
    let columns = columns.min(WIDEST);
    let mut lines = machine(&writer, first.run)?;
    lines.push(noise(&writer, input.parts)?);
    let tail = tail(&writer, input)?;
    let room = LINES.saturating_sub(lines.len() + tail.len());
    lines.extend(drawing(&writer, input.parts, (columns, unicode), room)?);
    lines.extend(tail);
    let mut card = String::new();
    for line in lines.iter().take(LINES) {
        let line = if unicode { line.replace('\u{a0}', " ") } else { ascii(line) };
        card.push_str(&clipped(line.trim_end(), columns, unicode));
        card.push('\n');
    }
    Ok(card)
}

/// A line cut to the width, and marked where it was cut.
fn clipped(line: &str, columns: u16, unicode: bool) -> String {
    let columns = usize::from(columns);
    if line.chars().count() <= columns {
        return line.into();
    }
    let mark = if unicode { "…" } else { ".." };
    let kept = columns.saturating_sub(mark.chars().count());
    line.chars().take(kept).chain(mark.chars()).collect()
}

fn machine(writer: &Writer, run: &Run) -> Result<Vec<String>, ReportError> {
    let env = &run.environment;
    let title = Args::new()
        .name("version", &run.version)
        .name("started", &run.started)
        .prose("lab", &lab_word(writer, env)?);
    let args = Args::new().name("model", &env.cpu.model).count("logical", env.cpu.logical);
    let machine = match env.memory {
        Some(memory) => writer.say("card-machine", args.quantity("memory", memory))?,
        None => writer.say("card-machine-plain", args)?,
    };
    let said = [writer.say("card-title", title)?, machine];
    Ok(said.iter().map(|p| p.text().to_owned()).collect())
}

/// The A against A ratio: of the part that was made for it, else of a doubt.
fn noise_floor<'a>(parts: &[Part<'a>]) -> Option<&'a Estimate> {
    let of_part = parts
        .iter()
        .filter(|p| p.role == Role::NoiseFloor)
        .find_map(|p| p.analysis.comparisons.first().map(|c| &c.overall));
    of_part.or_else(|| {
        all_caveats(parts).into_iter().find_map(|caveat| match caveat {
            Caveat::NoiseFloor { ratio } => Some(ratio),
            _ => None,
        })
    })
}

fn noise(writer: &Writer, parts: &[Part<'_>]) -> Result<String, ReportError> {
    let said = match noise_floor(parts) {
        Some(ratio) => {
            let args = Args::new().prose("effect", &short_effect(writer, ratio)?);
            writer.say("card-noise", args)?
        }
        None => writer.label("card-no-noise")?,
    };
    Ok(said.text().into())
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
    let curve = ordered.iter().find_map(|p| {
        p.analysis.comparisons.iter().find(|c| c.curve.is_some()).map(|c| (p.run, c))
    });
    let Some((run, comparison)) = curve else { return Ok(Vec::new()) };
    let figure = curve_figure(writer, run, comparison, 1)?;
    for rows in CURVE_ROWS.rev() {
        let drawn = figure::braille(&figure, columns, rows, unicode);
        if drawn.lines().count() <= room {
            return Ok(drawn.lines().map(Into::into).collect());
        }
    }
    Ok(Vec::new())
}

fn tail(writer: &Writer, input: &CardInput<'_>) -> Result<Vec<String>, ReportError> {
    let asked: Vec<(&Part<'_>, &Comparison)> = input
        .parts
        .iter()
        .filter(|p| p.role != Role::NoiseFloor)
        .flat_map(|p| p.analysis.comparisons.iter().map(move |c| (p, c)))
        .collect();
    let mut lines = Vec::new();
    for (part, comparison) in asked.iter().take(VERDICTS) {
        lines.push(verdict(writer, part.run, comparison)?);
    }
    let mut limit = None;
    for (part, comparison) in &asked {
        if limit.is_none() {
            limit = causes(writer, part, comparison)?;
        }
    }
    let limit = match limit {
        Some(causes) => writer.say("card-limit", Args::new().prose("causes", &causes))?,
        None => writer.label("card-no-limit")?,
    };
    lines.push(limit.text().into());
    let caveats = heaviest(input.parts, DOUBTS);
    for caveat in &caveats {
        let doubt = doubt_lead(writer, caveat)?;
        let said = writer.say("card-doubt", Args::new().prose("doubt", &doubt))?;
        lines.push(said.text().into());
    }
    if caveats.is_empty() {
        lines.push(writer.label("card-no-doubt")?.text().into());
    }
    let path = Args::new().name("path", input.report_path);
    lines.push(writer.say("card-report", path)?.text().into());
    let next = Args::new().name("command", input.next_command);
    lines.push(writer.say("card-next", next)?.text().into());
    Ok(lines)
}

/// The outcome and the effect stand first, so that a long name never costs a figure.
fn verdict(writer: &Writer, run: &Run, comparison: &Comparison) -> Result<String, ReportError> {
    let word = verdict_word(writer, comparison.verdict)?;
    let effect = short_effect(writer, &comparison.overall)?;
    let args = Args::new().name("other", &comparison.other).name("base", &comparison.base);
    let names = writer.say("card-verdict", args)?;
    let metric = Prose::verbatim(metric_title(run, comparison));
    let names = Prose::join_with(&[condition(writer, run, comparison)?, names, metric], ", ");
    let (word, effect) = (word.text(), effect.text());
    Ok(format!("{word:<WORD$} {effect:<EFFECT$} {}", names.text()))
}
