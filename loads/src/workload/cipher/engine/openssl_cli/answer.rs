//! Knows which commands of `openssl` do a task once, so that its answer can be checked.
//!
//! There is none for ciphers with a tag. Keys stand in files in memory, which the program opens by
//! the number of this process. Must not know `openssl speed`.

use super::ask;
use crate::workload::cipher::engine::Mask;
use crate::workload::cipher::task::{Algorithm, Input, Last, Operation, Task, unhex};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

/// A private key of Ed25519 in PKCS #8, up to its 32 bytes (RFC 8410).
const ED25519: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
/// The same for X25519.
const X25519: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x6e\x04\x22\x04\x20";
/// A public value of X25519, up to its 32 bytes.
const X25519_PUBLIC: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x6e\x03\x21\x00";

/// The answer of a command that does this task; none where there is no such command.
///
/// # Errors
/// A command that failed.
pub fn of(task: Task, input: &Input, mask: Mask) -> Result<Option<Last>, String> {
    let start = input.start.clone();
    let output = match task.algorithm {
        Algorithm::Md5 => run(&["dgst", "-md5", "-binary"], &input.message, mask)?,
        Algorithm::Sha256 => run(&["dgst", "-sha256", "-binary"], &input.message, mask)?,
        Algorithm::Sha512 => run(&["dgst", "-sha512", "-binary"], &input.message, mask)?,
        Algorithm::Aes256Cbc => {
            let (key, vector) = (unhex(&input.key), unhex(&start));
            let words = ["enc", "-aes-256-cbc", "-nopad", "-K", &key, "-iv", &vector];
            run(&words, &input.message, mask)?
        }
        Algorithm::Aes256Gcm | Algorithm::ChaCha20Poly1305 => return Ok(None),
        Algorithm::X25519 => {
            let private = Memory::new(&[X25519, &input.key].concat())?;
            let public = Memory::new(&[X25519_PUBLIC, &start].concat())?;
            let mut words = vec!["pkeyutl", "-derive", "-keyform", "DER", "-inkey", &private.path];
            words.extend(["-peerform", "DER", "-peerkey", &public.path]);
            run(&words, &[], mask)?
        }
        Algorithm::Rsa2048 | Algorithm::EcdsaP256 | Algorithm::Ed25519 => {
            signature(task, input, mask)?
        }
    };
    Ok(Some(Last { start, output }))
}

fn signature(task: Task, input: &Input, mask: Mask) -> Result<Vec<u8>, String> {
    let ed25519 = task.algorithm == Algorithm::Ed25519;
    let der = if ed25519 { [ED25519, &input.key].concat() } else { input.key.clone() };
    let key = Memory::new(&der)?;
    let given = |message: &[u8], words: &[&str]| -> Result<Vec<u8>, String> {
        // Ed25519 wants to know the length beforehand, so it is a file too.
        let message = Memory::new(message)?;
        let mut all = vec!["pkeyutl", "-keyform", "DER", "-inkey", &key.path, "-in", &message.path];
        all.extend(if ed25519 { ["-rawin"].as_slice() } else { &["-pkeyopt", "digest:sha256"] });
        all.extend(words);
        run(&all, &[], mask)
    };
    if task.operation == Operation::Sign {
        return given(&input.message, &["-sign"]);
    }
    let signed = Memory::new(&input.signature)?;
    let words = ["-verify", "-sigfile", &signed.path];
    let mut forged = input.message.clone();
    forged[0] ^= 1;
    let (accepted, refused) =
        (given(&input.message, &words).is_ok(), given(&forged, &words).is_err());
    Ok(vec![u8::from(accepted), u8::from(refused)])
}

fn run(words: &[&str], given: &[u8], mask: Mask) -> Result<Vec<u8>, String> {
    ask(words, given, mask).map_err(|e| e.to_string())
}

/// A file in memory with a name that another program can open.
struct Memory {
    path: String,
    /// Keeps it.
    _file: File,
}

impl Memory {
    fn new(bytes: &[u8]) -> Result<Self, String> {
        let made = memfd_create("stend-key", MemfdFlags::CLOEXEC).map_err(std::io::Error::from);
        let written = made.and_then(|fd| {
            let mut file = File::from(fd);
            file.write_all(bytes)?;
            let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
            Ok(Self { path, _file: file })
        });
        written.map_err(|e| format!("no file in memory: {e}"))
    }
}
