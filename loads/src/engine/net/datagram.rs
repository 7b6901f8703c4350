//! Knows the datagrams of a load: head and content, how an arrived one is told from others and
//! compared, and how the sockets of both ends find each other.
//!
//! Head, little endian: tag of the trial 8, number of the stream 4, check 4, sequence number 8 with
//! the window in its top bit, moment of sending 8. The check is keyed and covers all the rest, so
//! that only who knows the key can make a head. Must not know system calls of many
//! datagrams, nor windows.

use super::Secret;
use super::content::{GOLDEN, Paged, equal, mix, repeated};
use rig::probe::udp_counter;
use serde::{Deserialize, Serialize};
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::net::{TcpStream, UdpSocket};

/// Bytes of a head.
pub const HEAD: usize = 32;
/// Bytes of the shortest datagram: a head and some content.
pub const LEAST: usize = 40;
/// Bytes of the longest, over IPv4.
pub const MOST: usize = 65_507;
/// The content repeats after this many bytes: 8 times a prime, so that 509 datagrams that follow
/// one another differ, whatever size they have but a multiple of the prime.
const PERIOD: usize = 8 * 509;
/// Of the word of the sequence number: the datagram was sent in the window.
const COUNTS: u64 = 1 << 63;

/// What the head of a datagram says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Number of the datagram on its stream, from 0.
    pub sequence: u64,
    /// Whether it was sent in the window, by the clock of its sender.
    pub counts: bool,
    /// When it was handed to the kernel, nanoseconds on the monotonic clock of its sender.
    pub sent_ns: u64,
}

/// The datagrams of one direction of one stream, as both ends know them.
#[derive(Debug)]
pub struct Datagrams {
    /// Bytes of each.
    pub bytes: usize,
    tag: u64,
    id: u32,
    key: u64,
    content: Paged,
    /// The content under the heads of a call.
    under: Vec<[u8; HEAD]>,
}

impl Datagrams {
    /// Those of a stream of a trial, so many bytes each, with content for so many at once.
    #[must_use]
    pub fn of(secret: &Secret, (seed, id): (u64, u32), bytes: usize, at_once: usize) -> Self {
        let word = |all: &[u8]| {
            u64::from_le_bytes(std::array::from_fn(|at| all.get(at).copied().unwrap_or(0)))
        };
        Self {
            bytes,
            tag: word(&secret.test),
            id,
            key: mix(word(&secret.key) ^ u64::from(id)),
            content: repeated((seed, id), PERIOD, bytes * at_once),
            under: vec![[0; HEAD]; at_once],
        }
    }

    /// All content, for a digest.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Makes a byte of the content wrong that each datagram of a period holds once.
    pub fn spoil(&mut self) {
        for period in self.content.chunks_mut(PERIOD) {
            if let Some(byte) = period.get_mut(HEAD) {
                *byte ^= 1;
            }
        }
    }

    /// Where in the content the datagram of this number begins.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "below PERIOD")]
    const fn place(&self, sequence: u64) -> usize {
        (sequence % PERIOD as u64) as usize * self.bytes % PERIOD
    }

    /// So many datagrams that follow one another, one behind the other.
    #[inline]
    fn from(&self, first: u64, count: usize) -> &[u8] {
        let place = self.place(first);
        &self.content[place..place + count * self.bytes]
    }

    /// Has a call send so many datagrams from this number on, one behind the other. Their heads
    /// stand in the content meanwhile.
    ///
    /// # Errors
    /// What the call says.
    pub fn with_heads<T>(
        &mut self,
        first: Head,
        count: usize,
        call: impl FnOnce(&[u8]) -> io::Result<T>,
    ) -> io::Result<T> {
        let place = self.place(first.sequence);
        let mut under = mem::take(&mut self.under);
        for (at, under) in under.iter_mut().take(count).enumerate() {
            let head = Head { sequence: first.sequence + at as u64, ..first };
            let head = bytes_of(self.head(head));
            let begins = place + at * self.bytes;
            let bytes = &mut self.content[begins..begins + HEAD];
            under.copy_from_slice(bytes);
            bytes.copy_from_slice(&head);
        }
        let called = call(self.from(first.sequence, count));
        for (at, under) in under.iter().take(count).enumerate() {
            let begins = place + at * self.bytes;
            self.content[begins..begins + HEAD].copy_from_slice(under);
        }
        self.under = under;
        called
    }

