//! `benches/forward`: the generator of `forward` beside what a tester of frames has to beat, on one
//! CPU, interleaved.
//!
//! `saturate`: frames of 64 B that arrive over a virtual cable, as many as it takes, beside packet
//! sockets (`sendmmsg` of 64 frames past the queueing discipline) to the same sink, and beside
//! xdp-trafficgen, where it is, to a program that only drops. `paced`: the
//! highest rate of a schedule that is kept, beside the kernel's forwarding of IPv4, which a tester
//! must outrun. `bridge`: a program of XDP with 100 rules that joins two ports, beside the kernel's
//! bridge without any, both with the tester in the same chain; the time of the tester back to back
//! is told, and how often the device alone is quicker.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../judged/mod.rs"]
mod judged;
#[path = "../one/mod.rs"]
mod one;
mod peer;

use desk::plan::{Catalogue, read};
use desk::record::WorkloadSpec;
use desk::stats::median;
use desk::unit::{Quantity, Unit};
use judged::{Cell, Count, Failed, Mark, ended, rounds};
use rig::lab::{Blueprint, SUT, Wanted, cpus};
use rig::run::Bench;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Attempts at a trial that the machine disturbs.
const ATTEMPTS: usize = 8;
/// Bits of a frame of 64 B on a line, with preamble and gap.
const BITS: f64 = 672.0;
/// Shares of the saturated rate at which a schedule is tried, the highest first.
const SHARES: [f64; 8] = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5];

const BACK_TO_BACK: &str = "[lab.links.lan]\nkind = \"direct\"\nmembers = [\"c01\", \"sut\"]\n";
const ROUTED: &str = "[lab.hosts.box]\nrole = \"device\"\n[lab.links.far]\nkind = \"direct\"\n\
                      members = [\"box\", \"sut\"]\n[lab.links.near]\nkind = \"direct\"\n\
                      members = [\"c01\", \"box\"]\n";

const BRIDGED: &str = "[lab.hosts.box]\nrole = \"switch\"\n[lab.links.far]\nkind = \"direct\"\n\
                       members = [\"box\", \"sut\"]\n[lab.links.near]\nkind = \"direct\"\n\
                       members = [\"c01\", \"box\"]\n";
const JOINED: &str = "fast_path = \"xdp\"\nrules = 100\n";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    ended("forward", compare(&words))
}

/// Runs all cells whose name begins with one of the words, or all.
fn compare(words: &[String]) -> Result<Count, Failed> {
    let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.starts_with(w));
    let mut count = Count::default();
    let mut near = Stand::of(BACK_TO_BACK)?;
    let cell = |name, peer, bar| Cell { name, peer, bar, rate: |rate: &f64| *rate, told };
    println!("what | ours | peer | ratio | bar | ");
    if wanted("saturate 64 B") {
        let others = [("sendmmsg", 12.0, peer::SENDMMSG), ("xdp-trafficgen", 1.0, peer::OTHER)];
        let has_other = peer::has_other();
        if !has_other {
            println!("not on PATH or refused by the kernel, not counted: xdp-trafficgen");
        }
        for (name, bar, other) in others.into_iter().take(1 + usize::from(has_other)) {
            let pids = [near.bench.lab.pid(1), near.bench.lab.pid(SUT)];
            let cpu = cpus::mine()?.first().copied().unwrap_or(0);
            let (mark, row) = rounds(&cell("saturate 64 B", name, bar), |is_ours| match is_ours {
                true => near.rate(None)?.ok_or_else(|| "no trial was kept".into()),
                false => peer::rate(other, pids, "lan", cpu).map_err(|e| e as Failed),
            })?;
            println!("{row}");
            count.add(mark);
        }
    }
    if wanted("bridge 64 B") {
        let (mark, row) = bridges(&mut near)?;
        println!("{row}");
        count.add(mark);
    }
    if wanted("paced 64 B") {
        let mut routed = Stand::of(ROUTED)?;
        let most = near.rate(None)?.ok_or("no trial was kept")?;
        let mut shares = SHARES.iter();
        let (mark, row) =
            rounds(&cell("paced 64 B", "kernel routing", 2.5), |is_ours| match is_ours {
                true => near.kept(most, &mut shares),
                false => routed.rate(None)?.ok_or_else(|| "no trial was kept".into()),
            })?;
        println!("{row}");
        count.add(mark);
    }
    Ok(count)
}

