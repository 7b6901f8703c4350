//! Knows the machine's own `libcrypto.so.3`, in a process that is linked to the machine's libc.
//!
//! This binary is static and cannot load such a library, so it carries a small program that can
//! (decision 0034), writes it to memory and talks to it over its standard input and output; the
//! protocol stands in `loader/main.c`. Must not know what is timed.

use super::features;
use super::{Identity, Mask, Worker, child};
use crate::workload::cipher::answers;
use crate::workload::cipher::task::{Algorithm, Input, Last, Operation, Task, hex, unhex};
use rig::metal::Unready;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program, for the glibc of this processor; empty where it could not be built.
static LOADER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/loader"));

/// Why it could not be built.
const LACKS: &str = env!("STEND_LOADER_LACKS");

/// What it is here.
///
/// # Errors
/// No loader in this binary; no libcrypto 3 or no glibc on this machine.
pub fn identity(task: Task, mask: Mask) -> Result<Identity, Unready> {
    let (known, _) = answers::of(task.algorithm, task.operation);
    let loaded = Loaded::start(task, &known, mask)?;
    let call_path = match (task.algorithm, task.operation) {
        (Algorithm::Md5 | Algorithm::Sha256 | Algorithm::Sha512, _) => {
            "EVP_DigestInit_ex2, Update, Final_ex; digest fetched once"
        }
        (Algorithm::Aes256Cbc, _) => "EVP_EncryptUpdate",
        (Algorithm::Aes256Gcm | Algorithm::ChaCha20Poly1305, _) => {
            "EVP_EncryptInit_ex2, Update, Update, Final_ex, get tag; cipher fetched once"
        }
        (Algorithm::Ed25519, Operation::Verify) => "EVP_DigestVerify",
        (Algorithm::Ed25519, _) => "EVP_DigestSign",
        (_, Operation::Verify) => "EVP_PKEY_verify",
        (Algorithm::X25519, _) => "EVP_PKEY_derive",
        _ => "EVP_PKEY_sign",
    };
    let call_path =
        if loaded.again { format!("{call_path}, begun anew") } else { call_path.to_owned() };
    Ok(Identity {
        engine: "libcrypto",
        version: loaded.version.clone(),
        call_path,
        cpu_features: features::told(&loaded.cpu),
    })
}

/// A worker on this input.
///
/// # Errors
/// As [`identity`], and an input that does not fit.
pub fn worker(task: Task, input: &Input, mask: Mask) -> Result<Box<dyn Worker>, Unready> {
    Ok(Box::new(Loaded::start(task, input, mask)?))
}

/// The program, running. It ends when its input does.
struct Loaded {
    task: Task,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    version: String,
    cpu: String,
    again: bool,
    own_ns: u64,
}

impl Loaded {
    fn start(task: Task, input: &Input, mask: Mask) -> Result<Self, Unready> {
        if LOADER.is_empty() {
            return Err(Unready::NotAvailable(LACKS.into()));
        }
        let memory = in_memory()?;
        let mut command = Command::new(format!("/proc/self/fd/{}", memory.as_raw_fd()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        mask.tell(&mut command);
        let mut child = child::spawn(&mut command).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                Unready::NotAvailable("no glibc here that loads libcrypto".into())
            }
            _ => Unready::NotAvailable(format!("a program in memory cannot be run: {error}")),
        })?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Unready::Failed("no pipe to the loader".into()));
        };
        let (version, cpu) = (String::new(), String::new());
        let output = BufReader::new(from);
        let input_of = Some(to);
        let mut loaded =
            Self { task, child, input: input_of, output, version, cpu, again: false, own_ns: 0 };
        loaded.make(input)?;
        Ok(loaded)
    }

    fn make(&mut self, input: &Input) -> Result<(), Unready> {
        let word = |bytes: &[u8]| if bytes.is_empty() { "-".to_owned() } else { unhex(bytes) };
        let text = format!(
            "task {} {}\nkey {}\nstart {}\naad {}\nmessage {}\nsignature {}\nmake\n",
            self.task.algorithm.name(),
            self.task.operation.name(),
            word(&input.key),
            word(&input.start),
            word(&input.aad),
            word(&input.message),
            word(&input.signature)
        );
        // A loader that has ended already says why in its output.
        let sent = self.send(&text);
        self.version = self.answer("version")?;
        self.cpu = self.answer("cpu")?;
        self.again = self.answer("made")? != "once";
        sent.map_err(Unready::Failed)
    }

    fn send(&mut self, text: &str) -> Result<(), String> {
        let Some(input) = &mut self.input else { return Err("the loader has ended".into()) };
        input.write_all(text.as_bytes()).map_err(|e| format!("the loader does not listen: {e}"))
    }

    /// The rest of the next line, which begins with this word.
    fn answer(&mut self, word: &str) -> Result<String, Unready> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        let (first, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
        match (read, first) {
            (Ok(_), first) if first == word => Ok(rest.to_owned()),
            (Ok(_), "missing") => Err(Unready::NotAvailable(rest.to_owned())),
            (Ok(_), "failed") => Err(Unready::Failed(rest.to_owned())),
            (Ok(0), _) => Err(Unready::NotAvailable(self.epitaph())),
            (Ok(_), _) => Err(Unready::Failed(format!("the loader says {first:?}, not {word}"))),
            (Err(error), _) => Err(Unready::Failed(format!("the loader is silent: {error}"))),
        }
    }

    /// Why it ended before it said anything: what the dynamic linker of the machine wrote.
    fn epitaph(&mut self) -> String {
        self.input = None;
        let mut said = String::new();
        if let Some(errors) = &mut self.child.stderr {
            // Nothing read is nothing said.
            let _ = errors.read_to_string(&mut said);
        }
        let first = said.lines().next().unwrap_or("without a word");
        format!("the loader of libcrypto ended: {first}")
    }
}

impl Worker for Loaded {
    fn run(&mut self, passes: u64) -> Result<u64, String> {
        self.send(&format!("run {passes}\n"))?;
        let told = self.answer("ran").map_err(|e| e.to_string())?;
        self.own_ns = told.parse().map_err(|e| format!("the loader tells no time: {e}"))?;
        Ok(passes * self.task.work())
    }

    fn last(&mut self) -> Result<Option<Last>, String> {
        self.send("last\n")?;
        let text = self.answer("last").map_err(|e| e.to_string())?;
        let (start, output) = text.split_once(' ').unwrap_or_default();
        Ok(Some(Last { start: hex(start), output: hex(output) }))
    }

    fn own_ns(&self) -> Option<u64> {
        Some(self.own_ns)
    }

    fn process(&self) -> Option<i32> {
        i32::try_from(self.child.id()).ok()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.input = None;
        // It ends by itself; only its number is given back.
        let _ = self.child.wait();
    }
}

/// The loader as a file in memory. It goes with the last that has it open.
fn in_memory() -> Result<OwnedFd, Unready> {
    let made = memfd_create("stend-loader", MemfdFlags::CLOEXEC).map_err(std::io::Error::from);
    let written = made.and_then(|fd| {
        let mut file = File::from(fd);
        file.write_all(LOADER)?;
        // A program that is open for writing cannot be run.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(OwnedFd::from(File::open(path)?))
    });
    written.map_err(|e| Unready::NotAvailable(format!("no program in memory: {e}")))
}
