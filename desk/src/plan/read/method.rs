//! Knows the table `[method]`: blocks, times, what decides and along what a curve is drawn.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::primary;
use super::value::{outside, quantity, whole};
use crate::record::{
    FactorPlan, LoadPlan, Method, Place, SteadyRule, Value, WorkloadSpec, longest_sweep,
};
use crate::unit::{Kind, Quantity, Unit};

/// Blocks of a plan that does not say: the fewest that see 5 % at 2 % noise in four of five runs.
const BLOCKS: u32 = 5;
/// Boots a level of a plan that does not say, and the fewest: with two, an interval at 95 % spans
/// 12.7 standard errors to either side.
const BOOTS: u32 = 3;
/// What a boot is taken to need where the plan does not say, seconds: an allowance for a server
/// whose firmware looks at its memory and cards first.
const BOOT_S: f64 = 120.0;
/// Most looks: with more, eight blocks could not attain the level of one by their ranks.
pub const MOST_LOOKS: usize = 6;
/// Fewest and most blocks of a plan.
pub const BLOCKS_BOUNDS: (u64, u64) = (3, 1000);
/// Fewest and most boots a level.
pub const BOOTS_BOUNDS: (u64, u64) = (BOOTS as u64, 1000);
/// The shortest window: below, the kernel's own ticks and acknowledgements are a share of it.
const SHORTEST_WINDOW_S: f64 = 0.05;
/// Shortest warm-up of loops on one machine, seconds: no rate has to settle, as that of TCP has.
const SHORTEST_WARM_UP_S: f64 = 0.005;
/// Longest time of a trial's parts, seconds.
const LONGEST_S: f64 = 3600.0;

pub(super) fn read(
    section: &Section,
    factors: &[FactorPlan],
    loads: &[LoadPlan],
    (specs, seed): (&[&WorkloadSpec], u64),
) -> Result<Method, PlanError> {
    section.only(&[
        "blocks",
        "dry",
        "settle",
        "settle_max",
        "window",
        "looks",
        "seed",
        "primary",
        "compare",
        "margin",
        "curve",
        "displaced_work",
        "steady",
        "boots",
        "boot_time",
        "primary_comparison",
    ])?;
    let alone = specs.iter().all(|spec| spec.place == Place::Machine);
    let (settle, settle_max) = settle(section, alone)?;
    let looks = looks(section)?;
    let (boots, boot_time) = boots(section, factors)?;
    let mut method = Method {
        blocks: blocks(section, &looks)?,
        dry: section.get("dry").map_or(Ok(true), Node::flag)?,
        settle,
        settle_max,
        window: window(section)?,
        seed: section.get("seed").map_or(Ok(seed), |node| whole(node, 0, u64::MAX))?,
        primary: primary(section, specs)?,
        compare: compare(section, factors)?,
        margin: margin(section)?,
        curve: curve(section, loads)?,
        looks,
        steady: steady(section)?,
        displaced_work: section.get("displaced_work").map_or(Ok(false), Node::flag)?,
        boots,
        boot_time,
        elasticity: None,
        primary_comparison: None,
    };
    if let Some(node) = section.get("primary_comparison") {
        method.primary_comparison = Some(primary::read(node, &method, factors, loads, specs)?);
    }
    Ok(method)
}

/// Boots a level and the time of one; 0 and none where no factor needs a reboot.
fn boots(section: &Section, factors: &[FactorPlan]) -> Result<(u32, Option<Quantity>), PlanError> {
    let Some(factor) = factors.iter().find(|factor| factor.reboot) else {
        let written = ["boots", "boot_time"].iter().find_map(|key| section.get(key));
        return match written {
            Some(node) => Err(PlanError::NothingReboots { line: node.line, key: node.key.clone() }),
            None => Ok((0, None)),
        };
    };
    if let Some(node) = section.get("looks") {
        return Err(PlanError::LooksOfBoots { line: node.line, factor: factor.name.clone() });
    }
    let time = time(section, "boot_time", BOOT_S)?;
    bounded(section, "boot_time", time, SHORTEST_WINDOW_S)?;
    Ok((section.get("boots").map_or(Ok(BOOTS), written_boots)?, Some(time)))
}

fn written_boots(node: &Node) -> Result<u32, PlanError> {
    if let Ok(boots @ 0..BOOTS) = node.written("a whole number")?.parse() {
        return Err(PlanError::FewBoots { line: node.line, boots });
    }
    Ok(u32::try_from(whole(node, BOOTS_BOUNDS.0, BOOTS_BOUNDS.1)?).unwrap_or(u32::MAX))
}

/// Numbers of blocks at which the run may end, rising; empty if the plan names none.
fn looks(section: &Section) -> Result<Vec<u32>, PlanError> {
    let Some(node) = section.get("looks") else { return Ok(Vec::new()) };
    let items = node.list().ok_or_else(|| node.wrong("a list such as [5, 10, 20, 40]"))?;
    let mut looks: Vec<u32> = Vec::new();
    for item in &items {
        let look =
            u32::try_from(whole(item, BLOCKS_BOUNDS.0, BLOCKS_BOUNDS.1)?).unwrap_or(u32::MAX);
        if let Some(before) = looks.last().copied().filter(|before| *before >= look) {
            return Err(PlanError::LooksOrder { line: item.line, before, look });
        }
        looks.push(look);
    }
    match looks.len() {
        2..=MOST_LOOKS => Ok(looks),
        number => Err(PlanError::LooksNumber { line: node.line, number, most: MOST_LOOKS }),
    }
}