    /// What an arrived datagram says, where it is one of these and whole; none where it is foreign.
    ///
    /// # Errors
    /// Which byte is wrong, of `io::ErrorKind::InvalidData`.
    #[inline]
    pub fn read(&self, arrived: &[u8]) -> io::Result<Option<Head>> {
        let Some(found) = arrived.first_chunk::<HEAD>() else { return self.short(arrived) };
        let words: [u64; 4] = std::array::from_fn(|word| {
            u64::from_le_bytes(std::array::from_fn(|byte| found[word * 8 + byte]))
        });
        let [.., word, sent_ns] = words;
        let head = Head { sequence: word & !COUNTS, counts: word & COUNTS != 0, sent_ns };
        if words != self.head(head) {
            return self.strange(found, head);
        }
        let right = &self.from(head.sequence, 1)[HEAD..];
        if !equal(&arrived[HEAD..], right) {
            return Err(self.damage(head.sequence, &arrived[HEAD..], right));
        }
        Ok(Some(head))
    }

    /// Too short for a head: cut off where it begins as ours do, else foreign.
    #[cold]
    fn short(&self, arrived: &[u8]) -> io::Result<Option<Head>> {
        let ours = bytes_of(self.head(Head::default()));
        let names = arrived.len().min(12);
        if names < 8 || arrived[..names] != ours[..names] {
            return Ok(None);
        }
        Err(wrong(format!("a datagram has {} B and not {} B", arrived.len(), self.bytes)))
    }

    /// A head that is not as it was made: foreign where neither its tag and number nor its check
    /// are ours.
    #[cold]
    fn strange(&self, found: &[u8; HEAD], head: Head) -> io::Result<Option<Head>> {
        let right = bytes_of(self.head(head));
        let (names, check) = (found[..12] == right[..12], found[12..16] == right[12..16]);
        let what = match (names, check) {
            (false, false) => return Ok(None),
            (true, _) => "one of bytes 12 to 31 of its head is wrong".to_owned(),
            (false, true) => {
                let at = (0..12).find(|at| found[*at] != right[*at]).unwrap_or_default();
                let (found, right) = (found[at], right[at]);
                format!("byte {at} of its head is {found:#04x} and not {right:#04x}")
            }
        };
        Err(wrong(format!("datagram {}: {what}", head.sequence)))
    }

    #[cold]
    fn damage(&self, sequence: u64, found: &[u8], right: &[u8]) -> io::Error {
        let differs = found.iter().zip(right).position(|(found, right)| found != right);
        let what = match differs {
            Some(at) => {
                let (found, right) = (found[at], right[at]);
                format!("byte {} is {found:#04x} and not {right:#04x}", HEAD + at)
            }
            None => format!("it has {} B and not {} B", HEAD + found.len(), self.bytes),
        };
        wrong(format!("datagram {sequence}: {what}"))
    }

    /// The words of a head.
    #[inline]
    fn head(&self, head: Head) -> [u64; 4] {
        let word = head.sequence | if head.counts { COUNTS } else { 0 };
        let sum = mix(mix(self.key ^ word.wrapping_mul(GOLDEN)) ^ head.sent_ns);
        let check = (sum ^ (sum >> 32)) << 32;
        [self.tag, u64::from(self.id) | check, word, head.sent_ns]
    }
}

#[inline]
fn bytes_of(words: [u64; 4]) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Counts of UDP of a host, of the network namespace of the thread that asks; 0 where the kernel
/// does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpCounts {
    /// Datagrams that a queue of the sending host refused (`SndbufErrors`).
    pub send_errors: u64,
    /// Datagrams for which a receive buffer had no room (`RcvbufErrors`).
    pub receive_errors: u64,
    /// Datagrams with a wrong checksum (`InCsumErrors`).
    pub checksum_errors: u64,
}

impl UdpCounts {
    /// As they stand now.
    #[must_use]
    pub fn now() -> Self {
        let count = |name| udp_counter(name).unwrap_or(0);
        Self {
            send_errors: count("SndbufErrors"),
            receive_errors: count("RcvbufErrors"),
            checksum_errors: count("InCsumErrors"),
        }
    }

    /// What was added from these until those, each by its key.
    pub fn until(self, later: Self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [
            ("send_buffer_errors", self.send_errors, later.send_errors),
            ("receive_buffer_errors", self.receive_errors, later.receive_errors),
            ("checksum_errors", self.checksum_errors, later.checksum_errors),
        ];
        all.into_iter().map(|(key, before, after)| (key, after.saturating_sub(before)))
    }
}

