//! Knows how a trial's parameters become pairs of threads. Must not know what they give.

use crate::engine::alone::{Order, Ready};
use desk::record::{Settings, Value};
use rig::metal::chase::node;
use rig::metal::pair::{Home, Method, Pair, Setup, choose};
use rig::metal::{Cpus, Hot, Made, Member, Unready};
use std::path::Path;

/// Hand-overs a second of a plain machine, and bytes a second of its hand-over of blocks.
const NOMINAL: (f64, f64) = (1.8e7, 8e9);

/// Pairs are drawn from this, and not from the seed of a trial: trials and runs that drew other
/// pairs would differ by these.
const DRAW: u64 = 1;

/// What each thread will do, and how: one member a pair, pinned to ping's CPU.
///
/// # Errors
/// One CPU only, CPUs that may not be used, no third node; a pair or block that is none.
pub fn ready(order: &Order) -> Result<Ready, Unready> {
    let root = Path::new("/");
    let cpus = Cpus::read(root);
    let pairs = pairs(order, &cpus)?;
    let method = method(order)?;
    let nodes = node::nodes(root);
    let mut members = Vec::new();
    for (ping, pong) in &pairs {
        let home = home(order, (*ping, *pong), &cpus, &nodes)?;
        members.push(member(*ping, Setup { pong: *pong, method, home }));
    }
    Ok(Ready { members, made_with: made_with(order, &pairs) })
}

fn member(ping: u32, setup: Setup) -> Member {
    let make = move || -> Made {
        let pair = Pair::make(setup)?;
        if let (Home::Node(node), Some(found)) = (setup.home, pair.node())
            && node != found
        {
            return Err(format!("memory of node {node} came from node {found}").into());
        }
        let hot: Box<dyn Hot> = Box::new(pair);
        Ok(hot)
    };
    Member { cpu: Some(ping), make: Box::new(make) }
}

/// The pairs of a trial, ping first.
pub(super) fn pairs(order: &Order, cpus: &Cpus) -> Result<Vec<(u32, u32)>, Unready> {
    let all: Vec<u32> = cpus.threads.iter().map(|thread| thread.cpu).collect();
    if all.len() < 2 {
        return Err(Unready::NotAvailable("a pair needs two CPUs, and here is one".into()));
    }
    let word = order.word("pair");
    if word == "all" {
        let most = usize::try_from(order.count("pairs")).unwrap_or(usize::MAX);
        return Ok(choose(&all, most.max(1), DRAW));
    }
    let none = || Unready::Failed(format!("'{word}' is no pair; write for instance 0-1, or all"));
    let (ping, pong) = word.split_once('-').ok_or_else(none)?;
    let number = |text: &str| text.parse::<u32>().map_err(|_| none());
    let (ping, pong) = (number(ping)?, number(pong)?);
    if ping == pong {
        return Err(none());
    }
    Ok(vec![(cpus.get(ping)?.cpu, cpus.get(pong)?.cpu)])
}

fn method(order: &Order) -> Result<Method, Unready> {
    let block = block(order);
    match order.word("method") {
        "store" => Ok(Method::Store),
        "two_lines" => Ok(Method::TwoLines),
        "handover" if block == 0 || !block.is_multiple_of(64) => {
            Err(Unready::Failed(format!("a block of {block} bytes; take a multiple of 64")))
        }
        "handover" => Ok(Method::Handover(block)),
        _ => Ok(Method::Cas),
    }
}

/// Bytes of a block.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "64 to 2^20")]
pub(super) fn block(order: &Order) -> usize {
    order.quantity("block").unwrap_or(0.0) as usize
}

/// Where the memory between the two is; a third node is the first with memory and neither of them.
pub(super) fn home(
    order: &Order,
    (ping, pong): (u32, u32),
    cpus: &Cpus,
    nodes: &[u32],
) -> Result<Home, Unready> {
    match order.word("home") {
        "pong" => Ok(Home::Pong),
        "third" => {
            let node = |cpu| cpus.get(cpu).map_or(0, |thread| thread.node);
            let theirs = [node(ping), node(pong)];
            let third = nodes.iter().find(|node| !theirs.contains(node));
            third.map(|node| Home::Node(*node)).ok_or_else(|| {
                let what = format!("no node with memory is neither CPU {ping}'s nor CPU {pong}'s");
                Unready::NotAvailable(what)
            })
        }
        _ => Ok(Home::Ping),
    }
}

fn made_with(order: &Order, pairs: &[(u32, u32)]) -> Settings {
    let names: Vec<String> = pairs.iter().map(|(ping, pong)| format!("{ping}-{pong}")).collect();
    let mut made = Settings::from([("pairs".to_owned(), Value::Word(names.join(" ")))]);
    if order.word("method") == "handover" {
        let flight = rig::metal::pair::IN_FLIGHT as u64;
        made.insert("blocks_in_flight".to_owned(), Value::Count(flight));
    }
    made
}

/// Work of each pair in a second of a simulated lab: hand-overs, or blocks.
pub fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a block has at most 2^20 bytes")]
    let bytes = block(order).max(64) as f64;
    let rate = if order.word("method") == "handover" { NOMINAL.1 / bytes } else { NOMINAL.0 };
    let all = cpus.max(2) * (cpus.max(2) - 1) / 2;
    let most = usize::try_from(order.count("pairs")).unwrap_or(1).max(1);
    let pairs = if order.word("pair") == "all" { all.min(most) } else { 1 };
    vec![rate; pairs]
}
