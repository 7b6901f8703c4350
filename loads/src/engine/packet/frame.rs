//! Knows where the fields of an IPv4 frame over Ethernet lie, how they are written and read, and
//! how checksums follow a rewritten field.
//!
//! Must not know which service looks at a field, nor who counts frames.

use super::tuple::Tuple;

/// Bytes of the frame check sequence, which adapters add and take off (IEEE 802.3).
pub const FCS: usize = 4;
/// Bytes of preamble and gap of a frame on a wire of Ethernet (IEEE 802.3).
pub const IFG: usize = 20;
/// The bytes of a frame that a service may look at: one line of a cache.
pub const HEAD: usize = 64;
/// Number of the protocol TCP (IANA, Protocol Numbers).
pub const TCP: u8 = 6;
/// Number of the protocol UDP.
pub const UDP: u8 = 17;

/// `EtherType` of IPv4.
pub(super) const IPV4: [u8; 2] = [0x08, 0x00];
/// Bytes before the IPv4 header.
pub(super) const ETHERNET: usize = 14;
/// Where the number of a frame stands: behind the longest header that is written.
const NUMBER: usize = 54;

/// An address of the link layer.
pub type Mac = [u8; 6];

/// The first bytes of a frame.
pub type Head = [u8; HEAD];

/// What a tester writes into a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Whom the link delivers it to.
    pub to: Mac,
    /// Who sent it.
    pub from: Mac,
    /// Addresses, ports and protocol, which is TCP or UDP.
    pub tuple: Tuple,
    /// Class of service, 0-63 (RFC 2474).
    pub dscp: u8,
    /// Hops that it may still take.
    pub ttl: u8,
    /// Its number in the trial.
    pub number: u32,
}

/// Writes the whole head of a frame of so many bytes without its check sequence, 60-9,014.
///
/// Bytes behind the head are zeros, so that they change no checksum.
#[inline]
pub fn write(head: &mut Head, bytes: usize, fields: &Fields) {
    let Tuple { src, dst, src_port, dst_port, protocol } = fields.tuple;
    #[expect(clippy::cast_possible_truncation, reason = "a frame has at most 9,014 bytes")]
    let length = (bytes - ETHERNET) as u16;
    *head = [0; HEAD];
    head[..6].copy_from_slice(&fields.to);
    head[6..12].copy_from_slice(&fields.from);
    head[12..14].copy_from_slice(&IPV4);
    head[14] = 0x45;
    head[15] = fields.dscp << 2;
    put(head, 16, length);
    // Don't fragment (RFC 791).
    head[20] = 0x40;
    head[22] = fields.ttl;
    head[23] = protocol;
    head[26..30].copy_from_slice(&src.to_be_bytes());
    head[30..34].copy_from_slice(&dst.to_be_bytes());
    put(head, 34, src_port);
    put(head, 36, dst_port);
    if protocol == TCP {
        // 20 bytes of header, acknowledgement.
        (head[46], head[47]) = (0x50, 0x10);
    } else {
        put(head, 38, length - 20);
    }
    head[NUMBER..NUMBER + 4].copy_from_slice(&fields.number.to_be_bytes());
    put(head, 24, !sum(&head[14..34]));
    let layer_4 = u32::from(sum(&head[26..HEAD])) + u32::from(protocol) + u32::from(length - 20);
    let checksum = !fold(layer_4);
    // Of UDP zero would say that there is none (RFC 768).
    put(head, checksum_of(protocol), if checksum == 0 { 0xffff } else { checksum });
}

/// The number that [`write`] gave a frame.
#[inline]
#[must_use]
pub fn number(head: &Head) -> u32 {
    word(head, NUMBER)
}

/// Addresses, ports and protocol of an IPv4 frame; none of another, or of one whose header is
/// longer, cut or wrong (RFC 1812, 5.2.2).
#[inline]
#[must_use]
pub fn parse(head: &Head, bytes: usize) -> Option<Tuple> {
    let length = usize::from(half(head, 16));
    let whole = length >= 28 && length + ETHERNET <= bytes;
    if head[12..14] != IPV4 || head[14] != 0x45 || !whole || !is_right(head) {
        return None;
    }
    let protocol = head[23];
    let ported = protocol == TCP || protocol == UDP;
    let port = |at| if ported { half(head, at) } else { 0 };
    Some(Tuple {
        src: word(head, 26),
        dst: word(head, 30),
        src_port: port(34),
        dst_port: port(36),
        protocol,
    })
}

