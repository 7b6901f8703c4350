//! Knows the course of a copy at either end of a connection: the client asks for a file or sends
//! one, the server answers, and the copy is complete when the sink says so.
//!
//! Must not know how bytes are read or written.

use super::content::{Content, PAGE};
use super::note::Note;
use super::sink::Sink;
use super::source::Source;
use super::{size, sizes};
use crate::engine::exchange::{Counters, Operations, Order, Serve, Shared, Slot};
use crate::engine::file::{Words, file_system};
use crate::workload::file_copy::spec::BLOCK_SIZE;
use desk::record::{Settings, Value};
use rig::lab::{agent, clock};
use rig::metal::Unready;
use rustix::fd::OwnedFd;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What a plan calls what is asked of a file, at the source and at the sink.
pub const WORDS: [Words; 2] = [
    Words {
        directory: "source_directory",
        size: "file_size",
        block: "block_size",
        direct: "source = \"disk\"",
        cached: "source = \"cache\"",
    },
    Words {
        directory: "sink_directory",
        size: "file_size",
        block: "block_size",
        direct: "sink = \"disk\"",
        cached: "sink = \"cache\"",
    },
];

/// The time that a thread spends in calls on files.
pub struct Timed<'c> {
    counters: &'c Counters,
    /// Nanoseconds.
    sum_ns: u64,
}

impl<'c> Timed<'c> {
    /// What was counted so far, and goes on.
    pub fn of(counters: &'c Counters) -> Self {
        Self { counters, sum_ns: counters.filed_ns.load(Relaxed) }
    }

    /// A call, timed.
    ///
    /// # Errors
    /// What it says.
    pub fn call<T>(&mut self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let begun = clock::now_ns();
        let told = call();
        self.sum_ns += clock::now_ns() - begun;
        self.counters.filed_ns.store(self.sum_ns, Relaxed);
        told
    }
}

/// What an end of a connection holds.
enum Place {
    Source(Source),
    Sink(Sink),
}

/// One end of a connection, of the client or of the server.
pub struct End {
    socket: Option<Arc<TcpStream>>,
    place: Result<Place, Unready>,
    counters: Arc<Counters>,
    content: Content,
    bytes: u64,
    /// The number of the next copy.
    copy: u64,
}

impl End {
    /// The end of a thread, which has one connection.
    pub fn of(order: &Order, slots: Vec<Slot>, sends: bool) -> Self {
        let slot = slots.into_iter().next();
        let content = Content::new(order.seed, slot.as_ref().map_or(0, |slot| slot.id));
        let place = match whole_pages(size(&order.params, BLOCK_SIZE.name)) {
            Err(why) => Err(why),
            Ok(()) if sends => {
                let is_spoilt = agent::plants_wrong_data();
                let own = if is_spoilt { content.clone().spoilt() } else { content.clone() };
                Source::make(order, own).map(Place::Source)
            }
            Ok(()) => Sink::make(order, content.clone()).map(Place::Sink),
        };
        let (socket, counters) = (slot.and_then(|slot| slot.socket), Arc::default());
        Self { socket, place, counters, content, bytes: sizes(&order.params).0, copy: 0 }
    }

    /// Of what goes over the connection.
    pub fn digest(&self) -> u64 {
        self.content.digest()
    }

    fn socket(&self) -> io::Result<Arc<TcpStream>> {
        self.socket.clone().ok_or_else(|| io::Error::other("no connection"))
    }

    fn note(&self) -> Note {
        Note { copy: self.copy, bytes: self.bytes }
    }

    /// Moves the file of the copy under way, and what stands behind it.
    fn move_file(&mut self, socket: &TcpStream) -> io::Result<()> {
        let (note, counters) = (self.note(), Arc::clone(&self.counters));
        let moved = match &mut self.place {
            Ok(Place::Source(source)) => {
                source.send(socket, &counters).and_then(|()| note.send(socket))
            }
            Ok(Place::Sink(sink)) => {
                sink.take(socket, &counters).and_then(|()| note.require(socket))
            }
            Err(why) => Err(io::Error::other(why.clone())),
        };
        moved.map_err(|e| io::Error::new(e.kind(), format!("copy {}: {e}", note.copy)))
    }

