//! Knows the RustCrypto and dalek crates, which are part of this binary and pure Rust.
//!
//! Has no RSA: the crate's release that fits has not come out yet, and the one before signs in a
//! time that depends on the key (RUSTSEC-2023-0071). Must not know what is timed.

use super::features;
use super::{Identity, Mask, Worker};
use crate::workload::cipher::task::{
    Algorithm, Input, Last, Operation, TAG_BYTES, Task, advance, retreat,
};
use aes::Aes256;
use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut, KeyInit};
use cbc::cipher::{BlockModeEncrypt, InOutBuf, KeyIvInit};
use chacha20poly1305::ChaCha20Poly1305;
use ed25519_dalek::{Signer, Verifier};
use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use rig::metal::Unready;
use sha2::Digest;
use std::hint::black_box;

/// The scalar of a P-256 key stands here in the SEC 1 structure of RFC 5915.
const SCALAR: std::ops::Range<usize> = 7..39;

/// Name and version of a crate, by the lock file that this binary was built with.
macro_rules! krate {
    ($name:literal) => {
        concat!($name, " ", env!(concat!("STEND_VERSION_", $name)))
    };
}

/// Whether it can do a task.
#[must_use]
pub fn has(task: Task) -> bool {
    task.algorithm != Algorithm::Rsa2048
}

/// What it is here.
///
/// # Errors
/// A task that it has not; a mask, which no crate of it reads.
pub fn identity(task: Task, mask: Mask) -> Result<Identity, Unready> {
    if !has(task) {
        return Err(no_rsa());
    }
    if matches!(mask, Mask::Set(_)) {
        let name = features::VARIABLE;
        return Err(Unready::NotAvailable(format!("rustcrypto does not read {name}")));
    }
    let (version, call_path) = match (task.algorithm, task.operation) {
        (Algorithm::Md5, _) => (krate!("md-5"), "Md5::digest"),
        (Algorithm::Sha256, _) => (krate!("sha2"), "Sha256::digest"),
        (Algorithm::Sha512, _) => (krate!("sha2"), "Sha512::digest"),
        (Algorithm::Aes256Cbc, _) => (krate!("cbc"), "encrypt_blocks_inout"),
        (Algorithm::Aes256Gcm, _) => (krate!("aes-gcm"), "encrypt_inout_detached"),
        (Algorithm::ChaCha20Poly1305, _) => (krate!("chacha20poly1305"), "encrypt_inout_detached"),
        (Algorithm::EcdsaP256, Operation::Verify) => (krate!("p256"), "verify_prehash"),
        (Algorithm::EcdsaP256, _) => (krate!("p256"), "sign_prehash"),
        (Algorithm::Ed25519, Operation::Verify) => (krate!("ed25519-dalek"), "verify"),
        (Algorithm::Ed25519, _) => (krate!("ed25519-dalek"), "sign"),
        (Algorithm::X25519 | Algorithm::Rsa2048, _) => (krate!("x25519-dalek"), "x25519"),
    };
    Ok(Identity {
        engine: "rustcrypto",
        version: version.into(),
        call_path: call_path.into(),
        cpu_features: features::own(None),
    })
}

fn no_rsa() -> Unready {
    Unready::NotAvailable("rustcrypto has no release of RSA that is kept".into())
}

/// A worker on this input.
///
/// # Errors
/// A task that it has not; an input that does not fit.
pub fn worker(task: Task, input: &Input) -> Result<Box<dyn Worker>, Unready> {
    if !has(task) {
        return Err(no_rsa());
    }
    let fits =
        |what: &str| Unready::Failed(format!("{}: {what} does not fit", task.algorithm.name()));
    let tool = tool(task, input).ok_or_else(|| fits("key or signature"))?;
    let (mut start, mut output) = (input.start.clone(), vec![0; 64]);
    match task.algorithm {
        Algorithm::Aes256Cbc => {
            let length = input.message.len();
            if length == 0 || !length.is_multiple_of(16) {
                return Err(fits("message"));
            }
            output = vec![0; length];
            output[length - 16..].copy_from_slice(&input.start);
        }
        Algorithm::Aes256Gcm | Algorithm::ChaCha20Poly1305 => {
            output = vec![0; input.message.len() + TAG_BYTES];
            start = retreat(&input.start);
        }
        _ => {}
    }
    let input = input.clone();
    Ok(Box::new(Rust { task, input, start, output, accepted: true, tool }))
}

struct Rust {
    task: Task,
    input: Input,
    start: Vec<u8>,
    output: Vec<u8>,
    accepted: bool,
    tool: Tool,
}

enum Tool {
    Md5,
    Sha256,
    Sha512,
    Cbc(cbc::Encryptor<Aes256>),
    Gcm(Aes256Gcm),
    ChaCha(ChaCha20Poly1305),
    Ecdsa(p256::ecdsa::SigningKey, Option<p256::ecdsa::Signature>),
    Ed25519(ed25519_dalek::SigningKey, Option<ed25519_dalek::Signature>),
    X25519([u8; 32], [u8; 32]),
}

