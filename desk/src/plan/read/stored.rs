//! Knows how a plan that comes back in a record is held to the rules of one in a file.
//!
//! It is written as a person would write it and read by the same functions, so that no bound stands
//! in two places. A factor with one level (held or told), two equal levels (of `aa`) and any name
//! of a level are taken: a run makes these itself. Never: whether the machine can carry the plan
//! out.

use super::error::PlanError;
use super::factor::{self, Known};
use super::node::{Lines, Node, Section};
use super::value::outside;
use super::{check, environment, lab, load, method, node, published};
use crate::plan::Catalogue;
use crate::record::{
    BoxPlan, FactorPlan, LabPlan, LinkPlan, LoadPlan, Method, Place, Plan, SearchGoal, SearchKind,
    SearchPlan, Settings, Value,
};
use std::collections::BTreeSet;
use thiserror::Error;

/// Why a plan of a record is refused: the value and what is allowed.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{}", without_line(.0))]
pub struct StoredError(pub PlanError);

impl StoredError {
    /// Whether a workload, a parameter or a factor is one that this build does not have, as in
    /// records of another version.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        matches!(self.0, PlanError::UnknownName { .. } | PlanError::UnknownKey { .. })
    }
}

/// The line is one of a text that nobody has seen.
fn without_line(error: &PlanError) -> String {
    let text = error.to_string();
    match text.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((_, rest)) => rest.to_owned(),
        None => text,
    }
}

/// Holds a plan of a record to names, bounds and size of one that [`super::read`] takes; facts and
/// the primary comparison, which nothing is built from, are not looked at.
///
/// # Errors
/// The first thing that a file could not say either, with the value and the remedy.
pub fn recheck(plan: &Plan, catalogue: &Catalogue) -> Result<(), StoredError> {
    reread(plan, catalogue).map_err(StoredError)
}

fn reread(plan: &Plan, catalogue: &Catalogue) -> Result<(), PlanError> {
    check::few_enough(plan, &Lines::default())?;
    let text = written(plan);
    let table = node::parse(&text)?;
    let root = Section::new(&text, table.get_ref(), 1);
    let (loads, specs) = load::read(&root.section("load")?, catalogue)?;
    let alone = specs.iter().all(|spec| spec.place == Place::Machine);
    let lab = lab::read(&root.section("lab")?, catalogue, alone)?;
    same_loads(&root, plan, &loads)?;
    same_lab(&root, &plan.lab, &lab)?;
    let known = Known { lab: &lab, loads: &loads, specs: &specs, catalogue };
    for (node, stored) in root.section("factors")?.entries.iter().zip(&plan.factors) {
        factor::stored(node, stored, &known)?;
    }
    method::read(&root.section("method")?, &plan.factors, &loads, (&specs, plan.method.seed))?;
    root.get("published").map(published).transpose()?;
    environment::read(&root.section("environment")?)?;
    check::sizes(plan, &Lines::new(&root))
}

/// Parameters that a newer build has added are its defaults; all others are read as they were.
fn same_loads(root: &Section, plan: &Plan, read: &[LoadPlan]) -> Result<(), PlanError> {
    let nodes = root.section("load")?.entries;
    for ((node, stored), read) in nodes.iter().zip(&plan.loads).zip(read) {
        same(node, &stored.fixed, &read.fixed)?;
        if stored.over != read.over {
            let words = |values: &[Value]| {
                values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            };
            let swept = stored.over.iter().map(|(name, all)| format!("{name} {}", words(all)));
            let swept = swept.collect::<Vec<_>>().join(", ");
            return Err(outside(node, &swept, AS_PLAN));
        }
        if stored.search.as_ref().map(bounds) != read.search.as_ref().map(bounds) {
            return Err(outside(node, "search", AS_PLAN));
        }
        if stored.alone != read.alone {
            return Err(outside(node, &format!("alone = {}", stored.alone), AS_WORKLOAD));
        }
        if stored.roles != read.roles {
            return Err(outside(node, &format!("roles = {:?}", stored.roles), AS_WORKLOAD));
        }
        if stored.derives != read.derives {
            return Err(outside(node, &format!("derives = {:?}", stored.derives), AS_WORKLOAD));
        }
    }
    Ok(())
}

