//! Stands for `secure.rs` in a program without the feature `tls`: none of it can be made.

use crate::engine::exchange::Order;
use rustix::fd::OwnedFd;
use std::io;
use tokio::net::TcpStream;

/// Whether this program can do it.
pub const IS_BUILT: bool = false;

/// Nothing has to be given to a server.
pub fn files(_: &Order) -> Result<Vec<(String, Vec<u8>)>, String> {
    Ok(Vec::new())
}

/// None can be made.
#[derive(Clone)]
pub enum Acceptor {}

impl Acceptor {
    /// There is none.
    pub fn of(_: &Order) -> Result<Option<Self>, String> {
        Ok(None)
    }

    /// It never is.
    pub async fn accept(&self, socket: TcpStream) -> io::Result<TcpStream> {
        std::future::ready(Ok(socket)).await
    }
}

/// None can be made.
pub enum Greeting {}

impl Greeting {
    /// There is none.
    pub fn of(_: &Order) -> Result<Option<Self>, String> {
        Ok(None)
    }

    /// It never is.
    pub fn session(&self, _: u16, _: bool) -> io::Result<Session> {
        match *self {}
    }

    /// It never is.
    pub fn read(&mut self, session: &mut Session, _: &OwnedFd, _: &mut [u8]) -> io::Result<super::Came> {
        match *session {}
    }
}

/// None can be made.
pub enum Session {}

impl Session {
    /// It never is.
    pub fn send(&mut self, _: &OwnedFd, _: &[u8]) -> io::Result<()> {
        match *self {}
    }
}
