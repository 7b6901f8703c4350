//! Knows where the bytes of a file come from, and how they get to the socket.
//!
//! Must not know who asked for them.

use super::content::Content;
use super::ends::{Timed, WORDS};
use super::{size, sizes, word};
use crate::engine::exchange::{Counters, Order};
use crate::engine::file::{self, Wanted};
use crate::engine::net::content::Paged;
use crate::engine::net::send_all;
use crate::engine::pipe::{Pipe, again};
use crate::workload::file_copy::spec::{BLOCK_SIZE, ENGINE, SOURCE, SOURCE_DIRECTORY};
use rig::metal::Unready;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Advice, fadvise, fsync, sendfile};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::Ordering::Relaxed;

/// How a block gets from its place to the socket.
enum Way {
    /// It is made in the buffer, and sent.
    Memory,
    /// It is read into the buffer, and sent.
    Copy,
    /// The kernel sends it from the file.
    Sendfile,
    /// The kernel moves it through a pipe.
    Splice(Pipe),
}

/// Where files of a connection come from.
pub struct Source {
    way: Way,
    content: Content,
    /// None in memory.
    pub file: Option<File>,
    /// Whether its pages are dropped before each copy.
    from_disk: bool,
    bytes: u64,
    buffer: Paged,
    sent: u64,
}

impl Source {
    /// Makes the file of a trial.
    ///
    /// # Errors
    /// A way that the place does not have; what the directory lacks.
    pub fn make(order: &Order, content: Content) -> Result<Self, Unready> {
        let (params, place) = (&order.params, word(&order.params, SOURCE.name));
        let (bytes, block) = sizes(params);
        let way = match (word(params, ENGINE.name), place) {
            ("copy", "memory") => Way::Memory,
            ("copy", _) => Way::Copy,
            (engine, "memory") => {
                return Err(Unready::NotAvailable(format!(
                    "engine = \"{engine}\" sends a file, and source = \"memory\" has none; take \
                     engine = \"copy\", or source = \"cache\""
                )));
            }
            ("splice", _) => Way::Splice(Pipe::make().map_err(|e| failed("the pipe", &e))?),
            _ => Way::Sendfile,
        };
        let buffer = Paged::zeros(usize::try_from(block).unwrap_or(usize::MAX));
        let from_disk = place == "disk";
        let (file, sent) = (None, 0);
        let mut source = Self { way, content, file, from_disk, bytes, buffer, sent };
        if place == "memory" {
            source.content.fill(&mut source.buffer, 0);
            return Ok(source);
        }
        let wanted = Wanted {
            directory: file::directory(word(params, SOURCE_DIRECTORY.name)),
            bytes,
            begin: 0,
            block: usize::try_from(size(params, BLOCK_SIZE.name)).unwrap_or(usize::MAX),
            direct: false,
            words: WORDS[0],
        };
        let file = file::make(&wanted)?;
        source.fill(&file).map_err(|e| failed("the file that is sent", &e))?;
        source.file = Some(file);
        Ok(source)
    }

    /// Writes the file; one that is to come from a disk is on it then.
    fn fill(&mut self, file: &File) -> Result<(), Errno> {
        let mut at = 0;
        while at < self.bytes {
            let part = part(&mut self.buffer, self.bytes - at);
            self.content.fill(part, at);
            file.write_all_at(part, at)
                .map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO))?;
            at += part.len() as u64;
        }
        if self.from_disk { fsync(file) } else { Ok(()) }
    }

    /// Sends the file once.
    ///
    /// # Errors
    /// What the socket or the file says.
    pub fn send(&mut self, socket: &TcpStream, counters: &Counters) -> io::Result<()> {
        let mut timed = Timed::of(counters);
        if let Some(file) = self.file.as_ref().filter(|_| self.from_disk) {
            timed.call(|| Ok(fadvise(file, 0, None, Advice::DontNeed)?))?;
        }
        // A call of sendfile on such a socket waits for the file alone.
        let waits_for_one = matches!(self.way, Way::Sendfile);
        if waits_for_one {
            socket.set_nonblocking(true)?;
        }
        let mut at = 0;
        while at < self.bytes {
            let moved = self.send_block(socket, at, &mut timed)?;
            at += moved;
            self.sent += moved;
            counters.sent.store(self.sent, Relaxed);
        }
        if waits_for_one {
            socket.set_nonblocking(false)?;
        }
        Ok(())
    }

    /// Sends what follows byte `at`, a block at the most; gives how much that was.
    fn send_block(
        &mut self,
        socket: &TcpStream,
        at: u64,
        timed: &mut Timed<'_>,
    ) -> io::Result<u64> {
        let part = part(&mut self.buffer, self.bytes - at);
        let length = part.len();
        let Some(file) = &self.file else {
            self.content.renumber(part, at);
            send_all(socket, part)?;
            return Ok(length as u64);
        };
        let moved = match &mut self.way {
            Way::Sendfile => loop {
                let mut from = at;
                let call = || sendfile(socket, file, Some(&mut from), length);
                match timed.call(|| again(call)) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                        wait_for_room(socket)?;
                    }
                    told => break told?,
                }
            },
            Way::Splice(pipe) => {
                let moved = timed.call(|| pipe.take(file, Some(at), length))?;
                pipe.give_all(socket)?;
                moved
            }
            Way::Copy | Way::Memory => {
                timed.call(|| file.read_exact_at(part, at))?;
                send_all(socket, part)?;
                length
            }
        };
        if moved == 0 {
            let what = format!("the file of the source ends behind byte {at}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(moved as u64)
    }
}

/// Waits until a socket takes more, or is at its end.
fn wait_for_room(socket: &TcpStream) -> io::Result<usize> {
    again(|| poll(&mut [PollFd::new(socket, PollFlags::OUT)], None))
}

/// The part of a buffer that the rest of a file takes.
pub fn part(buffer: &mut [u8], left: u64) -> &mut [u8] {
    let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    &mut buffer[..length]
}

fn failed(what: &str, why: &Errno) -> Unready {
    Unready::Failed(format!("{what} cannot be made: {why}; take a smaller file_size"))
}
