//! Knows `openssl speed`, the program of the machine that everyone has: how it is asked, and what
//! its figure stands for.
//!
//! Its figure is its own; wall time by `-elapsed`. The benchmark itself shows no result, so what is
//! checked are the answers of the program's other commands. Must not know what is done with the
//! figure.

mod answer;
mod speed;

use super::features;
use super::{Identity, Mask, Worker, child};
use crate::workload::cipher::task::{Input, Last, Task};
use rig::metal::Unready;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// The program.
const PROGRAM: &str = "openssl";

/// Nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;

/// What it is here.
///
/// # Errors
/// No such program.
pub fn identity(task: Task, mask: Mask) -> Result<Identity, Unready> {
    let told = text(ask(&["version", "-a"], &[], mask)?);
    let line = |start: &str| told.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    let first = told.lines().next().unwrap_or_default();
    if !first.starts_with("OpenSSL ") {
        // Others of that name have another `speed`.
        return Err(Unready::NotAvailable(format!("openssl is {first:?} here, not OpenSSL")));
    }
    Ok(Identity {
        engine: "openssl_cli",
        version: format!("{first}, {}", line("built on")),
        call_path: format!("openssl speed -elapsed {}", speed::named(task).join(" ")),
        cpu_features: features::told(line("CPUINFO")),
    })
}

/// A worker on this input; a pass is a run of a second.
///
/// # Errors
/// No such program.
pub fn worker(task: Task, input: &Input, mask: Mask) -> Result<Box<dyn Worker>, Unready> {
    ask(&["version"], &[], mask)?;
    Ok(Box::new(Cli { task, input: input.clone(), mask, own_ns: None, asked: false }))
}

struct Cli {
    task: Task,
    input: Input,
    mask: Mask,
    own_ns: Option<u64>,
    /// Whether it has run yet.
    asked: bool,
}

impl Worker for Cli {
    fn run(&mut self, passes: u64) -> Result<u64, String> {
        if !self.asked {
            // A run of a second is a process of its own, and nothing of it can be warmed up: the
            // first is left out, so that the next begins with the window.
            (self.asked, self.own_ns) = (true, Some(SECOND_NS));
            return Ok(0);
        }
        let bytes = self.task.block_bytes.to_string();
        let seconds = passes.max(1);
        let mut words = vec!["speed", "-elapsed", "-mr", "-seconds"];
        let many = seconds.to_string();
        words.push(&many);
        if self.task.operation.in_bytes() {
            words.extend(["-bytes", &bytes]);
        }
        words.extend(speed::named(self.task));
        let told = text(ask(&words, &[], self.mask).map_err(|e| e.to_string())?);
        let rate = speed::read(&told, self.task)?;
        self.own_ns = Some(seconds * SECOND_NS);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes of some seconds, below 2^53 and not negative"
        )]
        Ok((rate * seconds as f64).round() as u64)
    }

    fn last(&mut self) -> Result<Option<Last>, String> {
        answer::of(self.task, &self.input, self.mask)
    }

    fn own_ns(&self) -> Option<u64> {
        self.own_ns
    }
}

/// What the program writes on its standard output, when it is given this.
fn ask(words: &[&str], given: &[u8], mask: Mask) -> Result<Vec<u8>, Unready> {
    let mut command = Command::new(PROGRAM);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    mask.tell(&mut command);
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Unready::NotAvailable("no openssl on PATH".into()),
        _ => Unready::Failed(format!("openssl {}: {error}", words[0])),
    };
    let mut child = child::spawn(&mut command).map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read what it is given says more by how it ends.
        let _ = input.write_all(given);
    }
    let done = child.wait_with_output().map_err(failed)?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let first = said.lines().next().unwrap_or("without a word").to_owned();
        let what = format!("openssl {} ended with {}: {first}", words[0], done.status);
        return Err(Unready::Failed(what));
    }
    Ok(done.stdout)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
