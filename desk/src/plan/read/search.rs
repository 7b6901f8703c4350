//! Knows the table `[load.NAME.search]`: which load is sought, over what and by what.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use super::value::{outside, quantity, value, whole};
use crate::record::{
    Better, MetricRole, MetricSpec, ParamRole, ParamSpec, SearchGoal, SearchKind, SearchLimit,
    SearchPlan, Value, WorkloadSpec,
};
use crate::search::{ladder, states_of};
use crate::unit::{Kind, Quantity, Unit};

/// Keys of every search, and those of one for a limit.
const KEYS: [&str; 6] = ["kind", "over", "metric", "from", "to", "shares"];
const LIMIT_KEYS: [&str; 3] = ["limit", "resolution", "steps"];
const GOALS_KEYS: [&str; 2] = ["goals", "steps"];
/// Fewest and most steps: the least a search can end with, and far more than halving needs.
pub(in crate::plan) const STEPS_BOUNDS: (u64, u64) = (2, 200);
const STEPS: u64 = 40;
const RESOLUTION: f64 = 0.02;
const FINEST: f64 = 0.001;
const COARSEST: f64 = 0.5;
/// Most goals of a search.
const GOALS: usize = 8;
/// Most shares of what a search found.
pub(in crate::plan) const SHARES: usize = 8;

/// The search of a load of this workload, in whose table it stands.
pub(super) fn read(
    node: &Node,
    load: &Section,
    spec: &WorkloadSpec,
) -> Result<SearchPlan, PlanError> {
    let table = node.section()?;
    let kind = kind(&table)?;
    if kind == SearchKind::States {
        return states(&table, (load, spec));
    }
    let is_limited = kind.has_limit();
    let limited = LIMIT_KEYS.into_iter().filter(|_| is_limited);
    let of_goals = GOALS_KEYS.into_iter().filter(|_| kind == SearchKind::Mlr);
    table.only(&KEYS.into_iter().chain(limited).chain(of_goals).collect::<Vec<_>>())?;
    let param = over(&table, kind, (load, spec))?;
    let metric = metric(&table, kind, spec)?;
    let [from, to] = [
        bound(&table, ("from", "write the least load to try, as in from = \"1\""), param)?,
        bound(&table, ("to", "write the largest load to try, as in to = \"64\""), param)?,
    ];
    let numbers = [&from, &to].map(|bound| bound.number().unwrap_or_default());
    if numbers[0] >= numbers[1] {
        let line = table.get("to").map_or(table.line, |node| node.line);
        let [from, to] = [&from, &to].map(ToString::to_string);
        return Err(PlanError::SearchBounds { line, from, to });
    }
    let limit = is_limited.then(|| limit(&table, (kind, param, metric), &from)).transpose()?;
    let shares = shares(&table)?;
    let further = shares.len() as u64;
    let steps = match table.get("steps") {
        Some(node) => whole(node, STEPS_BOUNDS.0 + further, STEPS_BOUNDS.1)?,
        None if is_limited => STEPS + further,
        None if kind == SearchKind::Mlr => STEPS_BOUNDS.1,
        None => ladder(numbers).len() as u64 + further,
    };
    let goals = if kind == SearchKind::Mlr { goals(&table)? } else { Vec::new() };
    let quantile = spec.quantile(metric.name);
    let (over, metric) = (param.name.into(), metric.name.into());
    let steps = u32::try_from(steps).unwrap_or(u32::MAX);
    Ok(SearchPlan { kind, over, metric, quantile, from, to, limit, goals, shares, steps })
}