/// Whether a frame of IPv4 of so many bytes has all of its packet, which is no fragment.
#[inline]
#[must_use]
pub fn is_unbroken(head: &Head, bytes: usize) -> bool {
    length(head) <= bytes && half(head, 20) & 0x3fff == 0
}

/// Bytes of an IPv4 frame without check sequence, as its header says, at most 65,549.
#[inline]
#[must_use]
pub fn length(head: &Head) -> usize {
    ETHERNET + usize::from(half(head, 16))
}

/// Hops that a frame may still take.
#[inline]
#[must_use]
pub const fn ttl(head: &Head) -> u8 {
    head[22]
}

/// Takes one hop off, with its checksum (RFC 1812, 5.3.1; RFC 1624, equation 3).
#[inline]
pub fn hop(head: &mut Head) {
    let before = half(head, 22);
    let after = before - 0x0100;
    put(head, 22, after);
    follow(head, 24, before, after);
}

/// Writes another source address and port, with both checksums (RFC 3022; RFC 1624, equation 3).
#[inline]
pub fn translate(head: &mut Head, (address, port): (u32, u16)) {
    let (was, was_port) = (word(head, 26), half(head, 34));
    head[26..30].copy_from_slice(&address.to_be_bytes());
    put(head, 34, port);
    let at = checksum_of(head[23]);
    let change = difference(was, address);
    adjust(head, 24, change);
    // A datagram without a checksum keeps none (RFC 768).
    if head[23] == TCP || half(head, at) != 0 {
        adjust(head, at, change + u32::from(!was_port) + u32::from(port));
        // Zero would say that there is none.
        if half(head, at) == 0 {
            put(head, at, 0xffff);
        }
    }
}

/// Writes the addresses of the next link.
#[inline]
pub fn relink(head: &mut Head, to: &Mac, from: &Mac) {
    head[..6].copy_from_slice(to);
    head[6..12].copy_from_slice(from);
}

/// Class of service of a frame, 0-63.
#[inline]
#[must_use]
pub const fn dscp(head: &Head) -> u8 {
    head[15] >> 2
}

/// Both addresses of the link: receiver, sender; each in the low 48 bits.
#[inline]
#[must_use]
pub fn ends(head: &Head) -> (u64, u64) {
    let high = u64::from(word(head, 0)) << 16 | u64::from(half(head, 4));
    let low = u64::from(half(head, 6)) << 32 | u64::from(word(head, 8));
    (high, low)
}

/// Whether the checksums of IPv4 and of what it carries are right, where the rest is zeros.
#[must_use]
pub fn is_whole(head: &Head, bytes: usize) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "a frame has at most 9,014 bytes")]
    let length = (bytes - ETHERNET - 20) as u32;
    let layer_4 = u32::from(sum(&head[26..HEAD])) + u32::from(head[23]) + length;
    is_right(head) && fold(layer_4) == 0xffff
}

/// Whether the checksum of the header of IPv4 is right. The sum is the same in any order of bytes
/// (RFC 1071, 2 B), so that words of this machine are added.
#[inline]
fn is_right(head: &Head) -> bool {
    let word = |at: usize| {
        u64::from(u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]))
    };
    let sum = word(14) + word(18) + word(22) + word(26) + word(30);
    let words = (sum & 0xffff_ffff) + (sum >> 32);
    let halves = (words & 0xffff) + (words >> 16);
    (halves & 0xffff) + (halves >> 16) == 0xffff
}

/// Where the checksum of layer 4 stands.
#[inline]
const fn checksum_of(protocol: u8) -> usize {
    if protocol == TCP { 50 } else { 40 }
}

/// A checksum after one half word changed.
#[inline]
fn follow(head: &mut Head, at: usize, before: u16, after: u16) {
    adjust(head, at, u32::from(!before) + u32::from(after));
}

