//! Knows how the streams of a trial are opened: what the conductor and the hosts say to each other,
//! and what either does.
//!
//! Must not know what a stream carries.

use super::admit::Admissions;
use super::opening::{self, Opening};
use super::streams::{Direction, StreamPlan};
use super::{Course, End, Secret};
use rig::lab::{Lab, LabError, SUT};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};

/// To a host, with what all its streams have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToPart<T> {
    /// Server: listen for these streams.
    Listen(IpAddr, Vec<StreamPlan>, T),
    /// Server: accept until all expected streams have shown their opening.
    Accept,
    /// Client: open these streams.
    Connect(SocketAddr, Vec<StreamPlan>, T),
}

/// From a host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum FromPart<M> {
    /// Listening on this port.
    Listening(u16),
    /// All streams stand and nothing has been sent; the counts before it.
    Standing(M),
}

/// An end of a stream of this host: its plan, whether it sends, its CPU.
pub type PlannedEnd<'p> = (&'p StreamPlan, bool, Option<u32>);

/// Opens all streams over a link; gives what each host told before anything was sent.
///
/// # Errors
/// What a host could not do.
pub fn open<E, T, M>(
    course: &Course,
    lab: &mut Lab,
    (link, streams): (&str, &[StreamPlan]),
    common: impl Fn(&Lab, usize) -> T,
) -> Result<Vec<M>, LabError>
where
    E: End<Stage = ToPart<T>, Staged = FromPart<M>>,
{
    let address = lab.address_of(SUT, link);
    let listen = ToPart::Listen(address, streams.to_vec(), common(lab, SUT));
    let (listen, longest) = (vec![(SUT, listen)], opening::longest(0));
    let listening = course.stage::<E>(lab, listen, longest)?;
    let Some(FromPart::Listening(port)) = listening.first() else { return Ok(Vec::new()) };
    let server = SocketAddr::new(address, *port);
    let mut orders = vec![(SUT, ToPart::Accept)];
    for client in lab.client_indexes() {
        let theirs = streams.iter().filter(|s| s.client == client).cloned().collect();
        orders.push((client, ToPart::Connect(server, theirs, common(lab, client))));
    }
    let standing = course.stage::<E>(lab, orders, opening::longest(streams.len()))?;
    let told = |told| match told {
        FromPart::Standing(told) => Some(told),
        FromPart::Listening(_) => None,
    };
    Ok(standing.into_iter().filter_map(told).collect())
}

/// Accepts until every expected stream has shown its opening; the rest is closed, and counted.
///
/// # Errors
/// When some do not open in time, or cannot begin.
pub fn accept_all(
    listener: &TcpListener,
    (secret, expected): (&Secret, Vec<StreamPlan>),
    mut begin: impl FnMut(PlannedEnd<'_>, TcpStream) -> Result<(), String>,
) -> Result<u64, String> {
    let (mut expected, riders) = apart(expected);
    let fail = |e: io::Error| format!("accept: {e}");
    let mut admissions = Admissions::of(listener, secret, expected.len()).map_err(fail)?;
    while !expected.is_empty() {
        let Some((socket, proved)) = admissions.admit().map_err(fail)? else {
            let (missing, within) = (expected.len(), admissions.within.as_secs());
            let whose = expected.iter().map(|plan| format!("c{:02}", plan.client));
            let whose = whose.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
            return Err(format!("{missing} streams of {whose} did not open within {within} s"));
        };
        let place = expected.iter().position(|plan| plan.opening() == proved);
        match place.filter(|_| opening::accept(&socket).is_ok()) {
            Some(at) => {
                let plan = expected.swap_remove(at);
                begin_all((&plan, &riders), socket, server_end, &mut begin)?;
            }
            None => admissions.refused += 1,
        }
    }
    Ok(admissions.refused)
}

/// Opens these streams.
///
/// # Errors
/// When one does not stand, or cannot begin.
pub fn connect_all(
    server: SocketAddr,
    (secret, streams): (&Secret, &[StreamPlan]),
    mut begin: impl FnMut(PlannedEnd<'_>, TcpStream) -> Result<(), String>,
) -> Result<(), String> {
    let fail = |e: io::Error| format!("connect to {server}: {e}");
    opening::refuse_stranger(server.ip()).map_err(fail)?;
    let (streams, riders) = apart(streams.to_vec());
    let mut opened = Vec::new();
    for plan in &streams {
        let socket = TcpStream::connect_timeout(&server, opening::LONGEST);
        let socket = socket.map_err(fail)?;
        socket.set_read_timeout(Some(opening::LONGEST)).map_err(fail)?;
        let (id, kind) = plan.opening();
        (&mut &socket).write_all(&Opening::of(id, kind, secret).0).map_err(fail)?;
        opened.push(socket);
    }
    for (plan, socket) in streams.iter().zip(opened) {
        opening::accepted(&socket).map_err(fail)?;
        begin_all((plan, &riders), socket, client_end, &mut begin)?;
    }
    Ok(())
}

/// Streams that have a connection, and those that go on one of these.
fn apart(streams: Vec<StreamPlan>) -> (Vec<StreamPlan>, Vec<StreamPlan>) {
    streams.into_iter().partition(|plan| plan.on.is_none())
}

fn server_end(plan: &StreamPlan) -> PlannedEnd<'_> {
    (plan, plan.direction == Direction::Transmit, plan.server_cpu)
}

fn client_end(plan: &StreamPlan) -> PlannedEnd<'_> {
    (plan, plan.direction == Direction::Receive, plan.client_cpu)
}

/// Begins an end of a connection, and of the streams that go on it.
fn begin_all(
    (plan, riders): (&StreamPlan, &[StreamPlan]),
    socket: TcpStream,
    end: fn(&StreamPlan) -> PlannedEnd<'_>,
    begin: &mut impl FnMut(PlannedEnd<'_>, TcpStream) -> Result<(), String>,
) -> Result<(), String> {
    for rider in riders.iter().filter(|rider| rider.on == Some(plan.id)) {
        let again = socket.try_clone();
        begin(end(rider), again.map_err(|e| format!("stream {}: {e}", rider.id))?)?;
    }
    begin(end(plan), socket)
}
