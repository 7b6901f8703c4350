//! `benches/latency`: what `tcp_rr` says of response times, beside the times that the answering
//! host stamped itself.
//!
//! The host answers late by plan and notes when it answered each request. In an open loop request
//! k is due at a moment that is known, so the true response times are known, too. A cell is at the
//! bar when the percentile is within 2 % or 0.1 ms of the true one.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

#[path = "../ended/mod.rs"]
mod ended;

use desk::record::Distribution;
use ended::ended;

use desk::unit::Quantity;
use loads::engine::net::admit::Admissions;
use loads::engine::net::content::{content, place, probe};
use loads::engine::net::opening;
use loads::engine::net::{Secret, seconds};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rig::lab::agent::Part;
use rig::lab::clock;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::ExitCode;
use std::thread;

type Failed = Box<dyn Error + Send + Sync>;

/// Bytes of a request and of a response.
const BYTES: usize = 16;
/// Seed of the content; that of responses differs from it as the load says.
const SEED: u64 = 42;
const RESPONSE: u64 = 0x5245_5350_4F4E_5345;
/// A percentile may be so far off, a share or seconds.
const WITHIN: (f64, f64) = (0.02, 1e-4);

/// A way of answering late.
struct Case {
    name: &'static str,
    /// Requests a second; none for a closed loop.
    rate: Option<f64>,
    /// Length of the window, seconds.
    window: f64,
    /// Of the time since the host began and of chance, 0-1: the delay, both in seconds.
    delay: fn(f64, f64) -> f64,
}

const CASES: [Case; 4] = [
    Case { name: "constant 2 ms", rate: Some(200.0), window: 5.0, delay: |_, _| 2e-3 },
    Case {
        name: "exponential, mean 2 ms",
        rate: Some(200.0),
        window: 10.0,
        delay: |_, chance| -2e-3 * (1.0 - chance).ln(),
    },
    Case { name: "0.5 s every 5 s", rate: Some(500.0), window: 10.0, delay: stall },
    Case { name: "0.5 s every 5 s, closed loop", rate: None, window: 10.0, delay: stall },
];

/// Until the first half second of every five is over.
fn stall(since: f64, _: f64) -> f64 {
    (0.5 - since % 5.0).max(0.0)
}

fn main() -> ExitCode {
    ended("latency", compare())
}

fn compare() -> Result<(usize, usize), Failed> {
    let (mut good, mut all) = (0, 0);
    println!("what | tcp_rr | stamped | ratio | bar | ");
    for case in &CASES {
        let (seen, stamped) = run(case)?;
        for (name, at) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            let said = seen.read()?.value_at_quantile(at);
            let (said, truth) = (seconds(said), quantile(&stamped, at));
            let off = (said - truth).abs();
            let ok = off <= WITHIN.0 * truth || off <= WITHIN.1;
            let [ours, true_one] = [said, truth].map(|time| Quantity::seconds(time).to_string());
            println!(
                "{} {name} | {ours} | {true_one} ({} answers) | {:.3} | 2 % or 0.1 ms | {}",
                case.name,
                stamped.len(),
                said / truth,
                if ok { "ok" } else { "short" }
            );
            good += usize::from(ok);
            all += 1;
        }
    }
    Ok((good, all))
}