/// A checksum after what it covers changed by such a sum of complements.
#[inline]
fn adjust(head: &mut Head, at: usize, change: u32) {
    let sum = u32::from(!half(head, at)) + change;
    put(head, at, !fold(sum));
}

/// What an address that changed adds to a sum.
#[inline]
const fn difference(before: u32, after: u32) -> u32 {
    (!before >> 16) + (!before & 0xffff) + (after >> 16) + (after & 0xffff)
}

/// The sum of half words in ones' complement (RFC 1071); an even number of bytes.
#[inline]
fn sum(bytes: &[u8]) -> u16 {
    let half = |pair: &[u8]| u32::from(u16::from_be_bytes([pair[0], pair[1]]));
    fold(bytes.chunks_exact(2).map(half).sum())
}

/// A sum in 16 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "two folds leave 16 bits")]
const fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// Writes a half word, as the network orders its bytes.
#[inline]
pub(super) fn put(head: &mut Head, at: usize, value: u16) {
    head[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// A half word.
#[inline]
pub(super) const fn half(head: &Head, at: usize) -> u16 {
    u16::from_be_bytes([head[at], head[at + 1]])
}

#[inline]
const fn word(head: &Head, at: usize) -> u32 {
    u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields() -> impl Strategy<Value = Fields> {
        let tuple = (any::<(u32, u32, u16, u16)>(), prop_oneof![Just(TCP), Just(UDP)]);
        (any::<(Mac, Mac, u32)>(), tuple, 0_u8..64, 2_u8..=255).prop_map(
            |((to, from, number), ((src, dst, src_port, dst_port), protocol), dscp, ttl)| Fields {
                to,
                from,
                tuple: Tuple { src, dst, src_port, dst_port, protocol },
                dscp,
                ttl,
                number,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(fields in fields(), bytes in 60_usize..9014) {
            let mut head = [0; HEAD];
            write(&mut head, bytes, &fields);
            prop_assert_eq!(parse(&head, bytes), Some(fields.tuple));
            prop_assert_eq!((number(&head), dscp(&head)), (fields.number, fields.dscp));
            prop_assert!(is_whole(&head, bytes));
            prop_assert_eq!(length(&head), bytes);
            prop_assert_eq!(parse(&head, bytes - 1), None, "cut");
        }

        #[test]
        fn a_rewritten_field_leaves_the_checksums_as_written_anew(
            before in fields(), external in any::<(u32, u16)>(), bytes in 60_usize..1514
        ) {
            let mut head = [0; HEAD];
            write(&mut head, bytes, &before);
            hop(&mut head);
            translate(&mut head, external);
            relink(&mut head, &before.from, &before.to);
            let (src, src_port) = external;
            let after = Fields {
                to: before.from,
                from: before.to,
                ttl: before.ttl - 1,
                tuple: Tuple { src, src_port, ..before.tuple },
                ..before
            };
            let mut anew = [0; HEAD];
            write(&mut anew, bytes, &after);
            prop_assert_eq!(head, anew);
        }

        #[test]
        fn a_flipped_bit_of_a_header_is_seen(fields in fields(), bit in 14_usize * 8..34 * 8) {
            let mut head = [0; HEAD];
            write(&mut head, 60, &fields);
            head[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!is_whole(&head, 60));
            prop_assert_eq!(parse(&head, 60), None);
        }

        #[test]
        fn fragments_and_cut_packets_are_told(
            fields in fields(),
            bytes in 60_usize..1514,
            offset in 0_u16..0x2000,
        ) {
            let mut head = [0; HEAD];
            write(&mut head, bytes, &fields);
            prop_assert!(is_unbroken(&head, bytes) && !is_unbroken(&head, bytes - 1));
            // More fragments follow; a later fragment; a packet with "don't fragment".
            for (flags, whole) in [(0x2000, false), (0, offset == 0), (0x4000, offset == 0)] {
                put(&mut head, 20, flags | offset);
                prop_assert_eq!(is_unbroken(&head, bytes), whole);
            }
        }
    }

    #[test]
    fn another_ether_type_is_no_frame_of_ours() {
        let mut head = [0; HEAD];
        assert_eq!(parse(&head, 60), None);
        head[12..14].copy_from_slice(&[0x86, 0xdd]);
        assert_eq!(parse(&head, 60), None);
    }
}
