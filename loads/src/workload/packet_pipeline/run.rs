//! Knows which device the parameters mean, and puts one on each CPU.
//!
//! Must not know what its figures mean.

use crate::engine::alone::{Order, Ready, nominal_threads, threads_of};
use crate::engine::packet::acl::Acl;
use crate::engine::packet::device::{Device, Forwarding, Tables};
use crate::engine::packet::flows::{Meeting, flows};
use crate::engine::packet::line::{Line, Trace};
use crate::engine::packet::lpm::Lpm;
use crate::engine::packet::rules::{self, Mix, Rule};
use crate::engine::packet::sessions::{self, Sessions};
use crate::engine::packet::source_file::content;
use crate::engine::packet::subscribers::Subscribers;
use crate::engine::packet::traffic::spread;
use crate::engine::packet::tuple::Tuple;
use crate::engine::packet::wanted::Wanted;
use desk::record::Value;
use rig::metal::{Cpus, Hot, Made, Member, Unready};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Work of a thread in a simulated lab, frames a second.
const NOMINAL: f64 = 2e7;
/// Flows of which is told which rules they match: a cost says little without it.
const LOOKED_AT: usize = 4096;
/// Parameters that stay as they were asked for.
const ASKED: [&str; 15] = [
    "access_list",
    "batch",
    "flows",
    "forwarding",
    "nat",
    "output_ports",
    "placement",
    "policers",
    "port_queues",
    "routes",
    "rules",
    "queue_order",
    "subscriber_direction",
    "subscribers",
    "traffic",
];

/// Makes the load ready.
///
/// # Errors
/// More threads than CPUs, rules that cannot be read or are too many for the classifier, or rules
/// and routes that leave fewer flows than asked for.
pub(super) fn ready(order: &Order) -> Result<Ready, Unready> {
    let cpus = Cpus::read(Path::new("/"));
    let threads = threads_of(order, &cpus)?;
    let (trace, tables) = lay_out(order)?;
    let trace = Arc::new(trace);
    let member = |cpu: &u32| {
        let (trace, tables, order) = (Arc::clone(&trace), tables.clone(), order.clone());
        let make = move || -> Made {
            let services = wanted(&order).services(forwarding(&order), count(&order, "batch"));
            let device = Device::new(tables, services);
            let hot: Box<dyn Hot> = Box::new(Line::new(device, trace));
            Ok(hot)
        };
        Member { cpu: Some(*cpu), make: Box::new(make) }
    };
    let mut made_with = order.words(&ASKED);
    let looked_at = &trace.flows[..trace.flows.len().min(LOOKED_AT)];
    if let Some(median) = spread(&trace.rules, looked_at).median {
        made_with.insert("median_rule".into(), Value::Count(median as u64 + 1));
    }
    made_with.extend(list_of(order).map(|_| content(trace.rules.iter().map(Rule::to_string))));
    Ok(Ready { members: threads.iter().map(member).collect(), made_with })
}

