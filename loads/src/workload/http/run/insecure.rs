//! Stands for `secure.rs` in a program without the feature `tls`: no value of its types exists.

use super::super::spec::TLS;
use super::{Came, external};
use crate::engine::exchange::Order;
use desk::record::Value;
use rustix::fd::OwnedFd;
use std::io;
use std::net::TcpStream as TcpSocket;
use tokio::net::TcpStream;

/// What TLS needs.
const NEEDS: &str = "needs the feature tls, without which this program was built; build it with \
                     --features full, or";

/// Refuses TLS.
pub fn files(order: &Order) -> Result<Vec<(String, Vec<u8>)>, String> {
    let name = TLS.name;
    if external(order).and_then(Result::ok).is_some_and(|page| page.is_encrypted) {
        return Err(format!("https {NEEDS} write http"));
    }
    match order.params.get(name).and_then(Value::word) {
        None | Some("off") => Ok(Vec::new()),
        Some(asked) => Err(format!("{name} = {asked} {NEEDS} write {name} = \"off\"")),
    }
}

/// Refuses TLS.
pub fn session(_: TcpSocket) -> io::Result<TcpSocket> {
    Err(io::Error::other(format!("https {NEEDS} write http")))
}

/// Never made.
#[derive(Clone)]
pub enum Acceptor {}

impl Acceptor {
    /// Refuses TLS.
    pub fn of(order: &Order) -> Result<Option<Self>, String> {
        files(order).map(|_| None)
    }

    /// Never called.
    pub async fn accept(&self, socket: TcpStream) -> io::Result<TcpStream> {
        std::future::ready(Ok(socket)).await
    }
}

/// Never made.
pub enum Greeting {}

impl Greeting {
    /// Refuses TLS.
    pub fn of(order: &Order, _: usize) -> Result<Option<Self>, String> {
        files(order).map(|_| None)
    }

    /// Never called.
    pub fn session(&self, _: usize, _: bool) -> io::Result<Session> {
        match *self {}
    }

    /// Never called.
    pub fn read(&mut self, _: &mut Session, _: &OwnedFd, _: &mut [u8]) -> io::Result<Came> {
        match *self {}
    }
}

/// Never made.
pub enum Session {}

impl Session {
    /// Never called.
    pub fn send(&mut self, _: &OwnedFd, _: [&[u8]; 2]) -> io::Result<()> {
        match *self {}
    }
}
