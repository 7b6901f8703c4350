//! Knows what can be asked of an engine: algorithm, operation, and the bytes that it works on.
//!
//! Must not know how any engine does it.

use super::keys;
use crate::engine::alone::Order;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Bytes that are authenticated with a message but not encrypted: the header of a TLS record.
pub const AAD_BYTES: usize = 13;

/// Bytes of an authentication tag.
pub const TAG_BYTES: usize = 16;

/// Bytes that are signed: a digest of SHA-256.
pub const SIGNED_BYTES: usize = 32;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RFC 1321.
    Md5,
    /// FIPS 180-4.
    Sha256,
    /// FIPS 180-4.
    Sha512,
    /// NIST SP 800-38A.
    Aes256Cbc,
    /// NIST SP 800-38D.
    Aes256Gcm,
    /// RFC 8439.
    ChaCha20Poly1305,
    /// RFC 8017, PKCS #1 v1.5.
    Rsa2048,
    /// FIPS 186-5.
    EcdsaP256,
    /// RFC 8032.
    Ed25519,
    /// RFC 7748.
    X25519,
}

impl Algorithm {
    /// All of them, with the names that plans use.
    pub const ALL: [(&'static str, Self); 10] = [
        ("aes-256-cbc", Self::Aes256Cbc),
        ("aes-256-gcm", Self::Aes256Gcm),
        ("chacha20-poly1305", Self::ChaCha20Poly1305),
        ("ecdsa-p256", Self::EcdsaP256),
        ("ed25519", Self::Ed25519),
        ("md5", Self::Md5),
        ("rsa-2048", Self::Rsa2048),
        ("sha256", Self::Sha256),
        ("sha512", Self::Sha512),
        ("x25519", Self::X25519),
    ];

    /// The operations it has; the first is the usual one.
    #[must_use]
    pub fn operations(self) -> &'static [Operation] {
        match self {
            Self::Md5 | Self::Sha256 | Self::Sha512 => &[Operation::Digest],
            Self::Aes256Cbc | Self::Aes256Gcm | Self::ChaCha20Poly1305 => &[Operation::Encrypt],
            Self::Rsa2048 | Self::EcdsaP256 | Self::Ed25519 => {
                &[Operation::Sign, Operation::Verify]
            }
            Self::X25519 => &[Operation::Agree],
        }
    }

    /// Its name in plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

/// What is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Digest of a message.
    Digest,
    /// Encryption of a message, with its tag where there is one.
    Encrypt,
    /// Signature of 32 bytes.
    Sign,
    /// Check of such a signature.
    Verify,
    /// Shared secret from a private and a public value.
    Agree,
}

impl Operation {
    /// All of them, with the names that plans use.
    pub const ALL: [(&'static str, Self); 5] = [
        ("agree", Self::Agree),
        ("digest", Self::Digest),
        ("encrypt", Self::Encrypt),
        ("sign", Self::Sign),
        ("verify", Self::Verify),
    ];

    /// Its name in plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }

    /// Whether work is counted in bytes of messages; else in operations.
    #[must_use]
    pub fn in_bytes(self) -> bool {
        matches!(self, Self::Digest | Self::Encrypt)
    }
}

/// One thing to do, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// What is computed.
    pub algorithm: Algorithm,
    /// What is done with it.
    pub operation: Operation,
    /// Bytes of a message; for signatures and agreement it has no meaning.
    pub block_bytes: usize,
}

impl Task {
    /// Reads the parameters of a load point.
    ///
    /// # Errors
    /// An unknown word, or an operation that the algorithm has not.
    pub fn read(order: &Order) -> Result<Self, String> {
        let name = order.word("algorithm");
        let found = Algorithm::ALL.iter().find(|(known, _)| *known == name);
        let (_, algorithm) = *found.ok_or_else(|| format!("no algorithm {name:?} is known"))?;
        let wanted = order.word("operation");
        let has = algorithm.operations();
        let operation = match has.iter().find(|one| one.name() == wanted) {
            Some(one) => *one,
            None if wanted == "usual" => has[0],
            None => return Err(format!("{name} has no operation {wanted}")),
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "16 B to 16 KiB"
        )]
        let block_bytes = order.quantity("block_size").unwrap_or_default() as usize;
        if algorithm == Algorithm::Aes256Cbc && !block_bytes.is_multiple_of(16) {
            return Err(format!(
                "{name} works on blocks of 16 B and {block_bytes} B is no multiple of that"
            ));
        }
        Ok(Self { algorithm, operation, block_bytes })
    }

    /// What one pass adds to the work: bytes of a message, or one operation.
    #[must_use]
    pub fn work(self) -> u64 {
        if self.operation.in_bytes() { self.block_bytes as u64 } else { 1 }
    }
}

