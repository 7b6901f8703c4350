//! Knows the hot loops that run as fast as they can, and the content that goes through them.
//!
//! Must not know hosts, plans or windows. Nothing is shared between streams but the stop flag,
//! which all read and nobody writes while the window is open.

use rig::lab::clock;
use rustix::net::{RecvFlags, SendFlags};
use std::io::{self, IoSlice, Write as _};
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The content repeats after this many bytes; it divides every common request size above it.
pub const PERIOD: usize = 4096;
/// Bytes compared at either end of a received chunk.
const PROBE: usize = 8;

/// Counts of one stream; one writer, on a cache line of its own.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct Counters {
    /// Payload bytes sent or received.
    pub bytes: AtomicU64,
    /// Content comparisons made.
    pub checks: AtomicU64,
    /// Paced sender: calls begun.
    pub calls: AtomicU64,
    /// Paced sender: calls begun too late.
    pub late: AtomicU64,
    /// The thread's number in the kernel; 0 until it runs.
    pub thread: AtomicU32,
}

/// Where streams wait for go and learn of stop.
#[derive(Debug, Default)]
pub struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    stop: AtomicBool,
    drain_until_ns: AtomicU64,
    went_ns: AtomicU64,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, bool> {
        // A stream that panicked cannot have left a bool half-written.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets all begin.
    pub fn go(&self) {
        let mut open = self.lock();
        if !*open {
            self.went_ns.store(clock::now_ns(), Relaxed);
        }
        *open = true;
        drop(open);
        self.changed.notify_all();
    }

    /// Senders stop now; receivers read on until their sender ends or this moment comes.
    pub fn stop(&self, drain_until_ns: u64) {
        self.drain_until_ns.store(drain_until_ns, Relaxed);
        self.stop.store(true, Relaxed);
        self.go();
    }

    /// Waits for go.
    pub fn wait(&self) {
        let mut open = self.lock();
        while !*open {
            open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for stop, at most `longest`; then stops by itself.
    pub fn limit(&self, longest: Duration) {
        let deadline = Instant::now() + longest;
        let mut open = self.lock();
        while !self.stopped() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(open);
                return self.stop(0);
            }
            let waited = self.changed.wait_timeout(open, left);
            open = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether the streams were told to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// When it was go, on the monotonic clock; 0 before.
    pub fn went_ns(&self) -> u64 {
        self.went_ns.load(Relaxed)
    }

    fn drained(&self) -> bool {
        self.stopped() && clock::now_ns() >= self.drain_until_ns.load(Relaxed)
    }
}

/// Bytes that begin on a page: the kernel copies those 2 to 3 % cheaper than others.
#[derive(Debug)]
pub struct Paged {
    bytes: Vec<u8>,
    from: usize,
}

impl Paged {
    /// Size of a page; larger ones begin on a multiple of it, too.
    const PAGE: usize = 4096;

    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        let bytes = vec![0; length + Self::PAGE];
        let from = bytes.as_ptr().align_offset(Self::PAGE).min(Self::PAGE);
        let mut paged = Self { bytes, from };
        paged.bytes.truncate(from + length);
        paged
    }
}

impl Deref for Paged {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

impl DerefMut for Paged {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..]
    }
}

/// The content of a stream from any offset below [`PERIOD`], `length` bytes beyond it, and enough
/// for a comparison.
///
/// Words of a splitmix64 sequence (Steele, Lea, Flood 2014), so that a wrong stream, a wrong trial
/// or a shifted byte shows at once.
#[must_use]
pub fn content(seed: u64, stream: u32, length: usize) -> Paged {
    let mut state = seed ^ (u64::from(stream) << 32);
    let mut bytes = Paged::zeros(PERIOD + length.max(PROBE));
    let (words, rest) = bytes.split_at_mut(PERIOD);
    for place in words.chunks_exact_mut(8) {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        place.copy_from_slice(&(word ^ (word >> 31)).to_le_bytes());
    }
    for again in rest.chunks_mut(PERIOD) {
        again.copy_from_slice(&words[..again.len()]);
    }
    bytes
}

