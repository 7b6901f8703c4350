//! `benches/classify`: packets by rules and destinations by routes, beside rte_acl and rte_lpm of
//! DPDK on the same CPU.
//!
//! Both sides have the same rules and packets, and must give the same answers before a cell is
//! timed. A cost of a classification hangs on which rules packets match: a line before each cell
//! says it.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../judged/mod.rs"]
mod judged;
mod peer;

use desk::stats::median;
use desk::unit::{Quantity, Unit};
use judged::{Count, Failed, ended, rounds};
use loads::engine::packet::acl::Acl;
use loads::engine::packet::device::{Device, Forwarding, PORTS, Services, Tables};
use loads::engine::packet::flows::{Meeting, flows};
use loads::engine::packet::line::{Line, Trace};
use loads::engine::packet::lpm::Lpm;
use loads::engine::packet::nat::Nat;
use loads::engine::packet::police::Policers;
use loads::engine::packet::queues::Scheduler;
use loads::engine::packet::routes::{self, Route, Shape};
use loads::engine::packet::rules::{self, Mix, Prefix, Rule};
use loads::engine::packet::traffic::{self, Aim};
use loads::engine::packet::tuple::Tuple;
use peer::{Kind, PASSES, Peer};
use rig::lab::cpus;
use rig::metal::Hot as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Rules of a list.
const RULES: [usize; 3] = [100, 1000, 10_000];
/// Packets of a cell.
const PACKETS: usize = 16_384;
/// Routes of a table.
const ROUTES: [usize; 3] = [10_000, 256_000, 1_000_000];
/// Destinations of a cell.
const DESTINATIONS: usize = 1 << 20;
/// Seeds of rules and routes, and of packets and destinations.
const SEEDS: [u64; 2] = [1, 5];
/// Packets by rules are classified so many times as fast as by the peer.
const RULE: f64 = 1.2;
/// A lookup of a route may cost a fifth more.
const LOOKUP: f64 = 1.0 / 1.2;
/// The cell of a device with all services, which may take three times as long as the two lookups.
const SERVICES: &str = "services 100 near-miss, 256000 routes";
/// Flows through it, each translated, its subscribers with a bucket, and queues of a port.
const FLOWS: usize = 65_536;
const SUBSCRIBERS: usize = 256;
const QUEUES: u64 = 8;
/// Rings of frames between two looks at the peers.
const PASSES_OF_A_DEVICE: u64 = 20_000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("classify", compare(&words))
}

/// Runs all cells whose name begins with one of the words, or all.
fn compare(words: &[String]) -> Result<Count, Failed> {
    let cpu = *cpus::mine()?.last().ok_or("no CPU")?;
    cpus::pin(cpu)?;
    let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.starts_with(w));
    let mut count = Count::default();
    println!("what | ours | peer | ratio | bar | ");
    for (mix, of) in [("acl", Mix::ACL), ("firewall", Mix::FIREWALL)] {
        for rules in RULES {
            for (aimed, aim) in [("hit", Aim::HIT), ("near-miss", Aim::NEAR)] {
                let name = format!("{mix} {rules} {aimed}");
                if wanted(&name) {
                    let rules = rules::generate(rules, &of, SEEDS[0]);
                    acl(&name, (&rules, &aim), cpu, &mut count)?;
                }
            }
        }
    }
    for routes in ROUTES {
        let name = format!("routes {routes}");
        if wanted(&name) {
            lpm(&name, routes, cpu, &mut count)?;
        }
    }
    if wanted(SERVICES) {
        services(cpu, &mut count)?;
    }
    Ok(count)
}

/// A cell of rules.
fn acl(
    name: &str,
    (rules, aim): (&[Rule], &Aim),
    cpu: u32,
    count: &mut Count,
) -> Result<(), Failed> {
    let packets = traffic::generate(rules, PACKETS, aim, SEEDS[1]);
    let ours = Acl::build(rules)?;
    tell(name, (rules, &packets), &ours);
    let mut matched = vec![0; packets.len()];
    ours.classify(&packets, &mut matched);
    for peer in Peer::of(Kind::Acl) {
        let dir = peer::Files::of_rules(rules, &packets)?;
        let theirs = peer.answers(&dir, cpu)?;
        same(name, &matched, &theirs)?;
        cell((name, peer.name, RULE), count, |is_ours| match is_ours {
            true => Ok(rate(PACKETS, || ours.classify(&packets, &mut matched))),
            false => peer.rate(&dir, cpu),
        })?;
    }
    Ok(())
}

/// A cell of routes.
fn lpm(name: &str, count_of: usize, cpu: u32, count: &mut Count) -> Result<(), Failed> {
    let peers = Peer::of(Kind::Lpm);
    for peer in &peers {
        if !peer.is_there() {
            println!("{name}: not on PATH, not counted: {}", peer.file);
        }
    }
    let routes = routes::generate(count_of, &Shape::INTERNET, SEEDS[0]);
    let dst = routes::destinations(&routes, DESTINATIONS, SEEDS[1]);
    let ours = Lpm::build(&routes)?;
    let mut hops = vec![0; dst.len()];
    for peer in peers.iter().filter(|peer| peer.is_there()) {
        let dir = peer::Files::of_routes(&routes, &dst)?;
        ours.look_up(&dst, &mut hops);
        let said: Vec<u32> = hops.iter().map(|hop| u32::from(*hop)).collect();
        same(name, &said, &peer.answers(&dir, cpu)?)?;
        cell((name, peer.name, LOOKUP), count, |is_ours| match is_ours {
            true => Ok(rate(DESTINATIONS, || ours.look_up(&dst, &mut hops))),
            false => peer.rate(&dir, cpu),
        })?;
    }
    Ok(())
}

