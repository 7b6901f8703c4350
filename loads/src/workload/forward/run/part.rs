//! Knows one host's side of `forward`: it sends, counts, or lets frames through, and tells what its
//! kernel counts.
//!
//! Must not know the other hosts; the conductor tells it all it needs.

use super::alone::alone;
use super::counts::{Counts, Forwarded, Ticks, drops, filtered};
use super::engine::{Engine, Refusal};
use super::guard::undisturbed;
use super::joined::Joined;
use super::message::{Aim, FromPart, HostMark, StreamEnd, Taking, ToPart, Traffic, share};
use super::tags::Inside;
use super::way::{self, hardware_of};
use crate::engine::net::End;
use crate::engine::packet::bpf::Attached;
use crate::engine::packet::frame::FCS;
use crate::engine::packet::live::sockets::Kind;
use crate::engine::packet::live::{
    Edges, Frames, Layout, MOST, PHASES, Pace, Sending, Sink, Sizes, Stream, Wire, pass,
};
use crate::engine::times::stored;
use crate::workload::forward::spec::LATENCY;
use desk::record::Distribution;
use rig::lab::link::{LinkInfo, Routes};
use rig::lab::{Urgent, agent, clock};
use rig::metal::{DIGEST, Span, digest};
use std::net::IpAddr;
use std::time::Duration;

/// Bytes of the header of Ethernet.
const ETHERNET: usize = 14;
/// Ahead of the first frame, so that the call that sends stands, nanoseconds.
const SOON_NS: u64 = 1_000_000;
/// Frames whose flows and lengths are in the digest.
const TOLD: u32 = 64;

/// What this host is in the trial.
#[derive(Default)]
pub struct Ends {
    sends: Vec<Sender>,
    sink: Option<Sink>,
    takes: Vec<Attached>,
    inside: Inside,
    joined: Joined,
    /// The first stream that it sends, of so many, by which socket, on which CPU.
    first: Option<(Sending, (Option<Kind>, u32), u32)>,
    /// Of a host between the ends: what it asks for its counters.
    counters: Option<Routes>,
}

struct Sender {
    stream: u8,
    engine: Engine,
    adapter: String,
    cpu: u32,
    paced: bool,
    burst: bool,
    digest: u64,
    target: IpAddr,
    /// Bytes of the shortest frame without tag and check sequence.
    length: usize,
    most: Duration,
    /// Why it did not go.
    error: Option<String>,
}

impl Sender {
    /// Whether its frames are those of a moment.
    const fn is_timed(&self) -> bool {
        self.paced || self.burst
    }

    fn stop(&mut self) -> Result<StreamEnd, String> {
        let (stream, digest) = (self.stream, self.digest);
        let end = match self.engine.stop() {
            Ok(sent) => StreamEnd { stream, sent, digest, error: self.error.take() },
            Err(e) => StreamEnd { stream, error: Some(e), ..StreamEnd::default() },
        };
        way::word(self.target, self.length).map_err(|e| e.to_string())?;
        Ok(end)
    }
}

impl End for Ends {
    type Stage = ToPart;
    type Staged = FromPart;
    type Mark = HostMark;
    /// What was sent of each stream.
    type Ended = Vec<StreamEnd>;

    fn stage(&mut self, order: ToPart) -> Result<FromPart, String> {
        match order {
            ToPart::Take(taking) => self.take(taking),
            ToPart::Join(how) => granted(Joined::all(&how), |joined| self.joined = joined),
            ToPart::Sink(adapter, traffic) => {
                let Traffic { sizes, layout, key, streams, .. } = traffic;
                let frames = frames_at(&adapter, (&sizes, layout, key))?;
                let sink = Sink::attach(link(&adapter)?.index, frames, streams);
                granted(sink, |sink| self.sink = Some(sink))
            }
            ToPart::Aim(aims, traffic) => {
                let told = aims.iter().map(|aim| self.aim(aim, &traffic));
                let told = told.collect::<Result<Vec<_>, _>>()?;
                let lacks = told.into_iter().find(|told| matches!(told, FromPart::Lacks(_)));
                Ok(lacks.unwrap_or(FromPart::Ready))
            }
            ToPart::Alone => {
                let (sending, how, cpu) = self.first.as_ref().ok_or("this host sends no stream")?;
                alone(sending, *how, *cpu).map(FromPart::Alone).or_else(Refusal::told)
            }
            ToPart::Count(times) => self.count(times).map(|c| FromPart::Counted(Box::new(c))),
            ToPart::Leave => {
                *self = Self::default();
                Ok(FromPart::Ready)
            }
        }
    }

