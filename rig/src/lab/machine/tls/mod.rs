//! Knows the transport between machines: TLS 1.3 over TCP, each end proved by a certificate of one
//! lab.
//!
//! A frame begins a record and ends one. A record is read from the socket when all before it have
//! been opened, so that what `poll(2)` says of the socket is true: nothing waits in a buffer of
//! ours. Sealing and opening share one object, which is held for that alone and for no wait. Must
//! not know what the frames say, nor who belongs to a lab.

use super::transport::{self, Frame, HEAD, KEEP_ALIVE, KeepAlive, Transport};
use crate::lab::trust::{
    Agent, Conductor, MACHINE_PROTOCOL, Peer, agent_settings, conductor_settings, open, part,
    read_record, sentence, shake,
};
use rustls::{ClientConnection, Connection, Error, ServerConnection};
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest wait for the other end to prove itself, and to send the rest of a frame.
const WHOLE: Duration = Duration::from_secs(5);
/// Most bytes that one record carries (RFC 8446, 5.1).
const RECORD: usize = 1 << 14;

/// What helps where no packet comes back.
const REACH: &str = "is it the address of the machine, and does a firewall let it through?";

/// One end of a connection that both ends have proved.
#[derive(Debug)]
pub struct Tls {
    stream: TcpStream,
    /// What has come of a frame.
    begun: Vec<u8>,
    peer: Peer,
    link: Arc<Link>,
}

/// What receiving, sending and keep-alive frames share. Whoever takes both takes `out` first.
#[derive(Debug)]
struct Link {
    /// Held while a frame is sealed and written: records arrive in the order of their sealing.
    out: Mutex<TcpStream>,
    /// Held while bytes are sealed or opened.
    tls: Mutex<Connection>,
}

impl Link {
    fn send(&self, channel: u16, body: &[u8]) -> io::Result<()> {
        let mut frame = Vec::with_capacity(HEAD + body.len());
        transport::write(&mut frame, channel, body)?;
        let mut out = held(&self.out);
        for part in frame.chunks(RECORD) {
            let mut sealed = Vec::with_capacity(RECORD + 64);
            let mut tls = held(&self.tls);
            tls.writer().write_all(part)?;
            while tls.wants_write() {
                tls.write_tls(&mut sealed)?;
            }
            drop(tls);
            out.write_all(&sealed)?;
        }
        Ok(())
    }
}

fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is no connection, with the remedy.
fn not_connected(e: &io::Error, address: SocketAddr) -> io::Error {
    let (kind, what) = match e.kind() {
        io::ErrorKind::ConnectionRefused => {
            (e.kind(), format!("{e}; start `stend agent listen {address}` on the machine"))
        }
        io::ErrorKind::TimedOut => {
            (io::ErrorKind::HostUnreachable, format!("nothing came back from there; {REACH}"))
        }
        kind => (kind, format!("{e}; {REACH}")),
    };
    io::Error::new(kind, what)
}

impl Tls {
    /// Connects to the agent of a machine, by its name in the lab, as the conductor of the lab:
    /// `within` so long, and again for the proof.
    ///
    /// # Errors
    /// When nobody listens there, it is another machine, either end refuses the other, or the
    /// directory of the lab cannot be read: `TimedOut` where the other end took the connection and
    /// said nothing, `HostUnreachable` where nothing came back at all. The words name the remedy.
    pub fn connect(
        address: SocketAddr,
        machine: &str,
        conductor: &Conductor,
        within: Duration,
    ) -> io::Result<Self> {
        let (settings, name) = conductor_settings(conductor, machine).map_err(io::Error::other)?;
        let tls = ClientConnection::new(settings, name).map_err(io::Error::other)?;
        let stream = TcpStream::connect_timeout(&address, within);
        let stream = stream.map_err(|e| not_connected(&e, address))?;
        let mut end = Self::prove(stream, tls.into(), (Peer::Agent, within))?;
        // In TLS 1.3 a client is done before the server has looked at its certificate: the first
        // frame of the agent says that it was taken.
        match end.receive()? {
            Frame { channel: KEEP_ALIVE, .. } => Ok(end),
            _ => Err(sentence(&Error::NoApplicationProtocol, Peer::Agent)),
        }
    }

    /// Takes the connection of the conductor as an agent of its lab.
    ///
    /// # Errors
    /// When either end refuses the other. The words name the remedy.
    pub fn accept(stream: TcpStream, agent: &Agent) -> io::Result<Self> {
        let settings = agent_settings(agent).map_err(io::Error::other)?;
        let tls = ServerConnection::new(settings).map_err(io::Error::other)?;
        let mut end = Self::prove(stream, tls.into(), (Peer::Conductor, WHOLE))?;
        end.send(KEEP_ALIVE, &[])?;
        Ok(end)
    }

    fn prove(
        stream: TcpStream,
        mut tls: Connection,
        (peer, within): (Peer, Duration),
    ) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        shake(&stream, &mut tls, within, peer)?;
        if tls.alpn_protocol() != Some(MACHINE_PROTOCOL) {
            part(&stream);
            return Err(sentence(&Error::NoApplicationProtocol, peer));
        }
        stream.set_read_timeout(Some(WHOLE))?;
        stream.set_write_timeout(Some(WHOLE))?;
        let link = Link { out: Mutex::new(stream.try_clone()?), tls: Mutex::new(tls) };
        Ok(Self { stream, begun: Vec::new(), peer, link: Arc::new(link) })
    }

    /// The frame that has come whole, if it has.
    fn whole(&mut self) -> io::Result<Option<Frame>> {
        let Some(head) = self.begun.first_chunk::<HEAD>() else { return Ok(None) };
        let (length, channel) = transport::parse(*head)?;
        if self.begun.len() < HEAD + length {
            return Ok(None);
        }
        if self.begun.len() > HEAD + length {
            let what = "a frame that does not end with its record; both must be the same version";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let body = self.begun.split_off(HEAD);
        self.begun.clear();
        Ok(Some(Frame { channel, body }))
    }
}

impl Transport for Tls {
    fn send(&mut self, channel: u16, body: &[u8]) -> io::Result<()> {
        self.link.send(channel, body)
    }

    fn receive(&mut self) -> io::Result<Frame> {
        loop {
            // The wait, which holds nothing.
            let record = read_record(&mut self.stream)?;
            open(&mut held(&self.link.tls), &record, &mut self.begun, self.peer)?;
            if self.begun.is_empty() {
                // A record of TLS itself, as new keys are: the other end is there, no more.
                return Ok(Frame { channel: KEEP_ALIVE, body: Vec::new() });
            }
            if let Some(frame) = self.whole()? {
                return Ok(frame);
            }
        }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn shares_clock(&self) -> bool {
        false
    }

    fn keep_alive(&self) -> Option<KeepAlive> {
        let link = Arc::clone(&self.link);
        Some(Box::new(move || link.send(KEEP_ALIVE, &[])))
    }
}

#[cfg(test)]
mod tests;
