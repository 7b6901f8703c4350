//! Knows how frames travel between a conductor and the agent of a machine, whatever carries them.
//!
//! Must not know what the frames say.

use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;

/// Longest body of a frame, bytes.
pub const BODY_MAX: u32 = 16 << 20;
/// Bytes before the body of a frame: its length and its channel.
pub(super) const HEAD: usize = 6;
/// The channel on which a frame says no more than that its sender is there.
pub const KEEP_ALIVE: u16 = u16::MAX;

/// One message. Channel 0 is the machine's own, the others are those of its hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Who speaks or is spoken to.
    pub channel: u16,
    /// What is said.
    pub body: Vec<u8>,
}

/// Sends one keep-alive frame; an error ends the connection.
pub type KeepAlive = Box<dyn FnMut() -> io::Result<()> + Send>;

/// One end of a connection between a conductor and the agent of a machine.
pub trait Transport: Send {
    /// Sends a frame.
    ///
    /// # Errors
    /// When the other end is gone, or the body is longer than [`BODY_MAX`].
    fn send(&mut self, channel: u16, body: &[u8]) -> io::Result<()>;
    /// Waits for a frame. One that has begun comes whole within seconds.
    ///
    /// # Errors
    /// When the other end is gone, or what came is not a frame of its.
    fn receive(&mut self) -> io::Result<Frame>;
    /// What becomes readable when a frame comes.
    fn socket(&self) -> BorrowedFd<'_>;
    /// Whether both ends read one and the same clock.
    fn shares_clock(&self) -> bool;
    /// What sends keep-alive frames beside [`Self::send`]. None where the kernel itself tells each
    /// end at once that the other is gone.
    fn keep_alive(&self) -> Option<KeepAlive>;
}

/// The head of a frame with this body.
fn head(channel: u16, body: &[u8]) -> io::Result<[u8; HEAD]> {
    let length = u32::try_from(body.len()).ok().filter(|length| *length <= BODY_MAX);
    let length = length.ok_or_else(|| too_long(body.len()))?;
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&channel.to_le_bytes());
    Ok(head)
}

/// The length of the body and the channel of a head.
pub(super) fn parse(head: [u8; HEAD]) -> io::Result<(usize, u16)> {
    let [length @ .., low, high] = head;
    let length = u32::from_le_bytes(length);
    if length > BODY_MAX {
        return Err(too_long(length as usize));
    }
    Ok((length as usize, u16::from_le_bytes([low, high])))
}

/// Writes a frame.
pub(super) fn write(to: &mut impl Write, channel: u16, body: &[u8]) -> io::Result<()> {
    let mut whole = Vec::with_capacity(HEAD + body.len());
    whole.extend_from_slice(&head(channel, body)?);
    whole.extend_from_slice(body);
    to.write_all(&whole)
}

/// Reads a frame; blocks as long as the stream does.
///
/// # Errors
/// When the stream ends or fails, or the head tells of more than [`BODY_MAX`].
pub fn read_frame(from: &mut impl Read) -> io::Result<Frame> {
    let mut head = [0; HEAD];
    from.read_exact(&mut head)?;
    let (length, channel) = parse(head)?;
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Frame { channel, body })
}

fn too_long(bytes: usize) -> io::Error {
    let what = format!("a message of {bytes} B; the longest is {BODY_MAX} B");
    io::Error::new(io::ErrorKind::InvalidData, what)
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
        fn frames_come_whole_and_one_after_the_other(
            all in proptest::collection::vec(
                (any::<u16>(), proptest::collection::vec(any::<u8>(), 0..99)), 0..5),
        ) {
            let mut pipe = Vec::new();
            for (channel, body) in &all {
                write(&mut pipe, *channel, body).unwrap();
            }
            let mut from = pipe.as_slice();
            for (channel, body) in all {
                prop_assert_eq!(read_frame(&mut from).unwrap(), Frame { channel, body });
            }
            let end = read_frame(&mut from).unwrap_err().kind();
            prop_assert_eq!(end, io::ErrorKind::UnexpectedEof);
        }

        #[test]
        fn less_than_a_head_is_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..6)) {
            prop_assert!(read_frame(&mut bytes.as_slice()).is_err());
        }
    }

    #[test]
    fn a_longer_body_is_refused_on_both_sides() {
        let long = vec![0; BODY_MAX as usize + 1];
        let said = write(&mut Vec::new(), 1, &long).unwrap_err().to_string();
        assert!(said.contains("16777217 B"), "{said}");
        let said = read_frame(&mut [1, 0, 0, 1, 0, 0].as_slice()).unwrap_err().to_string();
        assert!(said.contains("the longest is 16777216 B"), "{said}");
    }
}
