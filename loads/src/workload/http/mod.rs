//! How many requests a second does a web server answer, and how long does each wait?
//!
//! Knows: requests of HTTP/1.1 over connections that are kept or made anew, and a server of its own.
//! Gives: `ENTRY`. Never: how operations are timed; that is `engine::exchange`.
//! Start reading at `README.md`, then `client.rs`.

mod check;
mod client;
mod server;
mod spec;
#[cfg(test)]
mod tests;

use crate::engine::exchange::{Exchange, Order, Slot};
use crate::engine::net::content::content;
use rig::metal::{DIGEST, digest};
use std::net::TcpListener;
use std::sync::Arc;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::exchange::entry!(Http, 2.0);

/// Which stream of the trial's content a response is made of.
const RESPONSE: u32 = 1;

/// HTTP/1.1.
pub struct Http;

impl Exchange for Http {
    type Client = client::Client;
    type Server = server::Server;
    const KEPT: bool = false;
    const ANEW: bool = false;

    fn client(order: &Order, slots: Vec<Slot>) -> (client::Client, u64) {
        let client = client::Client::of(order, slots);
        let sum = digest(DIGEST, path(order).as_bytes());
        (client, digest(sum, &content(order.seed, RESPONSE, 0)))
    }

    fn server(order: &Order, _: Vec<Slot>, listener: &Arc<TcpListener>) -> server::Server {
        server::Server::of(order, listener)
    }
}

/// The path of a trial's content: who asks for another one is no client of it.
fn path(order: &Order) -> String {
    format!("/{:016x}/{}", order.seed, order.response)
}
