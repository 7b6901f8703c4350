//! Knows the streams of TCP that run beside the operations of an exchange, so that operations wait
//! as they do on a path that is in use.
//!
//! Must not know what an operation is.

use super::client::{Counters, Shared};
use crate::engine::net::content::{content, place, probe};
use crate::engine::net::{receive, send};
use desk::record::{ParamKind, ParamSpec, Settings, Value};
use std::io;
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;

/// Which way they go.
pub const BESIDE: ParamSpec = ParamSpec {
    name: "beside",
    about: "a stream of TCP of each client at the same time, seen from the system under test: \
            transmit, receive, duplex (one each way) or none",
    role: None,
    kind: ParamKind::choice(&["none", "transmit", "receive", "duplex"]),
    default: "none",
};

/// Numbers of streams begin above those of connections: an even one is sent by the server.
const FIRST: u32 = 1 << 20;
/// Bytes of a call.
const CHUNK: usize = 64 << 10;

/// The streams of the client of an index.
pub fn of_client(params: &Settings, client: usize) -> impl Iterator<Item = u32> {
    let way = params.get(BESIDE.name).and_then(Value::word).unwrap_or_default();
    let (transmit, receive) = match way {
        "transmit" => (true, false),
        "receive" => (false, true),
        "duplex" => (true, true),
        _ => (false, false),
    };
    let first = FIRST + 2 * u32::try_from(client).unwrap_or(0);
    [(transmit, first), (receive, first + 1)]
        .into_iter()
        .filter_map(|(asked, id)| asked.then_some(id))
}

/// Whether the server sends this stream.
pub const fn is_sent_by_server(id: u32) -> bool {
    id.is_multiple_of(2)
}

/// Whether hosts receive such streams: the server, and each client.
pub fn arrives(params: &Settings) -> (bool, bool) {
    let ids = || of_client(params, 0);
    (ids().any(|id| !is_sent_by_server(id)), ids().any(is_sent_by_server))
}

/// Moves bytes from go to the stop, and counts and compares them where they arrive.
///
/// # Errors
/// Content that is not what was sent.
pub fn run(
    socket: &TcpStream,
    sends: bool,
    (seed, id): (u64, u32),
    (shared, counters): (&Shared, &Counters),
) -> io::Result<()> {
    let content = content(seed, id, CHUNK);
    let mut buffer = vec![0; CHUNK];
    let mut moved = 0;
    shared.gate.wait();
    while !(sends && shared.gate.stopped()) {
        let went = match sends {
            true => send(socket, &content[place(moved)..][..CHUNK]),
            false => receive(socket, &mut buffer),
        };
        match went {
            Ok(count) if count > 0 => {
                if !sends {
                    probe(&content, moved, &buffer[..count])?;
                }
                moved += count as u64;
                let counted = if sends { &counters.sent } else { &counters.received };
                counted.store(moved, Relaxed);
            }
            // The other end hangs up once it was stopped, and may be stopped first. That no stream
            // ends before the window closes is looked at there.
            _ => break,
        }
    }
    Ok(())
}