/// A socket of datagrams between the ends of a connection, each of which does the same: it tells
/// its port over the connection, and takes datagrams of the other's port alone.
///
/// # Errors
/// What a socket says; an end that tells no port.
pub fn socket_beside(mut connection: &TcpStream) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((connection.local_addr()?.ip(), 0))?;
    connection.write_all(&socket.local_addr()?.port().to_le_bytes())?;
    let mut port = [0; 2];
    connection.read_exact(&mut port)?;
    socket.connect((connection.peer_addr()?.ip(), u16::from_le_bytes(port)))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: Secret = Secret { key: [7; 32], test: [9; 16] };

    fn datagrams(bytes: usize) -> Datagrams {
        Datagrams::of(&SECRET, (42, 3), bytes, 4)
    }

    /// Datagrams as they are sent, from this one on.
    fn sent(datagrams: &mut Datagrams, first: Head, count: usize) -> Vec<Vec<u8>> {
        let bytes = datagrams.bytes;
        let copy = |laid: &[u8]| Ok(laid.chunks(bytes).map(<[u8]>::to_vec).collect());
        datagrams.with_heads(first, count, copy).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn a_datagram_is_read_and_no_bit_of_it_can_be_changed(
            (sequence, sent_ns) in (0..COUNTS - 8, any::<u64>()),
            (bytes, counts) in (LEAST..3000, any::<bool>()),
            bit in any::<prop::sample::Index>(),
        ) {
            let mut all = datagrams(bytes);
            let before = all.content().to_vec();
            let first = Head { sequence, counts, sent_ns };
            let sent = sent(&mut all, first, 4);
            prop_assert_eq!(all.content(), &before[..], "heads are taken off again");
            for (at, datagram) in (0..).zip(&sent) {
                let head = Head { sequence: sequence + at, ..first };
                prop_assert_eq!(all.read(datagram).unwrap(), Some(head));
            }
            let (mut flipped, bit) = (sent[1].clone(), bit.index(bytes * 8));
            flipped[bit / 8] ^= 1 << (bit % 8);
            let refused = all.read(&flipped).unwrap_err();
            prop_assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
            if bit / 8 < 12 || bit / 8 >= HEAD {
                let byte = format!("byte {} ", bit / 8);
                prop_assert!(refused.to_string().contains(&byte), "{}", refused);
            }
        }
    }

    #[test]
    fn what_is_too_short_or_too_long_is_damage_and_what_others_send_is_foreign() {
        let mut all = datagrams(500);
        let whole = sent(&mut all, Head::default(), 1).remove(0);
        for length in [12, 31, 32, 499] {
            let refused = all.read(&whole[..length]).unwrap_err().to_string();
            assert!(refused.contains(&format!("{length} B and not 500 B")), "{refused}");
        }
        let refused = all.read(&[&whole[..], b"x"].concat()).unwrap_err().to_string();
        assert!(refused.contains("501 B and not 500 B"), "{refused}");
        for foreign in [&[][..], b"hello", &[0; 40], &[b'x'; 500]] {
            assert_eq!(all.read(foreign).unwrap(), None);
        }
        for (secret, id) in [
            (Secret { test: [8; 16], ..SECRET }, 3),
            (Secret { key: [8; 32], test: [8; 16] }, 3),
            (SECRET, 4),
        ] {
            let mut other = Datagrams::of(&secret, (42, id), 500, 1);
            let other = sent(&mut other, Head::default(), 1).remove(0);
            assert!(!matches!(all.read(&other), Ok(Some(_))), "{id}");
        }
    }

    #[test]
    fn datagrams_of_a_period_differ_in_their_content() {
        for bytes in [LEAST, 1472, 4096, 8192] {
            let mut all = datagrams(bytes);
            let mut places: Vec<usize> = (0..509).map(|n| all.place(n)).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 509, "{bytes}");
            let mut one = sent(&mut all, Head::default(), 1).remove(0);
            let two = sent(&mut all, Head { sequence: 1, ..Head::default() }, 1).remove(0);
            one[HEAD..].copy_from_slice(&two[HEAD..]);
            assert!(all.read(&one).is_err(), "the head of one on the content of another");
        }
    }

    #[test]
    fn both_ends_find_each_other_beside_a_connection() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let two = listener.accept().unwrap().0;
        let there = std::thread::spawn(move || socket_beside(&two).unwrap());
        let (here, there) = (socket_beside(&one).unwrap(), there.join().unwrap());
        here.send(b"one").unwrap();
        there.send(b"two").unwrap();
        let mut buffer = [0; 8];
        assert_eq!(there.recv(&mut buffer).unwrap(), 3);
        assert_eq!((here.recv(&mut buffer).unwrap(), &buffer[..3]), (3, &b"two"[..]));
    }
}
