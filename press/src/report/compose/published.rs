//! Knows how published claims are set beside our findings.

use super::effect::short_effect;
use super::ruling::shown;
use super::{Part, Said, Writer};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Value;
use desk::stats::Estimate;
use desk::unit::Unit;
use desk::verdict::{ClaimCheck, ClaimFigure, ClaimNeed, KeptShare, Standing};

/// The chapter; nothing where the plan names no published test.
pub(super) fn chapter(
    writer: &mut Writer,
    parts: &[Part<'_>],
) -> Result<Option<Node>, ReportError> {
    let claims: Vec<&ClaimCheck> = parts.iter().flat_map(|p| &p.analysis.claims).collect();
    let intro = vec![writer.label("claim-intro")?];
    of_claims(writer, &claims, intro)
}

/// The chapter of an article on two runs; nothing where no claim is about what they differ in.
pub(super) fn chapter_of_two(
    writer: &mut Writer,
    claims: &[ClaimCheck],
) -> Result<Option<Node>, ReportError> {
    let claims: Vec<&ClaimCheck> = claims.iter().collect();
    let intro = vec![writer.label("claim-intro")?, writer.label("claim-of-two")?];
    of_claims(writer, &claims, intro)
}

fn of_claims(
    writer: &mut Writer,
    claims: &[&ClaimCheck],
    intro: Vec<Prose>,
) -> Result<Option<Node>, ReportError> {
    if claims.is_empty() {
        return Ok(None);
    }
    let columns = writer.headed(&["claim-name", "claim-theirs", "claim-ours", "claim-standing"])?;
    let mut rows = Vec::new();
    for claim in claims {
        rows.push(vec![
            Prose::verbatim(&super::super::document::unbroken(&claim.id)),
            theirs(writer, claim)?,
            ours(writer, &claim.standing)?,
            standing(writer, &claim.standing)?,
        ]);
    }
    let caption = writer.label("claim-caption")?;
    let mut body: Vec<Node> = intro.into_iter().map(Node::Paragraph).collect();
    body.push(Node::Paragraph(tally(writer, claims)?));
    body.push(Node::Table(writer.table(&caption, columns, rows)?).fold());
    writer.section("published", "claim-title", body).map(Some)
}

/// The claim in its authors' words, as far as they said it.
fn theirs(writer: &Writer, claim: &ClaimCheck) -> Said {
    let about = [&claim.subject, &claim.compared, &claim.region].map(|t| Prose::verbatim(t.trim()));
    let found = [&claim.direction, &claim.magnitude].map(|t| Prose::verbatim(t.trim()));
    let args = Args::new()
        .prose("about", &Prose::join_with(&about, ", "))
        .prose("found", &Prose::join_with(&found, ", "));
    let is_silent = claim.direction.trim().is_empty() && claim.magnitude.trim().is_empty();
    let said = writer.say(if is_silent { "claim-about" } else { "claim-said" }, args)?;
    if claim.cause.trim().is_empty() {
        return Ok(said);
    }
    let cause = writer.say("claim-cause", Args::new().name("cause", claim.cause.trim()))?;
    Ok(Prose::join(&[said, cause]))
}

/// Our figures, or why there are none.
fn ours(writer: &Writer, standing: &Standing) -> Said {
    let (ours, knee_at) = match standing {
        Standing::Compared { ours, knee_at, .. } => (ours, knee_at),
        Standing::PerCopy { kept, .. } => return per_copy(writer, kept),
        Standing::NotMeasured { missing } => return need(writer, *missing),
    };
    let mut said = Vec::new();
    for (what, estimate) in ours {
        said.push(figure(writer, *what, estimate)?);
    }
    said.extend(knee_at.as_ref().map(|at| knee(writer, at)).transpose()?);
    match said.is_empty() {
        true => Ok(Prose::none()),
        false => Ok(Prose::join_with(&said, "; ")),
    }
}

/// What each copy keeps, by algorithm, block and engine.
fn per_copy(writer: &Writer, kept: &[KeptShare]) -> Said {
    let mut said = Vec::new();
    for one in kept {
        let args = Args::new()
            .name("algorithm", &one.algorithm)
            .name("block", &shown(&one.block))
            .name("engine", &one.engine)
            .prose("figure", &Prose::estimate(&one.share));
        said.push(writer.say("claim-per-copy", args)?);
    }
    Ok(Prose::join_with(&said, "; "))
}

fn knee(writer: &Writer, at: &Value) -> Said {
    writer.say("claim-knee-at", Args::new().name("place", &shown(at)))
}

fn figure(writer: &Writer, what: ClaimFigure, estimate: &Estimate) -> Said {
    let figure = match estimate.centre.unit {
        Unit::Ratio => short_effect(writer, estimate)?,
        _ => Prose::estimate(estimate),
    };
    let args = Args::new().prose("figure", &figure);
    writer.pick("claim-figure-*", &what, args)
}

fn need(writer: &Writer, missing: ClaimNeed) -> Said {
    writer.pick("claim-needs-*", &missing, Args::new())
}

/// What was compared of a claim, and how each came out.
fn aspects(standing: &Standing) -> Vec<(&'static str, &'static str, Option<bool>)> {
    match standing {
        Standing::Compared { shape, knee, sign, .. } => vec![
            ("claim-shape-same", "claim-shape-differs", *shape),
            ("claim-knee-same", "claim-knee-differs", *knee),
            ("claim-sign-same", "claim-sign-differs", *sign),
        ],
        Standing::PerCopy { less, as_much, md5_rises, .. } => vec![
            ("claim-sign-same", "claim-sign-differs", *less),
            ("claim-size-same", "claim-size-differs", *as_much),
            ("claim-growth-same", "claim-growth-differs", *md5_rises),
        ],
        Standing::NotMeasured { .. } => Vec::new(),
    }
}

/// The key of the outcome in a word.
fn outcome(standing: &Standing) -> &'static str {
    if matches!(standing, Standing::NotMeasured { .. }) {
        return "claim-not-measured";
    }
    let known: Vec<bool> = aspects(standing).into_iter().filter_map(|(_, _, yes)| yes).collect();
    match (known.contains(&true), known.contains(&false)) {
        (true, false) => "claim-same",
        (false, true) => "claim-differs",
        (true, true) => "claim-in-part",
        (false, false) => "claim-open",
    }
}