/// Shares of what is found, in whole per cents, rising; none where the table names none.
fn shares(table: &Section) -> Result<Vec<Quantity>, PlanError> {
    let Some(node) = table.get("shares") else { return Ok(Vec::new()) };
    let allowed = "a list of 1 to 8 shares that rise, such as [\"50 %\", \"90 %\"]";
    let list = node.list().filter(|list| (1..=SHARES).contains(&list.len()));
    let list = list.ok_or_else(|| outside(node, "shares", allowed))?;
    let mut found: Vec<Quantity> = Vec::new();
    for node in &list {
        let share = quantity(node, Kind::Share)?;
        let per_cents = (share.value * 100.0).round();
        let is_whole = (share.value * 100.0 - per_cents).abs() < 1e-9;
        if !is_whole || !(1.0..=100.0).contains(&per_cents) {
            return Err(outside(node, &share.to_string(), "whole per cents from 1 % to 100 %"));
        }
        if found.last().is_some_and(|last| last.value >= share.value) {
            return Err(outside(node, &share.to_string(), allowed));
        }
        found.push(share);
    }
    Ok(found)
}

fn required<'s, 'd>(
    table: &'s Section<'d>,
    what: &'static str,
    remedy: &'static str,
) -> Result<&'s Node<'d>, PlanError> {
    table.get(what).ok_or(PlanError::Missing { line: table.line, what, remedy })
}

fn kind(table: &Section) -> Result<SearchKind, PlanError> {
    let node = required(table, "kind", "write goal, bisect, ramp, knee, mlr or states")?;
    let word = node.string()?;
    let found = SearchKind::ALL.iter().find(|(known, _)| *known == word);
    let known: Vec<&str> = SearchKind::ALL.iter().map(|(known, _)| *known).collect();
    found.map(|(_, kind)| *kind).ok_or_else(|| PlanError::UnknownName {
        line: node.line,
        what: "search",
        name: word.into(),
        remedy: remedy(word, &known),
    })
}

/// The parameter that is searched over: a load, which nothing else sets.
fn over(
    table: &Section,
    kind: SearchKind,
    (load, spec): (&Section, &WorkloadSpec),
) -> Result<&'static ParamSpec, PlanError> {
    let node = required(table, "over", "name a parameter of offered load, concurrency or bursts")?;
    let name = node.string()?;
    let fits = |param: &&ParamSpec| match param.role {
        Some(ParamRole::Concurrency) => kind != SearchKind::Mlr,
        Some(ParamRole::Burst) => kind == SearchKind::Bisect,
        Some(ParamRole::Offered) => kind.has_limit() || kind == SearchKind::Mlr,
        _ => false,
    };
    let Some(param) = spec.params.iter().filter(fits).find(|param| param.name == name) else {
        let known: Vec<&str> = spec.params.iter().filter(fits).map(|param| param.name).collect();
        return Err(PlanError::NotSought {
            line: node.line,
            over: name.into(),
            what: match kind {
                SearchKind::Mlr => "parameter of offered load",
                SearchKind::Bisect => "parameter of offered load, concurrency or bursts",
                _ if kind.has_limit() => "parameter of offered load or concurrency",
                _ => "parameter of concurrency",
            },
            workload: spec.name.into(),
            remedy: match known.as_slice() {
                [] => "it has none; sweep what it has in over = { ... }".into(),
                known => format!("write {}", known.join(" or ")),
            },
        });
    };
    sought_once(load, name, node.line)?;
    Ok(param)
}

/// Refuses a parameter that the load sets beside its search.
fn sought_once(load: &Section, name: &str, line: u32) -> Result<(), PlanError> {
    let swept = load.section("over")?;
    let Some(other) = load.get(name).or_else(|| swept.get(name)) else { return Ok(()) };
    Err(PlanError::SetTwice {
        line: other.line.max(line),
        key: name.into(),
        first: "the load".into(),
        second: "its search".into(),
    })
}

