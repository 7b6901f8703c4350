//! Knows what one host reads of its streams, their threads and their interface at one moment.
//!
//! Must not know what the figures have to be; `bytes.rs` and `readings.rs` judge them. It is read
//! by the host's own thread while the streams run, so it costs one to three short calls a stream.

use super::generator::Counters;
use super::message::{HostMark, InterfaceMark, StreamMark};
use crate::engine::net::schedule::{PaceMark, Schedule};
use crate::engine::net::{Account, Buffers, Gate, tcp_info};
use rig::lab::link::{Routes, Wrapping};
use rig::lab::{Urgent, clock};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;

/// The counters of one interface, over a socket that stays open.
pub struct Interface {
    routes: Routes,
    name: String,
    wrapping: Wrapping,
}

impl Interface {
    /// Opens the way to the counters of an interface of this host.
    ///
    /// # Errors
    /// When the kernel gives no netlink socket, or has no such interface.
    pub fn open(name: &str) -> Result<Self, String> {
        let mut routes = Routes::open().map_err(|e| e.to_string())?;
        let wrapping = Wrapping::of(&mut routes, name).map_err(|e| e.to_string())?;
        Ok(Self { routes, name: name.into(), wrapping })
    }

    fn mark(&mut self) -> Result<InterfaceMark, String> {
        let counters = self.routes.carrier(&self.name).map_err(|e| e.to_string())?.counters;
        let (rx_bytes, rx_packets) = (counters.rx_bytes, counters.rx_packets);
        let (name, wrapping) = (self.name.clone(), self.wrapping);
        Ok(InterfaceMark { name, rx_bytes, rx_packets, wrapping })
    }
}

/// What is read of one stream.
pub struct Watched<'a> {
    /// Number of the stream.
    pub id: u32,
    /// Whether this end sends.
    pub sends: bool,
    /// Its connection.
    pub socket: &'a TcpStream,
    /// Its counts.
    pub counters: &'a Counters,
    /// Its schedule, if it sends on one.
    pub schedule: Option<&'a Schedule>,
    /// The scheduler's account of its thread.
    pub account: &'a mut Account,
}

/// Reads everything. The byte counts come first and close together, then what may be read at ease.
///
/// # Errors
/// When the interface does not tell its counters.
pub fn read(
    streams: &mut [Watched],
    interface: &mut Interface,
    gate: &Gate,
) -> Result<HostMark, String> {
    let at_ns = clock::now_ns();
    let cpu_ns = clock::process_cpu_ns();
    let mut marks: Vec<StreamMark> = streams.iter().map(bytes).collect();
    let interface = interface.mark()?;
    let took_ns = clock::now_ns() - at_ns;
    Urgent::give_way();
    for (mark, stream) in marks.iter_mut().zip(&mut *streams) {
        mark.thread = stream.account.read(stream.counters.thread.load(Relaxed));
        mark.congestion = rustix::net::sockopt::tcp_congestion(stream.socket).unwrap_or_default();
        mark.pace = stream.schedule.map(|schedule| pace(schedule, stream.counters, gate));
    }
    let ends = streams.iter().map(|stream| (stream.socket, [!stream.sends, stream.sends]));
    let buffers = Buffers::of(ends);
    Ok(HostMark { at_ns, took_ns, interface, cpu_ns, buffers, streams: marks })
}

fn bytes(stream: &Watched) -> StreamMark {
    StreamMark {
        id: stream.id,
        sends: stream.sends,
        tcp: tcp_info::read(stream.socket).unwrap_or_default(),
        queued: rustix::io::ioctl_fionread(stream.socket).unwrap_or(0),
        bytes: stream.counters.bytes.load(Relaxed),
        ..StreamMark::default()
    }
}

fn pace(schedule: &Schedule, counters: &Counters, gate: &Gate) -> PaceMark {
    let went_ns = gate.went_ns();
    if went_ns == 0 {
        return PaceMark::default();
    }
    let (calls, late) = (counters.calls.load(Relaxed), counters.late.load(Relaxed));
    schedule.mark(clock::now_ns() - went_ns, (calls, late))
}