fn steady(section: &Section) -> Result<SteadyRule, PlanError> {
    let Some(node) = section.get("steady") else { return Ok(SteadyRule::Required) };
    match node.string()? {
        "required" => Ok(SteadyRule::Required),
        "noted" => Ok(SteadyRule::Noted),
        other => Err(outside(node, other, "\"required\" or \"noted\"")),
    }
}

/// The blocks as written, or those of the last look.
fn blocks(section: &Section, looks: &[u32]) -> Result<u32, PlanError> {
    let last = looks.last().copied();
    let Some(node) = section.get("blocks") else { return Ok(last.unwrap_or(BLOCKS)) };
    let blocks = written_blocks(node)?;
    match last {
        Some(last) if last != blocks => {
            Err(PlanError::BlocksAgainstLooks { line: node.line, blocks, last })
        }
        _ => Ok(blocks),
    }
}

fn written_blocks(node: &Node) -> Result<u32, PlanError> {
    let written = node.written("a whole number")?.parse();
    if let Ok(blocks @ 0..3) = written {
        return Err(PlanError::FewBlocks { line: node.line, blocks });
    }
    Ok(u32::try_from(whole(node, BLOCKS_BOUNDS.0, BLOCKS_BOUNDS.1)?).unwrap_or(u32::MAX))
}

fn time(section: &Section, key: &str, default: f64) -> Result<Quantity, PlanError> {
    section.get(key).map_or(Ok(Quantity::seconds(default)), |node| quantity(node, Kind::Duration))
}

fn settle(section: &Section, alone: bool) -> Result<(Quantity, Quantity), PlanError> {
    let settle = time(section, "settle", 1.0)?;
    bounded(section, "settle", settle, if alone { SHORTEST_WARM_UP_S } else { 0.05 })?;
    // A plan that only says a long settle means it; the default must not contradict it.
    let settle_max = time(section, "settle_max", settle.value.max(5.0))?;
    bounded(section, "settle_max", settle_max, 0.0)?;
    if settle_max.value < settle.value {
        return Err(PlanError::SettleOrder {
            line: section.get("settle_max").map_or(section.line, |node| node.line),
            settle,
            settle_max,
        });
    }
    Ok((settle, settle_max))
}

fn window(section: &Section) -> Result<Quantity, PlanError> {
    let window = time(section, "window", 2.0)?;
    bounded(section, "window", window, SHORTEST_WINDOW_S)?;
    Ok(window)
}

/// Refuses a time below `shortest` seconds, or so long that it must be a slip of the pen.
fn bounded(section: &Section, key: &str, time: Quantity, shortest: f64) -> Result<(), PlanError> {
    let Some(node) = section.get(key) else { return Ok(()) };
    if time.value < shortest {
        let least = Quantity::seconds(shortest);
        return Err(outside(node, &time.to_string(), &format!("{least} or more")));
    }
    if time.value > LONGEST_S {
        return Err(outside(node, &time.to_string(), "1 h or less"));
    }
    Ok(())
}

fn margin(section: &Section) -> Result<Quantity, PlanError> {
    let Some(node) = section.get("margin") else { return Ok(Quantity::new(0.02, Unit::Share)) };
    let margin = quantity(node, Kind::Share)?;
    if (0.001..=0.5).contains(&margin.value) {
        return Ok(margin);
    }
    Err(outside(node, &margin.to_string(), "0.1 % to 50 %"))
}

fn primary(section: &Section, specs: &[&WorkloadSpec]) -> Result<String, PlanError> {
    let Some(node) = section.get("primary") else {
        let first = specs.first().and_then(|spec| spec.metrics.first());
        return Ok(first.map_or("", |metric| metric.name).into());
    };
    let name = node.string()?;
    // A load whose workload lacks it goes by a metric of its own.
    let mut known: Vec<&str> = Vec::new();
    for metric in specs.iter().flat_map(|spec| spec.metrics) {
        if !known.contains(&metric.name) {
            known.push(metric.name);
        }
    }
    if known.contains(&name) {
        return Ok(name.into());
    }
    Err(PlanError::UnknownName {
        line: node.line,
        what: "metric",
        name: name.into(),
        remedy: remedy(name, &known),
    })
}

fn compare(section: &Section, factors: &[FactorPlan]) -> Result<String, PlanError> {
    let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
    let Some(node) = section.get("compare") else {
        return Ok(names.first().copied().unwrap_or("").into());
    };
    let compare = node.string()?;
    if names.contains(&compare) {
        return Ok(compare.into());
    }
    Err(PlanError::NotCompared {
        line: node.line,
        compare: compare.into(),
        remedy: remedy(compare, &names),
    })
}

/// The curve parameter: as named, or the number swept in most steps, the first of equals.
fn curve(section: &Section, loads: &[LoadPlan]) -> Result<Option<String>, PlanError> {
    let mut numeric: Vec<&str> = Vec::new();
    for (name, values) in loads.iter().flat_map(|load| &load.over) {
        if values.len() > 1 && values.iter().all(|value| !matches!(value, Value::Word(_))) {
            numeric.push(name);
        }
    }
    let Some(node) = section.get("curve") else {
        return Ok(longest_sweep(loads.iter()).map(str::to_owned));
    };
    let curve = node.string()?;
    if numeric.contains(&curve) {
        return Ok(Some(curve.into()));
    }
    let remedy = remedy(curve, &numeric);
    Err(PlanError::NoCurve { line: node.line, curve: curve.into(), remedy })
}
