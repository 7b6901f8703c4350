//! Knows who belongs to a lab of several machines: its certificate authority, the certificates of
//! conductor and agents, invitations, and who was removed.
//!
//! Gives: [`Conductor`] and [`Agent`], each the directory of one end; [`Invite`] and [`join`], by
//! which a machine becomes part of a lab; what TLS needs of either.
//! Never: what the ends say to one another once they are joined.
//! Start reading at `authority.rs`.

mod authority;
mod code;
mod enrol;
mod home;
mod invite;
mod join;
mod member;
mod record;
mod refusal;
mod register;
mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub use authority::{Identity, Role};
pub use invite::{Invite, own_address};
pub use join::join;
pub use member::{Agent, Conductor};
pub use record::{Until, open, part, read_record, shake};
pub use refusal::{Peer, sentence};
pub use register::{Host, Invitation, Register, Standing};
pub use settings::{MACHINE_PROTOCOL, agent_settings, conductor_settings};

use data_encoding::HEXLOWER;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest as _, Sha256};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Why a lab of several machines, or a part in one, cannot be had.
#[derive(Debug, Error)]
pub enum TrustError {
    /// A file of the directory could not be read or written.
    #[error("{}: {source}; another directory is named with --dir", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others may read keys.
    #[error("{}: other users may read it; run `chmod go= {}`", path.display(), path.display())]
    Open {
        /// Which.
        path: PathBuf,
    },
    /// The directory is that of a lab or an agent already.
    #[error("{} is {what} already; name another directory with --dir", path.display())]
    Taken {
        /// Which.
        path: PathBuf,
        /// Whose.
        what: &'static str,
    },
    /// No lab in the directory.
    #[error("there is no lab in {}; `stend lab init` makes one", path.display())]
    NoLab {
        /// Which.
        path: PathBuf,
    },
    /// No agent in the directory.
    #[error(
        "{} is not joined to a lab; run `stend lab invite NAME` on the conductor, and here the \
         command that it prints",
        path.display()
    )]
    NotJoined {
        /// Which.
        path: PathBuf,
    },
    /// A name that cannot be one of a host.
    #[error("'{0}' is no name of a host; take at most 63 of a-z, 0-9 and -")]
    Name(String),
    /// The lab has a host of this name.
    #[error(
        "the lab has a host '{0}'; take another name, or remove it with `stend lab remove {0}`"
    )]
    HasHost(String),
    /// The lab has no host of this name.
    #[error("the lab has no host '{name}'; it has {known}")]
    NoHost {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// What was pasted is not a whole code.
    #[error("the code is not whole: {0}; paste the command of `stend lab invite` again")]
    Code(&'static str),
    /// A code that counts for nothing.
    #[error("{0}; `stend lab invite NAME` on the conductor makes a new one")]
    Invitation(&'static str),
    /// Nothing can listen, or nobody answers there.
    #[error("{address}: {source}; {remedy}")]
    Net {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// The other end refused, in its words.
    #[error("the other machine refuses: {0}")]
    Refused(String),
    /// Nobody used an invitation in time.
    #[error("nobody used the code in time; `stend lab invite` makes a new one")]
    Ended,
    /// The person saw other words.
    #[error("nothing was signed; the code is used up, `stend lab invite` makes a new one")]
    Declined,
    /// The other end broke off, or is not what it has to be.
    #[error("{0}")]
    Channel(#[from] io::Error),
    /// A key or certificate could not be made or is not one.
    #[error("certificate: {0}")]
    Certificate(String),
}

impl From<rcgen::Error> for TrustError {
    fn from(e: rcgen::Error) -> Self {
        Self::Certificate(e.to_string())
    }
}

impl From<rustls::Error> for TrustError {
    fn from(e: rustls::Error) -> Self {
        Self::Certificate(e.to_string())
    }
}

/// SHA-256 of parts, each behind its length, so that no two lists of parts have one hash by
/// construction.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// By which a certificate is known: SHA-256 of its DER.
fn fingerprint(certificate: &[u8]) -> [u8; 32] {
    Sha256::digest(certificate).into()
}

/// Hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Bytes of hexadecimal digits.
fn unhex(digits: &str) -> Option<Vec<u8>> {
    HEXLOWER.decode(digits.as_bytes()).ok()
}

/// Bytes of chance from the kernel.
fn chance<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // Up to 256 bytes come whole: getrandom(2).
    let got = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if got == N { Ok(bytes) } else { Err(io::Error::other("the kernel has no chance to give")) }
}

/// Now, in seconds since 1970.
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
