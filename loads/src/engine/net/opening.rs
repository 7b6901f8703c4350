//! Knows the 64 bytes with which every data connection opens: who it is, and a MAC that proves it.
//!
//! Layout, little endian: magic 8, version 2, kind 1, zero 1, number 4, test 16, HMAC-SHA-256
//! (RFC 2104, FIPS 180-4) over the first 32 bytes 32.

use desk::record::Fault;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::time::Duration;

const MAGIC: &[u8; 8] = b"STENDTCP";
const VERSION: u16 = 1;
/// What the server says to an opening that it accepts.
const ACCEPTED: u8 = 6;
/// Longest that one connection may keep the server waiting for its opening.
pub(super) const SHOW_MAX: Duration = Duration::from_millis(500);
/// Longest wait for the openings of a trial, beside what each connection may take.
const ALL_MAX: Duration = Duration::from_secs(5);
/// What one connection may take: on two busy CPUs 1,024 stand within 10 s.
const EACH_MAX: Duration = Duration::from_millis(20);
/// Bytes under the MAC.
const BODY: usize = 32;

/// What the connections of one trial prove themselves with; fresh for every trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Secret {
    /// Key of the MAC.
    pub key: [u8; 32],
    /// Name of the trial.
    pub test: [u8; 16],
}

impl Secret {
    /// One that nobody can guess.
    ///
    /// # Errors
    /// When the kernel gives no chance.
    pub fn fresh() -> Result<Self, Fault> {
        let mut secret = Self { key: [0; 32], test: [0; 16] };
        for bytes in [&mut secret.key[..], &mut secret.test[..]] {
            rustix::rand::getrandom(bytes, rustix::rand::GetRandomFlags::empty()).map_err(|e| {
                Fault::Failed { host: "conductor".into(), what: format!("getrandom: {e}") }
            })?;
        }
        Ok(secret)
    }
}

/// The opening of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening(pub [u8; Opening::BYTES]);

impl Opening {
    /// Length on the wire.
    pub const BYTES: usize = 64;

    /// The opening of connection `id`, of this kind, in a trial.
    #[must_use]
    pub fn of(id: u32, kind: u8, secret: &Secret) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = kind;
        bytes[12..16].copy_from_slice(&id.to_le_bytes());
        bytes[16..BODY].copy_from_slice(&secret.test);
        let tag = mac(&secret.key, &bytes[..BODY]).finalize().into_bytes();
        bytes[BODY..].copy_from_slice(&tag);
        Self(bytes)
    }

    /// Number and kind of the connection that this opening proves to be, if any. The MAC is
    /// compared in constant time and before anything else is believed.
    #[must_use]
    pub fn proved(&self, secret: &Secret) -> Option<(u32, u8)> {
        mac(&secret.key, &self.0[..BODY]).verify_slice(&self.0[BODY..]).ok()?;
        let (id, kind) = (u32::from_le_bytes(self.0[12..16].try_into().ok()?), self.0[10]);
        (Self::of(id, kind, secret) == *self).then_some((id, kind))
    }
}

/// Longest wait of a client, which does not know how many others there are: for most connections
/// that a plan may have.
pub const LONGEST: Duration = Duration::from_secs(5 + 1024 / 50);

/// Longest wait until so many connections of a trial stand.
#[must_use]
pub fn longest(connections: usize) -> Duration {
    ALL_MAX.saturating_add(EACH_MAX.saturating_mul(u32::try_from(connections).unwrap_or(u32::MAX)))
}

/// Refuses to load what is neither this machine, nor in the range for benchmarks, nor declared as
/// one's own to whoever started this host: no order of a
/// conductor makes a host load a stranger.
///
/// # Errors
/// The address, and what is allowed.
pub fn refuse_stranger(address: IpAddr) -> io::Result<()> {
    let own = rig::lab::own::is_owned(address);
    if address.is_loopback() || rig::lab::is_benchmark(address) || own {
        return Ok(());
    }
    let what = format!(
        "{address} is no address of a lab: load goes to 127.0.0.0/8 and ::1, to 198.18.0.0/15 and \
         2001:2::/48, and to what --i-own names"
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
}

/// A socket on which so many connections can wait at once; what comes above is lost, and comes
/// again only after a second.
///
/// # Errors
/// What the kernel says.
pub fn listen(address: IpAddr, connections: usize) -> io::Result<TcpListener> {
    let listener = TcpListener::bind((address, 0))?;
    rustix::net::listen(&listener, i32::try_from(connections.max(128)).unwrap_or(i32::MAX))?;
    Ok(listener)
}

/// Tells the other end that its opening is accepted.
///
/// # Errors
/// What the socket says.
pub fn accept(mut socket: &TcpStream) -> io::Result<()> {
    socket.write_all(&[ACCEPTED])
}

/// Waits until the other end accepts the opening.
///
/// # Errors
/// What the socket says; an answer that accepts nothing.
pub fn accepted(mut socket: &TcpStream) -> io::Result<()> {
    let mut reply = [0];
    socket.read_exact(&mut reply)?;
    if reply[0] == ACCEPTED { Ok(()) } else { Err(io::Error::other("the opening was refused")) }
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
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn an_opening_proves_its_connection_and_no_bit_of_it_can_be_changed(
            (id, kind) in (any::<u32>(), any::<u8>()),
            (key, test) in (any::<[u8; 32]>(), any::<[u8; 16]>()),
            bit in 0..Opening::BYTES * 8,
        ) {
            let secret = Secret { key, test };
            let mut opening = Opening::of(id, kind, &secret);
            prop_assert_eq!(opening.proved(&secret), Some((id, kind)));
            opening.0[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(opening.proved(&secret), None);
        }

        #[test]
        fn chance_bytes_open_nothing(
            bytes in any::<[[u8; 32]; 2]>(),
            key in any::<[u8; 32]>(),
        ) {
            let mut opening = Opening([0; Opening::BYTES]);
            opening.0.copy_from_slice(bytes.as_flattened());
            prop_assert_eq!(opening.proved(&Secret { key, test: [0; 16] }), None);
        }
    }

    #[test]
    fn a_stranger_is_not_loaded() {
        let strangers =
            ["8.8.8.8", "198.17.0.1", "198.20.0.1", "10.0.0.1", "2001:2:1::1", "fe80::1"];
        for address in strangers {
            let said = refuse_stranger(address.parse().unwrap()).unwrap_err().to_string();
            assert!(said.contains("198.18.0.0/15 and 2001:2::/48"), "{said}");
        }
        for address in ["127.0.0.1", "198.18.0.1", "198.19.255.1", "::1", "2001:2:0:ff::1"] {
            assert!(refuse_stranger(address.parse().unwrap()).is_ok(), "{address}");
        }
    }
}