/// Rules, routes and flows of a trial, and the tables made of them.
fn lay_out(order: &Order) -> Result<(Trace, Tables), Unready> {
    let forwarding = forwarding(order);
    let subscribers = subscribers(order, forwarding)?;
    let downstream = subscribers > 0 && order.word("subscriber_direction") == "downstream";
    let rules = rules_of(order)?;
    let acl = Acl::build(&rules).map_err(|why| Unready::Failed(why.to_string()))?;
    let wanted = wanted(order);
    let routes = wanted.routes(order.seed);
    let lpm = Lpm::build(&routes).map_err(|why| Unready::Failed(why.to_string()))?;
    let meeting = match order.word("traffic") {
        "hit" => Meeting::Hit,
        "near_miss" => Meeting::NearMiss,
        _ => Meeting::Miss,
    };
    let asked = count(order, "flows");
    let flows = flows((asked, meeting), (&rules, &acl), &routes, order.seed);
    if flows.len() < asked {
        let found = flows.len();
        return Err(Unready::Failed(format!(
            "the rules leave {found} flows of {asked} that are as asked; take fewer flows, or \
             traffic = \"hit\" where the last rule matches all"
        )));
    }
    let by_address = downstream.then(|| by_address(&flows, subscribers));
    let sessions = sessions_of(&flows, subscribers, by_address.as_ref());
    let permits = vec![true; rules.len()];
    let tables = Tables {
        acl: (order.word("access_list") == "on").then(|| Arc::new((acl, permits))),
        routes: (forwarding == Forwarding::Route).then(|| Arc::new(lpm)),
        sessions: (subscribers > 0 && !downstream).then(|| Arc::new(Sessions::new(subscribers))),
        subscribers: by_address.as_ref().map(|all| Arc::new(Subscribers::new(all))),
    };
    let translated = wanted.flows;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "64 to 9018")]
    let frame_size = order.quantity("frame_size").unwrap_or(64.0) as usize;
    let trace =
        Trace { flows, rules, routes, forwarding, translated, sessions, downstream, frame_size };
    Ok((trace, tables))
}

/// The file that the rules are read from.
fn list_of(order: &Order) -> Option<&str> {
    order.params.get("rules").and_then(Value::word)
}

/// The rules of a file, or so many that are drawn.
fn rules_of(order: &Order) -> Result<Vec<Rule>, Unready> {
    let Some(file) = list_of(order) else {
        return Ok(rules::generate(count(order, "rules"), &Mix::ACL, order.seed));
    };
    let lacks = |why: String| Unready::NotAvailable(format!("rules = \"{file}\": {why}"));
    let text = fs::read_to_string(file).map_err(|why| lacks(why.to_string()))?;
    rules::read(&text).map_err(|why| lacks(why.to_string()))
}

/// The session of each destination: flows in turn have sessions 1 to so many, and the first flow to
/// a destination decides.
fn by_address(flows: &[Tuple], subscribers: u16) -> BTreeMap<u32, u16> {
    let mut sessions = BTreeMap::new();
    for (flow, session) in flows.iter().zip((1..=subscribers).cycle()) {
        sessions.entry(flow.dst).or_insert(session);
    }
    sessions
}

/// The session of each flow; none without subscribers. Frames to subscribers go by their address.
fn sessions_of(
    flows: &[Tuple],
    subscribers: u16,
    by_address: Option<&BTreeMap<u32, u16>>,
) -> Vec<u16> {
    match by_address {
        Some(all) => flows.iter().filter_map(|flow| all.get(&flow.dst).copied()).collect(),
        None => (1..=subscribers).cycle().take(flows.len()).collect(),
    }
}

/// Sessions that frames come in or go to.
fn subscribers(order: &Order, forwarding: Forwarding) -> Result<u16, Unready> {
    let subscribers = u16::try_from(count(order, "subscribers")).unwrap_or(sessions::MOST);
    if subscribers > 0 && forwarding != Forwarding::Route {
        return Err(Unready::Failed(format!(
            "{subscribers} subscribers with forwarding = \"{}\": sessions of PPPoE \
             need a device that routes; set forwarding = \"route\" or subscribers = 0",
            order.word("forwarding")
        )));
    }
    Ok(subscribers)
}

/// Its services beside the access list.
fn wanted(order: &Order) -> Wanted {
    Wanted::of(&order.params, count(order, "flows"))
}

fn forwarding(order: &Order) -> Forwarding {
    match order.word("forwarding") {
        "bypass" => Forwarding::Bypass,
        "bridge" => Forwarding::Bridge,
        _ => Forwarding::Route,
    }
}

fn count(order: &Order, name: &str) -> usize {
    usize::try_from(order.count(name)).unwrap_or(usize::MAX)
}

/// Work of each thread in a second in a simulated lab, frames.
pub(super) fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    vec![NOMINAL; nominal_threads(order, cpus)]
}
