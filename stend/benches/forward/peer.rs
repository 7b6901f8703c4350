//! Knows the peers: the same frames by packet sockets to our sink, and the frames of another
//! generator by XDP to a program that drops them, from one host of the lab to another, on one CPU.
//!
//! Must not know how a load is judged.

use loads::engine::packet::bpf::{Assembler, Program, Reg, action};
use loads::engine::packet::live::maker::{BATCH, Maker, Mark};
use loads::engine::packet::live::plain::Plain;
use loads::engine::packet::live::{Frames, LEAST, Pattern, Sending, Sink, Sizes, Varied, Wire};
use rig::lab::cpus;
use rig::lab::link::Routes;
use std::error::Error;
use std::fs::{self, File};
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long it sends.
const SPAN: Duration = Duration::from_millis(1000);
const KEY: u64 = 0x5151_7373_9595_b7b7;
const FLOWS: u32 = 65_536;

/// The other generator, where it is on PATH and the kernel takes its programs: 1.3.1 of xdp-tools
/// asks for a tracepoint that Linux 6.18 does not have.
const TRAFFICGEN: &str = "xdp-trafficgen";
/// How long the other generator runs before it is counted.
const WARM: Duration = Duration::from_millis(1500);

/// Why it could not be measured.
type Failed = Box<dyn Error + Send + Sync>;

/// Measures a peer: hosts of these processes, sender first, the link, the CPU.
type Measure = fn([u32; 2], &str, u32) -> Result<f64, Failed>;

/// Frames a second that come at the sink, by packet sockets.
pub const SENDMMSG: Measure = sendmmsg;
/// Frames a second that come at a program that drops them, by the other generator.
pub const OTHER: Measure = trafficgen;

/// Frames a second of a peer between the hosts of these processes, sender first.
///
/// # Errors
/// What the kernel says.
pub fn rate(of: Measure, pids: [u32; 2], link: &str, cpu: u32) -> Result<f64, Failed> {
    let link = link.to_owned();
    // A thread of its own: it moves to another network namespace.
    let run = move || of(pids, &link, cpu);
    thread::spawn(run).join().map_err(|_| "the peer panicked")?
}

/// Whether the other generator is here and the kernel takes its programs.
pub fn has_other() -> bool {
    let mut probe = Command::new(TRAFFICGEN);
    let probed = probe.arg("probe").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probed.is_ok_and(|status| status.success())
}

/// A program that has started; it is ended when this goes.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended already, which is what was wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn trafficgen([from, to]: [u32; 2], link: &str, cpu: u32) -> Result<f64, Failed> {
    enter(to)?;
    let mut code = Assembler::new();
    code.mov_imm(Reg::R0, action::DROP);
    code.exit();
    let _drops = Program::load("peer_drop", &code.finish()?)?.attach(index(link)?)?;
    enter(from)?;
    cpus::pin(cpu)?;
    let hardware = ["--dst-mac", "02:00:00:00:00:01", "--src-mac", "02:00:00:00:00:02"];
    let mut command = Command::new(TRAFFICGEN);
    command.args(["udp", "--dyn-ports", "65535"]).args(hardware).arg(link);
    let _sender = Ended(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    enter(to)?;
    thread::sleep(WARM);
    let (before, begun) = (received(link)?, Instant::now());
    thread::sleep(SPAN);
    let (after, took) = (received(link)?, begun.elapsed().as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "frames of a second")]
    let rate = (after - before) as f64 / took;
    if after == before {
        Err(format!("none of {TRAFFICGEN}'s frames came").into())
    } else {
        Ok(rate)
    }
}

/// Frames that a link of this thread's host has received.
fn received(link: &str) -> Result<u64, Failed> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    let mut lines = text.lines().filter_map(|line| line.trim().split_once(':'));
    let found = lines.find(|(name, _)| *name == link).ok_or("the link is gone")?;
    let frames = found.1.split_ascii_whitespace().nth(1).ok_or("a line without its frames")?;
    Ok(frames.parse()?)
}

fn sendmmsg([from, to]: [u32; 2], link: &str, cpu: u32) -> Result<f64, Failed> {
    let wire = Wire {
        hardware: [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]],
        addresses: [[198, 18, 0, 10], [198, 18, 0, 1]].map(IpAddr::from),
        varied: Varied::default(),
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
    let (spoilt, burst, rushed) = (false, None, false);
    let sending = Sending { wire, adapter, flows, pattern, pace, burst, spoilt, rewritten, rushed };
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