/// `in part: shape and sign agree, the knee does not`.
fn standing(writer: &Writer, standing: &Standing) -> Said {
    let word = writer.label(outcome(standing))?;
    let mut said = Vec::new();
    for (same, differs, yes) in aspects(standing) {
        if let Some(yes) = yes {
            said.push(writer.label(if yes { same } else { differs })?);
        }
    }
    if said.is_empty() {
        return Ok(word);
    }
    let args = Args::new().prose("word", &word).prose("aspects", &Prose::join_with(&said, ", "));
    writer.say("claim-word-aspects", args)
}

/// How many claims came out how.
fn tally(writer: &Writer, claims: &[&ClaimCheck]) -> Said {
    let tallies = [
        ("claim-same", "claim-tally-same"),
        ("claim-in-part", "claim-tally-in-part"),
        ("claim-differs", "claim-tally-differs"),
        ("claim-open", "claim-tally-open"),
        ("claim-not-measured", "claim-tally-not-measured"),
    ];
    let mut said = Vec::new();
    for (word, key) in tallies {
        let seen = claims.iter().filter(|c| outcome(&c.standing) == word).count();
        if seen > 0 {
            let seen = super::ruling::count(seen);
            said.push(writer.say(key, Args::new().count("count", seen))?);
        }
    }
    let args = Args::new()
        .count("count", super::ruling::count(claims.len()))
        .prose("tally", &Prose::join_with(&said, ", "));
    writer.say("claim-tally", args)
}