/// Makes what the task is done with; none where the input does not fit.
fn tool(task: Task, input: &Input) -> Option<Tool> {
    let verify = task.operation == Operation::Verify;
    Some(match task.algorithm {
        Algorithm::Md5 => Tool::Md5,
        Algorithm::Sha256 => Tool::Sha256,
        Algorithm::Sha512 => Tool::Sha512,
        Algorithm::Aes256Cbc => {
            Tool::Cbc(cbc::Encryptor::new_from_slices(&input.key, &input.start).ok()?)
        }
        Algorithm::Aes256Gcm => Tool::Gcm(Aes256Gcm::new_from_slice(&input.key).ok()?),
        Algorithm::ChaCha20Poly1305 => {
            Tool::ChaCha(ChaCha20Poly1305::new_from_slice(&input.key).ok()?)
        }
        Algorithm::EcdsaP256 => {
            let key = p256::ecdsa::SigningKey::from_slice(input.key.get(SCALAR)?).ok()?;
            let signature = p256::ecdsa::Signature::from_der(&input.signature).ok();
            (!verify || signature.is_some()).then_some(Tool::Ecdsa(key, signature))?
        }
        Algorithm::Ed25519 => {
            let key = ed25519_dalek::SigningKey::from_bytes(input.key.as_slice().try_into().ok()?);
            let signature = ed25519_dalek::Signature::from_slice(&input.signature).ok();
            (!verify || signature.is_some()).then_some(Tool::Ed25519(key, signature))?
        }
        Algorithm::X25519 => {
            let bytes = |all: &[u8]| all.try_into().ok();
            Tool::X25519(bytes(&input.key)?, bytes(&input.start)?)
        }
        Algorithm::Rsa2048 => return None,
    })
}

fn digests<D: Digest>(message: &[u8], output: &mut Vec<u8>, passes: u64) {
    for _ in 0..passes.saturating_sub(1) {
        black_box(D::digest(black_box(message)));
    }
    if passes > 0 {
        output.clear();
        output.extend_from_slice(&D::digest(black_box(message)));
    }
}

fn seals<A: AeadInOut>(
    cipher: &A,
    work: (&Input, &mut [u8], &mut [u8]),
    passes: u64,
) -> Option<()> {
    let (input, start, output) = work;
    let (text, tag) = output.split_at_mut(input.message.len());
    for _ in 0..passes {
        advance(start);
        let nonce = (&*start).try_into().ok()?;
        let both = InOutBuf::new(black_box(input.message.as_slice()), text).ok()?;
        let made = cipher.encrypt_inout_detached(nonce, &input.aad, both).ok()?;
        tag.copy_from_slice(&made);
        black_box(&tag);
    }
    Some(())
}

impl Rust {
    fn encrypts(&mut self, passes: u64) -> Option<()> {
        let Tool::Cbc(cipher) = &mut self.tool else { return None };
        let length = self.input.message.len();
        for _ in 0..passes {
            self.start.copy_from_slice(&self.output[length - 16..]);
            let both = InOutBuf::new(black_box(self.input.message.as_slice()), &mut self.output);
            let (blocks, rest) = both.ok()?.into_chunks();
            cipher.encrypt_blocks_inout(blocks);
            if !rest.is_empty() {
                return None;
            }
            black_box(&self.output);
        }
        Some(())
    }

    fn verifies(&self, message: &[u8]) -> bool {
        match &self.tool {
            Tool::Ecdsa(key, Some(signature)) => {
                key.verifying_key().verify_prehash(message, signature).is_ok()
            }
            Tool::Ed25519(key, Some(signature)) => {
                key.verifying_key().verify(message, signature).is_ok()
            }
            _ => false,
        }
    }

    fn signs(&mut self, passes: u64) -> Option<()> {
        let message = black_box(self.input.message.as_slice());
        for _ in 0..passes {
            match &self.tool {
                Tool::Ecdsa(key, _) => {
                    let signature: p256::ecdsa::Signature = key.sign_prehash(message).ok()?;
                    signature.to_der().as_bytes().clone_into(&mut self.output);
                }
                Tool::Ed25519(key, _) => {
                    self.output.clear();
                    self.output.extend_from_slice(&key.try_sign(message).ok()?.to_bytes());
                }
                _ => return None,
            }
        }
        Some(())
    }
}

impl Worker for Rust {
    fn run(&mut self, passes: u64) -> Result<u64, String> {
        let work = (&self.input, self.start.as_mut_slice(), self.output.as_mut_slice());
        let done = match (&self.tool, self.task.operation) {
            (Tool::Md5, _) => {
                digests::<md5::Md5>(&self.input.message, &mut self.output, passes);
                Some(())
            }
            (Tool::Sha256, _) => {
                digests::<sha2::Sha256>(&self.input.message, &mut self.output, passes);
                Some(())
            }
            (Tool::Sha512, _) => {
                digests::<sha2::Sha512>(&self.input.message, &mut self.output, passes);
                Some(())
            }
            (Tool::Cbc(_), _) => self.encrypts(passes),
            (Tool::Gcm(cipher), _) => seals(cipher, work, passes),
            (Tool::ChaCha(cipher), _) => seals(cipher, work, passes),
            (Tool::X25519(key, peer), _) => {
                for _ in 0..passes {
                    let secret = x25519_dalek::x25519(black_box(*key), black_box(*peer));
                    self.output.clear();
                    self.output.extend_from_slice(&secret);
                }
                Some(())
            }
            (_, Operation::Verify) => {
                for _ in 0..passes {
                    self.accepted &= self.verifies(black_box(&self.input.message));
                }
                Some(())
            }
            _ => self.signs(passes),
        };
        let name = self.task.algorithm.name();
        done.map(|()| passes * self.task.work()).ok_or_else(|| format!("rustcrypto refused {name}"))
    }

    fn last(&mut self) -> Result<Option<Last>, String> {
        if self.task.operation == Operation::Verify {
            let refused = !self.verifies(&self.input.forged());
            return Ok(Some(Last::verified(self.accepted, refused)));
        }
        Ok(Some(Last { start: self.start.clone(), output: self.output.clone() }))
    }
}
