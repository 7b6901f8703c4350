//! Knows how the parameters of a trial become what its streams shall do.
//!
//! Must not know hosts; keys and the seed are all that differs between trials of one point.

use super::message::{Engine, Traffic};
use crate::engine::net::Secret;
use crate::engine::net::datagram::MOST;
use crate::engine::net::schedule::Pace;
use desk::record::{Fault, Settings, Value};
use rig::workload::Job;
use std::time::Duration;

/// Segments that a kernel cuts one call into (`UDP_MAX_SEGMENTS`; before Linux 6.10 64).
const SEGMENTS: usize = 128;
/// Most bytes of one call of the engine batch.
const CALL_BYTES: usize = 1 << 20;
/// Datagrams a second of one stream that nothing here sends.
const FASTEST: u64 = 200_000_000;

/// What the streams of a trial have in common; `one_way` of them go in one direction.
///
/// # Errors
/// A stream that would not send once in the window, or a kernel that gives no chance.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1 GiB")]
pub fn of(job: &Job, one_way: u32) -> Result<Traffic, Fault> {
    let params = &job.trial.point.params;
    let (engine, datagram, depth) = shape(params);
    let run = job.settle_max + job.window + Duration::from_secs(10);
    let buffer = params.get("socket_buffer").and_then(Value::quantity);
    Ok(Traffic {
        secret: Secret::fresh()?,
        seed: job.trial.seed,
        engine,
        datagram,
        depth,
        pace: Pace::of(job, datagram * depth, one_way)?,
        socket_buffer: buffer.map(|size| size.value as usize),
        most: FASTEST * run.as_secs().max(1),
        run_ms_max: u64::try_from(run.as_millis()).unwrap_or(u64::MAX),
    })
}

/// Engine, bytes of a datagram, datagrams of a call.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64 KiB")]
pub fn shape(params: &Settings) -> (Engine, usize, usize) {
    let size = params.get("datagram").and_then(Value::quantity).map_or(1472.0, |q| q.value);
    let (datagram, depth) = (size as usize, params.get("queue_depth").and_then(Value::count));
    let depth = usize::try_from(depth.unwrap_or(32)).unwrap_or(1);
    let within = |bytes: usize| (bytes / datagram.max(1)).max(1);
    match params.get("engine").and_then(Value::word) {
        Some("batch") => (Engine::Batch, datagram, depth.clamp(1, within(CALL_BYTES))),
        Some("segment") => (Engine::Segment, datagram, depth.clamp(1, within(MOST).min(SEGMENTS))),
        _ => (Engine::Call, datagram, 1),
    }
}
