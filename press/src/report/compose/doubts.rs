//! Knows how a doubt is said: its evidence, what follows, and what would remove it.

use super::effect::{effect, short_effect};
use super::{Part, Said, Writer, heaviest};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::plan::{ATTEMPTS, ATTEMPTS_OF_CLIENTS};
use desk::record::ENOUGH;
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
    let said = |(_, caveat): (_, &Caveat)| {
        let short = short(writer, caveat)?.capitalised();
        match caveat {
            // It is the first that names what n counts.
            Caveat::FewBlocks { .. } => writer.say("box-few", Args::new().prose("doubt", &short)),
            _ => Ok(short),
        }
    };
    heaviest(parts, most).into_iter().map(said).collect()
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
        Caveat::Paused { longest, .. } => longest.value,
        Caveat::NeighboursAlike { follows, .. } => follows.value,
        Caveat::BlockApart { off, .. } => off.distance(),
        Caveat::Uneven { uneven, .. } => uneven.sides().0.share.centre.value,
        Caveat::NotSteady { trials: some, of } | Caveat::SearchEnds { ended: some, of, .. } => {
            some.value / of.value.max(1.0)
        }
        Caveat::Incomplete { valid, of } => 1.0 - valid.value / of.value.max(1.0),
        Caveat::TooFew { least, .. } => 1.0 - least.values.value / least.needs.value,
        Caveat::ClientsOnly { places: trials, .. } | Caveat::Faults { trials, .. } => trials.value,
        Caveat::FewBlocks { smallest, .. } => smallest.centre.value,
        Caveat::PauseFrames { sent, received, .. } => sent.value + received.value,
        Caveat::Foreign { cpu: size } | Caveat::CpuMethods { by: size } => size.centre.value,
        Caveat::OneMachine
        | Caveat::Loopback { .. }
        | Caveat::Guest { .. }
        | Caveat::Partial { .. }
        | Caveat::Simulated
        | Caveat::VirtualLinks => 0.0,
    }
}