/// All of a search but shares, which a text may hold to one digit less.
fn bounds(search: &SearchPlan) -> impl PartialEq + '_ {
    let limit = search.limit.as_ref().map(|limit| (limit.at.unit, limit.better, limit.of_load));
    let SearchPlan { kind, over, metric, quantile, from, to, goals, shares, steps, .. } = search;
    (*kind, over, (metric, quantile), from, to, (goals.len(), shares.len(), *steps), limit)
}

const AS_WORKLOAD: &str = "what its workload says";

fn same_lab(root: &Section, stored: &LabPlan, read: &LabPlan) -> Result<(), PlanError> {
    let Some(node) = root.get("lab") else { return Ok(()) };
    same(node, &stored.settings, &read.settings)?;
    for (one, other) in stored.links.iter().zip(&read.links) {
        same(node, &one.settings, &other.settings)?;
    }
    let joined = |lab: &LabPlan| -> Vec<_> {
        lab.links.iter().map(|link| (link.members.clone(), link.kind)).collect()
    };
    let counts = stored.clients == read.clients && stored.links.len() == read.links.len();
    if counts
        && joined(stored) == joined(read)
        && (&stored.hosts, &stored.boxes) == (&read.hosts, &read.boxes)
    {
        return Ok(());
    }
    let found = format!("{} clients, {} links", stored.clients, stored.links.len());
    Err(outside(node, &found, AS_PLAN))
}

/// Refuses what does not read back as it was, such as a word in place of a number.
fn same(node: &Node, stored: &Settings, read: &Settings) -> Result<(), PlanError> {
    match stored.iter().find(|(key, value)| read.get(*key) != Some(value)) {
        None => Ok(()),
        Some((key, value)) => Err(outside(node, &format!("{key} = {value}"), AS_PLAN)),
    }
}

/// What is allowed where a value has the wrong type.
pub(super) const AS_PLAN: &str = "the same values and units as in a plan file";

fn written(plan: &Plan) -> String {
    let mut text = String::new();
    if let Some(of) = &plan.published {
        text += &format!("published = {}\n", quoted(of));
    }
    lab_of(&plan.lab, &mut text);
    for load in &plan.loads {
        load_of(load, &mut text);
    }
    for factor in &plan.factors {
        factor_of(factor, &mut text);
    }
    method_of(&plan.method, &mut text);
    text += "[environment]\n";
    for (key, class) in &plan.reclass {
        let word = format!("{class:?}").to_lowercase();
        text += &format!("{} = {}\n", quoted(key), quoted(&word));
    }
    text
}

fn lab_of(lab: &LabPlan, text: &mut String) {
    *text += "[lab]\n";
    let any = lab.clients > 0 || lab.client_rate.is_some() || !lab.links.is_empty();
    if any {
        *text += &format!("clients = {}\n", lab.clients);
    }
    if let Some(rate) = lab.client_rate {
        *text += &format!("client_rate = {}\n", quoted(&rate.exact()));
    }
    settings_of(&lab.settings, text);
    for link in &lab.links {
        *text += &format!("[lab.links.{}]\n", quoted(&link.name));
        settings_of(&link.settings, text);
        if let Some(kind) = link.kind {
            *text += &format!("kind = {}\n", quoted(kind.word()));
        }
        if !link.members.is_empty() {
            let members: Vec<String> = link.members.iter().map(|name| quoted(name)).collect();
            *text += &format!("members = [{}]\n", members.join(", "));
        }
        adapters_of(link, text);
    }
    for host in &lab.hosts {
        let role = quoted(host.role.word());
        *text += &format!("[lab.hosts.{}]\nrole = {role}\n", quoted(&host.name));
    }
    for one in &lab.boxes {
        box_of(one, text);
    }
}

fn box_of(one: &BoxPlan, text: &mut String) {
    *text += &format!("[lab.boxes.{}]\nlink = {}\n", quoted(&one.name), quoted(&one.link));
    if let Some(agent) = &one.snmp {
        let ports: Vec<String> = one.ports.iter().map(|port| quoted(port)).collect();
        *text += &format!("snmp = {}\nports = [{}]\n", quoted(agent), ports.join(", "));
    }
}

/// One adapter a member. Those of several machines may have one name: a plan file, which is of one
/// machine, then has them with that of the machine.
fn adapters_of(link: &LinkPlan, text: &mut String) {
    let mut written: BTreeSet<&str> = BTreeSet::new();
    for (key, adapter) in &link.adapters {
        let member = key.split_once('@').map_or(key.as_str(), |(member, _)| member);
        if written.insert(member) {
            let adapter = quoted(&adapter.replacen('/', ".", 1));
            *text += &format!("adapters.{} = {adapter}\n", quoted(member));
        }
    }
}

