//! Knows why the kernel refuses a change of a link and what helps; sends nothing itself.

use netlink_packet_core::DecodeError;
use std::io;
use thiserror::Error;

/// Why a link could not be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LinkError {
    /// The caller lacks `CAP_NET_ADMIN` over the namespace.
    #[error(
        "cannot {op} '{name}': permission denied; run as root, \
         or inside a user namespace that owns the network namespace"
    )]
    PermissionDenied {
        /// What was asked for.
        op: &'static str,
        /// The link it was asked of.
        name: String,
    },
    /// No link of that name in the namespace of the socket.
    #[error("no link '{0}' in this network namespace; `ip link` lists those that are there")]
    NoSuchLink(String),
    /// The kernel or the driver of the link has no such thing.
    #[error("cannot {op} '{name}': not supported by this kernel or driver; {}", module(op))]
    NotSupported {
        /// What was asked for.
        op: &'static str,
        /// The link it was asked of.
        name: String,
    },
    /// Any other refusal of the kernel.
    #[error("cannot {op} '{name}': {}{}{}", errno_text(*.errno), said(.detail), remedy(*.errno))]
    Kernel {
        /// What was asked for.
        op: &'static str,
        /// The link it was asked of.
        name: String,
        /// Positive error number.
        errno: i32,
        /// The sentence of the kernel (extended acknowledgement), often empty.
        detail: String,
    },
    /// The netlink socket itself failed.
    #[error("cannot {op} '{name}': the netlink socket failed: {}", errno_text(*.errno))]
    Socket {
        /// What was asked for.
        op: &'static str,
        /// The link it was asked of.
        name: String,
        /// Positive error number, 0 if the system gave none.
        errno: i32,
    },
    /// An answer that is not netlink as this program knows it.
    #[error("cannot {op} '{name}': the answer of the kernel makes no sense: {detail}")]
    Garbled {
        /// What was asked for.
        op: &'static str,
        /// The link it was asked of.
        name: String,
        /// What was wrong with it.
        detail: String,
    },
    /// A name that no link can have.
    #[error(
        "'{0}' cannot name a link; take 1 to 15 bytes without '/', ':', '%' and blanks, \
         and neither '.' nor '..'"
    )]
    BadName(String),
    /// A shaper that would let nothing, or no full-size frame, pass.
    #[error("the token bucket on '{name}' would pass nothing: {detail}")]
    BadTbf {
        /// The link it was meant for.
        name: String,
        /// The field, its value and the least that works.
        detail: String,
    },
}

/// What helps where the kernel has no such thing.
fn module(op: &str) -> &'static str {
    match op {
        _ if op.contains("macvlan") => {
            "load the module macvlan, by which several clients share an adapter, or have one"
        }
        _ if op.contains("create a bond") => {
            "load the module bonding, or leave the factor bonding out"
        }
        _ if op.contains("VLAN") => "load the module 8021q, or leave the factor vlan out",
        _ if op.contains("ESP") => {
            "load the modules esp4, gcm, seqiv and drbg, or leave the factor ipsec out"
        }
        _ => "load the module that has it (veth, bridge, sch_tbf) or take another link",
    }
}

/// What is being asked and of which link, so that every error can name both.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    /// Verb phrase that fits after "cannot".
    pub op: &'static str,
    /// The link.
    pub name: &'a str,
}

impl Task<'_> {
    /// The error for a refusal with the positive `errno` and the kernel's own sentence.
    pub fn refused(self, errno: i32, detail: String) -> LinkError {
        let (op, name) = (self.op, self.name.to_owned());
        match errno {
            libc::EPERM | libc::EACCES => LinkError::PermissionDenied { op, name },
            libc::ENODEV => LinkError::NoSuchLink(name),
            libc::EOPNOTSUPP => LinkError::NotSupported { op, name },
            _ => LinkError::Kernel { op, name, errno, detail },
        }
    }

    pub fn socket_failed(self, source: &io::Error) -> LinkError {
        let errno = source.raw_os_error().unwrap_or(0);
        LinkError::Socket { op: self.op, name: self.name.to_owned(), errno }
    }

    pub fn garbled(self, source: &DecodeError) -> LinkError {
        LinkError::Garbled { op: self.op, name: self.name.to_owned(), detail: source.to_string() }
    }
}

fn errno_text(errno: i32) -> String {
    io::Error::from_raw_os_error(errno).to_string()
}

fn said(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}

const fn remedy(errno: i32) -> &'static str {
    match errno {
        libc::EEXIST => "; it is there already: delete it first or take another",
        libc::ESRCH => "; the process that should own the peer end is gone: start it first",
        libc::EBUSY => "; something else holds the link: release it first",
        libc::EINVAL | libc::ERANGE => "; the value is outside what this link takes",
        libc::ENETDOWN => "; set the link up first",
        _ => "",
    }
}
