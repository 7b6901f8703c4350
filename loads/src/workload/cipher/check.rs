//! Knows whether an engine's results are right (known answers before, another engine's after), and
//! what figures a trial gives.
//!
//! Must not know how results are timed.

use super::answers;
use super::engine::{Engine, Mask, Worker};
use super::task::{Algorithm, Input, Last, Operation, Task};
use crate::engine::alone::{Order, Taken};
use desk::record::{Fault, Sample};
use desk::unit::{Quantity, Unit};
use rig::metal::Unready;

/// Holds an engine against the known answer of a task.
///
/// # Errors
/// An engine that is not here, or whose answer is another.
pub fn known(engine: Engine, task: Task, mask: Mask) -> Result<(), Unready> {
    let (input, right) = answers::of(task.algorithm, task.operation);
    let mut worker = engine.worker(task, &input, mask)?;
    if engine != Engine::OpensslCli {
        worker.run(1).map_err(Unready::Failed)?;
    }
    let Some(found) = worker.last().map_err(Unready::Failed)? else { return Ok(()) };
    let chance = task.algorithm == Algorithm::EcdsaP256 && task.operation == Operation::Sign;
    let wrong = if chance {
        // A signature that draws chance is right if it is accepted.
        holds(engine, task, &input, &found).err()
    } else {
        (found.output != right.output).then(|| format!("{found:02x?} and not {right:02x?}"))
    };
    let name = task.algorithm.name();
    wrong.map_or(Ok(()), |what| Err(Unready::Failed(format!("{name}, known answer: {what}"))))
}

/// Holds what an engine did last against another engine.
///
/// # Errors
/// What is wrong.
pub fn holds(engine: Engine, task: Task, input: &Input, last: &Last) -> Result<(), String> {
    let witness = engine.witness(task);
    let (mut task, mut input) = (task, input.clone());
    let mut right = last.clone();
    match task.operation {
        Operation::Sign => {
            task.operation = Operation::Verify;
            input.signature.clone_from(&last.output);
            right.output = vec![1, 1];
        }
        Operation::Encrypt => input.start.clone_from(&last.start),
        Operation::Verify => return accepted(last),
        Operation::Digest | Operation::Agree => {}
    }
    let mut worker = witness.worker(task, &input, Mask::AsItIs).map_err(|e| e.to_string())?;
    let found = once(worker.as_mut())?;
    if found.output == right.output {
        return Ok(());
    }
    Err(format!("{} gives another result than {}", witness.name(), engine.name()))
}

fn accepted(last: &Last) -> Result<(), String> {
    match last.output.as_slice() {
        [1, 1] => Ok(()),
        [0, _] => Err("a right signature was refused".into()),
        _ => Err("a forged message was accepted".into()),
    }
}

/// The same bytes for the same seed, with a signature of the built-in engine where one is verified.
///
/// # Errors
/// What the engine refused.
pub fn input(task: Task, seed: u64) -> Result<Input, String> {
    let mut input = Input::seeded(task, seed);
    if task.operation == Operation::Verify {
        let sign = Task { operation: Operation::Sign, ..task };
        let mut worker =
            Engine::SIGNER.worker(sign, &input, Mask::AsItIs).map_err(|e| e.to_string())?;
        input.signature = once(worker.as_mut())?.output;
    }
    Ok(input)
}

fn once(worker: &mut dyn Worker) -> Result<Last, String> {
    worker.run(1)?;
    worker.last()?.ok_or_else(|| "no result was shown".into())
}

/// Bytes or operations a second of all threads, and the mean of one.
///
/// # Errors
/// Parameters that fit together no more.
pub fn figures(order: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let task = Task::read(order).map_err(|what| Fault::WrongWork { what })?;
    #[expect(clippy::cast_precision_loss, reason = "threads are few")]
    let threads = taken.series.len().max(1) as f64;
    let names = if task.operation.in_bytes() {
        [("rate", Unit::BytePerSecond), ("per_copy", Unit::BytePerSecond)]
    } else {
        let unit = Unit::OperationPerSecond;
        [("operations", unit), ("operations_per_copy", unit)]
    };
    let values = [taken.rate(), taken.rate() / threads];
    let sample = |((metric, unit), value): ((&str, _), _)| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    Ok(names.into_iter().zip(values).map(sample).collect())
}