    fn go(&mut self) {
        let at_ns = clock::now_ns() + SOON_NS;
        for sender in &mut self.sends {
            let how = (sender.cpu, sender.is_timed());
            sender.error = sender.engine.go((at_ns, sender.most), how).err();
        }
    }

    fn done(&self) -> u64 {
        self.came()[0].iter().sum()
    }

    fn mark(&mut self, at_ns: u64, window: Span) -> Result<HostMark, String> {
        for sender in &mut self.sends {
            let Span { opens_ns, closes_ns } =
                if sender.is_timed() { undisturbed(window) } else { window };
            sender.engine.announce(Edges { opens_ns, closes_ns })?;
        }
        clock::sleep_until(at_ns);
        let mark = self.read()?;
        for sender in self.sends.iter_mut().filter(|sender| !sender.paced) {
            let phase = if at_ns < window.closes_ns { 1 } else { 2 };
            sender.engine.enter(phase)?;
        }
        Urgent::give_way();
        Ok(mark)
    }

    fn stop(&mut self, _: Duration) -> Result<Vec<StreamEnd>, String> {
        self.sends.iter_mut().map(Sender::stop).collect()
    }
}

impl Ends {
    /// A virtual adapter takes frames that the kernel sends without a copy only while it has a
    /// program of XDP, or merges packets; so each gets one that lets all through. Others need none.
    /// The tags of VLANs stay in the frames that they send.
    fn take(&mut self, taking: Taking) -> Result<FromPart, String> {
        let mut routes = Routes::open().map_err(|e| e.to_string())?;
        let links = routes.links().map_err(|e| e.to_string())?;
        self.counters = Some(routes);
        let virtual_ones = || links.iter().filter(|link| link.kind.as_deref() == Some("veth"));
        if taking.tagged {
            self.inside = Inside::keep(virtual_ones()).map_err(|e| e.to_string())?;
        }
        for link in virtual_ones().filter(|_| taking.live) {
            match pass(link.index) {
                Ok(attached) => self.takes.push(attached),
                Err(e) => return Refusal::from(e).told(),
            }
        }
        Ok(FromPart::Ready)
    }

    fn aim(&mut self, aim: &Aim, traffic: &Traffic) -> Result<FromPart, String> {
        let link = link(&aim.adapter)?;
        let tag = traffic.layout.tag_bytes();
        let (most, length) = (traffic.sizes.most(), traffic.sizes.least() - tag - FCS);
        // The tag of a VLAN may be beside what the MTU bounds (IEEE 802.3, 3.2.7).
        let asked = most - tag;
        if asked - FCS > link.mtu as usize + ETHERNET {
            return Err(format!(
                "frame_size: {asked} B do not fit the MTU of {} B of {}; lower it or raise the MTU",
                link.mtu, aim.adapter
            ));
        }
        let way = way::find(&aim.adapter, aim.target)?;
        let own = hardware_of(&link.address).ok_or("the adapter has no hardware address")?;
        let pace = traffic.interval_ns;
        let sending = Sending {
            wire: Wire {
                hardware: [way.hardware, own],
                addresses: [way.source, aim.target],
                varied: traffic.varied,
                sizes: traffic.sizes.clone(),
                vlan: traffic.layout.vlan,
                stream: aim.stream,
                key: traffic.key,
                seed: traffic.seed,
            },
            adapter: link.index,
            flows: traffic.flows,
            pattern: traffic.pattern,
            pace: pace.map(|interval_ns| Pace { interval_ns, offset_ns: interval_ns * aim.turn }),
            spoilt: agent::plants_wrong_data(),
            rewritten: true,
            burst: traffic.burst.map(|frames| share(frames, (aim.stream.into(), traffic.streams))),
            rushed: false,
        };
        let digest = of(&sending);
        let engine = match Engine::new(&sending, traffic.socket) {
            Ok(engine) => engine,
            Err(refusal) => return refusal.told(),
        };
        let how = (traffic.socket, traffic.streams);
        self.first.get_or_insert_with(|| (sending.clone(), how, aim.cpu));
        let (target, adapter, stream) = (aim.target, aim.adapter.clone(), aim.stream);
        let (most, error) = (Duration::from_millis(traffic.run_ms_max), None);
        self.sends.push(Sender {
            stream,
            engine,
            adapter,
            cpu: aim.cpu,
            paced: sending.pace.is_some(),
            burst: sending.burst.is_some(),
            digest,
            target,
            length,
            most,
            error,
        });
        Ok(FromPart::Ready)
    }

