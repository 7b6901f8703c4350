//! Knows how a doubt is said: its evidence, what follows, and what would remove it.

use super::effect::{effect, short_effect};
use super::{Part, Said, Writer, heaviest};
use crate::claim::asked;
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::{ATTEMPTS, ATTEMPTS_OF_CLIENTS};
use desk::record::ENOUGH;
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::{COLLAPSE, Caveat, POWER, TooFew, Uneven};

/// What the environment calls a hypervisor that gives no name.
pub(super) const UNNAMED: &str = "unnamed";

/// The chapter: a note a kind of doubt, the heaviest first.
pub(super) fn chapter(writer: &Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    chapter_led(writer, parts, &|found| whole_lead(writer, parts, found))
}

/// The same with another way to say whose doubt it is.
pub(super) fn chapter_led(
    writer: &Writer,
    parts: &[Part<'_>],
    lead: &dyn Fn((&Part<'_>, &Caveat)) -> Said,
) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    for (part, caveat) in heaviest(parts, usize::MAX) {
        let text = Prose::join(&[means(writer, caveat)?, fix(writer, caveat)?]);
        body.push(Node::Note { lead: lead((part, caveat))?, text });
    }
    if body.is_empty() {
        body.push(Node::Paragraph(writer.label("doubts-none")?));
    }
    writer.section("doubts", "doubts-title", body)
}

/// The heaviest doubts in short, for a box.
pub(super) fn heaviest_in_short(
    writer: &Writer,
    parts: &[Part<'_>],
    most: usize,
) -> Result<Vec<Prose>, ReportError> {
    let told = parts.len() == 1 && !asked(parts).is_empty();
    let said = |(_, caveat): (_, &Caveat)| {
        let short = short(writer, caveat)?.capitalised();
        match caveat {
            // Without a line on the blocks it is the first that names what n counts.
            Caveat::FewBlocks { .. } if !told => {
                writer.say("box-few", Args::new().prose("doubt", &short))
            }
            _ => Ok(short),
        }
    };
    // What may stay unseen is no doubt about what was seen.
    let mut told = heaviest(parts, most);
    told.sort_by_key(|(_, caveat)| matches!(caveat, Caveat::FewBlocks { .. }));
    told.into_iter().map(said).collect()
}

/// The evidence of a doubt, and in which part it is worst where the parts differ.
fn whole_lead(writer: &Writer, parts: &[Part<'_>], (part, caveat): (&Part<'_>, &Caveat)) -> Said {
    let kind = std::mem::discriminant(caveat);
    let mut alike = parts.iter().flat_map(|p| &p.analysis.caveats);
    let same = alike.all(|c| std::mem::discriminant(c) != kind || c == caveat);
    let everywhere = parts.iter().all(|p| p.analysis.caveats.contains(caveat));
    if everywhere || (same && weight(caveat) == 0.0) {
        return lead(writer, caveat);
    }
    let args = Args::new().prose("lead", &lead(writer, caveat)?).name("part", &part.run.plan.title);
    writer.say(if same { "doubt-in-part" } else { "doubt-worst-part" }, args)
}

/// How bad a doubt is among those of its kind; zero for a kind that has no degrees.
pub(super) fn weight(caveat: &Caveat) -> f64 {
    match caveat {
        Caveat::Steal { share } => share.centre.value,
        Caveat::NoiseFloor { ratio } => ratio.distance(),
        Caveat::RatioMoved { change, .. }
        | Caveat::Drifted { change, .. }
        | Caveat::Stepped { change, .. } => change.distance(),
        Caveat::FasterWithMore { gain, .. } => gain.distance(),
        Caveat::Paused { longest, .. } => longest.value,
        Caveat::NeighboursAlike { follows, .. } => follows.value,
        Caveat::BlockApart { off, .. } => off.distance(),
        Caveat::Uneven { uneven, .. } => uneven.sides().0.share.centre.value,
        Caveat::NotSteady { trials: some, of }
        | Caveat::LeftSteadyState { trials: some, of, .. }
        | Caveat::FewRounds { trials: some, of, .. }
        | Caveat::NotFromDisk { trials: some, of, .. }
        | Caveat::ArrayActivity { trials: some, of, .. }
        | Caveat::FailedOperations { trials: some, of, .. }
        | Caveat::SearchEnds { ended: some, of, .. } => some.value / of.value.max(1.0),
        Caveat::Unsettled { never, late, of } => (never.value + late.value) / of.value.max(1.0),
        Caveat::Incomplete { valid, of } => 1.0 - valid.value / of.value.max(1.0),
        Caveat::TooFew { least, .. } => 1.0 - least.values.value / least.needs.value,
        Caveat::ClientsOnly { places: trials, .. } | Caveat::Faults { trials, .. } => trials.value,
        Caveat::FewBlocks { smallest, .. } => smallest.centre.value,
        Caveat::PauseFrames { sent, received, .. } => sent.value + received.value,
        Caveat::Foreign { cpu: size } | Caveat::CpuMethods { by: size } => size.centre.value,
        Caveat::OneMachine
        | Caveat::Compound { .. }
        | Caveat::Loopback { .. }
        | Caveat::Guest { .. }
        | Caveat::Partial { .. }
        | Caveat::Simulated
        | Caveat::Emulated { .. }
        | Caveat::FromOutside { .. }
        | Caveat::ShippedBridge { .. }
        | Caveat::VirtualLinks => 0.0,
    }
}

/// The evidence of a doubt, and in how many comparisons it is seen.
pub(in crate::report) fn lead(writer: &Writer, caveat: &Caveat) -> Said {
    let said = writer.pick("doubt-*", caveat, args(writer, caveat)?)?;
    match caveat {
        Caveat::RatioMoved { seen, of, .. }
        | Caveat::NeighboursAlike { seen, of, .. }
        | Caveat::BlockApart { seen, of, .. }
            if of.value > 1.0 =>
        {
            let counts = Args::new().number("seen", *seen).number("of", *of);
            Ok(Prose::join(&[said, writer.say("doubt-seen-in", counts)?]))
        }
        _ => Ok(said),
    }
}

/// The evidence in half a line, for a card.
pub fn short(writer: &Writer, caveat: &Caveat) -> Result<Prose, ReportError> {
    writer.pick("short-*", caveat, args(writer, caveat)?)
}

/// What follows from a doubt.
pub(in crate::report) fn means(writer: &Writer, caveat: &Caveat) -> Said {
    writer.pick("doubt-*-means", caveat, args(writer, caveat)?)
}

/// What would remove a doubt.
pub(in crate::report) fn fix(writer: &Writer, caveat: &Caveat) -> Said {
    writer.pick("doubt-*-fix", caveat, Args::new())
}

/// What those on what a packet box forwards may name.
fn forwarded(args: Args, caveat: &Caveat) -> Args {
    match caveat {
        Caveat::FasterWithMore { load, work, less, more, gain } => {
            let args = args.name("load", load).name("work", work);
            args.name("less", less).name("more", more).estimate("gain", gain)
        }
        Caveat::ShippedBridge { hosts } => args.name("hosts", hosts),
        _ => args,
    }
}

/// What the sentences on a doubt may name.
fn args(writer: &Writer, caveat: &Caveat) -> Result<Args, ReportError> {
    let args = Args::new();
    let known = |name: &str| if name.is_empty() || name == UNNAMED { "no" } else { "yes" };
    Ok(match caveat {
        Caveat::OneMachine | Caveat::Simulated | Caveat::VirtualLinks => args,
        Caveat::Loopback { why } | Caveat::Partial { why } => {
            args.choose("known", known(why)).name("why", why)
        }
        Caveat::Compound { machines, differences, named } => {
            args.name("machines", machines).number("differences", *differences).name("named", named)
        }
        Caveat::Emulated { emulator } => args.name("emulator", emulator),
        Caveat::FromOutside { servers } => args.name("servers", servers),
        Caveat::Guest { hypervisor } => {
            args.choose("known", known(hypervisor)).name("hypervisor", hypervisor)
        }
        Caveat::Steal { share } => args.estimate("share", share),
        Caveat::FasterWithMore { .. } | Caveat::ShippedBridge { .. } => forwarded(args, caveat),
        Caveat::NoiseFloor { ratio } => args
            .prose("effect", &effect(writer, ratio)?)
            .prose("brief", &short_effect(writer, ratio)?),
        Caveat::Uneven { first, uneven, seen, of } => collapse(writer, args, uneven)?
            .name("first", first)
            .number("seen", *seen)
            .number("of", *of),
        Caveat::NotSteady { trials, of } => args.number("trials", *trials).number("of", *of),
        Caveat::ArrayActivity { trials, of, first } => {
            args.number("trials", *trials).number("of", *of).name("first", first)
        }
        Caveat::FailedOperations { trials, of, classes } => {
            args.number("trials", *trials).number("of", *of).name("classes", classes)
        }
        Caveat::TooFew { metric, least } => few(args, least).name("metric", metric),
        Caveat::SearchEnds { load, ended, of } => {
            args.number("ended", *ended).number("of", *of).name("load", load)
        }
        Caveat::ClientsOnly { places, first } => {
            args.number("places", *places).name("first", first)
        }
        Caveat::Faults { trials, again, lost, first } => args
            .number("trials", *trials)
            .number("again", *again)
            .number("lost", *lost)
            .name("first", first)
            // The first visit is none of those again.
            .count("attempts", ATTEMPTS - 1)
            .count("clients", ATTEMPTS_OF_CLIENTS - 1),
        Caveat::Incomplete { valid, of } => args
            .number("valid", *valid)
            .number("of", *of)
            .quantity("enough", Quantity::new(ENOUGH, Unit::Share)),
        Caveat::FewBlocks { blocks, smallest } => args
            .number("blocks", *blocks)
            .changed("smallest", smallest.centre)
            .quantity("power", Quantity::new(POWER, Unit::Share)),
        Caveat::Foreign { cpu } => args.estimate("cpu", cpu),
        Caveat::CpuMethods { by } => args.estimate("by", by),
        Caveat::RatioMoved { .. }
        | Caveat::NeighboursAlike { .. }
        | Caveat::BlockApart { .. }
        | Caveat::Drifted { .. }
        | Caveat::Stepped { .. }
        | Caveat::Paused { .. }
        | Caveat::Unsettled { .. }
        | Caveat::LeftSteadyState { .. }
        | Caveat::FewRounds { .. }
        | Caveat::NotFromDisk { .. }
        | Caveat::PauseFrames { .. } => course(writer, caveat, args)?,
    })
}

/// The same for what the blocks show in their order, for what happened to the run as a whole, and
/// for what rounds and counts of devices show within a window.
fn course(writer: &Writer, caveat: &Caveat, args: Args) -> Result<Args, ReportError> {
    let of = |load: &str| if load.is_empty() { "one" } else { "several" };
    let changed = |args: Args, change: &Estimate| -> Result<Args, ReportError> {
        Ok(args.prose("change", &effect(writer, change)?).changed("moved", change.centre))
    };
    Ok(match caveat {
        Caveat::RatioMoved { first, change, .. } => changed(args, change)?.name("first", first),
        Caveat::NeighboursAlike { first, follows, .. } => {
            args.name("first", first).quantity("follows", *follows)
        }
        Caveat::BlockApart { first, block, off, share, .. } => args
            .name("first", first)
            .number("block", *block)
            .changed("off", off.centre)
            .quantity("share", *share),
        Caveat::Drifted { load, change } => {
            changed(args, change)?.choose("loads", of(load)).name("load", load)
        }
        Caveat::Stepped { load, change, at } => {
            changed(args, change)?.choose("loads", of(load)).name("load", load).quantity("at", *at)
        }
        Caveat::Paused { times, longest, at } => {
            args.number("times", *times).quantity("longest", *longest).quantity("at", *at)
        }
        Caveat::Unsettled { never, late, of } => args
            .number("never", *never)
            .number("late", *late)
            .number("of", *of)
            .number("trials", Quantity::new(never.value + late.value, Unit::Count)),
        Caveat::LeftSteadyState { trials, of, lower, repeated, recovered, higher, earliest } => {
            args.number("trials", *trials)
                .number("of", *of)
                .number("lower", *lower)
                .number("repeated", *repeated)
                .number("recovered", *recovered)
                .number("higher", *higher)
                .quantity("earliest", *earliest)
        }
        Caveat::PauseFrames { adapter, sent, received, trials, of } => args
            .name("adapter", adapter)
            .number("sent", *sent)
            .number("received", *received)
            .number("trials", *trials)
            .number("of", *of),
        Caveat::NotFromDisk { trials, of, least } => {
            args.number("trials", *trials).number("of", *of).quantity("least", *least)
        }
        Caveat::FewRounds { trials, of, rounds, needs } => args
            .number("trials", *trials)
            .number("of", *of)
            .number("rounds", *rounds)
            .number("needs", *needs),
        _ => args,
    })
}

/// How many values there are of how many that a quantile takes.
pub(super) fn few(args: Args, few: &TooFew) -> Args {
    // To four digits behind the point: a share of 0.999 is p99.9.
    let at = format!("p{}", (few.at.value * 1e6).round() / 1e4);
    args.name("at", &at).number("values", few.values).number("needs", few.needs)
}

/// The collapsed trials of the level that has more of them, those of the other, and both ratios.
fn collapse(writer: &Writer, args: Args, uneven: &Uneven) -> Result<Args, ReportError> {
    let (more, less) = uneven.sides();
    let at = more.at.unwrap_or(Quantity::new(1.0 - COLLAPSE, Unit::Share));
    Ok(args
        .name("level", &more.level)
        .estimate("share", &more.share)
        .quantity("rate", at)
        .name("rest", &less.level)
        .estimate("beside", &less.share)
        .prose("typical", &effect(writer, &uneven.typical)?)
        .prose("mean", &effect(writer, &uneven.mean)?)
        .quantity("off", Quantity::new(COLLAPSE, Unit::Share)))
}
