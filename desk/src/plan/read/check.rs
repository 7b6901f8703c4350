//! Knows what hangs on several places of a plan at once: contradictions, size, arithmetic.

use super::error::PlanError;
use super::node::Lines;
use crate::plan::expand;
use crate::record::{
    Direction, FactorPlan, LinkPlan, LoadPlan, ParamRole, Plan, Role, Settings, Value,
};
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// Most trials of a plan: at 0.5 s a trial 14 hours.
pub const TRIALS: u64 = 100_000;
/// Most connections of a lab: above, file descriptors and ports of one machine run out.
const CONNECTIONS: u64 = 1024;

pub(super) fn check(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    set_once(plan, lines)?;
    few_enough(plan, lines)?;
    streams(plan, lines)?;
    taking_part(plan, lines)?;
    client_rate(plan, lines)?;
    between(plan, lines)?;
    offloads(plan, lines)?;
    sixth(plan, lines)?;
    tagged(plan, lines)?;
    online(plan, lines)
}

/// The same of a plan of a record that has [`few_enough`] trials, as far as it bounds what is
/// built: there every default is written out, and what is taken down may be a link.
pub(super) fn sizes(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    streams(plan, lines)?;
    offloads(plan, lines)
}

/// What a factor sets, key by key.
fn keys(factor: &FactorPlan) -> impl Iterator<Item = &String> {
    factor.levels.iter().take(1).flat_map(|level| level.settings.keys())
}

fn path_factor(plan: &Plan) -> Option<&FactorPlan> {
    plan.factors.iter().find(|factor| keys(factor).any(|key| key == "path"))
}

/// Refuses a key that two factors, or a factor and the thing it acts on, both set.
fn set_once(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let mut owners: BTreeMap<&str, String> = BTreeMap::new();
    if path_factor(plan).is_some() {
        for link in &plan.lab.links {
            for key in link.settings.keys() {
                owners.insert(key, format!("link '{}'", link.name));
            }
        }
    }
    for factor in &plan.factors {
        for key in keys(factor) {
            let second = format!("factor '{}'", factor.name);
            if let Some(first) = owners.insert(key, second.clone()) {
                let line = lines.of(&format!("factors.{}.levels", factor.name));
                return Err(PlanError::SetTwice { line, key: key.clone(), first, second });
            }
            for load in &plan.loads {
                if let Some(line) = written_in(load, key, lines) {
                    let (first, key) = (format!("load '{}'", load.name), key.clone());
                    return Err(PlanError::SetTwice { line, key, first, second });
                }
            }
        }
    }
    Ok(())
}

/// The line where a load sets a parameter itself, fixed, swept or sought; a default does not count.
fn written_in(load: &LoadPlan, key: &str, lines: &Lines) -> Option<u32> {
    let at = format!("load.{}", load.name);
    let sought = load.search.as_ref().filter(|search| search.over == key);
    let sought = sought.map(|_| format!("{at}.search.over"));
    let paths = [format!("{at}.{key}"), format!("{at}.over.{key}")];
    paths.iter().chain(&sought).find_map(|path| lines.exact(path))
}

pub(super) fn few_enough(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let product = |lengths: &mut dyn Iterator<Item = usize>| {
        lengths.fold(1_u64, |product, n| product.saturating_mul(n as u64))
    };
    let point_count = |load: &LoadPlan| {
        let points = product(&mut load.over.iter().map(|(_, v)| v.len()));
        points.saturating_mul(load.most_steps().into())
    };
    let points = plan.loads.iter().map(point_count).fold(0, u64::saturating_add);
    let treatments = product(&mut plan.factors.iter().map(|factor| factor.levels.len()));
    let visits = u64::from(plan.method.blocks) + u64::from(plan.method.dry);
    // Every treatment is met in one boot of each round.
    let visits = visits * u64::from(plan.method.boots.max(1));
    let trials = points.saturating_mul(treatments).saturating_mul(visits);
    if trials <= TRIALS {
        return Ok(());
    }
    let line = lines.of("method.blocks");
    Err(PlanError::TooManyTrials { line, points, treatments, visits, trials })
}

