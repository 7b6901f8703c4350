//! Knows AWS-LC, the engine that is part of this binary: the same code on every machine.
//!
//! Calls its C functions as they are. Must not know what is timed.

use super::features;
use super::{Identity, Mask, Worker};
use crate::workload::cipher::task::{
    Algorithm, Input, Last, Operation, TAG_BYTES, Task, advance, retreat,
};
use aws_lc_sys as lc;
use rig::metal::Unready;
use std::ffi::{CStr, c_long, c_uint};
use std::ptr::null_mut;

/// One-shot digest: message, bytes, where to.
type Digest = unsafe extern "C" fn(*const u8, usize, *mut u8) -> *mut u8;

/// The largest signature: RSA of 2048 bits.
const SIGNATURE_BYTES: usize = 256;

/// What it is here.
///
/// # Errors
/// Where the environment has not the mask already: AWS-LC reads it once, when the program starts.
pub fn identity(task: Task, mask: Mask) -> Result<Identity, Unready> {
    let found = std::env::var(features::VARIABLE).ok();
    if !mask.is(found.as_deref()) {
        let name = features::VARIABLE;
        return Err(Unready::NotAvailable(format!(
            "aws_lc reads {name} only when the program starts: set it for stend itself, or measure \
             the engines libcrypto and openssl_cli"
        )));
    }
    let version = lc::AWSLC_VERSION_NUMBER_STRING;
    let version = CStr::from_bytes_with_nul(version).map(CStr::to_string_lossy).unwrap_or_default();
    let call_path = match (task.algorithm, task.operation) {
        (Algorithm::Md5, _) => "MD5",
        (Algorithm::Sha256, _) => "SHA256",
        (Algorithm::Sha512, _) => "SHA512",
        (Algorithm::Aes256Cbc, _) => "AES_cbc_encrypt",
        (Algorithm::Aes256Gcm | Algorithm::ChaCha20Poly1305, _) => "EVP_AEAD_CTX_seal",
        (Algorithm::Rsa2048, Operation::Verify) => "RSA_verify",
        (Algorithm::Rsa2048, _) => "RSA_sign",
        (Algorithm::EcdsaP256, Operation::Verify) => "ECDSA_verify",
        (Algorithm::EcdsaP256, _) => "ECDSA_sign",
        (Algorithm::Ed25519, Operation::Verify) => "ED25519_verify",
        (Algorithm::Ed25519, _) => "ED25519_sign",
        (Algorithm::X25519, _) => "X25519",
    };
    Ok(Identity {
        engine: "aws_lc",
        version: format!("AWS-LC {version}"),
        call_path: call_path.into(),
        cpu_features: features::own(found.as_deref()),
    })
}

/// A worker on this input.
///
/// # Errors
/// An input that does not fit, or memory that is not to be had.
pub fn worker(task: Task, input: &Input) -> Result<Box<dyn Worker>, Unready> {
    let worker = AwsLc::new(task, input).map_err(Unready::Failed)?;
    Ok(Box::new(worker))
}

struct AwsLc {
    task: Task,
    input: Input,
    start: Vec<u8>,
    output: Vec<u8>,
    /// Bytes of `output` that the last pass wrote.
    written: usize,
    accepted: bool,
    tool: Tool,
}

/// What a task is done with; made once.
enum Tool {
    Digest(Digest),
    Cbc(Box<Chain>),
    Aead(Aead),
    Rsa { key: *mut lc::RSA, _owner: Key },
    Ecdsa { key: *mut lc::EC_KEY, _owner: Key },
    Ed25519 { public: [u8; 32], private: [u8; 64] },
    X25519,
}

impl AwsLc {
    fn new(task: Task, input: &Input) -> Result<Self, String> {
        let length = input.message.len();
        let mut start = Vec::new();
        let (tool, room) = match task.algorithm {
            Algorithm::Md5 => (Tool::Digest(lc::MD5), 16),
            Algorithm::Sha256 => (Tool::Digest(lc::SHA256), 32),
            Algorithm::Sha512 => (Tool::Digest(lc::SHA512), 64),
            Algorithm::Aes256Cbc => {
                if length == 0 || !length.is_multiple_of(16) {
                    return Err(format!("{length} B are no whole blocks of 16 B"));
                }
                start.clone_from(&input.start);
                (Tool::Cbc(Box::new(Chain::new(&input.key, &input.start)?)), length)
            }
            Algorithm::Aes256Gcm | Algorithm::ChaCha20Poly1305 => {
                exact(&[(&input.key, 32), (&input.start, 12)])?;
                start = retreat(&input.start);
                (Tool::Aead(Aead::new(task.algorithm, &input.key)?), length + TAG_BYTES)
            }
            Algorithm::Rsa2048 => {
                exact(&[(&input.message, 32)])?;
                let owner = Key::new(&input.key)?;
                let key = owner.rsa(SIGNATURE_BYTES)?;
                (Tool::Rsa { key, _owner: owner }, SIGNATURE_BYTES)
            }
            Algorithm::EcdsaP256 => {
                exact(&[(&input.message, 32)])?;
                let owner = Key::new(&input.key)?;
                let key = owner.curve(SIGNATURE_BYTES)?;
                (Tool::Ecdsa { key, _owner: owner }, SIGNATURE_BYTES)
            }
            Algorithm::Ed25519 => {
                exact(&[(&input.key, 32)])?;
                (ed25519(&input.key), 64)
            }
            Algorithm::X25519 => {
                exact(&[(&input.key, 32), (&input.start, 32)])?;
                start.clone_from(&input.start);
                (Tool::X25519, 32)
            }
        };
        if task.algorithm == Algorithm::Ed25519 && task.operation == Operation::Verify {
            exact(&[(&input.signature, 64)])?;
        }
        let (input, output) = (input.clone(), vec![0; room]);
        Ok(Self { task, input, start, output, written: room, accepted: true, tool })
    }