/// The evidence of a doubt.
pub(in crate::report) fn lead(writer: &Writer, caveat: &Caveat) -> Said {
    let args = Args::new();
    match caveat {
        Caveat::OneMachine => writer.label("doubt-one-machine"),
        Caveat::Loopback { why } if why.is_empty() => writer.label("doubt-loopback-plain"),
        Caveat::Loopback { why } => writer.say("doubt-loopback", args.name("why", why)),
        Caveat::Guest { hypervisor } if hypervisor == UNNAMED => {
            writer.label("doubt-guest-unnamed")
        }
        Caveat::Guest { hypervisor } => {
            writer.say("doubt-guest", args.name("hypervisor", hypervisor))
        }
        Caveat::Steal { share } => writer.say("doubt-steal", args.estimate("share", share)),
        Caveat::NoiseFloor { ratio } => {
            writer.say("doubt-noise-floor", args.prose("effect", &effect(writer, ratio)?))
        }
        Caveat::RatioMoved { .. } | Caveat::NeighboursAlike { .. } | Caveat::BlockApart { .. } => {
            diagnosis(writer, caveat)
        }
        Caveat::Uneven { first, uneven, seen, of } => {
            let args = collapse(writer, args, uneven)?.name("first", first);
            writer.say("doubt-uneven", args.number("seen", *seen).number("of", *of))
        }
        Caveat::Drifted { .. } | Caveat::Stepped { .. } | Caveat::Paused { .. } => {
            course(writer, caveat)
        }
        Caveat::NotSteady { trials, of } => {
            writer.say("doubt-not-steady", args.number("trials", *trials).number("of", *of))
        }
        Caveat::TooFew { metric, least } => {
            let args = few(args, least).name("metric", metric);
            writer.say("doubt-too-few", args)
        }
        Caveat::SearchEnds { load, ended, of } => {
            let args = args.number("ended", *ended).number("of", *of).name("load", load);
            writer.say("doubt-search-ends", args)
        }
        Caveat::Simulated => writer.label("doubt-simulated"),
        Caveat::ClientsOnly { places, first } => {
            writer.say("doubt-clients-only", args.number("places", *places).name("first", first))
        }
        Caveat::Faults { trials, again, lost, first } => {
            let args = args.number("trials", *trials).name("first", first);
            writer.say("doubt-faults", args.number("again", *again).number("lost", *lost))
        }
        Caveat::Partial { why } => writer.say("doubt-partial", args.name("why", why)),
        Caveat::Incomplete { valid, of } => {
            let enough = Quantity::new(ENOUGH, Unit::Share);
            let args = args.number("valid", *valid).number("of", *of);
            writer.say("doubt-incomplete", args.quantity("enough", enough))
        }
        Caveat::FewBlocks { blocks, smallest } => {
            let args = args.number("blocks", *blocks).changed("smallest", smallest.centre);
            writer
                .say("doubt-few-blocks", args.quantity("power", Quantity::new(POWER, Unit::Share)))
        }
        Caveat::VirtualLinks => writer.label("doubt-virtual-links"),
        Caveat::Foreign { cpu } => writer.say("doubt-foreign", args.estimate("cpu", cpu)),
        Caveat::PauseFrames { adapter, sent, received, trials, of } => {
            let args = args.name("adapter", adapter).number("sent", *sent);
            let args = args.number("received", *received).number("trials", *trials);
            writer.say("doubt-pause-frames", args.number("of", *of))
        }
        Caveat::CpuMethods { by } => writer.say("doubt-cpu-methods", args.estimate("by", by)),
    }
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

/// What the blocks of a comparison show in their order, and in how many comparisons they do.
fn diagnosis(writer: &Writer, caveat: &Caveat) -> Said {
    let args = Args::new();
    let (said, [seen, of]) = match caveat {
        Caveat::RatioMoved { first, change, seen, of, .. } => {
            let args = args.name("first", first).prose("change", &effect(writer, change)?);
            (writer.say("doubt-ratio-moved", args)?, [seen, of])
        }
        Caveat::NeighboursAlike { first, follows, seen, of, .. } => {
            let args = args.name("first", first).quantity("follows", *follows);
            (writer.say("doubt-neighbours-alike", args)?, [seen, of])
        }
        Caveat::BlockApart { first, block, off, share, seen, of, .. } => {
            let args = args.name("first", first).number("block", *block);
            let args = args.changed("off", off.centre).quantity("share", *share);
            (writer.say("doubt-block-apart", args)?, [seen, of])
        }
        _ => return Ok(Prose::default()),
    };
    let counts = Args::new().number("seen", *seen).number("of", *of);
    Ok(match of.value > 1.0 {
        true => Prose::join(&[said, writer.say("doubt-seen-in", counts)?]),
        false => said,
    })
}

/// What happened to the run as a whole.
fn course(writer: &Writer, caveat: &Caveat) -> Said {
    let args = Args::new();
    let of = |load: &str| if load.is_empty() { "one" } else { "several" };
    match caveat {
        Caveat::Drifted { load, change, .. } => {
            let args = args.name("loads", of(load)).name("load", load);
            writer.say("doubt-drifted", args.prose("change", &effect(writer, change)?))
        }
        Caveat::Stepped { load, change, at, .. } => {
            let args = args.name("loads", of(load)).name("load", load).quantity("at", *at);
            writer.say("doubt-stepped", args.prose("change", &effect(writer, change)?))
        }
        Caveat::Paused { times, longest, at } => {
            let args = args.number("times", *times).quantity("longest", *longest);
            writer.say("doubt-paused", args.quantity("at", *at))
        }
        _ => Ok(Prose::default()),
    }
}

/// The evidence in half a line, for a card.
pub fn short(writer: &Writer, caveat: &Caveat) -> Result<Prose, ReportError> {
    let args = Args::new();
    match caveat {
        Caveat::OneMachine => writer.label("short-one-machine"),
        Caveat::Loopback { .. } => writer.label("short-loopback"),
        Caveat::Guest { hypervisor } if hypervisor == UNNAMED => {
            writer.label("short-guest-unnamed")
        }
        Caveat::Guest { hypervisor } => {
            writer.say("short-guest", args.name("hypervisor", hypervisor))
        }
        Caveat::Steal { share } => writer.say("short-steal", args.estimate("share", share)),
        Caveat::NoiseFloor { ratio } => {
            writer.say("short-noise-floor", args.prose("effect", &short_effect(writer, ratio)?))
        }
        Caveat::RatioMoved { change, .. } => {
            writer.say("short-ratio-moved", args.changed("change", change.centre))
        }
        Caveat::Drifted { change, .. } => {
            writer.say("short-drifted", args.changed("change", change.centre))
        }
        Caveat::Stepped { change, at, .. } => {
            let args = args.changed("change", change.centre).quantity("at", *at);
            writer.say("short-stepped", args)
        }
        Caveat::Paused { longest, .. } => {
            writer.say("short-paused", args.quantity("longest", *longest))
        }
        Caveat::NeighboursAlike { .. } => writer.label("short-neighbours-alike"),
        Caveat::BlockApart { block, off, .. } => {
            writer.say("short-block-apart", args.number("block", *block).changed("off", off.centre))
        }
        Caveat::Uneven { uneven, .. } => {
            writer.say("short-uneven", collapse(writer, args, uneven)?)
        }
        Caveat::NotSteady { trials, of } => {
            writer.say("short-not-steady", args.number("trials", *trials).number("of", *of))
        }
        Caveat::TooFew { metric, least } => {
            writer.say("short-too-few", few(args, least).name("metric", metric))
        }
        Caveat::SearchEnds { ended, of, .. } => {
            writer.say("short-search-ends", args.number("ended", *ended).number("of", *of))
        }
        Caveat::Simulated => writer.label("short-simulated"),
        Caveat::ClientsOnly { places, .. } => {
            writer.say("short-clients-only", args.number("places", *places))
        }
        Caveat::Faults { trials, .. } => writer.say("short-faults", args.number("trials", *trials)),
        Caveat::Partial { .. } => writer.label("short-partial"),
        Caveat::Incomplete { valid, of } => {
            writer.say("short-incomplete", args.number("valid", *valid).number("of", *of))
        }
        Caveat::FewBlocks { blocks, smallest } => writer.say(
            "short-few-blocks",
            args.number("blocks", *blocks).changed("smallest", smallest.centre),
        ),
        Caveat::VirtualLinks => writer.label("short-virtual-links"),
        Caveat::Foreign { cpu } => writer.say("short-foreign", args.estimate("cpu", cpu)),
        Caveat::PauseFrames { adapter, sent, received, .. } => {
            let args = args.name("adapter", adapter).number("sent", *sent);
            writer.say("short-pause-frames", args.number("received", *received))
        }
        Caveat::CpuMethods { by } => writer.say("short-cpu-methods", args.estimate("by", by)),
    }
}

/// What follows from a doubt.
pub(in crate::report) fn means(writer: &Writer, caveat: &Caveat) -> Said {
    if matches!(caveat, Caveat::Faults { .. }) {
        // The first visit is none of those again.
        let args = Args::new().count("again", ATTEMPTS - 1);
        return writer.say("doubt-faults-means", args.count("clients", ATTEMPTS_OF_CLIENTS - 1));
    }
    if matches!(caveat, Caveat::Uneven { .. }) {
        let off = Quantity::new(COLLAPSE, Unit::Share);
        return writer.say("doubt-uneven-means", Args::new().quantity("off", off));
    }
    writer.label(match caveat {
        Caveat::OneMachine => "doubt-one-machine-means",
        Caveat::Loopback { .. } => "doubt-loopback-means",
        Caveat::Guest { .. } => "doubt-guest-means",
        Caveat::Steal { .. } => "doubt-steal-means",
        Caveat::NoiseFloor { .. } => "doubt-noise-floor-means",
        Caveat::RatioMoved { .. } => "doubt-ratio-moved-means",
        Caveat::Drifted { .. } => "doubt-drifted-means",
        Caveat::Stepped { .. } => "doubt-stepped-means",
        Caveat::Paused { .. } => "doubt-paused-means",
        Caveat::NeighboursAlike { .. } => "doubt-neighbours-alike-means",
        Caveat::BlockApart { .. } => "doubt-block-apart-means",
        Caveat::Uneven { .. } => "doubt-uneven-means",
        Caveat::NotSteady { .. } => "doubt-not-steady-means",
        Caveat::TooFew { .. } => "doubt-too-few-means",
        Caveat::SearchEnds { .. } => "doubt-search-ends-means",
        Caveat::Simulated => "doubt-simulated-means",
        Caveat::ClientsOnly { .. } => "doubt-clients-only-means",
        Caveat::Faults { .. } => "doubt-faults-means",
        Caveat::Partial { .. } => "doubt-partial-means",
        Caveat::Incomplete { .. } => "doubt-incomplete-means",
        Caveat::FewBlocks { .. } => "doubt-few-blocks-means",
        Caveat::VirtualLinks => "doubt-virtual-links-means",
        Caveat::Foreign { .. } => "doubt-foreign-means",
        Caveat::PauseFrames { .. } => "doubt-pause-frames-means",
        Caveat::CpuMethods { .. } => "doubt-cpu-methods-means",
    })
}

/// What would remove a doubt.
pub(in crate::report) fn fix(writer: &Writer, caveat: &Caveat) -> Said {
    writer.label(match caveat {
        Caveat::OneMachine => "doubt-one-machine-fix",
        Caveat::Loopback { .. } => "doubt-loopback-fix",
        Caveat::Guest { .. } => "doubt-guest-fix",
        Caveat::Steal { .. } => "doubt-steal-fix",
        Caveat::NoiseFloor { .. } => "doubt-noise-floor-fix",
        Caveat::RatioMoved { .. } => "doubt-ratio-moved-fix",
        Caveat::Drifted { .. } => "doubt-drifted-fix",
        Caveat::Stepped { .. } => "doubt-stepped-fix",
        Caveat::Paused { .. } => "doubt-paused-fix",
        Caveat::NeighboursAlike { .. } => "doubt-neighbours-alike-fix",
        Caveat::BlockApart { .. } => "doubt-block-apart-fix",
        Caveat::Uneven { .. } => "doubt-uneven-fix",
        Caveat::NotSteady { .. } => "doubt-not-steady-fix",
        Caveat::TooFew { .. } => "doubt-too-few-fix",
        Caveat::SearchEnds { .. } => "doubt-search-ends-fix",
        Caveat::Simulated => "doubt-simulated-fix",
        Caveat::ClientsOnly { .. } => "doubt-clients-only-fix",
        Caveat::Faults { .. } => "doubt-faults-fix",
        Caveat::Partial { .. } => "doubt-partial-fix",
        Caveat::Incomplete { .. } => "doubt-incomplete-fix",
        Caveat::FewBlocks { .. } => "doubt-few-blocks-fix",
        Caveat::VirtualLinks => "doubt-virtual-links-fix",
        Caveat::Foreign { .. } => "doubt-foreign-fix",
        Caveat::PauseFrames { .. } => "doubt-pause-frames-fix",
        Caveat::CpuMethods { .. } => "doubt-cpu-methods-fix",
    })
}
