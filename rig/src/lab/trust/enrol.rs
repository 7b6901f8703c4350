//! Knows what a machine that is invited and who invites it say to one another, a message a record.
//!
//! Must not know who is believed.

use super::record::{self, Until};
use super::refusal::{Peer, sentence};
use super::settings::JOIN_PROTOCOL;
use rustls::{Connection, Error};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Longest wait for what is said without a person.
pub(super) const PROMPT: Duration = Duration::from_secs(5);
/// Longest message: what one record holds.
const MESSAGE_MAX: usize = 1 << 14;

/// What a machine that is invited says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) version: String,
    /// That of the code.
    pub(super) secret: String,
    /// Its public key.
    pub(super) key: String,
}

/// What it is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Its part in the lab.
    Signed { lab: String, name: String, certificate: String },
    /// Why it has none.
    Refused(String),
}

/// A connection on which hands were shaken.
pub(super) struct Channel {
    stream: TcpStream,
    tls: Connection,
    peer: Peer,
}

impl Channel {
    /// Shakes hands.
    pub(super) fn shake(stream: TcpStream, mut tls: Connection, peer: Peer) -> io::Result<Self> {
        record::shake(&stream, &mut tls, PROMPT, peer)?;
        if tls.alpn_protocol() != Some(JOIN_PROTOCOL) {
            return Err(sentence(&Error::NoApplicationProtocol, peer));
        }
        Ok(Self { stream, tls, peer })
    }

    /// The certificates that the other end showed.
    pub(super) fn shown(&self) -> Vec<Vec<u8>> {
        let shown = self.tls.peer_certificates().unwrap_or_default();
        shown.iter().map(|certificate| certificate.to_vec()).collect()
    }

    pub(super) fn say(&mut self, message: &impl Serialize) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        if body.len() > MESSAGE_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.tls.writer().write_all(&body)?;
        let mut until = Until::new(&self.stream, PROMPT);
        while self.tls.wants_write() {
            self.tls.write_tls(&mut until)?;
        }
        Ok(())
    }

    pub(super) fn hear<T: DeserializeOwned>(&mut self, within: Duration) -> io::Result<T> {
        let mut body = Vec::new();
        let mut until = Until::new(&self.stream, within);
        while body.is_empty() {
            let record = record::read_record(&mut until)?;
            record::open(&mut self.tls, &record, &mut body, self.peer)?;
        }
        Ok(serde_json::from_slice(&body)?)
    }

    /// Ends it; what was said last arrives.
    pub(super) fn part(self) {
        record::part(&self.stream);
    }
}
