//! Knows the sessions of subscribers (PPPoE, RFC 2516): how a frame of one is written, and how the
//! device that ends them, and a subscriber, takes the header off.
//!
//! Must not know what a session carries beyond IPv4, nor how sessions begin.

use super::device::OWN;
use super::frame::{ETHERNET, HEAD, Head, IPV4, Mac, half, put};

/// Bytes of the headers of PPPoE and PPP together.
pub const HEADER: usize = 8;
/// Most sessions of a device.
pub const MOST: u16 = 4096;

/// `EtherType` of PPPoE's session stage, version and type 1, code of data.
const SESSION: [u8; 4] = [0x88, 0x64, 0x11, 0x00];
/// Number of IPv4 in PPP (RFC 1332).
const PPP_IPV4: u16 = 0x0021;
/// Where a frame of a session begins in the line before its head.
const BEGIN: usize = HEAD - HEADER;
/// Bytes of the number of the protocol, which PPPoE's length counts.
const PROTOCOL: u16 = 2;

/// The sessions that are open.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// The subscriber of each, by the number of the session; 0 has none.
    peers: Vec<Mac>,
}

impl Sessions {
    /// Sessions 1 to so many, each of the subscriber of its number.
    #[must_use]
    pub fn new(count: u16) -> Self {
        Self { peers: (0..=count).map(subscriber).collect() }
    }

    /// Takes the header off a frame whose other bytes, without it, are so many: it is IPv4 over
    /// Ethernet then. False, and nothing is changed, where it is no frame of an open session to
    /// this device from that session's subscriber.
    #[inline]
    #[must_use]
    pub fn end(&self, before: &Head, head: &mut Head, bytes: usize) -> bool {
        let (length, number) = (half(head, 10), usize::from(half(head, 8)));
        let mut from: Mac = [before[62], before[63], 0, 0, 0, 0];
        from[2..].copy_from_slice(&head[..4]);
        let fits = u32::from(length) >= u32::from(half(head, 16)) + u32::from(PROTOCOL)
            && usize::from(length) - usize::from(PROTOCOL) + ETHERNET <= bytes;
        let opened = number > 0 && self.peers.get(number) == Some(&from);
        let carries = head[4..8] == SESSION && half(head, 12) == PPP_IPV4;
        let ends = before[BEGIN..BEGIN + 6] == OWN && fits && opened && carries;
        if ends {
            head[..6].copy_from_slice(&OWN);
            head[6..12].copy_from_slice(&from);
            head[12..14].copy_from_slice(&IPV4);
        }
        ends
    }
}

/// Puts the header of a session into an IPv4 frame: its first bytes move to the line before.
#[inline]
pub fn wrap(before: &mut Head, head: &mut Head, session: u16) {
    before[BEGIN..].copy_from_slice(&head[..HEADER]);
    head.copy_within(HEADER..12, 0);
    head[4..8].copy_from_slice(&SESSION);
    let length = half(head, 16) + PROTOCOL;
    put(head, 8, session);
    put(head, 10, length);
    put(head, 12, PPP_IPV4);
}

/// Takes the header of a session off a frame, as its subscriber does; gives the session. None, and
/// nothing is changed, where it is no frame of a session to that session's subscriber.
#[must_use]
pub fn take_off(before: &Head, head: &mut Head) -> Option<u16> {
    let session = half(head, 8);
    let carries = head[4..8] == SESSION && half(head, 12) == PPP_IPV4;
    let fits = half(head, 10) == half(head, 16) + PROTOCOL;
    let comes = session > 0 && before[BEGIN..BEGIN + 6] == subscriber(session);
    (carries && fits && comes).then(|| {
        head.copy_within(..4, HEADER);
        head[..HEADER].copy_from_slice(&before[BEGIN..]);
        head[12..14].copy_from_slice(&IPV4);
        session
    })
}

/// Address of the subscriber of a session.
#[must_use]
pub const fn subscriber(session: u16) -> Mac {
    let [high, low] = session.to_be_bytes();
    [0x02, 0, 0, 3, high, low]
}

#[cfg(test)]
mod tests {
    use super::super::frame::{self, Fields};
    use super::super::tuple::Tuple;
    use super::*;
    use proptest::prelude::*;

    /// A frame of a session as it is on a link, by RFC 2516, section 4, and RFC 1661.
    fn plain(fields: &Fields, bytes: usize, session: u16) -> Vec<u8> {
        let mut head = [0; HEAD];
        frame::write(&mut head, bytes, fields);
        let payload = (bytes - 14 + 2) as u16;
        let mut all = [&fields.to[..], &fields.from[..], &[0x88, 0x64, 0x11, 0x00]].concat();
        all.extend([session.to_be_bytes(), payload.to_be_bytes(), [0x00, 0x21]].concat());
        all.extend(&head[14..]);
        all
    }

    fn fields(session: u16) -> Fields {
        let tuple = Tuple { src: 7, dst: 9, src_port: 1, dst_port: 2, protocol: frame::UDP };
        Fields { to: OWN, from: subscriber(session), tuple, dscp: 3, ttl: 64, number: 5 }
    }

    fn wrapped(fields: &Fields, bytes: usize, session: u16) -> (Head, Head) {
        let (mut before, mut head) = ([0; HEAD], [0; HEAD]);
        frame::write(&mut head, bytes, fields);
        wrap(&mut before, &mut head, session);
        (before, head)
    }

    proptest! {
        #[test]
        fn a_frame_goes_in_and_out_of_a_session(session in 1..=MOST, bytes in 60_usize..1514) {
            let (before, mut head) = wrapped(&fields(session), bytes, session);
            let on_link = [&before[BEGIN..], &head[..]].concat();
            prop_assert_eq!(on_link, plain(&fields(session), bytes, session));
            let sessions = Sessions::new(MOST);
            let (was, whole) = (head, sessions.end(&before, &mut head, bytes));
            prop_assert!(whole);
            prop_assert_eq!(frame::parse(&head, bytes), Some(fields(session).tuple));
            let (mut cut, mut fewer) = (was, was);
            prop_assert!(!sessions.end(&before, &mut cut, bytes - 1));
            prop_assert!(!Sessions::new(session - 1).end(&before, &mut fewer, bytes));
            prop_assert_eq!((cut, fewer), (was, was));
        }

        #[test]
        fn a_subscriber_has_the_frame_that_was_sent(session in 1..=MOST, bytes in 60_usize..1514) {
            let fields = Fields { to: subscriber(session), from: OWN, ..fields(session) };
            let (before, mut head) = wrapped(&fields, bytes, session);
            let mut sent = [0; HEAD];
            frame::write(&mut sent, bytes, &fields);
            prop_assert_eq!(take_off(&before, &mut head), Some(session));
            prop_assert_eq!(head, sent);
            prop_assert_eq!(take_off(&before, &mut head), None, "it is off");
        }

        #[test]
        fn a_flipped_bit_of_the_header_is_seen(bit in 0_usize..22 * 8) {
            let (mut before, mut head) = wrapped(&fields(6), 60, 6);
            let (byte, mask) = (bit / 8, 1 << (bit % 8));
            match byte.checked_sub(HEADER) {
                Some(at) => head[at] ^= mask,
                None => before[BEGIN + byte] ^= mask,
            }
            // A longer one has bytes behind that pad it (RFC 1661, section 2), where they fit.
            prop_assert!(!Sessions::new(100).end(&before, &mut head, 60));
        }
    }
}
