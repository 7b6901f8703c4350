//! Knows how many frames a second this host sends and counts where nothing stands between, and how
//! late they are: over a virtual cable in a network namespace that goes with its thread.
//!
//! Must not know what stands between the ends of the trial.

use super::engine::{Engine, Refusal};
use super::message::Alone;
use super::part::frames_at;
use crate::engine::packet::live::sockets::Kind;
use crate::engine::packet::live::{Edges, Sending, Sink, Sizes};
use desk::record::Distribution;
use rig::lab::link::Routes;
use rig::lab::{agent, clock};
use std::thread;
use std::time::Duration;

/// The ends of the cable.
const ENDS: [&str; 2] = ["stend-near", "stend-far"];
/// The longest run: the kernel needs some 10 ms until the first frame.
const LONGEST: Duration = Duration::from_millis(500);
/// Between two looks whether frames come.
const LOOK_NS: u64 = 1_000_000;
/// Frames are counted for so long.
const COUNTED_NS: u64 = 20_000_000;
/// From this interval on no latency is taken: in the time that there is, too few frames come.
const SLOWEST_NS: f64 = 5e6;
/// Bytes of the longest frame that a new cable takes, without a tag, and the largest payload that
/// it is given for longer ones.
const LONGEST_FRAME: usize = 1518;
const LARGEST: u32 = 9100;

/// Measures a sender and a sink alone: the same frames, by the same program or socket, on the same
/// CPU. `streams` is how many the trial has.
///
/// # Errors
/// What the kernel says; a cable on which nothing comes.
pub fn alone(
    sending: &Sending,
    (socket, streams): (Option<Kind>, u32),
    cpu: u32,
) -> Result<Alone, Refusal> {
    let work = || {
        agent::own_network().map_err(Refusal::failed)?;
        let [near, far] = cable((&sending.wire.sizes, sending.wire.layout().tag_bytes()))
            .map_err(Refusal::failed)?;
        let sending = Sending { adapter: near, burst: None, spoilt: false, ..sending.clone() };
        let rushed = Sending { rushed: true, ..sending.clone() };
        let Seen { rate, median } = seen((&rushed, far), (socket, streams), cpu)?;
        let latency = match sending.pace {
            // Its next frame may be due after the time that there is.
            Some(pace) if pace.interval_ns > SLOWEST_NS => None,
            Some(_) => seen((&sending, far), (socket, streams), cpu)?.median,
            None => median,
        };
        Ok(Alone { rate, latency })
    };
    let ran = thread::scope(|scope| scope.spawn(work).join());
    ran.unwrap_or_else(|_| Err(Refusal::failed("the tester alone panicked")))
}

/// What came in some milliseconds.
struct Seen {
    /// Frames a second.
    rate: f64,
    /// Median latency of those with a stamp, seconds; none where none had one.
    median: Option<f64>,
}

/// Sends from one end of the cable to the other.
fn seen(
    (sending, far): (&Sending, u32),
    (socket, streams): (Option<Kind>, u32),
    cpu: u32,
) -> Result<Seen, Refusal> {
    let wire = &sending.wire;
    let frames = frames_at(ENDS[1], (&wire.sizes, wire.layout(), wire.key));
    let sink = Sink::attach(far, frames.map_err(Refusal::Failed)?, streams)?;
    let mut engine = Engine::new(sending, socket)?;
    let is_timed = sending.pace.is_some();
    engine.go((clock::now_ns(), LONGEST), (cpu, is_timed)).map_err(Refusal::Failed)?;
    let rate = rate(&sink, |edges| {
        engine.announce(edges)?;
        if is_timed { Ok(()) } else { engine.enter(1) }
    });
    engine.stop().map_err(Refusal::Failed)?;
    let mut times = Distribution::empty().ok_or(Refusal::failed("no memory for a histogram"))?;
    sink.times(&mut times)?;
    #[expect(clippy::cast_precision_loss, reason = "of some milliseconds")]
    let median = (!times.is_empty()).then(|| times.value_at_quantile(0.5) as f64 / 1e9);
    Ok(Seen { rate: rate?, median })
}

