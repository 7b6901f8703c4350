//! Knows how TLS records travel over a socket: one at a time, so that no byte of a later one waits
//! where `poll(2)` does not see it.
//!
//! Must not know what is in them, nor who the ends are.

use super::refusal::{Peer, sentence};
use rustls::Connection;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Bytes before the body of a record: type, version, length (RFC 8446, 5.1).
const HEAD: usize = 5;
/// Longest body of a record (RFC 8446, 5.2).
const BODY_MAX: usize = (1 << 14) + 256;
/// For so long, and so many bytes, an end that breaks off hears the other out.
const PARTING: Duration = Duration::from_secs(1);
const PARTING_BYTES: u64 = 1 << 17;

/// A socket that is read and written until a moment, however slowly bytes come.
#[derive(Debug)]
pub struct Until<'s> {
    stream: &'s TcpStream,
    ends: Instant,
}

impl<'s> Until<'s> {
    /// From now on for so long.
    #[must_use]
    pub fn new(stream: &'s TcpStream, within: Duration) -> Self {
        Self { stream, ends: Instant::now() + within }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.ends.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(late()) } else { Ok(Some(left)) }
    }
}

fn late() -> io::Error {
    let what = "the other end was silent for too long; does it serve another run, or is it another \
                version of stend?";
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        match self.stream.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Err(late()),
            other => other,
        }
    }
}

impl Write for Until<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Reads one record, with its head, and not a byte behind it.
///
/// # Errors
/// As the stream; when it is longer than a record may be.
pub fn read_record(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = [0; HEAD];
    from.read_exact(&mut head)?;
    let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
    if length > BODY_MAX {
        let what = format!("a record of {length} B; the longest of TLS is {BODY_MAX} B");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let mut record = vec![0; HEAD + length];
    record[..HEAD].copy_from_slice(&head);
    from.read_exact(&mut record[HEAD..])?;
    Ok(record)
}

/// Opens a record and appends what it says to `plain`.
///
/// # Errors
/// When it was changed, or the other end breaks off; the words name the remedy.
pub fn open(
    tls: &mut Connection,
    record: &[u8],
    plain: &mut Vec<u8>,
    peer: Peer,
) -> io::Result<()> {
    let mut rest = record;
    while !rest.is_empty() {
        if tls.read_tls(&mut rest)? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let state = tls.process_new_packets();
        let state = state.map_err(|e| sentence(&e, peer))?;
        let at = plain.len();
        plain.resize(at + state.plaintext_bytes_to_read(), 0);
        tls.reader().read_exact(&mut plain[at..])?;
        if state.peer_has_closed() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// Shakes hands. Where that fails the other end is told why.
///
/// # Errors
/// When either end refuses the other, or the time is up; the words name the remedy.
pub fn shake(
    stream: &TcpStream,
    tls: &mut Connection,
    within: Duration,
    peer: Peer,
) -> io::Result<()> {
    let mut until = Until::new(stream, within);
    let shaken = (|| {
        while tls.is_handshaking() || tls.wants_write() {
            if tls.wants_write() {
                tls.write_tls(&mut until)?;
                continue;
            }
            open(tls, &read_record(&mut until)?, &mut Vec::new(), peer)?;
        }
        Ok(())
    })();
    if shaken.is_err() {
        // The alert; an end that is gone cannot be told.
        while tls.wants_write() && tls.write_tls(&mut until).is_ok_and(|bytes| bytes > 0) {}
        part(stream);
    }
    shaken
}

/// Ends a connection so that the other end gets what was written last: one that is closed with
/// bytes unread is reset, and what was written is lost (RFC 2525, 2.17).
pub fn part(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let rest = Until::new(stream, PARTING);
    let _ = io::copy(&mut rest.take(PARTING_BYTES), &mut io::sink());
}
