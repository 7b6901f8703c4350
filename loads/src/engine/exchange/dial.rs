//! Knows the sockets of clients that make connections themselves, and the classes of their errors.
//!
//! Must not know what is sent.

use rustix::fd::OwnedFd;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::time::Duration;

/// Connections that may wait to be accepted.
pub const BACKLOG: i32 = 4096;
/// Longest that one call waits for the other end.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// A socket of TCP over IPv4.
///
/// # Errors
/// What the kernel says.
pub fn socket(flags: SocketFlags) -> io::Result<OwnedFd> {
    Ok(rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?)
}

/// A socket that blocks, but not for longer than [`PATIENCE`].
///
/// # Errors
/// What the kernel says.
pub fn patient() -> io::Result<OwnedFd> {
    let socket = socket(SocketFlags::CLOEXEC)?;
    sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    sockopt::set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    Ok(socket)
}

/// The class of an error after which another connection may succeed; none where it may not.
#[must_use]
pub fn class(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some("refused"),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Some("reset"),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Some("timeout"),
        io::ErrorKind::AddrNotAvailable => Some("no_port"),
        _ => None,
    }
}