/// Both ends of a new cable, by their indexes.
fn cable((sizes, tag): (&Sizes, usize)) -> Result<[u32; 2], rig::lab::link::LinkError> {
    let mut routes = Routes::open()?;
    let here = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    routes.add_veth(ENDS[0], ENDS[1], here)?;
    for name in ENDS {
        if sizes.most() - tag > LONGEST_FRAME {
            routes.set_mtu(name, LARGEST)?;
        }
        routes.set_up(name, true)?;
    }
    Ok([routes.link(ENDS[0])?.index, routes.link(ENDS[1])?.index])
}

/// Frames a second that come, counted from the first one on; `opens` gets the span of the count.
fn rate(sink: &Sink, mut opens: impl FnMut(Edges) -> Result<(), String>) -> Result<f64, Refusal> {
    let read = || -> Result<(u64, u64), Refusal> {
        let totals = sink.totals()?;
        Ok((clock::now_ns(), totals.streams.iter().flat_map(|stream| stream.came).sum()))
    };
    let ends_ns = clock::now_ns() + u64::try_from(LONGEST.as_nanos()).unwrap_or(u64::MAX / 2) / 2;
    let mut first = read()?;
    while first.1 == 0 {
        if first.0 > ends_ns {
            return Err(Refusal::failed("no frame came over a cable with nothing between"));
        }
        clock::sleep_until(first.0 + LOOK_NS);
        first = read()?;
    }
    let edges = Edges { opens_ns: first.0, closes_ns: first.0 + COUNTED_NS };
    opens(edges).map_err(Refusal::Failed)?;
    clock::sleep_until(edges.closes_ns);
    let last = read()?;
    #[expect(clippy::cast_precision_loss, reason = "of some milliseconds")]
    let rate = (last.1 - first.1) as f64 * 1e9 / (last.0 - first.0).max(1) as f64;
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::packet::bpf::tests::granted;
    use crate::engine::packet::live::{Pace, Pattern, Varied, Wire};
    use std::net::{IpAddr, Ipv4Addr};

    fn sending(bytes: usize, pace: Option<Pace>) -> Sending {
        let addresses = [10, 1].map(|last| IpAddr::V4(Ipv4Addr::new(198, 18, 0, last)));
        Sending {
            wire: Wire {
                hardware: [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]],
                addresses,
                varied: Varied::default(),
                sizes: Sizes::Alike(bytes),
                vlan: None,
                stream: 1,
                key: 7,
                seed: 5,
            },
            adapter: 0,
            flows: 1 << 10,
            pattern: Pattern::Random,
            pace,
            burst: Some(9),
            spoilt: true,
            rewritten: true,
            rushed: false,
        }
    }

    #[test]
    fn a_tester_alone_is_faster_than_its_schedule_and_leaves_no_cable() {
        if !granted() || !rustix::process::geteuid().is_root() {
            return;
        }
        let place = || std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        let links = || Routes::open().unwrap().links().unwrap().len();
        let before = (place(), links());
        let slow = Some(Pace { interval_ns: 1e6, offset_ns: 5e5 });
        let cells = [(None, 64, None), (None, 64, slow), (Some(Kind::Packet), 9018, slow)];
        for (socket, bytes, pace) in cells {
            let Alone { rate, latency } = alone(&sending(bytes, pace), (socket, 2), 0).unwrap();
            println!("{socket:?} {bytes} B {pace:?}: {rate:.0} frames/s, {latency:?} s late");
            assert!(rate > 10_000.0, "{socket:?} {pace:?}: {rate}");
            assert!(latency.is_some_and(|s| s > 0.0 && s < 0.1), "{latency:?}");
        }
        assert_eq!((place(), links()), before);
    }
}
