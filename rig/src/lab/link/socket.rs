//! Knows how one request to the kernel and its answers travel over netlink; not what any of them
//! means.

use super::error::{LinkError, Task};
use netlink_packet_core::{
    DecodeError, NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NLMSG_DONE,
    NLMSG_ERROR, NLMSG_NOOP, NetlinkBuffer, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable, NlasIterator, parse_i32, parse_string,
};
use netlink_sys::{Socket, SocketAddr};
use std::io;

/// A dump that the kernel marks as torn by a concurrent change is asked for again this often.
const DUMP_TRIES: usize = 5;
const NETLINK_HEADER_BYTES: usize = 16;
const ERRNO_BYTES: usize = 4;
/// `NLMSGERR_ATTR_MSG`: the sentence in an extended acknowledgement.
const ACK_SENTENCE: u16 = 1;

/// A blocking netlink socket that hears nobody but the kernel.
pub(super) struct KernelSocket {
    socket: Socket,
    sequence: u32,
}

impl KernelSocket {
    /// Opens one of a protocol of netlink(7).
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Both only improve error texts, and kernels before 4.12 lack them.
        let _ = socket.set_ext_ack(true);
        let _ = socket.set_cap_ack(true);
        Ok(Self { socket, sequence: 0 })
    }

    /// Sends a request and waits for its acknowledgement; gives the bodies that came before it.
    pub fn request(
        &mut self,
        task: Task<'_>,
        message: impl NetlinkSerializable,
        flags: u16,
    ) -> Result<Vec<Vec<u8>>, LinkError> {
        self.send(task, message, NLM_F_ACK | flags)?;
        self.answers(task).map(|(bodies, _)| bodies)
    }

    /// Asks for a whole table; gives the body of each entry.
    pub fn dump(
        &mut self,
        task: Task<'_>,
        message: &(impl NetlinkSerializable + Clone),
    ) -> Result<Vec<Vec<u8>>, LinkError> {
        for _ in 0..DUMP_TRIES {
            self.send(task, message.clone(), NLM_F_DUMP)?;
            let (bodies, torn) = self.answers(task)?;
            if !torn {
                return Ok(bodies);
            }
        }
        Err(task.refused(libc::EAGAIN, "the table changed at every attempt to read it".into()))
    }

    fn send(
        &mut self,
        task: Task<'_>,
        message: impl NetlinkSerializable,
        flags: u16,
    ) -> Result<(), LinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        let bytes = written(message, (flags, self.sequence));
        self.socket.send(&bytes, 0).map_err(|e| task.socket_failed(&e))?;
        Ok(())
    }

    /// Reads until the acknowledgement or the end of the dump; the flag says "torn".
    fn answers(&self, task: Task<'_>) -> Result<(Vec<Vec<u8>>, bool), LinkError> {
        let mut bodies = Vec::new();
        let mut torn = false;
        loop {
            let datagram = self.receive().map_err(|e| task.socket_failed(&e))?;
            for message in messages(&datagram).map_err(|e| task.garbled(&e))? {
                if message.sequence_number() != self.sequence {
                    continue;
                }
                torn |= message.flags() & NLM_F_DUMP_INTR != 0;
                match message.message_type() {
                    NLMSG_NOOP => {}
                    NLMSG_DONE | NLMSG_ERROR => {
                        return verdict(task, &message).map(|()| (bodies, torn));
                    }
                    _ => bodies.push(message.payload().to_vec()),
                }
            }
        }
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        loop {
            match self.socket.recv_from_full() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map(|(datagram, _)| datagram),
            }
        }
    }
}

/// A request as it is sent: its flags and sequence number, and its message.
pub(super) fn written(message: impl NetlinkSerializable, (flags, sequence): (u16, u32)) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    header.sequence_number = sequence;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn messages(datagram: &[u8]) -> Result<Vec<NetlinkBuffer<&[u8]>>, DecodeError> {
    let mut found = Vec::new();
    let mut rest = datagram;
    while !rest.is_empty() {
        let message = NetlinkBuffer::new_checked(rest)?;
        // Messages begin at multiples of four bytes; the last one may lack its padding.
        let step = (message.length() as usize).next_multiple_of(4);
        rest = rest.get(step..).unwrap_or_default();
        found.push(message);
    }
    Ok(found)
}

/// Reads the error number that ends an exchange; zero means success.
fn verdict(task: Task<'_>, message: &NetlinkBuffer<&[u8]>) -> Result<(), LinkError> {
    let payload = message.payload();
    let code = payload.get(..ERRNO_BYTES).map_or(Ok(0), parse_i32);
    let code = code.map_err(|e| task.garbled(&e))?;
    if code == 0 {
        return Ok(());
    }
    let tlvs = message.message_type() == NLMSG_ERROR && message.flags() & NLM_F_ACK_TLVS != 0;
    let detail = if tlvs { kernel_sentence(payload) } else { None };
    Err(task.refused(-code, detail.unwrap_or_default()))
}

/// The sentence behind the error number and the echoed (capped) header of the request.
fn kernel_sentence(payload: &[u8]) -> Option<String> {
    let attributes = payload.get(ERRNO_BYTES + NETLINK_HEADER_BYTES..)?;
    let sentence =
        NlasIterator::new(attributes).flatten().find(|nla| nla.kind() == ACK_SENTENCE)?;
    parse_string(sentence.value()).ok()
}