/// A device with all services, beside what both tools take for the two lookups of a packet alone.
fn services(cpu: u32, count: &mut Count) -> Result<(), Failed> {
    let lookups = [Kind::Acl, Kind::Lpm].map(|kind| Peer::of(kind).into_iter().next_back());
    let [Some(acl), Some(lpm)] = lookups else { return Ok(()) };
    if !lpm.is_there() {
        println!("{SERVICES}: not on PATH, not counted: {}", lpm.file);
        return Ok(());
    }
    let rules = rules::generate(RULES[0], &Mix::ACL, SEEDS[0]);
    let mut all = vec![Route { prefix: Prefix::ANY, hop: 0 }];
    all.extend(routes::generate(ROUTES[1], &Shape::INTERNET, SEEDS[0]));
    let (list, table) = (Acl::build(&rules)?, Lpm::build(&all)?);
    let flows = flows((FLOWS, Meeting::NearMiss), (&rules, &list), &all, SEEDS[1]);
    tell(SERVICES, (&rules, &flows), &list);
    let dst: Vec<u32> = flows.iter().map(|flow| flow.dst).collect();
    let files = (peer::Files::of_rules(&rules, &flows)?, peer::Files::of_routes(&all, &dst)?);
    let permits = vec![true; rules.len()];
    let tables = Tables {
        acl: Some(Arc::new((list, permits))),
        routes: Some(Arc::new(table)),
        sessions: None,
        subscribers: None,
    };
    let services = Services {
        forwarding: Forwarding::Route,
        batch: 64,
        nat: Some(Nat::new(FLOWS)),
        policers: Some(Policers::new(SUBSCRIBERS, 1e12, 1 << 30)),
        queues: Some(((1..=QUEUES).collect(), Scheduler::Mixed)),
        ports: PORTS,
    };
    let trace = Trace {
        flows,
        rules,
        routes: all,
        forwarding: Forwarding::Route,
        translated: FLOWS,
        sessions: Vec::new(),
        downstream: false,
        frame_size: 64,
    };
    let mut line = Line::new(Device::new(tables, services), Arc::new(trace));
    cell((SERVICES, "rte_acl + rte_lpm", 1.0 / 3.0), count, |is_ours| match is_ours {
        true => device_rate(&mut line),
        false => Ok(1.0 / (1.0 / acl.rate(&files.0, cpu)? + 1.0 / lpm.rate(&files.1, cpu)?)),
    })
}

/// Frames a second of the device's time; each frame of one ring is then held against the reference.
#[expect(clippy::cast_precision_loss, reason = "frames are far below 2^53")]
fn device_rate(line: &mut Line) -> Result<f64, Failed> {
    let frames = line.pass(PASSES_OF_A_DEVICE);
    let seconds = line.own_ns().unwrap_or(0) as f64 / 1e9;
    line.verify()?;
    Ok(frames as f64 / seconds)
}

/// Rounds of a cell, and its row.
fn cell(
    (name, peer, bar): (&str, &'static str, f64),
    count: &mut Count,
    run: impl FnMut(bool) -> Result<f64, Failed>,
) -> Result<(), Failed> {
    let judged = judged::Cell { name, peer, bar, rate: |rate: &f64| *rate, told };
    let (mark, row) = rounds(&judged, run)?;
    println!("{row}");
    count.add(mark);
    Ok(())
}

/// What packets of a cell hit, and how large the trees are.
fn tell(name: &str, (rules, packets): (&[Rule], &[Tuple]), ours: &Acl) {
    let spread = traffic::spread(rules, packets);
    let [hit, near] = [spread.hit, spread.near].map(|share| Quantity::new(share, Unit::Share));
    let median = spread.median.map_or("none".into(), |index| index.to_string());
    println!(
        "{name}: {} rules, hit {hit}, near-miss {near}, median matched rule {median}; {} in {} \
         trees",
        rules.len(),
        Quantity::bytes(ours.bytes() as u64),
        ours.trees(),
    );
}

/// An answer that differs is not timed.
fn same(name: &str, ours: &[u32], theirs: &[u32]) -> Result<(), Failed> {
    if ours.len() != theirs.len() {
        let (ours, theirs) = (ours.len(), theirs.len());
        return Err(format!("{name}: {theirs} answers of the peer, not {ours}").into());
    }
    match ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs) {
        Some(at) => {
            let (ours, theirs) = (ours[at], theirs[at]);
            Err(format!("{name}: of packet {at} we say {ours}, and the peer {theirs}").into())
        }
        None => Ok(()),
    }
}

/// Packets a second of as many passes over all of them as the peer makes.
#[expect(clippy::cast_precision_loss, reason = "packets are far below 2^53")]
fn rate(packets: usize, mut pass: impl FnMut()) -> f64 {
    let began = Instant::now();
    for _ in 0..PASSES {
        pass();
    }
    (PASSES * packets) as f64 / began.elapsed().as_secs_f64()
}

/// The middle of the rates of one side, as a packet's time.
fn told(rates: &[f64]) -> String {
    let rate = median(rates).unwrap_or(f64::NAN);
    Quantity::new(1.0 / rate, Unit::Second).to_string()
}
