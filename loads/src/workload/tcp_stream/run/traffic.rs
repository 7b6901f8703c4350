//! Knows how the parameters of a trial become what its streams shall do.
//!
//! Must not know hosts; keys and the seed are all that differs between trials of one point.

use super::message::{Engine, Receiver, Sender, Traffic};
use crate::engine::net::Secret;
use crate::engine::net::schedule::Pace;
use desk::record::{Fault, Settings, Value};
use rig::workload::Job;
use std::time::Duration;

/// Most bytes of one sending call: beyond it the price of a call is nothing beside the copy, and a
/// stream would be deaf to its stop for longer.
const CALL_BYTES: usize = 1 << 20;
/// Least that a receiver of the engine batch asks for at once, bytes.
const READ_BYTES: usize = 256 << 10;

/// What the streams of a trial have in common; `one_way` of them go in one direction.
///
/// # Errors
/// When a stream would not send once in the window, or the kernel gives no chance.
pub fn of(job: &Job, one_way: u32, interface: &str) -> Result<Traffic, Fault> {
    let params = &job.trial.point.params;
    let word = |key: &str| params.get(key).and_then(Value::word);
    let (engine, request_bytes, call_requests) = shape(params);
    let pace = Pace::of(job, request_bytes * call_requests, one_way)?;
    let run = job.settle_max + job.window + Duration::from_secs(10);
    Ok(Traffic {
        secret: Secret::fresh()?,
        seed: job.trial.seed,
        interface: interface.into(),
        engine,
        sender: sender(params),
        receiver: receiver(params),
        request_bytes,
        call_requests,
        read_bytes: read_bytes(engine, request_bytes),
        cold: word("buffers") == Some("cold"),
        pace,
        congestion: word("congestion").filter(|c| *c != "kernel").map(str::to_owned),
        // 400 Gbit/s for as long as the trial may run: nothing here is faster.
        bytes_max: 50_000_000_000 * run.as_secs().max(1),
        run_ms_max: u64::try_from(run.as_millis()).unwrap_or(u64::MAX),
    })
}

/// Bytes that a receiver asks for at once.
pub fn read_bytes(engine: Engine, request_bytes: usize) -> usize {
    match engine {
        Engine::Sys => request_bytes,
        Engine::Batch => request_bytes.max(READ_BYTES),
    }
}

/// How the bytes of a call get to the socket.
pub fn sender(params: &Settings) -> Sender {
    let asked = params.get("sender").and_then(Value::word);
    Sender::ALL.into_iter().find(|way| Some(way.word()) == asked).unwrap_or_default()
}

/// How bytes leave the socket.
pub fn receiver(params: &Settings) -> Receiver {
    let asked = params.get("receiver").and_then(Value::word);
    Receiver::ALL.into_iter().find(|way| Some(way.word()) == asked).unwrap_or_default()
}

/// Engine, bytes of a request, requests of a call.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 B to 1 MiB")]
pub fn shape(params: &Settings) -> (Engine, usize, usize) {
    let size = params.get("request_size").and_then(Value::quantity).map_or(65536.0, |q| q.value);
    let request = (size as usize).max(1);
    if params.get("engine").and_then(Value::word) != Some("batch") {
        return (Engine::Sys, request, 1);
    }
    let depth = params.get("queue_depth").and_then(Value::count).unwrap_or(64) as usize;
    (Engine::Batch, request, depth.clamp(1, (CALL_BYTES / request).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::unit::Quantity;

    #[test]
    fn a_call_holds_as_many_requests_as_asked_up_to_a_mebibyte() {
        let shape = |engine: &str, size, depth| {
            let mut params = Settings::new();
            params.insert("engine".into(), Value::Word(engine.into()));
            params.insert("request_size".into(), Value::Quantity(Quantity::bytes(size)));
            params.insert("queue_depth".into(), Value::Count(depth));
            super::shape(&params)
        };
        assert_eq!(shape("sys", 64, 64), (Engine::Sys, 64, 1));
        assert_eq!(shape("batch", 64, 64), (Engine::Batch, 64, 64));
        assert_eq!(shape("batch", 256 << 10, 64), (Engine::Batch, 256 << 10, 4));
        assert_eq!(shape("batch", 1 << 20, 1024), (Engine::Batch, 1 << 20, 1));
    }
}