    /// Reads what is left at the sink again.
    fn look_again(&mut self) -> io::Result<()> {
        match &mut self.place {
            Ok(Place::Sink(sink)) => sink.review(),
            _ => Ok(()),
        }
    }

    fn lack(&self) -> Option<Unready> {
        self.place.as_ref().err().cloned()
    }

    /// Where the files of this end lie.
    fn facts(&self) -> Settings {
        let (key, file) = match &self.place {
            Ok(Place::Source(source)) => ("source_file_system", source.file.as_ref()),
            Ok(Place::Sink(sink)) => ("sink_file_system", sink.file.as_ref()),
            Err(_) => return Settings::new(),
        };
        let Some(file) = file else { return Settings::new() };
        let behind = rig::block::behind(file).into_iter();
        let mut facts: Settings =
            behind.map(|(key, fact)| (key.to_owned(), Value::Word(fact))).collect();
        facts.insert(key.into(), Value::Word(file_system(file)));
        facts
    }
}

/// Whether blocks are whole pages, by which content is compared and written past the cache.
fn whole_pages(block: u64) -> Result<(), Unready> {
    if block.is_multiple_of(PAGE as u64) {
        return Ok(());
    }
    let (name, down) = (BLOCK_SIZE.name, block / PAGE as u64 * PAGE as u64);
    Err(Unready::NotAvailable(format!(
        "{name} = {block} B is no multiple of {PAGE} B; take {down} B"
    )))
}

impl Operations for End {
    fn slots(&self) -> usize {
        1
    }

    fn lacks(&self) -> Option<Unready> {
        self.lack()
    }

    fn found(&self) -> Settings {
        self.facts()
    }

    fn count_in(&mut self, counters: &Arc<Counters>) {
        self.counters = Arc::clone(counters);
    }

    fn watch(&mut self, _: &OwnedFd) -> io::Result<()> {
        Err(io::Error::other("a thread has one connection, and blocks"))
    }

    /// Asks for a file, or announces one.
    fn begin(&mut self, _: usize) -> io::Result<()> {
        self.note().send(&*self.socket()?)
    }

    fn go_on(&mut self, _: usize) -> io::Result<bool> {
        let socket = self.socket()?;
        self.move_file(&socket)?;
        if matches!(self.place, Ok(Place::Source(_))) {
            self.note().require(&socket)?;
        }
        self.copy += 1;
        Ok(true)
    }

    fn received(&self) -> u64 {
        match &self.place {
            Ok(Place::Sink(sink)) => sink.received(),
            _ => 0,
        }
    }

    fn survived(&mut self, _: usize, _: &io::Error) -> Option<&'static str> {
        None
    }

    fn review(&mut self) -> io::Result<()> {
        self.look_again()
    }
}

impl Serve for End {
    fn serve(&mut self, shared: &Shared, counters: &Arc<Counters>) -> io::Result<()> {
        self.counters = Arc::clone(counters);
        let socket = self.socket()?;
        loop {
            match self.answer(&socket) {
                Ok(true) => counters.done.store(self.copy, Relaxed),
                Ok(false) => break,
                // After the stop the other end may be gone.
                Err(e) if shared.gate.stopped() && e.kind() != io::ErrorKind::InvalidData => break,
                Err(e) => return Err(e),
            }
        }
        self.look_again()
    }

    fn lacks(&self) -> Option<Unready> {
        self.lack()
    }

    fn found(&self) -> Settings {
        self.facts()
    }
}

impl End {
    /// Answers one copy; whether there was one.
    fn answer(&mut self, socket: &TcpStream) -> io::Result<bool> {
        let asked = match Note::receive(socket)? {
            None => return Ok(false),
            Some(asked) => asked,
        };
        let note = self.note();
        if asked != note {
            let Note { copy, bytes } = asked;
            let what = format!("copy {}: the client asked for copy {copy} of {bytes} B", note.copy);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        self.move_file(socket)?;
        if matches!(self.place, Ok(Place::Sink(_))) {
            note.send(socket)?;
        }
        self.copy += 1;
        Ok(true)
    }
}