    /// Frames that came of each stream, and their bytes.
    fn came(&self) -> [Vec<u64>; 2] {
        let totals = self.sink.as_ref().and_then(|sink| sink.totals().ok());
        let streams = totals.map(|totals| totals.streams).unwrap_or_default();
        let sums = |of: fn(&Stream) -> &[u64; PHASES]| {
            streams.iter().map(|stream| of(stream).iter().sum()).collect()
        };
        [sums(|stream| &stream.came), sums(|stream| &stream.bytes)]
    }

    /// Packets that this host has forwarded, by the counters of what forwards them; none of an end.
    fn forwarded(&mut self) -> Result<Option<Forwarded>, String> {
        let ports = self.joined.counts()?;
        if ports.is_empty() {
            return self.counters.as_mut().map(Forwarded::now).transpose();
        }
        let sent = ports.iter().map(|(_, counts)| counts.forwarded).sum();
        Ok(Some(Forwarded { routed: 0, sent }))
    }

    fn read(&mut self) -> Result<HostMark, String> {
        let at_ns = clock::now_ns();
        let forwarded = self.forwarded()?;
        let [came, bytes] = self.came();
        let took_ns = clock::now_ns() - at_ns;
        let ticks = |sender: &Sender| Some((sender.stream, Ticks::now(sender.cpu)?));
        let ticks = self.sends.iter().filter_map(ticks).collect();
        let cpu_ns = clock::process_cpu_ns();
        Ok(HostMark { at_ns, took_ns, cpu_ns, came, bytes, ticks, forwarded })
    }

    fn count(&self, times: bool) -> Result<Counts, String> {
        let sends: Vec<&str> = self.sends.iter().map(|sender| sender.adapter.as_str()).collect();
        let ports = self.joined.counts()?;
        let mut routes = Routes::open().map_err(|e| e.to_string())?;
        let links = routes.links().map_err(|e| e.to_string())?;
        let filtered = ports.is_empty() && filtered(&links);
        let drops = drops((&mut routes, &links), &sends)?;
        let mut counts = Counts { drops, ports, filtered, ..Counts::default() };
        let Some(sink) = &self.sink else { return Ok(counts) };
        counts.sink = Some(sink.totals().map_err(|e| e.to_string())?);
        if times {
            let mut all = Distribution::empty().ok_or("no memory for a histogram")?;
            sink.times(&mut all).map_err(|e| e.to_string())?;
            counts.times = stored(LATENCY, &all);
        }
        Ok(counts)
    }
}

/// What this machine does not have is an answer, what went wrong is none.
fn granted<T>(
    made: Result<T, impl Into<Refusal>>,
    keep: impl FnOnce(T),
) -> Result<FromPart, String> {
    match made {
        Ok(made) => {
            keep(made);
            Ok(FromPart::Ready)
        }
        Err(refused) => refused.into().told(),
    }
}

/// What a sink at an adapter knows of frames of these sizes, places and key.
///
/// # Errors
/// What the kernel says.
pub fn frames_at(
    adapter: &str,
    (sizes, layout, key): (&Sizes, Layout, u64),
) -> Result<Frames, String> {
    // An adapter with such an MTU takes no program for single pages.
    let in_parts = link(adapter)?.mtu as usize + ETHERNET + FCS > MOST;
    Ok(Frames { sizes: sizes.clone(), layout, key, in_parts })
}

fn link(adapter: &str) -> Result<LinkInfo, String> {
    Routes::open().and_then(|mut routes| routes.link(adapter)).map_err(|e| e.to_string())
}

/// Of what does not change with keys and addresses: content, and length and flow of the first
/// frames.
fn of(sending: &Sending) -> u64 {
    let mut sum = digest(DIGEST, &sending.wire.content());
    for number in 0..TOLD {
        let flow = sending.wire.flow_of((sending.pattern, sending.flows), number);
        sum = digest(sum, &flow.to_le_bytes());
        sum = digest(sum, &sending.wire.sizes.of(number).to_le_bytes());
    }
    sum
}
