//! Knows which fast path the parameters of a trial ask for, and what it does not do.
//!
//! Must not know hosts beyond their addresses, nor what is sent.

use super::drive::is_received;
use super::message::{FastPath, Joining, Traffic};
use crate::engine::packet::frame::FCS;
use crate::engine::packet::live::bridge::pair::Plants;
use crate::engine::packet::live::near_rules::NearRules;
use crate::engine::packet::wanted::{NAT, POLICER_RATE, Wanted};
use crate::workload::forward::spec::{
    FAST_PATH, PLANTED_BUFFER, PLANTED_CAPACITY, PLANTED_LOSS, RULE_HITS, RULES,
};
use desk::record::{Fault, Settings, Value};
use rig::lab::{Lab, SUT};
use rig::workload::Job;
use std::net::{IpAddr, Ipv4Addr};

/// Most flows of all clients that are translated: a table of 32 MiB in each direction.
const TRANSLATED_MOST: usize = 1 << 20;

/// What switches forward by in place of the kernel's bridge; none where that forwards.
pub fn fast_path(params: &Settings) -> Option<FastPath> {
    match params.get(FAST_PATH.name).and_then(Value::word) {
        Some("xdp") => Some(FastPath::Program),
        Some("af_xdp") => Some(FastPath::Process),
        _ => None,
    }
}

/// What switches forward by in place of the kernel, and how; none where the kernel forwards.
///
/// # Errors
/// What the fast path does not do.
pub fn joining(lab: &Lab, job: &Job, traffic: &Traffic) -> Result<Option<Joining>, Fault> {
    let params = &job.trial.point.params;
    let flows = traffic.flows as usize * lab.clients() as usize;
    let wanted = Wanted::of(params, flows);
    let many = || (wanted.flows > TRANSLATED_MOST).then(|| too_many(flows));
    let shallow = || too_shallow(&wanted, traffic);
    let refused = refusal(params, traffic).map(str::to_owned).or_else(many).or_else(shallow);
    if let Some(what) = refused {
        return Err(Fault::NotAvailable { what });
    }
    let fourth = |at| match lab.address_of(at, job.link) {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    };
    let seed = job.trial.seed;
    let near = NearRules {
        sources: lab.client_indexes().filter_map(fourth).collect(),
        target: fourth(SUT).unwrap_or(Ipv4Addr::UNSPECIFIED),
        varied: traffic.varied,
        flows: traffic.flows,
        rules: u32::try_from(rules_of(params)).unwrap_or(u32::MAX),
        dropped: share_of(params, RULE_HITS.name),
        seed,
    };
    let plants = plants(params, seed);
    Ok(fast_path(params).map(|by| Joining { near, by, wanted, plants }))
}

fn rules_of(params: &Settings) -> u64 {
    params.get(RULES.name).and_then(Value::count).unwrap_or(0)
}

fn share_of(params: &Settings, name: &str) -> f64 {
    params.get(name).and_then(Value::quantity).map_or(0.0, |share| share.value)
}

/// Limits that a process has on purpose.
#[expect(clippy::cast_precision_loss, reason = "at most 2^32")]
fn plants(params: &Settings, seed: u64) -> Plants {
    let count = |name| params.get(name).and_then(Value::count);
    let buffer = count(PLANTED_BUFFER.name).unwrap_or(0);
    Plants {
        capacity: count(PLANTED_CAPACITY.name).map(|frames| frames as f64),
        buffer: u32::try_from(buffer).unwrap_or(u32::MAX),
        loss: share_of(params, PLANTED_LOSS.name),
        seed,
    }
}

/// Whether a process is to have services beside the rules.
#[must_use]
pub fn is_served(params: &Settings) -> bool {
    Wanted::of(params, 1).any()
}

/// Whether a plan sets a rate of policers and has no policers.
#[must_use]
pub fn lacks_policers(params: &Settings) -> bool {
    let rate = params.get(POLICER_RATE.name).and_then(Value::quantity);
    rate.is_some() && Wanted::of(params, 1).policers == 0
}

/// A bucket that holds no whole frame lets none through.
fn too_shallow(wanted: &Wanted, traffic: &Traffic) -> Option<String> {
    let (_, depth) = wanted.policed?;
    let longest = traffic.sizes.most() - FCS;
    (depth < longest as u64).then(|| {
        format!("policer_burst of {depth} B holds no frame of {longest} B; raise policer_burst")
    })
}

fn too_many(flows: usize) -> String {
    let name = NAT.name;
    format!("{name} has places for {TRANSLATED_MOST} flows, and clients have {flows}; lower flows")
}

/// Whether a process is to have limits on purpose.
#[must_use]
pub fn is_planted(params: &Settings) -> bool {
    let Plants { capacity, loss, .. } = plants(params, 0);
    capacity.is_some() || loss > 0.0
}

/// What a fast path does not do, or what needs one.
fn refusal(params: &Settings, traffic: &Traffic) -> Option<&'static str> {
    let (rules, dropped, by) =
        (rules_of(params), share_of(params, RULE_HITS.name), fast_path(params));
    if (rules == 0 && dropped > 0.0) || (rules > 0 && by.is_none()) {
        Some(
            "rules and rule_hits need a fast path, and rule_hits needs rules; take fast_path = \
             \"xdp\" with rules, or rules = 0 and rule_hits = \"0 %\"",
        )
    } else if is_planted(params) && by != Some(FastPath::Process) {
        Some(
            "planted_capacity and planted_loss are limits of a process; take fast_path = \
             \"af_xdp\", or planted_capacity = \"none\" and planted_loss = \"0 %\"",
        )
    } else if is_served(params) && by != Some(FastPath::Process) {
        Some(
            "nat, policers, port_queues and routes are services of a process; take fast_path = \
             \"af_xdp\", or nat = \"off\" and no policers, queues and routes",
        )
    } else if lacks_policers(params) {
        Some("policer_rate needs policers; take policers = 1 or more, or policer_rate = \"none\"")
    } else if rules > 0 && !is_received(params) {
        Some(
            "rules are drawn for frames to the system under test; take direction = \"receive\", or \
             rules = 0",
        )
    } else if by.is_some() && traffic.layout.six {
        Some("a fast path forwards IPv4 alone; take ip_version = 4, or fast_path = \"off\"")
    } else if by == Some(FastPath::Process) && traffic.layout.vlan.is_some() {
        Some(
            "fast_path = \"af_xdp\" takes frames without a tag; take vlan_tag = \"none\", or \
             fast_path = \"xdp\"",
        )
    } else {
        None
    }
}
