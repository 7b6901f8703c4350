//! Knows which accesses a trial is of: those of its parameters, of a preset, or of a file of
//! IOmeter.
//!
//! Must not know what is read and written.

use super::spec::{
    BLOCK_SIZE, DISK_PLACE, DUPLICATED, HOT, HOT_PLACES, HOT_SHARE, LARGEST, LISTED, LOCALITY,
    MIX_READS, OPERATION, SKEW, SPECIFICATION, WHOLE_DISK, ZIPF,
};
use crate::engine::access::{Access, Line, SECTOR, read};
use crate::engine::alone::Order;
use crate::engine::pace::{ARRIVALS, offered};
use desk::record::ParamSpec;
use rig::metal::Unready;

/// The operation that reads and writes.
const MIX: &str = "mix";

/// The accesses of an order.
///
/// # Errors
/// Parameters that a list of accesses leaves no room for; a file that cannot be read, is refused,
/// has no such specification, or has one that a disk cannot do.
pub(super) fn accesses(order: &Order) -> Result<Access, Unready> {
    let pattern = order.word("pattern");
    let is_file = pattern.starts_with('/');
    let is_listed = !["random", "sequential"].contains(&pattern);
    refuse_needless(order, &effects(order))?;
    for param in [BLOCK_SIZE, OPERATION] {
        let (name, asked) = (param.name, order.params.get(param.name).cloned());
        if (order.word(name) == LISTED) != is_listed {
            let asked = asked.map(|value| value.to_string()).unwrap_or_default();
            let remedy = if is_listed {
                format!("the list of the pattern has it; write {name} = \"{LISTED}\"")
            } else {
                format!("the pattern has no list; write such as {name} = \"{}\"", param.default)
            };
            return Err(refused(format!(
                "{name} = {asked} cannot be with pattern = \"{pattern}\": {remedy}"
            )));
        }
    }
    let access = match pattern {
        "random" => plain(order, 100),
        "sequential" => plain(order, 0),
        file if is_file => listed(file, order.count(SPECIFICATION.name)).map_err(refused)?,
        preset => {
            Access::preset(preset).ok_or_else(|| refused(format!("no pattern '{preset}'")))?
        }
    };
    refuse_needless(order, &effects_on(&access))?;
    Ok(access)
}

/// A parameter, whether it has an effect, and what it needs to have one.
type Effect = (ParamSpec, bool, &'static str);

/// Of the parameters that need another one.
pub(super) fn effects(order: &Order) -> [Effect; 7] {
    let is_mix = order.word(OPERATION.name) == MIX;
    let is_file = order.word("pattern").starts_with('/');
    let locality = order.word(LOCALITY.name);
    let is_disk = order.word(WHOLE_DISK.name).starts_with('/');
    let is_paced = offered(&order.params).is_some();
    let (is_zipf, is_hot) = (locality == ZIPF, locality == HOT);
    [
        (DISK_PLACE, is_disk, "whole_disk"),
        (MIX_READS, is_mix, "operation = \"mix\""),
        (SPECIFICATION, is_file, "a pattern that is a file of IOmeter"),
        (SKEW, is_zipf, "locality = \"zipf\""),
        (HOT_SHARE, is_hot, "locality = \"hot\""),
        (HOT_PLACES, is_hot, "locality = \"hot\""),
        (ARRIVALS, is_paced, "offered_load such as \"1000 op/s\""),
    ]
}

/// Of the parameters that need certain accesses.
fn effects_on(access: &Access) -> [Effect; 2] {
    let is_random = access.lines.iter().any(|line| line.random > 0);
    let one = access.lines.first().map_or(0, |line| line.size);
    let is_one = access.lines.iter().all(|line| (line.size, line.aligned()) == (one, one));
    [
        (LOCALITY, is_random, "a pattern with random places"),
        (DUPLICATED, is_one, "a pattern of one size at multiples of it, such as \"random\""),
    ]
}

/// Refuses parameters that change nothing and are not as usual.
fn refuse_needless(order: &Order, effects: &[Effect]) -> Result<(), Unready> {
    for (param, counts, with) in effects {
        // A record from before a parameter was there has its default.
        let asked = order.params.get(param.name).map(ToString::to_string);
        let asked = asked.unwrap_or_else(|| param.default.into());
        if !counts && asked != param.default {
            let name = param.name;
            return Err(refused(format!("{name} = {asked} needs {with}; leave it out")));
        }
    }
    Ok(())
}

fn refused(why: String) -> Unready {
    Unready::NotAvailable(why)
}

/// Accesses of one size.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "512 to 2^22")]
fn plain(order: &Order, random: u64) -> Access {
    let size = order.quantity(BLOCK_SIZE.name).unwrap_or(4096.0) as u64;
    let reads = match order.word(OPERATION.name) {
        "write" | "trim" | "append" => 0,
        MIX => order.count(MIX_READS.name),
        _ => 100,
    };
    let line = Line { align: size, ..Line::new(size, 100, (reads, random)) };
    Access { name: order.word("pattern").into(), lines: vec![line] }
}

/// The specification of a number of a file of IOmeter.
fn listed(file: &str, number: u64) -> Result<Access, String> {
    let mut all = read(file)?;
    let count = all.len();
    let at = usize::try_from(number.max(1)).unwrap_or(usize::MAX) - 1;
    if at >= count {
        let names: Vec<&str> = all.iter().map(|access| access.name.as_str()).collect();
        let names = names.join(", ");
        return Err(format!(
            "specification = {number}: {file} has {count} ({names}); take 1 to {count}"
        ));
    }
    let access = all.swap_remove(at);
    fits(&access).map_err(|why| format!("{file}: '{}': {why}", access.name))?;
    Ok(access)
}

/// Whether a disk can do such accesses.
fn fits(access: &Access) -> Result<(), String> {
    for Line { size, delay_ms, align, reply, .. } in &access.lines {
        let (size, align) = (*size, *align);
        if !size.is_multiple_of(SECTOR) || size > LARGEST {
            return Err(format!(
                "size = {size} B is not whole sectors of {SECTOR} B up to {LARGEST} B; change it"
            ));
        }
        if !align.is_multiple_of(SECTOR) || align > LARGEST {
            return Err(format!(
                "align = {align} B is not whole sectors of {SECTOR} B up to {LARGEST} B; change it"
            ));
        }
        if *delay_ms > 0 {
            return Err(format!("delay = {delay_ms} ms: this load has no pauses; make it 0"));
        }
        if *reply > 0 {
            return Err(format!("reply = {reply} B is of a network; make it 0"));
        }
    }
    Ok(())
}