    fn digests(&mut self, function: Digest, passes: u64) {
        let (message, out) = (&self.input.message, self.output.as_mut_ptr());
        for _ in 0..passes {
            // SAFETY: reads the message and writes its digest; `output` has room for it.
            unsafe { function(message.as_ptr(), message.len(), out) };
        }
    }

    fn encrypts(&mut self, passes: u64) -> Option<()> {
        let Tool::Cbc(chain) = &mut self.tool else { return None };
        let Chain { key, vector } = &mut **chain;
        let (from, length) = (self.input.message.as_ptr(), self.input.message.len());
        let (out, mode) = (self.output.as_mut_ptr(), lc::AES_ENCRYPT);
        for _ in 0..passes {
            self.start.copy_from_slice(vector);
            // SAFETY: reads whole blocks and writes as many bytes; `output` is as long as the
            // message. The vector has 16 bytes.
            unsafe { lc::AES_cbc_encrypt(from, out, length, key, vector.as_mut_ptr(), mode) };
        }
        Some(())
    }

    fn seals(&mut self, passes: u64) -> Option<()> {
        let Tool::Aead(aead) = &self.tool else { return None };
        let (message, aad) = (&self.input.message, &self.input.aad);
        for _ in 0..passes {
            advance(&mut self.start);
            let mut written = 0;
            // SAFETY: lengths are those of the slices, and no more than the room is written.
            let done = unsafe {
                lc::EVP_AEAD_CTX_seal(
                    aead.0,
                    self.output.as_mut_ptr(),
                    &raw mut written,
                    self.output.len(),
                    self.start.as_ptr(),
                    self.start.len(),
                    message.as_ptr(),
                    message.len(),
                    aad.as_ptr(),
                    aad.len(),
                )
            };
            if done != 1 {
                return None;
            }
            self.written = written;
        }
        Some(())
    }

    fn signs(&mut self, passes: u64) -> Option<()> {
        for _ in 0..passes {
            self.written = self.sign()?;
        }
        Some(())
    }

    /// Bytes of the signature.
    fn sign(&mut self) -> Option<usize> {
        let (message, out) = (&self.input.message, self.output.as_mut_ptr());
        let (from, length) = (message.as_ptr(), message.len());
        let mut written: c_uint = 64;
        // SAFETY: `output` has room for the largest signature of the key, looked at when it was
        // read; the keys live in `tool`.
        let done = unsafe {
            match &self.tool {
                Tool::Rsa { key, .. } => {
                    lc::RSA_sign(lc::NID_sha256, from, length, out, &raw mut written, *key)
                }
                Tool::Ecdsa { key, .. } => {
                    lc::ECDSA_sign(0, from, length, out, &raw mut written, *key)
                }
                Tool::Ed25519 { private, .. } => {
                    lc::ED25519_sign(out, from, length, private.as_ptr())
                }
                _ => 0,
            }
        };
        if done == 1 { usize::try_from(written).ok() } else { None }
    }

    fn verifies(&self, message: &[u8]) -> bool {
        let signature = &self.input.signature;
        let (from, length) = (message.as_ptr(), message.len());
        let (sig, sig_length) = (signature.as_ptr(), signature.len());
        // SAFETY: lengths are those of the slices, 64 for Ed25519; the keys live in `tool`.
        let done = unsafe {
            match &self.tool {
                Tool::Rsa { key, .. } => {
                    lc::RSA_verify(lc::NID_sha256, from, length, sig, sig_length, *key)
                }
                Tool::Ecdsa { key, .. } => lc::ECDSA_verify(0, from, length, sig, sig_length, *key),
                Tool::Ed25519 { public, .. } => {
                    lc::ED25519_verify(from, length, sig, public.as_ptr())
                }
                _ => 0,
            }
        };
        done == 1
    }

    fn agrees(&mut self, passes: u64) -> Option<()> {
        let (key, peer) = (self.input.key.as_ptr(), self.start.as_ptr());
        for _ in 0..passes {
            // SAFETY: all three are of 32 bytes, looked at when they were given.
            if unsafe { lc::X25519(self.output.as_mut_ptr(), key, peer) } != 1 {
                return None;
            }
        }
        Some(())
    }
}