/// The states of a load that can be paced: what paces it has a word for as much as can be, and a
/// rate of work in its unit.
fn states(
    table: &Section,
    (load, spec): (&Section, &WorkloadSpec),
) -> Result<SearchPlan, PlanError> {
    table.only(&["kind", "metric", "shares"])?;
    let full = |param: &&ParamSpec| {
        param.role == Some(ParamRole::Offered) && param.kind.words.has(param.default)
    };
    let paced = spec.params.iter().find(full).and_then(|p| Some((p, p.kind.range?.family.base())));
    let Some((param, unit)) = paced else {
        return Err(PlanError::NotSought {
            line: table.line,
            over: SearchKind::States.word().into(),
            what: "search",
            workload: spec.name.into(),
            remedy: "its load cannot be paced; take a workload with a parameter of offered load"
                .into(),
        });
    };
    sought_once(load, param.name, table.line)?;
    let rates = || {
        let fits = |m: &&MetricSpec| m.role == MetricRole::Rate && m.unit == unit;
        spec.metrics.iter().filter(fits)
    };
    let known: Vec<&str> = rates().map(|metric| metric.name).collect();
    let name = match table.get("metric") {
        Some(node) => node.string()?,
        None => known.first().copied().unwrap_or_default(),
    };
    if !known.contains(&name) {
        let line = table.get("metric").map_or(table.line, |node| node.line);
        let (what, remedy) = ("rate in the unit of the offered load", remedy(name, &known));
        return Err(PlanError::UnknownName { line, what, name: name.into(), remedy });
    }
    let mut search = SearchPlan {
        kind: SearchKind::States,
        over: param.name.into(),
        metric: name.into(),
        quantile: None,
        from: Value::Quantity(Quantity::new(0.0, unit)),
        to: Value::Word(param.default.into()),
        limit: None,
        goals: Vec::new(),
        shares: shares(table)?,
        steps: 0,
    };
    search.steps = u32::try_from(states_of(&search).len()).unwrap_or(u32::MAX);
    Ok(search)
}

/// The metric that is searched by: for a peak or a knee a rate, the first if none is named.
fn metric(
    table: &Section,
    kind: SearchKind,
    spec: &WorkloadSpec,
) -> Result<&'static MetricSpec, PlanError> {
    let is_limited = kind.has_limit() || kind == SearchKind::Mlr;
    let fits = |metric: &&MetricSpec| match kind {
        SearchKind::Mlr => metric.unit == Unit::Share && metric.better == Better::Lower,
        _ => is_limited || metric.role == MetricRole::Rate,
    };
    let missing = PlanError::Missing {
        line: table.line,
        what: "metric",
        remedy: "name the metric that has the limit",
    };
    let Some(node) = table.get("metric") else {
        return spec.metrics.iter().find(|m| !is_limited && fits(m)).ok_or(missing);
    };
    let name = node.string()?;
    spec.metrics.iter().filter(fits).find(|metric| metric.name == name).ok_or_else(|| {
        let known: Vec<&str> = spec.metrics.iter().filter(fits).map(|m| m.name).collect();
        let what = match kind {
            SearchKind::Mlr => "share of loss among the metrics",
            _ if is_limited => "metric",
            _ => "rate among the metrics",
        };
        let remedy = remedy(name, &known);
        PlanError::UnknownName { line: node.line, what, name: name.into(), remedy }
    })
}

fn bound(
    table: &Section,
    (key, remedy): (&'static str, &'static str),
    param: &ParamSpec,
) -> Result<Value, PlanError> {
    let node = required(table, key, remedy)?;
    match value(node, param.kind)? {
        Value::Word(word) => Err(outside(node, &word, "a number, between which loads are sought")),
        found if found.number() <= Some(0.0) => {
            Err(outside(node, &found.to_string(), "a load above 0"))
        }
        found => Ok(found),
    }
}

/// The goals of a multiple loss ratio search, at least one; what is left out is as in RFC 9971's
/// compliance example: half of 21 s may be bad, in windows of 1 s, the bounds within 0.5 %.
fn goals(table: &Section) -> Result<Vec<SearchGoal>, PlanError> {
    let node = required(table, "goals", "write goals = [{ loss = \"0 %\" }]")?;
    let list = node.list().filter(|list| (1..=GOALS).contains(&list.len()));
    let Some(list) = list else { return Err(outside(node, "goals", "a list of 1 to 8 tables")) };
    list.iter().map(goal).collect()
}

