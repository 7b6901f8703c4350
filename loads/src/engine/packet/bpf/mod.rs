//! Knows how programs of the kernel's virtual machine are written, loaded, attached and run.
//!
//! Gives: [`Assembler`], instructions with labels; [`Program`], [`Map`] and [`Attached`], which the
//! kernel frees when they are dropped or their process ends.
//! Never: what a program is for.
//! Start reading at `asm.rs`.

mod asm;
mod call;
#[cfg(test)]
pub mod tests;

pub use asm::{Assembler, Cond, Label, Op, Reg, Size, action, helper};
pub use call::{Attached, Map, MapKind, Program, interrupt, take_interrupts, this_thread};

use std::io;
use thiserror::Error;

/// Why a program cannot be used.
#[derive(Debug, Error)]
pub enum BpfError {
    /// A label that is jumped to and stands nowhere.
    #[error("label {0} of a program is jumped to and stands nowhere; bind it")]
    Unbound(usize),
    /// A jump that is longer than the machine's.
    #[error("a jump of {0} instructions does not fit 16 bits; shorten the program")]
    TooFar(i64),
    /// The kernel refuses a call.
    #[error("bpf({call}): {source}; run as root on a kernel with CONFIG_BPF_SYSCALL")]
    Call {
        /// Which.
        call: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The verifier refuses a program.
    #[error("bpf(PROG_LOAD) of {name}: {source}; the verifier says: {log}")]
    Refused {
        /// Name of the program.
        name: &'static str,
        /// Why.
        source: io::Error,
        /// The last lines of the verifier's log.
        log: String,
    },
    /// The interface has no native XDP.
    #[error(
        "interface {index}: {source}; take an adapter whose driver has native XDP, \
             with an MTU that fits a page"
    )]
    Attach {
        /// Index of the interface.
        index: u32,
        /// Why.
        source: io::Error,
    },
}

impl BpfError {
    /// Whether the kernel does not have it, or does not grant it to this user.
    #[must_use]
    pub fn is_lack(&self) -> bool {
        let (Self::Call { source, .. }
        | Self::Refused { source, .. }
        | Self::Attach { source, .. }) = self
        else {
            return false;
        };
        matches!(source.raw_os_error(), Some(libc::EPERM | libc::ENOSYS | libc::EOPNOTSUPP))
    }
}
