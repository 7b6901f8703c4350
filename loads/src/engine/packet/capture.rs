//! Knows captures of frames (pcap, pcapng): how long each frame is, and to which flow it belongs.
//!
//! Must not know how frames are sent, nor when those of a capture were.

use super::frame::FCS;
use super::live::{JUMBO, LEAST, Listed};
use etherparse::ip_number::{SCTP, TCP, UDP, UDP_LITE};
use etherparse::{IpNumber, LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket};
use pcap_parser::traits::{PcapNGPacketBlock as _, PcapReaderIterator};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::IpAddr;

/// Frames that are taken from the start of a file at the most.
pub const FRAMES_MAX: usize = 1 << 16;
/// Longest block of a file, bytes.
const BLOCK_MAX: usize = 1 << 20;

/// What a flow is told by: addresses, protocol, ports; nothing of frames without IP.
type Flow = (Option<[IpAddr; 2]>, u8, [u16; 2]);
/// That of all frames without IP.
const OTHER: Flow = (None, 0, [0; 2]);
/// Protocols whose headers begin with both ports.
const PORTED: [IpNumber; 4] = [TCP, UDP, SCTP, UDP_LITE];

/// The first [`FRAMES_MAX`] frames of a file, in its order: lengths in bytes with check sequence
/// and without tags of VLANs, as long as the shortest of Ethernet at least; flows by number, in
/// the order in which they come.
///
/// # Errors
/// A file that cannot be read, is no capture of Ethernet, or has frames longer than [`JUMBO`], with
/// the remedy.
pub fn read(file: &str) -> Result<Vec<Listed>, String> {
    let opened = File::open(file).map_err(|e| format!("{file}: {e}"))?;
    let reader = create_reader(BLOCK_MAX, opened).map_err(|why| unreadable(file, &why))?;
    frames_of(file, reader)
}

fn frames_of(
    file: &str,
    mut reader: Box<dyn PcapReaderIterator + Send + '_>,
) -> Result<Vec<Listed>, String> {
    let (mut frames, mut flows) = (Vec::new(), BTreeMap::new());
    while frames.len() < FRAMES_MAX {
        let offset = match reader.next() {
            Ok((offset, block)) => {
                if let Some((bytes, data)) = packet(&block).map_err(|k| not_ethernet(file, k))? {
                    let frame = frame(&mut flows, bytes, data);
                    frames.push(frame.map_err(|bytes| too_long(file, frames.len() + 1, bytes))?);
                }
                offset
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::Incomplete(_)) => {
                reader.refill().map_err(|why| unreadable(file, &why))?;
                continue;
            }
            Err(why) => return Err(unreadable(file, &why)),
        };
        reader.consume(offset);
    }
    if frames.is_empty() { Err(format!("{file}: no frame in it")) } else { Ok(frames) }
}

/// Bytes of the packet of a block on its line, and what was captured of them; none of other blocks.
///
/// # Errors
/// The kind of a line that is not Ethernet.
fn packet<'b>(block: &'b PcapBlockOwned<'_>) -> Result<Option<(u32, &'b [u8])>, Linktype> {
    let ethernet = |kind| if kind == Linktype::ETHERNET { Ok(None) } else { Err(kind) };
    match block {
        PcapBlockOwned::LegacyHeader(header) => ethernet(header.network),
        PcapBlockOwned::Legacy(block) => Ok(Some((block.origlen, block.data))),
        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => ethernet(interface.linktype),
        PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
            Ok(Some((block.origlen, block.packet_data())))
        }
        PcapBlockOwned::NG(Block::SimplePacket(block)) => {
            Ok(Some((block.origlen, block.packet_data())))
        }
        PcapBlockOwned::NG(_) => Ok(None),
    }
}

