//! Knows the code of an invitation: where to ask, whom to believe, and the secret, in one word.
//!
//! A byte of version, the address, SHA-256 of the certificate of the authority, the secret, and
//! four bytes of SHA-256 of all that, in base32 (RFC 4648, small letters, no padding). Must not
//! know what becomes of it.

use super::{TrustError, fingerprint};
use data_encoding::{BASE32_NOPAD, DecodeKind};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Bytes of the secret.
pub(super) const SECRET: usize = 16;
const VERSION: u8 = 1;
const CHECK: usize = 4;

/// What an invitation says to the machine that is invited.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) address: SocketAddr,
    /// SHA-256 of the authority's certificate.
    pub(super) root: [u8; 32],
    pub(super) secret: [u8; SECRET],
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![VERSION];
        match self.address.ip() {
            IpAddr::V4(ip) => bytes.extend([&[4], ip.octets().as_slice()].concat()),
            IpAddr::V6(ip) => bytes.extend([&[6], ip.octets().as_slice()].concat()),
        }
        bytes.extend(self.address.port().to_be_bytes());
        bytes.extend(self.root);
        bytes.extend(self.secret);
        bytes.extend_from_slice(&fingerprint(&bytes)[..CHECK]);
        f.write_str(&BASE32_NOPAD.encode(&bytes).to_ascii_lowercase())
    }
}

impl FromStr for Code {
    type Err = TrustError;

    fn from_str(text: &str) -> Result<Self, TrustError> {
        let wrong = TrustError::Code;
        let text = text.trim().to_ascii_uppercase();
        let bytes = BASE32_NOPAD.decode(text.as_bytes());
        let bytes = bytes.map_err(|e| match e.kind {
            // So many characters encode no whole number of bytes.
            DecodeKind::Length | DecodeKind::Trailing => wrong("a part is missing"),
            _ => wrong("it has a character that no code has"),
        })?;
        let (body, check) = bytes.split_last_chunk::<CHECK>().ok_or(wrong("it is too short"))?;
        if fingerprint(body)[..CHECK] != *check {
            return Err(wrong("a part is missing or changed"));
        }
        let mut rest = body;
        if take(&mut rest) != Some([VERSION]) {
            return Err(wrong("it is of another version of stend"));
        }
        Self::read(&mut rest).filter(|_| rest.is_empty()).ok_or(wrong("it has another length"))
    }
}

impl Code {
    fn read(rest: &mut &[u8]) -> Option<Self> {
        let ip = match take(rest)? {
            [4] => IpAddr::from(take::<4>(rest)?),
            [6] => IpAddr::from(take::<16>(rest)?),
            _ => return None,
        };
        let address = SocketAddr::new(ip, u16::from_be_bytes(take(rest)?));
        Some(Self { address, root: take(rest)?, secret: take(rest)? })
    }
}

/// The next bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk::<N>()?;
    *rest = left;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn a_code_is_read_as_it_was_written_and_one_letter_off_is_none(
            (v6, ip, port) in (any::<bool>(), any::<u128>(), any::<u16>()),
            (root, secret) in (any::<[u8; 32]>(), any::<[u8; SECRET]>()),
            (at, other) in (any::<prop::sample::Index>(), 0_usize..32),
        ) {
            let ip: IpAddr = if v6 { std::net::Ipv6Addr::from(ip).into() }
                else { std::net::Ipv4Addr::from(ip as u32).into() };
            let code = Code { address: SocketAddr::new(ip, port), root, secret };
            let text = code.to_string();
            prop_assert_eq!(text.parse::<Code>().unwrap(), code.clone());
            prop_assert_eq!(format!(" {}\n", text.to_uppercase()).parse::<Code>().unwrap(), code);
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = LETTERS[other];
            let changed = String::from_utf8(bytes).unwrap();
            prop_assert!(changed == text || changed.parse::<Code>().is_err());
            prop_assert!(text[..text.len() - 1].parse::<Code>().is_err());
        }

        #[test]
        fn chance_text_is_no_code(text in "\\PC{0,120}", letters in "[a-z2-7]{0,120}") {
            prop_assert!(text.parse::<Code>().is_err());
            prop_assert!(letters.parse::<Code>().is_err());
        }
    }
}
