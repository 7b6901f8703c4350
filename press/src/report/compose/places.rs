//! Knows how points of a curve are named together: neighbours as a stretch, all of them as such.

use super::ruling::shown;
use super::{Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{ParamRole, Run, TrialRecord, Value};
use desk::verdict::Comparison;
use std::collections::BTreeSet;

/// `64 B–512 B, 8 KiB` for the points of a curve that are chosen, in its order.
pub(super) fn places(writer: &Writer, comparison: &Comparison, chosen: &[Option<Value>]) -> Said {
    let all: Vec<Option<Value>> = comparison.points.iter().map(|point| point.at.clone()).collect();
    among(writer, &all, chosen)
}

/// The same of any points in their order.
pub(super) fn among(writer: &Writer, all: &[Option<Value>], chosen: &[Option<Value>]) -> Said {
    let inside: Vec<bool> = all.iter().map(|at| chosen.contains(at)).collect();
    if inside.iter().all(|yes| *yes) {
        return writer.label("place-everywhere");
    }
    let mut said = Vec::new();
    let marked: Vec<_> = all.iter().zip(inside).collect();
    for stretch in marked.chunk_by(|a, b| a.1 == b.1).filter(|s| s.iter().all(|(_, yes)| *yes)) {
        let ends = stretch.first().zip(stretch.last());
        let ends = ends.and_then(|((a, _), (b, _))| a.as_ref().zip(b.as_ref()));
        let Some((from, to)) = ends else { continue };
        match (stretch.len(), from) {
            (1, _) => said.push(Prose::verbatim(&shown(from))),
            // Words have nothing between them.
            (_, Value::Word(_)) => said.extend(
                stretch.iter().filter_map(|(at, _)| Some(Prose::verbatim(&shown(at.as_ref()?)))),
            ),
            _ => said.push(Prose::verbatim(&format!("{}–{}", shown(from), shown(to)))),
        }
    }
    Ok(Prose::join_with(&said, ", "))
}

/// ` at 8 KiB`, as an argument of a sentence; empty for a load that is not swept.
pub(super) fn at(writer: &Writer, value: Option<&Value>) -> Said {
    match value {
        Some(value) => writer.say("place-at", Args::new().name("place", &shown(value))),
        None => Ok(Prose::default()),
    }
}

/// With what engine the trials of a comparison were made, and how many requests it hands over in a
/// call; empty where the records do not say.
pub(super) fn engine(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let engines: BTreeSet<String> =
        made_with(run, comparison, ParamRole::Engine).map(ToString::to_string).collect();
    if engines.is_empty() {
        return Ok(Prose::default());
    }
    let engines: Vec<String> = engines.into_iter().collect();
    let args = Args::new().name("engine", &engines.join(" / "));
    let depths: BTreeSet<u64> =
        made_with(run, comparison, ParamRole::Depth).filter_map(Value::count).collect();
    match (depths.first(), depths.last()) {
        (Some(low), Some(high)) if low < high => {
            writer.say("engine-depths", args.name("depths", &format!("{low}–{high}")))
        }
        (Some(depth), _) => {
            let depth = u32::try_from(*depth).unwrap_or(u32::MAX);
            writer.say("engine-depth", args.count("depth", depth))
        }
        _ => writer.say("engine-only", args),
    }
}

/// Whether a record is of a visit under the load and the other levels of a comparison.
pub(super) fn is_of(record: &TrialRecord, comparison: &Comparison) -> bool {
    let (point, levels) = (&record.trial.point, &record.trial.treatment.levels);
    point.load == comparison.load
        && comparison.fixed.iter().all(|(k, v)| point.params.get(k) == Some(v))
        && comparison.stratum.iter().all(|(k, v)| levels.get(k) == Some(v))
}

/// What the valid records of a comparison say of a parameter: as it was made, else as it was asked
/// for. A visit with a fault may not have come so far as to make anything.
fn made_with<'a>(
    run: &'a Run,
    comparison: &'a Comparison,
    role: ParamRole,
) -> impl Iterator<Item = &'a Value> {
    let of = |r: &&TrialRecord| r.outcome.fault.is_none() && is_of(r, comparison);
    let key = run.plan.load(&comparison.load).and_then(|load| load.roles.get(&role));
    run.records.iter().filter(of).filter_map(move |record| {
        record.outcome.made_with.get(key?).or_else(|| record.trial.point.params.get(key?))
    })
}

/// The caption with what the figures were made with behind it.
pub(super) fn with_engine(
    writer: &Writer,
    (run, comparison): (&Run, &Comparison),
    caption: Prose,
) -> Result<Prose, ReportError> {
    Ok(Prose::join_with(&[caption, engine(writer, run, comparison)?], "; "))
}