/// The frame of a packet of so many bytes.
///
/// # Errors
/// How long a frame is that is too long.
fn frame(flows: &mut BTreeMap<Flow, u32>, bytes: u32, captured: &[u8]) -> Result<Listed, usize> {
    let sliced = LaxSlicedPacket::from_ethernet(captured).ok();
    let tags = sliced.iter().flat_map(|sliced| &sliced.link_exts);
    let tags: usize = tags.filter(|tag| matches!(tag, LaxLinkExtSlice::Vlan(_))).map(|_| 4).sum();
    let bytes = (bytes as usize).saturating_sub(tags) + FCS;
    let next = u32::try_from(flows.len()).unwrap_or(u32::MAX);
    let flow = *flows.entry(sliced.as_ref().map_or(OTHER, flow)).or_insert(next);
    match u16::try_from(bytes.max(LEAST)) {
        Ok(length) if bytes <= JUMBO => Ok(Listed { bytes: length, flow }),
        _ => Err(bytes),
    }
}

fn flow(sliced: &LaxSlicedPacket<'_>) -> Flow {
    let (ends, payload) = match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let ends = [header.source_addr(), header.destination_addr()];
            (ends.map(IpAddr::V4), ip.payload())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let ends = [header.source_addr(), header.destination_addr()];
            (ends.map(IpAddr::V6), ip.payload())
        }
        Some(LaxNetSlice::Arp(_)) | None => return OTHER,
    };
    let protocol = payload.ip_number;
    // The first bytes alone: the rest of a header may have been cut off.
    let ports = match payload.payload {
        [a, b, c, d, ..] if PORTED.contains(&protocol) && !payload.fragmented => {
            [[*a, *b], [*c, *d]].map(u16::from_be_bytes)
        }
        _ => [0; 2],
    };
    (Some(ends), protocol.0, ports)
}

fn not_ethernet(file: &str, kind: Linktype) -> String {
    format!(
        "{file}: a capture of {kind}, not of Ethernet; capture at one adapter (tcpdump -i eth0)"
    )
}

fn too_long(file: &str, number: usize, bytes: usize) -> String {
    format!(
        "{file}: frame {number} has {bytes} B, and frames of up to {JUMBO} B are sent; capture \
         with GRO, GSO and TSO off, or leave longer ones out (tcpdump -r FILE -w NEW 'less {}')",
        JUMBO - FCS
    )
}

