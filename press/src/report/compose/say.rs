//! Knows how a claim is said: the one place where a sentence, a title, a word or a sign is made of
//! one, the same on every medium.
//!
//! Never: a finding of the desk; a claim has all that is said. Which message says a claim follows
//! from its topic and its kind.

use super::effect::{
    derived, effect, effects, plain_effect, plain_effects, short_effect, short_effects,
};
use super::limits::named;
use super::ruling::{count, further};
use super::withheld::short_reason;
use super::{Said, Writer, repeat, slug, withheld};
use crate::claim::{Claim, Kind, Named, Topic, key_words};
use crate::report::document::{Prose, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::{LEAST_HEADROOM, LimitKind, share_unseen};

/// Up to this many comparisons are named in a count.
const FEW: usize = 6;

/// A claim in a sentence.
pub(super) fn sentence(writer: &Writer, claim: &Claim) -> Said {
    let args = args(writer, claim)?;
    let (kind, coarse) = (claim.kind, claim.kind.coarse());
    let no_verdict = kind == Kind::Withheld;
    match claim.topic {
        Topic::Comparison => writer.pick("verdict-*", &kind, args),
        Topic::Place => place(writer, claim),
        Topic::Limit => limit(writer, claim),
        Topic::Comparisons => writer.pick("several-*", &kind, several(writer, claim, args)?),
        Topic::Region => region(writer, claim, short_effects(writer, ends(claim)?)?),
        Topic::Index => {
            let over = count(claim.evidence.comparisons.len());
            writer.pick("index-*", &coarse, args.count("count", over))
        }
        Topic::Cost if no_verdict => writer.say("cost-withheld", args),
        Topic::Cost => writer.pick("cost-*", &coarse, args),
        Topic::Efficiency if no_verdict => Ok(Prose::default()),
        Topic::Efficiency => writer.pick("efficiency-*", &coarse, args),
        Topic::Interaction => interaction(writer, claim, args),
        Topic::Order => {
            let said = writer.pick("order-*", &kind, order(writer, claim, args)?)?;
            let scope = scope(writer, claim)?;
            let key = if claim.evidence.conditions > 0 { "order-all" } else { "condition-then" };
            within(writer, key, &scope, said)
        }
        Topic::Noise => writer.say("headline-noise", args),
        Topic::Advice => writer.pick("advice-take-*", &kind, args),
    }
}

/// A claim as the title of a figure.
pub(super) fn title(writer: &Writer, claim: &Claim) -> Said {
    let args = args(writer, claim)?;
    match (claim.topic, claim.kind) {
        (Topic::Comparisons, Kind::Split) => {
            writer.say("finding-split", several(writer, claim, args)?)
        }
        (Topic::Efficiency, Kind::Withheld) => writer.label("efficiency-title-withheld"),
        (Topic::Efficiency, kind) => writer.pick("efficiency-title-*", &kind.coarse(), args),
        (Topic::Order, _) => sentence(writer, claim),
        (_, kind) => writer.pick("finding-*", &kind, args),
    }
}

/// A kind of claim in a word, behind its sign.
pub fn word(writer: &Writer, kind: Kind) -> Said {
    writer.pick("word-*", &kind, Args::new())
}

/// A kind of claim as a sign.
pub fn sign(writer: &Writer, kind: Kind) -> Said {
    writer.pick("sign-*", &kind, Args::new())
}

/// Whether no level of an order is ahead of the baseline.
pub(super) fn is_baseline_first(order: &Claim) -> bool {
    let baseline = order.parts.iter().find(|place| place.kind == Kind::Baseline);
    baseline.is_some_and(|place| place.pair()[0] == order.pair()[0])
}

/// The look of a claim.
pub(super) fn tone(claim: &Claim) -> Tone {
    match claim.kind {
        Kind::First if is_baseline_first(claim) => Tone::Bad,
        Kind::Tally => {
            let tones: Vec<Tone> = claim.parts.iter().map(tone).collect();
            let alike = tones.windows(2).all(|two| two[0] == two[1]);
            tones.first().copied().filter(|_| alike).unwrap_or(Tone::Plain)
        }
        // A lead in fewer than half of the comparisons is none as a whole.
        Kind::MostBetter | Kind::MostWorse if 2 * decided(claim) <= claim.parts.len() => {
            Tone::Plain
        }
        kind => look(kind),
    }
}

/// The look of a kind of claim; a difference too small to matter is none.
pub(super) const fn look(kind: Kind) -> Tone {
    match kind {
        Kind::Better | Kind::MostBetter | Kind::First => Tone::Good,
        Kind::Worse | Kind::MostWorse => Tone::Bad,
        Kind::Inside | Kind::Equivalent => Tone::Even,
        Kind::LooksBetter
        | Kind::LooksWorse
        | Kind::Undecided
        | Kind::TwoStates
        | Kind::NotComparable
        | Kind::Emulated
        | Kind::NoHeadroom
        | Kind::Withheld => Tone::Open,
        _ => Tone::Plain,
    }
}

/// A sentence with the condition it holds under, in the frame of the key; bare without one.
pub(super) fn within(writer: &Writer, key: &str, condition: &Prose, sentence: Prose) -> Said {
    if condition.text().is_empty() {
        return Ok(sentence);
    }
    writer.say(key, Args::new().prose("condition", condition).prose("sentence", &sentence))
}

/// What every sentence may name of a claim.
pub(super) fn args(writer: &Writer, claim: &Claim) -> Result<Args, ReportError> {
    let [base, other] = claim.pair();
    let mut args = Args::new()
        .name("base", base)
        .name("other", other)
        .prose("metric", &metric(writer, &claim.subjects.metric)?)
        .quantity("margin", claim.evidence.margin)
        .count("blocks", claim.evidence.n)
        .count("least", LEAST_HEADROOM)
        .prose("reason", &Prose::default());
    if let Some(ratio) = claim.estimates.first() {
        args = args
            .prose("effect", &effect(writer, ratio)?)
            .prose("brief", &short_effect(writer, ratio)?)
            .quantity("unseen", share_unseen(claim.evidence.n.max(1)));
    }
    if let Some(replicate) = claim.evidence.replicate {
        args = args.repeat(repeat(replicate));
    }
    let curve = claim.evidence.curve.is_some();
    args = args.choose("over", if curve { "curve" } else { "point" });
    args = match claim.evidence.more {
        Some(more) => args.choose("further", "some").prose("more", &further(writer, more)?),
        None => args.choose("further", "none"),
    };
    if let Some(why) = &claim.evidence.withheld {
        let reason = match claim.topic {
            Topic::Advice => short_reason(writer, why)?,
            _ => withheld::reason(writer, why)?,
        };
        args = args.prose("reason", &reason);
    }
    match otherwise(writer, claim)? {
        Some(but) => Ok(args.choose("exceptions", "some").prose("but", &but)),
        None => Ok(args.choose("exceptions", "none")),
    }
}

/// What a metric is called: as the run calls it, else as the desk calls what it derives.
fn metric(writer: &Writer, metric: &Named) -> Said {
    match metric.name.as_str() {
        "" => derived(writer, &metric.key),
        name => Ok(Prose::verbatim(name)),
    }
}

fn ends(claim: &Claim) -> Result<[&desk::stats::Estimate; 2], ReportError> {
    match claim.estimates.as_slice() {
        [first, second, ..] => Ok([first, second]),
        [only] => Ok([only, only]),
        [] => Err(ReportError::MissingWords("a claim without a figure".into())),
    }
}

/// Where a claim as a whole does not hold: `behind at 16 KiB with direction both`; nothing where it
/// holds along every curve.
fn otherwise(writer: &Writer, claim: &Claim) -> Result<Option<Prose>, ReportError> {
    let of_curve = claim.topic == Topic::Comparison;
    let inner = || claim.parts.iter().flat_map(|part| &part.parts);
    let all: Vec<&Claim> = if of_curve { claim.parts.iter().collect() } else { inner().collect() };
    let mut said = Vec::new();
    for (kind, key) in [(Kind::Better, "but-ahead"), (Kind::Worse, "but-behind")] {
        let of: Vec<Claim> = all.iter().filter(|c| c.kind == kind).map(|c| (*c).clone()).collect();
        if !of.is_empty() {
            let among = (!of_curve).then(|| loads_differ(&claim.parts));
            let places = places(writer, &of, among)?;
            said.push(writer.say(key, Args::new().prose("places", &places))?);
        }
    }
    Ok((!said.is_empty()).then(|| Prose::join_with(&said, ", ")))
}

fn loads_differ(claims: &[Claim]) -> bool {
    claims.windows(2).any(|two| two[0].subjects.load != two[1].subjects.load)
}

/// Stretches of curves: `at 8 KiB, from 64 B to 4 KiB`, those of a comparison together; with their
/// condition if they are `among` others, whose load is named if that is true.
pub(super) fn places(writer: &Writer, regions: &[Claim], among: Option<bool>) -> Said {
    let mut said = Vec::new();
    for alike in regions.chunk_by(|a, b| a.evidence.comparisons == b.evidence.comparisons) {
        let at =
            alike.iter().map(|region| stretch(writer, region)).collect::<Result<Vec<_>, _>>()?;
        let condition = among.map(|load| alike[0].subjects.condition(load)).unwrap_or_default();
        let places = Prose::join_with(&at, ", ");
        let args = Args::new().prose("places", &places).name("condition", &condition);
        said.push(match condition.is_empty() {
            true => places,
            false => writer.say("but-under", args)?,
        });
    }
    Ok(Prose::join_with(&said, "; "))
}

fn stretch(writer: &Writer, region: &Claim) -> Said {
    let [from, to] = region.subjects.places.clone().unwrap_or_default();
    between(writer, &from, &to)
}

/// `at 8 KiB`, or `from 64 B to 4 KiB`.
pub(super) fn between(writer: &Writer, from: &str, to: &str) -> Said {
    let args = Args::new().name("from", from).name("to", to);
    writer.say(if from == to { "but-at" } else { "but-from" }, args)
}

/// Who is ahead on a stretch, with the effects at its ends as the caller words them.
pub(super) fn region(writer: &Writer, claim: &Claim, [near, far]: [Prose; 2]) -> Said {
    let [base, other] = claim.pair();
    let [from, to] = claim.subjects.places.clone().unwrap_or_default();
    let ahead = claim.kind == Kind::Better;
    // A lead is "by" its ratio only where that ratio grows with the lead.
    let grows = ahead && claim.estimates.iter().all(|ratio| ratio.centre.value > 1.0);
    let args = Args::new()
        .name("base", base)
        .name("other", other)
        .name("leader", if ahead { other } else { base })
        .prose("places", &stretch(writer, claim)?)
        .choose("stretch", if from == to { "point" } else { "several" })
        .prose("near", &near)
        .prose("far", &far);
    writer.say(if grows { "region-ahead" } else { "region-ahead-against" }, args)
}

/// The same without intervals.
pub(super) fn plain_region(writer: &Writer, claim: &Claim) -> Said {
    let [near, far] = ends(claim)?;
    region(writer, claim, [plain_effect(writer, near)?, plain_effect(writer, far)?])
}

fn decided(claim: &Claim) -> usize {
    let is = |part: &&Claim| matches!(part.kind, Kind::Better | Kind::Worse);
    claim.parts.iter().filter(is).count()
}

/// What a sentence on several comparisons may name besides.
fn several(writer: &Writer, claim: &Claim, args: Args) -> Result<Args, ReportError> {
    let [closest, widest] = ends(claim)?;
    // Several pairs of levels can be of several runs, which their titles tell apart.
    let titled = claim.kind == Kind::Tally;
    let named = |part: &Claim| {
        let title = if titled { part.subjects.plan.as_str() } else { "" };
        let names = [title, &part.subjects.condition(true)].map(Prose::verbatim);
        (part.kind.coarse(), Prose::join_with(&names, ", "))
    };
    let all: Vec<(Kind, Prose)> = claim.parts.iter().map(named).collect();
    let rest = all.iter().filter(|(kind, _)| !matches!(kind, Kind::Better | Kind::Worse));
    let rest: Vec<(Kind, Prose)> = rest.cloned().collect();
    let mut sides = Vec::new();
    for part in claim.parts.iter().filter(|_| claim.kind == Kind::Split) {
        let ratio = ends(part)?[0];
        let args = Args::new()
            .choose("outcome", &slug(&part.kind.coarse()))
            .prose("effect", &plain_effect(writer, ratio)?)
            .name("condition", &part.subjects.condition(true));
        sides.push(writer.say("split-side", args)?);
    }
    let curves = claim.parts.iter().all(|part| part.evidence.curve.is_some());
    Ok(args
        .choose("over", if curves { "curve" } else { "point" })
        .count("count", count(all.len()))
        .choose("scope", if all.len() == 2 { "both" } else { "all" })
        .count("won", count(decided(claim)))
        .prose("least", &short_effect(writer, closest)?)
        .prose("most", &short_effect(writer, widest)?)
        .prose("effects", &effects(writer, [closest, widest])?)
        .prose("sides", &Prose::join_with(&sides, ", "))
        .prose("rest", &tally(writer, &rest)?)
        .prose("tally", &tally(writer, &all)?))
}

/// How many came out how, and which where these are few.
pub(super) fn tally(writer: &Writer, told: &[(Kind, Prose)]) -> Said {
    let mut said = Vec::new();
    for kind in [Kind::Better, Kind::Worse, Kind::Equivalent, Kind::Undecided] {
        let of = told.iter().filter(|(outcome, _)| *outcome == kind);
        let names: Vec<Prose> = of.map(|(_, name)| name.clone()).collect();
        if names.is_empty() {
            continue;
        }
        let args = Args::new().count("count", count(names.len()));
        let tally = writer.pick("tally-*", &kind, args)?;
        let named = told.len() <= FEW && names.iter().all(|n| !n.text().is_empty());
        let names = Prose::join_with(&names, "; ");
        let args = Args::new().prose("tally", &tally).prose("names", &names);
        said.push(if named { writer.say("tally-named", args)? } else { tally });
    }
    Ok(Prose::join_with(&said, ", "))
}

/// What a sentence on an order may name besides.
fn order(writer: &Writer, claim: &Claim, args: Args) -> Result<Args, ReportError> {
    let alone = matches!(claim.kind, Kind::First | Kind::FirstInside);
    let levels = &claim.subjects.levels;
    let first = if alone { &levels[..levels.len().min(1)] } else { levels.as_slice() };
    let names: Vec<&str> = first.iter().map(|level| level.name.as_str()).collect();
    let is_first = |place: &&Claim| names.contains(&place.pair()[0]);
    let behind = claim.parts.iter().filter(|place| !is_first(place));
    let behind = behind.map(|p| place(writer, p)).collect::<Result<Vec<_>, _>>()?;
    Ok(args
        .name("first", &names.join(", "))
        .name("next", claim.pair()[1])
        .name("factor", &key_words(&claim.subjects.factor))
        .count("count", count(claim.parts.len()))
        .count("shared", count(first.len()))
        .prose("behind", &Prose::join_with(&behind, ", ")))
}

/// A level of an order: `jumbo (+12.3 %)`, `usual (the baseline)`.
pub(super) fn place(writer: &Writer, place: &Claim) -> Said {
    let effect = plain_effect(writer, ends(place)?[0])?;
    let args = Args::new().name("level", place.pair()[0]).prose("effect", &effect);
    writer.pick("place-*", &place.kind, args)
}

/// Under what an order holds; `all N conditions` of the one over all of them.
pub(super) fn scope(writer: &Writer, order: &Claim) -> Said {
    match order.evidence.conditions {
        0 => Ok(Prose::verbatim(&order.subjects.condition(true))),
        all => writer.say("order-over-all", Args::new().count("count", all)),
    }
}

/// What was full under a level.
fn limit(writer: &Writer, claim: &Claim) -> Said {
    let args = Args::new()
        .name("level", claim.pair()[0])
        .prose("limit", &named(writer, &claim.subjects.limits)?)
        .estimate("evidence", ends(claim)?[0]);
    let unseen = claim.subjects.limits == [LimitKind::NoneSeen];
    writer.say(if unseen { "cause-one-unseen" } else { "cause-one" }, args)
}

/// Both effects, and whether they differ.
fn interaction(writer: &Writer, claim: &Claim, args: Args) -> Said {
    let [Some(first), Some(second)] = [1, 2].map(|at| claim.estimates.get(at)) else {
        return Ok(Prose::default());
    };
    let [first, second] = plain_effects(writer, [first, second])?;
    let under = |at: usize| claim.subjects.under.get(at).map_or("", |level| level.name.as_str());
    let args = args
        .name("first_under", under(0))
        .name("second_under", under(1))
        .prose("first", &first)
        .prose("second", &second);
    let args = match claim.kind {
        Kind::TwoStates => args.choose("outcome", &slug(&Kind::TwoStates)),
        kind => args.choose("outcome", &slug(&kind.coarse())),
    };
    let said = writer.say("interaction-said", args)?;
    let condition = Prose::verbatim(&claim.subjects.short_condition());
    within(writer, "condition-then", &condition, said)
}
