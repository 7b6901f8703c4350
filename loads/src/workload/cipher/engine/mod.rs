//! Knows the engines that can do a task, one file each.
//!
//! Gives: [`Engine`], [`Worker`], [`Identity`], [`Mask`]. Never: what a figure means.
//! Start reading at `aws_lc.rs`.

#[cfg(not(feature = "aws_lc"))]
#[path = "absent.rs"]
mod aws_lc;
#[cfg(feature = "aws_lc")]
mod aws_lc;
mod child;
mod features;
mod libcrypto;
mod openssl_cli;
mod rustcrypto;

use super::task::{Input, Last, Task};
use desk::record::{Settings, Value};
use rig::metal::Unready;
use std::process::Command;

/// What the environment says of the CPU's features (`OPENSSL_ia32cap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// Nobody asked: it stays as it was when stend was started.
    AsItIs,
    /// All features: the variable is not set.
    Unset,
    /// These.
    Set(&'static str),
}

impl Mask {
    /// Tells a program that is to be started.
    fn tell(self, command: &mut Command) {
        match self {
            Self::AsItIs => {}
            Self::Unset => {
                command.env_remove(features::VARIABLE);
            }
            Self::Set(mask) => {
                command.env(features::VARIABLE, mask);
            }
        }
    }

    /// Whether it is what an environment has.
    #[cfg(feature = "aws_lc")]
    fn is(self, found: Option<&str>) -> bool {
        match self {
            Self::AsItIs => true,
            Self::Unset => found.is_none(),
            Self::Set(mask) => found == Some(mask),
        }
    }
}

/// What makes figures of two engines comparable: all four are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name of the engine.
    pub engine: &'static str,
    /// Its version, in its own words.
    pub version: String,
    /// The calls that a pass makes.
    pub call_path: String,
    /// Features of the CPU that it may use, sorted.
    pub cpu_features: String,
}

impl Identity {
    /// As a record keeps it.
    #[must_use]
    pub fn settings(&self) -> Settings {
        [
            ("engine", self.engine),
            ("engine_version", &self.version),
            ("call_path", &self.call_path),
            ("cpu_features", &self.cpu_features),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), Value::Word(value.to_owned())))
        .collect()
    }
}

/// One thread's work with one engine.
pub trait Worker {
    /// Does the task so many times; the work done, in bytes of messages or in operations.
    ///
    /// # Errors
    /// What the engine refused.
    fn run(&mut self, passes: u64) -> Result<u64, String>;
    /// What the last of them gave; none where the engine cannot show it.
    ///
    /// # Errors
    /// What the engine refused.
    fn last(&mut self) -> Result<Option<Last>, String>;
    /// Nanoseconds of the last run by the engine's own clock, where only that is exact.
    fn own_ns(&self) -> Option<u64> {
        None
    }
    /// Number of the process that does the work, where it is another.
    fn process(&self) -> Option<i32> {
        None
    }
}

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// AWS-LC, part of this binary.
    AwsLc,
    /// `libcrypto.so.3` of the machine, in a process of its own.
    Libcrypto,
    /// The machine's `openssl speed`.
    OpensslCli,
    /// Crates in pure Rust, part of this binary.
    Rustcrypto,
}

impl Engine {
    /// All of them, with the names that plans use.
    pub const ALL: [(&'static str, Self); 4] = [
        ("aws_lc", Self::AwsLc),
        ("libcrypto", Self::Libcrypto),
        ("openssl_cli", Self::OpensslCli),
        ("rustcrypto", Self::Rustcrypto),
    ];

    /// The engine of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, engine)| *engine)
    }

    /// Its name in plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }

    /// What it is here, under a mask of CPU features.
    ///
    /// # Errors
    /// Where it is not here, cannot do the task, or does not obey the mask; and where this build
    /// has nothing to check its results with.
    pub fn identity(self, task: Task, mask: Mask) -> Result<Identity, Unready> {
        if !cfg!(feature = "aws_lc") && !rustcrypto::has(task) {
            let name = task.algorithm.name();
            let why = format!("{name} cannot be checked without the feature aws_lc");
            return Err(Unready::NotAvailable(why));
        }
        match self {
            Self::AwsLc => aws_lc::identity(task, mask),
            Self::Libcrypto => libcrypto::identity(task, mask),
            Self::OpensslCli => openssl_cli::identity(task, mask),
            Self::Rustcrypto => rustcrypto::identity(task, mask),
        }
    }

    /// A worker on this input. Children inherit the CPUs of the thread that calls.
    ///
    /// # Errors
    /// As [`Self::identity`], and where the input does not fit.
    pub fn worker(self, task: Task, input: &Input, mask: Mask) -> Result<Box<dyn Worker>, Unready> {
        match self {
            Self::AwsLc => aws_lc::worker(task, input),
            Self::Libcrypto => libcrypto::worker(task, input, mask),
            Self::OpensslCli => openssl_cli::worker(task, input, mask),
            Self::Rustcrypto => rustcrypto::worker(task, input),
        }
    }

    /// The engine of this binary that makes what others verify.
    pub const SIGNER: Self = if cfg!(feature = "aws_lc") { Self::AwsLc } else { Self::Rustcrypto };

    /// The engine of this binary that its results are held against. It shares no code with it,
    /// but for RSA, which only one of them has, and in a build of one engine.
    #[must_use]
    pub fn witness(self, task: Task) -> Self {
        match self {
            Self::AwsLc if rustcrypto::has(task) => Self::Rustcrypto,
            _ => Self::SIGNER,
        }
    }
}
