//! Knows where the CPU time goes: from one level to the other, a step a kind of process.

use super::{Drawn, numbered, single};
use crate::figure::{Axis, Figure, FigureKind, Scale, Series};
use crate::report::compose::names::{level_names, pair};
use crate::report::compose::places::at;
use crate::report::compose::ruling::condition;
use crate::report::compose::{Part, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use desk::unit::Unit;
use desk::verdict::{Comparison, Cost, CpuParts};

/// A figure whose largest step is smaller than this, in CPUs, shows nothing.
const VISIBLE: f64 = 0.05;

/// The figure at the point, of all that are given, where most CPU time moves from one kind of
/// process to another; nothing where next to none does, or the readings are missing.
pub fn waterfall(
    writer: &mut Writer,
    part: &Part<'_>,
    costs: &[(&Comparison, &Cost)],
) -> Result<Option<Figure>, ReportError> {
    let most = costs.iter().filter_map(|(c, cost)| Some((*c, most_moved(c, cost)?)));
    let most = most.max_by(|a, b| moved(a.1).total_cmp(&moved(b.1)));
    let Some((c, (base, other))) = most.filter(|(_, pair)| moved(*pair) >= VISIBLE) else {
        return Ok(None);
    };
    of_pair(writer, part, (c, base, other)).map(Some)
}

/// Both levels at the point of a comparison where most moves.
fn most_moved<'a>(c: &Comparison, cost: &'a Cost) -> Option<(&'a CpuParts, &'a CpuParts)> {
    let side = |level: &str| cost.parts.iter().filter(|p| p.level == level).collect::<Vec<_>>();
    let (base, other) = (side(&c.base), side(&c.other));
    let pairs = base.iter().filter_map(|b| Some((*b, *other.iter().find(|o| o.at == b.at)?)));
    pairs.max_by(|a, b| moved(*a).total_cmp(&moved(*b)))
}

/// The largest step from one level to the other, in CPUs.
fn moved((base, other): (&CpuParts, &CpuParts)) -> f64 {
    let steps = steps(base).into_iter().zip(steps(other));
    steps.map(|((_, b), (_, o))| (o - b).abs()).fold(0.0, f64::max)
}

/// The parts of the machine's busy CPUs by the key of their name; together they are all of them.
fn steps(parts: &CpuParts) -> Vec<(&'static str, f64)> {
    let conductor = parts.conductor.as_ref().map_or(0.0, |e| e.centre.value);
    let mut all = vec![
        ("spent-server", parts.server.centre.value),
        ("spent-clients", parts.clients.centre.value),
        ("spent-conductor", conductor),
        ("spent-kernel", parts.kernel.centre.value),
        ("spent-foreign", parts.foreign.centre.value),
        ("spent-rest", parts.unattributed.centre.value),
    ];
    for (key, part) in [("spent-between", &parts.between), ("spent-relay", &parts.relay)] {
        all.splice(2..2, part.iter().map(|part| (key, part.centre.value)));
    }
    all
}

fn of_pair(
    writer: &mut Writer,
    part: &Part<'_>,
    (c, base, other): (&Comparison, &CpuParts, &CpuParts),
) -> Result<Figure, ReportError> {
    let bar =
        |name: String, from: f64, to: f64| Series { name, marks: vec![single(from, to, true)] };
    let names = level_names(part.run, c);
    let mut series = vec![bar(names[0].clone(), 0.0, base.machine.centre.value)];
    let mut reached = base.machine.centre.value;
    for ((key, before), (_, after)) in steps(base).into_iter().zip(steps(other)) {
        let next = reached + after - before;
        series.push(bar(writer.label(key)?.text().into(), reached, next));
        reached = next;
    }
    series.push(bar(names[1].clone(), 0.0, other.machine.centre.value));
    // Where both keep the CPUs as busy, less of one process is more of another and no gain.
    let change = (other.machine.centre.value - base.machine.centre.value).abs();
    let direction = match change >= VISIBLE {
        true => writer.label("direction-lower")?.text().into(),
        false => String::new(),
    };
    let axis = Axis {
        label: writer.label("axis-cpus")?.text().into(),
        unit: Unit::Cpu,
        scale: Scale::Linear,
        direction,
        names: Vec::new(),
    };
    let args = pair(part.run, c).prose("at", &at(writer, base.at.as_ref())?);
    let plain = writer.label("waterfall-subtitle")?;
    let drawn = Drawn {
        kind: FigureKind::Waterfall,
        title: writer.say("waterfall-title", args)?,
        subtitle: Prose::join_with(&[plain, condition(part.run, c)], ", "),
        x: axis.clone(),
        y: axis,
        series,
        zones: Vec::new(),
        references: Vec::new(),
        roofs: Vec::new(),
        footnote: writer.label("waterfall-footnote")?,
    };
    Ok(numbered(writer, &part.run.id, drawn))
}