/// Sends requests of `request` bytes until the gate stops it or `bytes_max` are sent.
///
/// # Errors
/// What the socket says, other than a time-out.
pub fn send_requests(
    socket: &TcpStream,
    content: &[u8],
    request: usize,
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<()> {
    let (mut at, mut sent) = (0, 0_u64);
    while !gate.stopped() && sent < bytes_max {
        let mut left = &content[at..at + request];
        while !left.is_empty() {
            match send(socket, left) {
                Ok(n) => {
                    left = &left[n..];
                    sent += n as u64;
                }
                Err(e) if is_pause(&e) && !gate.stopped() => {}
                Err(e) => {
                    // What the kernel took of a request that was cut short was sent all the same.
                    counters.bytes.store(sent, Relaxed);
                    return if is_pause(&e) { Ok(()) } else { Err(e) };
                }
            }
        }
        counters.bytes.store(sent, Relaxed);
        at = (at + request) % PERIOD;
    }
    Ok(())
}

/// Sends `depth` requests of `request` bytes a call until the gate stops it or `bytes_max` are
/// sent.
///
/// What the kernel leaves of a call is not sent apart: the next call begins where the stream
/// stands, and the content is periodic.
///
/// # Errors
/// What the socket says, other than a time-out.
pub fn send_batches(
    socket: &TcpStream,
    content: &[u8],
    (request, depth): (usize, usize),
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<()> {
    let mut socket = socket;
    let mut sent = 0_u64;
    let (mut parts, mut laid_at) = (Vec::with_capacity(depth), PERIOD);
    while !gate.stopped() && sent < bytes_max {
        let at = place(sent);
        // Where a call is a multiple of the period, which is the rule, this happens once.
        if at != laid_at {
            lay(&mut parts, content, at, (request, depth));
            laid_at = at;
        }
        match socket.write_vectored(&parts) {
            Ok(n) => {
                sent += n as u64;
                counters.bytes.store(sent, Relaxed);
            }
            Err(e) if is_pause(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Where in the content a stream stands that has moved this many bytes.
#[expect(clippy::cast_possible_truncation, reason = "below PERIOD")]
pub const fn place(moved: u64) -> usize {
    (moved % PERIOD as u64) as usize
}

/// Lays out the requests of one call, the first at `at` of the content.
pub fn lay<'a>(
    parts: &mut Vec<IoSlice<'a>>,
    content: &'a [u8],
    at: usize,
    (request, depth): (usize, usize),
) {
    let start = |number: usize| (at + number * request) % PERIOD;
    parts.clear();
    parts.extend((0..depth).map(|n| IoSlice::new(&content[start(n)..start(n) + request])));
}

/// Receives, at most `read` bytes a call, until the sender ends or the drain time is over.
///
/// Returns whether the sender's end was seen.
///
/// # Errors
/// What the socket says, other than a time-out; content that is not what was sent.
pub fn receive_requests(
    socket: &TcpStream,
    content: &[u8],
    read: usize,
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<bool> {
    let mut buffer = Paged::zeros(read);
    let (mut received, mut checks) = (0_u64, 0_u64);
    // What a call left of a request is asked for by the next, as an application does that reads
    // whole requests.
    let mut left = read;
    while received < bytes_max {
        match receive(socket, &mut buffer[..left]) {
            // After the drain time it may be this host that hung up.
            Ok(0) => return Ok(!gate.drained()),
            Ok(n) => {
                checks += probe(content, received, &buffer[..n])?;
                received += n as u64;
                left = if n == left { read } else { left - n };
                counters.bytes.store(received, Relaxed);
                counters.checks.store(checks, Relaxed);
            }
            Err(e) if is_pause(&e) => {}
            Err(e) => return Err(e),
        }
        if gate.drained() {
            return Ok(false);
        }
    }
    Ok(false)
}

/// One system call: the C library's would look for a cancelled thread before and after each.
fn send(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?)
}

fn receive(socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, buffer, RecvFlags::empty())?.0)
}

/// Whether a call only took too long.
pub fn is_pause(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Compares both ends of a chunk that begins at byte `from` of the stream; gives the comparisons.
fn probe(content: &[u8], from: u64, chunk: &[u8]) -> io::Result<u64> {
    let ends = [0, chunk.len().saturating_sub(PROBE)];
    for start in ends {
        let found = &chunk[start..(start + PROBE).min(chunk.len())];
        let at = place(from + start as u64);
        if found != &content[at..at + found.len()] {
            let place = from + start as u64;
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("content at byte {place} is not what was sent"),
            ));
        }
    }
    Ok(ends.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn a_changed_bit_at_either_end_of_a_chunk_is_refused_and_right_content_is_not(
            (seed, stream) in (any::<u64>(), any::<u32>()),
            (from, length) in (any::<u32>(), PROBE..PERIOD),
            (bit, at_end) in (0..PROBE * 8, any::<bool>()),
        ) {
            let content = content(seed, stream, PERIOD);
            let from = u64::from(from);
            let mut chunk = content[place(from)..][..length].to_vec();
            prop_assert_eq!(probe(&content, from, &chunk).unwrap(), 2);
            let first = if at_end { length - PROBE } else { 0 };
            chunk[first + bit / 8] ^= 1 << (bit % 8);
            prop_assert!(probe(&content, from, &chunk).is_err());
        }
    }
}
