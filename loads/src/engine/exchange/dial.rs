//! Knows the sockets of clients that make connections themselves, and the classes of their errors.
//!
//! Must not know what is sent.

use rustix::fd::OwnedFd;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Connections that may wait to be accepted.
pub const BACKLOG: i32 = 4096;
/// Longest that one call waits for the other end.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// A socket of TCP, of the version of IP of a server's address.
///
/// # Errors
/// What the kernel says.
pub fn socket(server: SocketAddr, flags: SocketFlags) -> io::Result<OwnedFd> {
    Ok(rustix::net::socket_with(family(server), SocketType::STREAM, flags, None)?)
}

/// A socket that blocks, but not for longer than [`PATIENCE`].
///
/// # Errors
/// What the kernel says.
pub fn patient(server: SocketAddr) -> io::Result<OwnedFd> {
    let socket = socket(server, SocketFlags::CLOEXEC)?;
    sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    sockopt::set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    Ok(socket)
}

/// The family of addresses that an address is of.
#[must_use]
pub const fn family(address: SocketAddr) -> AddressFamily {
    if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET }
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
