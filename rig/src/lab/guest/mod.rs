//! Knows guests in software emulation: machines for who has no second one, with published network
//! adapters that QEMU emulates and cables between them.
//!
//! Gives: [`System`] (a kernel and what a guest boots from), [`Guest`] (one that runs), [`cable`],
//! and the two parts of our own binary: [`init`] inside, [`emulate`] around QEMU.
//! Never: who lets a guest into a lab, and what is measured there.
//! Start reading at `machine.rs`.

mod adapter;
mod archive;
mod init;
mod kernel;
mod machine;
#[cfg(test)]
mod tests;

pub use adapter::Model;
pub use init::{CONTROL, LISTENS, init};
pub use kernel::Kernel;
pub use machine::{Boot, Guest, HOST, Port, System, cable, emulate};

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a guest cannot be had.
#[derive(Debug, Error)]
pub enum GuestError {
    /// No emulator.
    #[error("{0} is not installed; run `apt install qemu-system-x86`")]
    NoEmulator(&'static str),
    /// No kernel.
    #[error(
        "there is no kernel with its modules in {}; run `apt install linux-image-amd64`, or name \
         with --kernel the directory of an unpacked package: `apt-get download` and `dpkg-deb -x` \
         of linux-image-6.1.0-*-amd64",
        .0.display()
    )]
    NoKernel(PathBuf),
    /// A module that a guest cannot do without.
    #[error("kernel {release} has no module '{module}'; take the kernel of linux-image-amd64")]
    NoModule {
        /// Which kernel.
        release: String,
        /// Which module.
        module: &'static str,
    },
    /// A module that is packed in a way we do not read.
    #[error("{}: {why}", path.display())]
    Packed {
        /// Which.
        path: PathBuf,
        /// What is wrong, and the remedy.
        why: String,
    },
    /// No such adapter.
    #[error("there is no adapter '{name}'; known are {known}")]
    NoModel {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A process, socket or setting was refused.
    #[error("{what}: {source}")]
    Refused {
        /// What was tried.
        what: String,
        /// Why.
        source: io::Error,
    },
}

impl GuestError {
    fn file(path: &std::path::Path, source: io::Error) -> Self {
        Self::File { path: path.into(), source }
    }

    /// A process, socket or setting was refused.
    pub fn refused(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Refused { what: what.into(), source: source.into() }
    }
}