fn streams(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    for load in plan.loads.iter().filter(|load| !load.alone) {
        let Some(name) = load.roles.get(&ParamRole::Concurrency) else { continue };
        let all = load.values(ParamRole::Concurrency);
        let streams = all.filter_map(Value::count).max().unwrap_or(1);
        let each_way = if duplex(load) { 2 } else { 1 };
        let together = streams.saturating_mul(u64::from(plan.lab.clients) * each_way);
        if together > CONNECTIONS {
            let at = format!("load.{}", load.name);
            return Err(PlanError::TooManyStreams {
                line: written_in(load, name, lines).unwrap_or_else(|| lines.of(&at)),
                streams,
                clients: plan.lab.clients,
                together,
            });
        }
    }
    Ok(())
}

/// Refuses more clients than the lab has.
fn taking_part(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    for load in &plan.loads {
        let Some(name) = load.roles.get(&ParamRole::Clients) else { continue };
        let levels = plan.factors.iter().flat_map(|factor| &factor.levels);
        let switched = levels.filter_map(|level| level.settings.get(name));
        let all = load.values(ParamRole::Clients).chain(switched);
        let most = all.filter_map(Value::count).max().unwrap_or(0);
        if most > u64::from(plan.lab.clients) {
            let at = format!("load.{}", load.name);
            return Err(PlanError::TooFewClients {
                line: written_in(load, name, lines).unwrap_or_else(|| lines.of(&at)),
                load: load.name.clone(),
                most,
                clients: plan.lab.clients,
            });
        }
    }
    Ok(())
}

/// Refuses a load between clients where there is one.
fn between(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let goes = |load: &&LoadPlan| {
        let name = load.roles.get(&ParamRole::Direction);
        let levels = plan.factors.iter().flat_map(|factor| &factor.levels);
        let switched = levels.filter_map(|level| level.settings.get(name?));
        let mut ways = load.values(ParamRole::Direction).chain(switched);
        ways.any(|way| way.word().and_then(Direction::of) == Some(Direction::Between))
    };
    let Some(load) = plan.loads.iter().find(goes).filter(|_| plan.lab.clients < 2) else {
        return Ok(());
    };
    let at = format!("load.{}", load.name);
    let name = load.roles.get(&ParamRole::Direction);
    let line = name.and_then(|name| written_in(load, name, lines)).unwrap_or_else(|| lines.of(&at));
    Err(PlanError::NothingBetween { line, load: load.name.clone(), clients: plan.lab.clients })
}

/// Whether a load has streams in both directions at once, which are connections of their own.
fn duplex(load: &LoadPlan) -> bool {
    let both = |value: &Value| value.word().and_then(Direction::of) == Some(Direction::Duplex);
    load.values(ParamRole::Direction).any(both)
}

/// Refuses clients that together send or take less than a link carries.
fn client_rate(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let Some(each) = plan.lab.client_rate else { return Ok(()) };
    let together = each.value * f64::from(plan.lab.clients);
    let of_links =
        plan.lab.links.iter().map(|link| (format!("link '{}'", link.name), &link.settings));
    let levels = plan.factors.iter().flat_map(|factor| {
        let name = move |level: &str| format!("level '{level}' of factor '{}'", factor.name);
        factor.levels.iter().map(move |level| (name(&level.name), &level.settings))
    });
    for (link, settings) in of_links.chain(levels) {
        let Some(rate) = settings.get("rate").and_then(Value::quantity) else { continue };
        if together >= rate.value {
            continue;
        }
        let per_second = |value| Quantity::new(value, Unit::BitPerSecond);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small and > 0"
        )]
        let needed = (rate.value / each.value).ceil() as u32;
        return Err(PlanError::SlowClients {
            line: lines.of("lab.client_rate"),
            clients: plan.lab.clients,
            client_rate: each,
            together: per_second(together),
            rate,
            link,
            needed,
            needed_rate: per_second(rate.value / f64::from(plan.lab.clients)),
        });
    }
    Ok(())
}

/// Refuses `checksum = off` with `tso = on` in what any treatment finds on a link that it uses.
fn offloads(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let (_, treatments) = expand(plan);
    for (treatment, settings) in &treatments {
        for link in plan.lab.links.iter().filter(|link| carries(link, settings)) {
            let mut found = link.settings.clone();
            found.extend(settings.clone());
            let is = |key, word| found.get(key).and_then(Value::word) == Some(word);
            if is("checksum", "off") && is("tso", "on") {
                let levels: Vec<String> =
                    treatment.levels.iter().map(|(f, level)| format!(", {f} {level}")).collect();
                return Err(PlanError::TsoWithoutChecksum {
                    line: checksum_line(plan, &link.name, lines),
                    place: format!("link {}{}", link.name, levels.concat()),
                });
            }
        }
    }
    Ok(())
}

