//! Knows how a doubt is said: its evidence, then what follows and what would remove it.

use super::effect::effect;
use super::{Part, Said, Writer, all_caveats};
use crate::report::document::Node;
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::verdict::Caveat;

/// The chapter: a note a doubt, the heaviest first.
pub(super) fn chapter(writer: &Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    for caveat in all_caveats(parts) {
        body.push(Node::Note { lead: lead(writer, caveat)?, text: means(writer, caveat)? });
    }
    if body.is_empty() {
        body.push(Node::Paragraph(writer.label("doubts-none")?));
    }
    writer.section("doubts", "doubts-title", body)
}

/// The evidence of a doubt.
pub fn lead(writer: &Writer, caveat: &Caveat) -> Said {
    let args = Args::new();
    match caveat {
        Caveat::OneMachine => writer.label("doubt-one-machine"),
        Caveat::Loopback { why } => writer.say("doubt-loopback", args.name("why", why)),
        Caveat::Guest { hypervisor } => {
            writer.say("doubt-guest", args.name("hypervisor", hypervisor))
        }
        Caveat::Steal { share } => writer.say("doubt-steal", args.quantity("share", share.centre)),
        Caveat::NoiseFloor { ratio } => {
            writer.say("doubt-noise-floor", args.prose("effect", &effect(writer, ratio)?))
        }
        Caveat::NotSteady { trials, of } => {
            writer.say("doubt-not-steady", args.number("trials", *trials).number("of", *of))
        }
        Caveat::Faults { trials, first } => {
            writer.say("doubt-faults", args.number("trials", *trials).name("first", first))
        }
        Caveat::Partial { why } => writer.say("doubt-partial", args.name("why", why)),
        Caveat::FewBlocks { blocks, smallest } => writer.say(
            "doubt-few-blocks",
            args.number("blocks", *blocks).change("smallest", smallest.centre.value),
        ),
        Caveat::VirtualLinks => writer.label("doubt-virtual-links"),
    }
}

/// What follows from a doubt, and the remedy.
pub(super) fn means(writer: &Writer, caveat: &Caveat) -> Said {
    writer.label(match caveat {
        Caveat::OneMachine => "doubt-one-machine-means",
        Caveat::Loopback { .. } => "doubt-loopback-means",
        Caveat::Guest { .. } => "doubt-guest-means",
        Caveat::Steal { .. } => "doubt-steal-means",
        Caveat::NoiseFloor { .. } => "doubt-noise-floor-means",
        Caveat::NotSteady { .. } => "doubt-not-steady-means",
        Caveat::Faults { .. } => "doubt-faults-means",
        Caveat::Partial { .. } => "doubt-partial-means",
        Caveat::FewBlocks { .. } => "doubt-few-blocks-means",
        Caveat::VirtualLinks => "doubt-virtual-links-means",
    })
}
