//! Knows both ends of `file_copy`: files that go over connections that are kept, one after the
//! other, each asked for or announced by the client.
//!
//! Must not know when an operation begins, nor what the figures mean.

mod content;
mod ends;
mod note;
mod sink;
mod source;
#[cfg(test)]
mod tests;

use super::spec::{BLOCK_SIZE, DIRECTION, FILE_SIZE, SINK, SOURCE};
use crate::engine::exchange::{Bulk, Exchange, Order, Slot, Storing};
use desk::record::{Direction, Settings, Value};
use ends::End;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

/// The slowest disk that is waited for while a file is written before go, bytes a second.
const SLOWEST: f64 = 20e6;

/// Files over connections that are kept.
pub struct Copies;

impl Exchange for Copies {
    type Client = End;
    type Server = End;
    const KEPT: bool = true;
    const BULK: Option<Bulk> = Some(Bulk { sizes, storing, staging });

    fn client(order: &Order, slots: Vec<Slot>) -> (End, u64) {
        let end = End::of(order, slots, !serves(&order.params));
        let digest = end.digest();
        (end, digest)
    }

    fn server(order: &Order, slots: Vec<Slot>, _: &Arc<TcpListener>) -> End {
        End::of(order, slots, serves(&order.params))
    }
}

/// The word that a parameter has.
fn word<'p>(params: &'p Settings, name: &str) -> &'p str {
    params.get(name).and_then(Value::word).unwrap_or_default()
}

/// The bytes that a parameter has.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 2^40")]
fn size(params: &Settings, name: &str) -> u64 {
    params.get(name).and_then(Value::quantity).map_or(1, |size| size.value as u64)
}

/// Whether the host that listens sends files.
fn serves(params: &Settings) -> bool {
    way(params) != Some(Direction::Receive)
}

fn way(params: &Settings) -> Option<Direction> {
    Direction::of(word(params, DIRECTION.name))
}

/// Whether the host of an index sends files; none of a host that takes no part.
fn is_source(params: &Settings, host: usize) -> Option<bool> {
    match (way(params), host) {
        (Some(Direction::Between), 0) => None,
        (Some(Direction::Between), _) => Some(host == 1),
        (Some(Direction::Receive), _) => Some(host != 0),
        _ => Some(host == 0),
    }
}

/// Bytes of a file and of a call.
fn sizes(params: &Settings) -> (u64, u64) {
    (size(params, FILE_SIZE.name), size(params, BLOCK_SIZE.name))
}

/// How the bytes of a host go to storage.
fn storing(params: &Settings, host: usize) -> Option<Storing> {
    let is_source = is_source(params, host)?;
    let place = word(params, if is_source { SOURCE.name } else { SINK.name });
    let direct = place == "disk";
    (place != "memory").then_some(Storing { direct, writes: direct && !is_source })
}

/// Longest time until the files of so many connections stand at their sources.
fn staging(params: &Settings, connections: usize) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "2^40 B and 1,024 connections at the most")]
    let bytes = sizes(params).0 as f64 * connections as f64;
    Duration::from_secs_f64(bytes / SLOWEST)
}
