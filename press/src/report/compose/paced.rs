//! Knows how the power of a load is shown by its state: idle, quarters of the largest load, full.
//!
//! Never: watts that nobody measured or entered.

use super::measured::value;
use super::names::level_name;
use super::ruling::shown;
use super::{Nodes, Part, Said, Writer};
use crate::report::document::{Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Value;
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::{PacedPower, PacedState, PowerSource};

/// A table of all loads with states, and what each takes when idle; nothing without such a load.
pub(super) fn section(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let all = &part.analysis.paced;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let told: Vec<&PacedPower> = all.iter().filter(|one| one.source.is_some()).collect();
    let title = writer.label("paced-title")?;
    let id = format!("cost-states-{}", part.run.id);
    if told.is_empty() {
        let body = vec![Node::Paragraph(writer.label("paced-none")?)];
        return Ok(vec![Node::section(id, title, body)]);
    }
    let columns = writer.columns(&[
        ("paced-load", false),
        ("paced-state", false),
        ("paced-work", true),
        ("paced-power", true),
        ("paced-each", true),
    ])?;
    let (mut rows, mut idle) = (Vec::new(), Vec::new());
    for one in told {
        let name = name(part, one);
        for state in &one.states {
            rows.push(row(writer, (&name, one), state)?);
        }
        if let Some(share) = &one.idle_share {
            let args = Args::new().prose("name", &name);
            let args = args.prose("share", &value(writer, share)?);
            idle.push(writer.say("paced-idle-share", args)?);
        }
    }
    let caption = writer.label("paced-caption")?;
    let confidence = Quantity::new(1.0 - part.run.plan.method.alpha(), Unit::Share);
    let notes = vec![writer.say("paced-note", Args::new().quantity("level", confidence))?];
    let mut body = vec![Node::Table(Table { notes, ..writer.table(&caption, columns, rows)? })];
    if !idle.is_empty() {
        body.push(Node::List(idle));
    }
    Ok(vec![Node::section(id, title, body)])
}

/// The load with its levels and what else it sweeps: `net, onboard, 64 B`.
fn name(part: &Part<'_>, one: &PacedPower) -> Prose {
    let plan = &part.run.plan;
    let load = if plan.loads.len() > 1 { one.load.as_str() } else { "" };
    let levels = one.levels.iter().map(|(factor, level)| level_name(plan, factor, level));
    let fixed = one.fixed.values().map(shown);
    let mut words: Vec<String> = vec![load.to_owned()];
    words.extend(levels.chain(fixed));
    if words.iter().all(String::is_empty) {
        words = vec![one.load.clone()];
    }
    let words: Vec<Prose> = words.iter().map(|word| Prose::verbatim(word)).collect();
    Prose::join_with(&words, ", ")
}

fn row(
    writer: &Writer,
    (name, one): (&Prose, &PacedPower),
    state: &PacedState,
) -> Result<Vec<Prose>, ReportError> {
    let none = || Prose::none();
    let figure = |estimate: Option<&Estimate>| match estimate {
        Some(estimate) => value(writer, estimate),
        None => Ok(none()),
    };
    let entered = one.source == Some(PowerSource::Entered);
    let watts = match &state.watts {
        Some(watts) if entered => writer.say("paced-entered", Args::new().estimate("watts", watts)),
        Some(watts) => value(writer, watts),
        None if entered => writer.label("not-entered"),
        None => writer.label("not-measured"),
    };
    let each = match &state.per_watt {
        Some(each) => {
            writer.say("paced-per-watt", Args::new().prose("figure", &value(writer, each)?))
        }
        None => Ok(none()),
    };
    Ok(vec![
        name.clone(),
        state_name(writer, &state.at)?,
        figure(state.work.as_ref())?,
        watts?,
        each?,
    ])
}

/// `idle`, `25 %`, or the offered load as the plan writes it.
fn state_name(writer: &Writer, at: &Value) -> Said {
    match at.quantity() {
        Some(share) if share.unit == Unit::Share && share.value == 0.0 => {
            writer.label("paced-idle")
        }
        _ => Ok(Prose::verbatim(&shown(at))),
    }
}
