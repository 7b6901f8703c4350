//! Knows the peer: the same frames by packet sockets, from one host of the lab to the sink of
//! another, on one CPU.
//!
//! Must not know how a load is judged.

use loads::engine::packet::live::maker::{BATCH, Maker, Mark};
use loads::engine::packet::live::plain::Plain;
use loads::engine::packet::live::{Frames, LEAST, Pattern, Sending, Sink, Sizes, Wire};
use rig::lab::cpus;
use rig::lab::link::Routes;
use std::error::Error;
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::thread;
use std::time::{Duration, Instant};

/// How long it sends.
const SPAN: Duration = Duration::from_millis(1000);
const KEY: u64 = 0x5151_7373_9595_b7b7;
const FLOWS: u32 = 65_536;

/// Why it could not be measured.
type Failed = Box<dyn Error + Send + Sync>;

/// Frames a second that come at the sink, of the hosts of these processes, sender first.
///
/// # Errors
/// What the kernel says.
pub fn rate(pids: [u32; 2], link: &str, cpu: u32) -> Result<f64, Failed> {
    let link = link.to_owned();
    // A thread of its own: it moves to another network namespace.
    let run = move || measure(pids, &link, cpu);
    thread::spawn(run).join().map_err(|_| "the peer panicked")?
}

fn measure([from, to]: [u32; 2], link: &str, cpu: u32) -> Result<f64, Failed> {
    let wire = Wire {
        hardware: [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]],
        addresses: [[198, 18, 0, 10], [198, 18, 0, 1]].map(IpAddr::from),
        sizes: Sizes::Alike(LEAST),
        vlan: None,
        stream: 0,
        key: KEY,
        seed: 1,
    };
    enter(to)?;
    let frames =
        Frames { sizes: wire.sizes.clone(), layout: wire.layout(), key: KEY, in_parts: false };
    let sink = Sink::attach(index(link)?, frames, 1)?;
    enter(from)?;
    let (pattern, pace) = (Pattern::Counter, None);
    let (adapter, flows, rewritten) = (index(link)?, FLOWS, true);
    let (spoilt, burst) = (false, None);
    let sending = Sending { wire, adapter, flows, pattern, pace, burst, spoilt, rewritten };
    let mut maker = Maker::new(&sending);
    let mut plain = Plain::open(adapter, maker.template())?;
    cpus::pin(cpu)?;
    let begun = Instant::now();
    while begun.elapsed() < SPAN {
        plain.send(&mut maker, &[Mark { stamp: 0, phase: 1 }; BATCH])?;
    }
    let took = begun.elapsed().as_secs_f64();
    let came = sink.totals()?.streams.first().map_or(0, |stream| stream.came[1]);
    #[expect(clippy::cast_precision_loss, reason = "frames of a second")]
    let rate = came as f64 / took;
    if came == 0 { Err("none of the peer's frames came".into()) } else { Ok(rate) }
}

fn enter(pid: u32) -> Result<(), Failed> {
    let there = File::open(format!("/proc/{pid}/ns/net"))?;
    let kind = rustix::thread::LinkNameSpaceType::Network;
    Ok(rustix::thread::move_into_link_name_space(there.as_fd(), Some(kind))?)
}

fn index(link: &str) -> Result<u32, Failed> {
    Ok(Routes::open()?.link(link)?.index)
}