/// Least MTU of a link that carries IPv6, bytes (RFC 8200, 5).
const IPV6_MTU: f64 = 1280.0;

/// Refuses IPv6 in treatments where a link cannot carry it, and to servers that are named by an
/// address of IPv4.
fn sixth(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let (_, treatments) = expand(plan);
    for (_, settings) in treatments.iter().filter(|(_, all)| plan.ip_version(all) == 6) {
        let line = set_at(plan, "ip_version", lines);
        for link in &plan.lab.links {
            let mtu = settings.get("mtu").or_else(|| link.settings.get("mtu"));
            let Some(mtu) = mtu.and_then(Value::quantity) else { continue };
            if mtu.value < IPV6_MTU {
                return Err(PlanError::SmallMtu { line, link: link.name.clone(), mtu });
            }
        }
        if let Some(server) = plan.externals().next() {
            return Err(PlanError::ServerOfIpv4 { line, server: server.into() });
        }
    }
    Ok(())
}

/// Refuses frames with the tag of a VLAN where a host routes, which has no adapter in that VLAN, or
/// carries them by the addresses that it knows.
fn tagged(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let takes_none = |role| matches!(role, Role::Device | Role::Relay);
    let Some(host) = plan.lab.hosts.iter().find(|host| takes_none(host.role)) else {
        return Ok(());
    };
    for load in &plan.loads {
        let Some(param) = load.roles.get(&ParamRole::Vlan) else { continue };
        let mut all = load.values_and_levels(ParamRole::Vlan, &plan.factors);
        let Some(vlan) = all.find_map(Value::count) else { continue };
        let line = written_in(load, param, lines).unwrap_or_else(|| set_at(plan, param, lines));
        let (role, host) = (host.role.word(), host.name.clone());
        return Err(PlanError::TagNotTaken { line, param: param.clone(), vlan, role, host });
    }
    Ok(())
}

/// Refuses treatments in which two settings disagree on which CPUs there are.
fn online(plan: &Plan, lines: &Lines) -> Result<(), PlanError> {
    let (_, treatments) = expand(plan);
    for (_, settings) in &treatments {
        let mut found = plan.lab.settings.clone();
        found.extend(settings.clone());
        let Some(online) = found.get("online_cpus").and_then(Value::count) else { continue };
        let line = set_at(plan, "online_cpus", lines);
        if let Some(smt) = found.get("smt") {
            let what = format!("online_cpus = {online} and smt = {smt}");
            let why = "both take CPUs offline, and the later one decides";
            return Err(PlanError::NoCpus { line, what, why, remedy: "leave one of them out" });
        }
        let Some(cpus) = found.get("cpus") else { continue };
        let beyond = |word: &str| {
            let numbers = word.split([',', '-']).filter_map(|number| number.parse().ok());
            numbers.max().is_some_and(|last: u64| last >= online)
        };
        let most = cpus.count().is_some_and(|count| count > online);
        if most || cpus.word().is_some_and(beyond) {
            let what = format!("online_cpus = {online} and cpus = {cpus}");
            let why = "the system under test would be held to CPUs that are offline";
            let remedy = "raise online_cpus, or name CPUs below it";
            return Err(PlanError::NoCpus { line, what, why, remedy });
        }
    }
    Ok(())
}

/// The line where a key is set, by a factor or for the whole run.
fn set_at(plan: &Plan, key: &str, lines: &Lines) -> u32 {
    let factor = plan.factors.iter().find(|factor| keys(factor).any(|own| own == key));
    factor.map_or_else(
        || lines.of(&format!("lab.{key}")),
        |factor| lines.of(&format!("factors.{}.levels", factor.name)),
    )
}

fn carries(link: &LinkPlan, settings: &Settings) -> bool {
    settings.get("path").and_then(Value::word).is_none_or(|path| path == link.name)
}

fn checksum_line(plan: &Plan, link: &str, lines: &Lines) -> u32 {
    let setting = plan.factors.iter().find(|factor| keys(factor).any(|key| key == "checksum"));
    setting.map_or_else(
        || lines.of(&format!("lab.links.{link}.checksum")),
        |factor| lines.of(&format!("factors.{}.levels", factor.name)),
    )
}