impl Worker for AwsLc {
    fn run(&mut self, passes: u64) -> Result<u64, String> {
        let done = match (&self.tool, self.task.operation) {
            (Tool::Digest(function), _) => {
                self.digests(*function, passes);
                Some(())
            }
            (Tool::Cbc(_), _) => self.encrypts(passes),
            (Tool::Aead(_), _) => self.seals(passes),
            (Tool::X25519, _) => self.agrees(passes),
            (_, Operation::Verify) => {
                for _ in 0..passes {
                    self.accepted &= self.verifies(&self.input.message);
                }
                Some(())
            }
            _ => self.signs(passes),
        };
        let name = self.task.algorithm.name();
        done.map(|()| passes * self.task.work()).ok_or_else(|| format!("AWS-LC refused {name}"))
    }

    fn last(&mut self) -> Result<Option<Last>, String> {
        if self.task.operation == Operation::Verify {
            let refused = !self.verifies(&self.input.forged());
            return Ok(Some(Last::verified(self.accepted, refused)));
        }
        Ok(Some(Last { start: self.start.clone(), output: self.output[..self.written].to_vec() }))
    }
}

fn exact(all: &[(&Vec<u8>, usize)]) -> Result<(), String> {
    match all.iter().find(|(bytes, length)| bytes.len() != *length) {
        Some((bytes, length)) => {
            Err(format!("{} B given where {length} B are needed", bytes.len()))
        }
        None => Ok(()),
    }
}

fn ed25519(seed: &[u8]) -> Tool {
    let (mut public, mut private) = ([0; 32], [0; 64]);
    // SAFETY: writes 32 and 64 bytes, reads 32; the seed's length was looked at.
    unsafe {
        lc::ED25519_keypair_from_seed(public.as_mut_ptr(), private.as_mut_ptr(), seed.as_ptr());
    }
    Tool::Ed25519 { public, private }
}

/// A key of AES-256-CBC, and the vector of the next message: the last block of the one before.
struct Chain {
    key: lc::AES_KEY,
    vector: [u8; 16],
}

impl Chain {
    fn new(key: &[u8], vector: &[u8]) -> Result<Self, String> {
        let key: &[u8; 32] = key.try_into().map_err(|_| "a key has 32 B")?;
        let vector = vector.try_into().map_err(|_| "a vector has 16 B")?;
        let mut made = lc::AES_KEY { rd_key: [0; 60], rounds: 0 };
        // SAFETY: reads 256 bits, as many as the key has; all of `made` is written.
        let done = unsafe { lc::AES_set_encrypt_key(key.as_ptr(), 256, &raw mut made) };
        if done == 0 {
            Ok(Self { key: made, vector })
        } else {
            Err("AWS-LC refused the key".into())
        }
    }
}

/// A key of a cipher with a tag.
struct Aead(*mut lc::EVP_AEAD_CTX);

impl Aead {
    fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, String> {
        // SAFETY: the key's length is given with it.
        let context = unsafe {
            let kind = if algorithm == Algorithm::Aes256Gcm {
                lc::EVP_aead_aes_256_gcm()
            } else {
                lc::EVP_aead_chacha20_poly1305()
            };
            lc::EVP_AEAD_CTX_new(kind, key.as_ptr(), key.len(), TAG_BYTES)
        };
        if context.is_null() { Err("AWS-LC refused the key".into()) } else { Ok(Self(context)) }
    }
}

impl Drop for Aead {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { lc::EVP_AEAD_CTX_free(self.0) };
    }
}

/// A private key of RSA or of a curve.
struct Key(*mut lc::EVP_PKEY);

impl Key {
    fn new(der: &[u8]) -> Result<Self, String> {
        let mut from = der.as_ptr();
        let length = c_long::try_from(der.len()).map_err(|e| e.to_string())?;
        // SAFETY: reads at most so many bytes from there.
        let key = unsafe { lc::d2i_AutoPrivateKey(null_mut(), &raw mut from, length) };
        if key.is_null() { Err("AWS-LC cannot read the key".into()) } else { Ok(Self(key)) }
    }

    /// Its RSA part, where a signature fits into so many bytes. It lives as long as this.
    fn rsa(&self, room: usize) -> Result<*mut lc::RSA, String> {
        // SAFETY: asks a living key.
        let (key, size) = unsafe {
            let key = lc::EVP_PKEY_get0_RSA(self.0);
            (key, if key.is_null() { c_uint::MAX } else { lc::RSA_size(key) })
        };
        if usize::try_from(size).is_ok_and(|size| size <= room) {
            return Ok(key);
        }
        Err(format!("no RSA key whose signature fits into {room} B"))
    }

    /// The same for a curve.
    fn curve(&self, room: usize) -> Result<*mut lc::EC_KEY, String> {
        // SAFETY: asks a living key.
        let (key, size) = unsafe {
            let key = lc::EVP_PKEY_get0_EC_KEY(self.0);
            (key, if key.is_null() { usize::MAX } else { lc::ECDSA_size(key) })
        };
        if size <= room { Ok(key) } else { Err("no key of a curve".into()) }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { lc::EVP_PKEY_free(self.0) };
    }
}