/// Both bridges, one after the other; and what is left of both without the tester's own time.
fn bridges(near: &mut Stand) -> Result<(Mark, String), Failed> {
    let mut kernel = Stand::of(BRIDGED)?;
    let mut joined = Stand { load: JOINED, ..Stand::of(BRIDGED)? };
    let (mut own, mut both) = (Vec::new(), [const { Vec::new() }; 2]);
    let cell = Cell {
        name: "bridge 64 B",
        peer: "kernel bridge",
        bar: 3.0,
        rate: |rate: &f64| *rate,
        told,
    };
    let (mark, row) = rounds(&cell, |is_ours| {
        let stand = if is_ours { &mut joined } else { &mut kernel };
        let rate = stand.rate(None)?.ok_or("no trial was kept")?;
        both[usize::from(is_ours)].push(rate);
        if is_ours {
            own.push(near.rate(None)?.ok_or("no trial was kept")?);
        }
        Ok(rate)
    })?;
    let ns = |all: &[f64]| 1e9 / median(all).unwrap_or(f64::NAN);
    let [peer_ns, our_ns] = [ns(&both[0]), ns(&both[1])];
    let own_ns = ns(&own);
    let alone = (peer_ns - own_ns) / (our_ns - own_ns);
    println!(
        "of a frame the tester takes {own_ns:.0} ns; with the program {our_ns:.0} ns, with the \
         kernel's bridge {peer_ns:.0} ns: the device alone is {alone:.2} times as quick"
    );
    Ok((mark, row))
}

/// A lab, and its text.
struct Stand {
    bench: Bench,
    lab: &'static str,
    load: &'static str,
}

impl Stand {
    fn of(lab: &'static str) -> Result<Self, Failed> {
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_stend"));
        let cancel: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|w| w.spec).collect();
        let catalogue = Catalogue { workloads: &workloads, factors: rig::factor::ALL };
        let plan = read(&text((lab, ""), None), &catalogue)?;
        let blueprint = Blueprint { wanted: Wanted::Best, lab: plan.lab };
        let machine = rig::keeper::here(&binary, cancel)?;
        Ok(Self { bench: Bench::build(&blueprint, loads::ALL, vec![machine])?, lab, load: "" })
    }

    /// Frames a second of one trial at an offered rate, or as fast as it goes; none where the
    /// schedule was not kept.
    fn rate(&mut self, offered: Option<f64>) -> Result<Option<f64>, Failed> {
        let (plan, trials) = one::trial(&text((self.lab, self.load), offered))?;
        let mut last = String::from("no trial ran");
        for _ in 0..ATTEMPTS {
            let visited = self.bench.run(&plan, trials.clone(), &mut |_| ())?;
            let Some(record) = visited.records.last() else { continue };
            match &record.outcome.fault {
                None => return Ok(record.outcome.metric("frames").map(|rate| rate.value)),
                Some(fault) => last = fault.to_string(),
            }
        }
        if offered.is_some() { Ok(None) } else { Err(last.into()) }
    }

    /// The highest share of a rate that is kept; one that is not is tried no more.
    fn kept(&mut self, most: f64, shares: &mut std::slice::Iter<'_, f64>) -> Result<f64, Failed> {
        while let Some(share) = shares.as_slice().first() {
            if let Some(rate) = self.rate(Some(most * share))? {
                return Ok(rate);
            }
            shares.next();
        }
        Err("no schedule was kept: the machine is not calm".into())
    }
}

fn text((lab, load): (&str, &str), offered: Option<f64>) -> String {
    let offered = offered
        .map_or(String::new(), |rate| format!("offered_load = \"{:.0} bit/s\"\n", rate * BITS));
    format!(
        "title = \"bench\"\n[lab]\nclients = 1\n{lab}[load.it]\nworkload = \"forward\"\n\
         {offered}{load}[method]\nblocks = 3\ndry = false\nsteady = \"noted\"\nsettle = \"0.2 s\"\n\
         settle_max = \"0.2 s\"\nwindow = \"1 s\"\n"
    )
}

/// The rate in the middle of runs.
fn told(all: &[f64]) -> String {
    Quantity::new(median(all).unwrap_or(0.0), Unit::PacketPerSecond).to_string()
}