fn goal(node: &Node) -> Result<SearchGoal, PlanError> {
    let table = node.section()?;
    table.only(&["loss", "exceed", "initial", "final", "sum", "width", "preceding"])?;
    let share = |key: &str, usual: f64, [least, most]: [f64; 2]| match table.get(key) {
        None => Ok(Quantity::new(usual, Unit::Share)),
        Some(node) => {
            let found = quantity(node, Kind::Share)?;
            let allowed = format!("a share from {least} to {most}");
            let fits = (least..=most).contains(&found.value);
            if fits { Ok(found) } else { Err(outside(node, &found.to_string(), &allowed)) }
        }
    };
    let seconds = |key: &str, usual: f64, least: f64| match table.get(key) {
        None => Ok(Quantity::seconds(usual.max(least))),
        Some(node) => {
            let found = quantity(node, Kind::Duration)?;
            let allowed = format!("a duration from {} to 1 h", Quantity::seconds(least));
            let fits = (least..=3600.0).contains(&found.value);
            if fits { Ok(found) } else { Err(outside(node, &found.to_string(), &allowed)) }
        }
    };
    let initial = seconds("initial", 1.0, 0.05)?;
    let full = seconds("final", 1.0, initial.value)?;
    let preceding = table.get("preceding").map_or(Ok(2), |node| whole(node, 0, 8))?;
    Ok(SearchGoal {
        loss: share("loss", 0.0, [0.0, 0.99])?,
        exceed: share("exceed", 0.5, [0.0, 0.99])?,
        initial,
        full,
        sum: seconds("sum", 21.0, full.value)?,
        width: share("width", 0.005, [FINEST, COARSEST])?,
        preceding: u32::try_from(preceding).unwrap_or_default(),
    })
}

fn limit(
    table: &Section,
    (kind, param, metric): (SearchKind, &ParamSpec, &MetricSpec),
    from: &Value,
) -> Result<SearchLimit, PlanError> {
    let node = required(table, "limit", "write the last good figure, as in limit = \"500 us\"")?;
    let text = node.written("one value with its unit, in quotes")?;
    let of_load = metric.unit != Unit::Share && text.trim_end().ends_with('%');
    let at = if of_load {
        let unit = from.quantity().map(|quantity| quantity.unit);
        let offered = param.role == Some(ParamRole::Offered) && unit == Some(metric.unit);
        if kind != SearchKind::Bisect || !offered {
            let allowed = format!(
                "a limit in the unit of {}; a share of the offered load is for kind = \
                 \"bisect\" over a load in the same unit",
                metric.name
            );
            return Err(outside(node, text, &allowed));
        }
        quantity(node, Kind::Share)?
    } else {
        let Some(family) = family(metric.unit) else {
            let node = table.get("metric").unwrap_or(node);
            let allowed = "a metric that is a time, bit/s, op/s, bytes, a share or a number";
            return Err(outside(node, metric.name, allowed));
        };
        quantity(node, family)?
    };
    if kind == SearchKind::Goal && at.value <= 0.0 {
        return Err(outside(node, text, "a limit above 0, or kind = \"bisect\""));
    }
    let resolution = table.get("resolution").map(|node| {
        let found = quantity(node, Kind::Share)?;
        match (FINEST..=COARSEST).contains(&found.value) {
            true => Ok(found),
            false => Err(outside(node, &found.to_string(), "a share from 0.1 % to 50 %")),
        }
    });
    let usual = || Quantity::new(RESOLUTION, Unit::Share);
    let resolution = resolution.transpose()?.unwrap_or_else(usual);
    Ok(SearchLimit { at, better: metric.better, of_load, resolution })
}

/// How a figure in this unit is written; none where a plan knows no way.
const fn family(unit: Unit) -> Option<Kind> {
    match unit {
        Unit::Second => Some(Kind::Duration),
        Unit::BitPerSecond => Some(Kind::Rate),
        Unit::OperationPerSecond => Some(Kind::Operations),
        Unit::Byte => Some(Kind::Size),
        Unit::Share => Some(Kind::Share),
        Unit::Count => Some(Kind::Count),
        _ => None,
    }
}
