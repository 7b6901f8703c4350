//! Knows where the bytes of a file go: compared, and written to a file that is new for each copy.
//!
//! Must not know where they come from.

use super::content::{Content, PAGE};
use super::ends::{Timed, WORDS};
use super::source::part;
use super::{sizes, word};
use crate::engine::exchange::{Counters, Order};
use crate::engine::file::{self, Wanted};
use crate::engine::net::content::Paged;
use crate::engine::net::receive;
use crate::workload::file_copy::spec::{SINK, SINK_DIRECTORY};
use rig::metal::Unready;
use rustix::fs::{fstat, fsync, ftruncate};
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Most blocks of the last file that are read again, and their most bytes.
const AGAIN: u64 = 256;
const AGAIN_BYTES: u64 = 16 << 20;
/// No block is read again after this; the limit of those who wait for a trial is longer.
const AGAIN_FOR: Duration = Duration::from_secs(2);

/// Where files of a connection go.
pub struct Sink {
    content: Content,
    /// What a file is made by; none in memory.
    wanted: Option<Wanted>,
    /// That of the copy under way.
    pub file: Option<File>,
    bytes: u64,
    buffer: Paged,
    /// Bytes of the file that are written.
    written: u64,
    received: u64,
}

impl Sink {
    /// Makes a first file, so that what cannot be had is told before go.
    ///
    /// # Errors
    /// What the directory lacks.
    pub fn make(order: &Order, content: Content) -> Result<Self, Unready> {
        let (params, place) = (&order.params, word(&order.params, SINK.name));
        let (bytes, block) = sizes(params);
        let block = usize::try_from(block).unwrap_or(usize::MAX);
        let wanted = (place != "memory").then(|| Wanted {
            directory: file::directory(word(params, SINK_DIRECTORY.name)),
            bytes,
            begin: 0,
            block,
            direct: place == "disk",
            words: WORDS[1],
        });
        let file = wanted.as_ref().map(file::make).transpose()?;
        let (buffer, written, received) = (Paged::zeros(block), 0, 0);
        Ok(Self { content, wanted, file, bytes, buffer, written, received })
    }

    /// Takes a file once; it is where it has to be then.
    ///
    /// # Errors
    /// What the socket or the file says; bytes that are wrong or missing.
    pub fn take(&mut self, socket: &TcpStream, counters: &Counters) -> io::Result<()> {
        let mut timed = Timed::of(counters);
        if let Some(wanted) = &self.wanted {
            // The room of the last copy is free before the next takes its own.
            timed.call(|| {
                self.file = None;
                self.file = Some(file::make(wanted).map_err(io::Error::other)?);
                Ok(())
            })?;
        }
        self.written = 0;
        let mut at = 0;
        while at < self.bytes {
            let length = self.receive_block(socket, at)?;
            if self.wanted.is_some() {
                timed.call(|| self.write(at, length))?;
            }
            at += length as u64;
            self.received += length as u64;
            counters.received.store(self.received, Relaxed);
        }
        if self.wanted.is_some() { timed.call(|| self.finish()) } else { Ok(()) }
    }

    /// Bytes of all files so far.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Fills the buffer with what follows byte `at`, and compares it; gives how much that was.
    fn receive_block(&mut self, socket: &TcpStream, at: u64) -> io::Result<usize> {
        let block = part(&mut self.buffer, self.bytes - at);
        let mut filled = 0;
        while filled < block.len() {
            match receive(socket, &mut block[filled..]) {
                Ok(0) => {
                    let (end, bytes) = (at + filled as u64, self.bytes);
                    let what = format!("the file ended behind byte {end} of {bytes}");
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
                }
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.content.verify(block, at)?;
        Ok(filled)
    }

    /// Writes the buffer; past the page cache only whole pages can be, and the last is cut later.
    fn write(&mut self, at: u64, length: usize) -> io::Result<()> {
        let (Some(file), Some(wanted)) = (&self.file, &self.wanted) else { return Ok(()) };
        let whole = if wanted.direct { length.next_multiple_of(PAGE) } else { length };
        file.write_all_at(&self.buffer[..whole.min(self.buffer.len())], at)?;
        self.written = at + length as u64;
        Ok(())
    }

    /// Cuts the file where it has to end, and has a disk keep it.
    fn finish(&self) -> io::Result<()> {
        let (Some(file), Some(wanted)) = (&self.file, &self.wanted) else { return Ok(()) };
        if wanted.direct {
            ftruncate(file, self.bytes)?;
            fsync(file)?;
        }
        let (found, bytes) = (fstat(file)?.st_size, self.bytes);
        if u64::try_from(found) == Ok(bytes) {
            return Ok(());
        }
        let what = format!("the file of the sink has {found} B and not {bytes} B");
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }

    /// Reads blocks of the last file again, and compares them.
    ///
    /// # Errors
    /// What the file says; a byte that is wrong.
    pub fn review(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let block = self.buffer.len() as u64;
        let all = self.written.div_ceil(block);
        let most = AGAIN.min(AGAIN_BYTES / block).max(1);
        // Evenly over the file, its last block too.
        let step = all.div_ceil(most).max(1);
        let (last, begun) = (all.checked_sub(1), Instant::now());
        for number in (0..all).step_by(usize::try_from(step).unwrap_or(1)).chain(last) {
            if begun.elapsed() > AGAIN_FOR {
                break;
            }
            let at = number * block;
            let length = part(&mut self.buffer, self.written - at).len();
            let found = read_whole(file, (&mut self.buffer, length), at)?;
            let told = self.content.verify(found, at);
            told.map_err(|e| io::Error::new(e.kind(), format!("read again: {e}")))?;
        }
        Ok(())
    }
}

/// Reads so many bytes at a place into a buffer, which past the page cache is asked for in whole.
fn read_whole<'b>(
    file: &File,
    (buffer, length): (&'b mut Paged, usize),
    at: u64,
) -> io::Result<&'b [u8]> {
    let found = file.read_at(buffer, at)?;
    if found < length {
        let end = at + found as u64;
        let what = format!("read again: the file of the sink ends behind byte {end}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(&buffer[..length])
}
