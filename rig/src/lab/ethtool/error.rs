//! Knows how an adapter's refusal is worded; knows no request.

use super::netlink::Refusal;
use std::io;
use thiserror::Error;

/// Why an adapter could not be asked or set.
#[derive(Debug, Error)]
pub enum EthtoolError {
    /// The process lacks `CAP_NET_ADMIN` in the namespace of the link.
    #[error("no permission to {op} of {name}; run as root or inside a namespace of your own")]
    PermissionDenied {
        /// What was tried.
        op: String,
        /// Interface.
        name: String,
    },
    /// No link of that name in the network namespace of the connection.
    #[error("no link named '{name}' in this network namespace; `ip link` lists what is there")]
    NoSuchLink {
        /// Interface.
        name: String,
    },
    /// The driver or the kernel does not have it.
    #[error("{name} does not support this: {op}; leave it out for this adapter")]
    NotSupported {
        /// What was tried.
        op: String,
        /// Interface.
        name: String,
    },
    /// The kernel has no ethtool over netlink.
    #[error("the kernel has no ethtool netlink family; it needs Linux 5.6 with ETHTOOL_NETLINK")]
    NoFamily,
    /// Any other refusal of the kernel.
    #[error("the kernel refused to {op} of {name}: {source} ({words}); see `dmesg`")]
    Kernel {
        /// What was tried.
        op: String,
        /// Interface.
        name: String,
        /// The kernel's words, empty where it gave none.
        words: String,
        /// The kernel's error number.
        source: io::Error,
    },
    /// The netlink socket itself failed.
    #[error("the ethtool netlink socket failed: {0}; check that the sandbox allows AF_NETLINK")]
    Socket(#[from] io::Error),
}

impl EthtoolError {
    /// What the kernel said to it.
    #[must_use]
    pub fn kernels_words(&self) -> String {
        let errno = |number| io::Error::from_raw_os_error(number).to_string();
        match self {
            Self::PermissionDenied { .. } => errno(libc::EPERM),
            Self::NoSuchLink { .. } => errno(libc::ENODEV),
            Self::NotSupported { .. } => errno(libc::EOPNOTSUPP),
            Self::Kernel { words, source, .. } if words.is_empty() => source.to_string(),
            Self::Kernel { words, source, .. } => format!("{words}: {source}"),
            Self::NoFamily | Self::Socket(_) => self.to_string(),
        }
    }

    /// Gives a refusal the words of what was tried on which link.
    pub(super) fn of(refusal: Refusal, op: &str, name: &str) -> Self {
        let (op, name) = (op.to_owned(), name.to_owned());
        match refusal {
            Refusal::Socket(error) => Self::Socket(error),
            Refusal::Kernel { errno: libc::EPERM | libc::EACCES, .. } => {
                Self::PermissionDenied { op, name }
            }
            Refusal::Kernel { errno: libc::ENODEV, .. } => Self::NoSuchLink { name },
            Refusal::Kernel { errno: libc::EOPNOTSUPP, .. } => Self::NotSupported { op, name },
            Refusal::Kernel { errno, words } => {
                Self::Kernel { op, name, words, source: io::Error::from_raw_os_error(errno) }
            }
        }
    }
}
