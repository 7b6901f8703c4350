//! Knows the few bytes that stand before and behind a file: which copy it is, and how long.
//!
//! Must not know files.

use crate::engine::net::{receive, send_all};
use std::io;
use std::net::TcpStream;

/// Length on the wire.
const BYTES: usize = 16;

/// What an end says of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its number on the connection, from 0.
    pub copy: u64,
    /// Bytes of the file, as this end counted them.
    pub bytes: u64,
}

impl Note {
    /// Sends it.
    ///
    /// # Errors
    /// What the socket says.
    pub fn send(self, socket: &TcpStream) -> io::Result<()> {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.copy.to_le_bytes());
        bytes[8..].copy_from_slice(&self.bytes.to_le_bytes());
        send_all(socket, &bytes)
    }

    /// Receives one; none where the other end has ended before it.
    ///
    /// # Errors
    /// What the socket says; an end within it.
    pub fn receive(socket: &TcpStream) -> io::Result<Option<Self>> {
        let (mut bytes, mut filled) = ([0; BYTES], 0);
        while filled < BYTES {
            match receive(socket, &mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        let [copy, length] = [0, 8].map(|from| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[from..from + 8]);
            u64::from_le_bytes(word)
        });
        Ok(Some(Self { copy, bytes: length }))
    }

    /// Receives what has to be this one.
    ///
    /// # Errors
    /// What the socket says; another one, where bytes are missing or too many.
    pub fn require(self, socket: &TcpStream) -> io::Result<()> {
        let Self { copy, bytes } = self;
        match Self::receive(socket)? {
            Some(found) if found == self => Ok(()),
            Some(found) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "copy {copy}: behind byte {bytes} the other end says copy {} of {} B",
                    found.copy, found.bytes
                ),
            )),
            None => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("copy {copy}: the other end ended behind byte {bytes}"),
            )),
        }
    }
}
