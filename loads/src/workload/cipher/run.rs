//! Knows how an order becomes pinned threads with an engine's loop each.
//!
//! Must not know how any engine works, nor what the figures mean.

use super::check;
use super::engine::{Engine, Mask, Worker};
use super::task::{Algorithm, Input, Task};
use crate::engine::alone::{Order, Ready, nominal_threads, threads_of};
use desk::record::Value;
use rig::lab::ia32cap;
use rig::metal::{Cpus, DIGEST, Hot, Member, Unready, digest};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The factor that hides features of the CPU.
pub const FACTOR: &str = "openssl_ia32cap";

/// A loop whose engine failed goes on so slowly, instead of at once again and again.
const BROKEN: Duration = Duration::from_millis(5);

/// What each thread will do, after the engine gave a known answer.
///
/// # Errors
/// An engine that is not here or cannot do the task; an answer that is wrong.
pub fn ready(order: &Order) -> Result<Ready, Unready> {
    let task = Task::read(order).map_err(Unready::NotAvailable)?;
    let name = order.word("engine");
    let engine = Engine::find(name).ok_or_else(|| format!("no engine {name:?} is known"))?;
    let mask = mask(order)?;
    let cpus = threads_of(order, &Cpus::read(Path::new("/")))?;
    let identity = engine.identity(task, mask)?;
    check::known(engine, task, mask)?;
    let input = check::input(task, order.seed)?;
    let mut made_with = identity.settings();
    made_with.insert("operation".into(), Value::Word(task.operation.name().into()));
    made_with.insert("threads".into(), Value::Count(cpus.len() as u64));
    if let Some(level) = order.settings.get(FACTOR) {
        // An engine that does not hear it has refused by now.
        made_with.insert(FACTOR.into(), level.clone());
    }
    let member = |cpu: u32| {
        let input = input.clone();
        let make = move || {
            let worker = engine.worker(task, &input, mask)?;
            let hot: Box<dyn Hot> = Box::new(Loop {
                engine,
                task,
                input,
                worker,
                runs: 0,
                broken: None,
                spoilt: false,
            });
            Ok(hot)
        };
        Member { cpu: Some(cpu), make: Box::new(make) }
    };
    Ok(Ready { members: cpus.into_iter().map(member).collect(), made_with })
}

/// What the plan or the trial says of the CPU's features.
fn mask(order: &Order) -> Result<Mask, Unready> {
    let Some(level) = order.settings.get(FACTOR).and_then(Value::word) else {
        return Ok(Mask::AsItIs);
    };
    match ia32cap::mask(level) {
        Some(None) => Ok(Mask::Unset),
        Some(Some(mask)) => Ok(Mask::Set(mask)),
        None => Err(Unready::Failed(format!("{FACTOR} has no level {level}"))),
    }
}

/// One thread's loop.
struct Loop {
    engine: Engine,
    task: Task,
    input: Input,
    worker: Box<dyn Worker>,
    runs: u64,
    broken: Option<String>,
    /// Whether the last result is to be read with a wrong bit.
    spoilt: bool,
}

impl Hot for Loop {
    fn pass(&mut self, passes: u64) -> u64 {
        let done = if self.broken.is_none() { self.worker.run(passes) } else { Ok(0) };
        match done {
            Ok(work) if self.broken.is_none() => {
                self.runs += u64::from(work > 0);
                return work;
            }
            Ok(_) => {}
            Err(why) => self.broken = Some(why),
        }
        thread::sleep(BROKEN);
        0
    }

    fn verify(&mut self) -> Result<u64, String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        match self.worker.last()? {
            Some(mut last) => {
                if let (true, Some(byte)) = (self.spoilt, last.output.first_mut()) {
                    *byte ^= 1;
                }
                check::holds(self.engine, self.task, &self.input, &last)?;
                Ok(1)
            }
            // Only the lines of each run were held against what was asked.
            None => Ok(self.runs),
        }
    }

    /// Of all but a signature to verify, which may be drawn by chance.
    fn digest(&self) -> u64 {
        let Input { key, start, aad, message, signature: _ } = &self.input;
        [key, start, aad, message].into_iter().fold(DIGEST, |so_far, bytes| digest(so_far, bytes))
    }

    fn spoil(&mut self) {
        self.spoilt = true;
    }

    fn watched(&self) -> Vec<i32> {
        self.worker.process().into_iter().collect()
    }

    fn own_ns(&self) -> Option<u64> {
        if self.broken.is_some() { None } else { self.worker.own_ns() }
    }
}

/// Work a second of each thread of a simulated machine: a tenth of a microsecond for each message,
/// and the rest by its bytes; signatures at rates of a core of 2023.
#[must_use]
pub fn nominal(order: &Order, cores: usize) -> Vec<f64> {
    let threads = nominal_threads(order, cores);
    let Ok(task) = Task::read(order) else { return vec![1.0; threads] };
    let speed = match task.algorithm {
        Algorithm::Md5 => 0.65e9,
        Algorithm::Sha256 => 1.5e9,
        Algorithm::Sha512 => 0.8e9,
        Algorithm::Aes256Cbc => 1.1e9,
        Algorithm::Aes256Gcm => 12e9,
        Algorithm::ChaCha20Poly1305 => 3.5e9,
        Algorithm::Rsa2048 => 2_000.0,
        Algorithm::EcdsaP256 => 40_000.0,
        Algorithm::Ed25519 | Algorithm::X25519 => 30_000.0,
    };
    #[expect(clippy::cast_precision_loss, reason = "at most 16 KiB")]
    let bytes = task.block_bytes as f64;
    let rate = if task.operation.in_bytes() { bytes / (1e-7 + bytes / speed) } else { speed };
    vec![rate; threads]
}