fn unreadable(file: &str, why: &PcapError<&[u8]>) -> String {
    let why = match why {
        PcapError::Eof => "it is empty".into(),
        PcapError::HeaderNotRecognized => {
            "neither pcap nor pcapng; a file of another kind is converted by editcap -F pcap".into()
        }
        PcapError::UnexpectedEof | PcapError::Incomplete(_) => {
            "it ends within a frame; take it up to there (editcap OLD NEW)".into()
        }
        PcapError::BufferTooSmall => format!("a block of more than {BLOCK_MAX} B"),
        PcapError::NomError(_, kind) | PcapError::OwnedNomError(_, kind) => {
            format!("a block is malformed ({kind:?})")
        }
        PcapError::ReadError => "it cannot be read".into(),
    };
    format!("{file}: {why}")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use etherparse::PacketBuilder;
    use std::io::Cursor;

    /// A frame of UDP between two ports, with so many bytes of content.
    fn udp(ports: [u16; 2], content: usize) -> Vec<u8> {
        let builder =
            PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9);
        let (builder, mut frame) = (builder.udp(ports[0], ports[1]), Vec::new());
        builder.write(&mut frame, &vec![7; content]).unwrap();
        frame
    }

    /// The same frame with a tag of a VLAN.
    fn tagged(frame: &[u8]) -> Vec<u8> {
        [&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat()
    }

    /// A file of pcap with such frames, of each at most so many bytes.
    pub fn pcap(frames: &[Vec<u8>], most: usize) -> Vec<u8> {
        let mut file = Vec::new();
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
            file.extend(word.to_le_bytes());
        }
        for frame in frames {
            let kept = &frame[..frame.len().min(most)];
            for word in [0, 0, kept.len(), frame.len()] {
                file.extend(u32::try_from(word).unwrap().to_le_bytes());
            }
            file.extend(kept);
        }
        file
    }

    /// The same as pcapng.
    fn pcapng(frames: &[Vec<u8>], line: u16) -> Vec<u8> {
        let block = |kind: u32, content: &[u8]| {
            let length = u32::try_from(content.len().next_multiple_of(4) + 12).unwrap();
            let mut block = [kind.to_le_bytes(), length.to_le_bytes()].concat();
            block.extend(content);
            block.resize(length as usize - 4, 0);
            [block, length.to_le_bytes().into()].concat()
        };
        let section = [0x1a2b_3c4d_u32.to_le_bytes(), [1, 0, 0, 0], [0xff; 4], [0xff; 4]].concat();
        let interface = [line.to_le_bytes(), [0; 2], [0; 2], [1, 0]].concat();
        let packet = |frame: &Vec<u8>| {
            let length = u32::try_from(frame.len()).unwrap().to_le_bytes();
            let head = [[0; 4], [0; 4], [0; 4], length, length].concat();
            block(6, &[head, frame.clone()].concat())
        };
        let packets = frames.iter().flat_map(packet).collect();
        [block(0x0a0d_0d0a, &section), block(1, &interface), packets].concat()
    }

    fn of(bytes: Vec<u8>) -> Result<Vec<Listed>, String> {
        let reader = create_reader(BLOCK_MAX, Cursor::new(bytes));
        frames_of("FILE", reader.map_err(|why| unreadable("FILE", &why))?)
    }

    #[test]
    fn lengths_and_flows_are_those_of_the_frames() {
        let frames = [udp([1, 2], 5), tagged(&udp([1, 2], 958)), udp([2, 1], 8972), vec![9; 60]];
        let wanted = [(64, 0), (1004, 0), (9018, 1), (64, 2)];
        let wanted = wanted.map(|(bytes, flow)| Listed { bytes, flow });
        assert_eq!(of(pcap(&frames, 65_535)).unwrap(), wanted);
        assert_eq!(of(pcap(&frames, 60)).unwrap(), wanted, "cut");
        assert_eq!(of(pcapng(&frames, 1)).unwrap(), wanted);
    }

    #[test]
    fn ports_are_known_of_a_tcp_header_that_is_cut() {
        let segment = |port: u16| {
            let builder =
                PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9);
            let options = [etherparse::TcpOptionElement::Timestamp(1, 2)];
            let builder = builder.tcp(port, 80, 1, 512).syn().options(&options).unwrap();
            let mut frame = Vec::new();
            builder.write(&mut frame, &[]).unwrap();
            frame
        };
        let frames = of(pcap(&[segment(5), segment(6), segment(5)], 60)).unwrap();
        let wanted = [0, 1, 0].map(|flow| Listed { bytes: 70, flow });
        assert_eq!(frames, wanted);
    }

    #[test]
    fn more_frames_than_are_taken_are_left_out() {
        let frames = vec![udp([1, 2], 5); FRAMES_MAX + 3];
        assert_eq!(of(pcap(&frames, 42)).unwrap().len(), FRAMES_MAX);
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_the_remedy() {
        let frame = udp([1, 2], 5);
        let long = [frame.clone(), udp([1, 2], 8973)];
        let cut = pcap(&long, 65_535);
        for (file, why) in [
            (pcap(&long, 100), "frame 2 has 9019 B, and frames of up to 9018 B are sent"),
            (pcapng(std::slice::from_ref(&frame), 113), "not of Ethernet"),
            (pcap(&[], 0), "no frame in it"),
            (Vec::new(), "it is empty"),
            (b"#!/bin/sh, and some more words than a header".into(), "neither pcap nor pcapng"),
            (cut[..cut.len() - 1].into(), "ends within a frame"),
        ] {
            let said = of(file).unwrap_err();
            assert!(said.starts_with("FILE: ") && said.contains(why), "{said}");
        }
        let said = read("/none/of/these.pcap").unwrap_err();
        assert!(said.contains("No such file"), "{said}");
    }
}
