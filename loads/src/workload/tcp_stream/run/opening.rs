//! Knows the 64 bytes with which every data connection opens: who it is, and a MAC that proves it.
//!
//! Layout, little endian: magic 8, version 2, direction 1, zero 1, stream 4, test 16, HMAC-SHA-256
//! (RFC 2104, FIPS 180-4) over the first 32 bytes 32.

use super::message::{Direction, StreamPlan, Traffic};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

const MAGIC: &[u8; 8] = b"STENDTCP";
const VERSION: u16 = 1;
/// Bytes under the MAC.
const BODY: usize = 32;

/// The opening of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening(pub [u8; Opening::BYTES]);

impl Opening {
    /// Length on the wire.
    pub const BYTES: usize = 64;

    /// The opening that a stream of this trial must show.
    #[must_use]
    pub fn of(stream: &StreamPlan, traffic: &Traffic) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = u8::from(stream.direction == Direction::Receive);
        bytes[12..16].copy_from_slice(&stream.id.to_le_bytes());
        bytes[16..BODY].copy_from_slice(&traffic.test);
        let tag = mac(&traffic.key, &bytes[..BODY]).finalize().into_bytes();
        bytes[BODY..].copy_from_slice(&tag);
        Self(bytes)
    }

    /// The expected stream that this opening proves to be, if any. The MAC is compared in constant
    /// time and before anything else is believed.
    #[must_use]
    pub fn stream<'a>(
        &self,
        expected: &'a [StreamPlan],
        traffic: &Traffic,
    ) -> Option<&'a StreamPlan> {
        mac(&traffic.key, &self.0[..BODY]).verify_slice(&self.0[BODY..]).ok()?;
        let id = u32::from_le_bytes(self.0[12..16].try_into().ok()?);
        let stream = expected.iter().find(|stream| stream.id == id)?;
        (Self::of(stream, traffic) == *self).then_some(stream)
    }
}

fn mac(key: &[u8; 32], body: &[u8]) -> Hmac<Sha256> {
    // RFC 2104: a key shorter than the hash's block is padded with zeros.
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(body);
    mac
}

#[cfg(test)]
mod tests {
    use super::super::message::Engine;
    use super::*;
    use proptest::prelude::*;

    fn stream(id: u32, receive: bool) -> StreamPlan {
        let direction = if receive { Direction::Receive } else { Direction::Transmit };
        StreamPlan { id, client: 0, direction, server_cpu: None, client_cpu: None, turn: 0 }
    }

    fn traffic(key: [u8; 32], test: [u8; 16]) -> Traffic {
        Traffic {
            key,
            test,
            seed: 1,
            interface: "lan".into(),
            engine: Engine::Sys,
            request_bytes: 1,
            call_requests: 1,
            read_bytes: 1,
            pace: None,
            congestion: None,
            bytes_max: 1,
            run_ms_max: 1,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn an_opening_proves_its_stream_and_no_bit_of_it_can_be_changed(
            (id, receive) in (any::<u32>(), any::<bool>()),
            (key, test) in (any::<[u8; 32]>(), any::<[u8; 16]>()),
            bit in 0..Opening::BYTES * 8,
        ) {
            let (plan, traffic) = (stream(id, receive), traffic(key, test));
            let expected = [stream(id.wrapping_add(1), receive), plan.clone()];
            let mut opening = Opening::of(&plan, &traffic);
            prop_assert_eq!(opening.stream(&expected, &traffic), Some(&plan));
            opening.0[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(opening.stream(&expected, &traffic), None);
        }

        #[test]
        fn chance_bytes_open_nothing(
            bytes in any::<[[u8; 32]; 2]>(),
            key in any::<[u8; 32]>(),
        ) {
            let mut opening = Opening([0; Opening::BYTES]);
            opening.0.copy_from_slice(bytes.as_flattened());
            let (traffic, expected) = (traffic(key, [0; 16]), [stream(1, true)]);
            prop_assert_eq!(opening.stream(&expected, &traffic), None);
        }
    }
}