fn load_of(load: &LoadPlan, text: &mut String) {
    let name = quoted(&load.name);
    *text += &format!("[load.{name}]\nworkload = {}\n", quoted(&load.workload));
    if let Some(primary) = &load.primary {
        *text += &format!("primary = {}\n", quoted(primary));
    }
    settings_of(&load.fixed, text);
    *text += &format!("[load.{name}.over]\n");
    for (key, values) in &load.over {
        let values: Vec<String> = values.iter().map(value).collect();
        *text += &format!("{} = [{}]\n", quoted(key), values.join(", "));
    }
    let Some(search) = &load.search else { return };
    let SearchPlan { kind, over, metric, from, to, limit, goals, shares, steps, .. } = search;
    let (kind_word, metric) = (quoted(kind.word()), quoted(metric));
    *text += &format!("[load.{name}.search]\nkind = {kind_word}\nmetric = {metric}\n");
    if !shares.is_empty() {
        let shares: Vec<String> = shares.iter().map(|share| quoted(&share.exact())).collect();
        *text += &format!("shares = [{}]\n", shares.join(", "));
    }
    if *kind == SearchKind::States {
        return;
    }
    let [from, to] = [from, to].map(value);
    *text += &format!("over = {}\nfrom = {from}\nto = {to}\n", quoted(over));
    if !goals.is_empty() {
        let goals: Vec<String> = goals.iter().map(goal_of).collect();
        *text += &format!("goals = [{}]\nsteps = {steps}\n", goals.join(", "));
    }
    if let Some(limit) = limit {
        let [at, resolution] = [limit.at, limit.resolution].map(|share| quoted(&share.exact()));
        *text += &format!("limit = {at}\nresolution = {resolution}\nsteps = {steps}\n");
    }
}

fn goal_of(goal: &SearchGoal) -> String {
    let SearchGoal { loss, exceed, initial, full, sum, width, preceding } = goal;
    let keys = [
        ("loss", loss),
        ("exceed", exceed),
        ("initial", initial),
        ("final", full),
        ("sum", sum),
        ("width", width),
    ];
    let told = keys.map(|(key, value)| format!("{key} = {}", quoted(&value.exact())));
    format!("{{ {}, preceding = {preceding} }}", told.join(", "))
}

fn factor_of(factor: &FactorPlan, text: &mut String) {
    let name = quoted(&factor.name);
    *text += &format!("[factors.{name}]\n");
    for (at, level) in factor.levels.iter().enumerate() {
        *text += &format!("[factors.{name}.level{at}]\n");
        settings_of(&level.settings, text);
    }
}

fn method_of(method: &Method, text: &mut String) {
    let mut say = |key: &str, value: String| *text += &format!("{key} = {value}\n");
    say("[method]\nblocks", method.blocks.to_string());
    say("dry", method.dry.to_string());
    let times = [("settle", method.settle), ("settle_max", method.settle_max)];
    let times = times.into_iter().chain([("window", method.window), ("margin", method.margin)]);
    let boot = method.boot_time.filter(|_| method.boots > 0).map(|time| ("boot_time", time));
    for (key, quantity) in times.chain(boot) {
        say(key, quoted(&quantity.exact()));
    }
    say("seed", quoted(&method.seed.to_string()));
    let words = [("primary", &method.primary), ("compare", &method.compare)];
    let words = words.into_iter().filter(|(_, word)| !word.is_empty());
    for (key, word) in words.chain(method.curve.as_ref().map(|curve| ("curve", curve))) {
        say(key, quoted(word));
    }
    // Of the looks of a plan a quick run may have left the last one alone.
    if method.looks.len() > 1 {
        say("looks", format!("{:?}", method.looks));
    }
    if method.boots > 0 {
        say("boots", method.boots.to_string());
    }
}

fn settings_of(settings: &Settings, text: &mut String) {
    for (key, one) in settings {
        *text += &format!("{} = {}\n", quoted(key), value(one));
    }
}

fn value(value: &Value) -> String {
    quoted(&value.exact())
}

/// A text as TOML reads it; a string of JSON is one of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