/// The bytes that a task works on. What a task does not need is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Symmetric key, seed or scalar; RSA in PKCS #1 DER, ECDSA in SEC 1 DER with its public point.
    pub key: Vec<u8>,
    /// First initialisation vector or nonce; or the other side's public value.
    pub start: Vec<u8>,
    /// What is authenticated beside the message.
    pub aad: Vec<u8>,
    /// What is digested, encrypted or signed.
    pub message: Vec<u8>,
    /// The signature to verify; DER for ECDSA.
    pub signature: Vec<u8>,
}

impl Input {
    /// The message with one bit changed.
    #[must_use]
    pub fn forged(&self) -> Vec<u8> {
        let mut forged = self.message.clone();
        forged[0] ^= 1;
        forged
    }

    /// The same bytes for the same seed. A signature to verify is still to be made.
    #[must_use]
    pub fn seeded(task: Task, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bytes = |count: usize| {
            let mut made = vec![0; count];
            random.fill_bytes(&mut made);
            made
        };
        let message = if task.operation.in_bytes() { task.block_bytes } else { SIGNED_BYTES };
        let mut input = Self { message: bytes(message), ..Self::default() };
        match task.algorithm {
            Algorithm::Md5 | Algorithm::Sha256 | Algorithm::Sha512 => {}
            Algorithm::Aes256Cbc => (input.key, input.start) = (bytes(32), bytes(16)),
            Algorithm::Aes256Gcm | Algorithm::ChaCha20Poly1305 => {
                (input.key, input.start, input.aad) = (bytes(32), bytes(12), bytes(AAD_BYTES));
            }
            Algorithm::Rsa2048 => input.key = hex(keys::RSA_2048),
            Algorithm::EcdsaP256 => input.key = hex(keys::ECDSA_P256),
            Algorithm::Ed25519 => input.key = bytes(32),
            Algorithm::X25519 => {
                // Any 32 bytes are a public value of the curve or of its twist.
                (input.key, input.start) = (bytes(32), bytes(32));
                input.message.clear();
            }
        }
        input
    }
}

/// What an engine did last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Last {
    /// Initialisation vector or nonce with which it began; empty where there is none.
    pub start: Vec<u8>,
    /// Digest; ciphertext and tag; signature; secret. For verify: 1 if all were accepted, and 1 if
    /// a message with one bit changed was refused.
    pub output: Vec<u8>,
}

impl Last {
    /// Of a verifier: whether it accepted all, and whether it refused a forged message.
    #[must_use]
    pub fn verified(accepted: bool, refused: bool) -> Self {
        Self { start: Vec::new(), output: vec![u8::from(accepted), u8::from(refused)] }
    }
}

/// The bytes that a string of hexadecimal digits writes; anything else in it is skipped.
#[must_use]
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).filter_map(|d| u8::try_from(d).ok()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Writes bytes as hexadecimal digits.
#[must_use]
pub fn unhex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The nonce after this one: the last eight bytes count, most significant first.
pub fn advance(nonce: &mut [u8]) {
    count(nonce, 1);
}

/// The nonce before this one.
#[must_use]
pub fn retreat(nonce: &[u8]) -> Vec<u8> {
    let mut before = nonce.to_vec();
    count(&mut before, u64::MAX);
    before
}

fn count(nonce: &mut [u8], more: u64) {
    if let Some(last) = nonce.last_chunk_mut::<8>() {
        *last = u64::from_be_bytes(*last).wrapping_add(more).to_be_bytes();
    }
}