/// What the load says of the response times of a window, and what was true, seconds.
fn run(case: &Case) -> Result<(Distribution, Vec<f64>), Failed> {
    let secret = Secret { key: [7; 32], test: [9; 16] };
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let (delay, shown) = (case.delay, secret.clone());
    let host = thread::spawn(move || answer(&listener, &shown, delay));
    let mut part = (loads::find("tcp_rr").ok_or("no tcp_rr")?.part)();
    let pace = case
        .rate
        .map(|rate| json!({ "arrivals": "Constant", "rate": rate, "offset": 0.0, "seed": 1 }));
    let threads = json!([{ "host": 1, "cpu": null, "connections": [[0, 0]], "pace": pace }]);
    let order = json!({
        "secret": secret, "params": {}, "seed": SEED, "request": BYTES, "response": BYTES,
        "longest": { "secs": 60, "nanos": 0 }
    });
    let connect = json!(["127.0.0.1", [port], threads, order]);
    tell(&mut part, json!({ "Stage": { "Connect": connect } }))?;
    let go_ns = clock::now_ns();
    tell(&mut part, json!({ "Go": go_ns }))?;
    let opens_ns = go_ns + 100_000_000;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
    let closes_ns = opens_ns + (case.window * 1e9) as u64;
    let window = json!({ "opens_ns": opens_ns, "closes_ns": closes_ns });
    tell(&mut part, json!({ "Opens": window }))?;
    tell(&mut part, json!({ "Closes": window }))?;
    let ended = tell(&mut part, json!("Stop"))?;
    let stamps = host.join().map_err(|_| "the host panicked")??;
    let told = ended.pointer("/Stopped/0/counted/distributions").cloned().unwrap_or_default();
    let told: Vec<Distribution> = serde_json::from_value(told)?;
    let response = told.into_iter().find(|one| one.name == "response");
    let truth = true_times(case, &stamps, (go_ns, opens_ns, closes_ns));
    Ok((response.ok_or("no response times")?, truth))
}

/// In an open loop from the moment at which a request was due, in a closed one from the answer
/// before it.
#[expect(clippy::cast_precision_loss, reason = "clocks are below 2^53 ns")]
fn true_times(
    case: &Case,
    stamps: &[u64],
    (go_ns, opens_ns, closes_ns): (u64, u64, u64),
) -> Vec<f64> {
    let mut times = Vec::new();
    for (k, stamp) in stamps.iter().enumerate() {
        let begun = match (case.rate, k.checked_sub(1)) {
            (Some(rate), _) => go_ns as f64 + k as f64 / rate * 1e9,
            (None, Some(last)) => stamps[last] as f64,
            (None, None) => go_ns as f64,
        };
        if (opens_ns..closes_ns).contains(stamp) {
            times.push((*stamp as f64 - begun) / 1e9);
        }
    }
    times
}

/// The value below which a share of the times lies.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "thousands of times"
)]
fn quantile(times: &[f64], at: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (at * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn tell(part: &mut Part, message: Value) -> Result<Value, Failed> {
    Ok(part(message)?)
}

/// Answers on one connection until it ends; gives the moment of each answer.
fn answer(
    listener: &TcpListener,
    secret: &Secret,
    delay: fn(f64, f64) -> f64,
) -> Result<Vec<u64>, Failed> {
    let admitted = Admissions::of(listener, secret, 1)?.admit()?;
    let (mut socket, (id, _)) = admitted.ok_or("none that proves itself")?;
    opening::accept(&socket)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(None)?;
    let (requests, responses) = (content(SEED, id, BYTES), content(SEED ^ RESPONSE, id, BYTES));
    let mut chance = ChaCha8Rng::seed_from_u64(SEED);
    let (mut moved, mut request, mut stamps) = (0, [0; BYTES], Vec::new());
    let begun = clock::now_ns();
    while socket.read_exact(&mut request).is_ok() {
        probe(&requests, moved, &request)?;
        #[expect(clippy::cast_precision_loss, reason = "53 bits of chance")]
        let unit = (chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        sleep(delay(seconds(clock::now_ns() - begun), unit));
        let at = place(moved);
        stamps.push(clock::now_ns());
        if socket.write_all(&responses[at..at + BYTES]).is_err() {
            break;
        }
        moved += BYTES as u64;
    }
    Ok(stamps)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to 0.5 s")]
fn sleep(time: f64) {
    if time > 0.0 {
        clock::sleep_until(clock::now_ns() + (time * 1e9) as u64);
    }
}
